r"""Has an estimate moved between two runs? Two nulls, *equal* and *apart by the zone or more*, each rejected or not.

The zone is a share of the claim's own margin. With $d$ the difference of the two estimates, $s$ its standard error and
$b$ what finite sizes and rounding may explain, *equal* has $p = 2 P(T > (|d| - b)/s)$ and *apart by the zone $z$* has
$p = P(T > (z - |d| - b)/s)$ (two one-sided tests). A claim has many cases: it is the same if every case is (the largest
p), it has moved if any case has (the smallest p, times the number of cases). Both families are held by Holm over all
claims that were tested.

| equal rejected | apart by the zone rejected | outcome |
|---|---|---|
| no | yes | same |
| yes | no | moved |
| yes | yes | moved, by less than the zone |
| no | no | cannot tell |

Which $s$, degrees of freedom and $b$:

- Different seeds are independent: $s^2 = s_1^2 + s_2^2$ with Welch's degrees of freedom. Runs of one seed share draws in
  a way that nobody knows once the code has changed: $s = s_1 + s_2$, the largest standard deviation that a difference
  can have, with the smaller degrees of freedom. The distance of a law is a norm, and two norms differ by at most the sum
  of the norms of their noises: $s_1 + s_2$ there too.
- $s_i$ is the standard error, or the half-width of the interval over Student's quantile where that is more: intervals
  from declared ranges and variances, of quantiles and of laws are wider than Student's for a reason. $m - 1$ degrees of
  freedom, m the fewest draws at one size: Welch's are never fewer.
- The bias of finite sizes is one and the same number in two runs of one design, and cancels; for two designs $b$ is the
  sum of the two bounds. Where nothing is random, $b$ holds what the intervals declare beyond their bias: rounding.
- Without an interval, and with nothing random, the estimate is a rigorous bound of an inequality's excess, and nobody
  knows by how much the value stays below it: another rounding moves it. Such a claim has moved once its bounds lie apart
  by the zone, and is the same before that.
- Shares of draws (events, violations) are compared by Clopper and Pearson's intervals, one half of the level each,
  which is valid at any share, any number of draws and any dependence.

**Errors:** of all claims that have not moved, any is called moved with probability at most 0.01, of all that lie apart by
the zone or more, any is called the same with probability at most 0.05, where estimates are normal or better.

**Source:** Welch 1947; Schuirmann 1987; Holm 1979.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scipy.special import ndtri, stdtr, stdtrit

from theorax.decide.error_budget import holm
from theorax.decide.interval import Proportion
from theorax.decide.kinds import DecidedQuantity
from theorax.errors import UsageError

__all__ = [
    "MOVED", "SAME", "SHARE", "CaseReading", "Decided", "Evidence", "Outcome", "Pair", "compare_reports", "joined_cases",
    "pair",
]  # fmt: skip

MOVED, SAME = 0.01, 0.05
"""Levels over all compared claims: of any called moved that is not, and of any called unchanged that moved."""

SHARE = 0.5
"""The zone as a share of the margin: a quantity that was exactly as claimed keeps half of its margin after such a move."""

_NO_INFORMATION = 2.0**-50  # a standard error below this share of the value is its rounding


class Outcome(StrEnum):
    """The four words."""

    SAME = "same"
    MOVED = "moved"
    CANNOT_TELL = "cannot tell"
    INCOMPARABLE = "incomparable"


@dataclass(frozen=True)
class CaseReading:
    """One case in one run: its estimate, and its uncertainty as a report tells it."""

    estimate: float
    standard_error: float
    interval: tuple[float | None, float | None] | None
    bias: float
    margin: float
    draws: int  # the fewest at one size
    level: float  # of the interval, one-sided
    quantity: DecidedQuantity
    total: int = 0  # of draws at all sizes, where the estimate is a share of them

    @property
    def is_share(self) -> bool:
        """True if the estimate is a share of draws, not a rigorous bound, which has no interval."""
        of_draws = self.quantity.is_share and self.interval is not None
        return of_draws and self.total > 0 and 0 <= self.estimate <= 1

    @property
    def df(self) -> float:
        """Degrees of freedom, never more than the estimator's own."""
        return max(1.0, self.draws - 1.0)

    @property
    def reach(self) -> float:
        """The half-width of the interval without the bias; infinite where a side is open."""
        if self.interval is None:
            return 0.0
        low, high = self.interval
        if low is None or high is None:
            return math.inf
        return max(0.0, max(self.estimate - low, high - self.estimate) - self.bias)

    @property
    def random(self) -> bool:
        """True if the estimate has a positive standard error."""
        return self.standard_error > abs(self.estimate) * _NO_INFORMATION

    @property
    def spread(self) -> float:
        """The standard error, or what the interval says of it where that is more."""
        quantile = float(stdtrit(self.df, 1 - self.level)) if self.draws > 1 else float(ndtri(1 - self.level))
        return max(self.standard_error, self.reach / quantile)


