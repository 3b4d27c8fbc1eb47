r"""Subjects that break a hypothesis: does the claim fail on them, and with what probability.

A control is asked on a sixteenth (if that is `FEWEST` draws) and on a quarter of its draws first. Where these do not
refute the claim it is looked at as the claim is. This first run, in which the control is noticed or not, must refute: a
subject for which the claim is true, and whose draws only scatter too much to decide it, has shown nothing.

| effort | bound of the probability that it is noticed |
|---|---|
| quick | what the first run shows |
| standard, thorough | the first that reaches 0.8, in the order of `theorax.decide.kill_bounds` |

A bound in every draw that a run violates, beyond the declared errors, is violated by the whole: that counts as noticed,
and no ball is asked. Where balls refute, nothing is random and nothing is bounded.

The claim is asked at the levels of attacks (`Levels.of_attacks`): what a control has to show is that support could have
failed.

**Errors:** a subject for which the claim is true is noticed with at most twice the level of support: the first two
askings share that of the last look. A control that kills less surely than 0.8 is said to reach it with probability
0.05 at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from theorax.decide.equivalence import combine
from theorax.decide.findings import Finding, Found
from theorax.decide.kill_bounds import DEMANDED, FEWEST, Again, KillBound, at_least_one, kill_bound, of_run
from theorax.decide.status import Decision, Reason, Status
from theorax.decide.stopping import Look, ends
from theorax.decide.wording import numbers_line
from theorax.errors import TheoraxError
from theorax.language import Claim
from theorax.verifiers.cases.drawn_tables import cut
from theorax.verifiers.cases.draws import Draws
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import SweepLine
from theorax.verifiers.kinds import JUDGES, CellResult, Judge
from theorax.verifiers.outcome import ControlOutcome
from theorax.verifiers.planned_claim import PlannedClaim

__all__ = ["passing_control", "run_controls"]

FIRST = (16, 4)  # parts of the draws that are asked first


def run_controls(planned: PlannedClaim, lines: Sequence[SweepLine], draws: Draws, effort: str) -> list[ControlOutcome]:
    """Every subject that violates a hypothesis of the claim and must make it fail."""
    return [_control(_Trial(planned, line, draws), effort) for line in lines]


@dataclass(frozen=True)
class _Trial:
    """The claim asked of one control, on any portion of its draws."""

    planned: PlannedClaim
    line: SweepLine
    draws: Draws

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

    @property
    def own(self) -> int:
        """Draws of the claim's own design."""
        return self.line.draws

    @property
    def counted(self) -> int:
        """Draws after which support may end the claim's own design, where a later violation would forbid it."""
        return self.looks[0].draws if self.judge.counts_violations else self.own

    @property
    def fewest(self) -> int:
        """Fewest draws of a repetition."""
        return self.judge.fewest

    @property
    def fewest_of_one_run(self) -> int | None:
        """Fewest draws that one run concludes anything from."""
        return self.judge.fewest_of_one_run

    def judged(self, seen: Observed, share: float, *, repetition: bool = False) -> tuple[list[CellResult], Decision]:
        """The claim's cases on what was drawn, at a share of the levels of attacks, and the claim over all of them.

        A refutation counts where the claim's own design does not support the claim on the same draws.
        """
        cells = list(self.judge.cells(self.claim, seen.line))
        levels = self.planned.levels
        shared = levels.of_attacks.part(share).shared(len(cells))
        cases = [self.judge.prepare(self.claim, cell, shared, self.claim) for cell in cells]
        cases = [case.repeated() for case in cases] if repetition else cases
        judged = [self.judge.judge(self.claim, case, seen).charged(share) for case in cases]
        judged = [replace(part, decision=part.decision.within_class) for part in judged]
        decision = combine([part.decision for part in judged], levels.of_attacks)
        own = decision.refuted_at(levels.refute)
        return judged, own if own.status is Status.SUPPORTED else decision

    def looked(self, on: Callable[[int], Observed]) -> tuple[list[CellResult], Decision, int]:
        """The claim at the look that ends its draws, and these; ``on`` gives the first draws, as many as asked for."""
        for look in self.looks:
            judged, decision = self.judged(on(look.draws), look.share)
            if ends(decision):
                break
        return judged, decision, look.draws

    def tried(self) -> tuple[list[CellResult], Decision, int]:
        """The claim refuted by a part of the draws as a repetition is, else as `looked`; and the number of draws."""
        own, last = self.own, self.looks[-1].share
        parts = [own // part for part in FIRST if own // part >= (FEWEST if part > FIRST[-1] else self.fewest)]
        for part in parts if self.line.random else ():
            if not (seen := self._on(part)).tables:
                break
            judged, decision = self.judged(seen, last / len(parts), repetition=True)
            if decision.status is Status.REFUTED:
                return judged, decision, part
        return self.looked(self._on)

    def is_noticed(self, judged: Sequence[CellResult], decision: Decision) -> bool:
        """True if the claim was seen to fail, and not merely left open by draws that scatter more."""
        if decision.status is not Status.INCONCLUSIVE:
            return decision.status is Status.REFUTED
        violated = self.judge.counts_violations and decision.reason is Reason.NUMERIC_FLOOR
        return violated or not any(part.statistical for part in judged)

    def again(self, draws: int) -> tuple[list[Again], int]:
        """Evidence of the first draws on every case that they refute, and the number of cases."""
        try:
            judged, _ = self.judged(self._without_balls(self._on(draws)), self.looks[-1].share, repetition=True)
        except TheoraxError:
            return [], 1
        return _again(judged), len(judged)

    def ahead(self, draws: int) -> None:
        """Make so many draws at once: others may draw a part of them."""
        self.draws.portion(self.line, 0, draws)

    def refutes(self, first: int, draws: int) -> bool:
        """True if a portion refutes the claim, at the levels of its last look; one that ends in an error does not."""
        seen = self._without_balls(self._portion(first, draws))
        try:
            decision = self.judged(seen, self.looks[-1].share, repetition=True)[1]
        except TheoraxError:
            return False
        # Too few draws without a violation say nothing; a violation, within rounding or not, forbids support.
        violated = self.judge.counts_violations and decision.reason is Reason.NUMERIC_FLOOR
        return decision.status is Status.REFUTED or violated

    def is_killed(self, first: int, draws: int) -> bool:
        """True if the claim's own design, with all its looks, does not support it on these draws."""
        seen = self._portion(first, draws)
        try:
            return self.looked(partial(_first_of, seen, self.line))[1].status is not Status.SUPPORTED
        except TheoraxError:
            return False

    def _on(self, count: int) -> Observed:
        return self.draws.on(self.line.with_draws(count))

    def _portion(self, first: int, count: int) -> Observed:
        return replace(self.draws.portion(self.line, first, count), line=self.line.with_draws(count))

    def _without_balls(self, seen: Observed) -> Observed:
        """The draws of a bound in every draw without their models: no ball is asked."""
        return replace(seen, model=None) if self.judge.counts_violations else seen


def _again(judged: Sequence[CellResult]) -> list[Again]:
    return [part.decision.again for part in judged if part.decision.again is not None]


def _first_of(seen: Observed, line: SweepLine, count: int) -> Observed:
    tables, errors = (cut(columns, 0, count) for columns in (seen.tables, seen.errors))
    return replace(seen, line=line.with_draws(count), tables=tables, errors=errors)


def _control(trial: _Trial, effort: str) -> ControlOutcome:
    line = trial.line
    outcome = ControlOutcome(line.name, line.subject.broken, trial.planned.name, False, Status.ERROR, "no case")
    try:
        judged, decision, drawn = trial.tried()
    except TheoraxError as error:
        return replace(outcome, detail=str(error))
    fired = trial.is_noticed(judged, decision)
    outcome = replace(
        outcome,
        fired=fired,
        status=decision.status,
        kills=int(fired),
        detail=numbers_line(decision, judged[0].sign),
    )
    refuting = [part for part in judged if part.decision.status is Status.REFUTED]
    exact = any(part.rigorous for part in refuting) or not all(part.statistical for part in judged)
    if exact and fired:
        return replace(outcome, detail=f"{outcome.detail}; exact, so not repeated")
    if exact or not fired:
        return outcome
    if effort == "quick" or trial.draws.is_instances(line):
        return _with(outcome, of_run(_again(judged), len(judged), trial, drawn) or at_least_one(drawn))
    return _with(outcome, kill_bound(trial))


def _with(outcome: ControlOutcome, bound: KillBound) -> ControlOutcome:
    return replace(
        outcome,
        replicates=bound.runs,
        kills=bound.kills,
        kill_probability=bound.probability,
        basis=bound.basis,
        run_draws=bound.draws,
    )


def passing_control(name: str, tried: Sequence[ControlOutcome]) -> Iterator[Found]:
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
