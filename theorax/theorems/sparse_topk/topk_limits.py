"""Limits of the relaxed mask: uniform with a first-order term for large weights, hard for orders near one and for large ones.

**Theorem.** Let y_i = min(1, ((x_i - tau)_+/lam)^(1/(p-1))), p > 1, with sum k < n. Let lam = w ->
oo at fixed scores x, x_1 not x_n. Then w (y_1 - y_n)/(x_1 - x_n) -> (k/n)^(2-p)/(p-1). For p < 2,
the largest |y_i - k/n - (k/n)^(2-p) (x_i - mean x)/(w (p-1))| has the exact order w^(-2), for n =
6, k = 2 and x_i = 2 (i - 1)^2/25. For p = 2 it is zero if all k/n + (x_i - mean x)/w lie in [0, 1].
At lam = 1 let the gap g = s_k - s_(k+1) of the sorted scores satisfy 0 < g <= 1. Then y_(k+1) <=
(1 - g)^(1/(p-1)) and sum_(j > k) y_j <= k (1 - g^(1/(p-1))), y in the order of s.

**Idea.** For large weights all entries are fractional. With y_i = (r + a_i/w)^(1/(p-1)) and
r^(1/(p-1)) = k/n, expand in 1/w. For the bounds, y_k <= 1 gives tau >= s_k - 1, so s_(k+1) - tau <=
1 - g; and y_j >= g^(1/(p-1)) up to rank k if y_(k+1) > 0. So y is hard as p -> 1 and as p -> oo,
for 0 < g < 1: smoothing is not monotone in p.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
from sympy import Abs, Derivative, Eq, Rational, Subs, symbols

from theorax.language import *
from theorax.theorems.sparse_topk import _relaxed_topk as setting
from theorax.theorems.sparse_topk._relaxed_topk import k, n, p

w = Size("w", "weight of the regulariser")
g = Parameter("g", "gap s_k - s_(k+1) over the weight", positive=True)
seen = numbers(
    slope="(y_1 - y_n) times the weight, over x_1 - x_n",
    rest="largest |y_i - first-order value|",
)
given = arrays(
    nothing="y less its value of first order, for p = 2",
    room="what the values of first order keep from zero and one, at the nearest",
)
ends = arrays(
    beyond="y_(k+1)",
    tail="sum of the y_j beyond rank k",
    near_one="(1 - g)^(1/(p-1))",
    near_infinity="k (1 - g^(1/(p-1)))",
    swapped="g^(1/(p-1))",
    halved="an eighth of that",
)
H = hypotheses(
    convex=setting.CONVEX,
    power="R is the power of order p",
    between=Hypothesis("all k/n + (x_i - mean x)/w lie in [0, 1]", holds=given.room >= 0),
)
tiny = Rational(1, 10**11)  # tau is known to 2^-44
slope = Limit(
    seen.slope, (k / n) ** (2 - p) / (p - 1), as_=w, under=H.power, spread=Rational(1, 50),
    approach=Corrections(size=2, slowest=1, fastest=4, rest=0, reference=1, reason="an expansion in 1/w"),
    margin=Relative(1, 10, "without p - 1 the slope is a third or a half of it; without (k/n)^(2-p) a quarter off"),
    wrong={"no p - 1": (k / n) ** (2 - p), "no power of k/n": 1 / (p - 1)},
)
second = Rate(
    seen.rest, w**-2, as_=w, under=H.power, where=p < 2, spread=Rational(1, 5),
    approach=Corrections(size=3, slowest=1, fastest=4, rest=0, reference=1, reason="the next term is 1/w^3"),
    margin=Absolute(1, 4, "a wrong first-order term leaves 1/w, one away"),
    wrong={"first order": 1 / w, "third order": w**-3},
)
exact = Inequality(
    Abs(given.nothing), at_most=tiny, under=(H.power, H.between), where=Eq(p, 2),
    wrong={"not exact": dict(at_most=None, at_least=tiny)},
)
first = Inequality(
    ends.beyond, at_most=ends.near_one + Rational(1, 2**20), under=H.power, wrong={"g for 1 - g": dict(at_most=ends.swapped)},
)
last = Inequality(
    ends.tail, at_most=ends.near_infinity + Rational(1, 2**20), under=H.power,
    wrong={"an eighth of it": dict(at_most=ends.halved)},
)


class LargeWeight(eqx.Module):
    """Scores, the solver's tau for the weight at hand, and 1/(p-1) of the R it was given."""

    x: jax.Array
    tau: jax.Array
    e: jax.Array


class OrdersApart(eqx.Module):
    """Scores with a given gap, and the two tau of the solver, lam = 1."""

    x: jax.Array
    low: jax.Array
    high: jax.Array
    e: float = eqx.field(static=True)


def evenly(key, w, n, k, p, order):
    """Scores in fixed places from 0 to 2; ``order``: R is of this order instead of p where it is not zero."""
    e = 1 / (jnp.where(order > 0, order, p) - 1)
    x = 2 * (jnp.arange(n) / (n - 1.0)) ** 2
    low, high = setting.threshold(x, k, 1.0 * w, e)
    return LargeWeight(x, (low + high) / 2, e)


def off_first_order(model, y, w, n, k, p):
    """y less the value of first order."""
    return y - k / n - (k / n) ** (2 - p) * (model.x - model.x.mean()) / (w * (p - 1))


