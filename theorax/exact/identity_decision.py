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
    FINEST,
    AtPoint,
    Balls,
    Fields,
    Floats,
    Generic,
    at_finest,
    in_balls,
    in_fields,
    in_floats,
)
from theorax.exact.same_program import ProgramForm, same_program
from theorax.names import many
from theorax.numerics.arithmetics import UndecidedComparison

__all__ = ["IdentityFinding", "IdentityPoint", "IdentityProblem", "decide_identity"]

FROZEN = (
    "The difference lies within one unit in the last place of a float constant, such as 1/3 or sqrt(2) computed "
    "outside the program. As written the identity is false, as meant it may hold. Hand the constant over "
    "exactly, at=(..., Fraction(1, 3)) or at=(..., sympy.sqrt(2)), or let the program divide: x / 3 for x * (1/3)."
)


@final
@dataclass(frozen=True)
class IdentityPoint:
    """Both sides at one exact point.

    ``floats``: floats hold the point, so that a margin can be measured there. ``doubted``: balls are run only where
    floats differ by more than their rounding. ``where`` names the point to a reader.
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
    real numbers of their shapes, and ``panel`` holds points that are the same whatever inputs are given; otherwise the
    points are draws of a law, on which sides may agree that differ at generic inputs.
    ``held``: the same as ``generic`` with fewer inputs varied, tried where the sides are not equal there.
    ``as_drawn``: the forms where inputs that are equal in every draw are one input.
    """

    forms: Callable[[], Iterator[tuple[Sequence[ProgramForm], Sequence[ProgramForm]]]]
    generic: tuple[tuple[str, Generic], ...]
    points: tuple[IdentityPoint, ...]
    margin: float | None = None
    absolute: bool = False
    every_input: bool = False
    panel: tuple[IdentityPoint, ...] = ()
    held: tuple[tuple[str, Generic], ...] = ()
    as_drawn: Callable[[], Iterator[tuple[Sequence[ProgramForm], Sequence[ProgramForm]]]] | None = None


