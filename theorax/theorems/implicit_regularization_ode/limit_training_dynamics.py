"""Gradient flow of deep residual networks tends to a flow of functions of depth, with an adjoint equation of its own.

**Theorem.** Let h_(k+1) = h_k + f(h_k, Z_(k+1))/L with f in C^2 and f(0, z) = 0, p_k = n dl/dh_k,
and p_L = 2 B^T (B h_L - y). Then p_k = p_(k+1) + (d_1 f)^T p_(k+1)/L. Let the weights be within K/L
of a Lipschitz function of depth, the same for all L, and dP/ds = -(d_1 f)^T P, P(1) = 2 B^T
(B H(1) - y). For random smooth weights and L -> oo these have the exact order 1/L: the largest
distance of p_k from P(k/L); that of dA/dt and dB/dt from the end terms with P(0) and H(1); and, if
layers move by L times their negative gradient, clipped or not, the largest distance of dZ_k/dt from
minus the mean of (d_2 f)^T P at k/L. The printed p_k = p_(k+1) + d_1 f p_(k+1)/L and dP/ds = d_1 f
P are wrong: they lack the transpose, and the second its sign.

**Idea.** P^T x must be constant along dx/ds = (d_1 f) x, which fixes both transpose and sign.
Neither correction alone is enough. The rates are those of Euler's method.
"""

import jax
import jax.numpy as jnp
import sympy
from sympy import Matrix, Rational, eye, oo, sqrt, symbols

from theorax.language import *
from theorax.numerics import flows
from theorax.numerics.extents import literal
from theorax.theorems.implicit_regularization_ode import _trained_residual as setting
from theorax.theorems.implicit_regularization_ode._adjoint_flow import (
    FUNCTIONS,
    SAMPLED,
    gradients,
    pulled,
    pushed,
    velocities,
)
from theorax.theorems.implicit_regularization_ode._trained_residual import (
    RELU,
    L,
    ResidualTraining,
    ResidualWeights,
)

seen = arrays(
    gradient="n dl/dh_k by automatic differentiation, all layers and samples",
    transposed="p_k = p_(k+1) + (d_1 f)^T p_(k+1)/L",
    printed="p_k = p_(k+1) + d_1 f p_(k+1)/L",
    negated="p_k = p_(k+1) - (d_1 f)^T p_(k+1)/L",
)
gaps = numbers(
    adjoint="largest distance of n dl/dh_k from P(k/L), where dP/ds = -(d_1 f)^T P",
    misprinted="the same where dP/ds = d_1 f P",
    unsigned="the same where dP/ds = (d_1 f)^T P",
    untransposed="the same where dP/ds = -d_1 f P",
    layers="largest distance of dZ_k/dt from the right side of the limit at k/L",
    by_printed="the same where dP/ds = d_1 f P",
    halved="the same where P(1) lacks the factor two",
    ends="distance of dA/dt and dB/dt from those of the limit",
    ends_by_printed="the same where dP/ds = d_1 f P",
    positive=True,
)

