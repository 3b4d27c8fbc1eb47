"""Laws of one real variable, given so that they can be integrated: as the image of a simple variable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
from sympy import (
    Expr,
    ImmutableMatrix,
    Integer,
    MatrixBase,
    Rational,
    Symbol,
    cos,
    factorial2,
    integrate,
    lambdify,
    pi,
    simplify,
    sin,
    sympify,
)

from theorax.errors import StatementError


class LawOfNumbers(ABC):
    """A probability law on the real line; it may depend on parameters."""

    @property
    @abstractmethod
    def letters(self) -> frozenset[Symbol]:
        """The symbols that the law depends on."""

    @abstractmethod
    def scaled(self, factor: Expr) -> LawOfNumbers:
        """The law of ``factor`` times the variable."""

    @abstractmethod
    def characteristic(self, frequencies: np.ndarray, values: Mapping[Symbol, float]) -> np.ndarray:
        """E exp(i t X) at the given frequencies, as a complex array."""

    @abstractmethod
    def moment(self, power: int) -> Expr:
        """E X^power, exactly."""


@final
@dataclass(frozen=True)
class Image(LawOfNumbers):
    """The law of ``of`` when ``variable`` has the given ``density`` on the interval ``over``.

    A density that blows up or ends in a square root is inconvenient; the image of a smooth density is not: the
    semicircle is 2 sin u with density 2 cos(u)^2 / pi.

    **Errors:** ``characteristic`` uses Gauss-Legendre quadrature with ``nodes`` nodes; for the smooth integrands
    meant here it converges geometrically, and the number of nodes is doubled until two results agree to 1e-13, far
    below the 1e-4 at which laws are compared.

    **Raises:** StatementError if the density does not integrate to one, or has a letter of its own.
    """

    of: Expr
    variable: Symbol
    density: Expr
    over: tuple[Expr, Expr]

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", sympify(self.of))
        mass = _mass(self.density, self.variable, *self.over)
        if mass != 1:
            raise StatementError(
                f"Image(density={self.density}) on {self.over} has mass {mass}. A probability density integrates to "
                f"one. Divide it by {mass}."
            )

    @property
    def letters(self) -> frozenset[Symbol]:
        return frozenset(self.of.free_symbols | self.density.free_symbols) - {self.variable}

    def scaled(self, factor: Expr) -> Image:
        return Image(sympify(factor) * self.of, self.variable, self.density, self.over)

    def moment(self, power: int) -> Expr:
        return simplify(integrate(self.of**power * self.density, (self.variable, *self.over)))

    def characteristic(self, frequencies: np.ndarray, values: Mapping[Symbol, float]) -> np.ndarray:
        variable = self.variable
        low, high = (float(sympify(end).subs(values)) for end in self.over)
        image, density = (
            lambdify(variable, expression.subs(values), "numpy") for expression in (self.of, self.density)
        )

        def by_quadrature(nodes: int) -> np.ndarray:
            x, w = np.polynomial.legendre.leggauss(nodes)
            u = (high - low) / 2 * x + (high + low) / 2
            weight = (high - low) / 2 * w * np.broadcast_to(density(u), u.shape)
            return np.exp(1j * np.outer(frequencies, np.broadcast_to(image(u), u.shape))) @ weight

        nodes, coarse = 64, by_quadrature(32)
        while nodes <= 2048:
            fine = by_quadrature(nodes)
            if np.max(np.abs(fine - coarse)) < 1e-13 * np.sqrt(nodes):
                return fine
            nodes, coarse = 2 * nodes, fine
        raise StatementError(
            f"The characteristic function of Image({self.of}) does not converge with 2048 nodes. The image of a "
            "smooth density converges geometrically. Write the law as the image of a variable with a smooth density."
        )


@final
@dataclass(frozen=True)
class Gaussian(LawOfNumbers):
    """The centred normal law of one number with a variance, or of a vector with a covariance matrix.

    **Raises:** StatementError for a matrix that is not symmetric, or a variance that is known not to be positive.
    """

    covariance: Expr

    def __post_init__(self) -> None:
        given = self.covariance
        matrix = ImmutableMatrix([[sympify(given)]]) if not isinstance(given, MatrixBase) else ImmutableMatrix(given)
        object.__setattr__(self, "covariance", matrix)
        if matrix.rows != matrix.cols or not matrix.is_symmetric():
            raise StatementError(
                f"Gaussian(covariance of shape {matrix.shape}) is no covariance. It is the same across its diagonal. "
                "Write a symmetric matrix, or one variance."
            )
        if any(entry.is_nonpositive for entry in matrix.diagonal()):
            raise StatementError(
                "Gaussian(...) has a variance of zero or less. A number without spread has no normal law. "
                "Write positive variances, or state a Limit."
            )

    @property
    def dimensions(self) -> int:
        """How many numbers have this law together."""
        return int(self.covariance.rows)

    @property
    def letters(self) -> frozenset[Symbol]:
        return frozenset(self.covariance.free_symbols)

    def scaled(self, factor: Expr) -> Gaussian:
        return Gaussian(self.covariance * sympify(factor) ** 2)

    def numbers(self, values: Mapping[Symbol, float]) -> np.ndarray:
        """The covariance as an array.

        **Raises:** StatementError if it is not positive there.
        """
        matrix = np.array(self.covariance.subs(values).evalf(30).tolist(), dtype=float)
        # Eigenvalues of a rounded matrix err by its size in the last place for each of its rows.
        if (least := float(np.linalg.eigvalsh(matrix)[0])) < -len(matrix) * 2.0**-50 * float(np.abs(matrix).max()):
            raise StatementError(
                f"Gaussian(...) has a direction of variance {least:.3g}. No law has a negative variance. Correct the "
                "covariance, or restrict the claim with where=..."
            )
        return matrix

    def characteristic(self, frequencies: np.ndarray, values: Mapping[Symbol, float]) -> np.ndarray:
        points = np.asarray(frequencies, float)
        points = points[:, None] if points.ndim == 1 else points
        return np.exp(-np.einsum("ja,ab,jb->j", points, self.numbers(values), points) / 2).astype(complex)

    def moment(self, power: int) -> Expr:
        """E X^power of one number: (power - 1)!! times the root of the variance to that power."""
        if self.dimensions > 1:
            raise StatementError("A vector has no single moment. Take those of its entries.")
        if power % 2:
            return Integer(0)
        return factorial2(power - 1) * self.covariance[0, 0] ** Rational(power, 2)

    def __str__(self) -> str:
        inside = self.covariance[0, 0] if self.dimensions == 1 else self.covariance.tolist()
        return f"N(0, {inside})"


@lru_cache(maxsize=256)
def _mass(density: Expr, variable: Symbol, low: Expr, high: Expr) -> Expr:
    """The integral of the density; a law and all its rescalings have the same one."""
    return simplify(integrate(density, (variable, low, high)))


def quarter_circle(radius: Expr) -> Image:
    """The quarter-circular law on [0, radius]: radius * sin(u), density 4 cos(u)^2/pi on [0, pi/2].

    Density in x: 4 sqrt(radius^2 - x^2) / (pi radius^2), so E x^2 = radius^2/4.
    """
    u = Symbol("u", real=True)
    return Image(radius * sin(u), u, 4 * cos(u) ** 2 / pi, (Integer(0), pi / 2))


def radius_of_disk(radius: Expr) -> Image:
    """The modulus of a uniform point of the disk of this radius: radius * sqrt(v), v uniform, written with v = u^2."""
    u = Symbol("u", real=True)
    return Image(radius * u, u, 2 * u, (Integer(0), Integer(1)))
