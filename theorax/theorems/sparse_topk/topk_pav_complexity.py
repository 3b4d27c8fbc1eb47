"""Pooling adjacent violators is exact and linear after the sort: a block's equation is solved from running sums.

**Theorem.** Let B be a block of scores s_i, |B| = m, S_j = sum s_i^j, W the sum of its weights, mu
its mean, t = v - mu, q its variance, and r its third central moment less lam^3 W/m. Let p = 4/3.
Then, for every v, m v^3 - 3 S_1 v^2 + 3 S_2 v - S_3 + c = sum (v - s_i)^3 + c, with c = lam^3 W for
the mask, c = lam^3 W v for magnitudes. For the mask both equal m (t^3 + 3 q t - r), and vanish at
Cardano's v = mu + z - q/z, z^3 = r/2 + sqrt(r^2/4 + q^3), with - for this + if r < 0. Pooling
adjacent violators in n scores makes at most n - 1 pools. For p = 2, lam = 1, k = n/10 and sorted
Gaussian scores, pools and pushes together have the exact order n as n -> oo, if pooling goes on
from the block just made.

**Idea.** The slope 3 sum (v - s_i)^2 is positive, so there is one root; t = a - b solves t^3 + 3 a
b t = a^3 - b^3. A pool merges two blocks, and n blocks are pushed. Running sums give S_1, S_2, S_3,
so a pool costs a fixed number of operations. The sort is not counted.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from sympy import Derivative, Rational, symbols

from theorax.language import *
from theorax.numerics.annotations import Entries, Scalar
from theorax.numerics.host import on_host
from theorax.theorems.sparse_topk import _relaxed_topk as setting
from theorax.theorems.sparse_topk._relaxed_topk import lam, n

block = arrays(
    cubic="|B| v^3 - 3 S_1 v^2 + 3 S_2 v - S_3 + lam^3 W, at any v",
    stationary="sum (v - s_i)^3 + lam^3 W",
    magnitude="the same for magnitudes, + lam^3 W v",
    stationary_magnitude="sum (v - s_i)^3 + lam^3 W v",
    minus="the cubic with - lam^3 W",
    depressed="|B| (t^3 + 3 q t - r), t = v - mean, q the variance of the scores and r their third moment less lam^3 W/|B|",
)
root = arrays(
    residual="the cubic at Cardano's root, over lam^3",
    other="the same with - lam^3 W in the formula",
)
merged = arrays(pools="number of pools at n sorted scores, for several scores")
work = numbers(steps="pools and pushes", positive=True)

H = hypotheses(
    orders=Hypothesis("p = 4/3 for the cubic", unbroken="other orders have other equations"),
    sums="the sums of powers are those of the block's scores",
    onward="pooling goes on from the block just made",
)
exact = Relative(1, 10**9, "the account of the rounding stays below it; a wrong sign is of order one away")
expanded = Identity(
    block.cubic, block.stationary, under=H.sums, margin=exact, wrong={"- lam^3 W": dict(left=block.minus)}
)
expanded_magnitude = Identity(
    block.magnitude, block.stationary_magnitude, under=H.sums, margin=exact, wrong={"no v beside W": block.stationary},
)
centred = Identity(block.depressed, block.stationary, under=H.sums, margin=exact)
cardano = Inequality(
    (root.residual) ** 2, at_most=Rational(1, 10**20), under=H.sums, wrong={"- lam^3 W": dict(of=root.other**2)},
)
few = Inequality(merged.pools, at_most=n - 1, under=(), wrong={"half as many": dict(at_most=n / 2)})
linear = Rate(
    work.steps, n, as_=n, under=H.onward, spread=Rational(1, 20),
    approach=Corrections(
        size=Rational(1, 2), slowest=Rational(1, 2), fastest=2, rest=0, reference=100,
        reason="between n pushes and 2 n pushes and pools: the share of pooled scores moves by n^(-1/2)",
    ),
    margin=Absolute(1, 4, "n log n is 1/4 away at these sizes, n^2 is one away"),
    wrong={"quadratic": n**2},
)


class PooledBlock(eqx.Module):
    """Scores of a block, what its sum of squares is off by, the sum of its weights, and a value v."""

    s: Entries[Any, " m"]
    shifted: Scalar
    W: Entries[Any, ""]
    v: Entries[Any, ""]

    @property
    def sums(self):
        """The sums of powers that pooling carries along."""
        return self.s.sum(), (self.s**2).sum() + self.shifted, (self.s**3).sum()


def drawn(key, n, shifted):
    """``shifted``: the sum of squares is off by this."""
    s = setting.scores(key, n)
    return PooledBlock(s, shifted, jnp.asarray(2.0), setting.scores(key, 1, "v")[0])


def equations(model, lam):
    s, (first, square, cube), W, v, m = model.s, model.sums, model.W, model.v, len(model.s)
    mean = first / m
    cubic = m * v**3 - 3 * first * v**2 + 3 * square * v - cube
    stationary = ((v - s) ** 3).sum()
    q = square / m - mean**2
    r = cube / m - 3 * mean * square / m + 2 * mean**3 - lam**3 * W / m
    t = v - mean
    depressed = m * (t**3 + 3 * q * t - r)
    return dict(
        cubic=cubic + lam**3 * W, stationary=stationary + lam**3 * W, magnitude=cubic + lam**3 * W * v,
        stationary_magnitude=stationary + lam**3 * W * v, minus=cubic - lam**3 * W, depressed=depressed,
    )


def cube_root(model, lam):
    """Cardano's root for t^3 + 3 q t - r, q > 0, and the cubic there."""
    s, (first, square, cube), W, m = model.s, model.sums, model.W, len(model.s)
    mean = first / m
    q = square / m - mean**2
    moment = cube / m - 3 * mean * square / m + 2 * mean**3

    def at(sign):
        r = moment - sign * lam**3 * W / m
        # Of the two cube roots the larger one in size is taken; the other is -q over it.
        half = jnp.where(r < 0, -1.0, 1.0) * (jnp.abs(r) / 2 + jnp.sqrt(r**2 / 4 + q**3))
        large = jnp.cbrt(half)
        v = mean + large - q / large
        return (((v - s) ** 3).sum() + lam**3 * W) / lam**3

    return dict(residual=at(1), other=at(-1))


