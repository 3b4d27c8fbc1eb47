r"""Least values on a box: certified away from a strict minimum by branch and bound, near it by the sign of the curvature.

Where the Hessian is positive definite on a box $X_0$ around the critical point $x^*$, $f$ is convex there and
$f(x) \ge f(x^*) \ge f(a) - \sum_i |\partial_i f(a)|\,|a_i - x^*_i|$ for the claimed point $a$; elsewhere the search over
boxes must show $f(x) \ge f(a)$ less the slack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import flint
import numpy as np
from flint import arb, fmpq

from theorax.decide.status import Reason, Status
from theorax.exact.branch_and_bound import Certificate, certify_on_box, confirm
from theorax.exact.counterexamples import ascents
from theorax.exact.enclosures import Box, Enclosure, fraction, rational
from theorax.exact.krawczyk import PRECISION, Critical, critical_point
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive

__all__ = ["Restarts", "least_on_box", "local", "restarts", "what_of"]


def what_of(found: Certificate) -> str:
    """Name the quantity in a certificate of `least_on_box`: the value if refuted, else the excess over the claim."""
    return "the value" if found.status is Status.REFUTED else "the value less that of the claimed point"


def local(gradient: Enclosure | None, at: Sequence[Fraction]) -> Critical | None:
    """The critical point near ``at``; None where none is found or the gradient has no enclosure."""
    if gradient is None:
        return None
    try:
        return critical_point(gradient, at)
    except UnsupportedPrimitive:
        return None


def least_on_box(
    function: Enclosure,
    gradient: Enclosure | None,
    at: Sequence[Fraction],
    box: Box,
    slack: Fraction,
    budget: int = 20_000,
) -> tuple[Certificate, Critical | None]:
    """Decide that the value at ``at`` is the least one on the box, up to the slack."""
    point = [rational(x) for x in at]
    try:
        value = function.at(point, PRECISION)
    except UndecidedComparison as error:
        trouble = str(error)
        return Certificate(
            Status.INCONCLUSIVE, 0, PRECISION, slack, reason=Reason.UNDECIDED_COMPARISON, trouble=trouble
        ), None
    if not value.is_finite():
        trouble = "the function has no finite value at the claimed point"
        return Certificate(
            Status.INCONCLUSIVE, 0, PRECISION, slack, reason=Reason.UNDECIDED_COMPARISON, trouble=trouble
        ), None
    found = local(gradient, at)
    low, high = _ends(value)
    valley = _valley(found, gradient, at, slack) if found is not None else None
    # Shown of every box: f >= high - slack, which is at least f(at) - slack.
    answer = certify_on_box(function, box, slack - high, budget, valleys=() if valley is None else (valley,))
    if answer.status is Status.REFUTED and not _below(answer, low - slack):
        answer = replace(answer, status=Status.INCONCLUSIVE, reason=Reason.NUMERIC_FLOOR, point=None, value=None)
    lowest = None if answer.lowest is None else answer.lowest - float(high)
    return replace(answer, slack=slack, lowest=lowest), found


def _below(answer: Certificate, level: Fraction) -> bool:
    assert answer.value is not None
    with flint.ctx.workprec(answer.precision):
        return bool(answer.value < arb(rational(level)))


def _ends(value: arb) -> tuple[Fraction, Fraction]:
    with flint.ctx.workprec(PRECISION):
        low, high = (end.fmpq() for end in (value.lower(), value.upper()))
        return fraction(low), fraction(high)


def _valley(found: Critical, gradient: Enclosure | None, at: Sequence[Fraction], slack: Fraction) -> Box | None:
    """The box around a strict minimum on which convexity alone shows the claim; None where it does not."""
    if found.shape != "minimum" or not found.near.holds(at):
        return None
    assert gradient is not None
    slopes = gradient.all_at([rational(x) for x in at], PRECISION)
    # The zero lies within the radius of the centre in every direction; so does the claimed point.
    reach = arb(rational(2 * found.near.radius))
    with flint.ctx.workprec(PRECISION):
        excess = sum((s.abs_upper() * reach for s in slopes), arb(0))
        if not excess <= arb(rational(slack)):
            return None
    return Box.of([(c - found.near.radius, c + found.near.radius) for c in found.near.centre])


@final
@dataclass(frozen=True)
class Restarts:
    """Results of descents from independent uniform starts: number with a better value, and one of them in balls."""

    count: int
    better: int
    refuted: Certificate | None
    lowest: float


def restarts(
    function: Enclosure,
    program: Callable[[object], object],
    at: Sequence[Fraction],
    box: Box,
    slack: Fraction,
    count: int,
    rng: np.random.Generator,
) -> Restarts:
    """Descend ``count`` times, a number fixed beforehand, from uniform points of the box.

    A start whose descent ends lower than the claimed value less the slack, in floats, lies in a basin of better value.
    """
    low, high = box.ends
    starts = rng.random((count, len(low)))
    unit = ascents(lambda x: -program(x), low, high, starts, rng)  # type: ignore[operator]
    ends = [box.exact(low + (high - low) * row) for row in unit]
    value = function.at([rational(x) for x in at], PRECISION)
    level = _ends(value)[0] - slack
    reached = np.asarray([_value(function, end) for end in ends])
    order = np.argsort(reached, kind="stable")
    better = int((~(reached >= float(level))).sum())
    refuted = confirm(function, [ends[place] for place in order[: min(8, better)]], -level)
    return Restarts(count, better, refuted, float(reached[order[0]]))


def _value(function: Enclosure, point: Sequence[fmpq]) -> float:
    try:
        return float(function.at(point, 64).mid())
    except UndecidedComparison:
        return float("-inf")  # not known to be no better
