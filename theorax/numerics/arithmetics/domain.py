"""The interface of a scalar domain: it carries arrays of scalars and does arithmetic on them."""

from __future__ import annotations

import abc
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive

if TYPE_CHECKING:
    from theorax.numerics.arithmetics.casts import FloatFormat

Carriers = TypeVar("Carriers")

UNARY = (
    "neg", "abs", "sign", "sqrt", "rsqrt", "cbrt", "exp", "exp2", "expm1", "log", "log1p", "tanh", "sinh", "cosh",
    "sin", "cos", "tan", "asin", "acos", "atan", "asinh", "acosh", "atanh", "erf", "erfc", "logistic", "floor", "ceil",
    "lgamma", "digamma",
)  # fmt: skip
"""Primitives of one argument; a domain may leave out any of them."""

BINARY = ("add", "sub", "mul", "div", "pow", "max", "min", "atan2")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


class Domain(abc.ABC, Generic[Carriers]):
    """A scalar domain: the meaning of a float program's numbers.

    Laws, checked on every domain: ``lift`` is exact; ``take`` and ``join`` only move scalars; ``compare`` answers only
    when every value the carriers stand for gives the same answer, and raises ``UndecidedComparison`` otherwise.
    """

    name: ClassVar[str]
    ordered: ClassVar[bool] = True
    """True if the domain knows which of two numbers is the larger, where its carriers tell."""

    def working(self) -> AbstractContextManager[Any]:
        """The context in which every operation of one evaluation runs, for example a precision."""
        return nullcontext()

    @abc.abstractmethod
    def owns(self, leaf: object) -> bool:
        """True if an argument leaf is already an array of this domain's carriers."""

    @abc.abstractmethod
    def adopt(self, leaf: Any) -> Carriers:
        """The carriers in a leaf this domain owns, checked one by one."""

    @abc.abstractmethod
    def lift(self, numbers: np.ndarray) -> Carriers:
        """Exact numbers, integers, truth values or floats read as dyadic rationals, in this domain."""

    @abc.abstractmethod
    def shape(self, carriers: Carriers) -> tuple[int, ...]:
        """The shape of an array of carriers."""

    @abc.abstractmethod
    def take(self, carriers: Carriers, indices: np.ndarray) -> Carriers:
        """The scalars at these positions of the flattened array, in the shape of ``indices``."""

    @abc.abstractmethod
    def join(self, parts: Sequence[Carriers]) -> Carriers:
        """The scalars of all the parts, flattened, one after another."""

    @abc.abstractmethod
    def unary(self, name: str, x: Carriers) -> Carriers:
        """One of ``UNARY``, entry by entry.

        **Raises:** ``UnsupportedPrimitive`` where the domain has no such function, ``UndecidedComparison`` for the sign
        of a number that is not known to be positive, negative or zero.
        """

    @abc.abstractmethod
    def binary(self, name: str, x: Carriers, y: Carriers) -> Carriers:
        """One of ``BINARY``, entry by entry, with the broadcasting of numpy."""

    @abc.abstractmethod
    def power(self, x: Carriers, exponent: int) -> Carriers:
        """An integer power, entry by entry."""

    @abc.abstractmethod
    def compare(self, name: str, x: Carriers, y: Carriers) -> np.ndarray:
        """One of ``COMPARISONS``, entry by entry, as truth values.

        **Raises:** ``UndecidedComparison``.
        """

    @abc.abstractmethod
    def is_finite(self, x: Carriers) -> np.ndarray:
        """True at the entries that are finite numbers."""

    @abc.abstractmethod
    def sum(self, x: Carriers) -> Carriers:
        """The sums over the last axis."""

    @abc.abstractmethod
    def dot(self, x: Carriers, y: Carriers) -> Carriers:
        """The products of matrices ``[B, M, K]`` and ``[B, K, N]``."""

    def determinant(self, x: Carriers) -> Carriers:
        """The determinants of matrices ``[..., n, n]``.

        **Raises:** ``UnsupportedPrimitive`` where the domain knows no way but that of the program.
        """
        raise UnsupportedPrimitive("det", self.name)

    def solved(self, a: Carriers, b: Carriers) -> Carriers:
        """The solution of ``a x = b`` for matrices ``[n, n]`` and ``[n, k]``; no number where there is none."""
        raise UnsupportedPrimitive("linear_solve", self.name)

    def special(self, name: str, operands: Sequence[Carriers]) -> Carriers:
        """A special function of one or several arrays, entry by entry, by the name of its primitive.

        **Raises:** ``UnsupportedPrimitive`` where the domain has no such function.
        """
        raise UnsupportedPrimitive(name, self.name)

    def narrowed(self, x: Carriers, to: FloatFormat) -> Carriers:
        """The numbers cast to a narrower float: read as exact, where a domain does not say what a cast may lose."""
        return x

    def scan_sum(self, x: Carriers) -> Carriers:
        """The running sums along the last axis of a matrix of rows."""
        return running(self, "add", x)