def large(model, w, n, k, p):
    y = jnp.clip((model.x - model.tau) / w, 0, 1) ** model.e
    slope = w * (y[-1] - y[0]) / (model.x[-1] - model.x[0])
    return dict(slope=slope, rest=jnp.abs(off_first_order(model, y, w, n, k, p)).max())


def uniform(key, w, n, k, p, order, stretched):
    """``stretched``: one for scores between -1 and 1, whose values of first order lie in [0, 1] for w k >= 2 n."""
    e = setting.exponent(order if order else p)
    x = stretched * jax.random.uniform(key, (n,), minval=-1.0, maxval=1.0)
    return LargeWeight(x, setting.between(x, k, 1.0 * w, e), jnp.asarray(e))


def squares(model, w, n, k, p):
    y = jnp.clip((model.x - model.tau) / w, 0, 1)
    first = k / n + (model.x - model.x.mean()) / w
    return dict(
        nothing=off_first_order(model, jnp.where(model.e == 1, y, y**3), w, n, k, p),
        room=jnp.minimum(first, 1 - first).min(),
    )


def drawn(key, n, k, p, g, weight):
    """``weight``: lam of R, one in the theorem."""
    k, e = int(k), float(1 / (p - 1))
    spread = jnp.sort(jax.random.uniform(key, (n,)))[::-1]
    x = spread - spread[k - 1] + jnp.where(jnp.arange(n) < k, g, spread[k - 1] - spread[k])
    return OrdersApart(x, *setting.threshold(x, k, weight, e), e)


def apart(model, k, p, g):
    # A larger tau is that of a smaller sum: between both ends lies the entry itself.
    y, e = setting.masked(model.x, model.low, 1.0, model.e), model.e
    beyond = jnp.arange(len(y)) >= k
    power = lambda t: setting.raised(t, e)
    g = g * jnp.ones(())
    return dict(
        beyond=jnp.where(jnp.arange(len(y)) == k, y, 0).sum(),
        tail=jnp.where(beyond, y, 0).sum(),
        near_one=power(1 - g),
        near_infinity=k * (1 - power(g)),
        swapped=power(g),
        halved=k * (1 - power(g)) / 8,
    )


@lemma
def first_order():
    """Three scores around their mean, p = 4/3 and 3/2: y = (r + a/w)^e, r^e = k/n, in powers of 1/w."""
    a, b, r, h = symbols("a b r h", positive=True)  # h = 1/w
    for order in (Rational(4, 3), Rational(3, 2)):
        e = 1 / (order - 1)
        total = sum((r + h * x) ** e for x in (a, b, -a - b))
        yield Step(f"p = {order}: the sum does not move in first order", Subs(Derivative(total, h), h, 0), 0)
        yield Step(f"p = {order}: an entry does", Subs(Derivative((r + h * a) ** e, h), h, 0), e * r ** (e - 1) * a)
        yield Step(f"p = {order}: r^(e-1) as a power of k/n", Subs((r**e) ** (2 - order), r, b), b ** (e - 1))


@lemma
def neighbours():
    """Entries of rank k and k + 1, whose roots t + g and t differ by the gap: limits in the order."""
    g, e = symbols("g e", positive=True)
    yield Solved("y_k is at most one", symbols("t") + g - 1, symbols("t"), [1 - g])
    yield Step("p to one: powers of what is below one", sympy.Limit(Rational(9, 10) ** e, e, sympy.oo), 0)
    yield Step("large p: what is missing up to rank k", sympy.Limit(1 - Rational(1, 10) ** e, e, 0), 0)


even = Subject(evenly, order=0.0)
near, plane = Subject(drawn, weight=1.0), Subject(uniform, order=0.0, stretched=1.0)
theorem = Theorem(
    place="limits in the weight and in the order (reconstructed; the bounds are derived here)",
    label="derived",
    uses=("topk_jacobian",),
    hypotheses=H,
    claims=dict(slope=slope, second=second, exact=exact, first=first, last=last),
    proofs=(first_order, neighbours),
    experiments=dict(
        weights=Experiment(large, seen, {w: (16, 32, 64)}, at=tuple(
            {n: 6, k: 2, p: order} for order in (Rational(4, 3), Rational(3, 2), 2)
        ), seeds="none", platform="cpu", subjects={
            "R of order p": even,
            "R of order 3": even(order=3.0).breaking(H.power, fails=(slope, second)),
        }),
        squares=Experiment(squares, given, {w: (16, 64)}, at={n: 6, k: 2, p: 2}, draws=Efforts(3, 6, 16), subjects={
            "R of order 2": plane,
            "R of order 4/3": plane(order=4 / 3).breaking(H.power, fails=exact),
            "scores a hundred times as wide": plane(stretched=100.0).breaking(H.between, fails=exact),
        }),
        orders=Experiment(apart, ends, {n: (6, 9)}, at=tuple(
            {k: 3, g: gap, p: order}
            for gap in (Rational(1, 4), Rational(3, 4))
            for order in (Rational(21, 20), Rational(4, 3), Rational(3), Rational(5))
        ), draws=Efforts(3, 6, 16), subjects={
            "R of this weight": near,
            "R of three times the weight": near(weight=3.0).breaking(H.power, fails=(first, last)),
        }),
    ),
    issues=(
        "Magnitudes for large weights are not looked at.",
        "Beyond p = 5 entries near zero are lost to the rounding of tau.",
    ),
)
