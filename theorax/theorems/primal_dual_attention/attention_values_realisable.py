"""Any values of an attention layer are those of a regression, for targets that can be written down.

**Theorem.** In the regression on rows x_j = phi(k_j)/h_j with tube eps and box C, let
G = (x_j.x_l), beta = h V, y = G beta + b + eps sign(beta), C > max |beta_j|, and sum_j h_j v_j = 0,
or b = 0 if b is no variable. Then w = sum_j beta_j x_j and b solve the primal program and beta the
dual one: both values are equal. Let a solver find feasible coefficients and a bias, with gap g
between the primal value there and the dual one. If G is positive definite, |dv_j|^2 <= g
(G^-1)_jj/h_j^2 for the error of its values. At every key and query x its output is off by at most
sqrt(g) |phi(x)|/h(x) + min_j (|x_j| sqrt(g) + g/m_j), m_j = min(|beta_j|, C - |beta_j|). If its
solution is optimal, g <= 2e-9 times the primal value of w = 0, b = 0, to numerical precision.

**Idea.** The residual at key j is eps sign(beta_j), so no slack is needed, and both values are
beta^T G beta/2. Both programs are quadratic in w, so |dw|^2 <= g. A residual that is off by df at
key j costs at least m_j |df| <= g.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Matrix, Rational, Subs, sqrt, symbols

from theorax.language import *
from theorax.numerics.kernel_attention import AttentionKernel, Features, KernelAttention, feature_rows
from theorax.numerics.keys import named
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._found import SOLVED, astray, certified, gap, judged, solver
from theorax.theorems.primal_dual_attention._kernel_regression import gram, inverse
from theorax.theorems.primal_dual_attention._quadratic import Dual, cholesky, expanded_bound, lower_bound, solve_dual
from theorax.theorems.primal_dual_attention._regression import KERNELS, LINEAR, OUTPUTS, SOFTMAX, D, N, eps
from theorax.theorems.primal_dual_attention._weak_duality import weak_duality

program = arrays(
    above="primal value at w = sum_j beta_j x_j and b",
    below="dual value at beta = h V",
    room="C - |beta|",
)
layer = arrays(
    inverted="(G^-1)_jj/h_j^2",
    off="|v_j| by which the values that the solver finds are off",
    without="the same for targets without eps sign(beta)",
    raw="the same for targets with K beta in the place of G beta",
    output="difference of the outputs at the keys and the queries",
    unbiased="the same for the layer without b",
    length="|phi|/h at the keys and the queries",
    anchor="least |x_j| sqrt(g) + g/m_j over the keys",
)

H = hypotheses(
    inside="C > max |h_j v_j|",
    centred="sum_j h_j v_j = 0 where b is a variable",
    definite="k is strictly positive definite at the keys",
    solved=SOLVED,
)
wanted = (H.inside, H.centred)
optimal = Optimum(
    program.above, under=wanted, bound=program.below, feasible=program.room >= 0, bound_by="weak_duality",
    margin=Absolute(
        1, 10**30, "both values are the same expression, to the precision of the balls; any other coefficient leaves a gap",
    ),
    wrong={"twice the quadratic form": dict(value=2 * program.above), "a residual outside the tube": program.below - 1},
)
recovered = Inequality(
    layer.off**2, at_most=gap * layer.inverted, under=(*wanted, H.definite),
    wrong={"targets without eps sign(beta)": dict(of=layer.without**2), "K in the place of G": dict(of=layer.raw**2)},
)
same_function = Inequality(
    layer.output, at_most=sqrt(gap) * layer.length + layer.anchor, under=wanted,
    wrong={"b left out": dict(of=layer.unbiased)},
)


class Realised(eqx.Module):
    """Wanted values and bias, and what the solver finds for the targets that are to give them."""

    kernel: AttentionKernel
    keys: jax.Array
    queries: jax.Array
    V: jax.Array
    b: jax.Array
    C: Any
    centre: Any
    found: tuple[Dual, ...]  # for the targets, for those without the tube, and for those with K
    free: bool = eqx.field(static=True)


def targets(kernel, keys, V, b, tube, centre):
    """Values, coefficients and targets, and G; centred under the stationary law where ``centre`` is one."""
    G, h = gram(kernel, keys)
    values = V - centre * (h @ V) / h.sum()
    beta = h[:, None] * values
    sides = tube * jnp.sign(beta)
    return h, G, values, beta, (G @ beta + b + sides, G @ beta + b, kernel.kernel(keys, keys) @ beta + b + sides)


def realised(key, N, D, eps, kind, bias, centre, headroom, shortfall):
    """``headroom``: C over the largest coefficient; ``shortfall``: the share that multipliers found are too small by."""
    keys, queries, _ = setting.points(key, N, D)
    V, free = jax.random.normal(named(key, "values"), (N.padded, OUTPUTS)), bool(bias)
    b = jax.random.normal(named(key, "bias"), (OUTPUTS,)) * float(free)
    kernel = KERNELS[int(kind)]
    _, G, _, beta, ys = targets(kernel, keys, V, b, eps, float(centre))
    root = feature_rows(kernel, keys, keys) if isinstance(kernel, Features) else cholesky(G)
    C = float(headroom) * float(jnp.abs(beta).max())
    duals = [solve_dual(root, y, C, eps, free) for y in ys]
    return Realised(kernel, keys, queries, V, b, C, float(centre), (astray(duals[0], shortfall), *duals[1:]), free)


def observe(model, eps):
    kernel, keys, C, b = model.kernel, model.keys, model.C, model.b
    h, G, values, beta, (y, *_) = targets(kernel, keys, model.V, b, eps, model.centre)
    points = jnp.concatenate([keys, model.queries])
    coefficients, found = judged(model.found[0], G, y, C, eps, model.free)
    solved, *others = (beta / h[:, None] for beta in (coefficients, *(dual.beta for dual in model.found[1:])))
    at = lambda values, b: KernelAttention(kernel, keys, values, b)(points)
    gap, depth = found["reached"] - found["assured"], jnp.minimum(jnp.abs(beta), jnp.abs(C - jnp.abs(beta)))
    norms = jnp.sqrt(jnp.diagonal(kernel.kernel(points, points)))
    length = norms[:, None] / kernel.kernel(points, keys).sum(1)[:, None]
    return found | dict(
        above=expanded_bound(beta, b, G, y, C, eps),
        below=lower_bound(jnp.maximum(beta, 0), jnp.maximum(-beta, 0), G, y, eps),
        room=C - jnp.abs(beta),
        inverted=jnp.diagonal(inverse(kernel, keys)(jnp.eye(len(y), dtype=y.dtype)))[:, None] / h[:, None] ** 2,
        off=jnp.abs(solved - values),
        without=jnp.abs(others[0] - values),
        raw=jnp.abs(others[1] - values),
        output=jnp.abs(at(solved, model.found[0].b) - at(values, b)),
        unbiased=jnp.abs(at(solved, 0 * b) - at(values, b)),
        length=length,
        anchor=jnp.min(jnp.sqrt(gap) * length[: len(y)] + gap / depth, axis=0),
    )


@lemma
def conditions():
    """Two keys, any symmetric G, coefficients of either sign, any b that fits, any eps: every condition holds."""
    p, q, b, e = symbols("p q b e", positive=True)
    g = symbols("g_1:4", real=True)
    G = Matrix([[g[0], g[1]], [g[1], g[2]]])
    for name, beta, signs, b_ in (
        ("with b: beta = (p, -p)", Matrix([p, -p]), Matrix([1, -1]), b),
        ("without b: beta = (p, q)", Matrix([p, q]), Matrix([1, 1]), 0),
        ("without b: beta = (-p, q)", Matrix([-p, q]), Matrix([-1, 1]), 0),
    ):
        y = G * beta + Matrix([b_, b_]) + e * signs  # on the boundary of the tube, on the side of its sign
        size = sum(s * x for s, x in zip(signs, beta, strict=True))
        value = y.dot(beta) - (beta.T * G * beta)[0] / 2 - e * size
        yield Step(f"{name}: the dual value is |w|^2/2", value, (beta.T * G * beta)[0] / 2)


@lemma
def distances():
    """Two keys with two features, generic symbols, any w and b, coefficients (p, -p): what both values are off."""
    X, w, (b, c), e = Matrix(2, 2, symbols("x_1:3_1:3")), Matrix(symbols("w_1:3")), symbols("b b*"), symbols("e")
    (p, q, C), star = symbols("p q C", positive=True), Matrix([1, -1])
    one, G, r, t = Matrix([1, 1]), X * X.T, symbols("r"), symbols("t", positive=True)
    y = p * G * star + c * one + e * star
    value, away = p**2 * (star.T * G * star)[0] / 2, w - p * X.T * star
    residual = y - X * w - b * one
    yield Step("P without slacks less its least value", w.dot(w) / 2 - value,
               away.dot(away) / 2 + p * star.dot(e * star - residual))
    yield Step("its least value less D at (q, -q)", value - q * y.dot(star) + q**2 * (star.T * G * star)[0] / 2
               + 2 * e * q, (p - q) ** 2 * (star.T * G * star)[0] / 2)
    yield Step("a residual below the edge of the tube costs m = p", Subs(p * (e - r), r, e - t), p * t)
    yield Step("one beyond it C - p, with its slack", Subs(p * (e - r) + C * (r - e), r, e + t), (C - p) * t)


softmax = Subject(realised, kind=SOFTMAX, bias=True, centre=1.0, headroom=2.0, shortfall=0.0)
theorem = Theorem(
    place="a converse of the main theorem (derived here)",
    label="derived",
    uses=("svr_primal_dual_kkt", "svr_bias_stationary_mean"),
    hypotheses=H,
    claims=dict(optimal=optimal, certified=certified, recovered=recovered, same_function=same_function),
    proofs=(conditions, distances, weak_duality),
    experiments=dict(
        realised=Experiment(observe, (program, solver, layer), {N: (6, 10)}, at=({D: 4, eps: Rational(1, 20)}, {D: 4, eps: 0}),
                            draws=Efforts(3, 8, 32), padded=True, subjects={
            "softmax attention, centred values": softmax,
            "softmax attention, no bias": softmax(bias=False, centre=0.0),
            "linear attention": softmax(kind=LINEAR).breaking(H.definite, fails=recovered),
            "C half of the largest coefficient": softmax(headroom=0.5).breaking(
                H.inside, fails=(optimal, recovered, same_function)),
            # The dual value is b sum_j beta_j above the primal one, and the optimum is another function.
            "values that are not centred": softmax(centre=0.0).breaking(
                H.centred, fails=(optimal, recovered, same_function)),
            "multipliers a thousandth off": softmax(shortfall=0.001).breaking(H.solved, fails=certified),
        }),
    ),
    issues=(
        "The targets depend on V, the keys and G: they are no data that a sequence comes with.",
        "Linear attention with fewer features than keys has the function and not the values: G is singular.",
    ),
)