def running(domain: Domain[Carriers], name: str, x: Carriers) -> Carriers:
    """The running sums, products or maxima along the last axis of a matrix, one step after another."""
    rows, columns = domain.shape(x)
    places = np.arange(rows * columns).reshape(rows, columns)
    steps = [domain.take(x, places[:, 0])] if columns else []
    for column in range(1, columns):
        steps.append(domain.binary(name, steps[-1], domain.take(x, places[:, column])))
    if not steps:
        return x
    return domain.take(domain.join(steps), np.arange(rows * columns).reshape(columns, rows).T)


class ObjectDomain(Domain[np.ndarray]):
    """A domain whose carriers are Python objects in numpy arrays of dtype object.

    A subclass gives scalar functions: ``functions`` for ``UNARY``, ``operations`` for ``BINARY``, and ``decide`` for
    the comparisons.
    """

    @property
    @abc.abstractmethod
    def functions(self) -> Mapping[str, Callable[[Any], Any]]:
        """The scalar functions of one argument that the domain has."""

    @property
    @abc.abstractmethod
    def operations(self) -> Mapping[str, Callable[[Any, Any], Any]]:
        """The scalar functions of two arguments that the domain has."""

    @abc.abstractmethod
    def scalar(self, number: object) -> Any:
        """One carrier from an exact number, a float read as a dyadic, or a carrier."""

    @abc.abstractmethod
    def decide(self, name: str, x: Any, y: Any) -> bool | None:
        """Truth of the comparison; None where the carriers do not determine it."""

    @abc.abstractmethod
    def finite(self, x: Any) -> bool | None:
        """True or False for a scalar that is finite or not; None where that is unknown."""

    @abc.abstractmethod
    def integer_power(self, x: Any, exponent: int) -> Any:
        """One carrier to an integer power."""

    @abc.abstractmethod
    def total(self, terms: Sequence[Any]) -> Any:
        """The sum of a sequence of carriers."""

    def owns(self, leaf: object) -> bool:
        return isinstance(leaf, np.ndarray) and leaf.dtype == object

    def adopt(self, leaf: np.ndarray) -> np.ndarray:
        return _each(self.scalar, leaf)

    def lift(self, numbers: np.ndarray) -> np.ndarray:
        numbers = np.asarray(numbers)
        if numbers.dtype not in (np.float64, np.float32, np.float16) and numbers.dtype.kind not in "biu":
            numbers = numbers.astype(np.float64)  # bfloat16 and its kin are dyadics that float64 holds
        return _each(self.scalar, np.array(numbers.tolist(), dtype=object).reshape(numbers.shape))

    def shape(self, carriers: np.ndarray) -> tuple[int, ...]:
        return carriers.shape

    def take(self, carriers: np.ndarray, indices: np.ndarray) -> np.ndarray:
        taken = np.empty(indices.shape, dtype=object)
        taken[...] = carriers.reshape(-1)[indices]
        return taken

    def join(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate([part.reshape(-1) for part in parts])

    def unary(self, name: str, x: np.ndarray) -> np.ndarray:
        if name not in self.functions:
            raise UnsupportedPrimitive(name, self.name)
        return _each(self.functions[name], x)

    def binary(self, name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if name not in self.operations:
            raise UnsupportedPrimitive(name, self.name)
        return _pairs(self.operations[name], x, y)

    def power(self, x: np.ndarray, exponent: int) -> np.ndarray:
        return _each(lambda entry: self.integer_power(entry, exponent), x)

    def compare(self, name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        def decided(left: Any, right: Any) -> bool:
            answer = self.decide(name, left, right)
            if answer is None:
                raise UndecidedComparison(name, left, right)
            return answer

        return _pairs(decided, x, y).astype(bool)

    def is_finite(self, x: np.ndarray) -> np.ndarray:
        def decided(entry: Any) -> bool:
            answer = self.finite(entry)
            if answer is None:
                raise UndecidedComparison("is_finite", entry)
            return answer

        return _each(decided, x).astype(bool)

    def sum(self, x: np.ndarray) -> np.ndarray:
        rows, count = x.shape[:-1], x.shape[-1]
        terms = x.reshape(math.prod(rows), count).tolist()
        return np.fromiter(map(self.total, terms), object, len(terms)).reshape(rows)

    def dot(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        times = self.operations["mul"]
        batch, rows, inner = x.shape
        products = np.empty((batch, rows, y.shape[2]), dtype=object)
        for b, i, j in np.ndindex(products.shape):
            products[b, i, j] = self.total([times(x[b, i, k], y[b, k, j]) for k in range(inner)])
        return products

    def rounded(self, x: Any, to: FloatFormat) -> Any:
        """One carrier cast to a narrower float; as it is, unless the domain follows rounding."""
        return x

    def narrowed(self, x: np.ndarray, to: FloatFormat) -> np.ndarray:
        return _each(lambda entry: self.rounded(entry, to), x)

    def determinant(self, x: np.ndarray) -> np.ndarray:
        found = np.empty(x.shape[:-2], dtype=object)
        for place in np.ndindex(found.shape):
            found[place] = self._minor(x[place])
        return found

    def solved(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        # Cramer's rule: the quotients hold wherever the determinant is not zero, and no pivot is looked for.
        below, quotient = self._minor(a), self.operations["div"]
        found = np.empty(b.shape, dtype=object)
        for column, row in np.ndindex(b.shape[1], b.shape[0]):
            replaced = a.copy()
            replaced[:, row] = b[:, column]
            found[row, column] = quotient(self._minor(replaced), below)
        return found

    def _minor(self, a: np.ndarray) -> Any:
        """The determinant by minors of the last rows: without a division, so that it is defined for every matrix."""
        size, times = len(a), self.operations["mul"]
        if size > _LARGEST_ORDER:
            raise UnsupportedPrimitive("det", self.name, f"the matrix has more than {_LARGEST_ORDER} rows")
        minors: dict[tuple[int, ...], Any] = {(): self.scalar(1)}
        for row in range(size - 1, -1, -1):
            for columns in itertools.combinations(range(size), size - row):
                terms = [
                    times(a[row, column], minors[columns[:place] + columns[place + 1 :]])
                    for place, column in enumerate(columns)
                ]
                signed = [self.functions["neg"](term) if place % 2 else term for place, term in enumerate(terms)]
                minors[columns] = self.total(signed)
        return minors[tuple(range(size))]


_LARGEST_ORDER = 8
"""Minors of a matrix number two to its order; beyond this the search over boxes takes minutes."""


def _each(function: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    return np.fromiter(map(function, x.reshape(-1).tolist()), object, x.size).reshape(x.shape)


def _pairs(function: Callable[[Any, Any], Any], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.shape != y.shape:
        x, y = np.broadcast_arrays(x, y)
    pairs = map(function, x.reshape(-1).tolist(), y.reshape(-1).tolist())
    return np.fromiter(pairs, object, x.size).reshape(x.shape)
