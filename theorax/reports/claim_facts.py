"""The facts of a claim of a report: those of its verdict, and what only the whole run knows of it."""

from __future__ import annotations

from collections.abc import Iterator

from theorax.decide.error_budget import REFUTATIONS, SUPPORTS
from theorax.decide.facts import Fact, FactKey, Level, facts, sorted_facts
from theorax.decide.spending import level_of
from theorax.decide.status import Status
from theorax.reports.document import ClaimReport, TheoremReport
from theorax.text.numbers import p_value, percent

NO_CONTROL = "no subject that must fail this claim was tried, so nothing shows that the check can fail"


def report_facts(claim: ClaimReport, part: TheoremReport) -> tuple[Fact, ...]:
    """The facts of a claim of this theorem, in order."""
    return sorted_facts([*facts(claim), *_of_the_run(claim, part)])


def _of_the_run(claim: ClaimReport, part: TheoremReport) -> Iterator[Fact]:
    if claim.corrected:
        yield Fact(FactKey.PRINTED, printed(part.label, claim.corrected), Level.HEAD)
    if claim.status.holds and not any(row.claim == claim.id for row in part.controls):
        yield Fact(FactKey.UNCONTROLLED, NO_CONTROL, Level.HEAD, "no control was run")
    if claim.over_run is False:
        yield Fact(FactKey.ALONE, on_its_own(claim))
    if claim.level is not None and not claim.rigorous:
        whole = percent(claim.level / level_of(1.0, claim.attempt))
        nth = "the first" if claim.attempt == 1 else f"number {claim.attempt}"
        together = (
            f"all attempts at one effort together have a risk of {whole}, at all three efforts at most three times that"
        )
        yield Fact(FactKey.ATTEMPT, f"{nth}; {together}")


def wording(label: str) -> str:
    """Attribute a corrected statement by the honesty label: only a source that was read is said to print it."""
    return "what the source prints" if label == "read" else "the statement as it was reconstructed here"


def printed(label: str, corrected: str) -> str:
    """The sentence about a statement that fails as its source has it, and the claim that holds instead."""
    return f"This is {wording(label)}; the claim {corrected} holds instead."


def on_its_own(claim: ClaimReport) -> str:
    """The sentence about a verdict that does not hold over the run."""
    adjusted = claim.adjusted
    assert adjusted is not None  # as of every verdict that does not hold over the run
    if claim.status is Status.REFUTED:
        p, level, what = adjusted.refute, REFUTATIONS, "the refutation does not hold over the run"
    else:
        p, level, what = adjusted.support, SUPPORTS, "it does not hold jointly with the other green verdicts"
    return f"{what}: {p_value(p)} among all, above {percent(level)}"
