"""Values lie in a box of half-width C/h_j: zero inside the tube, on the boundary outside it, all zero under a wide tube.

**Theorem.** Let v_j = beta_j/h_j, h_j > 0, and beta = alpha - alphat with multipliers in [0, C].
Then |v_j| <= C/h_j. Let f and beta be the solutions found for the primal and the dual program, g
the gap between their values, and r = y - f. Then |beta_j| (eps - |r_j|) <= g if r_j lies inside the
tube, and (C - sign(r_j) beta_j) (|r_j| - eps) <= g if it lies outside. If s = max_j |r_j| - eps >
0, then max_j |v_j| h_j >= C - g/s.

**Idea.** Complementary slackness says alpha_j (eps + xi_j - r_j) = 0 and (C - alpha_j) xi_j = 0.
Inside the tube the bracket is positive, so v_j = 0. Outside xi_j > 0, so alpha_j = C and |v_j| =
C/h_j with the sign of r_j. With a gap g these products, summed over both sides, are at most g
(svr_duality_gap), which gives the bounds. A residual on the edge of the tube leaves its value open.
The width at which no value remains is the subject of svr_tube_width_threshold.
"""

import equinox as eqx
import jax.numpy as jnp
from sympy import Abs, Rational, Symbol, symbols

from theorax.language import *
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._kernel_regression import Fitted
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
    outside=Hypothesis("some r_j lies outside the tube", holds=seen.furthest > 0),
)
box = Inequality(
    Abs(seen.value) - C / h, at_most=0, under=(),
    margin=Absolute(1, 10**12, "where the box is reached balls of equal numbers differ by their radius"),
    wrong={"C/h^2": dict(of=Abs(seen.value) - C / h**2)},
)
attained = Inequality(
    seen.largest, at_least=C - seen.gap / seen.furthest, under=(H.solved, H.outside),
    wrong={"C without h": dict(of=seen.plain)},
)
inside = Inequality(seen.within, at_most=seen.gap, under=H.solved)
outside = Inequality(seen.beyond, at_most=seen.gap, under=H.solved)


class Turned(eqx.Module):
    """A fitted regression, and a ``share`` of the coefficients of its dual program, ``rolled`` along the keys."""

    fitted: Fitted
    share: float
    rolled: int = eqx.field(static=True)


def solved(key, N, D, C, eps, kind, bias, rolled, share, scaled):
    keys, queries, targets = setting.points(key, N, D)
    fitted = setting.fit(FEATURES[int(kind)], keys, queries, scaled * targets, C, eps, bias)
    return Turned(fitted, float(share), int(rolled))


def slackness(model, C, eps):
    fitted, (alpha, alphat), h = model.fitted, model.fitted.multipliers(C), model.fitted.h[:, None]
    beta, r = model.share * jnp.roll(alpha - alphat, model.rolled, 0), fitted.targets - fitted.regression(fitted.keys)
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


@lemma
def complementary():
    """One key, a residual on either side of the tube's upper edge."""
    c, e, s = symbols("c e s", positive=True)
    t = Symbol("t")
    yield Solved("inside, r = e - s: no slack, so alpha s = 0", t * (e - (e - s)), t, [0])
    yield Solved("outside, r = e + s: where alpha is not zero the slack is s", e + t - (e + s), t, [s])
    yield Solved("and alpha is C", (c - t) * s, t, [c])
    a, b = symbols("a b", positive=True)
    yield Step("inside: both products, less |beta| s, with alpha the larger",
               a * (e - (e - s)) + b * (e + (e - s)) - (a - b) * s, 2 * b * e)
    yield Step("outside: (C - alpha) xi and alphat (eps + r), less (C - beta) s",
               (c - a) * s + b * (e + e + s) - (c - (a - b)) * s, 2 * b * e)


optimal = Subject(solved, kind=TAYLOR, bias=True, rolled=0, share=1.0, scaled=1.0)
theorem = Theorem(
    place="consequences of complementary slackness (derived here)",
    label="derived",
    uses=("svr_primal_dual_kkt",),
    hypotheses=H,
    claims=dict(box=box, attained=attained, inside=inside, outside=outside),
    proofs=(complementary,),
    experiments=dict(
        solved=Experiment(slackness, (seen, h), {N: (10, 16)}, at={D: 3, C: 3, eps: Rational(1, 2)},
                          draws=Efforts(3, 8, 32), padded=True, subjects={
            "Taylor features": optimal,
            "linear attention": optimal(kind=LINEAR),
            "Taylor features, no bias": optimal(bias=False),
            "coefficients of the keys beside": optimal(rolled=1).breaking(H.solved, fails=(inside, outside)),
            # Some keys lie outside the tube, and the largest coefficient is C/2.
            "half of the coefficients": optimal(share=0.5).breaking(H.solved, fails=(attained, outside)),
            "targets a hundredth as large": optimal(scaled=0.01).breaking(H.outside, fails=attained),
        }),
    ),
    issues=(
        "The values of these draws reach the box; with C large enough no coefficient would.",
        "A residual on the very edge of the tube leaves its value open, anywhere in the box.",
    ),
)
