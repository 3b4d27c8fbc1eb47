"""How often guards that look at draws withhold what is true, and how often what is not; without them nothing is withheld.

    python -m benchmarks.looks_at_draws [--replicates 2000] > benchmarks/results/looks_at_draws.txt

- spread: the draws scatter by less than a tenth of the stated standard deviation. False: they scatter by a twentieth.
- repeats: without the most frequent draw fewer than half differ. False: each draw is handed out three times.
- given variance: draws over the root of the variance given beside them are standard normal. False: the root is 0.8 of it.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from benchmarks.calibration.tails import LAWS
from theorax.decide.conditional_variance import LEVEL, p_of_variances
from theorax.decide.draw_guards import Spreads, is_distinct

SIZES = (30, 100, 1000)


def is_narrow(values: np.ndarray, planned: float) -> bool:
    """True if the guard of spreads withholds."""
    return Spreads((float(values.std(ddof=1)),), (planned,), stated=True).is_narrow


def given(rng: Generator, n: int, share: float) -> bool:
    """True if the guard of given variances refuses: normal draws of log-normal variances, the root told as a share."""
    variances = rng.lognormal(size=n)
    return p_of_variances(rng.standard_normal(n) * np.sqrt(variances), share**2 * variances) <= LEVEL


def rows() -> list[tuple[str, Callable[[Generator], bool], Callable[[Generator], bool]]]:
    """The guard on a law and a number of draws, where all is true and where it is not."""
    found: list[tuple[str, Callable[[Generator], bool], Callable[[Generator], bool]]] = []
    for name, (sample, _, sd) in LAWS.items():
        for n in SIZES:
            found += [
                (
                    f"spread, {name}, {n} draws",
                    lambda rng, sample=sample, n=n, sd=sd: is_narrow(sample(rng, n), sd),
                    lambda rng, sample=sample, n=n, sd=sd: is_narrow(sample(rng, n) / 20, sd),
                ),
                (
                    f"repeats, {name}, {n} draws",
                    lambda rng, sample=sample, n=n: is_distinct([sample(rng, n)]) is False,
                    lambda rng, sample=sample, n=n: is_distinct([np.repeat(sample(rng, n), 3)]) is False,
                ),
            ]
    found += [
        (f"given variance, {n} draws", lambda rng, n=n: given(rng, n, 1.0), lambda rng, n=n: given(rng, n, 0.8))
        for n in SIZES
    ]
    return found


def main() -> None:
    """Print the share of replicates that each guard withholds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=2000)
    replicates = parser.parse_args().replicates
    print(f"{replicates} replicates; withheld where all is true, and where it is not\n")
    print(f"{'guard':<44}{'true':>9}{'false':>9}")
    for name, true, false in rows():
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        shares = (sum(rule(rng) for _ in range(replicates)) / replicates for rule in (true, false))
        print(f"{name:<44}" + "".join(f"{share:>9.4f}" for share in shares))


if __name__ == "__main__":
    main()
