"""Rounding: some draws run again in balls, held against the floats that the claim was decided from.

The replay starts at the numbers that were drawn and follows `build` and `observe`. Where balls cannot follow the build, it
takes the arrays of a model as they were built and says so. It is an example of the rounding, never a bound of it: a letter
with an error that `observe` returns keeps that error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from flint import arb
from sympy import Expr

from theorax.decide.findings import Finding, Found
from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked
from theorax.decide.status import Reason, Status
from theorax.decide.verdict import Assumption, Standing
from theorax.names import many
from theorax.numerics.arithmetics.replayed_draws import Stopped
from theorax.text.numbers import number
from theorax.verifiers import assumptions
from theorax.verifiers.cases.evaluation import Observed, evaluate_draws
from theorax.verifiers.cases.sweep_lines import Cell, SweepLine
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.guards.replays import (
    PRECISIONS,
    LineReplays,
    ReplayedRun,
    replayed_ball,
    replays,
    supported_lines,
    whole_replays,
)
from theorax.verifiers.kinds.lowering import SAFETY, CellResult, RoundingSeen

__all__ = ["rounding"]


def rounding(claim: DecidedClaim) -> Looked:
    """Hold draws of a supported claim against balls: what rounding could have moved is withheld.

    A draw whose floats are finite though a function is taken outside its domain, or a whole number leaves its type, is
    no measurement. A refutation by draws that falls once every value may be off by ten times the rounding seen is one of
    the floats, not of the numbers meant: it leaves the claim open.
    """
    refuted = [case for case in claim.judged if case.decision.status is Status.REFUTED]
    if refuted:
        return _of_refuted(claim, refuted)
    lines = {(line.experiment, line.name, str(line.label)): _runs(claim, line) for line in supported_lines(claim)}
    if not lines:
        return NOTHING_LOOKED_AT
    if not claim.judge.compared(claim.planned.claim):
        return Looked(tuple([*_left(claim, lines.values())][:1]))
    seen = {place: _seen(claim, case, lines[_place(case)]) for place, case in enumerate(claim.judged)}
    findings = [*_left(claim, lines.values())]
    if not findings:
        findings = [found for place, case in enumerate(claim.judged) for found in _withheld(claim, case, seen[place])]
    return Looked(tuple(findings[:1]), _ledger(claim, list(lines.values()), list(seen.values())))


def _runs(claim: DecidedClaim, line: SweepLine) -> LineReplays:
    """Draws in balls from their keys on; from the arrays that were built where the build cannot be followed."""
    return whole_replays(claim, line) or replays(claim, line)


def _of_refuted(claim: DecidedClaim, refuted: Sequence[CellResult]) -> Looked:
    """The finding that rounding refutes; nothing where balls refute, or where some refutation stands all the same."""
    if any(case.rigorous for case in refuted) or not claim.judge.compared(claim.planned.claim):
        return NOTHING_LOOKED_AT
    seen = RoundingSeen({}, {}, 0)
    for case in refuted:
        seen = _seen(claim, case, _runs(claim, case.cell.line))
        observed = claim.draws.on(case.cell.line)
        if not any(seen.absolute.values()) or claim.judge.stands(claim.planned.claim, case, observed, seen):
            return NOTHING_LOOKED_AT
    return Looked((Found(Finding.FLOATS_OFF, f"Rounding refutes it: {_numbers(seen)}.", Reason.NUMERIC_FLOOR),))


def _numbers(seen: RoundingSeen) -> str:
    worst = max(seen.absolute.values())
    return f"on {many(seen.draws, 'draw')} floats differ from balls by up to {worst:.2g} ({seen.example})"


def _place(case: CellResult) -> tuple[str, str, str]:
    line = case.cell.line
    return line.experiment, line.name, str(line.label)


def _left(claim: DecidedClaim, lines: Iterable[LineReplays]) -> Iterator[Found]:
    """Runs that left the domain of a function or the range of a type, though their floats are finite."""
    letters = sorted(letter.name for letter in claim.planned.claim.observed)
    for line in lines:
        for run in line.runs:
            where = f"in draw {run.draw} of {line.observed.line.name} at {line.observed.line.swept} = {run.size}"
            for letter in letters:
                outside, wrapped = (part.get(letter, ()) for part in (run.replayed.outside, run.replayed.wrapped))
                if outside:
                    yield Found(
                        Finding.NOT_CHECKED,
                        f"{letter} takes {outside[0]}, where that has no real value, and uses it {where}: the floats "
                        "are finite, and measure nothing. Mask the argument before the function, or restrict what is "
                        "built.",
                    )
                if wrapped:
                    yield Found(
                        Finding.NOT_CHECKED,
                        f"A whole number of {letter} leaves its type {where}: {wrapped[0]}. The number measured "
                        "is another one than meant. Compute it in floats.",
                    )


def _seen(claim: DecidedClaim, case: CellResult, line: LineReplays) -> RoundingSeen:
    """The floats of the case beside the balls of the same draws."""
    observed = line.observed
    runs = [run for run in line.runs if run.size in case.cell.line.sizes]
    if not runs or observed.instances:
        return RoundingSeen({}, {}, 0, unlooked=line.unlooked or ("" if line.runs else "larger sizes"))
    cell = Cell(observed.line, case.cell.chosen)
    absolute: dict[int, float] = {}
    relative: dict[int, float] = {}
    worst, example = 0.0, ""
    for run in runs:
        for expression in claim.judge.compared(claim.planned.claim):
            found = _difference(expression, cell, run, observed)
            if isinstance(found, Stopped):
                return RoundingSeen({}, {}, 0, unlooked=found.why)
            absolute[run.size] = max(absolute.get(run.size, 0.0), found.gap)
            relative[run.size] = max(relative.get(run.size, 0.0), found.share)
            if found.gap > worst:
                worst = found.gap
                returned, exact = (number(part, 6) for part in (found.returned, found.exact))
                example = f"draw {run.draw} returned {returned}, exact arithmetic gives {exact}"
    changed = next((told for run in runs if (told := _changed(claim, case, run, observed))), "")
    return RoundingSeen(absolute, relative, len(runs), changed, example=example)


@final
@dataclass(frozen=True)
class _Difference:
    """The largest difference of the floats of a draw from its balls with both numbers, and the largest share."""

    gap: float
    share: float
    returned: float
    exact: float


def _difference(expression: Expr, cell: Cell, run: ReplayedRun, observed: Observed) -> _Difference | Stopped:
    """The largest difference of the floats of one draw from its balls, and its share of the value.

    **Errors:** rounded up; the radius of a ball is part of the difference unless that shrinks with the precision.
    """
    at = observed.line.sizes.index(run.size)
    floats = np.atleast_1d(evaluate_draws(expression, cell, observed, at)[run.draw])
    for precision in PRECISIONS:
        balls = replayed_ball(expression, cell, run, observed, precision)
        if isinstance(balls, Stopped):
            return balls
        balls = np.broadcast_to(np.atleast_1d(balls), floats.shape)
        pairs = [(arb(float(x)), y) for x, y in zip(floats.reshape(-1), balls.reshape(-1), strict=True)]
        finite = all(y.is_finite() for _, y in pairs)
        if finite and (precision == PRECISIONS[-1] or all(_narrow(x, y) for x, y in pairs)):
            gaps = [_above(abs(x - y)) for x, y in pairs]
            shares = [_share(gap, y) for gap, (_, y) in zip(gaps, pairs, strict=True)]
            at = int(np.argmax(gaps))
            return _Difference(gaps[at], max(shares), float(pairs[at][0].mid()), float(pairs[at][1].mid()))
    return Stopped("balls too wide")


def _above(gap: arb) -> float:
    """A float that is no smaller than the ball; zero for exact zero alone, however small the ball is."""
    return 0.0 if gap.is_zero() else math.nextafter(float(gap.upper()), math.inf)


def _share(gap: float, y: arb) -> float:
    least = float(abs(y).lower())
    return 0.0 if not gap else gap / least if least > 0 else math.inf


def _narrow(x: arb, y: arb) -> bool:
    """True if the radius is no larger than the rounding of a float of this size."""
    return bool(y.rad() <= max(abs(x).upper(), abs(y).upper()) * arb(2) ** -53)


def _changed(claim: DecidedClaim, case: CellResult, run: ReplayedRun, observed: Observed) -> str:
    """The draw, if the event holds in its floats and fails in its balls, or the other way."""
    cell = case.cell
    balls = [partial(_ball, Cell(observed.line, cell.chosen), run, observed, precision) for precision in PRECISIONS]
    word = claim.judge.miscounted(claim.planned.claim, cell, observed, run.draw, balls)
    told = f"draw {run.draw} at {observed.line.swept} = {run.size} is counted as {word}, and balls say otherwise"
    return told if word else ""


def _ball(cell: Cell, run: ReplayedRun, observed: Observed, precision: int, gap: Expr) -> Any:
    return replayed_ball(gap, cell, run, observed, precision).item()


def _withheld(claim: DecidedClaim, case: CellResult, seen: RoundingSeen) -> Iterator[Found]:
    """The finding that rounding is as large as what decided the case."""
    stated, observed = claim.planned.claim, claim.draws.on(case.cell.line)
    if seen.changed:
        yield Found(Finding.WITHHELD, f"Rounding decides the event: {seen.changed}.", Reason.NUMERIC_FLOOR)
    elif any(seen.absolute.values()) and not claim.judge.stands(stated, case, observed, seen):
        yield Found(
            Finding.WITHHELD,
            f"Rounding is too large: {_numbers(seen)}. The margin leaves less than {SAFETY} times that.",
            Reason.NUMERIC_FLOOR,
        )


def _ledger(claim: DecidedClaim, lines: Sequence[LineReplays], seen: Sequence[RoundingSeen]) -> tuple[Assumption, ...]:
    """Lines on rounding, as it was seen, in the place of the declared line, and what was not looked at."""
    experiment = claim.theorem.experiments[lines[0].observed.line.experiment]
    names = {letter.name for letter in claim.planned.claim.observed}
    bounded = {name for line in lines for bounds in line.observed.errors for name in bounds}
    text = assumptions.float_model(experiment, sorted(names & bounded))
    reasons = [part for part in (*(one.unlooked for one in lines), *(one.unlooked for one in seen)) if part]
    unlooked = "; ".join(dict.fromkeys(reasons))
    draws = sum(len(part.runs) for part in lines)
    sizes = ", ".join(map(str, sorted({run.size for part in lines for run in part.runs})))
    swept = lines[0].observed.line.swept
    told = []
    if compared := [part for part in seen if part.absolute]:
        shares = claim.planned.claim.predicts_an_exponent
        worst = max(max((part.relative if shares else part.absolute).values()) for part in compared)
        tested = (
            f"Rounding tested on {many(draws, 'draw')} at {swept} = {sizes}: floats differ from balls by "
            f"up to {worst:.2g}" + (" of the value" if shares else "") + _unbuilt(lines)
        )
        told.append(Assumption(_KIND, f"{text}. {tested}", Standing.TESTED))
    elif draws and not unlooked:
        tested = f"Domains of functions and types of whole numbers tested on {many(draws, 'draw')} at {swept} = {sizes}"
        tested += _unbuilt(lines)
        told.append(Assumption(_KIND, f"{text}. {tested}", Standing.TESTED))
    if unlooked:
        sentence = f"rounding: not looked at: {unlooked}"
        told.append(Assumption(_KIND, sentence if told else f"{text}; {sentence}", Standing.NOT_LOOKED_AT))
    return tuple(told)


def _unbuilt(lines: Sequence[LineReplays]) -> str:
    return "" if all(line.with_build for line in lines) else " (observe only; build not looked at)"


_KIND = "float model"
