r"""Exact algebra for polynomial claims: a semidefinite quadratic by squares, a polynomial of one variable by Sturm.

Balls never close a claim that holds with equality inside the box; algebra over the rationals does. A proof is data that
is checked by multiplication alone: whatever found it is not believed.

| polynomial of the box's letters | proof that it is nowhere negative |
|---|---|
| degree at most two | $(1, x)\,M\,(1, x)'$ with $M = L D L'$ and $D \ge 0$: a sum of squares, everywhere |
| one letter | no root of odd order between the ends, counted by Sturm's theorem, and a value above zero |

**Source:** Golub and Van Loan 2013, section 4.2.8 (semidefinite factors); Basu et al. 2006, theorem 2.50 (Sturm).
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import final

from flint import fmpq, fmpq_poly

from theorax.exact.enclosures import Box, Enclosure
from theorax.exact.polynomials import LARGEST_DEGREE, terms_of

__all__ = ["AlgebraicProof", "Squares", "Sturm", "proof_of", "value_at"]


class AlgebraicProof(abc.ABC):
    """A proof that a polynomial is nowhere negative on a box."""

    @abc.abstractmethod
    def holds(self) -> bool:
        """Check the proof by multiplying back."""

    @property
    @abc.abstractmethod
    def told(self) -> str:
        """The proof in words."""


@final
@dataclass(frozen=True)
class Squares(AlgebraicProof):
    """A symmetric matrix as ``L D L'`` with ``order`` its rows: a quadratic as squares with coefficients ``D``."""

    matrix: Sequence[Sequence[fmpq]]
    order: Sequence[int]
    lower: Sequence[Sequence[fmpq]]
    diagonal: Sequence[fmpq]

    def holds(self) -> bool:
        size = range(len(self.matrix))
        return all(d >= 0 for d in self.diagonal) and all(
            sum((self.lower[i][k] * self.diagonal[k] * self.lower[j][k] for k in size), fmpq(0))
            == self.matrix[self.order[i]][self.order[j]]
            for i in size
            for j in size
        )

    @property
    def told(self) -> str:
        count = sum(d > 0 for d in self.diagonal)
        if not count:
            return "holds with equality everywhere, in rational arithmetic"
        squares = f"{count} square{'s' if count != 1 else ''}"
        return f"holds everywhere: a sum of {squares} with positive rational coefficients, checked by multiplying back"


@final
@dataclass(frozen=True)
class Sturm(AlgebraicProof):
    """A polynomial of one variable with its squarefree factors and the Sturm chain of those of odd order."""

    polynomial: fmpq_poly
    low: fmpq
    high: fmpq
    unit: fmpq
    factors: Sequence[tuple[fmpq_poly, int]]
    ends: Sequence[fmpq]
    """The ends that are roots of odd order, where the sign may change; the chain is that of the other factors."""
    chain: Sequence[fmpq_poly]
    above: fmpq
    """A point between the ends at which the polynomial is positive."""

    def holds(self) -> bool:
        whole = reduce(lambda product, part: product * part[0] ** part[1], self.factors, fmpq_poly([self.unit]))
        odd = reduce(lambda product, part: product * part[0], self._odd, fmpq_poly([1]))
        first, *rest = self.chain
        chained = all(
            (before + after) % here == 0 and after.degree() < here.degree()
            for before, here, after in zip(self.chain, self.chain[1:], self.chain[2:], strict=False)
        )
        # With a constant at its end the chain is that of a polynomial without multiple roots.
        started = (rest[0] == first.derivative()) if rest else first.degree() == 0
        ended = self.chain[-1].degree() == 0 and self.chain[-1] != 0
        return bool(
            whole == self.polynomial
            and odd == reduce(lambda product, end: product * fmpq_poly([-end, 1]), self.ends, first)
            and chained
            and started
            and ended
            and all(end in (self.low, self.high) for end in self.ends)
            and first(self.low) != 0
            and first(self.high) != 0
            and _changes(self.chain, self.low) == _changes(self.chain, self.high)
            and self.low < self.above < self.high
            and self.polynomial(self.above) > 0
        )

    @property
    def _odd(self) -> list[tuple[fmpq_poly, int]]:
        return [part for part in self.factors if part[1] % 2]

    @property
    def told(self) -> str:
        return "holds between the ends: no root of odd order lies there by Sturm's theorem, in rational arithmetic"