H = hypotheses(
    step="layers are h + f(h, Z)/L",
    smooth="the weights are within a multiple of 1/L of a Lipschitz function of depth, the same for all L",
    speed="layers move by L times their negative gradient",
    regular="f is twice continuously differentiable and f(0, z) = 0; the flow may be clipped by a bounded Lipschitz map",
)
backpropagation = Identity(
    seen.gradient, seen.transposed, under=H.step,
    margin=Relative(1, 10**9, "the account of the rounding stays below it, a transpose moves the gradient by a tenth"),
    wrong={"the sign changed": seen.negated},
)
discrete_as_printed = Identity(
    seen.gradient, seen.printed, under=H.step, corrected="backpropagation",
    margin=Relative(1, 10**9, "the account of the rounding stays below it"),
)
noise = Rational(1, 5)
expansion = setting.in_powers(
    0.3, 8, "the logarithm of an expansion in 1/L, as of every Euler scheme; near 0.07 at L = 8 on other seeds"
)
order = Absolute(1, 5, "no convergence is one away, a scheme of order two too, a square root a half")
smooth = (H.step, H.smooth, H.regular)
orders = {"a square root": 1 / sqrt(L), "second order": L**-2}
adjoint = Rate(
    gaps.adjoint, 1 / L, as_=L, spread=noise, approach=expansion, margin=order, under=smooth,
    wrong=orders | {"the sign alone corrected": dict(of=gaps.untransposed), "the transpose alone": dict(of=gaps.unsigned)},
)
as_printed = Rate(
    gaps.misprinted, 1 / L, as_=L, spread=noise, approach=expansion, margin=order, under=smooth, corrected="adjoint",
)
layers = Rate(
    gaps.layers, 1 / L, as_=L, spread=noise, approach=expansion, margin=order,
    wrong=orders | {"the printed adjoint": dict(of=gaps.by_printed), "P(1) without its two": dict(of=gaps.halved)},
)
ends = Rate(
    gaps.ends, 1 / L, as_=L, spread=noise, approach=expansion, margin=order, under=smooth,
    wrong=orders | {"the printed adjoint": dict(of=gaps.ends_by_printed)},
)


def compare(model, L):
    """Layer by layer, at the true depth."""
    weights = jax.tree.map(jnp.asarray, model.start)
    found, h = dict(gradient=gradients(model, weights, L)), model.hidden(weights, L)
    for name, sign, times in (("transposed", 1, pulled), ("printed", 1, pushed), ("negated", -1, pulled)):
        p = [2 * (h[-1] @ weights.B.T - model.Y) @ weights.B]
        for k in reversed(range(L.padded)):
            p.append(p[-1] + sign * times(model, weights.V[k], weights.W[k], h[k], p[-1]) / L.padded)
        found[name] = jnp.stack(p[::-1])
    return found


def observe(model, L):
    """Numbers, each with its error: the largest distances of gradients and speeds from the limit, over layers and samples."""
    training, weights = model.training, model.training.start
    A, B, X, Y = weights.A, weights.B, training.X, training.Y
    kinds = ((1, pulled), (-1, pushed), (-1, pulled), (1, pushed))

    def forwards(n, s, h):
        return training.residual(model.V(s), model.W(s), h)

    def backwards(n, u, state):
        """In u = 1 - s: h, and P by the right equation, the printed one, and each error alone."""
        V, W, h = model.V(1 - u), model.W(1 - u), state[0]
        moved = [sign * times(training, V, W, h, p) for (sign, times), p in zip(kinds, state[1:], strict=True)]
        return jnp.stack([-training.residual(V, W, h), *moved])

    h, error = flows.flow(forwards, X @ A.T, L)
    end = h[L.value]
    P = 2 * (end @ B.T - Y) @ B
    nodes, behind = flows.flow(backwards, jnp.stack([end, P, P, P, P]), L)
    k = jnp.arange(L.padded + 1)
    inside = k <= L.value
    h, *adjoints = jnp.moveaxis(nodes[jnp.where(inside, L.value - k, 0)], 1, 0)
    apart = lambda these, those, used: flows.largest(jnp.where(used[:, None, None], these - those, 0))
    p = gradients(training, weights, L)
    names = ("adjoint", "misprinted", "unsigned", "untransposed")
    found = {name: apart(p, P, inside) for name, P in zip(names, adjoints, strict=True)}
    speed = training.speed(weights, L)
    s = k[1:] / L.value
    for name, P in dict(layers=adjoints[0], by_printed=adjoints[1], halved=adjoints[0] / 2).items():
        limit = jax.vmap(lambda *local: velocities(training, *local))(model.V(s), model.W(s), h[1:], P[1:])
        found[name] = apart(speed.V, limit[0], inside[1:]) + apart(speed.W, limit[1], inside[1:])
    for name, P in dict(ends=adjoints[0], ends_by_printed=adjoints[1]).items():
        A_t, B_t = -P[0].T @ X / len(X), -2 * (end @ B.T - Y).T @ end / len(X)
        found[name] = jnp.linalg.norm(speed.A - training.clipped(A_t)) + jnp.linalg.norm(
            speed.B - training.clipped(B_t)
        )
    # Every velocity is a product of these, and tanh and its derivatives are at most one.
    sizes = [1 + flows.largest(x) for x in (weights.V, weights.W, nodes, X[None])]
    far = (error + behind) * jnp.prod(jnp.stack(sizes)) * (1 + flows.largest(nodes))
    return found | {f"{name}_error": far for name in found}