@final
@dataclass(frozen=True)
class IdentityFinding:
    """Decision of an identity, with the result of each rung; ``looked``: number of points evaluated.

    ``panel``: balls at the points that do not depend on the inputs given. ``holding``: fields agree where fewer inputs
    are varied. ``drawn``: the support rests on the points alone, so that a share of their law stays open.
    """

    findings: tuple[Finding, ...]
    detail: str
    reason: Reason | None = None
    looked: int = 0
    floats: Floats = Floats()  # noqa: RUF009  (frozen)
    balls: Balls = Balls(0)  # noqa: RUF009
    fields: Fields = Fields(None)  # noqa: RUF009
    panel: Balls = Balls(0)  # noqa: RUF009
    holding: bool = False
    drawn: bool = False

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
    | rational sides agree in random finite fields, to a probability of error of at most 2^-40 | certificate |
    | no point at which both sides are finite, and fields do not agree | no instance |
    | at some point exactly one side is a finite real number | undecided |
    | sides agree in random finite fields whatever the functions in them are | supported |
    | draws: both sides are one program where inputs that are equal in every draw are one input | the bound is trivial |
    | draws: difference and rounding account stay below the margin at all, or all their balls are narrow | supported |
    | all inputs: the balls of the difference at all given points and half of the panel are narrow | supported |
    | otherwise | undecided |

    A narrow ball holds zero and is smaller than 2^-150 of the larger side.
    """
    if said := _could_not_fail(problem.forms()):
        return IdentityFinding((Finding.TRIVIAL_BOUND,), said)
    found = _at_points(problem)
    if found.findings:
        return found
    fields, vanish = _in_fields(problem.generic)
    if problem.held and not fields.equal:
        fields, vanish = _in_fields(problem.held)
        found = replace(found, holding=bool(fields.equal))
    found = replace(found, fields=fields)
    if vanish:
        return replace(found, findings=(Finding.TRIVIAL_BOUND,), detail=_ZERO)
    if problem.every_input and fields.refuted:
        detail = f"the identity is false: {fields.witness}, so the sides differ as rational functions"
        return replace(found, findings=(Finding.COUNTEREXAMPLE,), detail=detail)
    if fields.certified:
        return replace(found, findings=(Finding.CERTIFICATE, Finding.TEST_SUPPORTED), detail=_agreement(problem, found))
    found = _on_panel(problem, found)
    if found.findings:
        return found
    if found.looked and found.balls.elsewhere + found.panel.elsewhere == found.looked and not fields.equal:
        detail = f"a side is no finite number at any of {many(found.looked, 'point')}: nothing is said where nothing is defined"
        return replace(found, findings=(Finding.NO_INSTANCE,), detail=detail, reason=Reason.NUMERIC_FLOOR)
    if lone := found.balls.lone or found.panel.lone:
        detail = f"{lone}: the sides have different domains, so one of them is no other name for the other"
        return replace(found, detail=detail, reason=Reason.ONE_SIDED_DOMAIN)
    if fields.equal:
        return replace(found, findings=(Finding.TEST_SUPPORTED,), detail=_agreement(problem, found))
    if not problem.every_input and problem.points and (found.floats.within or _all_narrow(problem, found)):
        if problem.as_drawn is not None and (said := _could_not_fail(problem.as_drawn())):
            detail = f"{said}: inputs of it that are equal in every draw are one input"
            return replace(found, findings=(Finding.TRIVIAL_BOUND,), detail=detail)
        return replace(found, findings=(Finding.TEST_SUPPORTED,), detail=_agreement(problem, found), drawn=True)
    if problem.every_input and _all_narrow(problem, found) and _half_narrow(problem, found):
        return replace(found, findings=(Finding.TEST_SUPPORTED,), detail=_agreement(problem, found))
    detail, reason = _open(problem, found)
    return replace(found, detail=detail, reason=reason)


_ZERO = "both sides are zero by their form, whatever the inputs: a wrong factor would not be noticed"


def _could_not_fail(forms: Iterator[tuple[Sequence[ProgramForm], Sequence[ProgramForm]]]) -> str:
    same, nothing = True, True
    for left, right in forms:
        same = same and same_program(left, right)
        nothing = nothing and all(form.zero for form in (*left, *right))
        if not (same or nothing):
            return ""
    return "both sides are one and the same program: this check could not have failed" if same else _ZERO


def _at_points(problem: IdentityProblem) -> IdentityFinding:
    """Floats and balls at the points in turn, up to the first that refutes or that neither can follow."""
    floats, balls, looked = Floats(consistent=True, within=problem.margin is not None), Balls(0), 0
    for point in problem.points:
        seen = Floats(consistent=False)
        if point.floats and problem.margin is not None:
            seen = in_floats(point.sides, problem.margin, problem.absolute)
            floats = _both(floats, seen)
        if point.doubted and seen.consistent:
            looked += 1
            continue
        ball = _told_at(point)
        balls = balls.and_then(ball)
        looked += 1
        if ball.refuted:
            if seen.obstacle is not None:  # by how much the sides differ is then told by the ball alone
                floats = replace(floats, worst=ball.difference if problem.absolute else ball.share)
            detail = _refutation(problem, point, ball)
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


def _on_panel(problem: IdentityProblem, found: IdentityFinding) -> IdentityFinding:
    """Balls at the points of the panel; a comparison that no bits decide leaves its point wide."""
    panel, looked = Balls(0), found.looked
    for point in () if found.balls.obstacle is not None else problem.panel:
        ball = _told_at(point)
        looked += 1
        if isinstance(ball.obstacle, UndecidedComparison):
            ball = Balls(1, 1, difference=math.inf)
        panel = panel.and_then(ball)
        if ball.refuted:
            detail = _refutation(problem, point, ball)
            return replace(found, findings=(Finding.COUNTEREXAMPLE,), detail=detail, looked=looked, panel=panel)
        if ball.obstacle is not None:
            break
    return replace(found, looked=looked, panel=panel)


def _told_at(point: IdentityPoint) -> Balls:
    ball = at_finest(point.sides)
    return replace(ball, lone=f"at {point.where} {ball.lone}") if ball.lone else ball


def _refutation(problem: IdentityProblem, point: IdentityPoint, ball: Balls) -> str:
    frozen = problem.every_input and _is_frozen(point)
    return f"the identity is false: {ball.refuted} at {point.where}" + (f". {FROZEN.rstrip('.')}" if frozen else "")


def _is_frozen(point: IdentityPoint) -> bool:
    """True if the difference lies within one unit in the last place of the program's float constants."""
    loose = in_balls([point.sides], loose=True)
    return loose.points > 0 and not loose.refuted


