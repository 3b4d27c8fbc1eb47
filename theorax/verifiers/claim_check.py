"""One claim of a theorem, from its plan to its verdict: looks at its draws, decisions, attacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from theorax.decide.equivalence import combine
from theorax.decide.findings import Finding, Found, decisive
from theorax.decide.size_arithmetic import over_sizes
from theorax.decide.status import Reason, Status
from theorax.decide.stopping import ends
from theorax.decide.verdict import LookTaken, Verdict
from theorax.language import Theorem
from theorax.verifiers import claim_verdicts, guards, proof_check
from theorax.verifiers.attacks import controls, sensitivity, tested_hypotheses, witnesses
from theorax.verifiers.cases.averages_at_few_sizes import measured_alone
from theorax.verifiers.cases.draws import Draws, Table
from theorax.verifiers.cases.sweep_lines import control_lines
from theorax.verifiers.kinds import JUDGES
from theorax.verifiers.kinds.lowering import CellResult
from theorax.verifiers.outcome import ControlOutcome, Expected, MutantOutcome
from theorax.verifiers.phases import phase
from theorax.verifiers.planned_claim import PlannedClaim
from theorax.verifiers.proof_check import CheckedProofs
from theorax.verifiers.settings import Settings

__all__ = ["ClaimCheck"]


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
        claims: list[Verdict] = []
        fired: list[ControlOutcome] = []
        mutants: list[MutantOutcome] = []
        for name, planned in planned_claims.items():
            verdict, own = self.looked(planned)
            if verdict.status.holds or verdict.status is Status.REFUTED:
                failing = control_lines(self.theorem, name, self.table)
                with phase("attacking"):
                    fired += controls.run_controls(planned, failing, self.draws, self.settings.effort)
                mutants += own
            verdict = replace(verdict, unseen=(*verdict.unseen, *sensitivity.indistinguishable_variants(name, mutants)))
            claims.append(verdict.with_findings(*_attacked(verdict, fired, mutants)))
        return claims, fired, mutants

    def looked(self, planned: PlannedClaim) -> tuple[Verdict, list[MutantOutcome]]:
        """The verdict at the look that ends the draws, or at all draws, and what became of the wrong variants there.

        The first look ends them that decides the claim, for a whole suite, and its variants. The levels of all looks add
        up to those of the claim, so that any rule of stopping keeps them.
        """
        for number, part in enumerate(planned.stages, start=1):
            verdict, may_end, judged = self._decided(part)
            if planned.looks:
                seen, of = planned.looks[number - 1].draws, planned.looks[-1].draws
                verdict = replace(verdict, look=LookTaken(number, len(planned.looks), seen, of))
            mutants: list[MutantOutcome] = []
            if part.cases and not part.refusal and (verdict.status.holds or verdict.status is Status.REFUTED):
                with phase("attacking"):
                    mutants = self._mutants(verdict, part)
            if may_end and (verdict.status is Status.REFUTED or sensitivity.are_decided(mutants)):
                break
        return self._searched(planned, verdict, judged), mutants

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

    def _decided(self, planned: PlannedClaim) -> tuple[Verdict, bool, Sequence[CellResult]]:
        """The verdict before any attempt to break it, whether it may end the draws, and the cases that were decided."""
        claim, theorem, draws, proofs = planned.claim, self.theorem, self.draws, self.proofs
        settled = proofs.settles(planned.name)
        proof = (claim_verdicts.proved(proofs.scopes.get(planned.name, "")),) if settled else ()

        def found(*findings: Found) -> tuple[Verdict, bool, Sequence[CellResult]]:
            return claim_verdicts.verdict(theorem, planned, proofs, (*proof, *findings)), False, ()

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
        findings = (*proof, *claim_verdicts.decided_findings(judged, decision, settled=settled))
        looked = guards.look(guards.DecidedClaim(self.theorem_id, theorem, planned, judged, draws, self.settings))
        verdict = claim_verdicts.verdict(theorem, planned, proofs, findings, judged, decision, looked)
        return verdict, ends(decision) and not looked.withholds, judged

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
