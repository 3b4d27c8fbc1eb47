"""How often comparing two runs errs: false `moved` where nothing moved, false `same` at the zone, power for a shift.

    python -m benchmarks.comparison [--replicates 2000]        # -> benchmarks/results/comparison.txt

Each case draws what two runs would report of one quantity whose true value lies `shift` apart, reads both as a report
has them, and compares. The levels are those of a single claim: 0.01 of calling moved what has not, 0.05 of calling the
same what lies apart by the zone. A suite of such claims is held by Holm; the last rows say what of.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from theorax.decide import estimators as estimators
from theorax.decide.comparison import (
    MOVED,
    SAME,
    CaseReading,
    Evidence,
    Outcome,
    Pair,
    compare_reports,
    joined_cases,
    pair,
)
from theorax.decide.gaussian_norm import NoiseNorm
from theorax.decide.interval import Interval
from theorax.decide.kinds import DecidedQuantity
from theorax.decide.laws import WORDS as LAW
from theorax.decide.means import WORDS as MEAN
from theorax.decide.probabilities import WORDS as PROBABILITY

LEVEL = 0.025
Generator = np.random.Generator
Run = Callable[[Generator, float], Pair]


@dataclass(frozen=True)
class Case:
    """Two runs of one quantity; ``moves`` is the shift at which the power of `moved` is asked, in zones."""

    name: str
    zone: float
    run: Run
    moves: float = 1.5


def reading(interval: Interval, quantity: DecidedQuantity, margin: float, draws: int, total: int = 0) -> CaseReading:
    """What a report keeps of an interval."""
    low, high = interval.lower(LEVEL) - interval.bias, interval.upper(LEVEL) + interval.bias
    ends = tuple(end if math.isfinite(end) else None for end in (low, high))
    return CaseReading(interval.estimate, interval.se, ends, interval.bias, margin, draws, LEVEL, quantity, total)  # type: ignore[arg-type]


def means(first: int, second: int, ratio: float = 1.0, tails: str = "normal", margin: float = 1.0) -> Run:
    """Means of so many draws; the second run's standard deviation is ``ratio`` times the first's."""

    def draw(rng: Generator, count: int) -> np.ndarray:
        return rng.normal(size=count) if tails == "normal" else rng.exponential(size=count) - 1

    def run(rng: Generator, shift: float) -> Pair:
        old, new = draw(rng, first), ratio * draw(rng, second) + shift
        parts = (estimators.paired(sample) for sample in (old, new))
        return pair(*(reading(one, MEAN.quantity, margin, n) for one, n in zip(parts, (first, second), strict=True)))

    return run


def correlated(rho: float, draws: int = 64) -> Run:
    """One seed and changed code: the draws of the two runs are correlated, nobody knows how."""

    def run(rng: Generator, shift: float) -> Pair:
        old = rng.normal(size=draws)
        new = rho * old + math.sqrt(1 - rho**2) * rng.normal(size=draws) + shift
        parts = (reading(estimators.paired(sample), MEAN.quantity, 1.0, draws) for sample in (old, new))
        return pair(*parts, shared_seeds=True)

    return run


def biased(draws: int = 64, bias: float = 0.1) -> Run:
    """Two designs, whose biases are as far apart as their declared classes allow."""

    def run(rng: Generator, shift: float) -> Pair:
        samples = (rng.normal(size=draws) - bias, rng.normal(size=draws) + bias + shift)
        parts = (reading(estimators.paired(sample, (1.0,), bias), MEAN.quantity, 2.0, draws) for sample in samples)
        return pair(*parts, same_design=False)

    return run


def spikes(draws: int = 400, rate: float = 0.01) -> Run:
    """Means of rare spikes in a declared range, by betting: Student's t would be no interval for them."""

    def run(rng: Generator, shift: float) -> Pair:
        samples = (rng.random(draws) < rate, rng.random(draws) < rate + shift)
        parts = (
            reading(estimators.betting(sample.astype(float), 0.0, 1.0), MEAN.quantity, 0.4, draws) for sample in samples
        )
        return pair(*parts)

    return run


def shares(first: int, second: int, p: float, margin: float) -> Run:
    """Shares of draws in which an event happens."""

    def run(rng: Generator, shift: float) -> Pair:
        parts = []
        for count, truth in ((first, p), (second, p - shift)):
            found = rng.binomial(count, truth)
            interval = estimators.proportion(np.arange(count) < found)
            parts.append(reading(interval, PROBABILITY.quantity, margin, count, total=count))
        return pair(*parts)

    return run


def laws(draws: int = 500, dimensions: int = 40, distance: float = 0.0) -> Run:
    """Distances of a law: norms of a mean of feature vectors whose noise has a decaying spectrum."""
    scale = 0.5 / np.arange(1, dimensions + 1)
    noise = NoiseNorm(scale**2 / draws)
    radius, spread = noise.quantile(LEVEL), math.sqrt(float(np.sum(scale**2) / draws))

    def run(rng: Generator, shift: float) -> Pair:
        parts = []
        for away in (distance, distance + shift):
            mean = rng.normal(size=dimensions) * scale / math.sqrt(draws)
            mean[0] += away
            norm = float(np.linalg.norm(mean))
            parts.append(
                CaseReading(
                    norm, spread, (max(0.0, norm - radius), norm + radius), 0.0, 0.5, draws, LEVEL, LAW.quantity
                )
            )
        return pair(*parts)

    return run