@dataclass(frozen=True)
class Pair:
    """One case in two runs; ``exact`` where nothing is random, and p is 0 or 1, ``bound`` where only bounds are known."""

    difference: float
    standard_error: float
    slack: float
    zone: float
    p_moved: float
    p_same: float
    exact: bool = False
    bound: bool = False


def pair(
    old: CaseReading, new: CaseReading, *, same_design: bool = True, shared_seeds: bool = False, share: float = SHARE
) -> Pair:
    """Compare two readings of one case.

    **Raises:** UsageError for a share that is no zone.
    """
    if not 0 < share <= 1:
        raise UsageError(
            f"A zone of {share:g} margins was asked for. A zone of zero holds no estimate; beyond a margin it says "
            "nothing of the claim. Write a share between 0 and 1, such as 0.5."
        )
    difference, zone = new.estimate - old.estimate, share * old.margin
    apart = abs(difference)
    if old.is_share and new.is_share:
        return _of_shares(old, new, zone)
    slack = 0.0 if same_design else old.bias + new.bias
    if not (old.random or new.random):
        slack += old.reach + new.reach
        bound = old.interval is None or new.interval is None
        same = float(apart + slack >= zone)
        moved = 1 - same if bound else float(apart <= slack)
        return Pair(difference, 0.0, slack, zone, moved, same, exact=True, bound=bound)
    first, second = old.spread, new.spread
    if shared_seeds or old.quantity.is_distance:
        error, df = first + second, min(old.df, new.df)
    else:
        error = math.hypot(first, second)
        # Scaled, so that the squares of tiny standard errors do not vanish.
        a, b = (first / error) ** 2, (second / error) ** 2
        df = 1 / (a**2 / old.df + b**2 / new.df)
    if not math.isfinite(error):
        return Pair(difference, error, slack, zone, 1.0, 1.0)
    moved = min(1.0, 2 * _tail((apart - slack) / error, df)) if apart > slack else 1.0
    if shared_seeds and not old.quantity.is_distance:
        same = _by_chance_near(apart, zone - slack, error, df)
    else:
        same = _tail((zone - apart - slack) / error, df)
    return Pair(difference, error, slack, zone, moved, same)


def _by_chance_near(apart: float, zone: float, error: float, df: float) -> float:
    r"""The largest chance that a difference of mean ``zone`` and any standard deviation up to ``error`` is this small.

    $\Phi((c - z)/\sigma) - \Phi(-(c + z)/\sigma)$ is largest at $\sigma^2 = 2zc/\log\frac{z + c}{z - c}$, at most
    $z^2$: a difference of rounding's size is no chance of draws that have moved, however they depend.

    **Errors:** with Student's quantiles the largest chance is met at another sigma; the maximum is flat.
    """
    if apart >= zone:
        return 1.0
    if apart == 0:
        return 0.0
    widest = math.sqrt(2 * zone * apart / math.log1p(2 * apart / (zone - apart)))
    sigma = min(error, widest)
    return max(0.0, _tail((zone - apart) / sigma, df) - _tail((zone + apart) / sigma, df))


