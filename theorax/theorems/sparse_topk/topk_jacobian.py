"""The Jacobian of the relaxed mask: diag(c) - c c^T/sum c on the entries between zero and one, c = y^(2-p)/(lam (p-1)).

**Theorem.** Let 1 < p <= 2, lam > 0, e = 1/(p-1), and let y(x) have the entries y_i = min(1,
((x_i - tau)_+/lam)^e), with tau such that sum y_i = k. Let c_i = y_i^(2-p)/(lam (p-1)) if 0 < y_i <
1, and c_i = 0 otherwise. If some y_i is fractional, and no x_i equals tau or tau + lam, then the
Jacobian of y at x is J = diag(c) - c c^T/sum_i c_i, whether scores are equal or not. For all x, u
and h > 0, q = (y(x + h u) - y(x - h u))/(2 h) satisfies 0 <= <u, q> <= |u|^2/(lam (p-1)) and sum_i
q_i = 0.

**Idea.** Differentiate the active entries and the sum, which tau keeps at k: d tau/dx_i = c_i/sum_j
c_j. So J is symmetric, its rows sum to zero, and <u, J u> is sum_(i<j) c_i c_j (u_i - u_j)^2/sum c,
between 0 and sum c_i u_i^2. For p <= 2 each c_i is at most 1/(lam (p-1)).
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Abs, Derivative, Matrix, Rational, Subs, symbols

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.sparse_topk import _relaxed_topk as setting
from theorax.theorems.sparse_topk._relaxed_topk import n

seen = arrays(
    slope="(y(x + h u) - y(x - h u))/(2 h), h = 2^-14, for several directions u",
    formula="J u",
    average="J u with 1/m for c_i/sum c, m the number of active entries",
    short="(p-1) J u",
    pooled="J u plus what a block of the two largest scores adds, if they are equal",
    energy="<u, slope along u>",
    length="|u|^2/(lam (p-1))",
    weaker="|u|^2/lam",
    total="sum of the slopes of all entries",
)
H = hypotheses(
    orders=Hypothesis("1 < p <= 2", unbroken="slopes are unbounded where p is above two"),
    constant="no entry reaches zero or one at x",
    power="R is the power of order p",
    sum="tau moves so that the entries sum to k",
)
# Third derivatives stay below 100/lam^3, and tau is known to 2^-44: over a step of 2^-14 both leave less than this.
step = Rational(1, 2**16)
jacobian = Inequality(
    Abs(seen.slope - seen.formula), at_most=step, under=(H.constant, H.power, H.sum),
    wrong={
        "plain averages": dict(of=Abs(seen.slope - seen.average)), "no 1/(p-1)": dict(of=Abs(seen.slope - seen.short)),
        "equal scores pooled": dict(of=Abs(seen.slope - seen.pooled)),
    },
)
bounded = Inequality(
    seen.energy, at_most=seen.length + step, under=H.power, wrong={"1/lam": dict(at_most=seen.weaker + step)},
)
monotone = Inequality(seen.energy, at_least=-step, under=H.orders)
kept = Inequality(Abs(seen.total), at_most=step, under=H.sum)


class SteppedMask(eqx.Module):
    """Scores, directions, and the solver's tau at the scores and a step along each direction, both ways."""

    x: jax.Array
    directions: jax.Array
    tau: jax.Array
    taus: jax.Array
    e: float = eqx.field(static=True)
    own: float = eqx.field(static=True)


STEP = 2.0**-14
SPREAD, CLOSE, TIE, KINK = range(4)


def drawn(key, n, k, p, lam, scores, order, held):
    """``scores``: normal; all within a twentieth of lam; two equal ones far above the others; one where it reaches one.

    ``order``: of R instead of p where it is not zero; ``held``: tau stays where it is.
    """
    e = setting.exponent(p)
    own = setting.exponent(order) if order else e
    middle = lambda x, k=k: setting.between(x, k, lam, own)
    # Evenly spaced scores, a tenth of lam from one another at least: no entry of the mask is at zero or one by chance.
    x = lam * (0.3 * jnp.arange(n) + 0.1 * jax.random.uniform(named(key, "x"), (n,)))
    x = 0.05 * x / n if scores == CLOSE else x
    x = x.at[-2:].set(jnp.max(x) + 2 * lam) if scores == TIE else x
    x = x.at[-1].set(middle(x[:-1], k - 1) + lam) if scores == KINK else x
    u = jax.random.uniform(named(key, "u"), (4, n), minval=-1.0, maxval=1.0)
    taus = jnp.stack([jnp.stack([middle(x + side * STEP * row) for side in (-1, 1)]) for row in u])
    taus = taus * 0 + middle(x) if held else taus
    return SteppedMask(x, u, middle(x), taus, e, own)


