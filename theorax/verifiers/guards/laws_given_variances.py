"""A law that is decided from conditional variances: the draws themselves are held against them."""

from __future__ import annotations

import numpy as np

from theorax.decide.conditional_variance import LEVEL, p_of_variances
from theorax.decide.findings import Finding, Found
from theorax.decide.guard_findings import Looked
from theorax.decide.verdict import Assumption, Standing
from theorax.language import Claim
from theorax.verifiers.cases.evaluation import Observed, evaluate_draws
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.kinds.law_lowering import variances_given

__all__ = ["conditional_variance"]


def conditional_variance(claim: DecidedClaim) -> Looked:
    """Draws over the roots of the variances given beside them are standard normal, at every size of every case."""
    stated = claim.planned.claim
    if stated.given is None:
        return Looked()
    cells = [case.cell for case in claim.judged]
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


def _p(stated: Claim, cell: Cell, observed: Observed, at: int) -> float:
    values = [evaluate_draws(letter, cell, observed, at) for letter in stated.letters_of]
    assert stated.given is not None
    given = variances_given(stated.given, cell, observed, at)
    return p_of_variances(values[0] if given.ndim == 1 else np.stack(values, axis=-1), given)
