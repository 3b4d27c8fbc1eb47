"""A momentum network adds up its residuals with weights that fall from nearly one to 1 - g along the depth.

**Theorem.** Let v_(n+1) = g v_n + (1-g) f_n(x_n) with the same g in all layers, 0 < g < 1. Then
v_N = g^N v_0 + (1-g) sum_(n < N) g^(N-1-n) f_n(x_n). If also x_(n+1) = x_n + v_(n+1), then
x_N = x_0 + sum_(n < N) (1 - g^(N-n)) f_n(x_n) + v_0 g (1 - g^N)/(1 - g).

**Idea.** A residual f_n enters the velocity as (1-g) f_n, and every later layer multiplies it by g.
Up to layer N it moves the position by (1-g) (1 + g + ... + g^(N-n-1)) f_n = (1 - g^(N-n)) f_n. A
residual network adds up all residuals with weight one. The state is linear in its start and in the
residuals, so each of them can be followed alone.
"""

import jax.numpy as jnp
import numpy as np
from sympy import Function, Rational, Sum, Symbol

from theorax.language import *
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import literal
from theorax.theorems.momentum_resnet import _momentum as momentum
from theorax.theorems.momentum_resnet._momentum import MomentumNetwork, N, g

seen = arrays(
    end="the position x_N",
    sum="x_0 + sum (1 - g^(N-n)) f_n(x_n) + v_0 g (1 - g^N)/(1 - g), n from 0 to N - 1",
    velocity="the velocity v_N",
    faded="g^N v_0 + (1-g) sum g^(N-1-n) f_n(x_n)",
    early="the sum with the exponent N - n - 1",
    plain="x_0 + sum f_n(x_n), as in a residual network",
    standing="the sum without the first velocity",
    late="the sum with v_0 (1 - g^N)/(1 - g)",
    whole="the fading residuals without the factor 1 - g",
)

H = hypotheses(
    velocity="the velocity is v_(n+1) = g v_n + (1-g) f_n(x_n), with one g at all layers",
    position="the position takes the new velocity: x_(n+1) = x_n + v_(n+1)",
)
exact = Relative(1, 10**8, "rounding stays below it; the nearest wrong sum leaves out 1 - g of a residual")
position = Identity(
    seen.end, seen.sum, margin=exact,
    wrong={
        "the last residual not at all": seen.early, "all weights one": seen.plain,
        "no first velocity": seen.standing, "the first velocity once more": seen.late,
    },
)
speed = Identity(
    seen.velocity, seen.faded, under=H.velocity, margin=exact, wrong={"residuals enter whole": seen.whole},
)

NEURONS = 4


class Varying(MomentumNetwork):
    """The network; ``old``: positions take the velocity before; ``falling``: the momentum falls with the depth."""

    old: Scalar = 0.0
    falling: Scalar = 0.0

    def forwards(self, n, state):
        x, v = state
        g = self.g / (1 + self.falling * n)
        after = g * v + (1 - g) * self.residual(n, x)
        return x + after - self.old * (after - v), after


def unrolled(model, N):
    net, (x, v) = model
    g, end = net.g, (x, v)
    powers, early, plain, fading = (jnp.zeros_like(x) for _ in range(4))
    for n in range(N.padded):
        f = net.residual(n, end[0])
        powers, early, plain = (
            powers + (1 - g ** (N.padded - n)) * f,
            early + (1 - g ** (N.padded - n - 1)) * f,
            plain + f,
        )
        fading = fading + g ** (N.padded - 1 - n) * f
        end = net.forwards(n, end)
    moved = (1 - g**N.padded) / (1 - g) * v
    return dict(
        end=end[0], sum=x + powers + g * moved, early=x + early + g * moved, plain=x + plain + g * moved,
        standing=x + powers, late=x + powers + moved,
        velocity=end[1], faded=g**N.padded * v + (1 - g) * fading, whole=g**N.padded * v + fading,
    )


def drawn(key, N, g, old, falling):
    weights = momentum.gaussian_weights(key, N.padded, NEURONS)
    return Varying(momentum.tanh_layer, weights, g, 1.0, old, falling), momentum.gaussian_state(key, NEURONS)


def given(theta, x):
    """Any residuals, whatever made them."""
    return theta + 0 * x


def of_symbols(function, letter, *shape):
    """One neuron."""
    net = Varying(function, generic_entries("w", *shape), letter, 1.0, 0.0, 0.0)
    return net, (generic_entries("x", 1), generic_entries("v", 1))


@settles(position, speed)
def any_residuals(claim):
    """Any residuals, states and momentum, one neuron, N = 1 to 6; generic tanh layers of one neuron, N = 1, 2."""
    for depth in range(1, 7):
        yield Instance(
            claim, f"N = {depth}", unrolled, of_symbols(given, np.array(g, dtype=object), depth, 1), literal(depth)
        )
    for depth in (1, 2):
        model = of_symbols(momentum.tanh_layer, np.array(g, dtype=object), depth, 1, 1)
        yield Instance(claim, f"tanh, N = {depth}", unrolled, model, literal(depth))


@lemma
def one_residual():
    """Every N, n and g; a state is linear in its start and in all residuals, so each of them may stand alone."""
    share = Function("v")
    k, f, v = Symbol("k", integer=True, nonnegative=True), Symbol("f"), Symbol("v_0")
    entered = [share(k + 1) - g * share(k), share(0) - (1 - g) * f]
    yield Solved("what is left of one residual in the velocity", entered, share(k), (1 - g) * f * g**k)
    remaining = Symbol("m", integer=True, positive=True)  # N - n
    summed = Sum((1 - g) * f * g**k, (k, 0, remaining - 1))
    yield Step("how far it moves the position", summed, (1 - g**remaining) * f)
    yield Step(
        "how far the first velocity does, times 1 - g",
        Sum((1 - g) * g ** (k + 1) * v, (k, 0, N - 1)),
        v * g * (1 - g**N),
    )


whole = Subject(drawn, old=0.0, falling=0.0)
both = (position, speed)
theorem = Theorem(
    place="the unrolled forward pass; reconstructed, derived here with any first velocity",
    label="reconstructed",
    hypotheses=H,
    claims=dict(position=position, speed=speed),
    proofs=(any_residuals, one_residual),
    experiments=dict(
        networks=Experiment(
            unrolled, seen, {N: Efforts((2, 12), (2, 12, 30), (2, 12, 30))}, at=({g: Rational(1, 2)}, {g: Rational(9, 10)}),
            draws=Efforts(2, 3, 8), padded=True, subjects={
                "same momentum": whole,
                "old velocity": whole(old=1.0).breaking(H.position, fails=position),
                "falling momentum": whole(falling=1.0).breaking(H.velocity, fails=both),
            },
        ),
    ),
    issues=("The residuals f_n(x_n) are those met on the way: they are known once the layers have run.",),
)