def _in_fields(programs: tuple[tuple[str, Generic], ...]) -> tuple[Fields, bool]:
    """The weakest result of the fields over the programs, and True if all sides vanish by their form."""
    found: list[Fields] = []
    for seed, sides in programs:
        found.append(in_fields(sides, seed))
        if not found[-1].equal:
            break
    if not found:
        return Fields(None), False
    weakest = max(found, key=lambda part: (part.equal is not True, part.bound))
    if len(found) < len(programs) and weakest.equal:
        weakest = replace(weakest, equal=None)
    return weakest, all(part.size is not None and part.size.vanishes for part in found)


def _all_narrow(problem: IdentityProblem, found: IdentityFinding) -> bool:
    """True if the balls at all the points that were given or drawn are narrow."""
    return found.balls.points == len(problem.points) and not found.balls.wide and found.balls.obstacle is None


def _half_narrow(problem: IdentityProblem, found: IdentityFinding) -> bool:
    """True if the balls at half of the panel are narrow."""
    return bool(problem.panel) and 2 * (found.panel.points - found.panel.wide) >= len(problem.panel)


def _agreement(problem: IdentityProblem, found: IdentityFinding) -> str:
    fields, balls, floats = found.fields, found.balls, found.floats
    if fields.certified:
        assert fields.size is not None
        return (
            f"equal as rational functions in {fields.trials} random fields of over 2^61 elements. "
            f"A false identity (degree {fields.size.degree:.0f}, {fields.size.bits:.0f} bits) passes with probability "
            f"at most {fields.probability}"
        )
    said = []
    if fields.equal:
        met = ", ".join(sorted(fields.through)) or "a degree too high for a bound"
        said.append(f"equal in {fields.trials} random finite fields, whatever these functions are: {met}")
    if floats.within and not problem.every_input:
        count = sum(point.floats for point in problem.points)
        said.append(f"both sides agree within {floats.worst:.1g}, rounding included, at {_counted(count)}")
    both = balls.and_then(found.panel)
    if said and not both.points:
        return "; ".join(said)
    if _all_narrow(problem, found) or found.panel.points:
        narrow = both.points - both.wide
        said.append(f"the ball of the difference holds zero and is narrow at {_counted(narrow)}{_not_narrow(both)}")
    return "; ".join(said)


def _not_narrow(balls: Balls) -> str:
    said = [
        f"too wide at {balls.wide}" if balls.wide else "",
        f"neither side is a number at {balls.elsewhere}" if balls.elsewhere else "",
    ]
    told = ", ".join(filter(None, said))
    return f" ({told})" if told else ""


def _open(problem: IdentityProblem, found: IdentityFinding) -> tuple[str, Reason]:
    floats, balls = found.floats, found.balls
    obstacle = balls.obstacle or found.panel.obstacle or floats.obstacle
    if obstacle is not None:
        undecided = isinstance(obstacle, UndecidedComparison)
        return str(obstacle).rstrip("."), Reason.UNDECIDED_COMPARISON if undecided else Reason.BUDGET
    if problem.margin is not None and any(point.floats for point in problem.points):
        word = "consistent with rounding" if floats.consistent else "more than rounding explains, but no ball decides"
        alone = "; floats at the input given support nothing for all inputs" if problem.every_input else ""
        return (
            f"both sides agree within {floats.worst:.1g}, rounding included, against a margin of {problem.margin:.1g}: "
            f"{word}{alone}",
            Reason.NUMERIC_FLOOR,
        )
    both = balls.and_then(found.panel)
    narrow = both.points - both.wide
    return (
        f"the ball of the difference is narrow at {narrow} of {many(found.looked, 'point')} only, with {FINEST} bits"
        f"{_not_narrow(both)}",
        Reason.NUMERIC_FLOOR,
    )


def _counted(count: int) -> str:
    return f"{count} point{'s' if count != 1 else ''}"
