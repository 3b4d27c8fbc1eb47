"""Assumptions and scope of a claim's verdict: its ledger, for every kind."""

from __future__ import annotations

from collections.abc import Sequence

from theorax.decide.control_variates import KNOWN
from theorax.decide.verdict import Assumption, Standing
from theorax.decide.wording import SEEDS
from theorax.language import (
    Claim,
    Experiment,
    Hypothesis,
    KnownMean,
    Theorem,
)
from theorax.language.notation import inline
from theorax.verifiers.kinds import CellCase
from theorax.verifiers.outcome import StepOutcome, StepStatus
from theorax.verifiers.unseen import unseen

__all__ = ["UNLOGGED", "float_model", "ledger", "scope", "seen", "surrogates"]


UNLOGGED = Assumption(
    "independence", "this is the first attempt: no log of attempts could be written", Standing.DECLARED
)


def ledger(
    theorem: Theorem,
    name: str,
    claim: Claim,
    cases: Sequence[CellCase],
    steps: Sequence[StepOutcome],
    *,
    settled: bool,
    logged: bool,
) -> tuple[Assumption, ...]:
    """Everything the verdict rests on, and last what no check of it could see."""
    held = _held(theorem, name, claim, cases, steps, settled=settled, logged=logged)
    return (*held, *unseen(theorem, name, claim, cases, steps))


def _held(
    theorem: Theorem,
    name: str,
    claim: Claim,
    cases: Sequence[CellCase],
    steps: Sequence[StepOutcome],
    *,
    settled: bool,
    logged: bool,
) -> tuple[Assumption, ...]:
    """Class, moments, seeds, arithmetic, the law sampled, hypotheses, sources."""
    found = [_hypothesis(part, theorem.hypotheses[part]) for part in theorem.needed(claim)]
    if settled:
        cited = [step for step in steps if step.proof == name and step.status is StepStatus.CITED]
        return (
            *found,
            *(Assumption("hypothesis", f"{step.reason} ({step.method})", Standing.DECLARED) for step in cited),
        )
    if not cases:
        return tuple(found)
    if claim.range:
        return (
            *found,
            Assumption("float model", "balls enclose every rounding; each number of it is exact", Standing.PROVED),
        )
    found += claim.assumptions()
    found += [_known_mean(part) for part in claim.known_means]
    experiment = theorem.experiments[cases[0].cell.line.experiment]
    found.append(Assumption("independence", SEEDS[experiment.seeds], Standing.DECLARED))
    found.append(Assumption("float model", float_model(experiment), Standing.DECLARED))
    if claim.speaks_of_the_law_drawn:
        subjects = ", ".join(dict.fromkeys(case.cell.line.name for case in cases))
        found.append(
            Assumption("law", f"what is supported is supported for the law of the draws: {subjects}", Standing.DECLARED)
        )
    if not logged:
        found.append(UNLOGGED)
    return tuple(found)


def scope(theorem: Theorem, name: str, claim: Claim, cases: Sequence[CellCase]) -> str:
    """For what a word that measuring found is said: the sizes, subjects and cases that were drawn."""
    if not cases:
        return ""
    if claim.range:
        return "for " + ", ".join(
            f"{inline(letter)} in [{inline(low)}, {inline(high)}]" for letter, (low, high) in claim.range.items()
        )
    subjects = ", ".join(dict.fromkeys(case.cell.line.name for case in cases))
    quenched = dict.fromkeys(case.cell.line.subject.quenched for case in cases)
    fixed = "".join(f"; not drawn: {why}" for why in quenched if why)
    return f"{seen(claim, cases)}; drawn: {subjects}{fixed}"


def seen(claim: Claim, cases: Sequence[CellCase]) -> str:
    """The sizes at which a claim was drawn, as the opening of its scope."""
    if not cases:
        return ""
    swept = cases[0].cell.line.swept
    sizes = sorted({size for case in cases for size in case.cell.line.sizes})
    return claim.seen_at(f"{swept} = {sizes[0]}" + (f" to {sizes[-1]}" if len(sizes) > 1 else ""))


def surrogates(theorem: Theorem, cases: Sequence[CellCase]) -> str:
    """Words of a scope where derivatives, or numbers, are meant to be others than those computed."""
    places = sorted({case.cell.line.experiment for case in cases} & theorem.experiments.keys())
    surrogate = dict.fromkeys(theorem.experiments[place].surrogate_because for place in places)
    real = dict.fromkeys(theorem.experiments[place].real_numbers_because for place in places)
    said = [f"; for surrogate derivatives: {why}" for why in surrogate if why]
    said += [f"; for the function of real numbers, not the program: {why}" for why in real if why]
    return "".join(said)


def _known_mean(part: KnownMean) -> Assumption:
    """A known mean that the author states; what a test of it saw is a line of its own."""
    text = f"E[{inline(part.of)}] = {inline(part.mean)} ({part.because.rstrip('.')})"
    return Assumption(KNOWN, text, Standing.DECLARED)


def _hypothesis(name: str, part: Hypothesis) -> Assumption:
    return Assumption(
        "hypothesis", f"{name}: {part.sentence}", Standing.DECLARED if part.holds is None else Standing.TESTED
    )


def float_model(experiment: Experiment, bounded: Sequence[str] | None = None) -> str:
    """The precision of the draws, and what is believed of their rounding.

    ``bounded``: the letters of which observe returned bounds of their errors; None before that is known.
    """
    believed = f"rounding in {experiment.dtype} is negligible"
    if bounded is None:
        return f"{believed} beyond bounds of errors that observe returns"
    if not bounded:
        return believed
    return (
        f"{believed}, except in {', '.join(bounded)}: the interval includes the bounds of errors that observe returns"
    )