def _tail(x: float, df: float) -> float:
    return float(stdtr(df, -x))


def _of_shares(old: CaseReading, new: CaseReading, zone: float) -> Pair:
    before, after = _proportion(old), _proportion(new)

    def disjoint(level: float) -> bool:
        first = before.lower(level / 4) > after.upper(level / 4)
        return first or after.lower(level / 4) > before.upper(level / 4)

    def near(level: float) -> bool:
        over = after.upper(level / 2) - before.lower(level / 2)
        return over < zone and before.upper(level / 2) - after.lower(level / 2) < zone

    error = math.hypot(old.standard_error, new.standard_error)
    return Pair(new.estimate - old.estimate, error, 0.0, zone, _smallest(disjoint), _smallest(near))


def _proportion(reading: CaseReading) -> Proportion:
    """Draws that could not be told count against whatever is to be shown: a report counts them by half."""
    count = reading.estimate * reading.total
    whole = round(count)
    low, high = (whole, whole) if abs(count - whole) < 0.25 else (math.floor(count), math.ceil(count))
    return Proportion(
        reading.estimate, reading.standard_error, reading.df, 0.0, 0.0, low, reading.total, 0.0, 1.0, high - low
    )


def _smallest(rejects: Callable[[float], bool]) -> float:
    """The smallest level at which a monotone test rejects, to a part in a thousand; one where it never does."""
    if not rejects(0.999):
        return 1.0
    low, high = -60.0, 0.0  # of the logarithm to base 10
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (low, middle) if rejects(10.0**middle) else (middle, high)
    return float(min(1.0, 10.0**high))


@dataclass(frozen=True)
class Evidence:
    """Evidence of all cases of one claim together; ``worst`` is the case that speaks most for a move."""

    p_moved: float
    p_same: float
    tested: bool  # something random was compared, so the claim has a place in the families
    worst: int
    pair: Pair


def joined_cases(pairs: Sequence[Pair]) -> Evidence:
    """One claim from its cases: moved if any is (Bonferroni), the same if all are (intersection-union).

    **Raises:** UsageError if there is no case.
    """
    if not pairs:
        raise UsageError("No case was compared. Compare runs that have a case in common.")
    worst = min(range(len(pairs)), key=lambda i: (pairs[i].p_moved, -pairs[i].p_same, -_relative(pairs[i])))
    tested = sum(not part.exact for part in pairs)
    smallest = min((part.p_moved for part in pairs if not part.exact), default=1.0)
    certain = any(part.exact and part.p_moved == 0 for part in pairs)
    moved = 0.0 if certain else min(1.0, max(1, tested) * smallest)
    return Evidence(moved, max(part.p_same for part in pairs), tested > 0, worst, pairs[worst])


def _relative(part: Pair) -> float:
    return abs(part.difference) / part.zone if part.zone > 0 else math.inf


@dataclass(frozen=True)
class Decided:
    """The outcome of one claim among all that were compared."""

    outcome: Outcome
    within: bool  # apart by the zone is rejected, whether or not it has moved
    adjusted_moved: float
    adjusted_same: float


def compare_reports(
    evidence: Mapping[str, Evidence], *, moved: float = MOVED, same: float = SAME
) -> dict[str, Decided]:
    """The outcome of every claim; what is not random is decided by itself and takes no part in Holm's families."""
    tested = {name: part for name, part in evidence.items() if part.tested}
    moving = holm({name: part.p_moved for name, part in tested.items()})
    staying = holm({name: part.p_same for name, part in tested.items()})
    found = {}
    for name, part in evidence.items():
        p_moved, p_same = moving.get(name, part.p_moved), staying.get(name, part.p_same)
        within = p_same <= same
        outcome = Outcome.SAME if within else Outcome.CANNOT_TELL
        found[name] = Decided(Outcome.MOVED if p_moved <= moved else outcome, within, p_moved, p_same)
    return found
