"""Hypotheses that are tested in every draw: does the evidence satisfy them, and how often."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from theorax.decide.findings import Finding, Found
from theorax.language import Hypothesis, Index, Measured, Theorem
from theorax.names import many
from theorax.verifiers import claim_verdicts
from theorax.verifiers.cases.draws import Draws
from theorax.verifiers.cases.evaluation import Observed, evaluate_draws
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds import CellCase
from theorax.verifiers.outcome import HypothesisOutcome

__all__ = ["hypothesis_outcome", "satisfied", "violated"]

CONFIDENCE = 0.95


def violated(theorem: Theorem, needed: Sequence[str], cases: Sequence[CellCase], draws: Draws) -> Found | None:
    r"""A hypothesis of the claim that the draws of its evidence violate.

    Where no draw of N satisfies it, the claim is true of nothing: with confidence 0.95 it is satisfied with probability
    at most $1 - 0.05^{1/N}$.
    """
    for name in needed:
        hypothesis = theorem.hypotheses[name]
        if hypothesis.holds is None:
            continue
        for case in cases:
            counted = satisfied(hypothesis, draws.on(case.cell.line), case.cell)
            if counted is None:
                continue
            number, total = counted
            if number == 0:
                bound = 1 - (1 - CONFIDENCE) ** (1 / total)
                return Found(
                    Finding.NO_INSTANCE,
                    f"No draw of {claim_verdicts.cell_name(case.cell)} satisfies the hypothesis {name} ({hypothesis.holds}); "
                    f"what follows from it is true of nothing. In {many(total, 'draw')} without one, its probability is at "
                    f"most {bound:.2g} with confidence {CONFIDENCE:.0%}.",
                )
            if number < total:
                return Found(
                    Finding.HYPOTHESIS_VIOLATED,
                    f"Only {number / total:.0%} of the draws of {claim_verdicts.cell_name(case.cell)} satisfy the "
                    f"hypothesis {name} ({hypothesis.holds}). Build subjects that satisfy it.",
                )
    return None


def hypothesis_outcome(part: Hypothesis, theorem: Theorem, draws: Draws) -> HypothesisOutcome:
    """The outcome of a hypothesis for the report."""
    breaking = tuple(
        label
        for experiment in theorem.experiments.values()
        for label, subject in experiment.subjects.items()
        if part.name in subject.broken and subject.fails
    )
    tested = None
    if part.holds is not None:
        shares = [
            counted[0] / counted[1]
            for observed in draws.all
            if part.name not in observed.line.subject.broken
            and (counted := satisfied(part, observed, Cell(observed.line))) is not None
        ]
        tested = f"{part.holds} in {min(shares):.0%} of the draws" if shares else f"{part.holds}, not drawn"
    return HypothesisOutcome(part.name, part.sentence, breaking, part.unbroken, tested)


def satisfied(hypothesis: Hypothesis, observed: Observed, cell: Cell) -> tuple[int, int] | None:
    """Number of draws that satisfy the relation, and of all; None if this experiment does not measure its letters."""
    assert hypothesis.holds is not None
    measured = {s for s in hypothesis.holds.free_symbols if isinstance(s, Measured)}
    if not observed.tables or not {s.name for s in measured} <= set(observed.tables[0]):
        return None
    gap, relation = hypothesis.holds.lhs - hypothesis.holds.rhs, type(hypothesis.holds)
    # A draw satisfies it at every value of the indices that the claim does not choose among.
    over = {index for letter in measured for index in letter.over} - set(cell.chosen)
    open_ = sorted(over | {s for s in gap.free_symbols if isinstance(s, Index)} - set(cell.chosen), key=str)
    chosen = [
        Cell(observed.line, {**cell.chosen, **dict(zip(open_, values, strict=True))})
        for values in itertools.product(*(observed.line.along[index] for index in open_))
    ]
    flat = [
        # What is no number satisfies nothing.
        all(not math.isnan(value) and bool(relation(float(value), 0)) for value in values)
        for at in range(len(observed.line.sizes))
        for values in zip(*(evaluate_draws(gap, whole, observed, at) for whole in chosen), strict=True)
    ]
    return sum(flat), len(flat)
