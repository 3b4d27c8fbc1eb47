"""Gradient flow of a residual network moves its weights by at most sqrt(t l(0)) up to time t: it exists for all times.

**Theorem.** Let dA/dt = -dl/dA, dB/dt = -dl/dB and dZ_k/dt = -L dl/dZ_k, Z_k = (V_k, W_k), be the
gradient flow of a residual network of depth L with loss l >= 0. Then dl/dt = -||dA/dt||^2 -
||dB/dt||^2 - (1/L) sum_k ||dZ_k/dt||^2. Let way(t) = ||A(t) - A(0)||^2 + ||B(t) - B(0)||^2 + (1/L)
sum_k ||Z_k(t) - Z_k(0)||^2. Then way(t) <= t (l(0) - l(t)), so sqrt(way(t)) <= sqrt(t l(0)). These
two bounds hold also if each coordinate v of the flow is clipped to c tanh(v/c). In that case
||Z_k(t) - Z_k(0)|| <= t c sqrt(2 q m) for every k, V_k being q x m.

**Idea.** The first formula is the chain rule; the other two follow by Cauchy and Schwarz. The text
clips the flow, as it could blow up in finite time without. It cannot, as the loss is not negative.
Clipping bounds the way of every layer, the second inequality the mean over the layers.
"""

import jax
import jax.numpy as jnp
from sympy import Derivative, Integral, Rational, Subs, Symbol, sqrt

from theorax.language import *
from theorax.numerics.extents import literal
from theorax.theorems.implicit_regularization_ode import _trained_residual as setting
from theorax.theorems.implicit_regularization_ode._trained_residual import (
    WIDTH,
    DrivenTraining,
    L,
    Q,
    ResidualTraining,
    ResidualWeights,
    StartingWeights,
    driven,
    squared_norm,
)

SHOWN, HORIZON, STEPS = 2, Rational(1, 8), 3
k = Index("k", "the time, in units of 1/16")
t = k * HORIZON / SHOWN
c = Parameter("c", "bound of the coordinates of a clipped flow", positive=True)
way = Measured(
    "way", "||A(t) - A(0)||^2 + ||B(t) - B(0)||^2 + (1/L) sum_k ||Z_k(t) - Z_k(0)||^2", over=(k,), positive=True
)
total = Measured("total", "the same with the sum over layers instead of their mean", over=(k,), positive=True)
furthest = Measured("furthest", "the largest ||Z_k(t) - Z_k(0)||", over=(k,), positive=True)
loss = Measured("loss", "l(t)", over=(k,), positive=True)
first = Measured("first", "l(0)", positive=True)
seen = arrays(
    change="dl/dt, by automatic differentiation of the loss along the flow",
    spent="||dA/dt||^2 + ||dB/dt||^2 + (1/L) sum_k ||dZ_k/dt||^2",
    summed="||dA/dt||^2 + ||dB/dt||^2 + sum_k ||dZ_k/dt||^2",
    ends="||dA/dt||^2 + ||dB/dt||^2",
)

H = hypotheses(
    gradient="A and B move by their negative gradients, and nothing else moves them",
    scaled="layers move by L times their negative gradient",
    whole="the flow is not clipped",
    clipped="coordinates of the flow are clipped to at most c",
)
slack = Absolute(1, 10**4, "the error of the flow stays below it")
few = Rational(1, 10)  # the bounds are proved: runs show that they speak of the flow
dissipation = Identity(
    seen.change, -seen.spent, under=(H.gradient, H.scaled, H.whole),
    margin=Relative(1, 10**9, "the account of the rounding stays below it, a wrong factor is of order one"),
    wrong={"1/L forgotten": -seen.summed, "layers forgotten": -seen.ends, "half the squares": -seen.spent / 2},
)
energy = Inequality(
    way, at_most=t * (first - loss), under=(H.gradient, H.scaled), margin=slack, content=few,
    wrong={
        "1/L forgotten": dict(of=total), "t squared": t**2 * (first - loss), "half of it": t * (first - loss) / 2,
    },
)
finite = Inequality(
    sqrt(way), at_most=sqrt(t * first), under=(H.gradient, H.scaled), margin=slack, content=few,
    wrong={"an eighth": sqrt(t * first) / 8},
)
each = Inequality(
    furthest, at_most=t * c * sqrt(2 * Q * WIDTH), under=H.clipped, margin=slack, content=few,
    wrong={"one coordinate alone": t * c, "divided by L": t * c * sqrt(2 * Q * WIDTH) / L},
)


def compare(model, L):
    """Both sides at the weights from which training starts."""
    weights = jax.tree.map(jnp.asarray, model.training.start)
    speed = model.speed(weights, L)
    change = jax.jvp(lambda weights: model.training.loss(weights, L), (weights,), (speed,))[1]
    ends = (speed.A * speed.A).sum() + (speed.B * speed.B).sum()
    return dict(change=change, spent=squared_norm(speed, L.padded), summed=squared_norm(speed, 1), ends=ends)


