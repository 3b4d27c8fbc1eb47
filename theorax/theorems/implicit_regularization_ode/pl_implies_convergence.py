"""Gradient flow decays like e^(-mu t) where the squared gradient is at least mu times the loss, and its way is short.

**Theorem.** Let A, B and Z_k follow the gradient flow of the loss l, the layers Z_k at L times
their negative gradient, and G = ||dl/dA||^2 + L sum_k ||dl/dZ_k||^2 + ||dl/dB||^2. Let G >= mu l,
mu > 0, and let no layer be faster than c sqrt(l), all along the flow up to t. Then l(t)
<= e^(-mu t) l(0). The way up to t, by ||A||^2 + ||B||^2 + (1/L) sum_k ||Z_k||^2, has at most the
length 2 (sqrt(l(0)) - sqrt(l(t)))/sqrt(mu). For every k, ||Z_k(t) - Z_k(0)|| <= 2 c (sqrt(l(0)) -
sqrt(l(t)))/mu.

**Idea.** dl/dt = -G <= -mu l, and the speed is sqrt(G). So sqrt(l) falls at least by sqrt(mu)/2
times the speed, and at least by mu sqrt(l)/2 per unit of time. In the text c = 2 e^K K M_B, and mu
= 8 e^K K M_B sqrt(l(0))/M leaves every layer within M/2: the flow stays where the condition was
assumed. Here mu and c are those of the flow itself.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Derivative, Function, Integral, Rational, Subs, Symbol, exp, sqrt

from theorax.language import *
from theorax.numerics.annotations import Scalar
from theorax.theorems.implicit_regularization_ode import _trained_residual as setting
from theorax.theorems.implicit_regularization_ode._start_kernel import kernels
from theorax.theorems.implicit_regularization_ode._trained_residual import (
    DrivenTraining,
    L,
    StartingWeights,
    driven,
    squared_norm,
)

SHOWN, HORIZON, STEPS = 2, Rational(1, 16), 1
k = Index("k", "the time, in units of 1/32")
t = k * HORIZON / SHOWN
lost = Measured("lost", "log(l(0)/l(t))", over=(k,), positive=True)
gained = Measured("gained", "sqrt(l(0)) - sqrt(l(t))", over=(k,), positive=True)
way = Measured(
    "way", "length of the way up to time t, by ||A||^2 + ||B||^2 + (1/L) sum_k ||Z_k||^2", over=(k,), positive=True
)
furthest = Measured("furthest", "the largest ||Z_k(t) - Z_k(0)||", over=(k,), positive=True)
mu = Measured("mu", "the least G/l up to time 1/16", positive=True)
c = Measured("c", "the largest speed of a layer over sqrt(l), up to time 1/16", positive=True)

H = hypotheses(
    gradient="A and B move by their negative gradients, and nothing else moves them",
    scaled="layers move by L times their negative gradient",
    condition="G >= mu l all along the flow, not at its start alone",
)
flow = (H.gradient, H.scaled, H.condition)
slack = Absolute(1, 10**4, "the error of the flow stays below it")
few = Rational(1, 10)  # the bounds are proved: runs show that they speak of the flow
decay = Inequality(
    lost, at_least=mu * t, under=flow, margin=slack, content=few,
    wrong={"twice the rate": 2 * mu * t, "half more": 3 * mu * t / 2},
)
length = Inequality(
    way, at_most=2 * gained / sqrt(mu), under=flow, margin=slack, content=few,
    wrong={"half of it": gained / sqrt(mu), "mu for its root": 2 * gained / mu},
)
within = Inequality(
    furthest, at_most=2 * c * gained / mu, under=flow, margin=slack, content=few,
    wrong={"half of it": c * gained / mu, "divided by L": 2 * c * gained / (mu * L)},
)


class AimedTraining(eqx.Module):
    """A training; whether mu is read off its start alone."""

    driven: DrivenTraining
    early: Scalar


def build(key, L, highest, faster, drift, early):
    """Targets at random, or small ones in the highest direction of the kernel, in which G/l is nearly constant."""
    model = driven(key, L, StartingWeights.TIED, 0.0, faster, drift)
    training = model.training
    direction = jnp.linalg.eigh(sum(kernels(training, training.start)))[1][:, -1]
    aimed = direction[:, None] * training.Y[:1]
    Y = jnp.where(highest > 0, aimed / jnp.linalg.norm(aimed), training.Y)
    return AimedTraining(eqx.tree_at(lambda model: model.training.Y, model, Y), early)


NODES = 4


def by_layer(weights):
    """||Z_k||, layer by layer."""
    return jnp.sqrt((weights.V**2).sum((1, 2)) + (weights.W**2).sum((1, 2)))


def observe(model, L):
    """Losses, ways and the furthest layer at the times shown: arrays over the times with their errors; mu and c: numbers."""
    training, depth = model.driven.training, L.value * jnp.ones(())
    start = jax.tree.map(jnp.asarray, training.start)

    def field(state):
        weights, _ = state
        speed = model.driven.speed(weights, L)
        return speed, jnp.sqrt(squared_norm(speed, depth))

    def at(state):
        """Numbers of one time."""
        weights, gone = state
        by, loss = jax.grad(training.loss)(weights, L), training.loss(weights, L)
        G = squared_norm(by, 1 / depth)
        speeds = by_layer(model.driven.speed(weights, L)) / jnp.sqrt(loss)
        far = by_layer(jax.tree.map(lambda x, y: x - y, weights, start))
        return dict(loss=loss, rate=G / loss, speed=speeds.max(), furthest=far.max(), way=gone)

    def along(steps):
        first = (start, jnp.zeros(()))
        states = setting.runge_kutta(field, first, NODES, float(HORIZON), steps)
        found, begin = jax.lax.map(at, states), at(first)
        shown = slice(NODES // SHOWN - 1, None, NODES // SHOWN)
        rates = jnp.where(model.early > 0, begin["rate"], jnp.minimum(found["rate"].min(), begin["rate"]))
        return dict(
            lost=jnp.log(begin["loss"] / found["loss"])[shown],
            gained=(jnp.sqrt(begin["loss"]) - jnp.sqrt(found["loss"]))[shown],
            way=found["way"][shown], furthest=found["furthest"][shown],
            mu=rates, c=jnp.maximum(found["speed"].max(), begin["speed"]),
        )

    return setting.measured(along, STEPS)


@derives(decay, length, within)
def polyak_lojasiewicz(claim):
    """Every depth, every f with a continuous derivative: dl/dt = -G <= -mu l, with r = sqrt(l)."""
    l, m, speed, r, start, time, rate = (Symbol(name, positive=True) for name in ("l", "m", "v", "r", "l_0", "t", "c"))
    f = Function("f")
    if claim is decay:
        yield Solved(
            "dl/dt = -mu l", [Derivative(f(time), time) + m * f(time), f(0) - start], f(time), start * exp(-m * time)
        )
        yield Step("its logarithm", Subs(Integral(m, (time, 0, r)), (m, r), (mu, t)), claim.at_least)
    elif claim is length:
        yield Step("of the root of l, the slope by l", Derivative(sqrt(l), l), 1 / (2 * sqrt(l)))
        falls = speed**2 / (2 * sqrt(l))
        yield Step(
            "it falls by v^2/(2 sqrt(l)), v the speed: at sqrt(l) = v/sqrt(mu)",
            Subs(falls, l, speed**2 / m),
            sqrt(m) * speed / 2,
        )
        yield Step(
            "the way while it falls",
            Subs(Integral(2 / sqrt(m), (r, 0, start)), (start, m), (gained, mu)),
            claim.at_most,
        )
    else:
        yield Step(
            "the root falls at least by mu sqrt(l)/2", Subs(Derivative(sqrt(l), l), l, r**2) * m * r**2, m * r / 2
        )
        moved = Integral(rate * r / (m * r / 2), (r, 0, start))
        yield Step("way of a layer while it falls", Subs(moved, (start, m, rate), (gained, mu, c)), claim.at_most)


random = Subject(build, highest=0, faster=1.0, drift=0.0, early=0)
aimed = random(highest=1)
theorem = Theorem(
    place="Proposition 8",
    label="read",
    uses=("gradient_flow_wellposed", "local_pl_linear_width"),
    hypotheses=H,
    claims=dict(decay=decay, length=length, within=within),
    proofs=(polyak_lojasiewicz,),
    experiments=dict(
        flows=Experiment(
            observe, (lost, gained, way, furthest, mu, c), {L: Efforts((2, 4), (2, 4), (2, 4, 16))},
            along={k: (1, 2)}, draws=Efforts(60, 60, 600), span=16, padded=True, subjects={
                "random targets": random,
                "targets along the kernel's highest direction": aimed,
                "mu of the start alone": random(early=1).breaking(H.condition, fails=(decay, length, within)),
                "A drifts": aimed(drift=8.0).breaking(H.gradient, fails=(decay, length, within)),
                "layers a fourth as fast": aimed(faster=0.25).breaking(H.scaled, fails=(decay, length, within)),
            },
        ),
    ),
    issues=(
        "The condition is that along the flow; that a ball around the start satisfies it is the subject of "
        "local_pl_linear_width, and is not checked here.",
        "mu and c are read at five times. The constants of the text, e^K and M_B, are bounds of c, and are not computed.",
        "Speeds are integrable, and weights have limits for t to infinity, as the way is bounded for all times.",
    ),
)
