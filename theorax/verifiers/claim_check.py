"""One claim of a theorem, from its plan to its verdict: looks at its draws, decisions, attacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from theorax.decide.equivalence import combine
from theorax.decide.findings import Finding, Found, decisive
from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked
from theorax.decide.size_arithmetic import over_sizes
from theorax.decide.status import Decision, Reason, Status
from theorax.decide.stopping import ends
from theorax.decide.verdict import LookTaken, Seen, Verdict
from theorax.language import Theorem
from theorax.verifiers import claim_verdicts, guards, own_evidence, proof_check
from theorax.verifiers.attacks import controls, sensitivity, tested_hypotheses, witnesses
from theorax.verifiers.cases.averages_at_few_sizes import measured_alone
from theorax.verifiers.cases.draws import Draws, Table
from theorax.verifiers.cases.sweep_lines import control_lines
from theorax.verifiers.kinds import JUDGES, CellResult
from theorax.verifiers.outcome import ControlOutcome, Expected, MutantOutcome
from theorax.verifiers.own_plans import OwnPlan, own_plans
from theorax.verifiers.phases import phase
from theorax.verifiers.planned_claim import PlannedClaim
from theorax.verifiers.proof_check import CheckedProofs
from theorax.verifiers.settings import Settings

__all__ = ["ClaimCheck"]


@dataclass(frozen=True)
class _Decided:
    """A claim at one look, with everything that its verdict is made of; ``may_end``: it may end the draws."""

    theorem: Theorem
    planned: PlannedClaim
    proofs: CheckedProofs
    findings: tuple[Found, ...]
    judged: tuple[CellResult, ...] = ()
    decision: Decision | None = None
    guarded: Looked = NOTHING_LOOKED_AT
    may_end: bool = False
    look: LookTaken | None = None

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the author's cases."""
        return self.with_seen(None)

    def with_seen(self, seen: Seen | None, findings: Sequence[Found] = ()) -> Verdict:
        """The verdict with what was seen, and further findings."""
        found = (*self.findings, *findings)
        return self._verdict(found, self.judged, self.decision, seen)

    def refuted(
        self, judged: Sequence[CellResult], decision: Decision, findings: Sequence[Found], seen: Seen | None
    ) -> Verdict:
        """The verdict where cases of the engine's refute what the author's support."""
        return self._verdict(findings, judged, decision, seen)

    def _verdict(
        self, findings: Sequence[Found], judged: Sequence[CellResult], decision: Decision | None, seen: Seen | None
    ) -> Verdict:
        parts = (self.theorem, self.planned, self.proofs)
        found = claim_verdicts.verdict(*parts, findings, judged, decision, self.guarded, seen)
        return found if self.look is None else replace(found, look=self.look)


