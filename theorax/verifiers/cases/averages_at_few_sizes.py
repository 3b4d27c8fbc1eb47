"""Averages at sizes too few for a claim about a sweep: measured and told, and nothing is decided from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from theorax.decide.samples import geometric_point, mean_point
from theorax.language import Claim
from theorax.language.notation import displayed
from theorax.text.numbers import with_uncertainty
from theorax.verifiers.cases.draws import Draws
from theorax.verifiers.cases.evaluation import evaluate_draws
from theorax.verifiers.cases.sweep_lines import Cell

__all__ = ["measured_alone"]

LISTED = 3  # averages in one sentence


def measured_alone(claim: Claim, cells: Sequence[Cell], draws: Draws) -> str:
    """The sentence that tells what the claim speaks of at every size; empty where that is no average of one number."""
    told = [part for cell in cells for part in _averages(claim, cell, draws, several=len(cells) > 1)]
    if not told:
        return ""
    more = f" and {len(told) - LISTED} more" if len(told) > LISTED else ""
    return f"Measured {', '.join(told[:LISTED])}{more}."


def _averages(claim: Claim, cell: Cell, draws: Draws, *, several: bool) -> Iterator[str]:
    if claim.averaged_at_a_size is None:
        return
    averaged, geometric = claim.averaged_at_a_size
    observed = draws.on(cell.line)
    point = geometric_point if geometric else mean_point
    at = ", ".join(f"{displayed(name)} = {value}" for name, value in cell.label.items())
    where = f" ({cell.line.name}{', ' if at else ''}{at})" if several else ""
    for number, size in enumerate(cell.line.sizes):
        found = point(size, evaluate_draws(averaged, cell, observed, number))
        yield f"{with_uncertainty(found.estimate, found.standard_error)} at {cell.line.swept} = {size}{where}"
