"""The relaxed mask is smooth where entries leave zero, for p < 2, and has a kink where an entry reaches one.

**Theorem.** Let 1 < p <= 2, lam > 0, y_i = min(1, ((x_i - tau)_+/lam)^(1/(p-1))) with sum k. (a)
Let the score x_1 increase until y_1 reaches one, at x_1 = tau + lam. Let C be the sum of y_j^(2-p)
over the other entries with 0 < y_j < 1. Then y_1 has the slope C/((C + 1) lam (p-1)) in x_1 on the
left and 0 on the right. So there is a kink if other entries are fractional; at lam = 1/2, p in
{4/3, 3/2}, the slopes differ by at least 1/4. (b) Let x_1 increase beyond tau, where y_1 leaves
zero. On the right y_1 has the slope 0 for p < 2, and m/((m + 1) lam) for p = 2 if m >= 1 other
entries are fractional; over the step of 2^-22 that is measured, zero is seen for p <= 3/2. The
printed statement that p = 4/3 makes the mask continuously differentiable everywhere is wrong: see
(a).

**Idea.** At a fixed tau an entry has the slope c = y^(2-p)/(lam (p-1)) in its score, and tau moves
along with the weights c_i/sum c. At y = 1, c is 1/(lam (p-1)), so the slope is c (1 - 1/(C + 1)).
At y = 0, c vanishes for p < 2.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Abs, Derivative, Eq, Rational, Subs, symbols

from theorax.language import *
from theorax.theorems.sparse_topk import _relaxed_topk as setting
from theorax.theorems.sparse_topk._relaxed_topk import n, p

seen = arrays(
    left="slope of the entry that reaches one, over a step of 2^-22 on the left",
    right="the same on the right",
    closed="C/((C + 1) lam (p-1)), C the sum of y_j^(2-p) over fractional entries",
    alone="1/(lam (p-1))",
    without="C/((C + 1) lam)",
    leaving="slope of the entry that leaves zero, over a step of 2^-22 on the right",
    share="m/((m + 1) lam), m the number of fractional entries",
    others="m",
)
H = hypotheses(
    convex=setting.CONVEX,
    fractional=Hypothesis("other entries lie between zero and one where this one reaches one", holds=seen.others >= 1),
    power="R is the power of order p",
)
# Second derivatives stay below 24/lam^2, and tau is known to 2^-44: over a step of 2^-22 both leave less than this.
step = Rational(1, 2**15)
c1 = Inequality(
    Abs(seen.left - seen.right), at_most=step, under=H.fractional, where=Eq(p, Rational(4, 3)),
    corrected="kink",
)
kink = Inequality(
    seen.left - seen.right, at_least=Rational(1, 4), under=H.fractional, where=p < 2,
    wrong={"continuously differentiable": dict(at_least=None, at_most=step)},
)
before = Inequality(
    Abs(seen.left - seen.closed), at_most=step, under=H.power,
    wrong={
        "tau held fixed": dict(of=Abs(seen.left - seen.alone)), "no p - 1": dict(of=Abs(seen.left - seen.without)),
    },
)
after = Inequality(
    Abs(seen.right), at_most=step, under=(), wrong={"as before": dict(of=Abs(seen.right - seen.closed))},
)
lower = Inequality(
    Abs(seen.leaving), at_most=step, under=H.power, where=p <= Rational(3, 2),
    wrong={"as for p = 2": dict(of=Abs(seen.leaving - seen.share))},
)
lower_kink = Inequality(
    Abs(seen.leaving - seen.share), at_most=step, under=(H.fractional, H.power), where=Eq(p, 2),
    wrong={"smooth": dict(of=Abs(seen.leaving))},
)


class KinkedPath(eqx.Module):
    """Scores at which an entry reaches one and others at which one leaves zero, the solver's tau on both sides of either.

    ``order``: R is of this order instead of p where it is not zero.
    """

    others: jax.Array
    tau: jax.Array
    top: jax.Array
    taus: jax.Array
    low: jax.Array
    e: float = eqx.field(static=True)
    own: float = eqx.field(static=True)


STEP = 2.0**-22


def drawn(key, n, p, lam, far, order):
    """``far``: one entry is saturated far above and the others, but for one, lie at zero."""
    e = own = setting.exponent(p)
    own = setting.exponent(order) if order else own
    # Nearer to one another than lam: no draw has one of them at one and the others at zero.
    others = 0.4 * lam * jax.random.uniform(key, (n - 1,), minval=-1.0, maxval=1.0)
    others = others.at[0].add(9 * lam).at[1:].add(-9 * lam * (jnp.arange(n - 2) > 0)) if far else others
    middle = lambda x, k: setting.between(x, k, lam, own)
    tau = middle(others, 1)
    top = tau + lam
    moved = [middle(jnp.append(others, top + side * STEP), 2) for side in (-1, 1)]
    above = middle(jnp.append(others, tau + STEP), 1)
    return KinkedPath(others, tau, top, jnp.stack(moved), above, e, own)


def observe(model, lam):
    e, own = model.e, model.own
    y = setting.masked(model.others, model.tau, lam, own)
    inside = (y > 0) & (y < 1)
    slopes = jnp.where(inside, setting.raised(jnp.where(inside, (model.others - model.tau) / lam, 1), e - 1), 0)
    C, m = slopes.sum(), jnp.where(inside, 1.0, 0.0).sum()
    at = lambda x, tau: setting.masked(x, tau, lam, own)
    left = (at(model.top, model.tau) - at(model.top - STEP, model.taus[0])) / STEP
    right = (at(model.top + STEP, model.taus[1]) - at(model.top, model.tau)) / STEP
    return dict(
        left=left, right=right, closed=C / (C + 1) * e / lam, alone=0 * C + e / lam, without=C / (C + 1) / lam,
        leaving=at(model.tau + STEP, model.low) / STEP, share=m / (m + 1) / lam, others=m,
    )


@lemma
def implicit():
    """p = 4/3, one entry near one beside two others: the sum is kept, so that tau moves, lam = 1."""
    x, t, b, c = symbols("x t b c", positive=True)  # b and c: roots of the other entries
    total = (x - t) ** 3 + (b - t) ** 3 + (c - t) ** 3
    moved = Subs(Derivative(total, x), (x, t), (1, 0)), Subs(Derivative(total, t), (x, t), (1, 0))
    yield Step("slope of the sum in the score, at y = 1", moved[0], 3)
    yield Step("and in tau", moved[1], -3 * (1 + b**2 + c**2))
    C = b**2 + c**2  # y^(2-p) = y^(2/3)
    rate = symbols("rate")
    yield Solved("rate of tau", 3 - rate * 3 * (1 + C), rate, [1 / (1 + C)])
    yield Step("slope of the entry", 3 * (1 - 1 / (1 + C)), 3 * C / (C + 1))


@lemma
def ends():
    """p = 4/3 and 3/2: the slope of a power at zero and at one; p = 2 has the same slope at both."""
    m = symbols("m", positive=True)
    for order in (Rational(4, 3), Rational(3, 2), Rational(2)):
        e = 1 / (order - 1)
        yield Step(f"p = {order}: at one", Subs(Derivative(m**e, m), m, 1), e)
        yield Step(f"p = {order}: at zero", Subs(Derivative(m**e, m), m, 0), 1 if order == 2 else 0)


@lemma
def three_scores():
    """p = 2, k = 2, scores (x, 1/2, 0) and lam = 1: the kink and both slopes."""
    x, t = symbols("x t", real=True)
    yield Solved("tau of the two others, which sum to one", (Rational(1, 2) - t) + (0 - t) - 1, t, [-Rational(1, 4)])
    yield Solved(
        "tau with the first entry inside", (x - t) + (Rational(1, 2) - t) - t - 2, t, [(x - Rational(3, 2)) / 3]
    )
    yield Step("slope of the first entry", Derivative(x - (x - Rational(3, 2)) / 3, x), Rational(2, 3))


fractional = Subject(drawn, far=False, order=0.0)
theorem = Theorem(
    place="documentation of the released top-k operators (read); the kinks are derived here",
    label="read",
    hypotheses=H,
    claims=dict(c1=c1, kink=kink, before=before, after=after, lower=lower, lower_kink=lower_kink),
    proofs=(implicit, ends, three_scores),
    experiments=dict(
        kinks=Experiment(observe, seen, {n: Efforts((4,), (4, 6), (4, 6))},
                         at=setting.cases(Rational(4, 3), Rational(3, 2), 2, lam=Rational(1, 2)), draws=Efforts(3, 6, 16),
                         subjects={
            "others fractional": fractional,
            "others at zero or one": fractional(far=True).breaking(H.fractional, fails=(kink, lower_kink)),
            "R of order 2": fractional(order=2.0).breaking(H.power, fails=(before, lower)),
            "R of order 3/2": fractional(order=1.5).breaking(H.power, fails=(before, lower_kink)),
        }),
    ),
    issues=(
        "The documentation of the operators says that p = 4/3 makes them C1 everywhere; so it is at y = 0, and for k = 1.",
        "Kinks of the magnitude operator are not looked at.",
    ),
)
