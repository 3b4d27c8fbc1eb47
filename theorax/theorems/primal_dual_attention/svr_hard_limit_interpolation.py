"""Without a tube and with a wide box the attention output at the keys is the targets.

For eps = 0 and C above every coefficient no slack is left: y = G beta + b 1, and with sum_j beta_j = 0

    b* = (1^T G^-1 y)/(1^T G^-1 1),    beta* = G^-1 (y - b* 1);    beta* = G^-1 y where b is no variable.

A solver ends with some beta and b, and with the gap g between the primal value P at w = sum_j beta_j x_j, b and the dual
one at beta. At w, b, with residuals r, the primal value lies |w - w*|^2/2 + sum_j (C |r_j| - beta*_j r_j) above the least,
and D, quadratic, lies |w - w*|^2/2 below. So, d being beta - beta* and |w - w*|^2 = d^T G d <= g,

    d_j^2 <= (G^-1)_jj g,    (C - |beta*_j|) |r_j| <= g,    |b - b*| <= |r_j| + |x_j| |w - w*| for every j:

by Cauchy and Schwarz for the form G; each term of the sum is at most g; and r_j = x_j.(w* - w) + b* - b.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from sympy import Abs, Integer, Matrix, expand, ones, simplify, solve, sqrt, symbols

from theorax.language import *
from theorax.numerics.arithmetics import Symbolic, evaluate
from theorax.numerics.kernel_attention import AttentionKernel, KernelAttention, Regression
from theorax.numerics.kernel_regression import gram, interpolant, inverse
from theorax.numerics.quadratic import Dual, cholesky, expanded_bound, lower_bound, solve_dual
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._found import MEASURES, SOLVED, astray, certified, gap, values
from theorax.theorems.primal_dual_attention._regression import FEATURES, LINEAR, PLAIN, D, N, Softmax

output = Measured("output", "output of the layer at the keys", array=True)
target = Measured("target", "targets", array=True)
scaled = Measured("scaled", "the same with the values beta_j", array=True)
uncentred = Measured("uncentred", "the same with beta = G^-1 y and this b", array=True)
above = Measured("above", "primal value of the closed form", array=True)
below = Measured("below", "its dual value", array=True)
room = Measured("room", "C - |beta*|", array=True)

H = hypotheses(
    no_tube="eps = 0",
    inside="C lies above the largest coefficient",
    definite="G is invertible",
    solved=SOLVED,
)
interpolates = Identity(
    output, target, under=H.definite,
    margin=Relative(1, 10**6, "the account of the rounding grows with the condition of G and stays below it"),
    wrong={
        "values beta_j": dict(left=scaled),
        "coefficients that do not sum to zero": dict(left=uncentred),
    },
)  # fmt: skip
LIMIT = (H.no_tube, H.inside, H.definite)
optimal = Optimum(
    above, under=LIMIT, bound=below, feasible=room >= 0,
    margin=Absolute(
        1, 10**30,
        "both are one expression to the precision of the balls; a tube of width 1/10 leaves a gap of order one",
    ),
)  # fmt: skip

inverted = Measured("inverted", "(G^-1)_jj", array=True)
diagonal = Measured("diagonal", "G_jj", array=True)
off = Measured("off", "error of the coefficients that the solver finds", array=True)
off_plain = Measured("off_plain", "what they are off G^-1 y", array=True)
bias_off = Measured("bias_off", "|b* - the multiplier of the sum that the solver finds|", array=True)
mean_off = Measured("mean_off", "|the mean of the targets - that multiplier|", array=True)
missed = Measured("missed", "distance of the solver's output at the keys from the targets", array=True)
missed_scaled = Measured("missed_scaled", "the same with the values beta_j", array=True)

coefficients = Inequality(
    off**2, at_most=gap * inverted, under=LIMIT, wrong={"coefficients that do not sum to zero": dict(of=off_plain**2)},
)  # fmt: skip
multiplier = Inequality(
    bias_off, at_most=gap / Abs(room) + sqrt(gap * diagonal), under=LIMIT,
    wrong={"the mean of the targets": dict(of=mean_off)},
)  # fmt: skip
at_the_keys = Inequality(
    missed * Abs(room), at_most=gap, under=LIMIT, wrong={"values beta_j": dict(of=missed_scaled * Abs(room))},
)  # fmt: skip


class InterpolatingRegression(eqx.Module):
    """Keys and targets, the box and the tube, and what the solver finds."""

    kernel: AttentionKernel
    keys: Any
    targets: Any
    free: Any
    C: Any
    tube: Any
    dual: Dual
    bias: bool = eqx.field(static=True)


def interpolated(key, N, D, kind, free, headroom, tube, off):
    """``headroom``: C over the largest coefficient of the closed form, or over a hundred where there is none."""
    keys, _, targets = setting.points(key, N, D)
    kernel: AttentionKernel = Softmax()
    if kind < 0:
        root = cholesky(gram(kernel, keys)[0])
        largest = float(jnp.abs(interpolant(inverse(kernel, keys), targets, float(free))[0]).max())
    else:
        kernel = phi = FEATURES[int(kind)]
        root, largest = Regression(phi, keys, jnp.zeros(()), jnp.zeros(())).rows(keys), 100.0
    C = float(headroom) * largest
    dual = solve_dual(root, targets, C, float(tube), bool(free))
    return InterpolatingRegression(kernel, keys, targets, float(free), C, float(tube), astray(dual, off), bool(free))


def observe(model):
    (G, h), y, C, solved_b = gram(model.kernel, model.keys), model.targets, model.C, model.dual.b
    invert = inverse(model.kernel, model.keys)
    beta, b, plain = interpolant(invert, y, model.free)
    layer = lambda values, b: KernelAttention(model.kernel, model.keys, values, b)(model.keys)  # noqa: E731
    solved, judged = values(model.dual, G, y, C, model.tube, model.bias)
    return judged | dict(
        output=layer(beta / h[:, None], b),
        target=y,
        scaled=layer(beta, b),
        uncentred=layer(plain / h[:, None], b + 1 - model.free),
        above=expanded_bound(beta, b, G, y, C, model.tube),
        below=lower_bound(jnp.maximum(beta, 0), jnp.maximum(-beta, 0), G, y, model.tube),
        room=C - jnp.abs(beta),
        inverted=jnp.diagonal(invert(jnp.eye(len(y), dtype=y.dtype)))[:, None],
        diagonal=jnp.diagonal(G)[:, None],
        off=solved - beta,
        off_plain=solved - plain,
        bias_off=jnp.abs(solved_b - b),
        mean_off=jnp.abs(solved_b - y.sum(0) / len(y)),
        missed=jnp.abs(layer(solved / h[:, None], solved_b) - y),
        missed_scaled=jnp.abs(layer(solved, solved_b) - y),
    )  # fmt: skip


@settles(interpolates)
def in_closed_form():
    """Two keys in the plane with phi(x) = x, up to rotation and length of the first; any targets."""
    g: Any = setting.generic
    keys = np.array([[Integer(1), Integer(0)], symbols("p q", real=True)], dtype=object)
    dual = Dual(g("alpha", 2, 1), g("alphat", 2, 1), g("b", 1), jnp.zeros((2, 1), int))
    model = InterpolatingRegression(FEATURES[PLAIN], keys, g("y", 2, 1), 1.0, 1.0, 0.0, dual, True)
    values = evaluate(lambda model: {name: observe(model)[name] for name in ("output", "target")}, (model,), Symbolic())
    yield instance(interpolates, "the measured program on symbols", values)


@lemma
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


@lemma
def distances():
    """Two keys with two features, generic symbols, any w and b, any beta: what both values are off the common one."""
    X, w, (b, c) = Matrix(2, 2, symbols("x_1:3_1:3")), Matrix(symbols("w_1:3")), symbols("b b*")
    best, p, s = symbols("beta"), Matrix(symbols("beta_1:3")), Matrix(symbols("s_1:3"))  # s_j is |r_j|
    C, star = symbols("C", positive=True), Matrix([best, -best])  # what sums to zero
    y = X * X.T * star + c * ones(2, 1)
    value = (star.T * X * X.T * star)[0] / 2
    r = y - X * w - b * ones(2, 1)
    away = w - X.T * star
    yield Step("P less its least value", expand(w.dot(w) / 2 + C * sum(s) - value),
               expand(away.dot(away) / 2 + C * sum(s) - star.dot(r)))  # fmt: skip
    beta = star + Matrix([p[0], -p[0]])
    d = beta - star
    yield Step("its least value less D", expand(value - y.dot(beta) + (beta.T * X * X.T * beta)[0] / 2),
               expand((d.T * X * X.T * d)[0] / 2))  # fmt: skip
    yield Step("a residual", expand(r), expand(-X * away + (c - b) * ones(2, 1)))


random = Subject(interpolated, kind=-1, free=1.0, headroom=10.0, tube=0.0, off=0.0)
found = (coefficients, multiplier, at_the_keys)
theorem = Theorem(
    place="the limit of a hard tube (derived here)",
    label="derived",
    uses=("svr_primal_dual_kkt", "quadratic_programs"),
    hypotheses=H,
    claims=dict(
        interpolates=interpolates, optimal=optimal, certified=certified, coefficients=coefficients,
        multiplier=multiplier, at_the_keys=at_the_keys,
    ),
    proofs=(in_closed_form, stationarity, distances),
    experiments=dict(
        random=Experiment(
            observe,
            (
                *(output, target, scaled, uncentred, above, below, room, *MEASURES, inverted, diagonal),
                *(off, off_plain, bias_off, mean_off, missed, missed_scaled),
            ),
            {N: (4, 8)}, at={D: 3}, draws=Efforts(3, 8, 24), padded=True,
            subjects={
                "softmax attention": random,
                "softmax attention, no bias": random(free=0.0),
                "a tube": random(tube=0.1).breaking(H.no_tube, fails=(optimal, *found)),
                "C half of the largest coefficient": random(headroom=0.5).breaking(H.inside, fails=(optimal, *found)),
                "linear attention": random(kind=LINEAR).breaking(
                    H.definite, fails=(interpolates, optimal, at_the_keys),
                ),
                "multipliers a thousandth off": random(off=0.001).breaking(H.solved, fails=certified),
            },
        ),
    ),
)  # fmt: skip
