r"""Subjects that break a hypothesis: does the claim fail on them, and with what probability.

A control is asked on a quarter of its draws first. Where these do not refute the claim it is looked at as the claim is.
One run that kills is one success out of one. The lower bound of the kill probability is that of Clopper and Pearson from
repetitions on draws of their own; 14 of 14 kills give at least $0.05^{1/14} = 0.807$ at 95 %.

| effort | repetitions | draws of each |
|---|---|---|
| quick | none: the run itself | a quarter of the claim's, or up to the look that decides |
| standard, thorough | 14 | a portion: together a quarter of the claim's |
| the same, if these do not show 0.8 | 14 | a larger portion: together twice the claim's |
| the same, if these do not | 14 | a third of the claim's |
| the same, if these do not either | 14 | the claim's |

A repetition on a portion of the draws counts only where it *refutes* the claim, at the levels of the last look. Power
grows with the draws, so what is refuted by a portion is killed by the claim's own design at least as often: the bound is
conservative. A bound in every draw that a portion violates, beyond the declared errors, is violated by the whole: that
counts too, and no ball is asked. At the claim's own design a kill is whatever is not support at the look that decides.
The first run, in which the control is noticed or not, must refute: a subject for which the claim is true, and whose
draws only scatter too much to decide it, has shown nothing.
Where balls refute, nothing is random and nothing is repeated.

**Errors:** a subject for which the claim is true is noticed with at most twice the claim's level. Each bound holds at
95 %; up to four of them are looked at, so a control that kills less surely than 0.8 is shown to reach it with
probability at most 0.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from theorax.decide.binomial import proportion_of
from theorax.decide.equivalence import combine
from theorax.decide.findings import Finding, Found
from theorax.decide.status import Decision, Reason, Status
from theorax.decide.stopping import Look, ends
from theorax.decide.wording import numbers_of
from theorax.errors import TheoraxError
from theorax.language import Claim
from theorax.names import many
from theorax.verifiers.cases.drawn_tables import cut
from theorax.verifiers.cases.draws import Draws
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import SweepLine
from theorax.verifiers.kinds import JUDGES, Judge, Judged
from theorax.verifiers.outcome import ControlOutcome
from theorax.verifiers.planned_claim import PlannedClaim

__all__ = ["DEMANDED", "controls", "insensitive", "kill_probability"]

CONFIDENCE = 0.95
QUARTER = 4
DEMANDED = 0.8  # a control that kills less surely leaves the claim untested (METHOD, section 8.4)
REPETITIONS = 14
THIRD = 3
GROWTH = 4  # of a portion, at least, where the first ones do not show enough


def kill_probability(kills: int, repetitions: int) -> float:
    """The lower bound at 95 % of the probability that the control is noticed."""
    return proportion_of(kills, repetitions).lower(1 - CONFIDENCE)


def controls(planned: PlannedClaim, lines: Sequence[SweepLine], draws: Draws, effort: str) -> list[ControlOutcome]:
    """Every subject that violates a hypothesis of the claim and must make it fail."""
    return [_control(_Trial(planned, line), draws, effort) for line in lines]


@dataclass(frozen=True)
class _Trial:
    """The claim asked of one control, on any portion of its draws."""

    planned: PlannedClaim
    line: SweepLine

    @property
    def claim(self) -> Claim:
        """The claim that must fail."""
        return self.planned.claim

    @property
    def judge(self) -> Judge[Any]:
        """The judge of the claim's kind."""
        return JUDGES[type(self.claim)]

    @property
    def looks(self) -> tuple[Look, ...]:
        """The looks of the claim at so many draws as the control has."""
        own, looks = self.line.draws, self.planned.looks
        return tuple(Look(own * look.draws // looks[-1].draws, look.share) for look in looks) or (Look(own, 1.0),)

    def judged(self, seen: Observed, share: float, *, repetition: bool = False) -> tuple[list[Judged], Decision]:
        """The claim's cases on what was drawn, at a share of its levels, and the claim over all of them."""
        cells = list(self.judge.cells(self.claim, seen.line))
        shared = self.planned.levels.part(share).shared(len(cells))
        prepared = [self.judge.prepare(self.claim, cell, shared, self.claim) for cell in cells]
        prepared = [case.repeated() for case in prepared] if repetition else prepared
        judged = [self.judge.judge(self.claim, case, seen).charged(share) for case in prepared]
        return judged, combine([part.decision for part in judged], self.planned.levels)

    def looked(self, on: Callable[[int], Observed]) -> tuple[list[Judged], Decision]:
        """The claim at the look that ends its draws; ``on`` gives the first draws, as many as asked for."""
        for look in self.looks:
            judged, decision = self.judged(on(look.draws), look.share)
            if ends(decision):
                break
        return judged, decision

    def tried(self, on: Callable[[int], Observed]) -> tuple[list[Judged], Decision]:
        """The claim refuted by a quarter of the draws as a repetition is, else as `looked`."""
        part = self.line.draws // QUARTER
        if self.line.random and part >= self.judge.fewest and on(part).tables:
            judged, decision = self.judged(on(part), self.looks[-1].share, repetition=True)
            if decision.status is Status.REFUTED:
                return judged, decision
        return self.looked(on)

    def is_noticed(self, judged: Sequence[Judged], decision: Decision) -> bool:
        """True if the claim was seen to fail, and not merely left open by draws that scatter more."""
        if decision.status is not Status.INCONCLUSIVE:
            return decision.status is Status.REFUTED
        violated = self.judge.counts_violations and decision.reason is Reason.NUMERIC_FLOOR
        return violated or not any(part.statistical for part in judged)

    def refutes(self, seen: Observed) -> bool:
        """True if a portion refutes the claim, at the levels of its last look."""
        decision = self.judged(seen, self.looks[-1].share, repetition=True)[1]
        if self.judge.counts_violations:
            # Too few draws without a violation say nothing; a violation, within rounding or not, forbids support.
            return decision.status is Status.REFUTED or decision.reason is Reason.NUMERIC_FLOOR
        return decision.status is Status.REFUTED

    def is_not_supported(self, seen: Observed) -> bool:
        """True if the claim's own design, with all its looks, does not support it on these draws."""
        return self.looked(partial(_first_of, seen, self.line))[1].status is not Status.SUPPORTED


def _first_of(seen: Observed, line: SweepLine, count: int) -> Observed:
    tables, errors = (cut(columns, 0, count) for columns in (seen.tables, seen.errors))
    return replace(seen, line=line.with_draws(count), tables=tables, errors=errors)


def _kills(portions: Sequence[Observed], is_killed: Callable[[Observed], bool]) -> int:
    """Number of portions on which the control is noticed; one that ends in an error notices nothing."""
    count = 0
    for seen in portions:
        try:
            count += is_killed(seen)
        except TheoraxError:
            continue
    return count


def _control(trial: _Trial, draws: Draws, effort: str) -> ControlOutcome:
    line = trial.line
    outcome = ControlOutcome(line.name, line.subject.broken, trial.planned.name, False, Status.ERROR, "no case")
    try:
        judged, decision = trial.tried(lambda count: draws.on(line.with_draws(count)))
    except TheoraxError as error:
        return replace(outcome, detail=str(error))
    fired = trial.is_noticed(judged, decision)
    outcome = replace(
        outcome,
        fired=fired,
        status=decision.status,
        kills=int(fired),
        detail=numbers_of(decision, judged[0].prepared.sign),
    )
    refuting = [part for part in judged if part.decision.status is Status.REFUTED]
    exact = any(part.rigorous for part in refuting) or not all(part.statistical for part in judged)
    if exact and fired:
        return replace(outcome, detail=f"{outcome.detail}; exact, so not repeated")
    if exact or not fired:
        return outcome
    outcome = replace(outcome, kill_probability=kill_probability(1, 1))
    return outcome if effort == "quick" or draws.is_instances(line) else _repeated(outcome, trial, draws)


def insensitive(name: str, tried: Sequence[ControlOutcome]) -> Iterator[Found]:
    """The first control on which the claim passes, or fails too rarely: on such draws it could not have failed."""
    own = [control for control in tried if control.claim == name]
    silent = [control for control in own if not control.fired]
    # One run is no bound: it is held against the demand only where it was repeated.
    unsure = [control for control in own if control.replicates > 1 and (control.kill_probability or 0.0) < DEMANDED]
    for found in (silent or unsure)[:1]:
        how = (
            ("the claim still passes" if found.status.holds else "the claim is left open there, not refuted")
            if silent
            else f"the claim fails in {found.kills} of {found.replicates} repetitions only, so with probability at "
            f"least {found.kill_probability:.2f}, not {DEMANDED}"
        )
        told = f"The control {found.subject!r} breaks {', '.join(found.breaks)} and {how}: this check could not have failed."
        yield Found(Finding.INSENSITIVE, told)


def _repeated(outcome: ControlOutcome, trial: _Trial, draws: Draws) -> ControlOutcome:
    own, bounding = trial.line.draws, trial.judge.counts_violations
    size = max(trial.judge.fewest, own // (QUARTER * REPETITIONS))
    larger = max(GROWTH * size, 2 * own // REPETITIONS)
    # From the smallest on: the draws of a portion are among those of the next one.
    sizes = [part for part in sorted({size, larger, own // THIRD}) if size <= part < own]
    for part in sizes if outcome.status == Status.REFUTED or bounding else ():
        draws.portion(trial.line, 0, REPETITIONS * part)  # at once: others may draw a part of them
        short = trial.line.with_draws(part)
        portions = [replace(draws.portion(trial.line, i * part, part), line=short) for i in range(REPETITIONS)]
        if bounding:
            portions = [replace(seen, model=None) for seen in portions]  # without models no ball is asked
        kills = _kills(portions, trial.refutes)
        if kill_probability(kills, REPETITIONS) >= DEMANDED:
            return _shown(outcome, kills, f"each on {part} of the {many(own, 'draw')} per size")
    kills = _kills([draws.portion(trial.line, i * own, own) for i in range(REPETITIONS)], trial.is_not_supported)
    return _shown(outcome, kills, "each at the claim's own design")


def _shown(outcome: ControlOutcome, kills: int, how: str) -> ControlOutcome:
    return replace(
        outcome,
        replicates=REPETITIONS,
        kills=kills,
        kill_probability=kill_probability(kills, REPETITIONS),
        detail=f"{outcome.detail}; noticed {kills} of {many(REPETITIONS, 'time')}, {how}",
    )
