"""A claim with the plans of its evidence, before any data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from theorax.decide.conditional_variance import FEWEST
from theorax.decide.designs import LIKELY
from theorax.decide.plans import Planned
from theorax.decide.status import Levels
from theorax.decide.stopping import DEFAULT_SCHEDULE, ENDING, Look, at_look
from theorax.decide.verdict import LoggedAttempt
from theorax.errors import DesignError
from theorax.language import Claim
from theorax.names import many, with_article
from theorax.verifiers.attempts import ClaimVersion
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import CellCase


@dataclass(frozen=True)
class PlannedClaim:
    """A claim with the planned cases of its evidence; ``notes`` say of each why its design cannot decide, if so.

    ``looks``: after which draws it is decided; the cases are those of all draws, and `at_look` has those of a look.
    """

    name: str
    claim: Claim
    cases: tuple[CellCase, ...]
    levels: Levels
    notes: tuple[str, ...]
    version: ClaimVersion
    attempt: int = 1
    asked: tuple[Cell, ...] = ()  # in the place of ``cases``, where --sizes leaves fewer sizes than the claim needs
    sizes_needed: int = 0
    is_settled: bool = False  # a proof says that it settles the claim
    entry: LoggedAttempt | None = None  # of the attempt in the log; None where it has none
    logged: bool = True  # False where an attempt should have been logged and could not be
    looks: tuple[Look, ...] = ()  # none where all draws are decided at once
    share: float = 1.0  # of the levels, which the cases spend
    whole: PlannedClaim | None = None  # of which this is one look
    runs_anyway: bool = False  # its draws are made, however weak its design

    @property
    def is_tried(self) -> bool:
        """True if data are drawn to decide it."""
        return bool(self.cases) and not self.refusal

    @property
    def shortage(self) -> str:
        """The sentence that the sizes asked for are too few; empty where they are enough."""
        if not self.sizes_needed:
            return ""
        return f"{with_article(self.claim.kind).capitalize()} needs at least {many(self.sizes_needed, 'size')} here."

    @property
    def refusal(self) -> str:
        """The sentence why the claim is not worth running; empty if it is run."""
        if self.runs_anyway:
            return ""
        pairs = zip(self.cases, self.notes, strict=True)
        return next((note for case, note in pairs if note and not case.runs_if_weak), "")

    def at_look(self, look: Look) -> PlannedClaim:
        """The claim as it is decided at one of its looks."""
        return replace(self, cases=tuple(_at_look(case, look) for case in self.cases), share=look.share, whole=self)

    def first_look(self, draws: int) -> int:
        """Of so many draws of a line those that its first look sees."""
        return draws if not self.looks else draws * self.looks[0].draws // self.looks[-1].draws

    @property
    def stages(self) -> tuple[PlannedClaim, ...]:
        """The claim at each of its looks; the claim itself where it has none."""
        return tuple(self.at_look(look) for look in self.looks) or (self,)

    def power(self) -> float:
        """The probability of support over all cases and looks, if the claim holds exactly and is as noisy as planned.

        It is that of the last look, whose levels are the weakest: earlier looks only save draws. Of cases it is the
        product, which is exact for independent ones and a lower bound for limits on both sides of normal estimates,
        whatever their dependence (Sidak 1967). A case that draws decide only in part is left out.
        """
        return math.prod(case.plan.power() for case in self._drawn)

    @property
    def worst_power(self) -> float:
        """The same probability where the classes of corrections do their worst."""
        return math.prod(case.plan.worst_power for case in self._drawn)

    @property
    def _drawn(self) -> tuple[CellCase, ...]:
        return tuple(case for case in self.stages[-1].cases if case.plan.estimates and not case.runs_if_weak)

    @property
    def hashes(self) -> tuple[str, ...]:
        """The plans of all cases at all looks, fixed before the data."""
        return tuple(case.plan.hash for part in self.stages for case in part.cases if case.plan.estimates)

    @property
    def expected_shares(self) -> tuple[float, ...]:
        """For every case the share of its draws that is expected, if the claim holds exactly and is as noisy as planned."""
        if not self.looks:
            return (1.0,) * len(self.cases)
        return tuple(_expected_share(case, self.looks) for case in self.cases)


def looks_of(cases: Sequence[CellCase]) -> tuple[Look, ...]:
    """The looks of a claim: at those parts of the draws at which each of its cases is likely to end them.

    A look at which a true claim would most likely go on would spend a share of the level for nothing. One at fewer
    draws than the guards ask for would let pass what they find in more.
    """
    draws = {case.cell.line.draws for case in cases}
    if len(draws) != 1 or not all(map(_is_looked_at, cases)):
        return ()
    found = DEFAULT_SCHEDULE.looks(draws.pop(), lambda look: all(_serves(case, look) for case in cases))
    return found if len(found) > 1 else ()


def _serves(case: CellCase, look: Look) -> bool:
    if look.draws < FEWEST:
        return False
    try:
        return _ending(case, look).power() >= LIKELY
    except DesignError:  # too few draws for any interval
        return False


def _ending(case: CellCase, look: Look) -> Planned:
    """The plan of the case at this look, at the levels at which it ends the draws."""
    plan = _at_look(case, look).plan
    ending = look.of(ENDING) if look.share < 1 else plan.levels
    levels = Levels(min(plan.levels.support, ending.support), min(plan.levels.refute, ending.refute))
    return replace(plan, levels=levels)


def _is_looked_at(case: CellCase) -> bool:
    """True if the case may be decided at a part of its draws."""
    line = case.cell.line
    return case.plan.estimates and case.plan.random and line.random and line.draws > 0


def _at_look(case: CellCase, look: Look) -> CellCase:
    """The same case as it is decided at a look."""
    line = case.cell.line
    cell = replace(case.cell, line=line.with_draws(look.draws))
    return replace(case, cell=cell, plan=at_look(case.plan, look, line.draws))


def _expected_share(case: CellCase, looks: Sequence[Look]) -> float:
    share, before, open_ = 0.0, 0, 1.0
    for look in looks:
        share += open_ * (look.draws - before) / looks[-1].draws
        before, open_ = look.draws, min(open_, 1.0 - _ending(case, look).power())
    return share
