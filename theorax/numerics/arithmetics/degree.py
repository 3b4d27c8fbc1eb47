r"""The degree domain: of every number of a rational program how large a quotient of integer polynomials it is.

A number is $P/Q$ with integer polynomials $P, Q$ in the program's inputs; carried are bounds of their degrees and of
the binary logarithms of their $L_1$ norms. Sums are cross-multiplied, nothing is ever cancelled, so the bounds are
generous, and any other function than the rational ones has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from theorax.numerics.arithmetics.domain import Domain
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive

_UPWARD = 1 + 2.0**-44
"""Outweighs the rounding of one operation on logarithms of norms, sums of up to 256 terms included."""


@final
@dataclass(frozen=True)
class Degrees:
    """Bounds of degree and log2 norm of numerator (above) and denominator (below).

    An exact zero has -inf above, what is no number (an infinity that a mask may hide) a NaN.
    """

    above: np.ndarray
    below: np.ndarray
    norm_above: np.ndarray
    norm_below: np.ndarray

    @property
    def value(self) -> np.ndarray:
        """The degrees of the numerators, in whose shape the numbers are arranged."""
        return self.above

    @property
    def nonzero(self) -> np.ndarray:
        """True where the number is not known to be zero."""
        return np.asarray(self.above != -np.inf)


@final
@dataclass(frozen=True)
class Degree(Domain[Degrees]):
    r"""Degrees and norms; rational operations alone.

    | operation | degrees | norms |
    |---|---|---|
    | $P/Q + R/S = (PS + RQ)/(QS)$ | the larger of the products; sum | logarithm of the sum; sum |
    | product, quotient | sums; the quotient's parts exchanged | sums |

    **Errors:** every entry is an upper bound, rounding included.

    **Raises:** ``UnsupportedPrimitive`` for any function that is not rational, ``UndecidedComparison`` for a branch.

    **Source:** Schwartz 1980; Zippel 1979.
    """

    name: ClassVar[str] = "degree"
    ordered: ClassVar[bool] = False

    def working(self) -> np.errstate:
        return np.errstate(invalid="ignore", divide="ignore")

    def variables(self, shape: tuple[int, ...]) -> Degrees:
        """An argument: every entry an indeterminate of its own."""
        return Degrees(np.ones(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape))

    def owns(self, leaf: object) -> bool:
        return isinstance(leaf, Degrees)

    def adopt(self, leaf: Degrees) -> Degrees:
        return leaf

    def lift(self, numbers: np.ndarray) -> Degrees:
        values = np.asarray(numbers, dtype=np.float64)
        finite = np.isfinite(values)
        mantissa, exponent = np.frexp(np.where(finite, values, 0.0))
        # An integer of at most 53 bits times a power of two; its trailing zeros are shared with the denominator.
        whole = np.abs(mantissa * 2.0**53).astype(np.int64)
        trailing = np.where(whole > 0, np.log2(np.maximum(whole & -whole, 1)), 0)
        shift = exponent - 53 + trailing
        size = np.where(whole > 0, np.log2(np.maximum(whole, 1)) - trailing, -np.inf)
        above = np.where(finite, np.where(whole > 0, 0.0, -np.inf), np.nan)
        norm = np.where(whole > 0, (size + np.maximum(shift, 0)) * _UPWARD, -np.inf)
        return Degrees(above, np.zeros(values.shape), norm, np.where(whole > 0, np.maximum(-shift, 0), 0.0))

    def shape(self, carriers: Degrees) -> tuple[int, ...]:
        return carriers.above.shape

    def take(self, carriers: Degrees, indices: np.ndarray) -> Degrees:
        return Degrees(*(part.reshape(-1)[indices] for part in _parts(carriers)))

    def join(self, parts: Sequence[Degrees]) -> Degrees:
        columns = zip(*map(_parts, parts), strict=True)
        return Degrees(*(np.concatenate([part.reshape(-1) for part in column]) for column in columns))

    def unary(self, name: str, x: Degrees) -> Degrees:
        if name != "neg":
            raise UnsupportedPrimitive(name, self.name, "it is no rational function")
        return x

    def binary(self, name: str, x: Degrees, y: Degrees) -> Degrees:
        match name:
            case "add" | "sub":
                above = np.maximum(x.above + y.below, y.above + x.below)
                norm = np.logaddexp2(x.norm_above + y.norm_below, y.norm_above + x.norm_below)
                return _settled(above, x.below + y.below, norm, x.norm_below + y.norm_below)
            case "mul":
                return _settled(*(one + other for one, other in zip(_parts(x), _parts(y), strict=True)))
            case "div":
                if not np.all(np.broadcast_to(y.nonzero, np.broadcast_shapes(x.above.shape, y.above.shape))):
                    raise UnsupportedPrimitive("div", self.name, "its divisor is zero")
                turned = Degrees(y.below, y.above, y.norm_below, y.norm_above)
                return self.binary("mul", x, turned)
        raise UnsupportedPrimitive(name, self.name, "it is no rational function")

    def power(self, x: Degrees, exponent: int) -> Degrees:
        count = abs(exponent)
        if count == 0:
            return self.lift(np.ones(x.above.shape))
        if exponent < 0:
            one = self.lift(np.ones(x.above.shape))
            return self.binary("div", one, self.power(x, count))
        return _settled(*(count * part for part in _parts(x)))

    def compare(self, name: str, x: Degrees, y: Degrees) -> np.ndarray:
        if x is not y:
            raise UndecidedComparison(name)
        return np.full(x.above.shape, name in ("eq", "le", "ge"))

    def is_finite(self, x: Degrees) -> np.ndarray:
        return ~np.isnan(x.above)

    def sum(self, x: Degrees) -> Degrees:
        below, norm_below = x.below.sum(axis=-1), x.norm_below.sum(axis=-1)
        above = (x.above - x.below).max(axis=-1, initial=-np.inf) + below
        norm = np.logaddexp2.reduce(x.norm_above - x.norm_below, axis=-1, initial=-np.inf) + norm_below
        return _settled(above, below, norm + _slack(x.norm_above, x.norm_below, axis=-1), norm_below)

    def dot(self, x: Degrees, y: Degrees) -> Degrees:
        (batch, rows, inner), columns = x.above.shape, y.above.shape[2]
        weight_x, weight_y = x.nonzero.astype(np.float64), y.nonzero.astype(np.float64)
        shape = (batch, rows, columns)
        below = (x.below * weight_x) @ weight_y + weight_x @ (y.below * weight_y)
        norm_below = (x.norm_below * weight_x) @ weight_y + weight_x @ (y.norm_below * weight_y)
        above, norm, slack = np.full(shape, -np.inf), np.full(shape, -np.inf), np.zeros(shape)
        for k in range(inner):
            pair = self.binary("mul", _column(x, k), _row(y, k))
            above = np.maximum(above, pair.above - pair.below)
            norm = np.logaddexp2(norm, pair.norm_above - pair.norm_below)
            slack = slack + _slack(pair.norm_above, pair.norm_below)
        return _settled(above + below, below, norm + norm_below + slack, norm_below)

    def determinant(self, x: Degrees) -> Degrees:
        # Every term of the determinant is a term of the product over the rows of the sums of their entries, up to its
        # sign, over the same denominators: the parts of that product bound those of the determinant.
        shape = x.above.shape
        sums = self.sum(x)
        found = self.take(sums, _column_of(shape, 0))
        for row in range(1, shape[-1]):
            found = self.binary("mul", found, self.take(sums, _column_of(shape, row)))
        return found

    def solved(self, a: Degrees, b: Degrees) -> Degrees:
        # Cramer's rule: a column of the matrix is replaced by the right side, so both stand in every row's sum.
        size, columns = b.above.shape
        places, rights = np.arange(size * size).reshape(size, size), np.arange(size * columns).reshape(size, columns)
        pool, below = self.join([a, b]), self.determinant(a)
        found = []
        for column in range(columns):
            wide = np.concatenate([places, size * size + rights[:, column : column + 1]], axis=1)
            sums = self.sum(self.take(pool, wide))
            above = self.take(sums, np.asarray(0))
            for row in range(1, size):
                above = self.binary("mul", above, self.take(sums, np.asarray(row)))
            found.append(self.binary("div", above, below))
        order = np.arange(columns * size) // size
        return self.take(self.join(found), order.reshape(columns, size).T)


def _column_of(shape: tuple[int, ...], row: int) -> np.ndarray:
    """The places of one row's sum in an array of them, for every matrix of a batch."""
    return np.arange(int(np.prod(shape[:-1], dtype=np.int64))).reshape(shape[:-1])[..., row]


