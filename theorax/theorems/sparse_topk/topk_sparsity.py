"""The relaxed top-k is sparse for every p > 1: its non-zeros are counted by the scores near the one of rank k.

**Theorem.** Let p > 1, lam > 0, R(y) = (lam/p) sum |y_i|^p. The mask has the entries min(1,
((x_i - tau)_+/lam)^(1/(p-1))) with sum k; the magnitude operator is the y that maximises <x, y> -
f*(y) - R(y), f* half the squared k-support norm. Let s be x in decreasing order for the mask, and
|x| in decreasing order for magnitudes. Then the mask has at least k non-zeros, and at most k plus
the number of j > k with s_j > s_k - lam. The magnitude operator has at most k plus the number of
j > k with s_j + lam s_j^(p-1) > s_k.

**Idea.** As y_k is at most one, tau is at least s_k - lam, so y_j > 0 needs s_j > s_k - lam. All
entries are at most one and sum to k, so k of them are positive. For magnitudes, the last v with a
non-zero entry is at most that of rank k alone, so a non-zero entry needs s_j + lam s_j^(p-1) > s_k.
Past the last pooled block every entry is zero. With an entropy instead of R no entry is zero.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Derivative, Rational, Subs, exp, log, symbols

from theorax.language import *
from theorax.theorems.sparse_topk import _relaxed_topk as setting
from theorax.theorems.sparse_topk._relaxed_topk import k, n

seen = arrays(
    mask="number of non-zeros of the mask, for several scores",
    near="number of scores beyond rank k that lie above s_k - lam",
    magnitude="number of non-zeros of the magnitude operator, for the same scores",
    reach="number of magnitudes beyond rank k with s_j + lam s_j^(p-1) > s_k",
    close="number of magnitudes beyond rank k that lie above s_k - lam",
)
H = hypotheses(
    convex=setting.CONVEX,
    power="R is lam/p times the sum of |y_i|^p",
)
counted = Inequality(
    seen.mask, at_most=k + seen.near, under=H.power, wrong={"k non-zeros": dict(at_most=k)},
)
least = Inequality(seen.mask, at_least=k, under=(), wrong={"more than k": dict(at_least=k + 1)})
reached = Inequality(
    seen.magnitude, at_most=k + seen.reach, under=H.power,
    wrong={"k non-zeros": dict(at_most=k), "the bound of the mask": dict(at_most=k + seen.close)},
)


class SparseOutputs(eqx.Module):
    """Scores, sorted, and the outputs of both operators at them."""

    x: jax.Array
    s: jax.Array
    mask: jax.Array
    magnitude: jax.Array
    e: float = eqx.field(static=True)


BATCH = 24


def drawn(key, n, k, p, lam, entropy, weight):
    """``entropy``: lam sum y log y in the place of R, on the mask; ``weight``: lam of R over the one meant."""
    e, rows = setting.exponent(p), 2 * jax.random.normal(key, (BATCH, n))
    x, s = -jnp.sort(-rows, axis=1), -jnp.sort(-jnp.abs(rows), axis=1)
    w, weight = setting.leading(n, k), weight * lam

    def relaxed(row):
        if entropy:
            # min(1, exp((x - tau)/lam)) at some tau: it has no zero at any.
            return jnp.minimum(1, jnp.exp((row - row[int(k) - 1]) / weight))
        # The upper of the two tau: what is positive there is so for the exact one.
        return setting.masked(row, setting.threshold(row, k, weight, e)[1], weight, e)

    def kept(row):
        v = setting.isotonic(row, w, weight, e, True)
        # Beyond rank k an entry outside every block has v = s, up to the solver's error.
        return jnp.where(row - v > 2.0**-40, 1.0, 0.0)

    return SparseOutputs(x, s, jnp.stack([relaxed(row) for row in x]), jnp.stack([kept(row) for row in s]), e)


def observe(model, n, k, lam):
    beyond = jnp.arange(n) >= k
    count = lambda chosen: jnp.where(chosen, 1.0, 0.0).sum(1)
    x, s = model.x, model.s
    of_rank_k = lambda rows: jnp.where(jnp.arange(n) == k - 1, rows, 0).sum(1)[:, None]
    return dict(
        mask=count(model.mask > 0),
        near=count(beyond & (x > of_rank_k(x) - lam)),
        magnitude=count(model.magnitude > 0),
        reach=count(beyond & (s + lam * setting.lowered(s, model.e) > of_rank_k(s))),
        close=count(beyond & (s > of_rank_k(s) - lam)),
    )


@lemma
def last_block():
    """The score of rank k at its largest possible output; magnitudes for p = 4/3, 3/2, 2 and 3."""
    s, t, tau, weight = symbols("s t tau lam", positive=True)  # t: the score of rank j
    yield Solved("the mask: tau where y_k is one", (s - tau) / weight - 1, tau, [s - weight])
    for order in setting.ORDERS:
        yield Solved(f"p = {order}: s_k at which its own output is s_j", (s - t) / weight - t ** (order - 1), s,
                     [t + weight * t ** (order - 1)])


@lemma
def entropic():
    """Any score, any tau: an entry of the entropic mask is a power of e, which is never zero."""
    x, tau, y, weight = symbols("x tau y lam", positive=True)
    # The constant 1 of the derivative of y log y belongs to tau.
    gain = x * y - tau * y - weight * (y * log(y) - y)
    yield Step("stationarity in y", Subs(Derivative(gain, y), y, exp((x - tau) / weight)), 0)


plain = Subject(drawn, entropy=False, weight=1.0)
theorem = Theorem(
    place="sparsity of the relaxed operators (reconstructed; the counts are derived here)",
    label="derived",
    uses=("topk_isotonic_reduction",),
    hypotheses=H,
    claims=dict(counted=counted, least=least, reached=reached),
    proofs=(last_block, entropic),
    experiments=dict(
        counts=Experiment(observe, seen, {n: 12}, at=setting.cases(Rational(4, 3), Rational(2), Rational(3), k=4, lam=1),
                          draws=Efforts(2, 4, 12), subjects={
            "R of this weight": plain,
            "an entropy": plain(entropy=True).breaking(H.power, fails=counted),
            "R of three times the weight": plain(weight=3.0).breaking(H.power, fails=(counted, reached)),
        }),
    ),
    issues=(
        "A smaller p is smoother and gives more non-zeros; no order of the counts in p is claimed.",
        "Entries below the solver's error of 2^-40 count as zero for magnitudes.",
    ),
)
