"""Networks that start from one Lipschitz function of depth and are trained for a finite time converge as they get deeper.

**Theorem.** Let h_(k+1) = h_k + V_(k+1) tanh(W_(k+1) h_k/sqrt(q))/(L sqrt(m)), F = B h_L and h_0
= A x, with one Gaussian W for all layers and V = 0 at the start, the same for all L. Train by
gradient flow on the squared loss, layers by -L dl/dZ_k, up to t = 1/4. Compare the depths L and 2
L, at t = 1/8 and 1/4 and s = 0, 1/4, ..., 1. Then the largest distances of the weights Z(s, t)
= (V, W), of A and B, of the states h_(L s) at the inputs, and of the outputs F all have the exact
order 1/L.

**Idea.** By Gronwall's inequality distances of order 1/L at the start, in one step and in the
gradient stay of order 1/L. They add up over L, 2 L, 4 L, ... to twice the first, so all have limits
in L, and depth L is within K/L. The printed theorem asks for weights within K/L of one Lipschitz
function of depth, steps f/L, f in C^2 and f(0, z) = 0. It claims convergence without a rate; the
order is measured.
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Derivative, Function, Integer, Rational, Subs, Sum, Symbol, exp, oo, sqrt

from theorax.language import *
from theorax.theorems.implicit_regularization_ode import _trained_residual as setting
from theorax.theorems.implicit_regularization_ode._trained_residual import (
    STEP,
    TANH,
    L,
    ResidualTraining,
    StartingWeights,
)

seen = numbers(
    weights="the largest ||V^(2L)(s, t) - V^L(s, t)||_F + ||W^(2L)(s, t) - W^L(s, t)||_F, over s and t",
    ends="the largest ||A^(2L)(t) - A^L(t)||_F + ||B^(2L)(t) - B^L(t)||_F, over t",
    states="the largest distance of h_(2 L s)(t) from h_(L s)(t), over s, t and the inputs",
    outputs="the largest distance of F^(2L)(x) from F^L(x), over t and the inputs",
    moved="the largest ||Z^L(s, t) - Z^L(s, 0)||, over s and t",
    trained="the largest distance of F^L(x) from the output before training, over t and the inputs",
    turned="the largest ||Z^(2L)(1 - s, t) - Z^L(s, t)||, over s and t",
    positive=True,
)

H = hypotheses(
    lipschitz="weights start within a multiple of 1/L of a Lipschitz function of depth",
    same="that function is the same for all L",
    step="layers are h + f(h, Z)/L",
    regular="f is twice continuously differentiable and f(0, z) = 0",
)
every = (H.lipschitz, H.same, H.step, H.regular)
expansion = setting.in_powers(
    0.2, 4, "distances of two expansions in 1/L expand in 1/L; below 0.05 at L = 4 on other seeds"
)
order = Absolute(1, 4, "no limit is one away, the order two too, a square root a half")
spread = Rational(1, 6)  # the same seeds at every depth
orders = {"a square root": 1 / sqrt(L), "second order": L**-2, "no limit": Integer(1)}
start = {"the limit is the start": dict(of=seen.moved)}
before = {"the limit is the network before training": dict(of=seen.trained)}


def tends(quantity, wrong, under=every):
    return Rate(
        quantity, 1 / L, as_=L, spread=spread, approach=expansion, margin=order, under=under, wrong=orders | wrong
    )


weights = tends(seen.weights, start | {"layers in the opposite order": dict(of=seen.turned)})
ends = tends(seen.ends, {})
states = tends(seen.states, before)
outputs = tends(seen.outputs, before)
SHOWN, HORIZON, STEPS = 2, 0.25, 3


class TwoDepths(eqx.Module):
    """Trainings at the depths L and 2 L, started alike."""

    once: ResidualTraining
    twice: ResidualTraining


def every_other_level(N):
    """One where s = k/N, N a power of two, has a denominator that is a power of four, else zero."""
    k = jnp.arange(1, N.padded + 1)
    level = jax.lax.population_count(N.value - 1) - jax.lax.population_count((k & -k) - 1)
    return 1.0 - level % 2


def build(key, L, start, root, factor, activation, jumping):
    """W of depth 2 L starts from ``factor`` times the function; unless sigma is tanh, W starts at 1/(1024 L) of it.

    ``jumping``: W is zero at every other level of dyadic s, the same function for all L.
    """

    def at(N, factor):
        found = replace(setting.training(key, N, start, 0.0, root, 1.0), activation=activation)
        kept = jnp.where(jumping, every_other_level(N), 1)[:, None, None]
        W = factor * jnp.where(activation != TANH, 1 / (1024 * N.value), 1) * kept * found.start.W
        return eqx.tree_at(lambda model: model.start.W, found, W)

    return TwoDepths(at(L, 1), at(L.doubled, factor))


def observe(model, L):
    """Distances of the depths L and 2 L, the largest over two times and five values of s: numbers, each with its error."""
    quarters = jnp.arange(5)
    norms = lambda x: jnp.sqrt(jnp.sum(x**2, axis=(-2, -1)))
    largest = lambda x: jnp.sqrt(jnp.max(jnp.sum(x**2, axis=-1)))

    def along(training, N, steps):
        """Weights, states and outputs at the times and at the values of s."""
        found = setting.runge_kutta(lambda w: training.speed(w, N), training.start, SHOWN, HORIZON, steps)
        layers = quarters * (N.value - 1) // 4
        hidden = jax.vmap(lambda w: training.hidden(w, N))(found)
        return found, found.V[:, layers], found.W[:, layers], hidden[:, quarters * N.value // 4]

    def seen(steps):
        a, V, W, h = along(model.once, L, steps)
        b, V_2, W_2, h_2 = along(model.twice, L.doubled, steps)
        F, F_2 = (jnp.einsum("tnq,toq->tno", x[:, -1], y.B) for x, y in ((h, a), (h_2, b)))
        start, layers = model.once.start, quarters * (L.value - 1) // 4
        gone = norms(V - start.V[layers]) + norms(W - start.W[layers])
        first = model.once.output(start, L)
        return dict(
            weights=jnp.max(norms(V_2 - V) + norms(W_2 - W)),
            ends=jnp.max(norms(b.A - a.A) + norms(b.B - a.B)),
            states=largest(h_2 - h), outputs=largest(F_2 - F),
            moved=jnp.max(gone), trained=largest(F - first),
            turned=jnp.max(norms(V_2[:, ::-1] - V) + norms(W_2[:, ::-1] - W)),
        )

    return setting.measured(seen, STEPS)


@derives(weights, ends, states, outputs)
def doublings(claim):
    """Generic alpha, beta and t, every depth: Gronwall for the distance of two depths, and the sum over doublings."""
    alpha, beta, t = (Symbol(name, positive=True) for name in ("alpha", "beta", "t"))
    D, j = Function("D"), Symbol("j", integer=True, nonnegative=True)
    found = beta / (alpha * L) * (exp(alpha * t) - 1)
    yield Solved("dD/dt = alpha D + beta/L", [Derivative(D(t), t) - alpha * D(t) - beta / L, D(0)], D(t), found)
    yield Step("its order in L", found / Subs(found, L, 1), claim.like)
    further = Sum(claim.like / 2**j, (j, 0, oo))
    yield Step("distances of L from 2 L, of 2 L from 4 L, ... add up to", further, 2 * claim.like)


tied = Subject(build, start=StartingWeights.TIED, root=0, factor=1.0, activation=TANH, jumping=0)
theorem = Theorem(
    place="Theorem 4, and Theorem 14",
    label="read",
    uses=("finite_time_weights_lipschitz", "resnet_euler_consistency", "limit_training_dynamics"),
    hypotheses=H,
    claims=dict(weights=weights, ends=ends, states=states, outputs=outputs),
    proofs=(doublings,),
    experiments=dict(
        depths=Experiment(
            observe, seen, {L: Efforts((4, 8, 16), (4, 8, 16), (4, 8, 16, 32))}, draws=Efforts(48, 64, 160),
            span=8, seeds="paired", padded=True, subjects={
                "tied W, V = 0": tied,
                # Depth L trains two thirds of its layers or one, depth 2 L the other share.
                "W at every other level of dyadic s": tied(jumping=1).breaking(
                    H.lipschitz, fails=(weights, ends, states, outputs),
                ),
                "independent W": tied(start=StartingWeights.INDEPENDENT).breaking(
                    H.lipschitz, fails=(weights, states, outputs),
                ),
                "2 L layers start from 3/2 W": tied(factor=1.5).breaking(
                    H.same, fails=(weights, ends, states, outputs),
                ),
                "residuals divided by sqrt(L)": tied(root=1).breaking(H.step, fails=(weights, ends, states, outputs)),
                # W of depth L and W of depth 2 L start within 1/L of zero, on different sides of the step.
                "a step, W and -W near zero": tied(activation=STEP, factor=-1.0).breaking(
                    H.regular, fails=(weights, ends, states, outputs),
                ),
            },
        ),
    ),
    issues=(
        "The printed statement claims convergence and no rate; the order 1/L is measured, not proved.",
        "Values of s are the quarters; there floor((L - 1) s) + 1 and floor(L s) are regular in L.",
        "Networks are trained up to time 1/4. They start tied, as in the text's main model; other starts are not measured.",
    ),
)
