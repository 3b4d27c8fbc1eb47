"""The relaxed top-k is the hard one at a finite weight: exactly when the gap of the scores is wide enough for it.

**Theorem.** Let p > 1, lam > 0, R(y) = (lam/p) sum |y_i|^p. The mask is the y of entries min(1,
((x_i - tau)_+/lam)^(1/(p-1))) with sum k; the magnitude operator is the y that maximises <x, y> -
f*(y) - R(y), f* half the squared k-support norm. Let s be x for the mask, |x| for magnitudes, in
decreasing order, and h = (s_k - s_(k+1))/D, with D = lam and D = lam s_(k+1)^(p-1) > 0,
respectively. If h >= 1, the mask is the 0/1 mask of the k largest x_i; the magnitude operator is
zero outside the k largest |x_i|, where |x_i| - |y_i| = lam |y_i|^(p-1). If h < 1, neither is so: for
h <= 4/5, at lam = 1/2, k = 3, p in {4/3, 3/2, 2, 3} and s_(k+1) in [1/2, 1], an entry of the mask
is off by at least 1/2000, and an entry of the magnitude operator outside is at least 1/2000.

**Idea.** The mask is hard exactly if some tau lies in [s_(k+1), s_k - lam]. For magnitudes, k
entries y + lam y^(p-1) = s and zeros elsewhere are optimal exactly if s_(k+1) is at most the y of
rank k, which is h >= 1.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
from sympy import Abs, Eq, Rational, Symbol, symbols

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.sparse_topk import _relaxed_topk as setting
from theorax.theorems.sparse_topk._relaxed_topk import SIZES

h = Parameter("h", "gap of the scores over the least one at which top-k is hard", positive=True)
seen = arrays(
    off="the largest |y_i - 1| or |y_i - 0| of the mask, against hard top-k",
    outside="the largest |y_i| of the magnitude operator outside the k largest",
    bias="|x_i| - |y_i| on the support of size k",
    shrunk="lam |y_i|^(p-1) there",
    linear="lam |y_i| there",
    off_near="off for scores whose gap is three fifths of that",
    off_far="off for scores whose gap is a third wider",
    outside_near="outside for scores whose gap is three fifths of that",
    outside_far="outside for scores whose gap is a third wider",
    unshrunk="lam |x_i|^(p-1) there",
)
H = hypotheses(
    convex=setting.CONVEX,
    power="R is lam/p times the sum of |y_i|^p",
)
# tau and v are known to 2^-44: entries at zero are then below 2^-43, or below its root for p = 3.
step = Rational(1, 2**18)
hard = Inequality(
    seen.off, at_most=step, under=H.power, where=h >= 1, wrong={"threshold lam/2": dict(of=seen.off_near)},
)
soft = Inequality(
    seen.off, at_least=Rational(1, 2000), under=H.power, where=h <= Rational(4, 5),
    wrong={"threshold p lam": dict(of=seen.off_far)},
)
kept = Inequality(
    seen.outside, at_most=step, under=H.power, where=h >= 1, wrong={"threshold of a half": dict(of=seen.outside_near)},
)
more = Inequality(
    seen.outside, at_least=Rational(1, 2000), under=H.power, where=h <= Rational(4, 5),
    wrong={"threshold of twice": dict(of=seen.outside_far)},
)
bias = Inequality(
    Abs(seen.bias - seen.shrunk), at_most=step, under=H.power, where=h >= 1,
    wrong={
        "the same for every p": dict(of=Abs(seen.bias - seen.linear)),
        "lam |x|^(p-1)": dict(of=Abs(seen.bias - seen.unshrunk)),
    },
)


class RelaxedPair(eqx.Module):
    """Scores for either operator, a row for each gap, and hard top-k; what the solver finds: two tau, and v.

    ``weight``: lam of R over the one meant.
    """

    x: jax.Array
    s: jax.Array
    hard: jax.Array
    taus: jax.Array
    v: jax.Array
    weight: jax.Array
    e: float = eqx.field(static=True)


GAPS = (1.0, 0.6, 4 / 3)


def drawn(key, n, k, p, lam, h, weight):
    """Scores of rank k and k + 1 at h times the gap that the theorem asks for, and at three fifths and 4/3 of that."""
    e, k = setting.exponent(p), int(k)
    below = -jnp.sort(-jax.random.uniform(named(key, "below"), (n - k,), minval=0.5, maxval=1.0))
    above = jnp.sort(jax.random.uniform(named(key, "above"), (k,)))[::-1]
    build = lambda gap: jnp.concatenate([below[0] + gap + above - above[-1], below])
    x = [build(part * h * lam) for part in GAPS]
    s = [build(part * h * lam * setting.lowered(below[0], e)) for part in GAPS]
    hard = setting.leading(n, k)
    v = [setting.isotonic(row, hard, weight * lam, e, True) for row in s]
    taus = [jnp.stack(setting.threshold(row, k, weight * lam, e)) for row in x]
    return RelaxedPair(jnp.stack(x), jnp.stack(s), hard, jnp.stack(taus), jnp.stack(v), jnp.asarray(weight), e)


def observe(model, lam):
    e, weight, kept = model.e, model.weight * lam, model.hard == 1
    off, outside = [], []
    for x, s, taus, v in zip(model.x, model.s, model.taus, model.v, strict=True):
        ends = [setting.masked(x, tau, weight, e) for tau in taus]
        off.append(jnp.max(jnp.minimum(*[jnp.abs(end - model.hard) for end in ends])))
        outside.append(jnp.max(jnp.where(kept, 0, setting.slope(s - v, weight, e))))
    s = model.s[0]
    y = setting.slope(s - model.v[0], weight, e)
    on = lambda value: jnp.where(kept, value, 0)
    return dict(
        off=off[0], off_near=off[1], off_far=off[2],
        outside=outside[0], outside_near=outside[1], outside_far=outside[2],
        bias=on(s - y),
        shrunk=on(lam * setting.lowered(y, e)),
        linear=on(lam * y),
        unshrunk=on(lam * setting.lowered(s, e)),
    )


@lemma
def near_the_threshold():
    """n = 2, k = 1, the gap lam (1 - d): the smaller entry r^e, with (r + 1 - d)^e + r^e = 1."""
    d, r = Symbol("d", positive=True), Symbol("r", positive=True)
    yield Solved("p = 2: d/2", (r + 1 - d) + r - 1, r, [d / 2])
    yield Solved("p = 3, for the root r^(1/2): d/2", r**2 + 1 - d - (1 - r) ** 2, r, [d / 2])
    cubic = (r + 1 - d) ** 3 + r**3 - 1
    yield Step("p = 4/3: the cubic at r = d t, over d, for small d",
               sympy.Limit((cubic.subs(r, d * r) / d).expand(), d, 0), 3 * r - 3)


@lemma
def thresholds():
    """p = 2 and 3: the kept entry y of rank k in terms of s_k, and s_(k+1) where both are equal."""
    y, s, weight = symbols("y s lam", positive=True)
    yield Solved("p = 2: y = s/(1 + lam)", y + weight * y - s, y, [s / (1 + weight)])
    t = Symbol("t", positive=True)  # s_(k+1)
    for order in (Rational(4, 3), Rational(3, 2), 2, 3):
        yield Solved(f"p = {order}: s_k at which y of rank k is s_(k+1)", Eq(s, t + weight * t ** (order - 1)), s,
                     [t + weight * t ** (Rational(order) - 1)])
    yield Solved("the mask: tau = s_(k+1), and s_k one lam above it", Eq((s - t) / weight, 1), s, [t + weight])


gaps = Subject(drawn, weight=1.0)
theorem = Theorem(
    place="recovery of the hard operator (reconstructed; the sharp form is derived here)",
    label="derived",
    uses=("topk_pnorm_conjugate",),
    hypotheses=H,
    claims=dict(hard=hard, soft=soft, kept=kept, more=more, bias=bias),
    proofs=(near_the_threshold, thresholds),
    experiments=dict(
        gaps=Experiment(observe, seen, SIZES, draws=setting.DRAWS, at=tuple(
            {**case, h: gap}
            for case in setting.cases(*setting.ORDERS, k=3, lam=Rational(1, 2))
            for gap in (Rational(4, 5), 1, Rational(6, 5))
        ), subjects={
            "R of this weight": gaps,
            "R of twice the weight": gaps(weight=2.0).breaking(H.power, fails=(hard, kept, bias)),
            "R of half the weight": gaps(weight=0.5).breaking(H.power, fails=(soft, more)),
        }),
    ),
    issues=("Gaps between four fifths of the threshold and the threshold are not looked at.",),
)
