"""Laws: characteristic functions at fixed frequencies, extrapolated in the size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from theorax.theorems.language import Claim, Law, LawOfNumbers
from theorax.verifiers.bias import Target
from theorax.verifiers.decision import Levels
from theorax.verifiers.kinds.base import Judge, Judged, Prepared, class_at, planned
from theorax.verifiers.laws import (
    Frequencies,
    decide_law,
    features_of_characteristic,
    features_of_samples,
    gauss_hermite,
    margin_of_panel,
)
from theorax.verifiers.lines import Cell, Observed, evaluate
from theorax.verifiers.outcome import Point


@final
@dataclass(frozen=True)
class LawJudge(Judge):
    """Laws; the distance is that of characteristic functions, the margin the distance to the nearest excluded law."""

    def prepare(self, claim: Claim, cell: Cell, levels: Levels, original: Claim) -> Prepared:
        assert isinstance(claim, Law) and isinstance(original, Law)
        frequencies = _frequencies(original, cell)
        target = _features(original.to, cell, frequencies)
        panel = {
            f"wrong law {i + 1}": _features(law, cell, frequencies) for i, law in enumerate(original.nearest_wrong)
        }
        margin, _ = margin_of_panel(target, panel)
        corrections = class_at(original.approach, 1.0, cell.line.sizes[0])
        weights = planned(original, cell, levels, Target.LIMIT, corrections, 1.0)
        return Prepared(cell, 0.0, margin, 1.0, weights, target=_features(claim.to, cell, frequencies))

    def judge(self, claim: Claim, prepared: Prepared, observed: Observed) -> Judged:
        assert isinstance(claim, Law) and prepared.weights is not None and prepared.target is not None
        cell, levels = prepared.cell, prepared.weights.plan.levels
        frequencies = _frequencies(claim, cell)
        tables = [
            features_of_samples(evaluate(claim.of, cell, observed, at), frequencies)
            for at in range(len(cell.line.sizes))
        ]
        # A quantile of the noise at level a needs some tens of draws beyond it.
        noise_draws = max(4000, math.ceil(40 / min(levels.support, levels.refute)))
        decision = decide_law(tables, prepared.target, prepared.weights, prepared.margin, levels, noise_draws)
        points = tuple(
            _point(size, table, prepared.target) for size, table in zip(cell.line.sizes, tables, strict=True)
        )
        unseen = (
            f"a law nearer than {prepared.margin:.2g} to the claimed one (the nearest excluded law lies that far)",
            f"corrections outside the declared class ({prepared.weights.plan.corrections})",
        )
        return Judged(prepared, decision, points, unseen)


def _frequencies(claim: Law, cell: Cell) -> Frequencies:
    return gauss_hermite(cell.number(claim.scale))


def _features(law: LawOfNumbers, cell: Cell, frequencies: Frequencies) -> np.ndarray:
    values = {letter: cell.number(letter) for letter in law.letters}
    return features_of_characteristic(law.characteristic(frequencies.table[:, 0], values), frequencies)


def _point(size: int, table: np.ndarray, target: np.ndarray) -> Point:
    """Distance of the mean features at one size; its standard error is that of the distance to first order."""
    gap = table.mean(axis=0) - target
    norm = float(np.linalg.norm(gap))
    along = table @ (gap / norm) if norm else table[:, 0]
    return Point(float(size), norm, float(along.std(ddof=1) / math.sqrt(len(table))), len(table))
