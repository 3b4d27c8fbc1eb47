"""Principal component pursuit recovers a low rank part and a sparse part; with the released sign its error grows in each step.

**Theorem.** Let M = L_0 + S_0 be n x n, n = 40, L_0 of rank two with factors of normal numbers or
signs, S_0 of random entries +-5 at 5 % of the places, mu = n^2/(4 |M|_1) and S = Y = 0. A step is
L <- SVT_(1/mu)(M - S + Y/mu), S <- shrink_(1/(mu sqrt(n)))(M - L + Y/mu), Y <- Y + mu (M - L - S).
With probability at least 19/20, |L - L_0| <= 10^(-9) |L_0| after 80 steps. With -Y/mu in the step
of L, as released by the authors, this is wrong. For normal factors and this sign, the mean growth
of |L| per step from 31 to 60 is at least sqrt(n)/(2 mu) with probability at least 19/20. It never
exceeds sqrt(n)/mu (measured for +Y/mu too). With probability at least 1/2, |M - L - S| <= 10^(-6)
|M| after a step from 41 to 60, but |L - L_0| >= |L_0| after step 60. Probabilities are measured.

**Idea.** At a fixed point both steps need the same multiplier Y, hence the sign +. With the sign -,
SVT acts on L - Y/mu of the step before. It makes no matrix longer, and the step of S keeps |Y_ij|
<= 1/sqrt(n).
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import And, Rational, Subs, Sum, Symbol, sqrt, symbols

from theorax.language import *
from theorax.numerics.annotations import Scalar
from theorax.numerics.keys import named

n = Size("n", "number of rows and of columns")
STEPS, EARLY, LATE = 80, 30, 60
seen = numbers(error="|L - L_0|/|L_0| after 80 steps", early="the same after ten steps")
moved = numbers(
    drift="mean growth of |L| from step 30 to step 60, in units of sqrt(n)/mu",
    missed="|L - L_0|/|L_0| after 60 steps",
    feasible="least |M - L - S|/|M| of the last 20 steps",
)

H = hypotheses(
    low_rank="L_0 has low rank and is incoherent",
    sparse="S_0 is sparse and has random support",
    plus="the step of L adds Y/mu",
    minus="the step of L subtracts Y/mu, as released",
)
# Rounding leaves 10^-14; what is not recovered is off by 10^-3 or more.
exactly = Rational(1, 10**9)
recovered = Probability(
    seen.error <= exactly, at_least=Rational(19, 20), expected=Rational(99, 100), under=(H.low_rank, H.sparse, H.plus),
    margin=Absolute(1, 20, "where a hypothesis is broken nearly no draw is recovered"),
    wrong={"after ten steps": dict(event=seen.early <= exactly)},
)
as_released = replace(
    recovered, event=moved.missed <= exactly, under=(H.low_rank, H.sparse, H.minus), wrong={}, corrected="recovered"
)
# Of 240 pilot draws at four sizes and ranks the drift was 0.66 to 0.84.
grows = Probability(
    moved.drift >= Rational(1, 2), at_least=Rational(19, 20), expected=Rational(99, 100), under=H.minus,
    margin=Absolute(1, 20, "with the sign + L stands still"), wrong={"by sqrt(n)/mu": dict(event=moved.drift >= 1)},
)
bounded = Inequality(
    moved.drift, at_most=1, under=(), content=Rational(1, 20), wrong={"a tenth of it": Rational(1, 10)}
)
# Three pilot draws in four have a feasible point among their last twenty.
deceives = Probability(
    And(moved.feasible <= Rational(1, 10**6), moved.missed >= 1), at_least=Rational(1, 2), under=H.minus,
    margin=Absolute(1, 10, "with the sign + the error is never of order one"),
    wrong={"the error is as small": dict(event=moved.missed <= Rational(1, 10**6))},
)


class LowRankPlusSparse(eqx.Module):
    """Both parts, and the sign of Y/mu in the step of L."""

    L0: jax.Array
    S0: jax.Array
    sign: Scalar


def build(key, n, flat, spiked, density, sign):
    """A part of rank two with Gaussian factors, and entries +-5; ``flat``: factors of signs; ``spiked``: two entries."""
    draw = lambda name: jax.random.normal(named(key, name), (n, 2))
    factors = [jnp.where(flat > 0, jnp.sign(factor), factor) for factor in (draw("u"), draw("v"))]
    spikes = jnp.diag(jnp.where(jnp.arange(n) < 2, 5.0, 0.0))
    entries = 5 * jnp.sign(jax.random.normal(named(key, "signs"), (n, n)))
    S0 = jnp.where(jax.random.uniform(named(key, "where"), (n, n)) < density, entries, 0)
    return LowRankPlusSparse(jnp.where(spiked > 0, spikes, factors[0] @ factors[1].T), S0, sign)


def shrink(x, t):
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - t, 0)


def pursuit(model, sign, steps):
    """|L - L_0|, |L| and |M - L - S| after every step, and mu."""
    M = model.L0 + model.S0
    n = len(M)
    mu = n * n / (4 * jnp.abs(M).sum())

    def step(state, _):
        S, Y = state
        U, s, V = jnp.linalg.svd(M - S + sign * Y / mu, full_matrices=False)
        L = (U * jnp.maximum(s - 1 / mu, 0)) @ V
        S = shrink(M - L + Y / mu, 1 / (mu * n**0.5))
        rest = M - L - S
        return (S, Y + mu * rest), [jnp.linalg.norm(part) for part in (L - model.L0, L, rest)]

    return *jax.lax.scan(step, (jnp.zeros_like(M),) * 2, length=steps)[1], mu


def ends(model):
    errors = pursuit(model, model.sign, STEPS)[0] / jnp.linalg.norm(model.L0)
    return dict(error=errors[-1], early=errors[9])


def drifts(model, n):
    errors, lengths, rests, mu = pursuit(model, model.sign, LATE)
    drift = (lengths[LATE - 1] - lengths[EARLY - 1]) / (LATE - EARLY) * mu / n**0.5
    return dict(
        drift=drift, missed=errors[-1] / jnp.linalg.norm(model.L0),
        feasible=rests[-20:].min() / jnp.linalg.norm(model.L0 + model.S0),
    )


@lemma
def optimality():
    """Any thresholds t of singular values and lam t of entries, one entry or value s at a fixed point."""
    (mu, t, lam, s), y = symbols("mu t lam s", positive=True), Symbol("y", real=True)
    yield Solved("the step of S keeps s where Y is lam mu t", (s + y / mu) - lam * t - s, y, [lam * mu * t])
    yield Solved("the step of L keeps s where Y is mu t: one multiplier for both", (s + y / mu) - t - s, y, [mu * t])
    yield Solved("with the sign - it keeps s where Y is -mu t", (s - y / mu) - t - s, y, [-mu * t])


@derives(bounded)
def largest_step():
    """Any n, the released sign: all entries of Y are within lam = 1/sqrt(n), and SVT makes no matrix longer."""
    M, L, S, Y, new, mu = symbols("M L S Y Y_1 mu", positive=True)  # an entry of each
    before = Subs(M - S - new / mu, new, Y + mu * (M - L - S))
    yield Step("thresholding of M - S - Y_1/mu is of L less the multiplier before", before, L - Y / mu)
    x, t = symbols("x t", positive=True)
    yield Solved("beyond its threshold t an entry x leaves the multiplier mu t", Y - mu * (x - (x - t)), Y, [mu * t])
    i, j = symbols("i j", integer=True)
    longest = sqrt(Sum((1 / (mu * sqrt(n))) ** 2, (i, 1, n), (j, 1, n)))
    yield Step("|Y/mu| in units of sqrt(n)/mu", longest * mu / sqrt(n), bounded.at_most)


pair = Subject(build, flat=0.0, spiked=0.0, density=0.05, sign=1.0)
pushed = pair(sign=-1.0)
theorem = Theorem(
    place="principal component pursuit (classical), and the sign of the released layer, read off the authors' code",
    label="derived",
    hypotheses=H,
    claims=dict(
        recovered=recovered, as_released=as_released, grows=grows, bounded=bounded, deceives=deceives,
    ),
    proofs=(optimality, largest_step),
    experiments=dict(
        ends=Experiment(ends, seen, {n: 40}, draws=Efforts(200, 200, 600), subjects={
            "rank two, Gaussian factors": pair,
            "rank two, factors of signs": pair(flat=1.0),
            "a low rank part of two entries": pair(spiked=1.0).breaking(H.low_rank, fails=recovered),
            "40 % of the entries": pair(density=0.4).breaking(H.sparse, fails=recovered),
            "the sign -": pair(sign=-1.0).breaking(H.plus, fails=recovered),
        }),
        drifts=Experiment(drifts, moved, {n: 40}, draws=Efforts(200, 200, 600), subjects={
            "the sign -": pushed,
            "the sign +": pushed(sign=1.0).breaking(H.minus, fails=(grows, deceives)),
        }),
    ),
    issues=(
        "Recovery holds with large probability, not surely: about one draw in a hundred of this size is not recovered.",
        "Other thresholds, mu and lam mu, rescale the multiplier and lead to the same solution, more slowly.",
        "The released layer has attention in the place of singular value thresholding: no nuclear norm is minimised there.",
    ),
)