@dataclass(frozen=True)
class ClaimCheck:
    """Decides and attacks the claims of one theorem on its draws."""

    theorem_id: str
    theorem: Theorem
    table: Table
    draws: Draws
    proofs: CheckedProofs
    settings: Settings

    def all_of(
        self, planned_claims: Mapping[str, PlannedClaim]
    ) -> tuple[list[Verdict], list[ControlOutcome], list[MutantOutcome]]:
        """Every claim decided and attacked, with what its controls and its mutants came to."""
        settled = {name for name in planned_claims if self.proofs.settles(name)}
        plans = own_plans(self.theorem, planned_claims, self.table, self.settings, settled)
        claims: list[Verdict] = []
        fired: list[ControlOutcome] = []
        mutants: list[MutantOutcome] = []
        for name, planned in planned_claims.items():
            decided, own = self.looked(planned)
            verdict = self._with_own_cases(planned, decided, plans[name])
            verdict = self._searched(planned, verdict, decided.judged)
            if verdict.status.holds or verdict.status is Status.REFUTED:
                failing = control_lines(self.theorem, name, self.table)
                with phase("attacking"):
                    fired += controls.run_controls(planned, failing, self.draws, self.settings.effort)
                mutants += own
            verdict = replace(verdict, unseen=(*verdict.unseen, *sensitivity.indistinguishable_variants(name, mutants)))
            claims.append(verdict.with_findings(*_attacked(verdict, fired, mutants)))
        return claims, fired, mutants

    def looked(self, planned: PlannedClaim) -> tuple[_Decided, list[MutantOutcome]]:
        """The claim at the look that ends the draws, or at all draws, and what became of the wrong variants there.

        The first look ends them that decides the claim, for a whole suite, and its variants. The levels of all looks add
        up to those of the claim, so that any rule of stopping keeps them.
        """
        for number, part in enumerate(planned.stages, start=1):
            decided = self._decided(part)
            verdict = decided.verdict
            if planned.looks:
                seen, of = planned.looks[number - 1].draws, planned.looks[-1].draws
                decided = replace(decided, look=LookTaken(number, len(planned.looks), seen, of))
            mutants: list[MutantOutcome] = []
            if part.cases and not part.refusal and (verdict.status.holds or verdict.status is Status.REFUTED):
                with phase("attacking"):
                    mutants = self._mutants(verdict, part)
            if decided.may_end and (verdict.status is Status.REFUTED or sensitivity.are_decided(mutants)):
                break
        return decided, mutants

    def _with_own_cases(self, planned: PlannedClaim, decided: _Decided, plan: OwnPlan) -> Verdict:
        """The verdict with what the engine's own cases say of a claim that stands so far."""
        if not decided.verdict.status.holds or not decided.judged or decided.decision is None:
            return decided.with_seen(own_evidence.seen_of(planned.claim, planned) if decided.judged else None)
        with phase("attacking"):
            own = own_evidence.looked_for(self.theorem, planned, plan, self.table, self.draws, self.settings)
        if own.refuting:
            decision = own.together(decided.judged, planned.levels)
            judged = [*decided.judged, *own.refuting]
            found = claim_verdicts.decided_findings(judged, decision, settled=False)
            told = [replace(part, sentence=own.sentence(part.sentence)) for part in found]
            return decided.refuted(judged, decision, told, own.seen)
        return decided.with_seen(own.seen, own.beyond)

    def _searched(self, planned: PlannedClaim, verdict: Verdict, judged: Sequence[CellResult]) -> Verdict:
        """The verdict after a search for a witness, where the claim is one for all draws that nothing has decided."""
        by_instances = decisive(verdict.findings).finding is Finding.INSTANCES
        is_open = verdict.status in (Status.SUPPORTED, Status.INCONCLUSIVE) or by_instances
        if not (is_open and witnesses.is_searched(planned.claim, judged)):
            return verdict
        with phase("attacking"):
            found, kept = self.search.searched(planned.name, judged, verdict.design_hash)
        if kept is not None:
            self.draws.keep(kept.columns)
        return claim_verdicts.searched(verdict, found, settled=self.proofs.settles(planned.name))

    @cached_property
    def search(self) -> witnesses.WitnessSearch:
        """The search for witnesses, whose compiled programs the claims of the theorem share."""
        return witnesses.WitnessSearch(self.theorem_id, self.theorem, self.draws, self.settings.effort)

    def _decided(self, planned: PlannedClaim) -> _Decided:
        """The claim decided, before any attempt to break it."""
        claim, theorem, draws, proofs = planned.claim, self.theorem, self.draws, self.proofs
        settled = proofs.settles(planned.name)
        proof = (claim_verdicts.proved(proofs.scopes.get(planned.name, "")),) if settled else ()

        def found(*findings: Found) -> _Decided:
            return _Decided(theorem, planned, proofs, (*proof, *findings))

        if false := proof_check.false_step(proofs.steps, planned.name, theorem):
            return found(false)
        if stands := proof_check.as_it_stands(claim):
            return found(stands)
        if planned.asked:
            measured = "" if settled else measured_alone(claim, planned.asked, draws)
            return found(claim_verdicts.undecided(Reason.TOO_FEW_SIZES, f"{measured} {planned.shortage}".strip()))
        if not planned.cases:
            reason = Reason.HYPOTHESIS_UNSAMPLED if claim.observed else Reason.NOT_DECIDABLE_YET
            return found(claim_verdicts.undecided(reason, claim_verdicts.no_case(theorem, claim)))
        if planned.refusal:
            weak = next(case for case, note in zip(planned.cases, planned.notes, strict=True) if note)
            return found(claim_verdicts.undecided(weak.why_not or Reason.UNDERPOWERED, planned.refusal))
        if violated := tested_hypotheses.violated(theorem, theorem.needed(claim), planned.cases, draws):
            return found(violated)
        judge = JUDGES[type(claim)]
        closed = proofs.closed(theorem)
        judged = [
            judge.resting(claim, judge.judge(claim, case, draws.on(case.cell.line)), closed).charged(planned.share)
            for case in planned.cases
        ]
        decision = combine([part.decision for part in judged], planned.levels)
        decision = over_sizes(decision, *guards.swept(theorem, planned))
        tending = str(claim.tending) if claim.tending is not None else "n"
        findings = (
            *proof,
            *claim_verdicts.decided_findings(judged, decision, settled=settled, letter=tending),
            *claim_verdicts.excluded_by_data(planned.name, proofs, decision),
        )
        looked = guards.look(guards.DecidedClaim(self.theorem_id, theorem, planned, judged, draws, self.settings))
        may_end = ends(decision) and not looked.withholds
        return _Decided(theorem, planned, proofs, findings, tuple(judged), decision, looked, may_end)

    def _mutants(self, verdict: Verdict, planned: PlannedClaim) -> list[MutantOutcome]:
        """Every variant of the claim on its own data; a weaker one must stay supported only where the claim is.

        None of what a source misprints, once it is refuted: a variant of it may be what holds.
        """
        refuted = verdict.status is Status.REFUTED
        if refuted and planned.claim.corrected:
            return []
        found = sensitivity.mutants(planned, self.draws.on)
        return [part for part in found if not (refuted and part.expected is Expected.STAYS)]


def _attacked(verdict: Verdict, fired: Sequence[ControlOutcome], mutants: Sequence[MutantOutcome]) -> Iterator[Found]:
    """Findings of the attempts to break the claim."""
    if verdict.status is Status.SUPPORTED:
        yield from sensitivity.contradiction(verdict.id, mutants)
    yield from controls.passing_control(verdict.id, fired)
    yield from sensitivity.surviving_variant(verdict.id, mutants)
