"""What a claim's verdict is conditional on, and for what it is said: the ledger and the scope of every kind."""

from __future__ import annotations

from collections.abc import Sequence

from theorax.decide.verdict import Assumption
from theorax.language import (
    Claim,
    Expectation,
    Hypothesis,
    Identity,
    Impossibility,
    Inequality,
    Law,
    Limit,
    Optimum,
    Probability,
    Rate,
    Theorem,
)
from theorax.verifiers.kinds import Prepared
from theorax.verifiers.outcome import StepOutcome, StepStatus

__all__ = ["ledger", "scope"]

_SEEDS = {
    "paired": "draws are independent of each other; draw s has the same seed at every size",
    "independent": "all draws are independent, within a size and across sizes",
    "none": "the sequence holds no randomness: one value at every size",
}
# Kinds whose support speaks of the law that was drawn, not of every instance.
_SAMPLED = (Identity, Inequality, Probability, Impossibility, Optimum)


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
    found += [*_class(claim), *_moments(claim)]
    experiment = theorem.experiments[cases[0].cell.line.experiment]
    found.append(Assumption("independence", _SEEDS[experiment.seeds], "declared"))
    found.append(Assumption("float model", f"draws are computed in {experiment.dtype}; {_errors(claim)}", "declared"))
    if isinstance(claim, _SAMPLED):
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
    if isinstance(claim, Limit | Rate | Law):
        return f"as {claim.as_} → ∞ under the declared class of corrections, seen at {seen}; drawn: {subjects}"
    if isinstance(claim, _SAMPLED):
        return f"for the law sampled at {seen}; drawn: {subjects}"
    return f"at {seen}; drawn: {subjects}"


def _hypothesis(name: str, part: Hypothesis) -> Assumption:
    return Assumption("hypothesis", f"{name}: {part.sentence}", "declared" if part.holds is None else "tested")


def _class(claim: Claim) -> list[Assumption]:
    if not isinstance(claim, Limit | Rate | Law):
        return []
    allowed, n = claim.approach, claim.as_
    at = f" at {n} = {allowed.reference:g}" if allowed.reference is not None else ""
    reason = f", because {allowed.reason}" if allowed.reason else " (the default class)"
    return [Assumption("class", f"corrections at finite {n}{at}: {allowed}{reason}", "declared")]


def _moments(claim: Claim) -> list[Assumption]:
    if isinstance(claim, Limit | Expectation):
        if isinstance(claim, Expectation) and claim.quantile is not None:
            return []
        said = "light tails, so that Student's t holds" if claim.moments == "light tails" else str(claim.moments)
        return [Assumption("moment", f"one draw of what is averaged has {said}", "declared")]
    if isinstance(claim, Rate):
        return [Assumption("moment", "logarithms of the draws have light tails, so that Student's t holds", "declared")]
    if isinstance(claim, Law):
        return [Assumption("moment", "means of bounded features are near normal at this number of draws", "declared")]
    return []


def _errors(claim: Claim) -> str:
    named = ", ".join(sorted(map(str, claim.observed)))
    return f"errors that observe returns beside {named} are bounds and widen the interval, others are taken as zero"
