"""Wide residual networks fit small targets at a rate free of depth, and end at Lipschitz functions of depth that interpolate.

**Theorem.** Let V_k = 0, B A = 0, all W_k one Gaussian matrix of width m = 4 n, layers h + f/L, f
in C^2, that move by -L dl/dZ_k, n = 10 random inputs on the sphere of radius sqrt(q), q = 9, and
targets of root mean square 10^(-3). Let mu_0 = (4/n) lambda_min(2 X^T X + S^T S/m), S
= tanh(W A X/sqrt(q)), mu = 1/(4 n sqrt(n) q). Then l(0) = (1/n) sum_i ||y_i||^2. The rest holds
with probability at least 4/5 each. At t = 1/(8 mu) and 1/(4 mu), log(l(0)/l(t)) >= mu t; it is at
most 1.02 mu_0 t for targets in the lowest eigenvector. At t = 20/max(mu_0, mu), log(l(0)/l) >= 10
at depths L, 2 L, 4 L. There, for L >= 4, distances of depth 4 L from 2 L are at most 3/5 of those
of 2 L from L, for Z and for outputs at new inputs; max ||Z_(k+1) - Z_k|| at 4 L is at most 3/5 of
that at 2 L.

**Idea.** The flow stays where the squared gradient is at least mu l. So l(t) <= e^(-mu t) l(0), and
the way left after t is at most of order sqrt(l(t))/mu. Constants are measured.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Derivative, Function, Integer, Integral, Rational, Subs, Sum, Symbol, exp, oo, sqrt

from theorax.language import *
from theorax.numerics.extents import literal
from theorax.theorems.implicit_regularization_ode import _trained_residual as setting
from theorax.theorems.implicit_regularization_ode._kernel_flow import (
    AS_IN_PRINT,
    DEPTHS,
    OVER,
    SAMPLES,
    Q,
    at_depths,
    at_start,
    deeper,
    late,
    late_flow,
    untrained,
)
from theorax.theorems.implicit_regularization_ode._trained_residual import (
    L,
    ResidualTraining,
    ResidualWeights,
    StartingWeights,
)

UNIT = SAMPLES * sqrt(SAMPLES) * Q
k = Index("k", "the time, in units of n sqrt(n) q/2")
t = k * UNIT / 2
first = arrays(loss="l(0)", targets="(1/n) sum_i ||y_i||^2")
lost = Measured("lost", "log(l(0)/l(t))", over=(k,))
pace = Measured("pace", "log(l(0)/l(t))/(mu_0 t), mu_0 = (4/n) lambda_min(2 X^T X + S^T S/m)", over=(k,))
end = numbers(
    gained="log(l(0)/l(t)) at the time 20/mu_0, the least of the depths L, 2 L and 4 L",
    weights="distance of Z^(4L) from Z^(2L) over that of Z^(2L) from Z^L, each the largest over s",
    outputs="distance of F^(4L) from F^(2L) over that of F^(2L) from F^L, each the largest over inputs not trained on",
    neighbours="largest ||Z_(k+1) - Z_k|| at depth 4 L over that at depth 2 L",
)

H = hypotheses(
    zero="V_k = 0",
    room="B A = 0, for which q >= d + d' leaves room",
    tied="all W_k are one matrix",
    step="layers are h + f(h, Z)/L",
    scaled="layers move by L times their negative gradient",
    width="the width is 4 n",
    distinct="inputs are independent, on the sphere of radius sqrt(q)",
    small="targets have the norm 10^(-3)",
    lowest="targets lie in the lowest eigenvector of 2 X^T X + S^T S/m",
    regular=Hypothesis(
        "f is twice continuously differentiable and f(0, z) = 0",
        unbroken="what a kink in f does to training is the subject of relu_counterexample",
    ),
)
learnt = (H.zero, H.room, H.tied, H.step, H.scaled, H.width, H.distinct, H.small)
at_one_time = (H.zero, H.room, H.tied, H.step, H.scaled, H.small, H.regular)  # any width: finite_time_large_depth_limit
start = Identity(
    first.loss, first.targets, under=(H.zero, H.room),
    margin=Relative(1, 10**9, "the account of the rounding stays below it, a wrong factor is of order one"),
    wrong={"the sum for the mean": setting.SAMPLES * first.targets, "half of it": first.targets / 2},
)
C = Rational(1, 4)  # the constant of the text is 10^(-11)


def likely(event, wrong, under=learnt):
    """An event in four draws of five."""
    margin = Absolute(1, 10, "where a hypothesis is broken the event fails in most draws")
    wrong = {name: dict(event=other) for name, other in wrong.items()}
    return Probability(event, at_least=Rational(4, 5), expected=Rational(99, 100), margin=margin, under=under, wrong=wrong)


decay = likely(
    lost >= C * t / UNIT, {"C' = 4": lost >= 4 * t / UNIT, "1/n for 1/(n sqrt(n) q)": lost >= C * t / SAMPLES}
)
slowest = likely(
    pace <= Rational(51, 50), {"2/n for 4/n": pace <= Rational(1, 2), "1/L in the kernel": pace <= 1 / L}, (*learnt, H.lowest)
)
fitted = likely(end.gained >= OVER / 2, {"at twice mu_0": end.gained >= 2 * OVER})
# The orders 1/sqrt(L), 1/L and 1/L^2 have the ratios 0.71, 1/2 and 1/4.
limits = weights, outputs, neighbours = tuple(
    likely(ratio <= Rational(3, 5), {"the order 1/L^2": ratio <= Rational(3, 8)}, at_one_time)
    for ratio in (end.weights, end.outputs, end.neighbours)
)


def observe(model, L):
    """The logarithm of what the loss falls by at two times, and over mu_0 t: arrays over the times with their errors."""

    def along(steps):
        times = float(UNIT) * jnp.asarray([0.5, 1.0])
        losses = jax.vmap(lambda weights: model.training.loss(weights, L))(late_flow(model, L, times, steps))
        lost = jnp.log(model.training.loss(model.training.start, L) / losses)
        return dict(lost=lost, pace=lost / (jnp.maximum(model.mu, 1e-30) * times))

    return setting.measured(along, 2)


def observe_end(models, L):
    """All depths at the time 20/mu_0, or 20 n sqrt(n) q/C' if that is earlier."""
    norms = lambda x: jnp.sqrt(jnp.sum(x**2, axis=(-2, -1)))
    # Fast directions are learnt first: times grow like cubes.
    times = float(OVER) / jnp.maximum(models.mu[0], float(C / UNIT)) * (jnp.arange(1, 5) / 4) ** 3

    def ended(stack, steps):
        """Weights at the quarters, outputs at other inputs, the largest distance of neighbours, and what was gained."""
        model, N = stack[0], deeper(L, stack[1])
        training = model.training
        found = jax.tree.map(lambda x: x[-1], late_flow(model, N, times, steps))
        layers = jnp.arange(5) * (N.value - 1) // 4
        F = eqx.tree_at(lambda training: training.X, training, model.unseen).output(found, N)
        apart = norms(jnp.diff(found.V, axis=0)) + norms(jnp.diff(found.W, axis=0))
        apart = jnp.where(jnp.arange(1, N.padded) < N.value, apart, 0).max()
        gained = jnp.log(training.loss(training.start, N) / training.loss(found, N))
        return found.V[layers], found.W[layers], F, apart, gained

    def seen(steps):
        V, W, F, apart, gained = jax.lax.map(lambda stack: ended(stack, steps), (models, DEPTHS))
        Z = (norms(jnp.diff(V, axis=0)) + norms(jnp.diff(W, axis=0))).max(axis=1)
        out = jnp.sqrt(jnp.sum(jnp.diff(F, axis=0) ** 2, axis=-1)).max(axis=1)
        return dict(gained=gained.min(), weights=Z[1] / Z[0], outputs=out[1] / out[0], neighbours=apart[2] / apart[1])

    return setting.measured(seen, 1)


