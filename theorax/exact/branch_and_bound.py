r"""Branch and bound: a proof that a function is nowhere negative on a box, or a point where it is.

On a box $X$ with midpoint $c$ the values lie in $f(X)$ and, if $f$ jumps nowhere in $X$, in the mean-value form
$f(c) + \sum_i s_i(X)\,(X_i - c_i)$, all in balls. The box with the lowest bound is split first: a search that goes deep
stalls on the surface $f = 0$ and misses plain counterexamples.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import flint
from flint import arb, fmpq

from theorax.decide.status import Reason, Status
from theorax.exact.convex import tangent
from theorax.exact.enclosures import Box, Enclosure, fraction, rational
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive

__all__ = ["PRECISIONS", "Certificate", "certify_on_box", "confirm", "is_violated"]

PRECISIONS = (64, 128, 256, 512)
NARROWEST = fmpq(1, 2**40)
"""A box narrower than this share of the domain in every direction is set aside: the function touches zero there."""

LISTED = 256
"""Undecided boxes that a certificate names."""

FIRST, TURN = 32, 4
"""After so many boxes, one box in so many is tried for convexity: what is easy does not pay for second derivatives."""


@final
@dataclass(frozen=True)
class Certificate:
    """Result of a search over boxes.

    ``status``: CERTIFIED (nowhere below minus the slack), REFUTED (below it at ``point``, where the ball ``value`` of
    the function lies) or INCONCLUSIVE with its ``reason`` and, where the function is bounded at all, the largest
    certified lower bound ``lowest``. ``aside``: boxes too narrow to split any further.
    """

    status: Status
    boxes: int
    precision: int
    slack: Fraction = Fraction(0)
    point: tuple[Fraction, ...] | None = None
    value: arb | None = None
    lowest: float | None = None
    aside: int = 0
    left: tuple[Box, ...] = ()  # undecided boxes, those of the lowest bounds first
    reason: Reason | None = None
    trouble: str = ""
    beside: str = ""  # where the search over boxes was not needed
    proof: str = ""
    """The proof in words, where exact algebra decides and no box is looked at."""


def is_violated(function: Enclosure, point: Sequence[fmpq], slack: fmpq) -> tuple[bool | None, arb | None, int]:
    """Test if the function is below minus the slack at an exact point; None if no precision decides.

    Also the last ball and its precision.
    """
    value = None
    for precision in PRECISIONS:
        try:
            value = function.at(point, precision)
        except UndecidedComparison:
            continue
        with flint.ctx.workprec(precision):
            if value + arb(slack) < 0:
                return True, value, precision
            if value + arb(slack) >= 0:
                return False, value, precision
    return None, value, PRECISIONS[-1]


def confirm(function: Enclosure, points: Iterable[Sequence[fmpq]], slack: Fraction = Fraction(0)) -> Certificate | None:
    """The first of these points where a ball of the function lies below minus the slack; floats never refute."""
    for count, point in enumerate(points, start=1):
        below, value, precision = is_violated(function, point, rational(slack))
        if below:
            return Certificate(Status.REFUTED, count, precision, slack, tuple(map(fraction, point)), value)
    return None


@dataclass(frozen=True)
class _Bound:
    """A lower bound of the function on a box, the direction to split, the box that is left to look at."""

    lower: float
    proved: bool
    direction: int
    box: Box
    precision: int


def certify_on_box(
    function: Enclosure,
    domain: Box,
    slack: Fraction = Fraction(0),
    budget: int = 20_000,
    narrowest: fmpq = NARROWEST,
    valleys: tuple[Box, ...] = (),
) -> Certificate:
    """Decide if ``function`` is at least ``-slack`` everywhere on the box.

    ``valleys``: boxes on which this is known by other means.

    | what happened | status |
    |---|---|
    | a ball at some midpoint lies below minus the slack | REFUTED by that exact point |
    | every box of a subdivision has a lower bound of at least minus the slack | CERTIFIED |
    | all others, but boxes became too narrow to split | INCONCLUSIVE: undecided comparison |
    | more boxes than the budget, or an operation without an enclosure | INCONCLUSIVE: budget |

    **Errors:** none; every ball is rounded outward, and so is every box.
    """
    search = _Search(function, domain, slack, narrowest, valleys)
    try:
        found = search.run(budget)
    except UnsupportedPrimitive as error:
        return Certificate(
            Status.INCONCLUSIVE, search.count, search.precision, slack, reason=Reason.BUDGET, trouble=str(error)
        )
    return replace(found, slack=slack)


@final
class _Search:
    def __init__(self, function: Enclosure, domain: Box, slack: Fraction, narrowest: fmpq, valleys: tuple[Box, ...]):
        self.valleys = valleys
        self.function, self.domain, self.slack = function, domain, rational(slack)
        self.narrowest = [(upper - lower) * narrowest for lower, upper in domain.sides]
        self.count = 0
        self.precision = PRECISIONS[0]
        self.trouble = ""

    def run(self, budget: int) -> Certificate:
        order = itertools.count()
        heap: list[tuple[float, int, _Bound]] = []
        aside: list[_Bound] = []
        fresh = [self.domain]
        while fresh or heap:
            for box in fresh:
                if any(map(box.inside, self.valleys)):
                    continue
                below, value, precision = self.violation(box.middle)
                if below:
                    point = tuple(map(fraction, box.middle))
                    return Certificate(Status.REFUTED, self.count, precision, point=point, value=value)
                bound = self.bound(box)
                if not bound.proved:
                    # Without a value at its midpoint a box can never be proved: it is looked at last, that is never.
                    undefined = value is not None and not value.is_finite()
                    heapq.heappush(heap, (math.inf if undefined else bound.lower, next(order), bound))
                    if undefined:
                        self.trouble = f"the function has no finite value at {_shown(box.middle)}"
            fresh = []
            if not heap:
                break
            if self.count >= budget:
                return self.undecided(Reason.BUDGET, heap, aside)
            if heap[0][0] == math.inf:
                return self.undecided(Reason.UNDECIDED_COMPARISON, heap, aside)
            _, _, worst = heapq.heappop(heap)
            low, high = worst.box.sides[worst.direction]
            if high - low <= self.narrowest[worst.direction]:
                aside.append(worst)
                continue
            middle = (low + high) / 2
            fresh = [
                worst.box.with_side(worst.direction, low, middle),
                worst.box.with_side(worst.direction, middle, high),
            ]
        if aside:
            return self.undecided(Reason.UNDECIDED_COMPARISON, heap, aside)
        return Certificate(Status.CERTIFIED, self.count, self.precision)

    def undecided(self, reason: Reason, heap: list[tuple[float, int, _Bound]], aside: list[_Bound]) -> Certificate:
        left = sorted([*aside, *(bound for _, _, bound in heap)], key=lambda bound: bound.lower)
        lowest = left[0].lower
        return Certificate(
            Status.INCONCLUSIVE,
            self.count,
            self.precision,
            lowest=lowest if lowest > float("-inf") else None,
            aside=len(aside),
            left=tuple(bound.box for bound in left[:LISTED]),
            reason=reason,
            trouble=self.trouble,
        )

    def violation(self, point: Sequence[fmpq]) -> tuple[bool, arb | None, int]:
        try:
            value = self.function.at(point, PRECISIONS[0])
        except UndecidedComparison as error:
            # A thin ball on a branch: the boxes around it decide, or stay open.
            self.trouble = str(error)
            return False, None, PRECISIONS[0]
        with flint.ctx.workprec(PRECISIONS[0]):
            if value + arb(self.slack) >= 0:
                return False, value, PRECISIONS[0]
        below, last, precision = is_violated(self.function, point, self.slack)
        return bool(below), last, precision

    def bound(self, box: Box) -> _Bound:
        """The best lower bound, at the lowest precision at which the box limits it more than rounding."""
        self.count += 1
        result = None
        for precision in PRECISIONS:
            self.precision = max(self.precision, precision)
            result, rounded = self.bound_at(box, precision)
            if result.proved or not rounded:
                break
        assert result is not None
        return result

    def bound_at(self, box: Box, precision: int) -> tuple[_Bound, bool]:
        """The bound at one precision, and whether rounding is larger than what the box's width leaves open."""
        try:
            whole = self.function.over(box.sides, precision)
        except UndecidedComparison as error:
            # Guard (ii): something may jump inside the box. Its values have a hull, its slopes show nothing of the jump.
            self.trouble = str(error)
            return self.from_values(box, precision), False
        with flint.ctx.workprec(precision):
            slack = arb(self.slack)
            if not whole.value.is_finite():
                # Undefined somewhere, or nearly: no point is known to have a value, whatever the slopes are.
                return _Bound(float("-inf"), False, self.widest(box), box, precision), False
            lower = (whole.value + slack).lower()
            slopes = whole.slopes or tuple(arb(0) for _ in box.sides)
            if lower >= 0 or not all(s.is_finite() for s in slopes):
                return _Bound(_float(lower, self.slack), lower >= 0, self.widest(box), box, precision), False
            box = _monotone(box, slopes)
            half = [arb((high - low) / 2).upper() for low, high in box.sides]
            reach = [s.abs_upper() * h for s, h in zip(slopes, half, strict=True)]
            spread = sum(reach[1:], reach[0])
            try:
                centre = self.function.at(box.middle, precision)
            except UndecidedComparison as error:
                self.trouble = str(error)
                return _Bound(_float(lower, self.slack), False, self.widest(box), box, precision), False
            mean = (centre + slack - spread).lower() if centre.is_finite() else lower
            best = mean if mean > lower else lower
            wide = [place for place, (low, high) in enumerate(box.sides) if low < high and reach[place] > 0]
            direction = max(wide, key=lambda place: float(reach[place])) if wide else self.widest(box)
            rounded = bool(centre.is_finite() and centre.rad() > spread)
            if best < 0 and self.count > FIRST and self.count % TURN == 0:
                plane = tangent(self.function, box, precision)
                best = best if plane is None else best.max((plane + slack).lower())
            return _Bound(_float(best, self.slack), best >= 0, direction, box, precision), rounded

    def from_values(self, box: Box, precision: int) -> _Bound:
        """The bound that the values alone give."""
        try:
            value = self.function.values(box.sides, precision)
        except UndecidedComparison:
            return _Bound(float("-inf"), False, self.widest(box), box, precision)
        with flint.ctx.workprec(precision):
            lower = (value + arb(self.slack)).lower() if value.is_finite() else arb.neg_inf()
            return _Bound(_float(lower, self.slack), lower >= 0, self.widest(box), box, precision)

    def widest(self, box: Box) -> int:
        """The direction in which the box is widest, in units of the domain."""
        shares = [
            (high - low) / (top - bottom) if top > bottom else fmpq(0)
            for (low, high), (bottom, top) in zip(box.sides, self.domain.sides, strict=True)
        ]
        return max(range(len(shares)), key=lambda place: shares[place])


def _monotone(box: Box, slopes: Sequence[arb]) -> Box:
    """The face of the box on which a function with these slopes is least: where a slope has one sign, one end."""
    for place, slope in enumerate(slopes):
        low, high = box.sides[place]
        if low < high and slope >= 0:
            box = box.with_side(place, low, low)
        elif low < high and slope <= 0:
            box = box.with_side(place, high, high)
    return box


def _shown(point: Sequence[fmpq]) -> str:
    return "(" + ", ".join(str(x) for x in point) + ")"


def _float(number: arb, slack: fmpq) -> float:
    """A float below the number less the slack: a lower bound of the function itself, for the order and the report."""
    if not number.is_finite():
        return float("-inf")
    return math.nextafter(float((number - arb(slack)).lower()), -math.inf)
