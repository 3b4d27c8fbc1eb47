"""Assumptions and scope of a claim's verdict: its ledger, for every kind."""

from __future__ import annotations

from collections.abc import Sequence

from theorax.decide.verdict import Assumption
from theorax.decide.wording import SEEDS
from theorax.language import (
    Claim,
    Hypothesis,
    Theorem,
)
from theorax.verifiers.kinds import Prepared
from theorax.verifiers.outcome import StepOutcome, StepStatus

__all__ = ["ledger", "scope"]


def ledger(
    theorem: Theorem,
    name: str,
    claim: Claim,
    cases: Sequence[Prepared],
    steps: Sequence[StepOutcome],
    *,
    settled: bool,
    logged: bool,
) -> tuple[Assumption, ...]:
    """Everything the verdict rests on: class, moments, seeds, arithmetic, the law sampled, hypotheses, sources."""
    found = [_hypothesis(part, theorem.hypotheses[part]) for part in theorem.needed(claim)]
    if settled:
        cited = [step for step in steps if step.proof == name and step.status is StepStatus.CITED]
        return (*found, *(Assumption("hypothesis", f"{step.reason} ({step.method})", "declared") for step in cited))
    if not cases:
        return tuple(found)
    if claim.range:
        return (*found, Assumption("float model", "balls enclose every rounding; each number of it is exact", "proved"))
    found += claim.assumptions()
    experiment = theorem.experiments[cases[0].cell.line.experiment]
    found.append(Assumption("independence", SEEDS[experiment.seeds], "declared"))
    found.append(Assumption("float model", f"draws are computed in {experiment.dtype}; {_errors(claim)}", "declared"))
    if claim.speaks_of_the_law_drawn:
        subjects = ", ".join(dict.fromkeys(case.cell.line.name for case in cases))
        found.append(
            Assumption("law", f"what is supported is supported for the law of the draws: {subjects}", "declared")
        )
    if not logged:
        found.append(
            Assumption("independence", "this is the first attempt: no log of attempts could be written", "declared")
        )
    return tuple(found)


def scope(
    theorem: Theorem, name: str, claim: Claim, cases: Sequence[Prepared], steps: Sequence[StepOutcome], *, settled: bool
) -> str:
    """For what the word is said: symbols of a proof, or the sizes, subjects and cases that were drawn."""
    if settled:
        return next((step.scope for step in steps if step.proof == name), "").rstrip(".")
    if not cases:
        return ""
    if claim.range:
        return "for " + ", ".join(f"{letter} in [{low}, {high}]" for letter, (low, high) in claim.range.items())
    swept = cases[0].cell.line.swept
    sizes = sorted({size for case in cases for size in case.cell.line.sizes})
    subjects = ", ".join(dict.fromkeys(case.cell.line.name for case in cases))
    seen = f"{swept} = {sizes[0]}" + (f" to {sizes[-1]}" if len(sizes) > 1 else "")
    return f"{claim.seen_at(seen)}; drawn: {subjects}"


def _hypothesis(name: str, part: Hypothesis) -> Assumption:
    return Assumption("hypothesis", f"{name}: {part.sentence}", "declared" if part.holds is None else "tested")


def _errors(claim: Claim) -> str:
    named = ", ".join(sorted(map(str, claim.observed)))
    return f"errors that observe returns beside {named} are bounds and widen the interval, others are taken as zero"
