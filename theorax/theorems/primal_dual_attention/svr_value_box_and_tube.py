"""Values lie in a box of half-width C/h_j: zero inside the tube, on the boundary outside it, all zero under a wide tube.

Complementary slackness, with r = y - f: alpha_j (eps + xi_j - r_j) = 0 and (C - alpha_j) xi_j = 0. Inside the tube the
first bracket is positive, so v_j = 0; outside xi_j is, so alpha_j = C and |v_j| = C/h_j with the sign of r_j. No value is
left iff some constant lies within eps of all targets: iff eps >= (max y - min y)/2 where b is a variable, iff eps >=
max |y| where it is not, whatever the keys are. With a gap g these products, summed over both sides, are at most g
(svr_duality_gap), so that |beta_j| is at least C - g/s where r_j lies s beyond the tube; and with the threshold t the dual
value is at most (t - eps) |beta|_1, so that (eps - t) |beta|_1 <= g above it.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Abs, Rational, Symbol, expand, solve, symbols

from theorax.language import *
from theorax.numerics.kernel_regression import Fitted
from theorax.numerics.quadratic import Primal, lower_bound, upper_bound
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._regression import FEATURES, LINEAR, TAYLOR, C, D, N, eps

h = Measured("h", "h_j", array=True, positive=True)
seen = arrays(
    value="v_j",
    gap="primal value found over dual value found",
    furthest="what the largest |r_j| lies beyond the tube",
    largest="the largest |v_j| h_j",
    plain="the largest |v_j|",
    within="|beta_j| times what r_j keeps from the edge of the tube, if inside",
    beyond="C less beta_j on the side of r_j, times what r_j lies beyond the tube, if outside",
)

H = hypotheses(
    solved="coefficients and function are optimal",
    wide="eps is at least half the range of the targets, or at least max |y| without b",
    narrow="eps is less than that",
)
box = Inequality(
    Abs(seen.value) - C / h, at_most=0, under=(),
    margin=Absolute(1, 10**12, "where the box is reached balls of equal numbers differ by their radius"),
    wrong={"C/h^2": dict(of=Abs(seen.value) - C / h**2)},
)  # fmt: skip
attained = Inequality(
    seen.largest, at_least=C - seen.gap / seen.furthest, under=H.solved, wrong={"C without h": dict(of=seen.plain)},
)  # fmt: skip
inside = Inequality(seen.within, at_most=seen.gap, under=H.solved)
outside = Inequality(seen.beyond, at_most=seen.gap, under=H.solved)

edges = arrays(
    flat="primal value of the constant in the middle of the targets",
    nothing="dual value without coefficients",
    away="|eps - threshold|",
    left="largest |beta_j|",
    swapped="the same for a tube by the other threshold, max |y| with b, half the range without",
)

zero = Optimum(
    edges.flat, under=H.wide, bound=edges.nothing,
    margin=Absolute(
        1, 10**30, "both are zero in balls; a fiftieth below the threshold it is C times a fiftieth of a target",
    ),
    wrong={"a constant beside": dict(value=edges.flat + 1)},
)  # fmt: skip
vanish = Inequality(
    edges.left * edges.away, at_most=seen.gap, under=H.wide,
    wrong={"the other threshold": dict(of=edges.swapped * edges.away)},
)  # fmt: skip
# A fiftieth of the targets below the threshold already asks for coefficients of order one.
alive = Inequality(
    edges.left, at_least=Rational(1, 100), under=H.narrow, wrong={"the other threshold": dict(of=edges.swapped)},
)  # fmt: skip


class Turned(eqx.Module):
    """A fitted regression, and coefficients of its dual program that are ``rolled`` along the keys."""

    fitted: Fitted
    rolled: int = eqx.field(static=True)


def solved(key, N, D, C, eps, kind, bias, rolled):
    return Turned(setting.fit(FEATURES[int(kind)], *setting.points(key, N, D), C, eps, bias), int(rolled))


def slackness(model, C, eps):
    fitted, (alpha, alphat), h = model.fitted, model.fitted.multipliers(C), model.fitted.h[:, None]
    beta, r = jnp.roll(alpha - alphat, model.rolled, 0), fitted.targets - fitted.regression(fitted.keys)
    v = beta / h
    return dict(
        value=v,
        h=jnp.broadcast_to(h, v.shape),
        gap=fitted.above(C, eps) - fitted.below(C, eps),
        furthest=jnp.max(jnp.abs(r) - eps),
        largest=jnp.max(jnp.abs(v) * h),
        plain=jnp.max(jnp.abs(v)),
        within=jnp.abs(beta) * jnp.maximum(eps - jnp.abs(r), 0),
        beyond=(C - beta) * jnp.maximum(r - eps, 0) + (C + beta) * jnp.maximum(-r - eps, 0),
    )


class Wide(eqx.Module):
    """A regression with a tube near the threshold, and one near what the threshold would be with or without b."""

    fitted: Fitted
    other: Fitted
    tube: jax.Array
    threshold: jax.Array


def wide(key, N, D, C, kind, bias, width):
    """``width``: of the tube, over the threshold. Targets are shifted, so that the two thresholds differ."""
    keys, queries, targets = setting.points(key, N, D)
    y = targets[:, :1] + 2
    tubes = [(y.max() - y.min()) / 2, jnp.abs(y).max()]
    right, wrong = tubes if bias else tubes[::-1]
    mine, other = (
        setting.fit(FEATURES[int(kind)], keys, queries, y, C, float(width) * t, bias) for t in (right, wrong)
    )
    return Wide(mine, other, jnp.asarray(float(width) * right), right)


def constants(model, C):
    fitted, tube = model.fitted, model.tube
    y, none = fitted.targets, jnp.zeros_like(fitted.targets)
    middle = (jnp.max(y) + jnp.min(y)) / 2 if fitted.bias else 0.0
    alpha, alphat = fitted.multipliers(C)
    constant = Primal(jnp.zeros_like(fitted.primal.W), middle * jnp.ones(1))
    return dict(
        flat=upper_bound(constant, fitted.rows, y, C, tube),
        nothing=lower_bound(none, none, fitted.gram, y, tube),
        gap=fitted.above(C, tube) - fitted.below(C, tube),
        away=jnp.abs(tube - model.threshold),
        left=jnp.max(jnp.abs(alpha - alphat)),
        swapped=jnp.max(jnp.abs(model.other.dual.beta)),
    )


@lemma
def complementary():
    """One key, a residual on either side of the tube's upper edge."""
    c, e, s = symbols("c e s", positive=True)
    t = Symbol("t")
    yield Step("inside, r = e - s: no slack, so alpha s = 0", solve(t * (e - (e - s)), t), [0])
    yield Step("outside, r = e + s: where alpha is not zero the slack is s", solve(e + t - (e + s), t), [s])
    yield Step("and alpha is C", solve((c - t) * s, t), [c])
    a, b = symbols("a b", positive=True)
    yield Step("inside: both products, less |beta| s, with alpha the larger", expand(
        a * (e - (e - s)) + b * (e + (e - s)) - (a - b) * s), expand(2 * b * e))  # fmt: skip
    yield Step("outside: (C - alpha) xi and alphat (eps + r), less (C - beta) s", expand(
        (c - a) * s + b * (e + e + s) - (c - (a - b)) * s), expand(2 * b * e))  # fmt: skip