@settles(start)
def one_neuron():
    """Any W, inputs and targets: one input, one output and one neuron in each of two layers, two samples."""
    array = lambda x: np.array(x, dtype=object) * Integer(1)
    V, W = array([[[0], [0]]] * 2), generic_entries("w", 2, 1, 2)
    weights = ResidualWeights(array([[1], [0]]), V, W, array([[0, 1]]))
    training = ResidualTraining(weights, generic_entries("x", 2, 1), generic_entries("y", 2, 1), 0.0, 0.0, 1.0)
    yield Instance(start, "L = 2", at_start, training, literal(2))


m, s, l_0, c, n, T = (Symbol(name, positive=True) for name in ("m", "s", "l_0", "c", "n", "T"))


@lemma
def exponential():
    """Every depth, where the squared gradient is at least mu l, or is mu_0 l in the lowest direction."""
    f = Function("f")
    yield Solved("dl/dt = -mu l", [Derivative(f(s), s) + m * f(s), f(0) - l_0], f(s), l_0 * exp(-m * s))
    fallen = Integral(m, (s, 0, T))
    yield Step("its logarithm at mu = C'/(n sqrt(n) q)", Subs(fallen, (m, T), (C / UNIT, t)), decay.event.rhs)
    yield Step("at half of mu_0, and the time 20/mu_0", Subs(Integral(m / 2, (s, 0, T)), T, OVER / m), fitted.event.rhs)


