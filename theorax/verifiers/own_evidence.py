"""Cases of the engine's own beside those of a claim: drawn, decided, and what is told of them.

They can refute and nothing else: they spend none of the level of support, and an undecided one withholds nothing.

**Errors:** all of them together refute a true claim with probability at most a tenth of its level of refutation, if its
assumptions hold. They are few draws, at which Student's interval is coarse, so a test must refute twice: on them, and on as
many fresh draws as the author's case has.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sympy import Eq, Expr, Ge, Le, Or, exp, interpolate, log, simplify

from theorax.decide import wording
from theorax.decide.equivalence import combine
from theorax.decide.findings import Finding, Found
from theorax.decide.status import Decision, Levels, Reason, Status
from theorax.decide.verdict import OwnCase, OwnOutcome, Seen, SeenLetter
from theorax.errors import DesignError, StatementError, TheoraxError
from theorax.language import Claim, Letter, Theorem
from theorax.language.notation import displayed, inline
from theorax.verifiers.attacks import tested_hypotheses
from theorax.verifiers.cases.draws import Draws, Table, whole_line
from theorax.verifiers.cases.own_cases import OwnChoice, Place
from theorax.verifiers.cases.sweep_lines import BOX, SweepLine
from theorax.verifiers.kinds import JUDGES, CellCase, CellResult, Judge
from theorax.verifiers.own_plans import SHARE, OwnPlan, author_lines, dependent_letters
from theorax.verifiers.planned_claim import PlannedClaim
from theorax.verifiers.settings import Settings

__all__ = ["OwnEvidence", "looked_for", "other_dependences", "seen_of"]

LONGEST = 160  # characters of an error that are told
STEPS = 4000  # of a program that takes a second or more to compile; such a case waits at quick effort


@dataclass(frozen=True)
class OwnEvidence:
    """Cases of the engine's: those that refute where the claim speaks, those that fail outside, and all that is told."""

    refuting: tuple[CellResult, ...] = ()
    failing: str = ""  # the values at which it is refuted, as told
    beyond: tuple[Found, ...] = ()
    seen: Seen | None = None
    cells: int = 0

    def together(self, judged: Sequence[CellResult], levels: Levels) -> Decision:
        """The refutation of the claim by its own cases and those of the engine, each at its share of the levels."""
        ours, theirs = self.cells, len(judged)
        every = ours + theirs
        each = levels.shared(every)
        own = [_in_units(part.decision, SHARE * ours / every, each) for part in self.refuting]
        author = [_in_units(part.decision, theirs / every, each) for part in judged]
        return combine([*author, *own], levels, of=every)

    def sentence(self, told: str) -> str:
        """The sentence of the refutation."""
        assert self.seen is not None
        return wording.in_general(self.failing, _holding(self.seen.letters), told)


def _in_units(decision: Decision, factor: float, levels: Levels) -> Decision:
    """A decision at a level of its own, as one at these levels: rejected there iff it was at its own."""
    return replace(decision, p_refute=min(1.0, decision.p_refute * factor), levels=levels)


def seen_of(claim: Claim, planned: PlannedClaim, own: Sequence[OwnCase] = (), none: str = "") -> Seen | None:
    """The values of every letter at which the author's cases were drawn, with the engine's."""
    lines = [case.cell.line for case in planned.cases if case.cell.line is not BOX]
    if not lines:
        return None
    values: dict[Letter, dict[str, None]] = {}
    for case in planned.cases:
        line = case.cell.line
        values.setdefault(line.swept, {}).update({str(size): None for size in line.sizes})
    for case in planned.cases:
        for letter, value in case.cell.line.case.items():
            values.setdefault(letter, {})[inline(value)] = None
        for index, number in case.cell.chosen.items():
            values.setdefault(index, {})[str(number)] = None
    letters = []
    for letter, known in values.items():
        shown = _sorted(known) if letter is lines[0].swept else tuple(known)
        ours = [value for case in own if case.letter == displayed(letter) and _counts(case) for value in case.values]
        letters.append(SeenLetter(displayed(letter), shown, tuple(ours), getattr(letter, "closed", "")))
    return Seen(tuple(letters), tuple(dict.fromkeys(line.name for line in lines)), tuple(own), none)