CASES = (
    Case("means, 64 draws each", 0.5, means(64, 64)),
    Case("means, 10 draws each", 0.5, means(10, 10), 4.0),
    Case("means, 10 draws and 500 of five times the spread", 0.5, means(10, 500, 5.0), 4.0),
    Case("means of exponentials, 100 draws each", 0.5, means(100, 100, tails="exponential")),
    Case("one seed, correlation 0.95", 0.5, correlated(0.95)),
    Case("one seed, correlation -0.95", 0.5, correlated(-0.95)),
    Case("two designs, biases at opposite ends", 1.0, biased()),
    Case("rare spikes in a range, by betting", 0.2, spikes()),
    Case("shares, 400 draws, p = 0.99", 0.05, shares(400, 400, 0.99, 0.1), 2.0),
    Case("shares, 50 and 2000 draws, p = 0.9", 0.1, shares(50, 2000, 0.9, 0.2), 3.0),
    Case("laws, distance zero", 0.25, laws()),
    Case("laws, distance 0.2", 0.25, laws(distance=0.2)),
)


@dataclass(frozen=True)
class Rates:
    """Shares of the replicates with these outcomes."""

    false_moved: float
    false_same: float
    same: float
    moved: float


def rates(case: Case, replicates: int, rng: Generator) -> Rates:
    """The rates of one case, of a claim by itself: no change, a change by the zone, power of both."""

    def share(shift: float, reject: Callable[[Pair], bool]) -> float:
        return sum(reject(case.run(rng, shift)) for _ in range(replicates)) / replicates

    still = [case.run(rng, 0.0) for _ in range(replicates)]
    return Rates(
        false_moved=sum(part.p_moved <= MOVED for part in still) / replicates,
        false_same=share(case.zone, lambda part: part.p_same <= SAME),
        same=sum(part.p_same <= SAME for part in still) / replicates,
        moved=share(case.moves * case.zone, lambda part: part.p_moved <= MOVED),
    )


@dataclass(frozen=True)
class Suites:
    """Of many runs over many claims: any wrong call of either sort, and the share of claims called rightly."""

    any_moved: float
    any_same: float
    same: float
    moved: float


def suites(replicates: int, rng: Generator, claims: int = 20, cases: int = 5, shifted: int = 5) -> Suites:
    """Runs over ``claims`` claims of ``cases`` cases, of which ``shifted`` have one case that moved.

    Half of the runs shift it by just the zone (calling those the same is the error), half by twice as much.
    """
    run, zone = means(256, 256), 0.5
    wrong_moved = wrong_same = 0
    still = far = 0
    for replicate in range(replicates):
        shift = zone if replicate % 2 else 2 * zone
        evidence: dict[str, Evidence] = {}
        for claim in range(claims):
            pairs = [run(rng, shift if claim < shifted and case == 0 else 0.0) for case in range(cases)]
            evidence[f"claim {claim}"] = joined_cases(pairs)
        outcomes = [decided.outcome for decided in compare_reports(evidence).values()]
        wrong_moved += Outcome.MOVED in outcomes[shifted:]
        wrong_same += bool(replicate % 2) and Outcome.SAME in outcomes[:shifted]
        still += outcomes[shifted:].count(Outcome.SAME)
        far += 0 if replicate % 2 else outcomes[:shifted].count(Outcome.MOVED)
    halves = replicates // 2
    return Suites(
        wrong_moved / replicates,
        wrong_same / halves,
        still / (replicates * (claims - shifted)),
        far / ((replicates - halves) * shifted),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--replicates", type=int, default=2000)
    replicates = parser.parse_args().replicates
    rng, began = np.random.default_rng(20261122), time.perf_counter()
    print(f"{replicates} replicates; binomial standard error at 0.01: "
          f"{math.sqrt(0.01 * 0.99 / replicates):.4f}, at 0.05: {math.sqrt(0.05 * 0.95 / replicates):.4f}")  # fmt: skip
    print(f"{'case':52} {'false moved':>11} {'false same':>10} {'same':>6} {'moved':>6} {'at shift':>9}")
    for case in CASES:
        found = rates(case, replicates, rng)
        print(
            f"{case.name:52} {found.false_moved:11.4f} {found.false_same:10.4f} {found.same:6.3f} {found.moved:6.3f} "
            f"{case.moves * case.zone:9.3g}",
            flush=True,
        )
    count = max(2, replicates // 4)
    several = suites(count, rng)
    print(f"\n20 claims of 5 cases each, 5 of them shifted, Holm; {count} runs")
    print(f"any claim that stayed called moved      {several.any_moved:.4f}   (at most {MOVED:g})")
    print(f"any claim apart by the zone called same {several.any_same:.4f}   (at most {SAME:g})")
    print(f"claims that stayed called same          {several.same:.3f}")
    print(f"claims shifted by two zones called moved {several.moved:.3f}")
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
