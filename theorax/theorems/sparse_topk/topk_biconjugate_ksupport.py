"""The magnitude operator regularises half the squared k-support norm, the envelope of |y|^2/2 on at most k entries.

**Theorem.** Let f(u) be half the sum of the k largest u_i^2. For y let a = |y| sorted decreasingly,
and let r in 0, ..., k - 1 satisfy a_(k-r-1) > m >= a_(k-r), m = sum_(i >= k-r) a_i/(r + 1), a_0 =
oo. Let f*(y) = (sum_(i < k-r) a_i^2 + (r + 1) m^2)/2, half the squared k-support norm. Then f(u) +
f*(y) >= <u, y> for all u, with equality where u equals y on the entries of the k - r - 1 largest
|y_i| and has the size m and the sign of y_i on the others. So f* is the conjugate of f. If y is the
mean of points z_1, ..., z_4 of at most k non-zero entries each, then f*(y) <= (1/4) sum_j
|z_j|^2/2.

**Idea.** Let Psi(y) = |y|^2/2 for y of at most k non-zero entries, infinite otherwise. One entry
that is kept gives sup_y (u y - y^2/2) = u^2/2, so f is the conjugate of Psi, and f* is its convex
envelope. Thus f* lies below every mean of values of Psi.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Abs, Derivative, Rational, Subs, symbols

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.sparse_topk._relaxed_topk import SIZES, k

seen = arrays(
    envelope="f*(y) by the formula of the k-support norm",
    dual="<u, y> - f(u) at the u that belongs to it",
    taxicab="half of the square of the sum of |y_i|",
    euclid="half of the sum of the y_i^2",
    young="f(u) + f*(y) - <u, y> at other points u",
    euclidean="the same with half of the sum of the y_i^2 for f*",
    mean="mean of |z_j|^2/2 over points z_j of k entries each, whose mean is y",
)
H = hypotheses(
    formula="f* is taken by the formula with the r for which its inequalities hold",
    sparse="every point z_j has at most k entries",
)
# f(u) is bounded by sums of order one in balls: what is left is their precision.
tiny = Rational(1, 10**30)
attained = Inequality(
    Abs(seen.envelope - seen.dual), at_most=tiny, under=H.formula,
    wrong={
        "the square of the l1 norm": dict(of=Abs(seen.taxicab - seen.dual)),
        "the square of the l2 norm": dict(of=Abs(seen.euclid - seen.dual)),
    },
)
fenchel = Inequality(
    seen.young, at_least=-tiny, under=H.formula, wrong={"the square of the l2 norm": dict(of=seen.euclidean)},
)
minorant = Inequality(
    seen.envelope, at_most=seen.mean + tiny, under=H.sparse, wrong={"the square of the l1 norm": dict(of=seen.taxicab)},
)


class SupportNorm(eqx.Module):
    """Points z of few entries, other points u, k, and what is added to r."""

    z: jax.Array
    others: jax.Array
    k: jax.Array
    moved: int = eqx.field(static=True)

    def value(self, u):
        """f(u)."""
        order = jnp.arange(u.shape[-1]) < self.k
        return jnp.where(order, -jnp.sort(-(u**2)), 0).sum() / 2

    def bound(self, u, mean):
        """At least f(u), and equal to it where k - 1 or fewer |u_i| lie above the mean and others are it."""
        return (self.k * mean**2 + jnp.maximum(u**2 - mean**2, 0).sum()) / 2

    def parts(self, y):
        """The mask of the first k - r - 1 entries, and the common value of the others."""
        a, places, signs = jnp.abs(y), jnp.arange(len(y)), jnp.where(y < 0, -1.0, 1.0)
        sorted_ = -jnp.sort(-a)
        r = jnp.asarray(self.moved)
        for rest in range(len(y)):
            alone = self.k - rest - 1  # number of entries that stay by themselves
            mean = jnp.where(places >= alone, sorted_, 0).sum() / (rest + 1)
            before = jnp.where(places == alone - 1, sorted_, 0).sum()
            at = jnp.where(places == alone, sorted_, 0).sum()
            right = (alone >= 0) & ((alone == 0) | (before > mean)) & (mean >= at)
            r = r + jnp.where(right, rest, 0)
        first = self.k - r - 1
        mean = jnp.where(places >= first, sorted_, 0).sum() / (r + 1)
        head = (a[None, :] > a[:, None]).sum(1) < first
        return jnp.where(head, a, 0), mean, r, jnp.where(head, y, signs * mean)

    def norm(self, y):
        head, mean, r, _ = self.parts(y)
        return ((head**2).sum() + (r + 1) * mean**2) / 2


def drawn(key, n, k, close, extra, moved):
    """``extra``: entries of each point beyond k; ``close``: the points differ by little."""
    z, scattered = jax.random.normal(named(key, "z"), (4, n)), jax.random.uniform(named(key, "places"), (4, n))
    z, scattered = (z[0] + z / 100, scattered[:1] + 0 * z) if close else (z, scattered)
    few = jnp.argsort(jnp.argsort(scattered, axis=1), axis=1) < k + extra
    others = jax.random.normal(named(key, "u"), (8, n))
    return SupportNorm(jnp.where(few, z, 0), others, jnp.asarray(k), int(moved))


def observe(model):
    y = model.z.sum(0) / 4
    _, mean, _, u = model.parts(y)
    envelope, euclid = model.norm(y), (y**2).sum() / 2
    young = [model.value(other) - (other * y).sum() for other in [*model.others, *(u + model.others / 8)]]
    return dict(
        envelope=envelope,
        dual=(u * y).sum() - model.bound(u, mean),
        taxicab=jnp.abs(y).sum() ** 2 / 2,
        euclid=euclid,
        young=jnp.stack(young) + envelope,
        euclidean=jnp.stack(young) + euclid,
        mean=(model.z**2).sum() / 8,
    )


@lemma
def two_entries():
    """n = 2, k = 1: f(u) = max(u_1^2, u_2^2)/2; on both branches <u, y> - f(u) stays below (y_1 + y_2)^2/2."""
    y, z, t, d = symbols("y_1 y_2 t d", nonnegative=True)  # u = (t + d, t), the first entry the larger one
    rest = (t + d - y - z) ** 2 / 2 + d * z
    yield Step("what is left", (y + z) ** 2 / 2 - (y * (t + d) + z * t - (t + d) ** 2 / 2), rest)
    gain = y * t + z * t - t**2 / 2
    yield Step("nothing, at u_1 = u_2 = y_1 + y_2", Subs(gain, t, y + z), (y + z) ** 2 / 2)


@lemma
def conjugate_of_psi():
    """One of the k kept entries: the conjugate of y^2/2 is u^2/2, so that Psi* keeps the k largest squares."""
    u, y = symbols("u y", real=True)
    gain = u * y - y**2 / 2
    yield Step("slope", Subs(Derivative(gain, y), y, u), 0)
    yield Step("value", Subs(gain, y, u), u**2 / 2)


whole = Subject(drawn, close=False, extra=0, moved=0)
theorem = Theorem(
    place="the regularised function of the magnitude operator (reconstructed)",
    label="reconstructed",
    uses=("topk_lp_permutahedron",),
    hypotheses=H,
    claims=dict(attained=attained, fenchel=fenchel, minorant=minorant),
    proofs=(two_entries, conjugate_of_psi),
    experiments=dict(
        points=Experiment(observe, seen, SIZES, at=({k: 2}, {k: 3}), draws=Efforts(3, 6, 16), subjects={
            "points of k entries": whole,
            "points close to one another": whole(close=True),
            "close points of k + 2 entries": whole(close=True, extra=2).breaking(H.sparse, fails=minorant),
            "r + 1 for r": whole(moved=1).breaking(H.formula, fails=(attained, fenchel)),
        }),
    ),
    issues=(
        "With another phi, Psi is the sum of phi*(y_i) on k entries only where phi*(0) = 0.",
        "Means of four points of k entries are looked at; the envelope is the least mean over all such points.",
    ),
)
