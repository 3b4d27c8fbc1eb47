"""One theorem, from its file to its outcome: plan, draws, decisions, sensitivity, proof."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from theorax.numerics import platform
from theorax.numerics.sampler import Sampler
from theorax.theorems.catalogue import Catalogue
from theorax.theorems.language import Claim, Hypothesis, Measured, Theorem
from theorax.verifiers import models, proofs, sensitivity, sentences
from theorax.verifiers.decide import combine
from theorax.verifiers.decision import Decision, Finding, Levels, Reason, Side, Status, settle
from theorax.verifiers.kinds import JUDGES, Judged, Prepared
from theorax.verifiers.lines import BOX, Cell, Line, Observed, control_lines, evaluate, evidence_lines, lines, refuse_unknown
from theorax.verifiers.loading import load
from theorax.verifiers.measure import measure
from theorax.verifiers.outcome import (
    ControlOutcome,
    HypothesisOutcome,
    MutantOutcome,
    TheoremOutcome,
    Verdict,
    Work,
)
from theorax.verifiers.planning import cheapest
from theorax.verifiers.settings import PlannedCheck, Settings

Table = Mapping[str, tuple[Line, ...]]


@dataclass(frozen=True)
class Planned:
    """A claim with the prepared cases of its evidence; ``notes`` say of each why its design cannot decide, if so."""

    name: str
    claim: Claim
    cases: tuple[Prepared, ...]
    levels: Levels
    notes: tuple[str, ...]

    @property
    def refusal(self) -> str:
        """Why the claim is not worth running; empty if it is."""
        return next((note for note in self.notes if note), "")


def check(theorem_id: str, settings: Settings) -> TheoremOutcome:
    """Check one theorem.

    **Raises:** UsageError where settings and theorem do not fit; StatementError, DesignError and ObservationError where
    the theorem's file is at fault.
    """
    started, cpu = time.perf_counter(), time.process_time()
    catalogue = _catalogue(settings)
    facts = catalogue.facts(theorem_id)
    theorem, table = _prepare(theorem_id, settings, catalogue)
    draws = _Draws(theorem_id, theorem, table, settings)
    steps, settled = proofs.check(theorem)
    claims: list[Verdict] = []
    controls: list[ControlOutcome] = []
    mutants: list[MutantOutcome] = []
    for name, claim in theorem.claims.items():
        planned = _plan(theorem, name, table, settings)
        outcome = _decide(theorem, planned, draws, settled.get(name, False), proofs.false_step(steps, name, theorem))
        if outcome.status in (Status.SUPPORTED.name, Status.REFUTED.name, Status.PROVED.name, Status.CERTIFIED.name):
            failing = control_lines(theorem, name, table)
            controls += sensitivity.controls(name, claim, failing, planned.levels, draws.on)
            if planned.cases and not planned.refusal:
                found = sensitivity.mutants(name, claim, planned.cases, planned.levels, draws.on)
                # A weaker variant must stay supported where the claim is; where it is not, it may fall with it.
                refuted = outcome.status == Status.REFUTED.name
                mutants += [part for part in found if not (refuted and part.expected == "stays supported")]
        claims.append(outcome)
    claims = [_insensitive(claim, controls) for claim in claims]
    status, reason = overall(claims)
    return TheoremOutcome(
        id=theorem_id,
        title=facts.title,
        paper=facts.paper,
        source=catalogue.citation(facts.paper),
        place=theorem.place,
        label=theorem.label,
        status=status.name,
        reason=reason,
        blocked_by=(),
        uses=theorem.uses,
        letters=sentences.letters(theorem),
        hypotheses=tuple(_hypothesis(name, part, theorem, draws) for name, part in theorem.hypotheses.items()),
        claims=tuple(claims),
        controls=tuple(controls),
        mutants=tuple(mutants),
        proof=steps,
        issues=theorem.issues,
        replay=settings.replay(theorem_id),
        work=Work(
            seconds=time.perf_counter() - started,
            draws=draws.count,
            programs=sum(sampler.meter.programs for sampler in draws.samplers),
            compile_seconds=sum(sampler.meter.compile_seconds for sampler in draws.samplers),
            cpu_seconds=time.process_time() - cpu,
        ),
        model=settings.model,
        references=theorem.references,
    )


def plan(theorem_id: str, settings: Settings) -> list[PlannedCheck]:
    """What a check of this theorem would measure and what its designs can see, without any draw."""
    theorem, table = _prepare(theorem_id, settings, _catalogue(settings))
    found = []
    for name in theorem.claims:
        planned = _plan(theorem, name, table, settings)
        for case, note in zip(planned.cases, planned.notes, strict=True):
            weights, line = case.weights, case.cell.line
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
                    bias=weights.bias.total if weights is not None else None,
                    half_width=weights.half_width if weights is not None else None,
                    noticeable=weights.mde(0.9) if weights is not None else None,
                    decides=not note,
                    note=note,
                )
            )
    return found


def overall(claims: Sequence[Verdict]) -> tuple[Status, str | None]:
    """The status of a theorem from those of its claims, and the sentence of the claim that decided.

    | claims (those that the source prints wrongly set aside) | theorem |
    |---|---|
    | any error, blocked, refuted, vacuous or inconclusive | the first of these, in this order |
    | otherwise | the weakest of supported, certified, proved |

    A claim with ``corrected`` says what the source prints: that it is refuted is the finding, not a failure.
    """
    standing = [claim for claim in claims if claim.corrected is None]
    order = (
        Status.ERROR,
        Status.BLOCKED,
        Status.REFUTED,
        Status.VACUOUS,
        Status.INCONCLUSIVE,
        Status.SUPPORTED,
        Status.CERTIFIED,
        Status.PROVED,
    )
    for status in order:
        for claim in standing:
            if claim.status == status.name:
                good = status in (Status.SUPPORTED, Status.CERTIFIED, Status.PROVED)
                return status, None if good else f"{claim.id}: {claim.sentence}"
    return Status.ERROR, "no claim was decided"


class _Draws:
    """The lines drawn so far: each is drawn once, when a claim first needs it."""

    def __init__(self, theorem_id: str, theorem: Theorem, table: Table, settings: Settings) -> None:
        self._theorem_id, self._theorem, self._table, self._settings = theorem_id, theorem, table, settings
        self._samplers: dict[str, Sampler] = {}
        self._drawn: dict[tuple[str, str, tuple[tuple[str, str], ...]], Observed] = {}
        self.count = 0

    def on(self, line: Line) -> Observed:
        """What was drawn on the line; nothing for a claim over a box."""
        if line is BOX:
            return Observed(line, ())
        place = (line.experiment, line.name, tuple(sorted(line.label.items())))
        if place not in self._drawn:
            every = self._table[line.experiment]
            (whole,) = (mate for mate in every if (mate.name, mate.label) == (line.name, line.label))
            experiment = self._theorem.experiments[line.experiment]
            # Some operations exist on the CPU alone; the rest runs where the user asked for it.
            device = "cpu" if experiment.platform == "cpu" else self._settings.device
            sampler = self._samplers.setdefault(device, Sampler(device=device))
            self._drawn[place] = measure(self._theorem_id, experiment, whole, every, self._settings.seed, sampler)
            self.count += whole.draws * len(whole.sizes)
        return self._drawn[place]

    @property
    def samplers(self) -> list[Sampler]:
        """The samplers in use, one per device."""
        return list(self._samplers.values())

    @property
    def all(self) -> list[Observed]:
        """Everything drawn so far."""
        return list(self._drawn.values())


def _catalogue(settings: Settings) -> Catalogue:
    return Catalogue(tuple(map(Path, settings.roots))) if settings.roots else Catalogue()


def _prepare(theorem_id: str, settings: Settings, catalogue: Catalogue) -> tuple[Theorem, Table]:
    platform.enable(device=settings.device, cache_dir=f"{settings.state}/compiled")
    theorem = load(theorem_id, catalogue)
    refuse_unknown(theorem, settings)
    if settings.model is not None:
        theorem = models.adopt(theorem_id, theorem, settings.model)
    return theorem, {name: lines(name, part, settings) for name, part in theorem.experiments.items()}


def _plan(theorem: Theorem, name: str, table: Table, settings: Settings) -> Planned:
    claim = theorem.claims[name]
    judge = JUDGES[type(claim)]
    found = [cell for line in evidence_lines(theorem, claim, table) for cell in judge.cells(claim, line)]
    levels = Levels(settings.level, settings.level)
    cases = tuple(judge.prepare(claim, cell, levels.shared(len(found)), claim) for cell in found)
    return Planned(name, claim, cases, levels, tuple(map(_note, cases)))


def _note(case: Prepared) -> str:
    """Why the design of this case cannot decide, and the cheapest that would; empty where it can."""
    weights = case.weights
    if weights is None or weights.decides(case.margin):
        return ""
    better = cheapest(weights.plan, case.margin)
    remedy = f"the cheapest design that would: {better}" if better else "no number of draws would: widen the margin"
    return (
        f"Too weak to decide, so not run: {sentences.place(case.cell)} has a half-width of {weights.half_width:.2g} "
        f"(bias {weights.bias.total:.2g}) against a margin of {case.margin:.2g}; {remedy}."
    )


def _decide(theorem: Theorem, planned: Planned, draws: _Draws, settled: bool, false_step: str) -> Verdict:
    name, claim, levels = planned.name, planned.claim, planned.levels
    findings = [Finding.PROOF] if settled else []

    def outcome(decision: Decision | None, cases: Sequence[Judged | Prepared], note: str = "") -> Verdict:
        status = settle([*findings, Finding.UNDECIDED])
        return sentences.claim_outcome(
            name, claim, status, decision, cases, levels.support, settled=settled, note="" if settled else note
        )

    if false_step:
        findings.append(Finding.HYPOTHESIS_VIOLATED)
        return outcome(None, planned.cases, false_step)
    if not planned.cases:
        reason = Reason.HYPOTHESIS_UNSAMPLED if claim.observed else Reason.NOT_DECIDABLE_YET
        return outcome(Decision.undecided(reason, 0.0, 1.0, Side.EQUAL, levels), ())
    if planned.refusal:
        weak = next(case for case, note in zip(planned.cases, planned.notes, strict=True) if note)
        reason = (weak.weights.why_not(weak.margin) if weak.weights else None) or Reason.UNDERPOWERED
        return outcome(Decision.undecided(reason, 0.0, 1.0, Side.EQUAL, levels), planned.cases, planned.refusal)
    if violated := _violated(theorem, planned, draws):
        findings.append(violated[0])
        return outcome(None, planned.cases, violated[1])
    judge = JUDGES[type(claim)]
    judged = [judge.judge(claim, case, draws.on(case.cell.line)) for case in planned.cases]
    decision = combine([part.decision for part in judged], levels)
    rigorous = any(part.rigorous and part.decision.status is Status.REFUTED for part in judged)
    if decision.status is Status.REFUTED:
        findings.append(Finding.COUNTEREXAMPLE if rigorous else Finding.TEST_REFUTED)
    if any(part.trivial for part in judged):
        findings.append(Finding.TRIVIAL_BOUND)
    if decision.status is Status.SUPPORTED:
        certified = all(part.rigorous for part in judged)
        findings.append(Finding.CERTIFICATE if certified else Finding.TEST_SUPPORTED)
    if settled and decision.status is Status.REFUTED:
        # A proof and a refutation of one statement: the program measured is not the one proved, or one of the two is
        # wrong. Neither word may be shown.
        findings.append(Finding.HYPOTHESIS_VIOLATED)
        return outcome(decision, judged, "Its proof and its measurement contradict each other.")
    return outcome(decision, judged)


def _violated(theorem: Theorem, planned: Planned, draws: _Draws) -> tuple[Finding, str] | None:
    """A hypothesis of the claim that the draws of its evidence violate."""
    for name in theorem.needed(planned.claim):
        hypothesis = theorem.hypotheses[name]
        if hypothesis.holds is None:
            continue
        for case in planned.cases:
            share = _share(hypothesis, draws.on(case.cell.line), case.cell)
            if share == 0:
                return Finding.NO_INSTANCE, (
                    f"No draw of {sentences.place(case.cell)} satisfies the hypothesis {name} ({hypothesis.holds}); "
                    "what follows from it is true of nothing."
                )
            if share is not None and share < 1:
                return Finding.HYPOTHESIS_VIOLATED, (
                    f"Only {share:.0%} of the draws of {sentences.place(case.cell)} satisfy the hypothesis {name} "
                    f"({hypothesis.holds}). Build subjects that satisfy it."
                )
    return None


def _share(hypothesis: Hypothesis, observed: Observed, cell: Cell) -> float | None:
    """The share of draws that satisfy the relation; None if this experiment does not measure its letters."""
    assert hypothesis.holds is not None
    measured = {s.name for s in hypothesis.holds.free_symbols if isinstance(s, Measured)}
    if not observed.tables or not measured <= set(observed.tables[0]):
        return None
    whole = Cell(observed.line, cell.chosen)
    gap, relation = hypothesis.holds.lhs - hypothesis.holds.rhs, type(hypothesis.holds)
    satisfied = [
        [bool(relation(float(value), 0)) for value in evaluate(gap, whole, observed, at)]
        for at in range(len(observed.line.sizes))
    ]
    flat = [value for column in satisfied for value in column]
    return sum(flat) / len(flat)


def _hypothesis(name: str, part: Hypothesis, theorem: Theorem, draws: _Draws) -> HypothesisOutcome:
    breaking = tuple(
        label
        for experiment in theorem.experiments.values()
        for label, subject in experiment.subjects.items()
        if name in subject.breaks and subject.fails
    )
    tested = None
    if part.holds is not None:
        shares = [
            share
            for observed in draws.all
            if name not in observed.line.subject.breaks
            and (share := _share(part, observed, Cell(observed.line))) is not None
        ]
        tested = f"{part.holds} in {min(shares):.0%} of the draws" if shares else f"{part.holds}, not drawn"
    return HypothesisOutcome(name, part.sentence, breaking, part.unbroken, tested)


def _insensitive(claim: Verdict, controls: Sequence[ControlOutcome]) -> Verdict:
    """A supported claim whose control did not fire could not have failed: it is vacuous."""
    silent = [control for control in controls if control.claim == claim.id and not control.fired]
    if claim.status != Status.SUPPORTED.name or not silent:
        return claim
    return replace(
        claim,
        status=Status.VACUOUS.name,
        sentence=f"The control {silent[0].subject!r} breaks {', '.join(silent[0].breaks)} and the claim still passes: "
        "this check could not have failed.",
    )
