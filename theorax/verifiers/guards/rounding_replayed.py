"""Rounding: some draws run again in balls, held against the floats that the claim was decided from.

The replay looks at what `observe` computes; the arrays of a model are taken as they were built. It is an example of the
rounding, never a bound of it: a letter with an error that `observe` returns keeps that error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from flint import arb
from sympy import Expr, ImmutableMatrix
from sympy.core.relational import Relational

from theorax.decide.findings import Finding, Found
from theorax.decide.limits import LimitPlan
from theorax.decide.looked import NOTHING_LOOKED_AT, Looked
from theorax.decide.means import MeanPlan, QuantilePlan
from theorax.decide.probabilities import ProbabilityPlan, decide_probability
from theorax.decide.rates import RatePlan
from theorax.decide.status import Reason
from theorax.decide.verdict import Assumption, Standing
from theorax.language import Impossibility, Inequality, Law, Optimum, Probability, Rate
from theorax.numerics.arithmetics.replayed_draws import Stopped
from theorax.verifiers import assumptions
from theorax.verifiers.cases.evaluation import Observed, evaluate
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.guards.replays import PRECISIONS, LineReplays, ReplayedRun, ball_of, replays, supported_lines
from theorax.verifiers.kinds.law_lowering import law_frequencies
from theorax.verifiers.kinds.lowering import Judged, columns
from theorax.verifiers.kinds.probability_lowering import in_balls, outcomes

__all__ = ["rounding"]

SAFETY = 10
"""Times the largest error seen in a few draws: what support must stand."""


@dataclass(frozen=True)
class _Seen:
    """Largest difference of floats from balls at every size replayed, absolute and as a share of the value."""

    absolute: Mapping[int, float]
    relative: Mapping[int, float]
    draws: int
    changed: str = ""  # the draw in which an event is true in floats and false in balls, or the other way
    unlooked: str = ""

    def bounds(self, sizes: Sequence[int], values: Sequence[np.ndarray], *, shares: bool) -> tuple[np.ndarray, ...]:
        """Errors that the values at every size must stand: at a size that was not replayed, the largest of the others."""
        if shares:
            most = max(self.relative.values())
            parts = zip(sizes, values, strict=True)
            return tuple(SAFETY * self.relative.get(size, most) * np.abs(column) for size, column in parts)
        most = max(self.absolute.values())
        return tuple(np.full(1, SAFETY * self.absolute.get(size, most)) for size in sizes)


def rounding(claim: DecidedClaim) -> Looked:
    """Hold draws of a supported claim against balls: what rounding could have moved is withheld.

    A draw whose floats are finite though a function is taken outside its domain, or a whole number leaves its type, is
    no measurement.
    """
    lines = {(line.experiment, line.name, str(line.label)): replays(claim, line) for line in supported_lines(claim)}
    if not lines:
        return NOTHING_LOOKED_AT
    if isinstance(claim.planned.claim, Optimum):  # decided in balls, which hold their own rounding
        return Looked(tuple([*_left(claim, lines.values())][:1]))
    seen = {place: _seen(claim, case, lines[_place(case)]) for place, case in enumerate(claim.judged)}
    findings = [*_left(claim, lines.values())]
    if not findings:
        findings = [found for place, case in enumerate(claim.judged) for found in _withheld(claim, case, seen[place])]
    return Looked(tuple(findings[:1]), _ledger(claim, list(lines.values()), list(seen.values())))


def _place(case: Judged) -> tuple[str, str, str]:
    line = case.prepared.cell.line
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
                        f"A whole number of {letter} leaves its type {where}: {wrapped[0]}. What is measured is not "
                        "the number meant. Compute it in floats.",
                    )


def _seen(claim: DecidedClaim, case: Judged, line: LineReplays) -> _Seen:
    """The floats of the case beside the balls of the same draws."""
    stated, observed = claim.planned.claim, line.observed
    runs = [run for run in line.runs if run.size in case.prepared.cell.line.sizes]
    if not runs or observed.instances:
        return _Seen({}, {}, 0, unlooked=line.unlooked or ("" if line.runs else "larger sizes"))
    cell = Cell(observed.line, case.prepared.cell.chosen)
    absolute: dict[int, float] = {}
    relative: dict[int, float] = {}
    for run in runs:
        for expression in _expressions(stated):
            found = _difference(expression, cell, run, observed)
            if isinstance(found, Stopped):
                return _Seen({}, {}, 0, unlooked=found.why)
            absolute[run.size] = max(absolute.get(run.size, 0.0), found[0])
            relative[run.size] = max(relative.get(run.size, 0.0), found[1])
    changed = next((told for run in runs if (told := _changed(stated, cell, run, observed))), "")
    return _Seen(absolute, relative, len(runs), changed)


def _expressions(claim: Any) -> Sequence[Expr]:
    """Expressions whose rounding may decide the claim."""
    if isinstance(claim, Probability):
        return [part.lhs - part.rhs for part in claim.event.atoms(Relational)]
    if isinstance(claim, Inequality):
        return [claim.of - claim.prediction if claim.at_most is not None else claim.prediction - claim.of]
    if isinstance(claim, Impossibility):
        return [claim.distance]
    if isinstance(claim, Law) or (isinstance(claim, Rate) and claim.to is not None):
        if claim.given is None:
            return list(claim.letters_of)
        return list(claim.given) if isinstance(claim.given, ImmutableMatrix) else [claim.given]
    return [claim.of]


def _difference(expression: Expr, cell: Cell, run: ReplayedRun, observed: Observed) -> tuple[float, float] | Stopped:
    """The largest difference of the floats of one draw from its balls, and its share of the value.

    **Errors:** rounded up; the radius of a ball is part of the difference unless that shrinks with the precision.
    """
    at = observed.line.sizes.index(run.size)
    floats = np.atleast_1d(evaluate(expression, cell, observed, at)[run.draw])
    for precision in PRECISIONS:
        balls = ball_of(expression, cell, run, observed, precision)
        if isinstance(balls, Stopped):
            return balls
        balls = np.broadcast_to(np.atleast_1d(balls), floats.shape)
        pairs = [(arb(float(x)), y) for x, y in zip(floats.reshape(-1), balls.reshape(-1), strict=True)]
        finite = all(y.is_finite() for _, y in pairs)
        if finite and (precision == PRECISIONS[-1] or all(_narrow(x, y) for x, y in pairs)):
            gaps = [float(abs(x - y).upper()) for x, y in pairs]
            shares = [_share(gap, y) for gap, (_, y) in zip(gaps, pairs, strict=True)]
            return max(gaps), max(shares)
    return Stopped("balls too wide")


def _share(gap: float, y: arb) -> float:
    return 0.0 if not gap else math.inf if y.contains(0) else gap / float(abs(y).lower())


def _narrow(x: arb, y: arb) -> bool:
    """True if the radius is no larger than the rounding of a float of this size."""
    return bool(y.rad() <= max(abs(x).upper(), abs(y).upper()) * arb(2) ** -53)


def _changed(claim: Any, cell: Cell, run: ReplayedRun, observed: Observed) -> str:
    """The draw, if the event holds in its floats and fails in its balls, or the other way."""
    if not isinstance(claim, Probability):
        return ""
    at = observed.line.sizes.index(run.size)
    sure, possible = (
        bool(np.broadcast_to(mask, observed.line.draws)[run.draw]) for mask in outcomes(claim.event, cell, observed, at)
    )
    tried = (in_balls(claim.event, partial(_ball, cell, run, observed, precision)) for precision in PRECISIONS)
    known = next((answer for answer in tried if answer is not None), None)
    if known is None or (known and possible) or (not known and not sure):
        return ""
    word = "no success" if known else "a success"
    return f"draw {run.draw} at {observed.line.swept} = {run.size} is counted as {word}, and balls say otherwise"


def _ball(cell: Cell, run: ReplayedRun, observed: Observed, precision: int, gap: Expr) -> Any:
    return ball_of(gap, cell, run, observed, precision).item()


def _withheld(claim: DecidedClaim, case: Judged, seen: _Seen) -> Iterator[Found]:
    """The finding that rounding is as large as what decided the case."""
    if seen.changed:
        yield Found(Finding.WITHHELD, f"Rounding decides the event: {seen.changed}.", Reason.NUMERIC_FLOOR)
    elif seen.absolute and any(seen.absolute.values()) and not _stands(claim, case, seen):
        worst = max(seen.absolute.values())
        yield Found(
            Finding.WITHHELD,
            f"Rounding is as large as what was to be seen: on {seen.draws} draws floats differ from balls by up to "
            f"{worst:.2g}, and {SAFETY} times that is more than the margin leaves.",
            Reason.NUMERIC_FLOOR,
        )


def _stands(claim: DecidedClaim, case: Judged, seen: _Seen) -> bool:
    """True if the case is supported still where every value may be off by ten times the largest error seen."""
    stated, prepared, plan = claim.planned.claim, case.prepared, case.prepared.plan
    observed = claim.draws.on(prepared.cell.line)
    sizes = prepared.cell.line.sizes
    if isinstance(plan, LimitPlan | MeanPlan | QuantilePlan | RatePlan) and not (
        isinstance(stated, Rate) and stated.to is not None
    ):
        own = columns(_expressions(stated)[0], prepared.cell, observed)
        more = seen.bounds(sizes, own.values, shares=isinstance(plan, RatePlan))
        wider = tuple(bound + part for bound, part in zip(own.bounds, more, strict=True))
        return plan.tested(replace(own, errors=wider)).decision.status.holds
    worst = SAFETY * max(seen.absolute.values())
    if isinstance(stated, Law | Rate):
        return worst * _steepest(stated, prepared.cell) < case.decision.margin - case.decision.upper
    if isinstance(stated, Inequality):
        slack = float(stated.margin.value) if stated.margin is not None else 0.0
        return all(
            float(np.max(evaluate(_expressions(stated)[0], prepared.cell, observed, at))) + worst <= slack
            for at in range(len(sizes))
        )
    if isinstance(stated, Impossibility):
        return case.decision.lower - worst >= case.decision.claimed
    if isinstance(stated, Probability):
        (size,) = sizes
        at, cell = observed.line.sizes.index(size), Cell(observed.line, prepared.cell.chosen)
        return _counted(stated, cell, observed, at, worst, case)
    return True


def _counted(stated: Probability, cell: Cell, observed: Observed, at: int, worst: float, case: Judged) -> bool:
    """True if enough draws are successes still where each comparison may be off by this much."""
    plan = case.prepared.plan
    assert isinstance(plan, ProbabilityPlan)
    sure, possible = (
        np.broadcast_to(mask, observed.line.draws) for mask in outcomes(stated.event, cell, observed, at, worst)
    )
    successes = int(sure.sum())
    found = decide_probability(plan, successes, int(possible.sum()) - successes, unconfirmed=True)
    return found.decision.status.holds


def _steepest(claim: Law | Rate, cell: Cell) -> float:
    """Most that the features of a draw move where a value of it moves by one."""
    table = np.abs(law_frequencies(claim, cell).table).sum(axis=1)
    return float(table.max() if claim.given is None else np.max(table**2) / 2)


def _ledger(claim: DecidedClaim, lines: Sequence[LineReplays], seen: Sequence[_Seen]) -> tuple[Assumption, ...]:
    """Lines on rounding, as it was seen, in the place of the declared line, and what was not looked at."""
    experiment = claim.theorem.experiments[lines[0].observed.line.experiment]
    text = assumptions.float_model(experiment, claim.planned.claim)
    reasons = [part for part in (*(one.unlooked for one in lines), *(one.unlooked for one in seen)) if part]
    unlooked = "; ".join(dict.fromkeys(reasons))
    draws = sum(len(part.runs) for part in lines)
    sizes = ", ".join(map(str, sorted({run.size for part in lines for run in part.runs})))
    swept = lines[0].observed.line.swept
    told = []
    if compared := [part for part in seen if part.absolute]:
        shares = isinstance(claim.planned.claim, Rate)
        worst = max(max((part.relative if shares else part.absolute).values()) for part in compared)
        tested = (
            f"rounding of what observe computes tested on {draws} draws at {swept} = {sizes}: floats differ from balls by "
            f"up to {worst:.2g}" + (" of the value" if shares else "")
        )
        told.append(Assumption(_KIND, f"{text}; {tested}", Standing.TESTED))
    elif draws and not unlooked:
        tested = f"domains of functions and types of whole numbers tested on {draws} draws at {swept} = {sizes}"
        told.append(Assumption(_KIND, f"{text}; {tested}", Standing.TESTED))
    if unlooked:
        sentence = f"rounding: not looked at: {unlooked}"
        told.append(Assumption(_KIND, sentence if told else f"{text}; {sentence}", Standing.NOT_LOOKED_AT))
    return tuple(told)


_KIND = "float model"