def _sorted(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(values, key=int))


def _counts(case: OwnCase) -> bool:
    return case.outcome in (OwnOutcome.KEPT, OwnOutcome.REFUTED, OwnOutcome.BEYOND)


def looked_for(
    theorem: Theorem, planned: PlannedClaim, plan: OwnPlan, table: Table, draws: Draws, settings: Settings
) -> OwnEvidence:
    """The cases of the engine's for a claim that its author's cases support."""
    if plan.none or not plan.cases:
        return OwnEvidence(seen=seen_of(planned.claim, planned, none=plan.none))
    return _Search(theorem, planned, plan, table, draws, settings).found()


@dataclass(frozen=True)
class _Tried:
    """A choice as it was tried: its outcome, its line, and the cases decided there."""

    choice: OwnChoice
    case: OwnCase
    line: SweepLine | None = None
    judged: tuple[CellResult, ...] = ()

    @property
    def told(self) -> str:
        return f"{self.case.letter} = {', '.join(self.case.values)}"


@dataclass(frozen=True)
class _Search:
    theorem: Theorem
    planned: PlannedClaim
    plan: OwnPlan
    table: Table
    draws: Draws
    settings: Settings

    @property
    def claim(self) -> Claim:
        return self.planned.claim

    @property
    def judge(self) -> Judge[Any]:
        return JUDGES[type(self.claim)]

    def lines(self) -> list[SweepLine]:
        """The author's lines of the claim, whole."""
        return author_lines(self.planned, self.table)

    def found(self) -> OwnEvidence:
        cells = sum(
            max(len(list(self.judge.cells(self.claim, line))) for line in case.lines) for case in self.plan.cases
        )
        levels = self.planned.levels
        each = Levels(levels.support, levels.refute / (SHARE * cells))
        tried = []
        for case in self.plan.cases:
            waits = case.waits or (
                self.settings.effort == "quick" and self.draws.steps_to_compile(case.lines[0]) > STEPS
            )
            tried.append(_waiting(case.choice, case.lines[0]) if waits else self.tried(case.choice, case.lines, each))
        return self.told(tried, cells)

    def tried(self, choice: OwnChoice, lines: Sequence[SweepLine], levels: Levels) -> _Tried:
        """The choice at the first of its values at which the program runs and the hypotheses hold."""
        reasons: list[tuple[OwnOutcome, str]] = []
        for line in lines:
            try:
                # JAX writes what a step of the host raises into its log, too.
                logging.getLogger("jax._src.callback").addFilter(_nothing_told)
                cases = [
                    self.judge.prepare(self.claim, cell, levels, self.claim)
                    for cell in self.judge.cells(self.claim, line)
                ]
                judged = self.judged(cases, line)
            except Exception as error:  # the author's program may raise whatever it likes where it was never run
                is_design = isinstance(error, DesignError | StatementError)
                reasons.append((OwnOutcome.UNSTATED if is_design else OwnOutcome.DROPPED, _told(error)))
                continue
            finally:
                logging.getLogger("jax._src.callback").removeFilter(_nothing_told)
            if isinstance(judged, str):
                reasons.append((OwnOutcome.UNSTATED, judged))
                continue
            refuted = any(part.decision.status is Status.REFUTED for part in judged)
            outcome = OwnOutcome.KEPT
            if refuted:
                sure = self.speaks_of(choice) and self.stands(choice, judged)
                outcome = OwnOutcome.REFUTED if sure else OwnOutcome.BEYOND
            return _Tried(choice, _own_case(choice, line, outcome), line, tuple(judged))
        return _Tried(choice, _own_case(choice, lines[0], *reasons[0]))

    def judged(self, cases: Sequence[CellCase], line: SweepLine) -> list[CellResult] | str:
        """The decided cases; in the place of a refutation by few draws, the decision on as many fresh ones as the author's."""
        observed = self.draws.on(line)
        violated = tested_hypotheses.violated(self.theorem, self.theorem.needed(self.claim), cases, self.draws)
        if violated is not None:
            return violated.sentence
        found = [self.judge.judge(self.claim, case, observed) for case in cases]
        if self.claim.words.quantity.is_difference:
            found = [_beyond_rounding(part) for part in found]
        if not any(part.decision.status is Status.REFUTED and not part.rigorous for part in found):
            return found
        if not line.random or self.draws.is_instances(line):
            return found
        whole = whole_line(self.table, self.planned.cases[0].cell.line).draws
        more = line.with_draws(whole)
        fresh = replace(self.draws.portion(line, line.draws, whole), line=more)
        again = [replace(case, cell=replace(case.cell, line=case.cell.line.with_draws(whole))) for case in cases]
        again = [self.judge.prepare(self.claim, case.cell, case.levels, self.claim) for case in again]
        return [
            self.judge.judge(self.claim, case, fresh) if part.decision.status is Status.REFUTED else part
            for case, part in zip(again, found, strict=True)
        ]

    def speaks_of(self, choice: OwnChoice) -> bool:
        """True if the claim speaks of the value: not outside the author's where a hypothesis may say otherwise."""
        if choice.place is not Place.OUTSIDE or choice.letter in self.claim.where.free_symbols:
            return True
        needed = [self.theorem.hypotheses[name] for name in self.theorem.needed(self.claim)]
        return all(part.holds is not None and choice.letter not in part.holds.free_symbols for part in needed)

    def stands(self, choice: OwnChoice, judged: Sequence[CellResult]) -> bool:
        """True if the refutation speaks of the claim: the class of corrections is declared for the author's values alone.

        At another value of a letter, what is refuted only with that class and not with twice of it is claim or class.
        """
        if self.claim.tending is None or choice.is_size:
            return True
        return any(part.decision.status is Status.REFUTED and part.decision.robust for part in judged)

    def told(self, tried: Sequence[_Tried], cells: int) -> OwnEvidence:
        seen = seen_of(self.claim, self.planned, [part.case for part in tried])
        assert seen is not None
        shown = {letter.letter: letter for letter in seen.letters}
        for letter in dependent_letters(self.claim, self.lines()[0]):
            name = displayed(letter)
            if name in shown and not shown[name].fixed:
                shown[name] = self.shown(letter, shown[name], [part for part in tried if part.choice.letter == letter])
        seen = replace(seen, letters=tuple(shown.values()))
        refuting = [part for part in tried if part.case.outcome is OwnOutcome.REFUTED]
        results = [case for part in refuting for case in part.judged if case.decision.status is Status.REFUTED]
        beyond = [self.beyond(part, seen) for part in tried if part.case.outcome is OwnOutcome.BEYOND]
        failing = "; ".join(part.told for part in refuting)
        return OwnEvidence(tuple(results), failing, tuple(beyond), seen, cells)

    def beyond(self, part: _Tried, seen: Seen) -> Found:
        """The finding of a case that fails outside the author's values."""
        letter = part.choice.letter
        own = next(row for row in seen.letters if row.letter == part.case.letter)
        holding = f"{own.letter} = {', '.join(own.values)}"
        numbers = self.values(letter)
        low, high = min(numbers, key=float), max(numbers, key=float)
        value = part.choice.candidates[0][0] if part.line is None else _value(part)
        if part.choice.place is Place.OUTSIDE:
            condition = Le(letter, high) if value > high else Ge(letter, low)
        else:
            condition = Or(*(Eq(letter, number) for number in numbers))
        sentence = wording.beyond_range(part.told, holding, str(condition))
        return Found(Finding.FAILS_BEYOND, sentence, Reason.RANGE)

    def values(self, letter: Letter) -> list[Expr]:
        """The author's values of a letter."""
        lines = self.lines()
        if letter == lines[0].swept:
            return [lines[0].letters_at(size)[letter] for size in lines[0].sizes]
        return list(dict.fromkeys(line.case[letter] for line in lines if letter in line.case))

    def shown(self, letter: Letter, row: SeenLetter, tried: Sequence[_Tried]) -> SeenLetter:
        """The row of a letter with whether the evidence shows how the claim depends on it."""
        values = self.values(letter)
        ran = [part for part in tried if part.line is not None]
        if len(values) == 1 and not ran:
            return replace(row, is_alone=True)
        predicted = self.claim.prediction
        assert predicted is not None
        for other in other_dependences(predicted, letter, values):
            if not any(self.rejects(other, part) for part in ran):
                return replace(row, is_open=True)
        return row

    def rejects(self, other: Expr, part: _Tried) -> bool:
        """True if the draws of the case refute the other prediction."""
        assert part.line is not None
        try:
            variant = replace(self.claim, **{self.claim.predicted: other})
            found = [
                self.judge.judge(
                    variant,
                    self.judge.prepare(variant, case.cell, self.planned.levels, self.claim),
                    self.draws.on(part.line),
                )
                for case in part.judged
                if case.cell.line.draws == part.line.draws
            ]
        except (StatementError, DesignError):  # what the language does not state is no variant
            return True
        return any(case.decision.status is Status.REFUTED for case in found)


