"""One theorem, from its file to its outcome: plan, draws, decisions, sensitivity, proof."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from theorax.decide import nightly
from theorax.decide.equivalence import combine
from theorax.decide.findings import Found
from theorax.decide.spending import level_of
from theorax.decide.status import Levels, Reason, Status
from theorax.decide.verdict import Verdict
from theorax.language import Theorem
from theorax.numerics import platform
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers import claim_verdicts, proof_check
from theorax.verifiers.attacks import controls, sensitivity, tested_hypotheses
from theorax.verifiers.attempts import AttemptLog, ClaimVersion, claim_version
from theorax.verifiers.cases import user_models
from theorax.verifiers.cases.draws import Draws, Table
from theorax.verifiers.cases.sweep_lines import control_lines, evidence_lines, refuse_unknown, sweep_lines
from theorax.verifiers.claim_verdicts import PlannedClaim
from theorax.verifiers.kinds import JUDGES, Prepared
from theorax.verifiers.loading import load
from theorax.verifiers.outcome import (
    Checked,
    ControlOutcome,
    Expected,
    MutantOutcome,
    StepOutcome,
    TheoremOutcome,
    Work,
    overall,
)
from theorax.verifiers.settings import PlannedCheck, Settings


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
        verdict = _decide(theorem, planned, draws, steps, settled=settled.get(name, False))
        if settings.nightly and (tails := nightly.night(verdict)) is not None:
            nights = log.nights(planned.version, settings.seed, tails)
            verdict = nightly.monitored(verdict, nights, settings.level)
        if verdict.status.holds or verdict.status is Status.REFUTED:
            failing = control_lines(theorem, name, table)
            fired += controls.controls(name, claim, failing, planned.levels, draws, settings.effort)
            if planned.cases and not planned.refusal:
                mutants += _mutants(verdict, planned, draws)
        claims.append(verdict.with_findings(*_attacked(verdict, fired, mutants)))
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
        hypotheses=tuple(tested_hypotheses.hypothesis_outcome(part, theorem, draws) for part in theorem.hypotheses),
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
    """Plan of a check: its measurements and the power of its designs, without any draw."""
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


def _catalogue(settings: Settings) -> Catalogue:
    return Catalogue(tuple(map(Path, settings.roots))) if settings.roots else Catalogue()


def _prepare(theorem_id: str, settings: Settings, catalogue: Catalogue) -> tuple[Theorem, Table]:
    platform.enable(device=settings.device, cache_dir=f"{settings.state}/compiled")
    theorem = load(theorem_id, catalogue)
    refuse_unknown(theorem, settings)
    if settings.model is not None:
        theorem = user_models.adopt(theorem_id, theorem, settings.model)
    return theorem, {name: sweep_lines(name, part, settings) for name, part in theorem.experiments.items()}


def _attempted(
    theorem_id: str, theorem: Theorem, table: Table, settings: Settings, log: AttemptLog
) -> dict[str, PlannedClaim]:
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
) -> PlannedClaim:
    """A claim planned at the level that its next attempt will have."""
    planned = _plan(theorem_id, theorem, name, table, settings, 1)
    number = 1 if settings.nightly else log.next_number(planned.version, settings.seed)
    return _plan(theorem_id, theorem, name, table, settings, number) if number > 1 else planned


def _plan(theorem_id: str, theorem: Theorem, name: str, table: Table, settings: Settings, attempt: int) -> PlannedClaim:
    claim = theorem.claims[name]
    judge = JUDGES[type(claim)]
    found = [cell for line in evidence_lines(theorem, claim, table) for cell in judge.cells(claim, line)]
    level = level_of(settings.level, attempt)
    levels = Levels(level, level)
    cases = tuple(judge.prepare(claim, cell, levels.shared(len(found)), claim) for cell in found)
    version = claim_version(theorem_id, name, claim, cases, settings.model)
    return PlannedClaim(name, claim, cases, levels, tuple(map(_note, cases)), version, attempt)


def _note(case: Prepared) -> str:
    """The sentence why the design of this case cannot decide, with the cheapest that would; empty where it can."""
    if not case.weakness:
        return ""
    return f"Too weak to decide, so not run: {claim_verdicts.place(case.cell)} has {case.weakness}."


def _decide(
    theorem: Theorem, planned: PlannedClaim, draws: Draws, steps: Sequence[StepOutcome], *, settled: bool
) -> Verdict:
    """The verdict before any attempt to break it."""
    claim, proof = planned.claim, (claim_verdicts.PROVED,) if settled else ()

    def found(*findings: Found) -> Verdict:
        return claim_verdicts.verdict(theorem, planned, steps, (*proof, *findings))

    if false := proof_check.false_step(steps, planned.name, theorem):
        return found(false)
    if not planned.cases:
        reason = Reason.HYPOTHESIS_UNSAMPLED if claim.observed else Reason.NOT_DECIDABLE_YET
        return found(claim_verdicts.undecided(reason))
    if planned.refusal:
        weak = next(case for case, note in zip(planned.cases, planned.notes, strict=True) if note)
        return found(claim_verdicts.undecided(weak.why_not or Reason.UNDERPOWERED, planned.refusal))
    if violated := tested_hypotheses.violated(theorem, theorem.needed(claim), planned.cases, draws):
        return found(violated)
    judge = JUDGES[type(claim)]
    judged = [judge.judge(claim, case, draws.on(case.cell.line)) for case in planned.cases]
    decision = combine([part.decision for part in judged], planned.levels)
    findings = (*proof, *claim_verdicts.findings(judged, decision, settled=settled))
    return claim_verdicts.verdict(theorem, planned, steps, findings, judged, decision)


def _mutants(verdict: Verdict, planned: PlannedClaim, draws: Draws) -> list[MutantOutcome]:
    """Every variant of the claim on its own data; a weaker one must stay supported only where the claim is."""
    found = sensitivity.mutants(planned.name, planned.claim, planned.cases, planned.levels, draws.on)
    refuted = verdict.status is Status.REFUTED
    return [part for part in found if not (refuted and part.expected is Expected.STAYS)]


def _attacked(verdict: Verdict, fired: Sequence[ControlOutcome], mutants: Sequence[MutantOutcome]) -> Iterator[Found]:
    """Findings of the attempts to break the claim."""
    if verdict.status is Status.SUPPORTED:
        yield from sensitivity.contradiction(verdict.id, mutants)
    yield from controls.insensitive(verdict.id, fired)
    yield from sensitivity.insensitive(verdict.id, mutants)
