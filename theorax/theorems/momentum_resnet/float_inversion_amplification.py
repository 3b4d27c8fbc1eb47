"""In floating point the inverse of a momentum network amplifies rounding by 1/g a layer, so that it fails beyond some depth.

**Theorem.** Let v_(n+1) = g v_n + (1-g) f_n(x_n), x_(n+1) = x_n + v_(n+1), let the inverse start
from x_N and v_N alone, and let every operation round to the nearest number of p bits, with a
relative error of at most u = 2^-p. Let f_n(x) = tanh(W_n x) with four neurons and independent
Gaussian W_n of gain 1/64, and g = 1/2 or 3/4. Let d_p be the larger of 2^-p and the distance of the
recovered start from the true one. Then d_24 grows like g^(-N) as N -> oo, and the mean of
log2(d_12/d_24) is 12, up to 1. If the f_n do not depend on the state, a change delta of v_N
changes, in exact arithmetic, the recovered velocity by delta g^(-N) and the recovered position by
-delta (g^(-N) - 1)/(1/g - 1).

**Idea.** The way back divides the velocity by g in every layer, and the positions add up these
velocities. Rounding makes errors of order u, hence of order u g^(-N) after N layers. The inverse is
lost near N = log(1/u)/log(1/g): 53 layers at g = 1/2 in double precision, 349 at g = 9/10.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Derivative, Function, Rational, Sum, Symbol, exp, log

from theorax.language import *
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import literal
from theorax.theorems.momentum_resnet import _momentum as momentum
from theorax.theorems.momentum_resnet._momentum import MomentumNetwork, N, g

trip = numbers(
    missed="distance of the recovered start from the true one, in numbers of 24 bits; 2^-24 at least", positive=True
)
ratio = numbers(
    missing="log2 of that distance in numbers of 12 bits, 2^-12 at least, over the one in numbers of 24 bits"
)
seen = arrays(
    moved="change of the recovered position and velocity where v_N changes by delta",
    amplified="-delta (g^(-N) - 1)/(1/g - 1) and delta g^(-N)",
    later="the same with N - 1 for N",
    still="the change delta, not amplified",
)

H = hypotheses(
    small="residual functions hardly depend on the state",
    blind="the way back knows the last position and velocity alone",
    formats="every operation rounds to the nearest number of p bits, by a share u = 2^-p at most",
    flat="residuals do not depend on the state at all",
)
growth = Rate(
    trip.missed, g ** (-N), as_=N, under=(H.small, H.blind), spread=Rational(1, 2),
    approach=Corrections(
        size=Rational(1, 20), slowest=1, fastest=4, rest=0, reference=32,
        reason="errors that are not amplified add up to some u N, a fiftieth of the others at N = 32 and falling like N g^N",
    ),
    margin=Absolute(1, 60, "1 - g is 1/26 from log(1/g) at g = 3/4"),
    wrong={"1 - g a layer": exp((1 - g) * N), "velocity and position both": g ** (-2 * N)},
)
unit = Expectation(
    ratio.missing, 12, under=(H.small, H.blind, H.formats), spread=Rational(1, 16),
    margin=Absolute(1, 1, "errors of order u^2 or sqrt(u) are a factor 2^12 or 2^6 away"),
    wrong={"a square root of u": 6, "the square of u": 24},
)
carried = Identity(
    seen.moved, seen.amplified, under=H.flat,
    margin=Relative(1, 10**6, "rounding stays below it, a layer more or less is a share 1 - g"),
    wrong={"one layer less": seen.later, "no amplification": seen.still},
)
NEURONS = 4
LETTER: Any = np.array(g, dtype=object)


class RoundTrip(eqx.Module):
    """The start of a network, and what numbers of 24 and of 12 bits recovered of it: rounding belongs to these data."""

    start: jax.Array
    fine: jax.Array
    coarse: jax.Array


class RoundedMomentum(MomentumNetwork):
    """The network in floating-point numbers of ``bits`` bits: every operation rounds."""

    bits: int = eqx.field(static=True, default=24)

    def rounded(self, y):
        return jax.lax.reduce_precision(y, 11, self.bits - 1)

    def residual(self, n, x):
        return self.rounded((1 - self.g) * self.rounded(super().residual(n, x)))

    def forwards(self, n, state):
        x, v = state
        v = self.rounded(self.rounded(self.g * v) + self.residual(n, x))
        return self.rounded(x + v), v

    def backwards(self, n, state):
        x, v = state
        x = self.rounded(x - v)
        return x, self.rounded(self.rounded(v - self.residual(n, x)) / self.g)


class Sloping(eqx.Module):
    """The residual function theta + slope tanh(x)."""

    slope: Scalar

    def __call__(self, theta, x):
        return theta + self.slope * jnp.tanh(x)


def recovered(net, start, N, stored):
    """The recovered start; ``stored``: by the positions, which were all kept."""
    positions = momentum.states(net, start, N)[0]
    x, v = momentum.back_through(net, momentum.through(net, start, N), N)
    kept = net.rounded(positions[1] - positions[0]) - net.residual(0, positions[0])
    return jnp.where(stored > 0, jnp.stack([positions[0], net.rounded(kept / net.g)]), jnp.stack([x, v]))


def drawn(key, N, g, gain, stored, finer):
    start = tuple(part.astype(jnp.float16).astype(part.dtype) for part in momentum.gaussian_state(key, NEURONS))
    weights = momentum.gaussian_weights(key, N.padded, NEURONS, gain)
    fine, coarse = (
        recovered(RoundedMomentum(momentum.tanh_layer, weights, g, bits=bits), start, N, stored) for bits in (24, 12)
    )
    return RoundTrip(jnp.stack(start), fine, jnp.where(finer > 0, fine, coarse))


def distances(trip):
    off = ((trip.fine, 2.0**-24), (trip.coarse, 2.0**-12))
    fine, coarse = (jnp.maximum(jnp.linalg.norm(part - trip.start), least) for part, least in off)
    return dict(missed=fine, missing=jnp.log2(coarse / fine))


def shifted(key, N, g, slope):
    weights = momentum.gaussian_weights(key, N.padded, NEURONS)[:, 0]
    net = MomentumNetwork(Sloping(slope), weights, g)
    return net, momentum.gaussian_state(key, NEURONS), jnp.ones(NEURONS)


def perturbed(model, N):
    net, (x, v), delta = model
    before = momentum.back_through(net, (x, v), N)
    after = momentum.back_through(net, (x, v + delta), N)

    def amplified(layers):
        power = net.g ** (-layers)
        return jnp.stack([-(power - 1) / (1 / net.g - 1) * delta, power * delta])

    return dict(
        moved=jnp.stack([after[0] - before[0], after[1] - before[1]]),
        amplified=amplified(N.padded), later=amplified(N.padded - 1), still=jnp.stack([-delta, delta]),
    )


@settles(carried)
def any_residuals():
    """Any residuals, states, momentum and change of one neuron; N = 1 to 5."""
    for depth in range(1, 6):
        net = MomentumNetwork(Sloping(0), generic_entries("w", depth, 1), LETTER)
        model = net, (generic_entries("x", 1), generic_entries("v", 1)), generic_entries("d", 1)
        yield Instance(carried, f"N = {depth}", perturbed, model, literal(depth))


@derives(growth)
def every_depth():
    """Every depth and momentum, residuals that do not depend on the state; an error delta of the last velocity."""
    e, delta, u = Function("e"), Symbol("delta", positive=True), Symbol("u", positive=True)
    k = Symbol("k", integer=True, nonnegative=True)
    yield Solved("k layers before", [e(k + 1) - e(k) / g, e(0) - delta], e(k), delta * g ** (-k))
    summed = Sum(delta * g ** (-k), (k, 0, N - 1))
    yield Step("the positions add up", summed * (1 / g - 1), delta * (g ** (-N) - 1))
    layers = Symbol("l", positive=True)
    yield Solved("where an error u becomes one", log(u) + layers * log(1 / g), layers, log(1 / u) / log(1 / g))
    yield Step("growth of the logarithm", Derivative(log(delta) - layers * log(g), layers), growth.exponent)


whole = Subject(drawn, gain=1 / 64, stored=0.0, finer=0.0)
plain = Subject(shifted, slope=0.0)
theorem = Theorem(
    place="the closed-form inverse in floating point; derived here",
    label="derived",
    uses=("momentum_invertibility",),
    hypotheses=H,
    claims=dict(growth=growth, unit=unit, carried=carried),
    proofs=(any_residuals, every_depth),
    experiments=dict(
        trips=Experiment(
            distances, (trip, ratio), {N: Efforts((32, 64, 96), (32, 64, 96), (32, 64, 128))},
            at=({g: Rational(1, 2)}, {g: Rational(3, 4)}), draws=Efforts(150, 200, 600), span=4, padded=True, subjects={
                "small gain": whole,
                "gain five": whole(gain=5.0).breaking(H.small, fails=growth),
                "positions kept": whole(stored=1.0).breaking(H.blind, fails=growth),
                "24 bits twice": whole(finer=1.0).breaking(H.formats, fails=unit),
            },
        ),
        perturbations=Experiment(
            perturbed, seen, {N: Efforts((2, 6), (2, 6, 12), (2, 6, 12))}, at=({g: Rational(1, 2)}, {g: Rational(3, 4)}),
            draws=Efforts(2, 3, 8), padded=True, subjects={
                "flat": plain, "sloping": plain(slope=1.0).breaking(H.flat, fails=carried),
            },
        ),
    ),
    issues=(
        "In exact arithmetic, or with the remainders kept, the inverse is exact at every depth.",
        "With residuals of order one their Jacobians enter, and errors grow faster.",
    ),
)
