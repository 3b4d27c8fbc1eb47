"""Cases of the engine's own beside those of a claim: drawn, decided, and what is told of them.

They can refute and nothing else: they spend none of the level of support, and an undecided one withholds nothing.

**Errors:** all of them together refute a true claim with probability at most a tenth of its level of refutation, if its
assumptions hold. They are few draws, at which Student's interval is coarse, so a test must refute twice: on them, and on as
many fresh draws as the author's case has.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from sympy import Eq, Expr, Ge, Integer, Le, Or, exp, interpolate, log, simplify

from theorax.decide import wording
from theorax.decide.equivalence import combine
from theorax.decide.findings import Finding, Found
from theorax.decide.moments import FEWEST_DRAWS
from theorax.decide.status import Decision, Levels, Reason, Side, Status
from theorax.decide.verdict import OwnCase, OwnOutcome, Seen, SeenLetter
from theorax.errors import DesignError, StatementError, TheoraxError
from theorax.language import Claim, Letter, Measured, Theorem
from theorax.language.notation import displayed, inline
from theorax.verifiers.attacks import tested_hypotheses
from theorax.verifiers.cases.draws import Draws, Table, whole_line
from theorax.verifiers.cases.measure import structures
from theorax.verifiers.cases.own_cases import OwnChoice, Place, choices, lines_of
from theorax.verifiers.cases.sweep_lines import BOX, SweepLine
from theorax.verifiers.kinds import JUDGES, CellCase, CellResult, Judge
from theorax.verifiers.planned_claim import PlannedClaim
from theorax.verifiers.settings import Settings

__all__ = ["OwnEvidence", "OwnPlan", "looked_for", "own_plans", "seen_of"]

SHARE = 10  # the level of refutation over that of all cases of the engine
PART = 8  # the draws of a case of the author's over those of one of the engine's
DEAREST = 3  # a case that costs more than this part of its claim waits
TOGETHER = 2  # and so do those that with the ones before cost more than this part
TRIES = 3  # values of a letter at which the program is tried
LONGEST = 160  # characters of an error that are told
DETECTED = 0.5  # the share of the claimed value by which a change is detected
NEW_PROGRAMS = {"quick": 5, "standard": 2}  # the author's programs over those that the engine's cases may add
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


@dataclass(frozen=True)
class PlannedChoice:
    """A case of the engine's before any draw: its lines in the order in which they are tried, and whether it waits."""

    choice: OwnChoice
    lines: tuple[SweepLine, ...]
    waits: bool


@dataclass(frozen=True)
class OwnPlan:
    """The engine's cases of a claim, fixed before any draw; ``none``: why there are none."""

    cases: tuple[PlannedChoice, ...] = ()
    none: str = ""