def height(x: Degrees) -> tuple[float, float]:
    r"""The largest degree $d$ = numerator + denominator, and the largest log2 norm $h$ of a numerator, of all entries.

    Exact zeros have neither.

    **Raises:** ``UnsupportedPrimitive`` where an entry is no number.
    """
    if np.isnan(x.above).any():
        raise UnsupportedPrimitive("constant", Degree.name, "an infinity or a NaN is no rational number")
    return _largest((x.above + x.below)[x.nonzero]), _largest(x.norm_above[x.nonzero])


def _largest(entries: np.ndarray) -> float:
    return float(entries.max(initial=0.0))


def _parts(x: Degrees) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    return x.above, x.below, x.norm_above, x.norm_below


def _settled(above: np.ndarray, below: np.ndarray, norm_above: np.ndarray, norm_below: np.ndarray) -> Degrees:
    """The number with these parts; a zero needs no denominator."""
    zero = above == -np.inf
    return Degrees(
        np.where(zero, -np.inf, above),
        np.where(zero, 0.0, below),
        # A nonzero integer polynomial has norm at least one.
        np.where(zero, -np.inf, np.maximum(norm_above, 0) * _UPWARD),
        np.where(zero, 0.0, np.maximum(norm_below, 0) * _UPWARD),
    )


def _slack(above: np.ndarray, below: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Bound of the rounding error of adding these logarithms: a share of their sizes."""
    sizes = (np.abs(np.where(above > -np.inf, above, 0)) + np.abs(below)) * 2.0**-44 + 2.0**-44
    return np.asarray(sizes if axis is None else sizes.sum(axis=axis))


def _column(x: Degrees, k: int) -> Degrees:
    return Degrees(*(part[:, :, k, None] for part in _parts(x)))


def _row(x: Degrees, k: int) -> Degrees:
    return Degrees(*(part[:, k, None, :] for part in _parts(x)))
