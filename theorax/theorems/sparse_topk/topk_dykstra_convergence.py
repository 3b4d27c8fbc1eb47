"""Parallel Dykstra for p = 2 tends to the isotonic solution: a block of b scores by cos^2(pi/b) in every cycle.

**Theorem.** Let p = 2. A cycle of Dykstra's algorithm averages all pairs (v_1, v_2), (v_3, v_4),
... that increase, then all increasing pairs (v_2, v_3), ...; each half first adds back its last
correction. (a) For b >= 3 Gaussian scores in increasing order, the largest distance from their
mean, the isotonic solution, after T cycles has the exact order cos(pi/b)^(2 T) as T -> oo. (b) Let
s be sorted decreasingly, w = (1, ..., 1, 0, ..., 0) with k ones. From s - lam w with plain means
the cycles tend to the isotonic v of the mask. From s/(1 + lam w), s >= 0, with means weighted by
1 + lam w they tend to that of magnitudes. For n = 11, k = 3, lam = 1 both are within 10^(-9) after
3000 cycles.

**Idea.** Each half is a projection onto the vectors whose odd or even pairs decrease. On a block
that ends as one value both averages act on all pairs. Reflect v_1 - v_2, v_2 - v_3, ... at the
ends: waves are eigenvectors, and the slowest has the factor cos(pi/b)^2.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Matrix, Rational, Subs, cos, exp, log, pi, symbols

from theorax.language import *
from theorax.theorems.sparse_topk import _relaxed_topk as setting
from theorax.theorems.sparse_topk._relaxed_topk import k, lam, n

T = Size("T", "number of cycles")
b = Size("b", "length of the block")
rate = numbers(error="largest distance from the mean of the block", positive=True)
seen = arrays(
    off="the largest distance from the isotonic solution, after 3000 cycles",
    off_magnitude="the same for magnitudes",
)
H = hypotheses(
    growing="the scores grow: they end as one block",
    alternate="cycles project on both halves of the chain",
    weights="pairs are averaged with the weights of the problem",
)
linear = Rate(
    rate.error, exp(2 * log(cos(pi / b)) * T), as_=T, under=(H.growing, H.alternate), spread=Rational(1, 2),
    approach=Corrections(
        size=Rational(1, 5), slowest=2, rest=0, reference=16, fastest=16,
        reason="the next wave decays like cos^2(2 pi/b), by a half or more against the first one per cycle or two",
    ),
    margin=Absolute(1, 100, "at b = 8 cos(pi/b) is 0.08 away in the exponent, 1 - 1/b 0.025"),
    wrong={"cos(pi/b)": exp(log(cos(pi / b)) * T), "1 - 1/b": exp(log(1 - 1 / b) * T)},
)
# 3000 cycles leave cos^2(pi/11)^3000 < 10^-100 of the start, rounding less than this.
tiny = Rational(1, 10**9)
limit = Inequality(
    seen.off, at_most=tiny, under=H.alternate, wrong={"not at all": dict(at_most=None, at_least=tiny)},
)
limit_magnitude = Inequality(
    seen.off_magnitude, at_most=tiny, under=(H.alternate, H.weights),
    wrong={"not at all": dict(at_most=None, at_least=tiny)},
)


def averaged(v: Any, c: Any, first: int) -> Any:
    """The projection on v_i >= v_(i+1) for every second pair from ``first``: pairs that grow are averaged by weights c."""
    m = (len(v) - first) // 2
    left, right = v[first : first + 2 * m : 2], v[first + 1 : first + 2 * m : 2]
    a, d = c[first : first + 2 * m : 2], c[first + 1 : first + 2 * m : 2]
    mean = (a * left + d * right) / (a + d)
    grows = left < right
    pair = jnp.stack([jnp.where(grows, mean, left), jnp.where(grows, mean, right)], axis=1).reshape(-1)
    return jnp.concatenate([v[:first], pair, v[first + 2 * m :]])


class Dykstra(eqx.Module):
    """The point to project, the weights of the problem, and whether both halves of the chain are used."""

    s: jax.Array
    c: jax.Array
    both: jax.Array

    def __call__(self, cycles):
        def cycle(_, state):
            v, p, q = state
            y = averaged(v + p, self.c, 0)
            z = averaged(y + q, self.c, 1)
            z = jnp.where(self.both == 1, z, y)
            return z, v + p - y, y + q - z

        return jax.lax.fori_loop(0, cycles, cycle, (self.s, 0 * self.s, 0 * self.s))[0]


def growing(key, T, b, both, falling):
    """``falling``: the scores fall by half of their length at the end, so that the last ones leave the block."""
    s = jnp.sort(setting.scores(key, b))
    s = jnp.where((falling == 1) & (jnp.arange(b) > b // 2), s - 9, s)
    return Dykstra(s, jnp.ones(b), jnp.asarray(both))


def error(model, T):
    v = model(T)
    return dict(error=jnp.abs(v - model.s.mean()).max(), error_error=2.0**-46)


def drawn(key, n, k, lam, both, weighted):
    """Sorted scores for the mask, and for magnitudes, as the weighted projection of s/(1 + lam w)."""
    s, w = -jnp.sort(-setting.scores(key, n)), setting.leading(n, k)
    c = 1 + lam * w
    run = lambda s, c: Dykstra(s, c, jnp.asarray(both))(3000)
    size = -jnp.sort(-jnp.abs(s))
    magnitudes = run(size / c, c if weighted else jnp.ones(n))
    found = [setting.isotonic(row, w, lam, 1.0, quadratic) for row, quadratic in ((s, False), (size, True))]
    return run(s - lam * w, jnp.ones(n)), magnitudes, *found


def distances(model):
    mask, magnitude, v, v_magnitude = model
    return dict(off=jnp.abs(mask - v).max(), off_magnitude=jnp.abs(magnitude - v_magnitude).max())


@lemma
def waves():
    """Blocks of three, four and six, all pairs averaged: the slowest wave in a cycle of both averages."""
    for size in (3, 4, 6):
        odd, even = Matrix.eye(size), Matrix.eye(size)
        for first, A in ((0, odd), (1, even)):
            for i in range(first, size - 1, 2):
                A[i, i] = A[i, i + 1] = A[i + 1, i] = A[i + 1, i + 1] = Rational(1, 2)
        factor = cos(pi / size) ** 2
        cycle = even * odd
        z = symbols("z")
        yield Step(
            f"b = {size}: cos^2(pi/b) is an eigenvalue", Subs((cycle - z * Matrix.eye(size)).det(), z, factor), 0
        )


@lemma
def blocks_are_kept():
    """A block of three that pools: its suffix means stay above its mean when a pair is averaged."""
    u, d, mean = symbols("u d m", real=True)  # u: what the first pair becomes, with 2 u + d = 3 m
    after = Subs((u + d) / 2 - mean, u, (3 * mean - d) / 2)
    yield Step("the last two, above the mean as d is", after, (d - mean) / 4)


problems = Subject(drawn, both=1.0, weighted=True)
run = Subject(growing, both=1.0, falling=0.0)
theorem = Theorem(
    place="Dykstra's projections in parallel (the authors' code read; the rate is derived here)",
    label="derived",
    uses=("topk_isotonic_reduction",),
    hypotheses=H,
    claims=dict(linear=linear, limit=limit, limit_magnitude=limit_magnitude),
    proofs=(waves, blocks_are_kept),
    experiments=dict(
        runs=Experiment(error, rate, {T: (16, 40, 64)}, at=({b: 6}, {b: 8}),
                        draws=Efforts(100, 200, 1000),  subjects={
            "growing scores": run,
            "one half of the chain": run(both=0.0).breaking(H.alternate, fails=linear),
            "the last scores fall": run(falling=1.0).breaking(H.growing, fails=linear),
        }),
        problems=Experiment(distances, seen, {n: (11,)}, at={k: 3, lam: 1}, draws=Efforts(3, 6, 16), subjects={
            "both halves": problems,
            "one half of the chain": problems(both=0.0).breaking(H.alternate, fails=(limit, limit_magnitude)),
            "plain means for magnitudes": problems(weighted=False).breaking(H.weights, fails=limit_magnitude),
        }),
    ),
    issues=(
        "Without corrections the same projections reach the same limit here: no mean crosses the end of a final block.",
        "A block of b scores needs about (b/pi)^2 log(1/eps) cycles.",
    ),
)