def own_plans(
    theorem: Theorem,
    planned: Mapping[str, PlannedClaim],
    table: Table,
    settings: Settings,
    settled: Collection[str],
) -> dict[str, OwnPlan]:
    """The engine's cases of every claim.

    At a lower effort than thorough a case waits that costs more than a third of its claim, and so do those that ask for
    more new programs than a part of the author's: compiling is most of what a check costs.
    """
    known: set[Hashable] = set()
    for name, lines in table.items():
        for line in lines:
            known |= _programs(theorem, line, table[name])
    most = math.inf if settings.effort == "thorough" else max(1, len(known) // NEW_PROGRAMS[settings.effort])
    room = _Room(known, most)
    found: dict[str, OwnPlan] = {}
    for name, claim in planned.items():
        if not claim.cases or claim.cases[0].cell.line is BOX:
            found[name] = OwnPlan()
        elif name in settled:
            found[name] = OwnPlan(none="a proof settles it")
        elif settings.at or settings.sizes:
            found[name] = OwnPlan(none="values were asked for")
        else:
            found[name] = _planned(theorem, claim, table, settings, room)
    return found


@dataclass
class _Room:
    """Programs known so far, and how many more the cases of the engine's may ask for."""

    known: set[Hashable]
    left: float

    def takes(self, new: set[Hashable]) -> bool:
        """True if these programs fit in; they are known from then on."""
        new = new - self.known
        if len(new) > self.left:
            return False
        self.left -= len(new)
        self.known |= new
        return True


def _planned(theorem: Theorem, planned: PlannedClaim, table: Table, settings: Settings, room: _Room) -> OwnPlan:
    """The engine's cases of one claim; where several sizes together are too dear, the largest of them alone."""
    whole = _own_lines(planned, table)
    dearest = math.inf if settings.effort == "thorough" else sum(map(_cost, whole)) / DEAREST
    left = dearest * DEAREST / TOGETHER
    cases: list[PlannedChoice] = []
    for choice in choices(theorem, planned.claim, whole):
        tried: list[PlannedChoice] = []
        for part in choice.smaller:
            lines = _drawn_lines(planned, part, whole[0], dearest)
            if lines:
                first = lines[0]
                has_instances = any(letter.array for letter in planned.claim.observed)
                is_dear = (first.random or has_instances) and _cost(first) > min(dearest, left)
                waits = is_dear or not room.takes(_programs(theorem, first, (*table[first.experiment], first)))
                tried.append(PlannedChoice(part, lines, waits))
                if not waits:
                    left -= _cost(first)
                    break
        cases += [case for case in tried if not case.waits][:1] or tried[:1]
    return OwnPlan(tuple(cases), "" if cases else "no other value is admissible")


def _programs(theorem: Theorem, line: SweepLine, every: Sequence[SweepLine]) -> set[Hashable]:
    """The programs that a line needs; where models themselves are looked at, one for each of their shapes."""
    experiment = theorem.experiments[line.experiment]
    try:
        found = structures(experiment, line, every)
        whole = [(line.experiment, *_whole_numbers(line, size)) for size in line.sizes]
    except TheoraxError:  # told where it is drawn
        return set()
    return found or set(whole)


def _whole_numbers(line: SweepLine, size: int) -> Iterator[tuple[str, int]]:
    return ((letter.name, int(value)) for letter, value in line.letters_at(size).items() if value.is_Integer)


def _own_lines(planned: PlannedClaim, table: Table) -> list[SweepLine]:
    """The author's lines of the claim, whole."""
    found = {case.cell.line.place: whole_line(table, case.cell.line) for case in planned.cases}
    return list(found.values())


def _drawn_lines(planned: PlannedClaim, choice: OwnChoice, line: SweepLine, dearest: float) -> tuple[SweepLine, ...]:
    """The first lines of the choice, with the draws that they need."""
    own = list(islice(lines_of(planned.claim, choice, line, line.draws), TRIES))
    draws = _enough(planned, choice, own[0], dearest) if own else 0
    return tuple(one.with_draws(draws) for one in own)


def _enough(planned: PlannedClaim, choice: OwnChoice, line: SweepLine, dearest: float) -> int:
    """An eighth of the draws, or as many more as detect a change of the claimed value by a half.

    Of the only value of a letter in the predicted side more, up to a third of the claim: as many as tell the claim from one
    that does not depend on the letter.
    """
    most, judge = line.draws, JUDGES[type(planned.claim)]
    if any(letter.array for letter in planned.claim.observed):  # one instance refutes, and none supports
        return max(1, math.ceil(most / PART))
    if not line.random:
        return most
    is_mean = planned.claim.averaged is not None or planned.claim.tending is not None
    first = draws = min(most, max(math.ceil(most / PART), FEWEST_DRAWS if is_mean else judge.fewest))
    while draws < most and not _detects(planned, line.with_draws(draws)):
        draws = min(most, 2 * draws)
    if draws == most and not _detects(planned, line):
        draws = first
    if choice.place is Place.NEAR and choice.letter in _dependent(planned.claim, line):
        assert planned.claim.prediction is not None  # which holds the letter
        constant = planned.claim.prediction.subs(choice.letter, _first_case(planned)[choice.letter])
        affordable = most if math.isinf(dearest) else min(most, int(dearest // sum(line.sizes)))
        while 2 * draws <= affordable and not _detects(planned, line.with_draws(draws), constant):
            draws *= 2
    return draws


def _first_case(planned: PlannedClaim) -> Mapping[Letter, Expr]:
    line = planned.cases[0].cell.line
    return {**line.case, line.swept: Integer(line.sizes[0])}


def _detects(planned: PlannedClaim, line: SweepLine, other: Expr | None = None) -> bool:
    """True if these draws notice a change of the claimed value by a half, or to that of another prediction."""
    claim, judge = planned.claim, JUDGES[type(planned.claim)]
    levels = Levels(planned.levels.support, planned.levels.refute / SHARE)
    try:
        cells = list(judge.cells(claim, line))
        cases = [judge.prepare(claim, cell, levels, claim) for cell in cells]
        if other is None:
            changes = [DETECTED * abs(case.claimed or 0.0) for case in cases]
        else:
            variant = replace(claim, **{claim.predicted: other})
            rivals = [judge.prepare(variant, cell, levels, claim) for cell in cells]
            changes = [case.apart(rival) or 0.0 for case, rival in zip(cases, rivals, strict=True)]
    except TheoraxError:
        return True  # told where it is drawn
    return all(
        not change or case.noticeable is None or case.noticeable <= change
        for case, change in zip(cases, changes, strict=True)
    )


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
        return _own_lines(self.planned, self.table)

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
        for letter in _dependent(self.claim, self.lines()[0]):
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


def _dependent(claim: Claim, line: SweepLine) -> list[Letter]:
    """The letters of the predicted side whose dependence cases can show."""
    predicted = claim.prediction
    if predicted is None or claim.sided is not Side.EQUAL or predicted.atoms(Measured):
        return []
    found = {*line.case} | ({line.swept} if claim.tending is None else set())
    return sorted(predicted.free_symbols & found, key=str)


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


def _cost(line: SweepLine) -> float:
    """The least cost of a line: its draws, each as dear as its size."""
    return float(line.draws * sum(line.sizes))


def _told(error: Exception) -> str:
    """An error in one line."""
    told = " ".join(str(error).split())
    told = told if isinstance(error, TheoraxError) else f"{type(error).__name__}: {told}"
    return told if len(told) <= LONGEST else f"{told[:LONGEST].rpartition(' ')[0]} …"


def _holding(letters: Sequence[SeenLetter]) -> str:
    return "; ".join(f"{row.letter} = {', '.join(row.values)}" for row in letters)
