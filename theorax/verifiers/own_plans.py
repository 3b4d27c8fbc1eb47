"""Plans of the engine's own cases, fixed for all claims of a theorem before any draw: which run, with how many draws."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from sympy import Expr, Integer

from theorax.decide.moments import FEWEST_DRAWS
from theorax.decide.status import Levels, Side
from theorax.errors import TheoraxError
from theorax.language import Claim, Letter, Measured, Theorem
from theorax.verifiers.cases.draws import Table, whole_line
from theorax.verifiers.cases.measure import structures
from theorax.verifiers.cases.own_cases import OwnChoice, Place, choices, lines_of
from theorax.verifiers.cases.sweep_lines import BOX, SweepLine
from theorax.verifiers.kinds import JUDGES
from theorax.verifiers.planned_claim import PlannedClaim
from theorax.verifiers.settings import Settings

__all__ = ["SHARE", "OwnPlan", "PlannedChoice", "author_lines", "dependent_letters", "own_plans"]

SHARE = 10  # the level of refutation over that of all cases of the engine
PART = 8  # the draws of a case of the author's over those of one of the engine's
DEAREST = 3  # a case that costs more than this part of its claim waits
TOGETHER = 2  # and so do those that with the ones before cost more than this part
TRIES = 3  # values of a letter at which the program is tried
DETECTED = 0.5  # the share of the claimed value by which a change is detected
NEW_PROGRAMS = {"quick": 5, "standard": 2}  # the author's programs over those that the engine's cases may add


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
    found: dict[str, OwnPlan] = {}
    for name, claim in planned.items():
        if not claim.cases or claim.cases[0].cell.line is BOX:
            found[name] = OwnPlan()
        elif name in settled:
            found[name] = OwnPlan(none="a proof settles it")
        elif settings.at or settings.sizes:
            found[name] = OwnPlan(none="values were asked for")
        else:
            # Of each claim by itself: what it is looked at does not depend on the other claims.
            found[name] = _planned(theorem, claim, table, settings, _Room(set(known), most))
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
    whole = author_lines(planned, table)
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


def author_lines(planned: PlannedClaim, table: Table) -> list[SweepLine]:
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
    if choice.place is Place.NEAR and choice.letter in dependent_letters(planned.claim, line):
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


def _cost(line: SweepLine) -> float:
    """The least cost of a line: its draws, each as dear as its size."""
    return float(line.draws * sum(line.sizes))


def dependent_letters(claim: Claim, line: SweepLine) -> list[Letter]:
    """The letters of the predicted side whose dependence cases can show."""
    predicted = claim.prediction
    if predicted is None or claim.sided is not Side.EQUAL or predicted.atoms(Measured):
        return []
    found = {*line.case} | ({line.swept} if claim.tending is None else set())
    return sorted(predicted.free_symbols & found, key=str)
