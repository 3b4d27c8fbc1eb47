"""Arrays of residues: what the finite-field domain carries, and how such arrays are made, moved and multiplied."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from flint import nmod_mat

from theorax.errors import UsageError


@final
@dataclass(frozen=True)
class Residues:
    """Residues modulo p, those modulo q where they are known, and the functions that the numbers went through.

    ``exponent`` is None, or holds a residue modulo q wherever ``known``; the exponential has none. ``special`` is None,
    or the infinities and NaNs that stand where there is no residue, as in a masked score; zero elsewhere.
    """

    value: np.ndarray
    exponent: np.ndarray | None = None
    known: np.ndarray | None = None
    through: frozenset[str] = frozenset()
    special: np.ndarray | None = None

    @property
    def finite(self) -> np.ndarray:
        """True where there is a residue."""
        return np.ones(self.value.shape, bool) if self.special is None else np.asarray(self.special == 0)


PARTIAL = frozenset({"sqrt", "log", "asin", "acos", "acosh", "atanh", "pow"})
"""Functions that are no number on a part of the reals; log1p and rsqrt are made of two of them."""


def ratio(number: Any) -> tuple[int, int]:
    """An exact number as a quotient of integers."""
    if isinstance(number, bool | int):
        return int(number), 1
    if isinstance(number, float):
        return number.as_integer_ratio()
    if isinstance(number, Fraction):
        return number.numerator, number.denominator
    try:
        return int(number.p), int(number.q)
    except AttributeError:
        raise UsageError(
            f"An entry of type {type(number).__name__} has no residue. Give an int, a Fraction or a finite float."
        ) from None


def objects(entries: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)


def array(entries: Any) -> np.ndarray:
    return entries if isinstance(entries, np.ndarray) else objects([entries], ())


def moved(x: Residues, move: Callable[[np.ndarray], np.ndarray]) -> Residues:
    value = np.asarray(move(x.value), dtype=object)
    special = None if x.special is None else np.asarray(move(x.special))
    if special is not None and not special.any():
        special = None
    if x.exponent is None or x.known is None:
        return Residues(value, None, None, x.through, special)
    return Residues(value, np.asarray(move(x.exponent), dtype=object), np.asarray(move(x.known)), x.through, special)


def infinities(x: Residues) -> np.ndarray:
    return np.zeros(x.value.shape) if x.special is None else x.special


def nowhere(one: np.ndarray, other: np.ndarray | float = 0.0) -> np.ndarray:
    """A NaN wherever an argument is not finite: nothing is claimed of it."""
    return np.where((one == 0) & (np.asarray(other) == 0), 0.0, np.nan)


def matrix_of(entries: np.ndarray, modulus: int) -> nmod_mat:
    rows, columns = entries.shape
    return nmod_mat(rows, columns, entries.reshape(-1).tolist(), modulus)


def product(x: np.ndarray, y: np.ndarray, modulus: int) -> np.ndarray:
    (batch, rows, inner), columns = x.shape, y.shape[2]
    products = np.zeros((batch, rows, columns), dtype=object)
    if inner == 0:
        return products
    for b in range(batch):
        found = matrix_of(x[b], modulus) * matrix_of(y[b], modulus)
        entries = [int(entry) for entry in found.entries()]
        products[b] = objects(entries, (rows, columns))
    return products


RELATIONS: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