def other_dependences(predicted: Expr, letter: Letter, values: Sequence[Expr]) -> Iterator[Expr]:
    """Other dependences on the letter that agree with the predicted one at these values; the claim itself is none.

    The polynomial of least degree through all of them; through two values also the power and the exponential.
    """
    points = [(value, predicted.subs(letter, value)) for value in values]
    found = [interpolate(points, letter) if len(points) > 1 else points[0][1]]
    if len(points) == 2:
        (a, left), (b, right) = points
        if left.is_positive and right.is_positive:
            found.append(left * exp((letter - a) * log(right / left) / (b - a)))
            if a.is_positive and b.is_positive:
                found.append(left * (letter / a) ** (log(right / left) / log(b / a)))
    for other in found:
        if other.is_finite is not False and simplify(other - predicted) != 0:
            yield other


def _nothing_told(record: logging.LogRecord) -> bool:
    return False


def _beyond_rounding(result: CellResult) -> CellResult:
    """The case, undecided where two sides differ by no more than the margin.

    At the author's values a product that `build` rounds may be exact, such as one with a half; at others it is not.
    """
    worst = max((abs(point.estimate) for point in result.points if point.estimate is not None), default=math.inf)
    if result.decision.status is not Status.REFUTED or result.margin is None or worst > result.margin:
        return result
    open_ = replace(result.decision, status=Status.INCONCLUSIVE, reason=Reason.NUMERIC_FLOOR)
    return replace(result, decision=open_, rigorous=False)


def _value(part: _Tried) -> Expr:
    assert part.line is not None
    letter = part.choice.letter
    if part.choice.is_size:
        return part.line.letters_at(part.line.sizes[-1])[letter]
    return part.line.case[letter]


def _own_case(choice: OwnChoice, line: SweepLine, outcome: OwnOutcome, reason: str = "") -> OwnCase:
    if choice.is_size:
        values = tuple(str(size) for size in line.sizes if size not in choice.beside)
    else:
        values = (inline(line.case[choice.letter]),)
    return OwnCase(displayed(choice.letter), values, outcome, reason)


def _waiting(choice: OwnChoice, line: SweepLine) -> _Tried:
    return _Tried(choice, _own_case(choice, line, OwnOutcome.WAITS))


def _told(error: Exception) -> str:
    """An error in one line."""
    told = " ".join(str(error).split())
    told = told if isinstance(error, TheoraxError) else f"{type(error).__name__}: {told}"
    return told if len(told) <= LONGEST else f"{told[:LONGEST].rpartition(' ')[0]} …"


def _holding(letters: Sequence[SeenLetter]) -> str:
    return "; ".join(f"{row.letter} = {', '.join(row.values)}" for row in letters)