@lemma
def thresholds():
    """Two targets, the largest and the least: the constant nearest to both."""
    high, low, b = symbols("high low b", real=True)
    (middle,) = solve((high - b) - (b - low), b)
    yield Step("it lies in the middle", middle, (high + low) / 2)
    yield Step("at half the range from either", [high - middle, middle - low], [(high - low) / 2] * 2)


@lemma
def above_threshold():
    """Two targets, coefficients beta and -beta, tube e: what the dual value keeps without its quadratic form."""
    high, low = symbols("high low", real=True)
    e, beta = symbols("e beta", positive=True)
    linear = high * beta - low * beta - e * 2 * beta
    yield Step("(t - e) |beta|_1, t half the range", expand(linear), expand(((high - low) / 2 - e) * 2 * beta))


optimal = Subject(solved, kind=TAYLOR, bias=1, rolled=0)


def tubes(kind, bias, width):
    tube = Subject(wide, kind=kind, bias=bias, width=width)
    if width > 1:
        return tube.breaking(H.narrow, fails=alive)
    return tube.breaking(H.wide, fails=(vanish, zero))


theorem = Theorem(
    place="consequences of complementary slackness (derived here)",
    label="derived",
    uses=("svr_primal_dual_kkt",),
    hypotheses=H,
    claims=dict(box=box, attained=attained, inside=inside, outside=outside, zero=zero, vanish=vanish, alive=alive),
    proofs=(complementary, thresholds, above_threshold),
    experiments=dict(
        solved=Experiment(
            slackness, (seen, h), {N: (10, 16)}, at={D: 3, C: 3, eps: Rational(1, 2)}, draws=Efforts(3, 8, 32),
            padded=True,
            subjects={
                "Taylor features": optimal,
                "linear attention": optimal(kind=LINEAR),
                "Taylor features, no bias": optimal(bias=0),
                "coefficients of the keys beside": optimal(rolled=1).breaking(H.solved, fails=(inside, outside)),
            },
        ),
        wide=Experiment(
            constants, (edges, seen.gap), {N: (10, 16)}, at={D: 3, C: 100}, draws=Efforts(3, 8, 32), padded=True,
            subjects={
                f"{name}, {share} of the threshold": tubes(kind, bias, share)
                for name, kind, bias in (
                    ("Taylor features", TAYLOR, 1), ("Taylor features, no bias", TAYLOR, 0), ("linear attention", LINEAR, 1),
                )
                for share in (1.02, 0.98)
            },
        ),
    ),
    issues=(
        "That the box is reached is said of the law of the draws: with C large enough no coefficient reaches it.",
        "A residual on the very edge of the tube leaves its value open, anywhere in the box.",
    ),
)  # fmt: skip
