r"""Fits of forms along the sizes, with corrections in a box: what the noise rejects, and how far two forms are apart.

With $y$ the averages at the sizes, $V$ their covariance and $A$ the columns of a form, a fit is the least value of

$$(y - A\beta - s)^\top V^{-1} (y - A\beta - s), \qquad \beta \in \text{box}, \quad s \in \text{class},$$

where the class is that of `Corrections` on a grid of powers, or empty. At the true parameters the quadratic form is
chi-squared with one degree of freedom a size (less one for each coefficient that no box bounds), and the least value is
no larger. So a form is rejected at level $\alpha$ where the least value exceeds the quantile: exactly at most $\alpha$ of
true forms are, and fewer where the box leaves room. Where $V$ is estimated with $\nu$ degrees of freedom the quantile is
Hotelling's, $p \nu / (\nu - p + 1)$ times that of $F_{p, \nu - p + 1}$.

**Errors:** averages of draws are taken as near normal, as everywhere. With too few draws for a covariance of all sizes,
each size has Student's limits at its share of the level (Bonferroni), whose squares add up to the quantile.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import clarabel
import numpy as np
from scipy import sparse
from scipy.special import chdtri, fdtri, stdtrit

from theorax.decide.designs import Matrix, Plan, Policy, Vector

__all__ = ["REJECTED", "Averages", "Fit", "FormColumn", "Group", "averages_of", "class_columns", "fit"]

REJECTED = 0.01
"""Level at which the noise rejects a form."""

# A share of the largest value below which differences of values without noise mean nothing here: the solver's accuracy,
# 1e-8 of the least squares, leaves residuals of the order of its root times a small number.
_EXACT = 1e-5
_POWERS = 9
_FEASIBLE = 1e-6  # a hundred times the solver's own tolerance


@dataclass(frozen=True)
class Averages:
    """Averages of draws at the sizes, the covariance of their noise, and the degrees of freedom of its estimate.

    ``errors`` bound what each is off by besides; without noise the covariance is zero.
    """

    values: Vector
    covariance: Matrix
    df: float
    errors: Vector

    @cached_property
    def _is_thin(self) -> bool:
        """True if the covariance of all sizes cannot be inverted, or hardly."""
        return math.isfinite(self.df) and self.df < 2 * len(self.values)

    @cached_property
    def whitening(self) -> Matrix:
        """A matrix that makes the noise white."""
        spread = np.sqrt(np.diag(self.covariance))
        least = _EXACT * float(np.abs(self.values).max() or 1.0)
        if self._is_thin or not spread.all():
            return np.diag(1 / np.maximum(spread, least))
        root = np.linalg.cholesky(self.covariance + least**2 * np.eye(len(spread)))
        return np.asarray(np.linalg.inv(root), np.float64)

    def quantile(self, free: int) -> float:
        """The value that a fit of the true form with so many free coefficients exceeds with probability `REJECTED`."""
        sizes = len(self.values)
        conditions = max(1, sizes - free)
        if not math.isfinite(self.df):
            return float(chdtri(conditions, REJECTED))
        if self._is_thin:
            return sizes * float(stdtrit(self.df, 1 - REJECTED / (2 * sizes))) ** 2
        rest = self.df - conditions + 1
        return conditions * self.df / rest * float(fdtri(conditions, rest, 1 - REJECTED))


def averages_of(columns: Sequence[Vector], policy: Policy, errors: Vector) -> Averages:
    """Averages of the columns of draws, one a size.

    One value a size shows no noise of its own: its covariance is zero here.
    """
    values = np.array([float(column.mean()) for column in columns])
    if policy in (Policy.DETERMINISTIC, Policy.SINGLE):
        return Averages(values, np.zeros((len(values), len(values))), math.inf, errors)
    counts = np.array([len(column) for column in columns])
    if policy is Policy.PAIRED:
        covariance = np.atleast_2d(np.cov(np.stack(columns, axis=1), rowvar=False)) / counts[0]
    else:
        covariance = np.diag([float(column.var(ddof=1)) for column in columns] / counts)
    return Averages(values, covariance, float(counts.min() - 1), errors)


@dataclass(frozen=True)
class FormColumn:
    """One column of a form, with the range of its coefficient."""

    values: Vector
    low: float = -math.inf
    high: float = math.inf

    @property
    def is_fixed(self) -> bool:
        """True if the coefficient is known."""
        return self.low == self.high

    @property
    def is_free(self) -> bool:
        """True if nothing bounds the coefficient."""
        return math.isinf(self.low) and math.isinf(self.high)


@dataclass(frozen=True)
class Fit:
    """The least value of a fit, its quantile, and the coefficients of the columns and of the groups."""

    chi_squared: float
    quantile: float
    coefficients: tuple[float, ...]
    of_groups: tuple[tuple[float, ...], ...] = ()

    @property
    def is_rejected(self) -> bool:
        """True if the noise rejects the form."""
        # A fit without a number explains nothing.
        return not self.chi_squared <= self.quantile


@dataclass(frozen=True)
class Group:
    """Terms whose coefficients are bounded together: their absolute values add up to ``total``, or each is below it."""

    terms: Matrix
    total: float = 1.0
    each: bool = False

    @property
    def is_shared(self) -> bool:
        """True if a sum of absolute values is bounded."""
        return not self.each and math.isfinite(self.total)

    @property
    def block(self) -> Matrix:
        """The columns of the design: of a bounded sum the terms with either sign, whose coefficients are positive."""
        return np.concatenate([self.terms, -self.terms], axis=1) if self.is_shared else self.terms

    def signed(self, found: Sequence[float]) -> tuple[float, ...]:
        """The coefficients of the terms from those of the block."""
        count = self.terms.shape[1]
        if not self.is_shared:
            return tuple(found)
        return tuple(plus - minus for plus, minus in zip(found[:count], found[count:], strict=True))


def fit(averages: Averages, columns: Sequence[FormColumn], allowed: Sequence[Group] = ()) -> Fit:
    """The best fit of a form, with the corrections of ``allowed`` groups; `class_columns` gives those of a class."""
    loose = [column for column in columns if not column.is_fixed]
    known = sum((column.low * column.values for column in columns if column.is_fixed), np.zeros(len(averages.values)))
    groups = [*allowed, *([Group(np.diag(averages.errors), each=True)] if averages.errors.any() else [])]
    target = averages.whitening @ (averages.values - known)
    blocks = [column.values[:, None] for column in loose] + [group.block for group in groups]
    found = _least_squares(averages.whitening, target, blocks, loose, groups) if blocks else np.zeros(0)
    if not np.isfinite(found).all():
        return Fit(math.inf, 0.0, (math.nan,) * len(columns))
    rest = target - (averages.whitening @ np.concatenate(blocks, axis=1) @ found if blocks else 0.0)
    free = sum(column.is_free for column in loose)
    free += sum(group.terms.shape[1] for group in groups if math.isinf(group.total))
    fitted = iter(map(float, found))
    coefficients = tuple(column.low if column.is_fixed else next(fitted) for column in columns)
    of_groups = tuple(group.signed([next(fitted) for _ in range(group.block.shape[1])]) for group in groups)
    return Fit(float(rest @ rest), averages.quantile(free), coefficients, of_groups)


def _least_squares(
    whitening: Matrix, target: Vector, blocks: Sequence[Matrix], columns: Sequence[FormColumn], groups: Sequence[Group]
) -> Vector:
    """Coefficients of the least value; NaN where the solver has none."""
    white = whitening @ np.concatenate(blocks, axis=1)
    # The solver works on numbers of the order of one.
    scale = np.maximum(np.abs(white).max(axis=0), 1e-300)
    size = float(np.abs(target).max()) or 1.0
    scaled = white / scale
    rows, bounds = _constraints(columns, groups, scale)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(scaled.T @ scaled)),
        -scaled.T @ target / size,
        sparse.csc_matrix(rows),
        bounds / size,
        [clarabel.NonnegativeConeT(len(bounds))] if len(bounds) else [],
        settings,
    ).solve()
    found = np.asarray(solution.x)
    # Bounds of extreme size leave the solver without a feasible point: such coefficients are none.
    if len(bounds) and not (rows @ found - bounds / size <= _FEASIBLE * (1 + np.abs(bounds / size))).all():
        return np.full(len(found), math.nan)
    return found * size / scale


def class_columns(plan: Plan, *, rest_alone: bool = False) -> tuple[Group, ...]:
    """The corrections of a plan's declared class, and its given errors; ``rest_alone``: the rest of an expansion only."""
    allowed, x = plan.corrections, plan.relative_sizes
    groups = []
    if allowed.remainder:
        groups.append(Group(np.diag(allowed.remainder * x**-allowed.remainder_order), each=True))
    if rest_alone:
        return tuple(groups)
    if allowed.size:
        powers = np.linspace(allowed.slowest, allowed.fastest, _POWERS)
        groups.append(Group(x[:, None] ** -powers, allowed.size))
    for power in allowed.free:
        groups.append(Group(x[:, None] ** -power, math.inf))
    for bound, term in ((allowed.log, "log_term"), (allowed.loglog, "loglog_term")):
        if bound:
            groups.append(Group(getattr(plan, term)[:, None], bound))
    if any(plan.given_errors):
        groups.append(Group(np.diag(plan.given_errors), each=True))
    return tuple(groups)


def _constraints(columns: Sequence[FormColumn], groups: Sequence[Group], scale: Vector) -> tuple[Matrix, Vector]:
    """Rows G and bounds h with G z <= h for the scaled coefficients z."""
    rows: list[Vector] = []
    bounds: list[float] = []

    def add(places: Sequence[int], signs: Sequence[float], bound: float) -> None:
        row = np.zeros(len(scale))
        row[list(places)] = np.asarray(signs) / scale[list(places)]
        rows.append(row)
        bounds.append(bound)

    for at, column in enumerate(columns):
        if math.isfinite(column.high):
            add([at], [1.0], column.high)
        if math.isfinite(column.low):
            add([at], [-1.0], -column.low)
    at = len(columns)
    for group in groups:
        places = list(range(at, at + group.block.shape[1]))
        at += len(places)
        for place in places:
            if group.each:
                add([place], [1.0], group.total)
            if group.each or group.is_shared:
                add([place], [-1.0], group.total if group.each else 0.0)
        if group.is_shared:
            add(places, [1.0] * len(places), group.total)
    return np.array(rows).reshape(len(rows), len(scale)), np.array(bounds)
