"""Padding: draws of a program at the true size, which pads nothing, held against those of the padded program.

Both have one law where padding is masked. Two rank tests ask for a shift and for another scale: their levels hold for
every law, while Welch's test errs far above a level of 1e-4 where thirty draws are skewed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import special

from theorax.decide.findings import Finding, Found
from theorax.decide.guard_findings import Looked
from theorax.decide.verdict import Assumption, Standing
from theorax.language import Experiment, Theorem
from theorax.text.numbers import p_value
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.measure import padded_sizes as padded_sizes
from theorax.verifiers.cases.sweep_lines import SweepLine
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.guards.replays import supported_lines

__all__ = ["padding", "rank_test", "same_law"]

LEVEL = 1e-4
"""Of a wrong rejection for any letter of a theorem whose padding is masked."""
UNPADDED = 30
_KIND = "padding"
_UNSEEN = "whether what is padded changes a draw, which is asked from standard effort on"


def padding(claim: DecidedClaim) -> Looked:
    """Hold the padded draws of a supported claim against draws at their true size; at quick effort only say so."""
    lines = [line for line in supported_lines(claim) if _is_padded(claim, line)]
    if not lines:
        return Looked()
    if claim.settings.effort == "quick":
        return Looked(ledger=(Assumption(_KIND, _UNSEEN, Standing.NOT_LOOKED_AT),))
    level = LEVEL / _tests(claim.theorem)
    findings = [found for line in lines for found in _different(claim, line, level)]
    text = (
        f"{UNPADDED} draws at their true size against the padded program, two rank tests a letter at {LEVEL:g} in all"
    )
    return Looked(tuple(findings[:1]), (Assumption(_KIND, text, Standing.TESTED),))


def _is_padded(claim: DecidedClaim, line: SweepLine) -> bool:
    experiment = claim.theorem.experiments[line.experiment]
    whole = claim.draws.on(line)
    if not experiment.padded or line.subject.literal or whole.instances:
        return False
    return any(room > size for size, room in padded_sizes(whole.line.sizes, experiment.span).items())


def _tests(theorem: Theorem) -> int:
    """Tests that the theorem's padded experiments hold: two for each entry of each letter on each line."""
    return max(
        1, sum(2 * _entries(part) * len(part.subjects) * len(part.cases) for part in theorem.experiments.values())
    )


def _entries(experiment: Experiment) -> int:
    return sum(math.prod(len(experiment.along[index]) for index in letter.over) for letter in experiment.measured)


def _different(claim: DecidedClaim, line: SweepLine, level: float) -> Iterator[Found]:
    observed = claim.draws.on(line)
    for name, p in _probabilities(claim, line, observed).items():
        if p < level and name in {letter.name for letter in claim.planned.claim.observed}:
            yield Found(
                Finding.NOT_CHECKED,
                f"{name} of {line.name} is another number where it is padded: draws at their true size "
                f"{line.swept} = {observed.line.sizes[0]} have another law ({p_value(p)}). Mask what is padded.",
            )


def _probabilities(claim: DecidedClaim, line: SweepLine, observed: Observed) -> dict[str, float]:
    """For every letter the least p-value of its entries; made once for all claims about the line."""
    experiment, size = claim.theorem.experiments[line.experiment], observed.line.sizes[0]
    unit = 2.0**-12 if experiment.dtype == "float32" else 2.0**-26

    def compared() -> dict[str, float]:
        unpadded = observed.about_line.once("unpadded", lambda: claim.draws.unpadded(line, size, UNPADDED))
        (drawn,) = unpadded.tables
        return {
            letter.name: min(
                same_law(one, other, _resolution(observed, letter.name, unit))
                for one, other in _pairs(drawn[letter.name], observed.tables[0][letter.name])
            )
            for letter in experiment.measured
            if not letter.sample
        }

    return observed.evaluations.once("padding", compared)


def _pairs(unpadded: np.ndarray, padded: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Entry by entry the draws at the true size and those of the padded program."""
    one, other = unpadded.reshape(len(unpadded), -1), padded.reshape(len(padded), -1)
    yield from zip(one.T, other.T, strict=True)


def _resolution(observed: Observed, name: str, unit: float) -> float:
    """Differences that rounding explains: a sum of n terms in another order errs by n unit roundoffs, n below 1/sqrt(u)."""
    bounds = observed.errors[0].get(name) if observed.errors else None
    declared = 0.0 if bounds is None else float(np.max(bounds))
    return max(declared, unit * float(np.max(np.abs(observed.tables[0][name]), initial=0.0)))


def same_law(one: np.ndarray, other: np.ndarray, resolution: float) -> float:
    """The lesser p-value of two rank tests that two samples have one law: for a shift, and for another scale.

    Numbers within ``resolution`` of each other are told apart at most by one step, so that rounding makes ties.
    """
    if resolution > 0:
        one, other = (np.round(np.asarray(part, float) / resolution) for part in (one, other))
    middle = float(np.median(np.concatenate([one, other])))
    found = []
    for left, right in ((one, other), (np.abs(one - middle), np.abs(other - middle))):
        if len(np.unique(np.concatenate([left, right]))) > 1:
            found.append(rank_test(left, right))
    return min(found, default=1.0)


def rank_test(one: np.ndarray, other: np.ndarray) -> float:
    """The two-sided p-value of Wilcoxon's rank sum, by its normal limit, with half a rank off and its ties counted.

    It stands here because ``scipy.stats`` takes a quarter of the time in which everything else is imported.
    """
    _, places, ties = np.unique(np.concatenate([one, other]), return_inverse=True, return_counts=True)
    last = np.cumsum(ties)
    ranks = (last - (ties - 1) / 2)[places]  # equal numbers share the mean of their ranks
    m, n = len(one), len(other)
    excess = abs(ranks[:m].sum() - m * (m + n + 1) / 2)
    variance = m * n / 12 * (m + n + 1 - (ties**3.0 - ties).sum() / ((m + n) * (m + n - 1)))
    return float(min(1.0, 2 * special.ndtr(-(excess - 0.5) / np.sqrt(variance))))
