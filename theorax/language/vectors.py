"""Laws of several real numbers together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from sympy import Expr, ImmutableMatrix, Integer, MatrixBase, Rational, Symbol, factorial2, latex, sympify

from theorax.errors import StatementError, problem
from theorax.language.limit_laws import LawOfNumbers

__all__ = ["GaussianVector"]


@final
@dataclass(frozen=True)
class GaussianVector(LawOfNumbers):
    """The centred normal law of several numbers together, with this covariance matrix (or of one, with a variance).

    **Raises:** StatementError for a matrix that is not symmetric, or a variance that is known not to be positive.
    """

    covariance: Expr

    def __post_init__(self) -> None:
        given = self.covariance
        matrix = ImmutableMatrix([[sympify(given)]]) if not isinstance(given, MatrixBase) else ImmutableMatrix(given)
        object.__setattr__(self, "covariance", matrix)
        if matrix.rows != matrix.cols or not matrix.is_symmetric():
            problem(
                "law-covariance",
                f"GaussianVector(covariance of shape {matrix.shape}) is no covariance. It is the same across its diagonal. "
                "Write a symmetric matrix, or one variance.",
            )
        if any(entry.is_nonpositive for entry in matrix.diagonal()):
            problem(
                "law-covariance",
                "GaussianVector(...) has a variance of zero or less. A normal law has a positive variance. "
                "Write positive variances, or state a Limit.",
            )

    @property
    def dimensions(self) -> int:
        """Number of coordinates."""
        return int(self.covariance.rows)

    @property
    def letters(self) -> frozenset[Symbol]:
        return frozenset(self.covariance.free_symbols)

    def scaled(self, factor: Expr) -> GaussianVector:
        return GaussianVector(self.covariance * sympify(factor) ** 2)

    def numbers(self, values: Mapping[Symbol, float]) -> np.ndarray:
        """The covariance as an array.

        **Raises:** StatementError if it is not positive there.
        """
        matrix = np.array(self.covariance.subs(values).evalf(30).tolist(), dtype=float)
        # Eigenvalues of a rounded matrix err by its size in the last place for each of its rows.
        if (least := float(np.linalg.eigvalsh(matrix)[0])) < -len(matrix) * 2.0**-50 * float(np.abs(matrix).max()):
            raise StatementError.of(
                "law-covariance",
                f"GaussianVector(...) has a direction of variance {least:.3g}. No law has a negative variance. Correct the "
                "covariance, or restrict the claim with where=...",
            )
        return matrix

    def characteristic(self, frequencies: np.ndarray, values: Mapping[Symbol, float]) -> np.ndarray:
        points = np.asarray(frequencies, float)
        points = points[:, None] if points.ndim == 1 else points
        return np.exp(-np.einsum("ja,ab,jb->j", points, self.numbers(values), points) / 2).astype(complex)

    def moment(self, power: int) -> Expr:
        """E X^power of one number: (power - 1)!! times the root of the variance to that power."""
        if self.dimensions > 1:
            raise StatementError.of("law-moment", "A vector has no single moment. Take those of its entries.")
        if power % 2:
            return Integer(0)
        return factorial2(power - 1) * self.covariance[0, 0] ** Rational(power, 2)

    @property
    def latex(self) -> str:
        inside = self.covariance[0, 0] if self.dimensions == 1 else self.covariance
        return rf"\mathcal{{N}}\left(0, {latex(inside)}\right)"

    def __str__(self) -> str:
        inside = self.covariance[0, 0] if self.dimensions == 1 else self.covariance.tolist()
        return f"N(0, {inside})"
