"""Proofs: every step decided by computer algebra and cross-checked in ball arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Basic, Integer, latex, pretty, simplify

from theorax.decide.findings import Finding, Found
from theorax.errors import StatementError
from theorax.exact.zero import ZeroTest, is_zero
from theorax.language import Cited, Claim, Index, Proof, Step, Theorem
from theorax.verifiers.outcome import StepOutcome, StepStatus

LONGEST_FORMULA = 600  # characters of LaTeX; a longer one is shown shortened, as text


def check(theorem: Theorem) -> tuple[tuple[StepOutcome, ...], dict[str, bool]]:
    """Every step's outcome, and for each claim whether its proof settles it.

    A proof that settles a claim consists of proved steps alone: a cited theorem in it leaves the claim to the
    measurement, as does a single step that stays undecided.

    **Raises:** StatementError if the proof named after a claim never reaches a side of that claim.
    """
    outcomes: list[StepOutcome] = []
    settled: dict[str, bool] = {}
    for proof in theorem.proofs:
        name, steps = proof.name, list(proof.steps())
        claim = theorem.claims.get(name)
        if claim is not None and not proof.settles and not _reaches(steps, claim):
            end = claim.prediction if claim.prediction is not None else "a moment of the law"
            raise StatementError(
                f"The proof of {name} never reaches a side of the claim. A derivation that ends elsewhere derives "
                f"something else. Let one step end in {end}."
            )
        found = [_outcome(name, proof, step) for step in steps]
        outcomes += found
        if claim is not None:
            settled[name] = proof.settles and bool(found) and all(step.status is StepStatus.PROVED for step in found)
    return tuple(outcomes), settled


def false_step(steps: Sequence[StepOutcome], claim: str, theorem: Theorem) -> Found | None:
    """The first false step in the claim's own proof or in a lemma.

    What was derived by a false step was not derived: the claim is in error, whatever its measurement says.
    """
    for step in steps:
        if step.status is StepStatus.REFUTED and (step.proof == claim or step.proof not in theorem.claims):
            told = f"A step of the proof {step.proof} is false ({step.reason}): {step.statement}; {step.method}."
            return Found(Finding.FALSE_STEP, told)
    return None


def _outcome(name: str, proof: Proof, step: Step | Cited) -> StepOutcome:
    if isinstance(step, Cited):
        return StepOutcome(name, proof.scope, step.reason, "", StepStatus.CITED, step.source)
    verdicts = [is_zero(left - right) for left, right in step.entries]
    worst = max(verdicts, key=lambda verdict: -verdict.status.strength)
    shown, status = _statement(step), _STATUS[worst.status]
    return StepOutcome(name, proof.scope, step.reason, shown, status, worst.reason, _latex(step))


_STATUS = {
    ZeroTest.PROVED: StepStatus.PROVED,
    ZeroTest.UNREFUTED: StepStatus.UNDECIDED,
    ZeroTest.UNDECIDED: StepStatus.UNDECIDED,
    ZeroTest.REFUTED: StepStatus.REFUTED,
}


def _statement(step: Step) -> str:
    (left, right), more = step.entries[0], len(step.entries) - 1
    shown = f"{pretty(left, use_unicode=True)} = {pretty(right, use_unicode=True)}"
    if more or "\n" in shown or len(shown) > 100:
        shown = f"{_short(left)} = {_short(right)}"
    return shown + (f"   and {more} further entries" if more else "")


def _latex(step: Step) -> str:
    (left, right), more = step.entries[0], len(step.entries) - 1
    shown = f"{latex(left)} = {latex(right)}"
    if len(shown) > LONGEST_FORMULA:
        return ""
    return shown + (rf" \qquad \text{{and {more} further entries}}" if more else "")


def _short(side: Basic) -> str:
    text = str(side).replace("**", "^")
    return text if len(text) <= 80 else text[:77] + "..."


def _reaches(steps: list[Step | Cited], claim: Claim) -> bool:
    sides = list(_sides(claim))
    return any(
        any(entry == side for pair in step.entries for entry in pair for side in sides)
        for step in steps
        if isinstance(step, Step)
    )


def _sides(claim: Claim) -> Iterator[Basic]:
    """The claim's own predicted side, as it stands and at small values of its index letters."""
    for prediction in claim.proved_sides:
        yield prediction
        yield simplify(prediction)
        for index in (letter for letter in prediction.free_symbols if isinstance(letter, Index)):
            for value in range(1, 6):
                yield prediction.subs(index, Integer(value))
                yield simplify(prediction.subs(index, Integer(value)))
