r"""Draw more until it is green: how often a claim that is off by its margin is ever supported over 30 attempts.

    python -m benchmarks.attempts

A mean is claimed to be 1 within 1/10 and is 11/10. Attempt k has 1.5 times the draws of the one before, from 30 on: fresh
seeds, or the draws before and more. The test is Student's against the margin. Numbers of draws enter by their sums and
sums of squares, which are those of a normal sample (a normal mean beside a chi-square), so that the last attempts with
millions of draws cost as little as the first.

The levels: $6\alpha/(\pi^2 k^2)$ of one count, as the engine has them; those of a count that each design begins anew
(before); and the whole level at each attempt. One count promises at most $\alpha$, whatever decides to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from scipy import stats

from theorax.decide.spending import level_of

LEVEL = 0.025
LOOKS = 30
FIRST, GROWTH = 30, 1.5
CLAIMED, MARGIN, SPREAD = 1.0, 0.1, 0.2
REPLICATES = 20_000
RESULT = Path(__file__).parent / "results" / "attempts.txt"

LEVELS: Mapping[str, Callable[[int], float]] = {
    "one count over all designs": lambda k: level_of(LEVEL, k),
    "a count for each design": lambda k: level_of(LEVEL, 1),
    "the whole level each time": lambda k: LEVEL,
}
PROMISED = "one count over all designs"


def p_values(truth: float, *, nested: bool, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """The p-value of support of every attempt of every replicate: that the mean is off by the margin or more."""
    total, squares, before = np.zeros(replicates), np.zeros(replicates), 0
    found = np.empty((replicates, LOOKS))
    for look in range(LOOKS):
        draws = int(FIRST * GROWTH**look)
        if not nested:
            total, squares, before = np.zeros(replicates), np.zeros(replicates), 0
        more = draws - before
        mean = truth + SPREAD * rng.standard_normal(replicates) / np.sqrt(more)
        total = total + more * mean
        squares = squares + more * mean**2 + SPREAD**2 * rng.chisquare(more - 1, replicates)
        before = draws
        estimate = total / draws
        error = np.sqrt((squares - draws * estimate**2) / (draws - 1) / draws)
        found[:, look] = stats.t.sf((MARGIN - np.abs(estimate - CLAIMED)) / error, draws - 1)
    return found


def ever(p: np.ndarray, level: Callable[[int], float]) -> float:
    """The share of replicates in which some attempt supports the claim."""
    return float((p <= [level(k) for k in range(1, LOOKS + 1)]).any(axis=1).mean())


def table(replicates: int = REPLICATES) -> list[str]:
    """The lines of the table."""
    band = stats.binom.ppf(0.999, replicates, LEVEL) / replicates
    lines = [
        f"Ever supported within {LOOKS} attempts, {replicates} replicates; promised at most {LEVEL} (band {band:.4f}).",
        f"{'truth and draws':<34}" + "".join(f"{name:>30}" for name in LEVELS),
    ]
    for off, what in ((1.0, "off by the margin"), (0.0, "true"), (1.5, "off by 1.5 margins")):
        for nested in (False, True):
            rng = np.random.default_rng([int(10 * off), nested])
            p = p_values(CLAIMED + off * MARGIN, nested=nested, replicates=replicates, rng=rng)
            name = f"{what}, {'more of the same' if nested else 'fresh seeds'}"
            lines.append(f"{name:<34}" + "".join(f"{ever(p, level):>30.4f}" for level in LEVELS.values()))
    return lines


if __name__ == "__main__":
    text = "\n".join(table()) + "\n"
    RESULT.write_text(text, encoding="utf-8")
    print(text, end="")
