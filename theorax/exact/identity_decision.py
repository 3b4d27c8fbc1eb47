"""The one decision on an identity of programs: its rungs combined into findings, a reason and a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

from theorax.decide.findings import Finding, settle
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reason, Side, Status
from theorax.exact.decisions import decided
from theorax.exact.identity_ladder import (
    PRECISION,
    AtPoint,
    Balls,
    Fields,
    Floats,
    Generic,
    in_balls,
    in_fields,
    in_floats,
)
from theorax.exact.same_program import Form, same_program
from theorax.numerics.arithmetics import UndecidedComparison

__all__ = ["FINE", "IdentityFinding", "IdentityPoint", "IdentityProblem", "decide_identity"]

FINE = 4 * PRECISION
"""Bits of balls where the usual ones are too wide, and of the points given to either."""

FROZEN = (
    "That lies within one unit in the last place of a constant that the program holds as a float, such as 1/3 or "
    "sqrt(2) computed outside it: as written the identity is false, as meant it may hold. Hand the constant over "
    "exactly, at=(..., Fraction(1, 3)) or at=(..., sympy.sqrt(2)), or let the program divide: x / 3 for x * (1/3)."
)


@final
@dataclass(frozen=True)
class IdentityPoint:
    """Both sides at one exact point.

    ``floats``: floats hold the point, so that a margin can be measured there. ``doubted``: balls are run only where
    floats differ by more than their rounding.
    """

    sides: AtPoint
    where: str = "an exact point"
    floats: bool = True
    doubted: bool = False


@final
@dataclass(frozen=True)
class IdentityProblem:
    """Two sides that ought to be equal for all inputs.

    ``forms``: the forms of the left and of the right side, once for every program that the inputs leave as it is;
    ``generic``: for each of these a seed and both sides at generic inputs. ``every_input``: the inputs stand for all
    real numbers of their shapes; otherwise what differs at generic inputs may still hold on those that are drawn.
    """

    forms: Callable[[], Iterator[tuple[Sequence[Form], Sequence[Form]]]]
    generic: tuple[tuple[str, Generic], ...]
    points: tuple[IdentityPoint, ...]
    margin: float | None = None
    absolute: bool = False
    every_input: bool = False


@final
@dataclass(frozen=True)
class IdentityFinding:
    """Decision of an identity, with the result of each rung; ``looked``: number of points evaluated."""

    findings: tuple[Finding, ...]
    detail: str
    reason: Reason | None = None
    looked: int = 0
    floats: Floats = Floats()  # noqa: RUF009  (frozen)
    balls: Balls = Balls(0)  # noqa: RUF009
    fields: Fields = Fields(None)  # noqa: RUF009

    @property
    def status(self) -> Status:
        """The status of the identity by these findings alone."""
        return settle([*self.findings, Finding.UNDECIDED])

    def decision(self, margin: float, levels: Levels = DEFAULT_LEVELS) -> Decision:
        """The decision on one case, its difference over the scale; nothing is extrapolated, so the margin alone is room.

        A case whose sides are one program holds for certain; that it says nothing is a finding beside it.
        """
        trivial, status = Finding.TRIVIAL_BOUND in self.findings, self.status
        supported = trivial or Finding.TEST_SUPPORTED in self.findings
        refuted, worst = status is Status.REFUTED, self.floats.worst
        decision = decided(
            Status.REFUTED if refuted else Status.SUPPORTED if supported else Status.INCONCLUSIVE,
            self.reason,
            estimate=worst,
            lower=0.0,
            upper=worst,
            margin=margin,
            side=Side.EQUAL,
            levels=levels,
        )
        return replace(
            decision,
            bias=self.floats.account,
            breakdown_support=margin / worst if worst > 0 else math.inf,
            breakdown_refute=math.inf if refuted else 0.0,
        )


def decide_identity(problem: IdentityProblem) -> IdentityFinding:
    """Decide an identity by its form, in floats and balls at its points, in finite fields.

    | what was found | finding |
    |---|---|
    | both sides are one program, or zero by their form | the bound is trivial |
    | a ball of the difference at some point excludes zero | counterexample |
    | rational sides of all inputs differ in a random finite field | counterexample |
    | no point at which both sides are finite, and fields do not agree | no instance |
    | rational sides agree in random finite fields, to a probability of error of at most 2^-40 | certificate |
    | sides agree in random finite fields whatever the functions in them are | supported |
    | every point was looked at in balls, all hold zero and are narrower than 2^-150 | supported |
    | the difference in floats and its rounding account stay below the margin at every point | supported |
    | otherwise | undecided |
    """
    if said := _could_not_fail(problem):
        return IdentityFinding((Finding.TRIVIAL_BOUND,), said)
    found = _at_points(problem)
    if found.findings:
        return found
    fields, vanish = _in_fields(problem, enough=found.floats.within)
    found = replace(found, fields=fields)
    if vanish:
        return replace(found, findings=(Finding.TRIVIAL_BOUND,), detail=_ZERO)
    if problem.every_input and fields.refuted:
        detail = f"the identity is false: {fields.witness}, so the sides differ as rational functions"
        return replace(found, findings=(Finding.COUNTEREXAMPLE,), detail=detail)
    if found.looked and found.balls.elsewhere == found.looked and not fields.equal:
        detail = f"a side is no finite number at any of {found.looked} points: nothing is said where nothing is defined"
        return replace(found, findings=(Finding.NO_INSTANCE,), detail=detail, reason=Reason.NUMERIC_FLOOR)
    findings = [Finding.CERTIFICATE] if fields.certified else []
    if fields.equal or _all_narrow(problem, found) or found.floats.within:
        findings.append(Finding.TEST_SUPPORTED)
        return replace(found, findings=tuple(findings), detail=_agreement(problem, found))
    detail, reason = _open(problem, found)
    return replace(found, detail=detail, reason=reason)


_ZERO = "both sides are zero by their form, whatever the inputs: a wrong factor would not be noticed"


def _could_not_fail(problem: IdentityProblem) -> str:
    same, nothing = True, True
    for left, right in problem.forms():
        same = same and same_program(left, right)
        nothing = nothing and all(form.zero for form in (*left, *right))
        if not (same or nothing):
            return ""
    return "both sides are one and the same program: this check could not have failed" if same else _ZERO


def _at_points(problem: IdentityProblem) -> IdentityFinding:
    """Floats and balls at the points in turn, up to the first that refutes or that neither can follow."""
    floats, balls, looked = Floats(consistent=True, within=problem.margin is not None), Balls(0, narrow=True), 0
    for point in problem.points:
        seen = Floats(consistent=False)
        if point.floats and problem.margin is not None:
            seen = in_floats(point.sides, problem.margin, problem.absolute)
            floats = _both(floats, seen)
        if point.doubted and seen.consistent:
            looked += 1
            continue
        ball = in_balls([point.sides])
        if ball.points and not (ball.narrow or ball.refuted):
            ball = in_balls([point.sides], FINE)  # what cancels, or grows, needs more bits
        balls = _added(balls, ball)
        looked += 1
        if ball.refuted:
            detail = f"the identity is false: {ball.refuted} at {point.where}"
            frozen = problem.every_input and _is_frozen(point)
            detail += f". {FROZEN.rstrip('.')}" if frozen else ""
            return IdentityFinding((Finding.COUNTEREXAMPLE,), detail, None, looked, floats, balls)
        if ball.obstacle is not None and (seen.obstacle is not None or problem.margin is None):
            break
    measured = [point for point in problem.points if point.floats]
    within = floats.within and bool(measured) and looked == len(problem.points) and floats.obstacle is None
    return IdentityFinding((), "", None, looked, replace(floats, within=within), balls)


def _both(floats: Floats, more: Floats) -> Floats:
    if more.obstacle is not None:
        return replace(floats, consistent=False, within=False, obstacle=more.obstacle)
    return Floats(
        max(floats.worst, more.worst),
        max(floats.account, more.account),
        floats.consistent and more.consistent,
        floats.within and more.within,
        floats.obstacle,
    )


def _added(balls: Balls, more: Balls) -> Balls:
    return Balls(
        balls.points + more.points,
        balls.narrow and (more.narrow or bool(more.elsewhere)),
        more.refuted,
        max(balls.difference, more.difference),
        more.obstacle or balls.obstacle,
        balls.elsewhere + more.elsewhere,
    )


def _is_frozen(point: IdentityPoint) -> bool:
    """True if the difference lies within one unit in the last place of the program's float constants."""
    loose = in_balls([point.sides], loose=True)
    return loose.points > 0 and not loose.refuted


