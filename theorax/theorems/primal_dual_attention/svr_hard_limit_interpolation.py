"""Without a tube and with a wide box the attention output at the keys is the targets.

For eps = 0 and C above every coefficient no slack is left: y = G beta + b 1, and with sum_j beta_j = 0

    b = (1^T G^-1 y)/(1^T G^-1 1),    beta = G^-1 (y - b 1);    beta = G^-1 y where b is no variable.

On the circle, with k_j evenly spaced, y_j = cos(m t_j) and z = 1/sqrt(2), waves are eigenvectors of G. Summing
exp(x cos s) = I_0(x) + 2 sum_n I_n(x) cos(ns) over the keys leaves the orders that are multiples of N, or m away from
one: with H(x, s) = I_0(x) + 2 sum_l I_lN(x) cos(lNs) and M(x, s) the sum of I_n(x) cos(ns) over those others,

    f(r (cos t, sin t)) = H(z, 0)/M(z, 0) M(rz, t)/H(rz, t),

which tends to I_0(z)/I_m(z) I_m(rz)/I_0(rz) cos(mt) faster than exponentially, by what is aliased, I_(N-m)/I_m.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from sympy import Abs, Integer, Matrix, Rational, cos, expand, ones, pi, simplify, solve, symbols

from theorax.numerics.jaxprs import Symbolic, evaluate
from theorax.numerics.kernel_attention import Attention, Kernel, Regression
from theorax.numerics.quadratic import cholesky, lower_bound, solve_dual, solved
from theorax.numerics.series import bessel_i, circle_number
from theorax.theorems.language import (
    Absolute,
    Cited,
    Efforts,
    Experiment,
    Hypothesis,
    Identity,
    Inequality,
    Measured,
    Optimum,
    Parameter,
    Proof,
    Relative,
    Step,
    Subject,
    Theorem,
    instance,
)
from theorax.theorems.primal_dual_attention import _setting as setting
from theorax.theorems.primal_dual_attention._setting import FEATURES, LINEAR, PLAIN, D, N, Softmax

output = Measured("output", "output of the layer at the keys", array=True)
target = Measured("target", "targets", array=True)
scaled = Measured("scaled", "the same with the values beta_j", array=True)
uncentred = Measured("uncentred", "the same with beta = G^-1 y and this b", array=True)
above = Measured("above", "primal value of the closed form", array=True)
below = Measured("below", "its dual value", array=True)
room = Measured("room", "C - |beta|", array=True)
off = Measured("off", "largest error of the coefficients the solver finds, over the largest coefficient", array=True)
bias_off = Measured("bias_off", "|b - the multiplier of the sum that the solver finds|, largest", array=True)
missed = Measured("missed", "largest distance of the solver's output at the keys from the targets", array=True)

interpolates = Identity(
    left=output,
    right=target,
    margin=Relative(1, 10**6),
    because="the account of the rounding grows with the condition of G and stays below it",
    under=("definite",),
    mutants={"values beta_j": dict(left=scaled), "coefficients that do not sum to zero": dict(left=uncentred)},
)
optimal = Optimum(
    value=above,
    bound=below,
    feasible=room >= 0,
    margin=Absolute(1, 10**30),
    because="both are one expression to the precision of the balls; a tube of width 1/10 leaves a gap of order one",
    under=("no_tube", "inside", "definite"),
)
# Gaps of 1e-13 of values up to 10^4, and a condition of G up to 10^3.
SOLVED = Rational(1, 10**6)
coefficients = Inequality(of=off, at_most=SOLVED)
multiplier = Inequality(of=bias_off, at_most=SOLVED)
at_the_keys = Inequality(of=missed, at_most=SOLVED)

m = Parameter("m", "turns of the wave", integer=True, positive=True)
r = Parameter("r", "length of the query", positive=True)
t = Parameter("t", "angle of the query")
wave = Measured("wave", "output at r (cos t, sin t) for keys on the circle", array=True)
closed = Measured("closed", "H(z, 0)/M(z, 0) M(rz, t)/H(rz, t)", array=True)
simple = Measured("simple", "I_0(z)/I_m(z) I_m(rz)/I_0(rz) cos(mt)", array=True)
aliased = Measured("aliased", "I_(N-m)/I_m at z, and at rz over |cos mt|", array=True)
flat = Measured("flat", "cos(mt)", array=True)

circle = Identity(
    left=wave,
    right=closed,
    margin=Relative(1, 10**5),
    because="the account of the rounding reaches 1e-6 with the condition of G at N = 8; aliases are 1e-2 at N = 6",
    under=("even",),
    mutants={"without the aliases": dict(right=simple), "as at the keys": dict(right=flat)},
)
aliasing = Inequality(
    of=Abs(wave / simple - 1),
    at_most=2 * aliased,
    under=("even",),
    mutants={"of the wave itself": dict(of=Abs(flat / simple - 1))},
)


class Interpolated(eqx.Module):
    """Keys and targets, the box and the tube, and what the solver finds."""

    kernel: Kernel
    keys: Any
    targets: Any
    free: Any
    C: Any
    tube: Any
    beta: Any
    bias: Any


def closed_form(G, y, free):
    """Coefficients and bias; ``free`` is zero where b is no variable."""
    both = solved(G, jnp.concatenate([y, jnp.ones((len(y), 1), y.dtype)], axis=1))
    plain, one = both[:, :-1], both[:, -1:]
    b = free * plain.sum(0) / one.sum()
    return plain - one * b, b, plain


def gram(kernel, keys):
    """G and the normalisers."""
    K = kernel.kernel(keys, keys)
    h = K.sum(1)
    return K / (h[:, None] * h[None, :]), h


def interpolated(key, N, D, kind, free, headroom, tube):
    """``headroom``: C over the largest coefficient of the closed form, or over a hundred where there is none."""
    keys, _, targets = setting.points(key, N, D)
    kernel: Kernel = Softmax()
    if kind < 0:
        G, _ = gram(kernel, keys)
        root, largest = cholesky(G), float(jnp.abs(closed_form(G, targets, float(free))[0]).max())
    else:
        kernel = phi = FEATURES[int(kind)]
        root, largest = Regression(phi, keys, jnp.zeros(()), jnp.zeros(())).rows(keys), 100.0
    C = float(headroom) * largest
    dual = solve_dual(root, targets, C, float(tube), bool(free))
    return Interpolated(kernel, keys, targets, float(free), C, float(tube), dual.beta, dual.b)


def observe(model):
    (G, h), y, C = gram(model.kernel, model.keys), model.targets, model.C
    beta, b, plain = closed_form(G, y, model.free)
    layer = lambda values, b: Attention(model.kernel, model.keys, values, b)(model.keys)  # noqa: E731
    slack = jnp.maximum(jnp.abs(y - G @ beta - b) - model.tube, 0)
    worst = lambda x: jnp.max(jnp.abs(x))  # noqa: E731
    return dict(
        output=layer(beta / h[:, None], b),
        target=y,
        scaled=layer(beta, b),
        uncentred=layer(plain / h[:, None], b + 1 - model.free),
        above=(beta * (G @ beta)).sum() / 2 + C * slack.sum(),
        below=lower_bound(jnp.maximum(beta, 0), jnp.maximum(-beta, 0), G, y, model.tube),
        room=C - jnp.abs(beta),
        off=worst(model.beta - beta) / worst(beta),
        bias_off=worst(model.bias - b),
        missed=worst(layer(model.beta / h[:, None], model.bias) - y),
    )


def turned(key, shift):
    """What the first key is turned by."""
    return jnp.asarray(shift)


def on_the_circle(shift, N, m, r, t):
    n = N.padded
    angles = 2 * circle_number() / n * jnp.arange(n)
    y = jnp.cos(m * angles)
    moved = angles + shift * (jnp.arange(n) == 0)
    keys = jnp.stack([jnp.cos(moved), jnp.sin(moved)], axis=1)
    query = jnp.stack([r * jnp.cos(t), r * jnp.sin(t)])[None]
    kernel = Softmax()
    G, h = gram(kernel, keys)
    beta, b, _ = closed_form(G, y[:, None], 1.0)
    f = Attention(kernel, keys, beta / h[:, None], b)(query)[0, 0]
    # Beyond order sixty what is left, x^60/60! for x below one, is out of sight of balls.
    whole = [n * l for l in range(1, 2 + 60 // n)]
    others = [m, *(order + side for order in whole for side in (-m, m))]
    z = 1 / jnp.sqrt(2 * jnp.ones(()))

    def H(x, s):
        return bessel_i([0], x)[0] + 2 * (bessel_i(whole, x) * jnp.cos(jnp.asarray(whole) * s)).sum()

    def M(x, s):
        return (bessel_i(others, x) * jnp.cos(jnp.asarray(others) * s)).sum()

    low, high = (bessel_i([0, m, n - m], x) for x in (z, r * z))
    flat = jnp.cos(m * t * jnp.ones(()))
    return dict(
        wave=f,
        closed=H(z, 0.0) / M(z, 0.0) * M(r * z, t) / H(r * z, t),
        simple=low[0] / low[1] * high[1] / high[0] * flat,
        aliased=low[2] / low[1] + high[2] / high[1] / jnp.abs(flat),
        flat=flat,
    )


def in_closed_form():
    """Two keys in the plane with phi(x) = x, up to rotation and length of the first; any targets."""
    g = setting.generic
    keys = np.array([[Integer(1), Integer(0)], symbols("p q", real=True)], dtype=object)
    model = Interpolated(FEATURES[PLAIN], keys, g("y", 2, 1), 1.0, 1.0, 0.0, g("beta", 2, 1), g("b", 1))
    values = evaluate(lambda model: {name: observe(model)[name] for name in ("output", "target")}, (model,), Symbolic())
    yield instance(interpolates, "the measured program on symbols", values)


def stationarity():
    """Two keys, any symmetric G, any targets."""
    g, y, b = symbols("g_1:4"), Matrix(symbols("y_1:3")), symbols("b")
    G = Matrix([[g[0], g[1]], [g[1], g[2]]])
    inverse, one = G.inv(), ones(2, 1)
    (mean,) = one.T * inverse * y
    (weight,) = one.T * inverse * one
    (found,) = solve((one.T * inverse * (y - b * one))[0].together(), b)
    yield Step("coefficients that sum to zero", found.factor(), (mean / weight).factor())
    yield Step("residuals vanish", (y - G * inverse * (y - b * one) - b * one).applyfunc(simplify), Matrix([0, 0]))


def aliases():
    """Six keys, waves of one and two turns, every order up to seven."""
    s = symbols("s", real=True)
    yield Cited("exp(x cos s) = I_0(x) + 2 sum_n I_n(x) cos(ns)", "Abramowitz and Stegun 1964, 9.6.34")
    for turns in (1, 2):
        for n in range(8):
            places = [pi * j / 3 for j in range(6)]
            total: Any = sum(cos(n * (s - place)) * cos(turns * place) for place in places)
            met = [side for side in (turns, -turns) if (n - side) % 6 == 0]
            kept = 3 * len(met) * cos(n * s)
            yield Step(f"m = {turns}, order {n}", expand(total.expand(trig=True)), expand(kept.expand(trig=True)))


def random(kind=-1, free=1.0, headroom=10.0, tube=0.0, **roles):
    return Subject(interpolated, options=dict(kind=kind, free=free, headroom=headroom, tube=tube), **roles)


found = ("coefficients", "at_the_keys")
theorem = Theorem(
    place="the limit of a hard tube (derived here)",
    label="derived",
    uses=("svr_primal_dual_kkt", "quadratic_programs"),
    hypotheses=dict(
        no_tube=Hypothesis("eps = 0"),
        inside=Hypothesis("C lies above the largest coefficient"),
        definite=Hypothesis("G is invertible"),
        even=Hypothesis("keys are evenly spaced on the circle"),
    ),
    claims=dict(
        interpolates=interpolates,
        optimal=optimal,
        coefficients=coefficients,
        multiplier=multiplier,
        at_the_keys=at_the_keys,
        circle=circle,
        aliasing=aliasing,
    ),
    experiments=dict(
        random=Experiment(
            subjects={
                "softmax attention": random(),
                "softmax attention, no bias": random(free=0.0),
                "a tube": random(tube=0.1, breaks=("no_tube",), fails=("optimal", *found)),
                "C half of the largest coefficient": random(headroom=0.5, breaks=("inside",), fails=("optimal", *found)),
                "linear attention": random(LINEAR, breaks=("definite",), fails=("at_the_keys",)),
            },
            observe=observe,
            measures=(output, target, scaled, uncentred, above, below, room, off, bias_off, missed),
            sweep={N: (4, 8)},
            at=({D: 3},),
            draws=Efforts(quick=3, standard=8, thorough=24),
        ),
        circle=Experiment(
            subjects={
                "even": Subject(turned, options=dict(shift=0.0)),
                "a key out of its place": Subject(
                    turned, options=dict(shift=0.5), breaks=("even",), fails=("circle", "aliasing")
                ),
            },
            observe=on_the_circle,
            measures=(wave, closed, simple, aliased, flat),
            sweep={N: (6, 8)},
            at=(
                {m: 2, r: Rational(17, 10), t: Rational(2, 5)},
                {m: 1, r: Rational(1, 2), t: 1},
            ),
            draws=1,
        ),
    ),
    proof=dict(interpolates=Proof(in_closed_form, settles=True), stationarity=stationarity, aliases=aliases),
    issues=(
        "On the circle 1/lambda_min(G) grows faster than exponentially, to 1.7e9 at N = 16: nothing is said of such G.",
        "m below N/2: a wave of N - m turns takes the same values at the keys.",
    ),
)  # fmt: skip
