"""A tube as wide as half the range of the targets leaves the attention layer no values, whatever the keys are.

**Theorem.** Fit a regression with tube eps and box C to targets y. Let t = (max y - min y)/2 if b
is a variable, and t = max |y| if b = 0. If eps >= t, the constant (max y + min y)/2, or zero
without b, has the primal value 0, which is the dual value without coefficients, so it is optimal.
For any feasible points with gap g between both values, (eps - t) |beta_j| <= g for every j. If
eps = 0.98 t and C = 100, with Gaussian keys in dimension three and shifted Gaussian targets, some
|beta_j| of the solution is at least 1/100 in every instance drawn.

**Idea.** No value remains if and only if some constant lies within eps of all targets, that is,
eps >= t, whatever the keys are. Without its quadratic form the dual value is at most (t - eps)
|beta|_1, and the primal value is not negative; so a gap g gives (eps - t) |beta|_1 <= g above the
threshold. Below it no constant fits, and coefficients are needed.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Rational, Subs, symbols

from theorax.language import *
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._kernel_regression import Fitted
from theorax.theorems.primal_dual_attention._quadratic import Primal, lower_bound, upper_bound
from theorax.theorems.primal_dual_attention._regression import FEATURES, LINEAR, TAYLOR, C, D, N
from theorax.theorems.primal_dual_attention._weak_duality import weak_duality

seen = arrays(
    flat="primal value of the constant in the middle of the targets",
    nothing="dual value without coefficients",
    gap="primal value found over dual value found",
    away="|eps - threshold|",
    left="largest |beta_j|",
    swapped="the same for a tube by the other threshold, max |y| with b, half the range without",
)
H = hypotheses(
    wide="eps is at least half the range of the targets, or at least max |y| without b", narrow="eps is less than that",
)
zero = Optimum(
    seen.flat, under=H.wide, bound=seen.nothing, bound_by="weak_duality",
    unconstrained_because="no multiplier is used, and every function is admitted: what leaves the tube is in the value",
    margin=Absolute(
        1, 10**30, "both are zero in balls; a fiftieth below the threshold it is C times a fiftieth of a target",
    ),
    wrong={"a constant beside": dict(value=seen.flat + 1)},
)
vanish = Inequality(
    seen.left * seen.away, at_most=seen.gap, under=H.wide,
    wrong={"the other threshold": dict(of=seen.swapped * seen.away)},
)
# A fiftieth of the targets below the threshold already asks for coefficients of order one.
alive = Inequality(
    seen.left, at_least=Rational(1, 100), under=H.narrow, wrong={"the other threshold": dict(of=seen.swapped)},
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
    fit = lambda t: setting.fit(FEATURES[int(kind)], keys, queries, y, C, float(width) * t, bias)
    return Wide(fit(right), fit(wrong), jnp.asarray(float(width) * right), right)


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
def thresholds():
    """Two targets, the largest and the least: the constant nearest to both."""
    high, low, b = symbols("high low b", real=True)
    middle = (high + low) / 2
    yield Solved("it lies in the middle", (high - b) - (b - low), b, [middle])
    from_either = [Subs(high - b, b, middle), Subs(b - low, b, middle)]
    yield Step("at half the range from either", from_either, [(high - low) / 2] * 2)


@lemma
def above_threshold():
    """Two targets, coefficients beta and -beta, tube e: what the dual value keeps without its quadratic form."""
    high, low = symbols("high low", real=True)
    e, beta = symbols("e beta", positive=True)
    linear = high * beta - low * beta - e * 2 * beta
    yield Step("(t - e) |beta|_1, t half the range", linear, ((high - low) / 2 - e) * 2 * beta)


above = Subject(wide, kind=TAYLOR, bias=True, width=1.02).breaking(H.narrow, fails=alive)
below = Subject(wide, kind=TAYLOR, bias=True, width=0.98).breaking(H.wide, fails=(vanish, zero))
theorem = Theorem(
    place="consequences of complementary slackness (derived here)",
    label="derived",
    uses=("svr_primal_dual_kkt",),
    hypotheses=H,
    claims=dict(zero=zero, vanish=vanish, alive=alive),
    proofs=(thresholds, above_threshold, weak_duality),
    experiments=dict(
        wide=Experiment(constants, seen, {N: (10, 16)}, at={D: 3, C: 100}, draws=Efforts(3, 8, 32), padded=True, subjects={
            "Taylor features, 1.02 of the threshold": above,
            "Taylor features, 0.98 of the threshold": below,
            "Taylor features, no bias, 1.02 of the threshold": above(bias=False),
            "Taylor features, no bias, 0.98 of the threshold": below(bias=False),
            "linear attention, 1.02 of the threshold": above(kind=LINEAR),
            "linear attention, 0.98 of the threshold": below(kind=LINEAR),
        }),
    ),
)