def proof_of(function: Enclosure, box: Box, slack: fmpq, level: fmpq | None = None) -> AlgebraicProof | None:
    """A checked proof that a function is at least ``level`` minus the slack on the box; None where algebra knows none.

    ``level``: zero where nothing else is said.
    """
    terms = terms_of(function)
    if terms is None:
        return None
    nothing = (0,) * function.dimension
    terms = {**terms, nothing: terms.get(nothing, fmpq(0)) + slack - (level or fmpq(0))}
    found: AlgebraicProof | None = _squares(terms) if max(map(sum, terms)) <= 2 else None
    letters = [place for place in range(function.dimension) if any(powers[place] for powers in terms)]
    if found is None and len(letters) == 1 and max(map(sum, terms)) <= LARGEST_DEGREE:
        coefficients = [fmpq(0)] * (max(map(sum, terms)) + 1)
        for powers, coefficient in terms.items():
            coefficients[powers[letters[0]]] += coefficient
        found = _sturm(fmpq_poly(coefficients), *box.sides[letters[0]])
    return found if found is not None and found.holds() else None


def value_at(function: Enclosure, point: Sequence[fmpq]) -> fmpq | None:
    """The exact value of a polynomial; None for other functions."""
    terms = terms_of(function)
    if terms is None:
        return None
    powers = (
        reduce(lambda product, part: product * part[0] ** part[1], zip(point, exponents, strict=True), coefficient)
        for exponents, coefficient in terms.items()
    )
    return sum(powers, fmpq(0))


def _squares(terms: Mapping[tuple[int, ...], fmpq]) -> Squares | None:
    """The quadratic as squares, by elimination with the rows of largest diagonal first."""
    size = len(next(iter(terms))) + 1
    matrix = [[fmpq(0)] * size for _ in range(size)]
    for powers, coefficient in terms.items():
        # The constant belongs to the first row; a product of two letters to both halves of the matrix.
        rows = [place + 1 for place, power in enumerate(powers) for _ in range(power)]
        i, j = [0, 0, *rows][-2:]
        matrix[i][j] += coefficient / 2
        matrix[j][i] += coefficient / 2
    rest, order = [row[:] for row in matrix], list(range(size))
    lower, diagonal = [[fmpq(int(i == j)) for j in range(size)] for i in range(size)], [fmpq(0)] * size
    for k in range(size):
        best = max(range(k, size), key=lambda place: rest[order[place]][order[place]])
        order[k], order[best] = order[best], order[k]
        lower[k][:k], lower[best][:k] = lower[best][:k], lower[k][:k]
        pivot = diagonal[k] = rest[order[k]][order[k]]
        column = [rest[order[i]][order[k]] for i in range(k + 1, size)]
        if pivot <= 0:
            # With no positive diagonal left the matrix is semidefinite only if nothing is left at all.
            empty = all(rest[order[i]][order[j]] == 0 for i in range(k, size) for j in range(k, size))
            return Squares(matrix, tuple(order), lower, diagonal) if empty else None
        for i, entry in enumerate(column, start=k + 1):
            lower[i][k] = entry / pivot
            for j in range(k + 1, size):
                rest[order[i]][order[j]] -= entry * rest[order[j]][order[k]] / pivot
    return Squares(matrix, tuple(order), lower, diagonal)


def _sturm(polynomial: fmpq_poly, low: fmpq, high: fmpq) -> Sturm | None:
    """The proof for one variable; None where the polynomial is negative somewhere between the ends."""
    if not low < high or polynomial.degree() < 1:
        return None
    unit, factors = _squarefree(polynomial)
    odd = reduce(lambda product, part: product * part[0], [part for part in factors if part[1] % 2], fmpq_poly([1]))
    ends = [end for end in (low, high) if odd(end) == 0]
    odd = reduce(lambda rest, end: rest // fmpq_poly([-end, 1]), ends, odd)
    chain = [odd, odd.derivative()]
    while chain[-1] != 0:
        chain.append(-(chain[-2] % chain[-1]))
    count = polynomial.degree() + 2
    between = [low + (high - low) * fmpq(place, count) for place in range(1, count)]
    above = next((point for point in between if polynomial(point) > 0), low)
    return Sturm(polynomial, low, high, unit, factors, tuple(ends), tuple(chain[:-1]), above)


def _squarefree(polynomial: fmpq_poly) -> tuple[fmpq, list[tuple[fmpq_poly, int]]]:
    """The polynomial as a number times powers of monic polynomials without multiple roots (Yun's algorithm)."""
    unit = polynomial[polynomial.degree()]
    monic = polynomial * (1 / unit)
    common = monic.gcd(monic.derivative())
    left, slope = monic // common, monic.derivative() // common
    factors, order = [], 1
    while left.degree() > 0:
        slope = slope - left.derivative()
        factor = left.gcd(slope) if slope != 0 else left
        if factor.degree() > 0:
            factors.append((factor, order))
        left, slope, order = left // factor, slope // factor, order + 1
    return unit, factors


def _changes(chain: Sequence[fmpq_poly], point: fmpq) -> int:
    """Changes of sign along the chain at a point, zeros left out."""
    values = [value for value in (part(point) for part in chain) if value != 0]
    return sum((one < 0) != (other < 0) for one, other in pairwise(values))