@lemma
def interpolated():
    """Every depth, given l(t) <= e^(-mu t) l(0), and layers that move by at most c sqrt(l)."""
    miss = sqrt(n * l_0 * exp(-m * s))
    yield Step("||F(x_i) - y_i|| is at most sqrt(n l(t)), which tends to zero", sympy.Limit(miss, s, oo), 0)
    left = 2 * c * sqrt(l_0) * exp(-m * T / 2) / m
    yield Step("way of a layer after T, for every L", Integral(c * sqrt(l_0) * exp(-m * s / 2), (s, T, oo)), left)
    yield Step("it tends to zero", sympy.Limit(left, T, oo), 0)


@lemma
def doublings():
    """Every sequence whose distances from L to 2 L shrink by 3/5, or that expands in 1/L."""
    j = Symbol("j", integer=True, nonnegative=True)
    yield Step("distances add up, in units of the first", Sum(Rational(3, 5) ** j, (j, 0, oo)), Rational(5, 2))
    z = lambda L: c / L + n / L**2
    yield Step("ratio of an expansion", sympy.Limit((z(2 * T) - z(4 * T)) / (z(T) - z(2 * T)), T, oo), Rational(1, 2))


unseen = Subject(untrained, kind=StartingWeights.TIED, overlapping=0)
wide, deep = (Subject(build, **AS_IN_PRINT) for build in (late, at_depths))
slow = wide(lowest=1)
theorem = Theorem(
    place="Theorem 6",
    label="read",
    uses=("pl_implies_convergence", "local_pl_linear_width", "finite_time_large_depth_limit"),
    hypotheses=H,
    claims=dict(
        start=start, decay=decay, slowest=slowest, fitted=fitted, weights=weights, outputs=outputs, neighbours=neighbours,
    ),
    proofs=(one_neuron, exponential, interpolated, doublings),
    experiments=dict(
        starts=Experiment(at_start, first, {L: (2, 3)}, draws=Efforts(2, 3, 8), padded=True, subjects={
            "the paper's start": unseen,
            "V at random": unseen(kind=StartingWeights.SMOOTH).breaking(H.zero, fails=start),
            "B reads what A writes": unseen(overlapping=1).breaking(H.room, fails=start),
        }),
        times=Experiment(
            observe, (lost, pace), {L: Efforts((3, 6), (3, 6), (3, 6, 24))}, along={k: (1, 2)}, draws=Efforts(80, 80, 600),
            span=8, padded=True, subjects={
                "targets in the lowest direction": slow,
                "targets at random": wide.breaking(H.lowest, fails=slowest),
                "V at random": slow(kind=StartingWeights.SMOOTH).breaking(H.zero, fails=slowest),
                "B reads what A writes": slow(overlapping=1).breaking(H.room, fails=slowest),
                "independent W": slow(kind=StartingWeights.INDEPENDENT).breaking(H.tied, fails=slowest),
                "residuals divided by sqrt(L)": slow(root=1).breaking(H.step, fails=slowest),
                "targets of norm 1/10": slow(size=0.1).breaking(H.small, fails=slowest),
                "residuals divided by L^4": slow(root=-1).breaking(H.step, fails=decay),
                "layers four times as fast": slow(faster=4.0).breaking(H.scaled, fails=slowest),
                "layers at rest": slow(faster=0.0).breaking(H.scaled, fails=decay),
                "m + d < n": slow(rows=1).breaking(H.width, fails=decay),
                "an input twice": slow(twins=1).breaking(H.distinct, fails=decay),
            },
        ),
        depths=Experiment(
            observe_end, end, {L: Efforts(4, 4, (4, 8, 32))}, draws=Efforts(80, 80, 400),
            span=8, padded=True, subjects={
                "targets at random": deep,
                "targets in the lowest direction": deep(lowest=1),
                "V at random": deep(kind=StartingWeights.SMOOTH).breaking(H.zero, fails=limits),
                "independent W": deep(kind=StartingWeights.INDEPENDENT).breaking(H.tied, fails=limits),
                "W = 0 but in the first layer": deep(others=0.0).breaking(H.tied, fails=fitted),
                "slow layers, at uneven speeds": deep(faster=1e-3, uneven=1).breaking(H.scaled, fails=(fitted, *limits)),
                "residuals divided by L^4": deep(root=-1).breaking(H.step, fails=fitted),
                "residuals divided by sqrt(L)": deep(root=1).breaking(H.step, fails=(weights, outputs)),
                "m + d < n": deep(rows=1).breaking(H.width, fails=fitted),
                "an input twice": deep(twins=1).breaking(H.distinct, fails=fitted),
            },
        ),
    ),
    issues=(
        "Infinite time is the time 20/mu_0, where the loss has fallen to e^(-10) of its start or less.",
        "Limits in L are read off two doublings, 4 to 8 and 8 to 16 layers. In print no order in 1/L is claimed.",
        "The text asks for targets of 10^(-17) or less, and gives the constant 10^(-11). Here they are 10^(-3) and 1/4.",
        "Some hypotheses have controls in one claim alone: where they are broken, the other claims need not fail.",
        "Outputs are compared at four inputs outside the sample, weights at five values of s.",
    ),
)
