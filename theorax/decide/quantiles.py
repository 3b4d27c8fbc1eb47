"""Quantiles: exact intervals from the order of the draws alone, whatever the tails."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, bdtrc, ndtr, ndtri

from theorax.decide.interval import Interval
from theorax.decide.status import Side
from theorax.errors import ObservationError, StatementError

__all__ = ["OrderStatistic", "fewest_for_a_limit", "planned_sd", "power_of_quantile", "quantile_of_draws"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class OrderStatistic(Interval):
    r"""The quantile $\xi$ of order $q$: P(X <= xi) >= q and P(X < xi) <= q, from counts below and above.

    "The quantile is at most v" gives P(X <= v) >= q, so the number of draws up to v is at least binomial; the number
    below v is at most binomial if it is at least v. Limits are order statistics, infinite where too few draws lie
    beyond. Ties are safe on both sides.

    **Source:** Thompson 1936.
    """

    order: float
    values: Vector = field(repr=False, compare=False)  # sorted

    def p_above(self, value: float) -> float:
        upto = int(np.searchsorted(self.values, value, side="right"))
        return float(bdtr(upto, len(self.values), self.order))

    def p_below(self, value: float) -> float:
        below = int(np.searchsorted(self.values, value, side="left"))
        return 1.0 if below == 0 else float(bdtrc(below - 1, len(self.values), self.order))

    def lower(self, level: float) -> float:
        # P(Bin <= count) grows: the first counts are rejected, and v is iff at most that many draws lie up to it.
        rejected = int((bdtr(np.arange(len(self.values)), len(self.values), self.order) <= level).sum())
        return float(self.values[rejected - 1]) if rejected else -math.inf

    def upper(self, level: float) -> float:
        rejected = int((bdtrc(np.arange(0.0, len(self.values)), len(self.values), self.order) <= level).sum())
        return float(self.values[len(self.values) - rejected]) if rejected else math.inf


def quantile_of_draws(values: ArrayLike, order: float = 0.5) -> Interval:
    """The quantile of this order (the median) of independent draws; nothing is assumed of their law.

    **Raises:** `StatementError` for an order outside (0, 1); `ObservationError` for data that are empty or not finite.
    """
    if not 0 < order < 1:
        raise StatementError(
            f"A quantile of order {order:g} was asked for. It is the value that a share of the draws lies below. "
            "Write a number between 0 and 1; 0.5 is the median."
        )
    data = np.sort(np.asarray(values, float).ravel())
    if not data.size or not np.isfinite(data).all():
        raise ObservationError(
            f"An array of {data.size} values is empty or holds values that are not finite. It has no quantiles. "
            "Observe a finite quantity in every draw."
        )
    estimate = float(data[min(len(data) - 1, int(order * len(data)))])
    interval = OrderStatistic(estimate, 0.0, float(len(data) - 1), 0.0, 0.0, float(order), data)
    # Half the distance of the limits at one normal standard deviation; the whole range where they are infinite.
    one = float(ndtr(-1.0))
    spread = interval.upper(one) - interval.lower(one)
    return OrderStatistic(
        estimate,
        spread / 2 if math.isfinite(spread) else float(np.ptp(data)),
        interval.df,
        0.0,
        0.0,
        float(order),
        data,
    )


def fewest_for_a_limit(order: float, level: float) -> int:
    """The fewest draws with which both limits are finite: (1 - q)^n and q^n at most the level."""
    return math.ceil(math.log(level) / math.log(max(order, 1 - order)))


def planned_sd(order: float, sd: float) -> float:
    r"""The standard deviation that plans the quantile's error: $\sqrt{q (1-q)} / f(\xi)$ for a normal law of this sd."""
    density = math.exp(-(float(ndtri(order)) ** 2) / 2) / math.sqrt(2 * math.pi)
    return sd * math.sqrt(order * (1 - order)) / density


def power_of_quantile(draws: int, order: float, margin: float, level: float, side: Side = Side.EQUAL) -> float:
    r"""The probability that both limits lie within the margin of the quantile of a normal law; ``margin`` in units of its sd.

    The lower limit is above $\xi - m$ iff so few draws lie up to there that a quantile of at most $\xi - m$ is rejected.

    **Errors:** both limits failing at once is counted twice, which has no draws behind it but where the power is near zero.
    """
    counts = np.arange(draws + 1)
    at = float(ndtri(order))
    most = int((bdtr(counts, draws, order) <= level).sum()) - 1  # up to the lower end of the margin
    least = draws - int((bdtrc(counts - 1.0, draws, order) <= level).sum()) + 1  # below its upper end
    low = float(bdtr(most, draws, ndtr(at - margin))) if most >= 0 else 0.0
    high = float(bdtrc(least - 1.0, draws, ndtr(at + margin))) if least <= draws else 0.0
    return {Side.EQUAL: max(0.0, low + high - 1), Side.AT_LEAST: low, Side.AT_MOST: high}[side]