def observe(model, lam):
    x, u, e, own = model.x, model.directions, model.e, model.own
    at = lambda x, tau: setting.masked(x, tau, lam, own)
    y = at(x, model.tau)
    ahead, behind = (at(x + side * STEP * u, model.taus[:, place, None]) for place, side in ((1, 1), (0, -1)))
    slope = (ahead - behind) / (2 * STEP)
    inside = (y > 0) & (y < 1)
    c = jnp.where(inside, e / lam * setting.raised(jnp.where(inside, (x - model.tau) / lam, 1), e - 1), 0)
    share = jnp.where(inside, 1.0, 0.0) / jnp.where(inside, 1.0, 0.0).sum()
    formula = c * u - (u @ c)[:, None] * c / c.sum()
    pair = jnp.where((x == jnp.max(x)) & (y == 1) & ((x == jnp.max(x)).sum() == 2), 1.0, 0.0)
    return dict(
        slope=slope,
        formula=formula,
        average=c * u - (u @ share)[:, None] * c,
        short=formula / e,
        pooled=formula + e / lam * pair * (u - (u @ pair)[:, None] / 2),
        energy=(u * slope).sum(1),
        length=e / lam * (u**2).sum(1),
        weaker=(u**2).sum(1) / lam,
        total=slope.sum(1),
    )


@lemma
def implicit():
    """A block of three active entries, p = 4/3, 3/2 and 2, any lam: both derivatives of the sum that tau keeps."""
    x = symbols("x_1:4", positive=True)
    t, weight = symbols("tau lam", positive=True)
    for e in (3, 2, 1):
        total: Any = ((x[0] - t) / weight) ** e + ((x[1] - t) / weight) ** e + ((x[2] - t) / weight) ** e
        slopes: list[Any] = [e / weight * ((s - t) / weight) ** (e - 1) for s in x]
        for s, c in zip(x, slopes, strict=True):
            yield Step(f"e = {e}: slope in {s} at a fixed tau", Derivative(total, s), c)
        yield Step(f"e = {e}: slope in tau", Derivative(total, t), -(slopes[0] + slopes[1] + slopes[2]))


@lemma
def form():
    """Three active entries, any positive c: rows, and two forms that are sums of squares."""
    c, u = Matrix(symbols("c_1:4", positive=True)), Matrix(symbols("u_1:4", real=True))
    J = Matrix.diag(*c) - c * c.T / sum(c)
    yield Step("rows sum to zero", J * Matrix([1, 1, 1]), Matrix([0, 0, 0]))
    pairs = sum(c[i] * c[j] * (u[i] - u[j]) ** 2 for i in range(3) for j in range(i)) / sum(c)
    yield Step("<u, J u> is not negative", (u.T * J * u)[0], pairs)
    kept = sum(c[i] * u[i] ** 2 for i in range(3)) - (u.T * J * u)[0]
    yield Step("nor more than sum c u^2", kept, c.dot(u) ** 2 / sum(c))


@lemma
def two_scores():
    """n = 2, k = 1, p = 4/3, scores g and 0: m is the mean of the scores less tau."""
    m, g, weight = symbols("m g lam", positive=True)
    kept = (m + g / 2) ** 3 + (m - g / 2) ** 3 - weight**3
    yield Step("the equation of m", kept, 2 * m**3 + 3 * m * g**2 / 2 - weight**3)
    yield Step("it increases in m", Derivative(kept, m), 3 * (g**2 + 4 * m**2) / 2)
    at_zero = weight / 2 ** Rational(1, 3)
    y = (m + g / 2) ** 3 / weight**3
    slope = 3 * 2 ** Rational(1, 3) / (4 * weight)
    yield Step("slope of y at g = 0, where m does not move", Subs(Derivative(y, g), (g, m), (0, at_zero)), slope)


spread = Subject(drawn, scores=SPREAD, order=0.0, held=False)
theorem = Theorem(
    place="derivatives of the relaxed operators (the authors' code read; the compact form is derived here)",
    label="derived",
    uses=("topk_smoothness_kinks",),
    hypotheses=H,
    claims=dict(jacobian=jacobian, bounded=bounded, monotone=monotone, kept=kept),
    proofs=(implicit, form, two_scores),
    experiments=dict(
        steps=Experiment(observe, seen, {n: Efforts((5,), (5, 7), (5, 7))},
                         at=setting.cases(Rational(4, 3), Rational(3, 2), 2, k=3, lam=Rational(1, 2)),
                         draws=Efforts(3, 6, 16), subjects={
            "scores apart": spread,
            "scores close to one another": spread(scores=CLOSE),
            "two equal scores far above": spread(scores=TIE),
            "an entry that reaches one": spread(scores=KINK).breaking(H.constant, fails=jacobian),
            "R of order 2": spread(order=2.0).breaking(H.power, fails=jacobian),
            "tau held fixed": spread(held=True).breaking(H.sum, fails=(jacobian, kept)),
            "R of order 9/8": spread(scores=CLOSE, order=1.125).breaking(H.power, fails=(jacobian, bounded)),
        }),
    ),
    issues=(
        "The Jacobian of the isotonic problem of magnitudes is not looked at.",
        "How many entries an implementation pools by mistake depends on its tolerance for equal values.",
    ),
)
