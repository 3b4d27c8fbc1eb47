"""Attempts to break a claim on its own data: its wrong variants must fall, its weaker ones must stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from theorax.decide.equivalence import combine
from theorax.decide.findings import Finding, Found
from theorax.decide.status import Decision, Status
from theorax.decide.wording import numbers_line
from theorax.errors import DesignError
from theorax.language import Claim
from theorax.verifiers.attacks.mutants import Variant, variants
from theorax.verifiers.cases.evaluation import Observed, evaluate_draws
from theorax.verifiers.cases.sweep_lines import Cell, SweepLine
from theorax.verifiers.kinds import JUDGES, CellCase
from theorax.verifiers.outcome import Expected, MutantOutcome
from theorax.verifiers.planned_claim import PlannedClaim


def mutants(planned: PlannedClaim, observed: Callable[[SweepLine], Observed]) -> list[MutantOutcome]:
    """Every variant of the claim, decided on the claim's own data with the claim's own weights.

    A wrong variant is killed if it is not supported; that it is refuted is the stronger kill. One whose predictions lie
    within the claim's margin at every case cannot be told from the claim: it is shown as that and counts as neither. A
    machine-made variant without a finite real value (a term dropped under a root, say) states nothing and is left out.
    The numbers shown are those of the first case that refutes the variant, else those of its weakest case.
    """
    found = []
    for variant in variants(planned.name, planned.claim):
        try:
            found.append(_mutant(planned, variant, observed))
        except DesignError:
            if variant.origin == "file":
                raise
    return found


def _mutant(planned: PlannedClaim, variant: Variant, observed: Callable[[SweepLine], Observed]) -> MutantOutcome:
    claim, cases = planned.claim, planned.cases
    # A weaker variant is judged as the claim is: else a refutation that the claim is spared would contradict it.
    levels = planned.levels.of_attacks if variant.expected is Expected.KILLED else planned.levels
    judge, shared = JUDGES[type(claim)], levels.part(planned.share).shared(len(cases))
    variants = [judge.prepare(variant.claim, case.cell, shared, claim) for case in cases]
    same_sides = claim.sided is variant.claim.sided and all(
        getattr(claim, part) == getattr(variant.claim, part) for part in claim.measured_fields
    )
    inside = variant.expected is Expected.KILLED and _same_numbers(claim, variant.claim, cases, observed)
    inside = inside or (
        variant.expected is Expected.KILLED
        and same_sides
        and all(_within(new, old) for new, old in zip(variants, cases, strict=True))
    )
    decisions: list[Decision] = []
    for case in variants:  # one case outside the margin refutes the variant: the others would not change the word
        judged = judge.judge(variant.claim, case, observed(case.cell.line)).charged(planned.share)
        decisions.append(judged.decision.within_class)
        if decisions[-1].status is Status.REFUTED and not decisions[-1].equivalent_within_margin:
            break
    decision = combine(decisions, levels, of=len(variants))
    return MutantOutcome(
        claim=planned.name,
        name=variant.name,
        statement=variant.claim.statement,
        killed=decision.refuted_at(planned.levels.refute).status is not Status.SUPPORTED,
        status=decision.status,
        expected=Expected.WITHIN if inside else variant.expected,
        origin=variant.origin,
        detail=numbers_line(decision, variants[0].sign),
    )


def _same_numbers(
    claim: Claim, variant: Claim, cases: tuple[CellCase, ...], observed: Callable[[SweepLine], Observed]
) -> bool:
    """True if the two differ in what is measured only by a factor that is one in every case, and in nothing else."""
    if claim.averaged is None:
        return False
    own, other = getattr(claim, claim.averaged), getattr(variant, claim.averaged)
    if own == other or replace(variant, **{claim.averaged: own}) != claim:
        return False
    whole = [Cell(observed(case.cell.line).line, case.cell.chosen) for case in cases]
    return all(
        np.array_equal(
            evaluate_draws(own, cell, observed(cell.line), at), evaluate_draws(other, cell, observed(cell.line), at)
        )
        for cell in whole
        for at in range(len(cell.line.sizes))
    )


def are_decided(outcomes: Sequence[MutantOutcome]) -> bool:
    """True if more draws would change nothing: wrong variants are refuted or supported, weaker ones supported."""
    return all(
        part.status in (Status.SUPPORTED, Status.REFUTED)
        for part in outcomes
        if part.expected in (Expected.KILLED, Expected.STAYS)
    )


def contradiction(name: str, outcomes: Sequence[MutantOutcome]) -> Iterator[Found]:
    """The first weaker variant that fell on the very data that support its claim."""
    fallen = [part for part in outcomes if part.claim == name and part.expected is Expected.STAYS and part.killed]
    for part in fallen[:1]:
        said = "this checker" if part.origin == "machine" else "this checker or the file"
        told = (
            f"The claim is supported and its weaker variant {part.name!r} ({part.statement}) is "
            f"{part.status} on the same data: {said} contradicts itself, so neither word is shown."
        )
        yield Found(Finding.WEAKER_FELL, told)


def surviving_variant(name: str, outcomes: Sequence[MutantOutcome]) -> Iterator[Found]:
    """The first wrong variant of the file's own that holds on the claim's data.

    Machine-made variants do not count here: some differ from the claim by less than anyone would call wrong.
    """
    passing = [
        part
        for part in outcomes
        if part.claim == name and part.origin == "file" and part.expected is Expected.KILLED and not part.killed
    ]
    for part in passing[:1]:
        told = (
            f"The wrong variant {part.name!r} ({part.statement}) holds on the same data: "
            "this check cannot tell it from the claim."
        )
        yield Found(Finding.INSENSITIVE, told)


def indistinguishable_variants(name: str, outcomes: Sequence[MutantOutcome]) -> tuple[str, ...]:
    """The machine's variants whose predictions lie within the margin of the claim, in one sentence."""
    names = [
        part.name
        for part in outcomes
        if part.claim == name and part.origin == "machine" and part.expected is Expected.WITHIN
    ]
    return (f"cannot tell from: {', '.join(names)}",) if names else ()


def rejected_variants(outcomes: list[MutantOutcome]) -> tuple[int, int]:
    """Number of wrong variants rejected, and of those that can be told from the claim."""
    counted = [mutant for mutant in outcomes if mutant.expected is Expected.KILLED]
    return sum(mutant.killed for mutant in counted), len(counted)


def _within(variant: CellCase, case: CellCase) -> bool:
    """True if the variant's prediction lies within the margin of the claim's own prediction."""
    apart = variant.apart(case)
    # A variant at the very margin lies outside, however the two roundings of that number fall.
    return apart is not None and apart < case.plan.margin * (1 - 2.0**-40)
