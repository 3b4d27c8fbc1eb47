"""The relaxed value is an infimal convolution, and the relaxed mask is its gradient.

**Theorem.** Let p > 1, lam > 0, R(y) = (lam/p) sum |y_i|^p, P = {y in [0, 1]^n: sum y_i = k}, f(u)
the sum of the k largest u_i, f_R(x) = max over P of <x, y> - R(y), and y(x) the maximiser, the
relaxed mask. Then f_R(x) = min over u of R*(x - u) + f(u), attained at u = x - lam y^(p-1);
f_R(z) >= f_R(x) + <y(x), z - x>. For p <= 2, f_R(z) - f_R(x) - <y(x), z - x> <= |z - x|^2/(2 lam
(p-1)) and |y(z) - y(x)| <= |z - x|/(lam (p-1)). For p = 3 the last bound fails: |y(z) - y(x)| >= 5
|z - x|/(lam (p-1)) for z near x if two entries of y at 1/256 move, one up and one down. Always f -
lam k/p <= f_R <= f - (lam/p) n (k/n)^p, and f_R = f - lam k/p if s_k - s_(k+1) >= lam, s being x in
decreasing order.

**Idea.** By Fenchel and Young R*(x - u) + f(u) is at least <x, y> - R(y), and both meet at that u.
So f_R is convex with the gradient y. For p <= 2, R has the curvature lam (p-1) at least on [0, 1],
which gives the Lipschitz constant. R is at most lam k/p on P, and least at equal entries.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Abs, Derivative, Rational, Subs, symbols

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.sparse_topk import _relaxed_topk as setting
from theorax.theorems.sparse_topk._relaxed_topk import k, lam, n, p

seen = arrays(
    convolved="R*(x - u) + f(u) at u = x - lam y^(p-1)",
    relaxed="<x, y> - R(y)",
    heavier="the same with lam^2 for lam in R",
    spare="y and 1 - y, whatever is less",
    elsewhere="R*(x - u) + f(u) at other points u",
    rise="f_R(z) - f_R(x) - <y, z - x>, for several z near x",
    gain="the same with lower bounds of f_R(z) and an upper one of f_R(x)",
    square="|z - x|^2/(2 lam (p-1))",
    moved="|y(z) - y(x)|^2",
    bound="|z - x|^2/(lam (p-1))^2",
    weaker="|z - x|^2/lam^2",
    hard="f(x), the sum of the k largest scores",
)
H = hypotheses(
    convex=setting.CONVEX,
    mask="y is the relaxed mask of x, for the weight lam in R",
    leaving="two entries below 1/100 change between x and z, one up and one down",
    gap="s_k - s_(k+1) is at least lam",
)
met = Absolute(1, 10**9, "tau is known to 2^-44; a wrong weight of R is of order one away")
dual = Optimum(
    seen.convolved, bound=seen.relaxed, feasible=seen.spare >= 0, under=H.mask, bound_by="fenchel_young", margin=met,
    wrong={"lam^2 for lam": dict(bound=seen.heavier)},
)
no_less = Inequality(seen.elsewhere, at_least=seen.relaxed, under=())
slack = Rational(1, 10**9)
gradient = Inequality(
    seen.gain, at_least=-slack, under=H.mask, wrong={"concave": dict(at_least=None, at_most=-slack)},
)
smooth = Inequality(
    seen.rise, at_most=seen.square + slack, under=H.mask, where=p <= 2, wrong={"no curvature": dict(at_most=slack)},
)
lipschitz = Inequality(
    seen.moved, at_most=seen.bound + slack, under=H.mask, where=p <= 2,
    wrong={"1/lam": dict(at_most=seen.weaker + slack)},
)
unbounded = Inequality(
    seen.moved, at_least=25 * seen.bound, under=(H.mask, H.leaving), where=p > 2,
    wrong={"Lipschitz": dict(at_least=None, at_most=seen.bound + slack)},
)
lower = Inequality(
    seen.relaxed, at_least=seen.hard - lam * k / p - slack, under=H.mask,
    wrong={"half of it": dict(at_least=seen.hard - lam * k / (2 * p))},
)
upper = Inequality(
    seen.convolved, at_most=seen.hard - lam / p * n * (k / n) ** p + slack, under=H.mask,
    wrong={"lam k/p": dict(at_most=seen.hard - lam * k / p - slack)},
)
tight = Inequality(
    Abs(seen.convolved - seen.hard + lam * k / p), at_most=slack, under=(H.mask, H.gap),
    wrong={"lam k": dict(of=Abs(seen.convolved - seen.hard + lam * k))},
)


class ConvolvedValue(eqx.Module):
    """Scores, points z near and u elsewhere, the solver's tau at x and at each z, and k.

    ``weight``: lam of R that the solver was given over the one meant.
    """

    x: jax.Array
    near: jax.Array
    elsewhere: jax.Array
    tau: jax.Array
    taus: jax.Array
    w: jax.Array
    weight: jax.Array
    e: float = eqx.field(static=True)

    def mask(self, x, tau, lam):
        """The relaxed mask, its fractional entries scaled so that all sum to k."""
        y = setting.masked(x, tau, self.weight * lam, self.e)
        inside = jnp.where((y > 0) & (y < 1), 1.0, 0.0)
        fractional = (inside * y).sum()
        return y + inside * y * (self.w.sum() - y.sum()) / jnp.where(inside.sum() == 0, 1, fractional)

    def hard(self, u):
        return jnp.sort(u)[::-1] @ self.w

    def bound(self, u, t):
        """At least f(u) for every t, and equal to it for some: k t + sum (u - t)_+."""
        return self.w.sum() * t + jnp.maximum(u - t, 0).sum()

    def relaxed(self, x, y, lam):
        return (x * y).sum() - setting.penalty(y, lam, self.e).sum()


DRAWN, CLOSE, LEAVING, APART = range(4)


def drawn(key, n, k, p, lam, kind, weight):
    """Scores: less than lam apart; close to one another; with two entries near zero; with a gap of twice lam."""
    e, spread = setting.exponent(p), 0.3 * jnp.arange(n) + 0.1 * jax.random.uniform(named(key, "x"), (n,))
    x = jax.random.permutation(named(key, "order"), 2 * lam * spread)

    def middle(x):
        """Between both tau; where the mask is hard, in the middle of all that are right."""
        s = jnp.sort(x)[::-1]
        room = s[int(k) - 1] - s[int(k)] - weight * lam
        return s[int(k)] + room / 2 if room > 0 else setting.between(x, k, weight * lam, e)

    x = x / 50 if kind == CLOSE else x
    if kind == LEAVING:
        small = 1 / 256  # the two entries, to which the others leave room
        tau = setting.between(x[:-2], k - 2 * small, weight * lam, e)
        x = x.at[-2:].set(tau + lam * float(setting.lowered(jnp.asarray(small), e)))
    x = jnp.sort(x)[::-1] + jnp.where(jnp.arange(n) < k, 2 * lam, 0) if kind == APART else x
    away = jax.random.normal(named(key, "away"), (3, n)) / 64
    pair = jnp.where(jnp.arange(n) == n - 1, 1.0, jnp.where(jnp.arange(n) == n - 2, -1.0, 0.0))
    away = pair / 2.0 ** (20 + jnp.arange(3)[:, None]) if kind == LEAVING else away
    near, elsewhere = x + away, x + jax.random.normal(named(key, "u"), (6, n)) / 4
    taus = jnp.stack([middle(row) for row in near])
    return ConvolvedValue(x, near, elsewhere, middle(x), taus, setting.leading(n, k), jnp.asarray(weight), e)


def observe(model, lam):
    x, e = model.x, model.e
    root = lambda y: setting.lowered(y, e)
    y = model.mask(x, model.tau, lam)
    at = [model.mask(z, tau, lam) for z, tau in zip(model.near, model.taus, strict=True)]

    def value(x, y, tau):
        u = x - lam * root(y)
        return setting.conjugate(x - u, lam, e).sum() + model.bound(u, tau)

    squares = ((model.near - x) ** 2).sum(1)
    relaxed = model.relaxed(x, y, lam)
    rise = [value(*row) - relaxed - (y * (row[0] - x)).sum() for row in zip(model.near, at, model.taus, strict=True)]
    least = value(x, y, model.tau)
    gain = [model.relaxed(z, q, lam) - least - (y * (z - x)).sum() for z, q in zip(model.near, at, strict=True)]
    return dict(
        gain=jnp.stack(gain),
        convolved=least,
        relaxed=relaxed,
        heavier=model.relaxed(x, y, lam**2),
        spare=jnp.minimum(y, 1 - y),
        elsewhere=jnp.stack([setting.conjugate(x - u, lam, e).sum() + model.hard(u) for u in model.elsewhere]),
        rise=jnp.stack(rise),
        square=squares * e / lam / 2,
        moved=jnp.stack([((q - y) ** 2).sum() for q in at]),
        bound=squares * (e / lam) ** 2,
        weaker=squares / lam**2,
        hard=model.hard(x),
    )


@lemma
def fenchel_young():
    """One entry, p = 4/3, 3/2, 2 and 3: both functions of z = x - u and y meet where z = lam y^(p-1), and nowhere cross."""
    r, t, weight = symbols("r t lam", positive=True)  # z = lam r and y = t^e
    for order in setting.ORDERS:
        e = 1 / (order - 1)
        gap = weight * r ** (e + 1) / (e + 1) + weight * e / (e + 1) * t ** (e + 1) - weight * r * t**e
        yield Step(f"p = {order}: R*(z) + R(y) - z y vanishes at r = t", Subs(gap, r, t), 0)
        yield Step(f"p = {order}: and so does its slope in r", Subs(Derivative(gap, r), r, t), 0)
        bent = weight * e * r ** (e - 1)
        yield Step(f"p = {order}: it is convex in r", Derivative(gap, r, r), bent)


@lemma
def strongly_convex():
    """Curvature of R on (0, 1], p = 4/3, 3/2 and 2: least at one; mean entries k/n give the upper bound."""
    y, weight, share, size = symbols("y lam share m", positive=True)
    for order in setting.ORDERS[:3]:
        curvature = Derivative(weight / order * y**order, y, y)
        yield Step(f"p = {order}: curvature", curvature, weight * (order - 1) * y ** (order - 2))
        yield Step(f"p = {order}: at one", Subs(curvature, y, 1), weight * (order - 1))
        yield Step(f"p = {order}: R at equal entries", size * Subs(weight / order * y**order, y, share),
                   weight / order * size * share**order)


normal = Subject(drawn, kind=DRAWN, weight=1.0)
ordinary = normal.breaking(H.leaving, fails=unbounded).breaking(H.gap, fails=tight)
theorem = Theorem(
    place="the relaxed value and its gradient (reconstructed; its bounds are derived here)",
    label="reconstructed",
    uses=("topk_pnorm_conjugate", "topk_lp_permutahedron"),
    hypotheses=H,
    claims=dict(
        dual=dual, no_less=no_less, gradient=gradient, smooth=smooth, lipschitz=lipschitz, unbounded=unbounded,
        lower=lower, upper=upper, tight=tight,
    ),
    proofs=(fenchel_young, strongly_convex),
    experiments=dict(
        scores=Experiment(observe, seen, {n: Efforts((6,), (6, 8), (6, 8))}, draws=Efforts(2, 3, 8),
                          at=setting.cases(Rational(4, 3), Rational(2), Rational(3), k=3, lam=Rational(1, 2)), subjects={
            "scores apart": ordinary,
            "scores close to one another": normal(kind=CLOSE).breaking(H.leaving, fails=unbounded).breaking(H.gap, fails=tight),
            "two entries near zero": normal(kind=LEAVING).breaking(H.gap, fails=tight),
            "a gap of twice lam": normal(kind=APART).breaking(H.leaving, fails=unbounded),
            "R of four times the weight": normal(weight=4.0).breaking(H.mask, fails=(dual, gradient, lower)),
            "R of a tenth of the weight": normal(kind=CLOSE, weight=0.1).breaking(H.mask, fails=(lipschitz, smooth, upper)),
        }),
    ),
    issues=("Values of the magnitude operator are those of topk_isotonic_reduction; its slopes are not looked at here.",),
)
