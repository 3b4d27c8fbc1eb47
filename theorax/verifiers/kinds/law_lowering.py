"""Laws: characteristic functions at fixed frequencies, extrapolated in the size."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from sympy import Expr, ImmutableMatrix

from theorax.decide.designs import Target
from theorax.decide.equivalence import withheld
from theorax.decide.law_distance import (
    Frequencies,
    decide_law,
    features_of_characteristic,
    features_of_conditional_variance,
    features_of_samples,
    gauss_hermite,
    is_robust_law,
    joint,
    margin_of_panel,
    misfit_law,
)
from theorax.decide.planning import CONTRADICTED
from theorax.decide.status import Levels, Reason
from theorax.decide.verdict import Point
from theorax.language import GaussianVector, Law, LawOfNumbers, Rate
from theorax.verifiers.cases.evaluation import Observed, evaluate
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import Judge, Judged, Prepared, class_at, planned


@final
@dataclass(frozen=True)
class LawJudge(Judge[Law]):
    """Laws; the distance is that of characteristic functions, the margin the distance to the nearest excluded law."""

    kind = Law
    fewest = 8  # features have a matrix of variances

    def prepare(self, claim: Law, cell: Cell, levels: Levels, original: Law) -> Prepared:
        frequencies = law_frequencies(original, cell)
        target = law_features(original.to, cell, frequencies)
        panel = {
            f"wrong law {i + 1}": law_features(law, cell, frequencies) for i, law in enumerate(original.nearest_wrong)
        }
        margin, _ = margin_of_panel(target, panel)
        corrections = class_at(original.approach, 1.0, cell.line.sizes[0])
        weights = planned(original, cell, levels, Target.LIMIT, corrections, 1.0)
        return Prepared(
            cell,
            0.0,
            margin,
            1.0,
            weights,
            target=law_features(claim.to, cell, frequencies),
            frequencies=frequencies,
        )

    def judge(self, claim: Law, prepared: Prepared, observed: Observed) -> Judged:
        assert prepared.weights is not None
        assert prepared.target is not None and prepared.frequencies is not None
        cell, plan, target = prepared.cell, prepared.weights.plan, prepared.target
        tables = [
            observed_features(claim, cell, observed, at, prepared.frequencies) for at in range(len(cell.line.sizes))
        ]
        decision = decide_law(tables, target, prepared.weights, prepared.margin, plan.levels)
        decision = replace(decision, robust=is_robust_law(decision, tables, target, plan))
        alarm = misfit_law(tables, plan)
        points = tuple(law_point(size, table, target) for size, table in zip(cell.line.sizes, tables, strict=True))
        unseen = (
            f"a law nearer than {prepared.margin:.2g} to the claimed one (the nearest excluded law lies that far)",
            f"corrections outside the declared class ({plan.corrections})",
        )
        decision = withheld(decision, Reason.CLASS_REFUTED) if alarm else decision
        return Judged(prepared, decision, points, unseen, detail=CONTRADICTED if alarm else "")


def law_frequencies(claim: Law | Rate, cell: Cell) -> Frequencies:
    """Those of the claim itself: whitened by its covariance where it is about a vector."""
    if isinstance(claim.to, GaussianVector) and claim.to.dimensions > 1:
        return joint(claim.to.numbers(_values(claim.to, cell)))
    return gauss_hermite(cell.number(claim.scale))


def law_features(law: LawOfNumbers, cell: Cell, frequencies: Frequencies) -> np.ndarray:
    points = frequencies.table
    points = points[:, 0] if points.shape[1] == 1 else points
    return features_of_characteristic(law.characteristic(points, _values(law, cell)), frequencies)


def _values(law: LawOfNumbers, cell: Cell) -> dict:
    return {letter: cell.number(letter) for letter in law.letters}


def observed_features(
    claim: Law | Rate, cell: Cell, observed: Observed, at: int, frequencies: Frequencies
) -> np.ndarray:
    """Features of every draw: of its values, or in closed form given what they are Gaussian under.

    Computed once for a claim and all its variants that speak of the same letters.
    """
    letters = claim.letters_of if isinstance(claim, Law) else (claim.of,)
    place = ("features", letters, claim.given, tuple(cell.chosen.items()), at, frequencies)
    if place not in observed._evaluated:
        observed._evaluated[place] = _features(claim, letters, cell, observed, at, frequencies)
    return observed._evaluated[place]


def _features(
    claim: Law | Rate, letters: tuple[Expr, ...], cell: Cell, observed: Observed, at: int, frequencies: Frequencies
) -> np.ndarray:
    if claim.given is None:
        columns = [evaluate(letter, cell, observed, at) for letter in letters]
        return features_of_samples(columns[0] if len(columns) == 1 else np.stack(columns, axis=-1), frequencies)
    if not isinstance(claim.given, ImmutableMatrix) or claim.given.shape == (1, 1):
        given = claim.given[0, 0] if isinstance(claim.given, ImmutableMatrix) else claim.given
        return features_of_conditional_variance(evaluate(given, cell, observed, at), frequencies)
    count = claim.given.rows
    entries = [[evaluate(claim.given[a, b], cell, observed, at) for b in range(count)] for a in range(count)]
    return features_of_conditional_variance(np.moveaxis(np.array(entries), -1, 0), frequencies)


def law_point(size: int, table: np.ndarray, target: np.ndarray) -> Point:
    """Distance of the mean features at one size; its standard error is that of the distance to first order."""
    gap = table.mean(axis=0) - target
    norm = float(np.linalg.norm(gap))
    along = table @ (gap / norm) if norm else table[:, 0]
    return Point(float(size), norm, float(along.std(ddof=1) / math.sqrt(len(table))), len(table))