def _in_fields(problem: IdentityProblem, *, enough: bool) -> tuple[Fields, bool]:
    """The weakest result of the fields over the programs, and True if all sides vanish by their form.

    ``enough``: what is short of a certificate adds nothing, so the first such program ends the search.
    """
    found: list[Fields] = []
    for seed, sides in problem.generic:
        found.append(in_fields(sides, seed))
        if not found[-1].equal or (enough and not found[-1].certified):
            break
    if not found:
        return Fields(None), False
    weakest = max(found, key=lambda part: (part.equal is not True, part.bound))
    if len(found) < len(problem.generic) and weakest.equal:
        weakest = replace(weakest, equal=None)
    return weakest, all(part.size is not None and part.size.vanishes for part in found)


def _all_narrow(problem: IdentityProblem, found: IdentityFinding) -> bool:
    balls = found.balls
    return balls.points > 0 and balls.narrow and balls.points + balls.elsewhere == len(problem.points)


def _agreement(problem: IdentityProblem, found: IdentityFinding) -> str:
    fields, balls, floats = found.fields, found.balls, found.floats
    if fields.certified:
        assert fields.size is not None
        return (
            f"equal as rational functions: they agree in {fields.trials} random fields of more than 2^61 elements, which "
            f"a false identity of degree {fields.size.degree:.0f} and {fields.size.bits:.0f} bits does with probability "
            f"at most {fields.probability}"
        )
    said = []
    if fields.equal:
        met = ", ".join(sorted(fields.through)) or "a degree too high for a bound"
        said.append(f"equal in {fields.trials} random finite fields, whatever these functions are: {met}")
    if floats.within:
        count = sum(point.floats for point in problem.points)
        said.append(f"both sides agree within {floats.worst:.1g}, rounding included, at {_counted(count)}")
    if _all_narrow(problem, found):
        count = balls.points
        said.append(f"every ball of the difference at {_counted(count)} holds zero and is narrow")
    return "; ".join(said)


def _open(problem: IdentityProblem, found: IdentityFinding) -> tuple[str, Reason]:
    floats, balls = found.floats, found.balls
    obstacle = balls.obstacle or floats.obstacle
    if obstacle is not None:
        undecided = isinstance(obstacle, UndecidedComparison)
        return str(obstacle).rstrip("."), Reason.UNDECIDED_COMPARISON if undecided else Reason.BUDGET
    if problem.margin is not None and any(point.floats for point in problem.points):
        word = "consistent with rounding" if floats.consistent else "more than rounding explains, but no ball decides"
        return (
            f"both sides agree within {floats.worst:.1g}, rounding included, against a margin of {problem.margin:.1g}: "
            f"{word}",
            Reason.NUMERIC_FLOOR,
        )
    return f"balls around zero of size {balls.difference:.2g} are too wide to say anything", Reason.NUMERIC_FLOOR


def _counted(count: int) -> str:
    return f"{count} point{'s' if count != 1 else ''}"
