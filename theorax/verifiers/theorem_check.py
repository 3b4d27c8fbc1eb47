"""One theorem, from its file to its outcome: plan, draws, decisions, sensitivity, proof."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from theorax.decide import nightly
from theorax.decide.equivalence import combine
from theorax.decide.spending import level_of
from theorax.decide.status import Decision, Finding, Levels, Reason, Side, Status, settle
from theorax.decide.verdict import Verdict
from theorax.language import Claim, Theorem
from theorax.numerics import platform
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers import assumptions, claim_verdicts, proof_check
from theorax.verifiers.attacks import controls, sensitivity, tested_hypotheses
from theorax.verifiers.attempts import AttemptLog, ClaimVersion, claim_version
from theorax.verifiers.cases import user_models
from theorax.verifiers.cases.draws import Draws, Table
from theorax.verifiers.cases.lines import control_lines, evidence_lines, lines, refuse_unknown
from theorax.verifiers.kinds import JUDGES, Judged, Prepared
from theorax.verifiers.loading import load
from theorax.verifiers.outcome import Checked, ControlOutcome, MutantOutcome, TheoremOutcome, Work
from theorax.verifiers.settings import PlannedCheck, Settings


@dataclass(frozen=True)
class Planned:
    """A claim with the prepared cases of its evidence; ``notes`` say of each why its design cannot decide, if so."""

    name: str
    claim: Claim
    cases: tuple[Prepared, ...]
    levels: Levels
    notes: tuple[str, ...]
    version: ClaimVersion
    attempt: int = 1
    logged: bool = True

    @property
    def refusal(self) -> str:
        """Why the claim is not worth running; empty if it is."""
        return next((note for note in self.notes if note), "")


def observe(theorem_id: str, settings: Settings, log: AttemptLog, kept: bytes | None = None) -> Checked:
    """Check one theorem, and hand back what it was decided from.

    ``kept``, the observations of an earlier check, stand in for draws: the decision is then made again from them.

    **Raises:** UsageError where settings and theorem do not fit; StatementError, DesignError and ObservationError where
    the theorem's file is at fault.
    """
    started, cpu = time.perf_counter(), time.process_time()
    catalogue = _catalogue(settings)
    facts = catalogue.facts(theorem_id)
    theorem, table = _prepare(theorem_id, settings, catalogue)
    draws = Draws(theorem_id, theorem, table, settings, kept)
    steps, settled = proof_check.check(theorem)
    planned_claims = _attempted(theorem_id, theorem, table, settings, log)
    claims: list[Verdict] = []
    fired: list[ControlOutcome] = []
    mutants: list[MutantOutcome] = []
    for name, claim in theorem.claims.items():
        planned = planned_claims[name]
        verdict = _decide(
            theorem, planned, draws, settled.get(name, False), proof_check.false_step(steps, name, theorem)
        )
        if settings.nightly and (tails := nightly.night(verdict)) is not None:
            nights = log.nights(planned.version, settings.seed, tails)
            verdict = nightly.monitored(verdict, nights, settings.level)
        if verdict.status in (Status.SUPPORTED, Status.REFUTED, Status.PROVED, Status.CERTIFIED):
            failing = control_lines(theorem, name, table)
            fired += controls.controls(name, claim, failing, planned.levels, draws, settings.effort)
            if planned.cases and not planned.refusal:
                found = sensitivity.mutants(name, claim, planned.cases, planned.levels, draws.on)
                # A weaker variant must stay supported where the claim is; where it is not, it may fall with it.
                refuted = verdict.status == Status.REFUTED
                mutants += [part for part in found if not (refuted and part.expected == "stays supported")]
        parts = (theorem, name, claim, planned.cases, steps)
        verdict = replace(
            verdict,
            ledger=(
                *verdict.ledger,
                *assumptions.ledger(*parts, settled=verdict.status == Status.PROVED, logged=planned.logged),
            ),
            scope=verdict.scope or assumptions.scope(*parts, settled=verdict.status == Status.PROVED),
        )
        if verdict.status == Status.SUPPORTED and (said := sensitivity.contradiction(name, mutants)):
            verdict = replace(verdict, status=Status.ERROR, sentence=said)
        claims.append(verdict)
    claims = [sensitivity.insensitive(controls.insensitive(claim, fired), mutants) for claim in claims]
    status, reason = overall(claims)
    outcome = TheoremOutcome(
        id=theorem_id,
        title=facts.title,
        paper=facts.paper,
        source=catalogue.citation(facts.paper),
        place=theorem.place,
        label=theorem.label,
        status=status,
        reason=reason,
        blocked_by=(),
        uses=theorem.uses,
        letters=claim_verdicts.letters(theorem),
        hypotheses=tuple(tested_hypotheses.told(part, theorem, draws) for part in theorem.hypotheses),
        claims=tuple(claims),
        controls=tuple(fired),
        mutants=tuple(mutants),
        proof=steps,
        issues=theorem.issues,
        replay=settings.replay(theorem_id),
        work=Work(
            seconds=time.perf_counter() - started,
            draws=draws.count,
            programs=sum(sampler.meter.programs for sampler in draws.samplers),
            compile_seconds=sum(sampler.meter.compile_cpu_seconds for sampler in draws.samplers),
            cpu_seconds=time.process_time() - cpu,
        ),
        model=settings.model,
        references=theorem.references,
    )
    return Checked(outcome, draws.packed())


def plan(theorem_id: str, settings: Settings, log: AttemptLog) -> list[PlannedCheck]:
    """What a check of this theorem would measure and what its designs can see, without any draw."""
    theorem, table = _prepare(theorem_id, settings, _catalogue(settings))
    found = []
    for name in theorem.claims:
        planned = _planned_next(theorem_id, theorem, name, table, settings, log)
        for case, note in zip(planned.cases, planned.notes, strict=True):
            line = case.cell.line
            found.append(
                PlannedCheck(
                    theorem=theorem_id,
                    claim=name,
                    kind=planned.claim.kind,
                    subject=line.name,
                    at=case.cell.label,
                    sizes=tuple(map(float, line.sizes)),
                    draws=(line.draws,) * len(line.sizes),
                    margin=case.margin,
                    bias=case.bias,
                    half_width=case.half_width,
                    noticeable=case.noticeable,
                    attempt=planned.attempt,
                    level=planned.levels.support,
                    p_support=case.expected,
                    decides=not note,
                    note=note,
                )
            )
    return found


def versions(theorem_id: str, settings: Settings) -> dict[str, ClaimVersion]:
    """Under which version the attempts at each claim are counted."""
    theorem, table = _prepare(theorem_id, settings, _catalogue(settings))
    return {name: _plan(theorem_id, theorem, name, table, settings, 1).version for name in theorem.claims}


def overall(claims: Sequence[Verdict]) -> tuple[Status, str | None]:
    """The status of a theorem from those of its claims, and the sentence of the claim that decided.

    | claims (those that the source prints wrongly set aside) | theorem |
    |---|---|
    | at least one | the status of largest severity |
    | none | error |

    A claim with ``corrected`` says what the source prints: that it is refuted is the finding, not a failure.
    """
    standing = [claim for claim in claims if claim.corrected is None]
    if not standing:
        return Status.ERROR, "no claim was decided"
    worst = max(standing, key=lambda claim: claim.status.severity)  # the first of equally bad ones
    return worst.status, None if worst.status.holds else f"{worst.id}: {worst.sentence}"


def _catalogue(settings: Settings) -> Catalogue:
    return Catalogue(tuple(map(Path, settings.roots))) if settings.roots else Catalogue()


def _prepare(theorem_id: str, settings: Settings, catalogue: Catalogue) -> tuple[Theorem, Table]:
    platform.enable(device=settings.device, cache_dir=f"{settings.state}/compiled")
    theorem = load(theorem_id, catalogue)
    refuse_unknown(theorem, settings)
    if settings.model is not None:
        theorem = user_models.adopt(theorem_id, theorem, settings.model)
    return theorem, {name: lines(name, part, settings) for name, part in theorem.experiments.items()}


def _attempted(
    theorem_id: str, theorem: Theorem, table: Table, settings: Settings, log: AttemptLog
) -> dict[str, Planned]:
    """Every claim planned at the level of its attempt, all attempts logged before anything is drawn.

    A nightly run is no attempt: its data feed a process that keeps its own account.
    """
    found = {}
    for name in theorem.claims:
        planned = _plan(theorem_id, theorem, name, table, settings, 1)
        if planned.cases and not planned.refusal and not settings.nightly:
            number = log.begin(planned.version, settings.seed)
            if number is None:  # the run says that nothing is kept; so does the verdict, of its attempt
                planned = replace(planned, logged=False)
            elif number > 1:
                planned = _plan(theorem_id, theorem, name, table, settings, number)
        found[name] = planned
    return found


def _planned_next(
    theorem_id: str, theorem: Theorem, name: str, table: Table, settings: Settings, log: AttemptLog
) -> Planned:
    """A claim planned at the level that its next attempt will have."""
    planned = _plan(theorem_id, theorem, name, table, settings, 1)
    number = 1 if settings.nightly else log.next_number(planned.version, settings.seed)
    return _plan(theorem_id, theorem, name, table, settings, number) if number > 1 else planned


def _plan(theorem_id: str, theorem: Theorem, name: str, table: Table, settings: Settings, attempt: int) -> Planned:
    claim = theorem.claims[name]
    judge = JUDGES[type(claim)]
    found = [cell for line in evidence_lines(theorem, claim, table) for cell in judge.cells(claim, line)]
    level = level_of(settings.level, attempt)
    levels = Levels(level, level)
    cases = tuple(judge.prepare(claim, cell, levels.shared(len(found)), claim) for cell in found)
    version = claim_version(theorem_id, name, claim, cases, settings.model)
    return Planned(name, claim, cases, levels, tuple(map(_note, cases)), version, attempt)


def _note(case: Prepared) -> str:
    """Why the design of this case cannot decide, and the cheapest that would; empty where it can."""
    if not case.weakness:
        return ""
    return f"Too weak to decide, so not run: {claim_verdicts.place(case.cell)} has {case.weakness}."


def _decide(theorem: Theorem, planned: Planned, draws: Draws, settled: bool, false_step: str) -> Verdict:
    name, claim, levels = planned.name, planned.claim, planned.levels
    findings = [Finding.PROOF] if settled else []

    def outcome(decision: Decision | None, cases: Sequence[Judged | Prepared], note: str = "") -> Verdict:
        status = settle([*findings, Finding.UNDECIDED])
        found = claim_verdicts.claim_outcome(
            name, claim, status, decision, cases, levels.support, settled=settled, note="" if settled else note
        )
        return replace(found, attempt=planned.attempt)

    if false_step:
        findings.append(Finding.HYPOTHESIS_VIOLATED)
        return outcome(None, planned.cases, false_step)
    if not planned.cases:
        reason = Reason.HYPOTHESIS_UNSAMPLED if claim.observed else Reason.NOT_DECIDABLE_YET
        return outcome(Decision.undecided(reason, 0.0, 1.0, Side.EQUAL, levels), ())
    if planned.refusal:
        weak = next(case for case, note in zip(planned.cases, planned.notes, strict=True) if note)
        reason = weak.why_not or Reason.UNDERPOWERED
        return outcome(Decision.undecided(reason, 0.0, 1.0, Side.EQUAL, levels), planned.cases, planned.refusal)
    if violated := tested_hypotheses.violated(theorem, theorem.needed(claim), planned.cases, draws):
        findings.append(violated[0])
        return outcome(None, planned.cases, violated[1])
    judge = JUDGES[type(claim)]
    judged = [judge.judge(claim, case, draws.on(case.cell.line)) for case in planned.cases]
    decision = combine([part.decision for part in judged], levels)
    rigorous = any(part.rigorous and part.decision.status is Status.REFUTED for part in judged)
    if decision.status is Status.REFUTED:
        findings.append(Finding.COUNTEREXAMPLE if rigorous else Finding.TEST_REFUTED)
    if all(part.trivial for part in judged):
        findings.append(Finding.TRIVIAL_BOUND)
    if decision.status is Status.SUPPORTED:
        if all(part.covered for part in judged):
            findings.append(Finding.CERTIFICATE)
        else:
            findings.append(Finding.INSTANCES if all(part.rigorous for part in judged) else Finding.TEST_SUPPORTED)
    if settled and decision.status is Status.REFUTED:
        # A proof and a refutation of one statement: the program measured is not the one proved, or one of the two is
        # wrong. Neither word may be shown.
        findings.append(Finding.HYPOTHESIS_VIOLATED)
        return outcome(decision, judged, "Its proof and its measurement contradict each other.")
    return outcome(decision, judged)