def sorted_scores(key, n, restart):
    return -jnp.sort(-setting.scores(key, n)), jnp.asarray(restart)


def pooled(s: np.ndarray, restart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pools, and pools with pushes, for p = 2, lam = 1 and k = n/10; ``restart``: blocks are looked at from the first."""
    values = s - (np.arange(len(s)) < len(s) // 10)
    sums, sizes, pools, steps = [], [], 0, 0
    for value in values:
        sums.append(value)
        sizes.append(1)
        steps += 1
        while len(sums) > 1 and sums[-2] * sizes[-1] <= sums[-1] * sizes[-2]:
            last, size = sums.pop(), sizes.pop()
            sums[-1] += last
            sizes[-1] += size
            pools += 1
            steps += len(sums) if restart else 1
    return np.asarray(float(pools)), np.asarray(float(steps))


def counts(model):
    found = on_host(pooled, [(), ()], *model)
    return dict(steps=found[1])


def several(key, n):
    """Scores that grow are one block: nothing is pooled more."""
    rows = [jnp.sort(setting.scores(key, n)), *(sorted_scores(key, n, 0)[0] + place for place in range(3))]
    return jnp.stack([on_host(pooled, [(), ()], row, jnp.asarray(0.0))[0] for row in rows])


def count(model):
    return dict(pools=model)


@settles(expanded, expanded_magnitude, centred)
def blocks(claim):
    """Blocks of two and of three scores, any scores, weights and v."""
    for size in (2, 3):
        s = generic_entries("s", size)
        model = PooledBlock(s, 0, generic_entries("W"), generic_entries("v"))
        yield Instance(claim, f"{size} scores", equations, model, np.array(lam, dtype=object))


@lemma
def one_root():
    """A block of three scores: the slope, and Cardano's root of the equation without a square."""
    v, W = symbols("v W", real=True)
    s = symbols("s_1:4", real=True)
    cubic = sum((v - x) ** 3 for x in s) + lam**3 * W
    yield Step("the slope is not negative", Derivative(cubic, v), 3 * sum((v - x) ** 2 for x in s))
    a, b = symbols("a b", real=True)  # the two cube roots: q = a b, r = a^3 - b^3
    t = a - b
    yield Step("t = a - b solves t^3 + 3 a b t = a^3 - b^3", t**3 + 3 * a * b * t, a**3 - b**3)


whole = Subject(drawn, shifted=0.0)
off = whole(shifted=0.01).breaking(H.sums, fails=(expanded, expanded_magnitude, centred))
theorem = Theorem(
    place="pooling adjacent violators for p = 2 and 4/3 (the authors' code read; derived here)",
    label="derived",
    uses=("topk_isotonic_reduction",),
    hypotheses=H,
    claims=dict(
        expanded=expanded, expanded_magnitude=expanded_magnitude, centred=centred, cardano=cardano, few=few, linear=linear,
    ),
    proofs=(blocks, one_root),
    experiments=dict(
        equations=Experiment(equations, block, {n: (4,)}, at={lam: Rational(1, 2)}, draws=Efforts(2, 4, 12), subjects={
            "running sums": whole,
            "a sum of squares off by 1/100": off,
        }),
        roots=Experiment(cube_root, root, {n: (4, 6)}, at={lam: Rational(1, 2)}, draws=Efforts(2, 4, 12), subjects={
            "running sums": whole,
            "a sum of squares off by 1/100": whole(shifted=0.01).breaking(H.sums, fails=cardano),
        }),
        pools=Experiment(count, merged, {n: (8, 20)}, draws=Efforts(2, 4, 12), subjects={
            "normal scores": Subject(several),
        }),
        runs=Experiment(counts, work, {n: Efforts((200, 800, 3200), (200, 800, 3200), (200, 800, 3200))},
                        draws=Efforts(40, 60, 200), platform="cpu", subjects={
            "on from the last block": Subject(sorted_scores, restart=0.0),
            "from the first block again": Subject(sorted_scores, restart=1.0).breaking(H.onward, fails=linear),
        }),
    ),
    issues=("The sort costs n log n comparisons; it is not counted here.",),
)