@settles(backpropagation)
def every_layer():
    """Any weights, input and target: two coordinates, one neuron in each of two layers, one output."""
    a, v = generic_entries("a", 2, 1), generic_entries("v", 2, 2, 1)
    w, b = generic_entries("w", 2, 1, 2), generic_entries("b", 1, 2)
    X, Y = generic_entries("x", 1, 1), generic_entries("y", 1, 1)
    model = ResidualTraining(ResidualWeights(a, v, w, b), X, Y, 0.0, 0.0, 1.0)
    yield Instance(backpropagation, "L = 2", compare, model, literal(2))


@lemma
def adjoint_equation():
    """Any Jacobian of two coordinates."""
    J, p, x = Matrix(2, 2, symbols("j11 j12 j21 j22")), Matrix(symbols("p1:3")), Matrix(symbols("x1:3"))
    before = (eye(2) + J / L).T * p
    backwards = [sympy.Limit(L * entry, L, oo) for entry in p - before]
    yield Step("L (p_(k+1) - p_k)", backwards, list(-J.T * p))
    product = ((-J.T * p).T * x + p.T * (J * x))[0]
    yield Step("P^T x is constant where dx/ds = J x, as a derivative by x(0) must be", product, 0)
    printed = ((J * p).T * x + p.T * (J * x))[0]
    change = (x.T * (J + J.T) * p)[0]
    yield Step("along the printed equation it changes by x^T (J + J^T) P", printed, change)


converging = (adjoint, layers, ends)
theorem = Theorem(
    place="proof of Theorem 14; the two equations for the adjoint as printed, and as they must be",
    label="read",
    uses=("ode_solver",),
    hypotheses=H,
    claims=dict(
        backpropagation=backpropagation, discrete_as_printed=discrete_as_printed, adjoint=adjoint, as_printed=as_printed,
        layers=layers, ends=ends,
    ),
    proofs=(every_layer, adjoint_equation),
    experiments=dict(
        networks=Experiment(compare, seen, {L: (2, 3)}, draws=Efforts(2, 3, 8), padded=True, subjects={
            "smooth weights": SAMPLED,
            "residuals divided by sqrt(L)": SAMPLED(root=1).breaking(H.step, fails=backpropagation),
        }),
        depths=Experiment(
            observe, gaps, {L: Efforts((8, 16, 32), (8, 16, 32), (8, 16, 64, 256))}, draws=Efforts(400, 400, 400),
            span=32, seeds="paired", padded=True, subjects={
                "unclipped": FUNCTIONS,
                "clipped": FUNCTIONS(clip=0.5),
                "residuals divided by sqrt(L)": FUNCTIONS(root=1).breaking(H.step, fails=converging),
                "every second layer has -V": FUNCTIONS(alternating=1).breaking(H.smooth, fails=converging),
                "layers at the speed of A and B": FUNCTIONS(scaled=0).breaking(H.speed, fails=layers),
                # States stay within 1/L of the kink: sigma' is zero in the limit, and one in half of the neurons at every L.
                "ReLU, states at its kink": FUNCTIONS(activation=RELU).breaking(H.regular, fails=converging),
            },
        ),
    ),
    issues=(
        "If s is read as running backwards, the printed sign is right. No convention makes the transpose right.",
        "Norms of P are bounded in the same way with and without the transpose: the bounds of the proofs stand.",
        "The right sides are compared at smooth weights drawn at random, not at trained weights.",
    ),
)
