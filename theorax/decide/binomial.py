r"""Counts of an event in a fixed number of draws: the exact binomial tests, what they can see, the fewest draws.

"The probability is at least p" is refuted, and "at most p - margin" rejected, by the `Proportion` interval of Clopper and
Pearson. Events that hang on a comparison of floats have a third outcome, undecided: it speaks for neither null's
rejection.

**Source:** Clopper and Pearson 1934.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, bdtrc, bdtrik, betaincinv, ndtri

from theorax.decide.designs import ASSURED
from theorax.decide.interval import Proportion
from theorax.decide.status import DEFAULT_LEVELS, Levels
from theorax.errors import ObservationError

__all__ = ["fewest_draws", "outcomes_of", "power_of_support", "proportion_of", "shortfall_refuted"]

Vector = NDArray[np.float64]

# More draws than any budget of the library allows; the search for a design ends here.
_MOST_DRAWS = 2**26


def outcomes_of(outcomes: ArrayLike) -> tuple[int, int, int]:
    """Numbers of sure successes, of undecided outcomes (NaN), and of all outcomes.

    **Raises:** `ObservationError` where there is none, or one that is neither 0, 1 nor NaN.
    """
    data = np.asarray(outcomes, float).ravel()
    if not data.size:
        raise ObservationError("No outcome was given. Nothing is known of the event. Give at least one draw.")
    undecided = np.isnan(data)
    if stray := np.flatnonzero(~(undecided | (data == 0) | (data == 1))).tolist():
        raise ObservationError(
            f"Outcome number {stray[0]} is {data[stray[0]]:g}. An event happens or does not. "
            "Write 1 or 0 (True or False), or NaN where rounding leaves it open."
        )
    return int((data == 1).sum()), int(undecided.sum()), len(data)


def proportion_of(successes: int, draws: int, undecided: int = 0) -> Proportion:
    """Clopper and Pearson's interval, undecided outcomes counted against whatever is to be shown."""
    share = (successes + undecided / 2) / draws
    return Proportion(
        share, math.sqrt(share * (1 - share) / draws), float(draws - 1), 0.0, 0.0, successes, draws, 0.0, 1.0, undecided
    )


def power_of_support(draws: int, boundary: float, truth: float, level: float) -> float:
    """The probability that "at most ``boundary``" is rejected at this level, the event having the probability ``truth``."""
    (found,) = _powers(np.array([draws]), boundary, truth, level)
    return float(found)


def shortfall_refuted(draws: int, claimed: float, level: float, power: float) -> float:
    """Shortfall of a probability that is refuted with this power; infinite if none is."""
    most = _refuting(draws, claimed, level)
    if most < 0:
        return math.inf
    # P(Bin(n, p) <= most) = power
    return claimed - (1 - float(betaincinv(draws - most, most + 1, power)))


def fewest_draws(
    at_least: float, margin: float, levels: Levels = DEFAULT_LEVELS, power: float = ASSURED, truth: float | None = None
) -> int | None:
    """The fewest draws of a fixed sample that support with this power if the probability is ``truth`` (as claimed).

    The normal approximation says where to look; from half of it on numbers are tried with the exact binomial law, whose
    power is a saw: every one up to ten thousand, then one in each 5000th part. None where the truth lies on or below
    the boundary, or more than 2^26 draws are needed.
    """
    p, null = (at_least if truth is None else truth), at_least - margin
    if p <= null:
        return None
    if p == 1:  # n clean draws: (p0 - eta)^n <= alpha, whatever the power
        return max(1, math.ceil(math.log(levels.support) / math.log(null)))
    z = float(ndtri(1 - levels.support)) * math.sqrt(null * (1 - null)) + float(ndtri(power)) * math.sqrt(p * (1 - p))
    start = max(1, int((z / (p - null)) ** 2 / 2))
    while start < _MOST_DRAWS:
        draws = start + np.arange(2000) * max(1, start // 5000)
        reached = _powers(draws, null, p, levels.support) >= power
        if reached.any():
            return int(draws[int(np.argmax(reached))])
        start = int(draws[-1]) + 1
    return None


def _supporting(draws: NDArray[np.int64], null: float, level: float) -> NDArray[np.int64]:
    """The fewest successes that reject a probability of at most ``null``; one more than all where none do."""
    guess = np.nan_to_num(np.floor(bdtrik(1 - level, draws, null)), nan=0.0).astype(np.int64)
    least = np.maximum(guess, 1)
    for _ in range(4):  # the inverse is one off at most, on either side
        least = np.where((least <= draws) & (_tail(least, draws, null) > level), least + 1, least)
    for _ in range(4):
        least = np.where((least > 1) & (_tail(least - 1, draws, null) <= level), least - 1, least)
    return least


def _refuting(draws: int, claimed: float, level: float) -> int:
    """The most successes that reject a probability of at least ``claimed``; -1 where none do."""
    if claimed >= 1:
        return draws - 1
    low, high = -1, draws
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bdtr(middle, draws, claimed) <= level else (low, middle)
    return low


def _powers(draws: NDArray[np.int64], null: float, truth: float, level: float) -> Vector:
    least = _supporting(draws, null, level)
    return np.where(least > draws, 0.0, _tail(least, draws, truth))


def _tail(least: NDArray[np.int64], draws: NDArray[np.int64], share: float) -> Vector:
    """P(Bin(draws, share) >= least)."""
    return bdtrc(np.minimum(least, draws) - 1.0, draws, share) * (least <= draws)
