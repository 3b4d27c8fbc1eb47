r"""A test that draws do not depend on the draws before them, in the order in which they were given.

Rows of one run that was evaluated many times, a chain that was sampled too often or a table pasted twice make the interval
of a mean too short, and no moment of the values shows it. Their order does: ranks of the draws are correlated at some lag.
Wald and Wolfowitz 1943 give mean and variance of the circular serial correlation of given numbers in random order,
whatever the numbers: for deviations $a_i$ from their mean and $A_k = \sum_i a_i^k$,

$$E\,S = -\frac{A_2}{n-1}, \qquad
\operatorname{Var} S = \frac{A_2^2 - A_4}{n-1} + \frac{A_2^2 - 2 A_4}{(n-1)(n-2)} - \frac{A_2^2}{(n-1)^2}.$$

The variance is that of lag one; a lag h that shares no pair with its reverse (2h is not n) has the same. Ranks make the
normal tail good from 30 draws on that differ from the most frequent one. Where ties make the ranks skewed, as rare events
do, random orders of the draws must confirm the finding. Only positive correlation is tested, since a negative one makes
intervals too wide.

**Errors:** independent draws of any law, ties included, are told to depend on each other with probability at most LEVEL
over all sizes and lags together (measured in `tests/decide/test_draw_order.py`). Rows that were sorted by their value are
found as well, and rows of one run that were shuffled are not.

**Source:** Wald and Wolfowitz 1943.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from theorax.decide.findings import Finding, Found
from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked
from theorax.decide.status import Reason
from theorax.decide.verdict import Assumption, Standing

__all__ = ["FEWEST", "LEVEL", "look_at_order"]

Vector: TypeAlias = NDArray[np.float64]

LEVEL = 0.001
"""Probability that independent draws are told to depend on each other, over all sizes and lags of one claim."""

LAGS = 10
FEWEST = 30
"""Draws that differ from the most frequent value; with fewer the tail of the statistic is not that of a normal law."""

_MOST = 4096  # draws at a size that are looked at, the first of them: enough to see a correlation of .07
_SKEWED = 2.5  # the kurtosis of ranks from which the normal tail is not trusted; 1.8 without ties


def look_at_order(columns: Sequence[Vector], letter: str = "", sizes: Sequence[float] = ()) -> Looked:
    """Look for draws that depend on earlier ones, at every size with enough draws that differ."""
    asked = {at: column for at, column in enumerate(columns) if _varying(column[:_MOST]) >= FEWEST}
    if not asked:
        return NOTHING_LOOKED_AT
    found = {at: _scores(column) for at, column in asked.items()}
    needed = -float(ndtri(LEVEL / sum(map(len, found.values()))))
    at, lag, largest = max(
        ((at, lag, score) for at, scores in found.items() for lag, score in scores.items()), key=lambda one: one[2]
    )
    if largest <= needed or not _is_confirmed(asked[at], largest, len(asked)):
        line = (
            f"draws do not follow earlier ones in the order given (correlation at {LAGS} lags, level {100 * LEVEL:g} %)"
        )
        return Looked(ledger=(Assumption("order", line, Standing.TESTED),))
    where = f" at {letter} = {sizes[at]:g}" if len(sizes) > 1 else ""
    sentence = (
        f"Withheld: draws{where} depend on each other. In the order given, a draw resembles the one {lag} before it "
        f"({largest:.3g} standard deviations; independent draws reach {needed:.2g} once in {1 / LEVEL:.0f} tables). "
        "Rows of one run, a slowly mixing chain or a table that was pasted twice look so. Give one number for each "
        "independent run, such as the mean of its rows; rows that were sorted go back into the order of drawing."
    )
    return Looked((Found(Finding.WITHHELD, sentence, Reason.DEPENDENT),))


def _varying(column: Vector) -> int:
    """The number of draws that differ from the most frequent value."""
    return len(column) - int(np.unique(column, return_counts=True)[1].max()) if len(column) > FEWEST else 0


def _ranks(column: Vector) -> Vector:
    """Ranks of the values, equal ones with the mean of theirs."""
    _, places, counts = np.unique(column, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def _scores(column: Vector) -> dict[int, float]:
    """Serial correlations by their lag, in standard deviations of a random order."""
    lags = _lags(len(column))
    if len(column) <= _MOST:
        return serial_correlations(column, sorted(lags))
    found = serial_correlations(column[:_MOST], range(1, LAGS + 1))
    for lag in sorted(lags - found.keys()):
        here, there = _ranks(column[:_MOST]), _ranks(column[lag : lag + _MOST])
        found[lag] = math.sqrt(len(there) - 1) * float(np.corrcoef(here[: len(there)], there)[0, 1])
    return found


def _lags(length: int) -> set[int]:
    return {*range(1, LAGS + 1), *(length // parts for parts in (2, 3, 4))}


def serial_correlations(column: Vector, lags: Iterable[int]) -> dict[int, float]:
    """Circular serial correlations of the ranks at these lags, in standard deviations of a random order."""
    a, mean, deviation = _deviations(column)
    return _in_deviations(a, mean, deviation, lags)


def _in_deviations(a: Vector, mean: float, deviation: float, lags: Iterable[int]) -> dict[int, float]:
    # At half of an even number every pair is met twice: the sum is twice that over pairs, and its variance about double.
    doubled = {lag: math.sqrt(2.0) if 2 * lag == len(a) else 1.0 for lag in lags}
    return {lag: (_sum(a, lag) - mean) / (deviation * doubled[lag]) for lag in doubled}


def _deviations(column: Vector) -> tuple[Vector, float, float]:
    """Ranks less their mean; mean and standard deviation of a sum of products of neighbours in random order."""
    n, ranks = len(column), _ranks(column)
    a = ranks - ranks.mean()
    squares, fourths = float(a @ a), float((a**2) @ (a**2))
    mean = -squares / (n - 1)
    variance = (squares**2 - fourths) / (n - 1) + (squares**2 - 2 * fourths) / ((n - 1) * (n - 2)) - mean**2
    return a, mean, math.sqrt(variance)


def _sum(a: Vector, lag: int) -> float:
    return float(a[lag:] @ a[:-lag] + a[:lag] @ a[-lag:])


def _is_confirmed(column: Vector, largest: float, columns: int) -> bool:
    """True if the largest correlation is one of a column whose ranks have light tails, or random orders do not reach it.

    The least p that can come of these orders is the level shared by the columns.
    """
    column = column[:_MOST]
    a, mean, deviation = _deviations(column)
    if len(a) * float((a**2) @ (a**2)) <= _SKEWED * float(a @ a) ** 2:
        return True
    orders, generator, reached = math.ceil(columns / LEVEL) - 1, np.random.default_rng(0), 0
    for _ in range(orders):
        generator.shuffle(a)
        reached += max(_in_deviations(a, mean, deviation, _lags(len(a))).values()) >= largest
        if reached:
            return False
    return True
