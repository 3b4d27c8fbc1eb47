"""Laws: characteristic functions at fixed frequencies, extrapolated in the size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import final

import numpy as np
from sympy import Expr, ImmutableMatrix, Rational, Symbol, sqrt

from theorax.decide.case_results import PlannedCase
from theorax.decide.draw_guards import noise_of
from theorax.decide.gaussian_norm import Shape
from theorax.decide.known_laws import STRETCHES, TabulatedLaw
from theorax.decide.law_features import (
    Frequencies,
    features_of_conditional_variance,
    features_of_samples,
    gauss_hermite,
    joint,
    margin_of_panel,
    shape_of_characteristic,
)
from theorax.decide.laws import LawPlan, decide_law, with_default_excluded
from theorax.decide.status import Levels
from theorax.language import GaussianVector, Law, LawOfNumbers
from theorax.verifiers.cases.evaluation import Observed, evaluate_draws
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import CellCase, CellResult, Judge, RoundingSeen, Scatter, seeds_of, spreads


@final
@dataclass(frozen=True)
class LawJudge(Judge[Law]):
    """Laws; the distance is that of characteristic functions, the margin the distance to the nearest excluded law."""

    kind = Law
    fewest = 8  # features have a matrix of variances

    def prepare(self, claim: Law, cell: Cell, levels: Levels, original: Law) -> CellCase:
        frequencies = law_frequencies(original, cell)
        own = TabulatedLaw(
            frequencies,
            _characteristic(original.to, cell, frequencies),
            tuple(_characteristic(original.to, cell, frequencies, stretch) for stretch in STRETCHES),
            _noise(original, cell, frequencies),
        )
        planned = partial(self._planned, claim, cell, levels, original, own)
        if original.excludes:
            return PlannedCase.of(cell, planned(original.excludes))
        wider = lambda factor: (original.to.scaled(sqrt(Rational(factor.numerator, factor.denominator))),)  # noqa: E731
        return PlannedCase.of(cell, with_default_excluded(lambda factor: planned(wider(factor))))

    def _planned(
        self,
        claim: Law,
        cell: Cell,
        levels: Levels,
        original: Law,
        own: TabulatedLaw,
        wrong: Sequence[LawOfNumbers],
    ) -> LawPlan:
        """The plan that excludes these laws."""
        line, frequencies = cell.line, own.frequencies
        excludes = tuple(
            replace(own, values=_characteristic(law, cell, frequencies), name=f"wrong law {i + 1}")
            for i, law in enumerate(wrong)
        )
        panel = {law.name: law.features(frequencies) for law in excludes}
        return LawPlan(
            sizes=tuple(map(float, line.sizes)),
            to=replace(own, values=_characteristic(claim.to, cell, frequencies)),
            excludes=excludes,
            margin=margin_of_panel(own.features(frequencies), panel)[0],
            draws=line.draws,
            sd=0.0 if original.noise_is_known else spreads(original, cell),
            seeds=seeds_of(line),
            corrections=original.approach,
            conditional=original.given is not None,
            levels=levels,
            reading=claim.reading,
        )

    def judge(self, claim: Law, case: CellCase, observed: Observed) -> CellResult:
        assert isinstance(case.plan, LawPlan)
        tables = _tables(claim, case.plan, case.cell, observed)
        return case.decided(decide_law(case.plan, tables, looks_further=not case.repetition))

    def may_end_early(self, claim: Law) -> bool:
        return claim.given is None  # whether the law holds given the variance is asked of the same draws

    def compared(self, claim: Law) -> Sequence[Expr]:
        return law_parts(claim)

    def stands(self, claim: Law, case: CellResult, observed: Observed, seen: RoundingSeen) -> bool:
        return law_stands(claim, case, seen)

    def scatter(self, claim: Law, case: CellCase, observed: Observed) -> Scatter:
        assert isinstance(case.plan, LawPlan)
        tables = _tables(claim, case.plan, case.cell, observed)
        return tuple(map(noise_of, tables)), case.plan.planned_spreads


def _tables(claim: Law, plan: LawPlan, cell: Cell, observed: Observed) -> list[np.ndarray]:
    return [observed_features(claim, cell, observed, at, plan.frequencies) for at in range(len(cell.line.sizes))]


def law_parts(claim: Law) -> Sequence[Expr]:
    """Parts of the claim whose rounding moves the features of a draw: its letters, or the variances given."""
    if claim.given is None:
        return claim.letters_of
    return list(claim.given) if isinstance(claim.given, ImmutableMatrix) else [claim.given]


def law_stands(claim: Law, case: CellResult, seen: RoundingSeen) -> bool:
    """True if the margin leaves room for the most that the features move where every value is off by the error allowed."""
    table = np.abs(law_frequencies(claim, case.cell).table).sum(axis=1)
    steepest = float(table.max() if claim.given is None else np.max(table**2) / 2)
    return seen.allowed * steepest < case.decision.margin - case.decision.upper


def _noise(claim: Law, cell: Cell, frequencies: Frequencies) -> Shape:
    """Covariance of the noise of one value over the features; not asked of features that are averaged given a variance."""
    return (
        Shape(1.0) if claim.given is not None else _shape(claim.to, tuple(_values(claim.to, cell).items()), frequencies)
    )


@lru_cache(maxsize=256)
def _shape(law: LawOfNumbers, values: tuple[tuple[Symbol, float], ...], frequencies: Frequencies) -> Shape:
    return shape_of_characteristic(lambda points: law.characteristic(points, dict(values)), frequencies)


def _characteristic(
    law: LawOfNumbers, cell: Cell, frequencies: Frequencies, stretch: float = 1.0
) -> tuple[complex, ...]:
    """Values of the characteristic function, of the law whose variable is multiplied by ``stretch``."""
    return _tabulated(law, tuple(_values(law, cell).items()), frequencies, stretch)


@lru_cache(maxsize=1024)
def _tabulated(
    law: LawOfNumbers, values: tuple[tuple[Symbol, float], ...], frequencies: Frequencies, stretch: float
) -> tuple[complex, ...]:
    points = stretch * frequencies.table
    points = points[:, 0] if points.shape[1] == 1 else points
    return tuple(map(complex, law.characteristic(points, dict(values))))


def law_frequencies(claim: Law, cell: Cell) -> Frequencies:
    """Frequencies of the claim itself: whitened by its covariance where it is about a vector."""
    if isinstance(claim.to, GaussianVector) and claim.to.dimensions > 1:
        return joint(claim.to.numbers(_values(claim.to, cell)))
    return gauss_hermite(cell.number(claim.scale))


def _values(law: LawOfNumbers, cell: Cell) -> dict:
    return {letter: cell.number(letter) for letter in law.letters}


def observed_features(claim: Law, cell: Cell, observed: Observed, at: int, frequencies: Frequencies) -> np.ndarray:
    """Features of every draw: of its values, or in closed form given what they are Gaussian under.

    Computed once for a claim and all its variants that speak of the same letters.
    """
    letters = claim.letters_of
    place = ("features", letters, claim.given, tuple(cell.chosen.items()), at, frequencies)
    return observed.evaluations.once(place, lambda: _features(claim, letters, cell, observed, at, frequencies))


def _features(
    claim: Law, letters: tuple[Expr, ...], cell: Cell, observed: Observed, at: int, frequencies: Frequencies
) -> np.ndarray:
    if claim.given is None:
        columns = [evaluate_draws(letter, cell, observed, at) for letter in letters]
        return features_of_samples(columns[0] if len(columns) == 1 else np.stack(columns, axis=-1), frequencies)
    return features_of_conditional_variance(variances_given(claim.given, cell, observed, at), frequencies)


def variances_given(given: Expr, cell: Cell, observed: Observed, at: int) -> np.ndarray:
    """The variance of every draw, or its covariance matrix."""
    if not isinstance(given, ImmutableMatrix) or given.rows == 1:
        return evaluate_draws(given[0, 0] if isinstance(given, ImmutableMatrix) else given, cell, observed, at)
    entries = [[evaluate_draws(given[a, b], cell, observed, at) for b in range(given.rows)] for a in range(given.rows)]
    return np.moveaxis(np.array(entries), -1, 0)
