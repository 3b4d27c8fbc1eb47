"""Without a tube and with a wide box the attention output at the keys is the targets.

**Theorem.** Let G = (x_j.x_l), x_j = phi(k_j)/h_j, be invertible, b* = (1^T G^-1 y)/(1^T G^-1 1),
beta* = G^-1 (y - b* 1), or b* = 0, beta* = G^-1 y if b is no variable. Then the layer with values
beta*_j/h_j and bias b* gives the targets at the keys. Let further the regression on rows x_j have
no tube, eps = 0, and a box C > max |beta*_j|. Then w* = sum_j beta*_j x_j with b*, and beta*, are
optimal. Let a solver find feasible beta and b, let r be its residuals and g the gap between the
primal value at sum_j beta_j x_j, b and the dual one at beta. For every j, (beta_j - beta*_j)^2 <=
(G^-1)_jj g, (C - |beta*_j|) |r_j| <= g, and |b - b*| <= g/(C - |beta*_j|) + sqrt(g G_jj). If its
solution is optimal, g <= 2e-9 times the primal value of w = 0, b = 0, to numerical precision.

**Idea.** The primal value lies |w - w*|^2/2 + sum_j (C |r_j| - beta*_j r_j) above the least one and
the dual value |w - w*|^2/2 below, so both are controlled by g, with |w - w*|^2 = d^T G d for
d = beta - beta*. Cauchy-Schwarz and r_j = x_j.(w* - w) + b* - b give the bounds.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from sympy import Abs, Integer, Matrix, ones, sqrt, symbols

from theorax.language import *
from theorax.numerics.annotations import Entries
from theorax.numerics.kernel_attention import AttentionKernel, Features, KernelAttention, feature_rows
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._found import SOLVED, astray, certified, gap, judged, solver
from theorax.theorems.primal_dual_attention._kernel_regression import gram, interpolant, inverse
from theorax.theorems.primal_dual_attention._quadratic import Dual, cholesky, expanded_bound, lower_bound, solve_dual
from theorax.theorems.primal_dual_attention._regression import KERNELS, LINEAR, PLAIN, SOFTMAX, D, N
from theorax.theorems.primal_dual_attention._weak_duality import weak_duality

exact = arrays(
    output="output of the layer at the keys",
    target="targets",
    scaled="the same with the values beta_j",
    uncentred="the same with beta = G^-1 y and this b",
    above="primal value of the closed form",
    below="its dual value",
    room="C - |beta*|",
)
error = arrays(
    inverted="(G^-1)_jj",
    diagonal="G_jj",
    off="error of the coefficients that the solver finds",
    off_plain="what they are off G^-1 y",
    bias_off="|b* - the multiplier of the sum that the solver finds|",
    mean_off="|the mean of the targets - that multiplier|",
    missed="distance of the solver's output at the keys from the targets",
    missed_scaled="the same with the values beta_j",
)

H = hypotheses(
    no_tube="eps = 0", inside="C lies above the largest coefficient", definite="G is invertible", solved=SOLVED,
)
limit = (H.no_tube, H.inside, H.definite)
interpolates = Identity(
    exact.output, exact.target, under=H.definite,
    margin=Relative(1, 10**6, "the account of the rounding grows with the condition of G and stays below it"),
    wrong={
        "values beta_j": dict(left=exact.scaled), "coefficients that do not sum to zero": dict(left=exact.uncentred),
    },
)
optimal = Optimum(
    exact.above, under=limit, bound=exact.below, feasible=exact.room >= 0, bound_by="weak_duality",
    margin=Absolute(
        1, 10**30, "both are one expression to the precision of the balls; a tube of width 1/10 leaves a gap of order one",
    ),
)
coefficients = Inequality(
    error.off**2, at_most=gap * error.inverted, under=limit,
    wrong={"coefficients that do not sum to zero": dict(of=error.off_plain**2)},
)
multiplier = Inequality(
    error.bias_off, at_most=gap / Abs(exact.room) + sqrt(gap * error.diagonal), under=limit,
    wrong={"the mean of the targets": dict(of=error.mean_off)},
)
at_the_keys = Inequality(
    error.missed * Abs(exact.room), at_most=gap, under=limit,
    wrong={"values beta_j": dict(of=error.missed_scaled * Abs(exact.room))},
)


class InterpolatingRegression(eqx.Module):
    """Keys and targets, the box and the tube, and what the solver finds."""

    kernel: AttentionKernel
    keys: Entries[Any, "N D"]
    targets: Entries[Any, "N V"]
    free: float
    C: float
    tube: float
    dual: Dual
    bias: bool = eqx.field(static=True)


def interpolated(key, N, D, kind, free, headroom, tube, shortfall):
    """``headroom``: C over the largest coefficient of the closed form, or over a hundred where there is none."""
    keys, _, targets = setting.points(key, N, D)
    kernel, largest = KERNELS[int(kind)], 100.0
    if isinstance(kernel, Features):
        root = feature_rows(kernel, keys, keys)
    else:
        root = cholesky(gram(kernel, keys)[0])
        largest = float(jnp.abs(interpolant(inverse(kernel, keys), targets, float(free))[0]).max())
    C, eps, bias = float(headroom) * largest, float(tube), bool(free)
    dual = astray(solve_dual(root, targets, C, eps, bias), shortfall)
    return InterpolatingRegression(kernel, keys, targets, float(free), C, eps, dual, bias)


def observe(model):
    (G, h), y, C, solved_b = gram(model.kernel, model.keys), model.targets, model.C, model.dual.b
    invert = inverse(model.kernel, model.keys)
    beta, b, plain = interpolant(invert, y, model.free)
    layer = lambda values, b: KernelAttention(model.kernel, model.keys, values, b)(model.keys)
    solved, found = judged(model.dual, G, y, C, model.tube, model.bias)
    return found | dict(
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
    )


@settles(interpolates)
def in_closed_form():
    """Two keys in the plane with phi(x) = x, up to rotation and length of the first; any targets."""
    g = setting.generic
    keys = np.array([[Integer(1), Integer(0)], symbols("p q", real=True)], dtype=object)
    dual = Dual(g("alpha", 2, 1), g("alphat", 2, 1), g("b", 1), jnp.zeros((2, 1), int))
    model = InterpolatingRegression(KERNELS[PLAIN], keys, g("y", 2, 1), 1.0, 1.0, 0.0, dual, True)
    yield Instance(interpolates, "two keys", observe, model)


@lemma
def stationarity():
    """Two keys, any symmetric G, any targets."""
    g, y, b = symbols("g_1:4"), Matrix(symbols("y_1:3")), symbols("b")
    G = Matrix([[g[0], g[1]], [g[1], g[2]]])
    inverse, one = G.inv(), ones(2, 1)
    (mean,), (weight,) = one.T * inverse * y, one.T * inverse * one
    yield Solved("coefficients that sum to zero", (one.T * inverse * (y - b * one))[0], b, [mean / weight])
    yield Step("residuals vanish", y - G * inverse * (y - b * one) - b * one, Matrix([0, 0]))


@lemma
def distances():
    """Two keys with two features, generic symbols, any w and b, any beta: what both values are off the common one."""
    X, w, (b, c) = Matrix(2, 2, symbols("x_1:3_1:3")), Matrix(symbols("w_1:3")), symbols("b b*")
    best, p, s = symbols("beta"), Matrix(symbols("beta_1:3")), Matrix(symbols("s_1:3"))  # s_j is |r_j|
    C, star = symbols("C", positive=True), Matrix([best, -best])  # what sums to zero
    y = X * X.T * star + c * ones(2, 1)
    value = (star.T * X * X.T * star)[0] / 2
    r, away = y - X * w - b * ones(2, 1), w - X.T * star
    yield Step("P less its least value", w.dot(w) / 2 + C * sum(s) - value,
               away.dot(away) / 2 + C * sum(s) - star.dot(r))
    d = Matrix([p[0], -p[0]])
    beta = star + d
    yield Step("its least value less D", value - y.dot(beta) + (beta.T * X * X.T * beta)[0] / 2,
               (d.T * X * X.T * d)[0] / 2)
    yield Step("a residual", r, -X * away + (c - b) * ones(2, 1))


softmax = Subject(interpolated, kind=SOFTMAX, free=1.0, headroom=10.0, tube=0.0, shortfall=0.0)
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
    proofs=(in_closed_form, stationarity, distances, weak_duality),
    experiments=dict(
        random=Experiment(observe, (exact, solver, error), {N: (4, 8)}, at={D: 3}, draws=Efforts(3, 8, 24), padded=True,
                          subjects={
            "softmax attention": softmax,
            "softmax attention, no bias": softmax(free=0.0),
            "a tube": softmax(tube=0.1).breaking(H.no_tube, fails=(optimal, *found)),
            "C half of the largest coefficient": softmax(headroom=0.5).breaking(H.inside, fails=(optimal, *found)),
            # No function meets eight targets: coefficients end at C, and the closed form is that of no optimum.
            "linear attention": softmax(kind=LINEAR).breaking(H.definite, fails=(interpolates, optimal, *found)),
            "multipliers a thousandth off": softmax(shortfall=0.001).breaking(H.solved, fails=certified),
        }),
    ),
)