def observe(model, L):
    """Ways gone and losses at the times shown: arrays over the times, each with its error, and the first loss."""
    training, depth = model.training, L.value * jnp.ones(())
    start = training.start

    def at(weights):
        gone = jax.tree.map(lambda x, y: x - y, weights, start)
        furthest = jnp.sqrt(((gone.V**2).sum((1, 2)) + (gone.W**2).sum((1, 2))).max())
        return dict(
            way=squared_norm(gone, depth),
            total=squared_norm(gone, 1),
            furthest=furthest,
            loss=training.loss(weights, L),
        )

    def along(steps):
        states = setting.runge_kutta(lambda weights: model.speed(weights, L), start, SHOWN, float(HORIZON), steps)
        return jax.lax.map(at, states)

    return setting.measured(along, STEPS) | dict(first=training.loss(start, L))


@settles(dissipation)
def chain_rule():
    """Any weights, input and target: one coordinate, one neuron in one layer, one output."""
    a, v = generic_entries("a", 1, 1), generic_entries("v", 1, 1, 1)
    w, b = generic_entries("w", 1, 1, 1), generic_entries("b", 1, 1)
    X, Y = generic_entries("x", 1, 1), generic_entries("y", 1, 1)
    training = ResidualTraining(ResidualWeights(a, v, w, b), X, Y, 0.0, 0.0, 1.0)
    yield Instance(dissipation, "L = 1", compare, DrivenTraining(training, 1.0, 0.0), literal(1))


@derives(energy, finite)
def cauchy_schwarz(claim):
    """Every depth, every f with a continuous derivative; s is the speed of a weight, in the norm of the way."""
    way_1, way_2, m, time = (Symbol(name, positive=True) for name in ("I_1", "I_2", "m", "t"))
    spread = way_2 - 2 * m * way_1 + m**2 * time  # the integral of (s - m)^2
    yield Step("of m, the integral of (s - m)^2 is least at the mean", Subs(Derivative(spread, m), m, way_1 / time), 0)
    yield Step("and is not negative there", Subs(spread, m, way_1 / time), way_2 - way_1**2 / time)
    square = t * Subs(way_2, way_2, first - loss if claim is energy else first)
    yield Step("the way is at most I_1, and l >= 0", square if claim is energy else sqrt(square), claim.at_most)


@derives(each)
def coordinates():
    """Every depth, and every clipping that leaves no coordinate above c."""
    u = Symbol("u", positive=True)
    yield Step("2 q m coordinates", Integral(c * sqrt(2 * Q * WIDTH), (u, 0, t)), each.at_most)


trained = Subject(driven, start=StartingWeights.TIED, clip=0.0, faster=1.0, drift=0.0, knows={c: Rational(1, 50)})
smooth = trained(start=StartingWeights.SMOOTH)
theorem = Theorem(
    place="Proposition 1, and the remark on clipping before it",
    label="read",
    hypotheses=H,
    claims=dict(dissipation=dissipation, energy=energy, finite=finite, each=each),
    proofs=(chain_rule, cauchy_schwarz, coordinates),
    experiments=dict(
        speeds=Experiment(compare, seen, {L: (2, 3)}, draws=Efforts(2, 3, 8), padded=True, subjects={
            "smooth start": smooth,
            "A drifts": smooth(drift=0.5).breaking(H.gradient, fails=dissipation),
            "layers four times as fast": smooth(faster=4.0).breaking(H.scaled, fails=dissipation),
            "clipped": smooth(clip=0.02).breaking(H.whole, fails=dissipation),
        }),
        flows=Experiment(
            observe, (way, total, furthest, loss, first), {L: Efforts((3, 6), (3, 6), (3, 6, 24))},
            along={k: (1, 2)}, draws=Efforts(60, 60, 600), span=16, padded=True, subjects={
                "paper's start": trained.breaking(H.clipped, fails=each),
                "smooth start": smooth.breaking(H.clipped, fails=each),
                "clipped": trained(clip=0.02),
                "A drifts": trained(drift=1.0).breaking(H.gradient, H.clipped, fails=(energy, finite)),
                "layers 32 times as fast": trained(faster=32.0).breaking(H.scaled, H.clipped, fails=(energy, finite)),
            },
        ),
    ),
    issues=(
        "The inequality needs no hypothesis on f besides a continuous derivative; existence and uniqueness for a short "
        "time are Picard's theorem, and are not checked.",
        "Blow-up is not observed where it is excluded: a solver of fixed steps would not find it in general.",
        "Symbols prove the dissipation for one layer. The factor 1/L is seen at two and three layers.",
        "For every layer on its own the inequality gives sqrt(L t l(0)), which is not uniform in L.",
    ),
)
