"""Guards of draws: numbers that are all the same, that scatter far less than declared, or that repeat each other.

A mean of equal numbers has no spread, so its interval is a point and every test of it decides; a generator that hands
out few different draws makes an interval too short by the root of how often each came. Neither shows in the test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from theorax.decide.draw_order import look_at_order
from theorax.decide.findings import Finding, Found
from theorax.decide.guard_findings import Looked
from theorax.decide.samples import Columns
from theorax.decide.status import Reason
from theorax.decide.verdict import Assumption, Point, Standing

__all__ = [
    "NARROW",
    "Spreads",
    "are_equal",
    "is_distinct",
    "look_at_draws",
    "noise_of",
    "repeats",
    "rounding_of",
    "same_draws",
    "scatter",
]

Vector = NDArray[np.float64]

NARROW = 0.1
"""The share of a declared spread below which the observed one contradicts it. A spread is often stated for the largest
of several cases: a factor of ten leaves room for that."""

# Random floats of single precision are multiples of 2^-23, too, and are no counts.
_MOST_COUNTS = 2**20

# Draws that differ by this many units of rounding may differ by rounding alone.
_ROUNDING = 2**12

# Sums of a few thousand terms in another order differ by about so many units.
_SUMMED = 2**6

# Repeated draws differ by less than this part of themselves or of their spread, whatever rounding or small noise is on
# them; a million draws of a law with a density are mostly farther apart.
_REPEATED = 2.0**-23

FEWEST = 30
"""Fewer rows than this say nothing about how many different ones there are."""


def are_equal(values: NDArray[np.generic], made_of: Sequence[NDArray[np.generic]] = ()) -> bool:
    """True if every draw, along the first axis, is the same up to the rounding of a sum; one draw is not.

    ``made_of``: the columns that the values were computed from, where these may be larger, or of a coarser precision.
    """
    if len(values) < 2:
        return False
    if values.dtype.kind != "f":
        return bool((values == values[:1]).all())
    # Each entry is held against its own size, unless what it was made of is larger.
    own = _unit((values, *made_of)) * np.abs(values[0])
    return bool((np.ptp(values, axis=0) <= np.maximum(own, rounding_of((*made_of, values[:0])))).all())


def rounding_of(columns: Sequence[NDArray[np.generic]]) -> float:
    """The rounding that a sum of a few thousand of these numbers may have: of the largest, in the coarsest precision."""
    return _unit(columns) * max((float(np.abs(part).max(initial=0)) for part in columns), default=0.0)


def _unit(columns: Sequence[NDArray[np.generic]]) -> float:
    """The rounding of such a sum, as a part of its largest term: that of the coarsest precision among the columns."""
    units = [float(np.finfo(str(part.dtype)).eps) for part in columns if part.dtype.kind == "f"]
    return _SUMMED * max(units, default=0.0)


def is_distinct(columns: Sequence[NDArray[np.generic]]) -> bool | None:
    """True if the draws differ as draws of a law with a density do, clipped or not; None where that cannot be asked.

    Columns of whole numbers, of counts over one number, or of two values are left out. The most frequent row is dropped,
    as clipping makes one, and with it what differs from it by rounding, and the row at the other end of a single column.
    Of the others at least half must differ by more than rounding; fewer than 30 of them say nothing.
    """
    given = [np.asarray(column) for column in columns]
    steps = [_ROUNDING * float(np.finfo(str(part.dtype)).eps) if part.dtype.kind == "f" else 0.0 for part in given]
    asked = [(part.astype(float).reshape(len(part), -1), step) for part, step in zip(given, steps, strict=True)]
    if len(asked) == 1 and asked[0][0].shape[1] == 1:
        ordered = np.sort(asked[0][0][:, 0])
        return None if _is_counted(ordered) else _is_distinct_column(ordered, asked[0][1])
    asked = [(part, step) for part, step in asked if not _is_counted(np.sort(part, axis=None))]
    if not asked:
        return None
    rows = np.concatenate([part for part, _ in asked], axis=1)
    near = np.concatenate([np.full(part.shape[1], step) for part, step in asked])
    places = np.stack([_places(column) for column in rows.T], axis=1)
    _, first, counts = np.unique(places, axis=0, return_index=True, return_counts=True)
    found = rows[first]
    top = found[int(np.argmax(counts))]
    return _half_differ(counts, (np.abs(found - top) <= near * np.abs(top)).all(axis=1))


def _is_distinct_column(ordered: Vector, near: float) -> bool | None:
    """The same of a single sorted column, which is not sorted again."""
    starts = np.flatnonzero(np.concatenate([[True], _is_apart(ordered)]))
    found, counts = ordered[starts], np.diff(np.append(starts, len(ordered)))
    top = found[int(np.argmax(counts))]
    dropped = np.abs(found - top) <= near * abs(top)
    if dropped[0] or dropped[-1]:  # the ends of what was clipped
        dropped[[0, -1]] = True
    return _half_differ(counts, dropped)


def _half_differ(counts: NDArray[np.intp], dropped: NDArray[np.bool_]) -> bool | None:
    left = int(counts[~dropped].sum())
    return None if left < FEWEST else 2 * int((~dropped).sum()) >= left


def _is_apart(ordered: Vector) -> NDArray[np.bool_]:
    """True at each value of a sorted column that differs from the one before it by more than a repetition may."""
    return np.diff(ordered) > _REPEATED * np.minimum(np.abs(ordered[1:]), ordered.std())


def _places(column: Vector) -> NDArray[np.intp]:
    """The rank of each value, one rank for values that may be repetitions of one."""
    order = np.argsort(column, kind="stable")
    places = np.empty(len(column), np.intp)
    places[order] = np.concatenate([[0], np.cumsum(_is_apart(column[order]))])
    return places


def _is_counted(ordered: Vector) -> bool:
    """True for two values, whole numbers, or counts over one number, such as shares of successes; of sorted numbers."""
    found = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    if len(found) <= 2 or (found == np.round(found)).all():
        return True
    step = float(np.diff(found).min())
    if not step * _MOST_COUNTS > found[-1] - found[0]:
        return False
    # The smallest difference is rounded as much as the largest: the range gives the step, once their ratio is known.
    step = float(found[-1] - found[0]) / round(float(found[-1] - found[0]) / step)
    counts = (found - found[0]) / step
    # A count over a number is rounded once, so a difference of two errs by two roundings of the larger.
    allowed = 4 * 2.0**-52 * max(abs(found[0]), abs(found[-1])) / step
    return counts[-1] < _MOST_COUNTS and bool((np.abs(counts - np.round(counts)) <= allowed).all())


@final
@dataclass(frozen=True)
class Spreads:
    """Standard deviations of one draw at every size: observed, and planned with; ``stated``: not the default."""

    observed: tuple[float, ...]
    planned: tuple[float, ...]
    stated: bool

    @property
    def ratios(self) -> list[float]:
        """Observed over planned, at the sizes where a spread was planned."""
        return [seen / planned for seen, planned in zip(self.observed, self.planned, strict=True) if planned > 0]

    @property
    def is_narrow(self) -> bool:
        """True if the draws scatter by less than a tenth of what was stated, at every size."""
        return self.stated and bool(self.ratios) and max(self.ratios) < NARROW

    def look(self, where: str = "") -> Looked:
        """The finding of a spread that is too narrow, and the line of the ledger."""
        if not self.ratios:
            return Looked()
        low, high = min(self.ratios), max(self.ratios)
        ratio = f"{low:.2g}" if math.isclose(low, high, rel_tol=0.05) else f"{low:.2g} to {high:.2g}"
        how = "stated" if self.stated else "default"
        line = f"draws scatter {ratio} times as widely as the {how} spread{where}"
        ledger = (Assumption("spread", line, Standing.TESTED if self.stated else Standing.DECLARED),)
        if not self.is_narrow:
            return Looked(ledger=ledger)
        sentence = (
            f"Withheld{where}: the draws scatter at most {high:.2g} times as widely as was stated. Either they are not "
            "what the claim is about, or the stated spread is wrong: state it from a pilot on other seeds."
        )
        return Looked((Found(Finding.WITHHELD, sentence, Reason.SPREAD),), ledger)


def same_draws(what: str, rounded: bool = False) -> Found:
    """The finding that every draw of ``what`` is the same number; ``rounded`` where the data exclude only its rounding."""
    sentence = (
        f"Every draw of {what} is the same number: it holds no randomness, or a constant was returned in its place. "
        'No test of it could have failed. Claim an exact number with seeds="none", or as an identity.'
    )
    return Found(Finding.ONE_NUMBER if rounded else Finding.CANNOT_FAIL, sentence)


def repeats(where: str = "") -> Found:
    """The finding that draws repeat each other."""
    sentence = (
        f"Withheld{where}: without the most frequent draw, fewer than half of the draws differ from each other. The "
        "generator hands out few different ones, or one is used for several."
    )
    return Found(Finding.WITHHELD, sentence, Reason.INDISTINCT)


def scatter(points: Sequence[Point], *, relative: bool = False) -> tuple[float, ...]:
    """The standard deviation of one draw at every size, from what a table shows; of its logarithm if ``relative``."""
    found = []
    for point in points:
        deviation = (point.standard_error or 0.0) * math.sqrt(point.draws)
        found.append(deviation / abs(point.estimate) if relative and point.estimate else deviation)
    return tuple(found)


def noise_of(features: NDArray[np.float64]) -> float:
    """The root mean square of the noise of one draw's features."""
    return math.sqrt(float(features.var(axis=0).sum()))


def look_at_draws(observed: Columns, spreads: Spreads, of: str) -> Looked:
    """Look at numbers of one's own: equal ones, too narrow ones, repeated ones."""
    looked = spreads.look()
    found = list(looked.findings)
    if all(map(are_equal, observed.values)):
        found.append(same_draws(of))
    # Means of batches are as different as they may be, whatever the draws are.
    if not observed.batched and any(is_distinct([column]) is False for column in observed.values):
        found.append(repeats())
    ordered = look_at_order(observed.values)
    return Looked((*found, *ordered.findings), (*looked.ledger, *ordered.ledger))
