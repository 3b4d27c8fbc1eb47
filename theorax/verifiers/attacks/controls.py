r"""Subjects that break a hypothesis: does the claim fail on them, and with what probability.

One run that kills is one success out of one. The lower bound of the kill probability is that of Clopper and Pearson from
repetitions on draws of their own; r of r kills give at least $0.05^{1/r}$ at 95 %: 0.90 for 29, 0.80 for 14.

| effort | repetitions | draws of each |
|---|---|---|
| quick | none: the run itself | the claim's |
| standard, thorough | 29 where the run's own draws make that many portions, else 14 | a portion |
| the same, if these do not show 0.8 | 14 | a portion four times as large |
| the same, if these do not either | 14 | the claim's |

A repetition on a portion of the draws counts only where it *refutes* the claim, at the claim's own levels. Power grows
with the draws, so what is refuted by a portion is killed by the claim's own design at least as often: the bound is
conservative. A bound in every draw that a portion violates, beyond the declared errors, is violated by the whole: that
counts too, and no ball is asked. At the claim's own design a kill is whatever is not support. Where balls refute,
nothing is random and nothing is repeated.

**Errors:** each bound holds at 95 %; up to three of them are looked at, so a control that kills less surely than 0.8 is
shown to reach it with probability at most 0.15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from theorax.decide.binomial import proportion_of
from theorax.decide.equivalence import combine
from theorax.decide.findings import Finding, Found
from theorax.decide.status import Decision, Levels, Reason, Status
from theorax.decide.wording import numbers_of
from theorax.errors import TheoraxError
from theorax.language import Claim
from theorax.names import many
from theorax.verifiers.cases.draws import Draws
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import Cell, SweepLine
from theorax.verifiers.kinds import JUDGES, Judged
from theorax.verifiers.outcome import ControlOutcome

__all__ = ["DEMANDED", "controls", "insensitive", "kill_probability"]

CONFIDENCE = 0.95
DEMANDED = 0.8  # a control that kills less surely leaves the claim untested (METHOD, section 8.4)
MANY, SOME = 29, 14


def kill_probability(kills: int, repetitions: int) -> float:
    """The lower bound at 95 % of the probability that the control is noticed."""
    return proportion_of(kills, repetitions).lower(1 - CONFIDENCE)


def controls(
    name: str, claim: Claim, lines: Sequence[SweepLine], levels: Levels, draws: Draws, effort: str
) -> list[ControlOutcome]:
    """Every subject that violates a hypothesis of the claim and must make it fail."""
    return [_control(name, claim, line, levels, draws, effort) for line in lines]


@dataclass(frozen=True)
class _Trial:
    """The claim asked of one control, on any portion of its draws."""

    claim: Claim
    line: SweepLine
    levels: Levels

    def judged(self, seen: Observed, *, repetition: bool = False) -> tuple[list[Judged], Decision]:
        """The claim's cases on what was drawn, and the claim over all of them."""
        judge = JUDGES[type(self.claim)]
        cells = self.cells(seen.line)
        shared = self.levels.shared(len(cells))
        prepared = [judge.prepare(self.claim, cell, shared, self.claim) for cell in cells]
        prepared = [case.repeated() for case in prepared] if repetition else prepared
        judged = [judge.judge(self.claim, case, seen) for case in prepared]
        return judged, combine([part.decision for part in judged], self.levels)

    def cells(self, line: SweepLine) -> list[Cell]:
        """The claim's cases on the line."""
        return list(JUDGES[type(self.claim)].cells(self.claim, line))

    def kills(self, portions: Sequence[Observed], killed: Callable[[Decision], bool]) -> int:
        """Number of portions on which the control is noticed; one that ends in an error notices nothing."""
        count = 0
        for seen in portions:
            try:
                count += killed(self.judged(seen, repetition=True)[1])
            except TheoraxError:
                continue
        return count


def _control(name: str, claim: Claim, line: SweepLine, levels: Levels, draws: Draws, effort: str) -> ControlOutcome:
    trial = _Trial(claim, line, levels)
    outcome = ControlOutcome(line.name, line.subject.broken, name, False, Status.ERROR, "no case")
    try:
        judged, decision = trial.judged(draws.on(line))
    except TheoraxError as error:
        return replace(outcome, detail=str(error))
    fired = decision.status in (Status.REFUTED, Status.INCONCLUSIVE)
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
    return outcome if effort == "quick" or not draws.on(line).tables else _repeated(outcome, trial, draws)


def insensitive(name: str, tried: Sequence[ControlOutcome]) -> Iterator[Found]:
    """The first control on which the claim passes, or fails too rarely: on such draws it could not have failed."""
    own = [control for control in tried if control.claim == name]
    silent = [control for control in own if not control.fired]
    # One run is no bound: it is held against the demand only where it was repeated.
    unsure = [control for control in own if control.replicates > 1 and (control.kill_probability or 0.0) < DEMANDED]
    for found in (silent or unsure)[:1]:
        how = (
            "the claim still passes"
            if silent
            else f"the claim fails in {found.kills} of {found.replicates} repetitions only, so with probability at "
            f"least {found.kill_probability:.2f}, not {DEMANDED}"
        )
        told = f"The control {found.subject!r} breaks {', '.join(found.breaks)} and {how}: this check could not have failed."
        yield Found(Finding.INSENSITIVE, told)


def _repeated(outcome: ControlOutcome, trial: _Trial, draws: Draws) -> ControlOutcome:
    own = trial.line.draws
    judge = JUDGES[type(trial.claim)]
    enough = own >= MANY * judge.fewest
    count, size = (MANY, own // MANY) if enough else (SOME, max(judge.fewest, own // SOME))
    size = min(size, own)
    bounding = judge.counts_violations
    sizes = [part for part in dict.fromkeys((size, 4 * size)) if part < own]
    for stage, part in enumerate(sizes if outcome.status == Status.REFUTED or bounding else ()):
        repetitions = count if stage == 0 else SOME
        draws.portion(trial.line, 0, repetitions * part)  # at once: others may draw a part of them
        short = replace(trial.line, draws=part)  # one value: what it knows of its sizes is worked out once
        portions = [_on(draws.portion(trial.line, i * part, part), short) for i in range(repetitions)]
        if bounding:
            portions = [replace(seen, model=None) for seen in portions]  # without models no ball is asked
        kills = trial.kills(portions, _violated if bounding else _refuted)
        if kill_probability(kills, repetitions) >= DEMANDED:
            return _shown(outcome, kills, repetitions, f"each on {part} of the {many(own, 'draw')} per size")
    portions = [_on(draws.portion(trial.line, i * own, own), trial.line) for i in range(SOME)]
    kills = trial.kills(portions, lambda decision: decision.status is not Status.SUPPORTED)
    return _shown(outcome, kills, SOME, "each at the claim's own design")


def _refuted(decision: Decision) -> bool:
    return decision.status is Status.REFUTED


def _violated(decision: Decision) -> bool:
    # Too few draws without a violation say nothing; a violation, within rounding or not, forbids support.
    return decision.status is Status.REFUTED or decision.reason is Reason.NUMERIC_FLOOR


def _on(seen: Observed, line: SweepLine) -> Observed:
    return replace(seen, line=line)


def _shown(outcome: ControlOutcome, kills: int, repetitions: int, how: str) -> ControlOutcome:
    bound = kill_probability(kills, repetitions)
    return replace(
        outcome,
        replicates=repetitions,
        kills=kills,
        kill_probability=bound,
        detail=f"{outcome.detail}; noticed {kills} of {many(repetitions, 'time')}, {how}",
    )
