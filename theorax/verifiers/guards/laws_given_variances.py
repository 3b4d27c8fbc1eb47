"""A law that is decided from conditional variances: the draws themselves are held against them."""

from __future__ import annotations

import numpy as np
from sympy import ImmutableMatrix

from theorax.decide.conditional_variance import LEVEL, p_of_variances
from theorax.decide.findings import Finding, Found
from theorax.decide.looked import Looked
from theorax.decide.verdict import Assumption, Standing
from theorax.language import Law, Rate
from theorax.verifiers.cases.evaluation import Observed, evaluate
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.guards.guard import DecidedClaim

__all__ = ["conditional_variance"]


def conditional_variance(claim: DecidedClaim) -> Looked:
    """Draws over the roots of the variances given beside them are standard normal, at every size of every case."""
    stated = claim.planned.claim
    if not isinstance(stated, Law | Rate) or stated.given is None:
        return Looked()
    cells = [case.prepared.cell for case in claim.judged]
    looks = sum(len(cell.line.sizes) for cell in cells)
    for cell in cells:
        observed = claim.draws.on(cell.line)
        for at, size in enumerate(observed.line.sizes):
            if size in cell.line.sizes and (p := _p(stated, cell, observed, at)) <= LEVEL / looks:
                sentence = (
                    f"given is not the conditional variance for {cell.line.name} at {cell.line.swept} = {size}: that the "
                    f"draws over its root are standard normal is rejected (p {p:.1g}). Return the variance with which "
                    "the letter is centred and normal given the rest of the draw, or leave given out."
                )
                return Looked((Found(Finding.NOT_CHECKED, sentence),))
    text = f"given {stated.given} the draws are centred and normal: not rejected at level {LEVEL:g}"
    return Looked(ledger=(Assumption("conditional law", text, Standing.TESTED),))


def _p(stated: Law | Rate, cell: Cell, observed: Observed, at: int) -> float:
    values = [evaluate(letter, cell, observed, at) for letter in stated.letters_of]
    given = stated.given
    assert given is not None
    if not isinstance(given, ImmutableMatrix):
        return p_of_variances(values[0], evaluate(given, cell, observed, at))
    if given.rows == 1:
        return p_of_variances(values[0], evaluate(given[0, 0], cell, observed, at))
    count = range(given.rows)
    entries = np.array([[evaluate(given[a, b], cell, observed, at) for b in count] for a in count])
    return p_of_variances(np.stack(values, axis=-1), np.moveaxis(entries, -1, 0))
