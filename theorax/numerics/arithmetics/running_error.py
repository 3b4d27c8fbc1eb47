r"""The error domain: a float program's value beside a bound of the rounding error of every execution of it.

An *admissible execution* returns, for every operation, the exact result on its own inputs times $1 + \delta$ with
$|\delta| \le k u$, where $u$ is the unit roundoff and $k$ belongs to the operation. Sums and products of matrices may
be taken in any order, with or without fused multiplication. The value carried is itself one admissible execution, in
float64, so with the bound $E$ the exact value lies within $E$ of it and every execution within $2E$.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np

from theorax.errors import UsageError
from theorax.numerics.arithmetics.domain import Domain
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.arithmetics.probe import FUNCTIONS as PROBED
from theorax.numerics.arithmetics.probe import ulps

_NAMES = itertools.count()
"""A supply of names; which numbers have one name depends on the program alone, not on where the supply stands."""


def _new_names(shape: tuple[int, ...]) -> np.ndarray:
    # No array holds 2^32 numbers, no process makes 2^31 arrays.
    first = next(_NAMES) << 32
    return np.arange(first, first + math.prod(shape)).reshape(shape)


@final
@dataclass(frozen=True)
class Running:
    """Values and error bounds of one shape, and a name for every number.

    Numbers of one name are one number in every execution: a maximum hands on the name of the argument that wins.
    """

    value: np.ndarray
    error: np.ndarray
    names: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64), repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", np.asarray(self.value))
        object.__setattr__(self, "error", np.asarray(self.error))
        if self.names.shape != self.value.shape or not self.names.size:
            object.__setattr__(self, "names", _new_names(self.value.shape))
        if self.value.shape != self.error.shape or not (self.value.dtype == self.error.dtype == np.float64):
            raise UsageError(
                f"Running(value {self.value.dtype}{list(self.value.shape)}, error {self.error.dtype}"
                f"{list(self.error.shape)}) needs one shape and float64 in both. Cast and broadcast them first."
            )

    @property
    def low(self) -> np.ndarray:
        """A number below the exact value and below every admissible execution."""
        return self.value - self.reach

    @property
    def high(self) -> np.ndarray:
        """A number above the exact value and above every admissible execution."""
        return self.value + self.reach

    @property
    def size(self) -> np.ndarray:
        """A bound of the absolute value of the exact number and of every admissible execution."""
        return np.abs(self.value) + self.reach

    @cached_property
    def reach(self) -> np.ndarray:
        # The last two terms outweigh the rounding of value -+ reach itself.
        return np.where(self.error == 0, 0.0, 2 * self.error * (1 + 2.0**-40) + np.abs(self.value) * 2.0**-50)

    @property
    def exact(self) -> np.ndarray:
        """True where every execution has this very value."""
        return self.error == 0


@dataclass(frozen=True)
class _Precision:
    unit_roundoff: float
    tiny: float
    """Smallest normal number: what underflow, gradual or flushed, can lose."""
    ulps: Mapping[str, float]
    """Worst error on record of the library functions in units in the last place, as measured against balls."""


_ROOTS_AND_SINES = {"sqrt": 0.5, "sin": 0.56, "cos": 0.56}
"""The square root is correctly rounded; sines were measured up to 30 in absolute value."""

_PRECISIONS: Mapping[str, _Precision] = {
    "float32": _Precision(
        2.0**-24,
        2.0**-126,
        _ROOTS_AND_SINES
        | {"exp": 0.95, "log": 1.1, "tanh": 4.1, "logistic": 2.1, "erf": 4.9, "rsqrt": 1.5, "expm1": 4.7, "log1p": 2.4}
        | {"cbrt": 0.8, "asin": 1.8},
    ),
    "float64": _Precision(
        2.0**-53,
        2.0**-1022,
        _ROOTS_AND_SINES
        | {
            "exp": 1.5,
            "log": 0.5,
            "tanh": 4.2,
            "logistic": 1.9,
            "erf": 0.95,
            "rsqrt": 1.1,
            "expm1": 3.9,
            "log1p": 128.0,
            "cbrt": 2.6,
            "asin": 1.2,
        },
    ),
}

_QUOTIENT = 3.0
"""Roundings of a division: a compiler may multiply by the rounded reciprocal, $(1 + u)^2 - 1 \\le 3u$."""


@final
@dataclass(frozen=True)
class RunningError(Domain[Running]):
    r"""A-posteriori bound of the rounding error of a program run in ``dtype``, vectorised.

    Propagated error plus $k u |v|$ per operation; a sum or dot of length $K$ adds
    $\gamma_K |A||B|$, $\gamma_K = Ku/(1-Ku)$, for any order of summation.

    **Errors:** the bound holds for admissible executions. $k$ of a library function is twice the error measured against
    balls (two unit roundoffs to an ulp), on record or on the running platform, whichever is larger; an accelerator that
    multiplies matrices in a narrower format is not admissible.

    **Source:** Higham 2002, sections 3.1 and 3.3 (running error analysis).
    """

    dtype: str = "float64"
    name: ClassVar[str] = "running error"

    def __post_init__(self) -> None:
        if self.dtype not in _PRECISIONS:
            raise UsageError(
                f"RunningError(dtype={self.dtype!r}) has no measured library. Choose one of {', '.join(_PRECISIONS)}."
            )

    @property
    def unit_roundoff(self) -> float:
        """Half the distance from 1 to the next number of the dtype."""
        return _PRECISIONS[self.dtype].unit_roundoff

    def working(self) -> np.errstate:
        return np.errstate(all="ignore")  # an overflow is an infinite bound, not a warning

    def owns(self, leaf: object) -> bool:
        return isinstance(leaf, Running)

    def adopt(self, leaf: Running) -> Running:
        return leaf

    def lift(self, numbers: np.ndarray) -> Running:
        """Exact numbers; where the dtype cannot hold one, its own rounding is an error like any other."""
        value = np.asarray(numbers, dtype=np.float64)
        rounded = value.astype(self.dtype).astype(np.float64)
        return Running(value, np.where(value == rounded, 0.0, np.abs(value - rounded) * (1 + 2.0**-50)))

    def shape(self, carriers: Running) -> tuple[int, ...]:
        return carriers.value.shape

    def take(self, carriers: Running, indices: np.ndarray) -> Running:
        return Running(*(part.reshape(-1)[indices] for part in (carriers.value, carriers.error, carriers.names)))

    def join(self, parts: Sequence[Running]) -> Running:
        return Running(
            np.concatenate([part.value.reshape(-1) for part in parts]),
            np.concatenate([part.error.reshape(-1) for part in parts]),
            np.concatenate([part.names.reshape(-1) for part in parts]),
        )

    def unary(self, name: str, x: Running) -> Running:
        if name == "neg":
            return Running(-x.value, x.error)
        if name == "abs":
            return Running(np.abs(x.value), x.error)
        if name == "sign":
            if not np.all(x.exact | (x.low > 0) | (x.high < 0)):
                raise UndecidedComparison("sign")
            return Running(np.sign(x.value), np.zeros_like(x.value))
        if name not in _FUNCTIONS:
            raise UnsupportedPrimitive(name, self.name)
        function, slope, fixes_zero = _FUNCTIONS[name]
        value = np.asarray(function(x.value), dtype=np.float64)
        propagated = np.where(x.exact, 0.0, x.error * slope(x))
        if name == "cbrt":  # |cbrt a - cbrt b| <= (4 |a - b|)^(1/3), also where the slope is unbounded
            propagated = np.fmin(propagated, np.cbrt(4 * x.error))
        if name == "sqrt":  # |sqrt a - sqrt b| <= sqrt|a - b|, also where the slope is unbounded
            propagated = np.fmin(propagated, np.where(x.low >= 0, np.sqrt(x.error), np.inf))
        roundings = _GROWING[name](x.size) if name in _GROWING else 4 * library_ulps(name, self.dtype)
        exact = x.exact & (x.value == 0) & fixes_zero
        if name in ("exp", "exp2", "tanh", "erf", "logistic"):
            exact |= x.exact & np.isinf(x.value)  # a masked score of minus infinity is no rounding
        return self._rounded(value, propagated, roundings, exact)

    def binary(self, name: str, x: Running, y: Running) -> Running:
        either_zero = (x.exact & (x.value == 0)) | (y.exact & (y.value == 0))
        match name:
            case "add" | "sub":
                value = x.value + y.value if name == "add" else x.value - y.value
                unchanged = (x.exact & y.exact) & either_zero
                unchanged |= (x.exact & np.isinf(x.value) & np.isfinite(y.error)) & ~np.isinf(y.value)
                return self._rounded(value, x.error + y.error, 1.0, unchanged)
            case "mul":
                propagated = x.size * y.error + y.size * x.error + x.error * y.error
                propagated = np.where(either_zero, 0.0, propagated)
                return self._rounded(x.value * y.value, propagated, 1.0, either_zero)
            case "div":
                away = np.maximum(np.maximum(y.low, -y.high), 0.0)
                propagated = (x.error + (x.size / away) * y.error) / away
                propagated = np.where(x.exact & y.exact & (y.value != 0), 0.0, propagated)
                return self._rounded(x.value / y.value, propagated, _QUOTIENT, x.exact & (x.value == 0) & (away > 0))
            case "max" | "min":
                value = np.maximum(x.value, y.value) if name == "max" else np.minimum(x.value, y.value)
                loses = (x.high < y.low) if name == "max" else (x.low > y.high)
                wins = (x.low > y.high) if name == "max" else (x.high < y.low)
                error = np.where(wins, x.error, np.where(loses, y.error, np.maximum(x.error, y.error)))
                same = x.names == y.names
                names = np.where(wins | same, x.names, np.where(loses, y.names, _new_names(value.shape)))
                return Running(value, error, names)
            case "pow":
                return self._power(x, y)
        raise UnsupportedPrimitive(name, self.name)

    def power(self, x: Running, exponent: int) -> Running:
        count = abs(exponent)
        if count == 0:
            return Running(np.ones_like(x.value), np.zeros_like(x.value))
        propagated = count * x.size ** (count - 1) * x.error
        exact_zero = x.exact & (x.value == 0)
        # The roundings of count - 1 products compound: (1 + u)^n - 1 <= 1.0625 n u while n u < 1/16.
        roundings = 1.0625 * (count - 1) if count * self.unit_roundoff < 1 / 16 else math.inf
        value = self._rounded(x.value**count, propagated, roundings, exact_zero)
        return value if exponent > 0 else self.binary("div", _constant(1.0, value), value)

    def _power(self, x: Running, y: Running) -> Running:
        # The corners of the box bound x**y and log x; the slope is y x**(y-1) dx + x**y log x dy.
        low, high = np.where(x.low > 0, x.low, np.nan), x.high
        corners = np.stack([a**b for a in (low, high) for b in (y.low, y.high)]).max(axis=0)
        steep = np.stack([a ** (b - 1) for a in (low, high) for b in (y.low, y.high)]).max(axis=0)
        logarithm = np.maximum(np.abs(np.log(low)), np.abs(np.log(high)))
        propagated = y.size * steep * x.error + corners * logarithm * y.error
        propagated = np.where(x.exact & y.exact, 0.0, propagated)
        roundings = 16.0 * (1 + y.size * np.where(np.isfinite(logarithm), logarithm, np.inf))
        one = y.exact & (y.value == 0)
        error = self._rounded(x.value**y.value, propagated, roundings, one).error
        return Running(x.value**y.value, np.where(one, 0.0, error))

    def compare(self, name: str, x: Running, y: Running) -> np.ndarray:
        same = (x.names == y.names) & np.isfinite(x.error)
        decided = (x.exact & y.exact) | (x.high < y.low) | (x.low > y.high) | same
        if not np.all(decided):
            raise UndecidedComparison(name)
        return np.asarray(_RELATIONS[name](x.value, y.value))

    def is_finite(self, x: Running) -> np.ndarray:
        known = np.isfinite(x.error) | x.exact
        if not np.all(known):
            raise UndecidedComparison("is_finite")
        return np.asarray(np.isfinite(x.value))

    def sum(self, x: Running) -> Running:
        count = x.value.shape[-1]
        if count == 1:
            return Running(x.value[..., 0], x.error[..., 0])
        gamma = _gamma(max(count - 1, 0), self.unit_roundoff)
        error = x.error.sum(axis=-1) + gamma * x.size.sum(axis=-1)
        zeros = np.all(x.exact & (x.value == 0), axis=-1)
        return self._bounded(x.value.sum(axis=-1), error, count, zeros)

    def dot(self, x: Running, y: Running) -> Running:
        count = x.value.shape[-1]
        gamma = _gamma(count, self.unit_roundoff)
        size_x, size_y = x.size, y.size
        sizes = size_x @ size_y
        error = gamma * sizes + size_x @ y.error + x.error @ size_y + x.error @ y.error
        # Zero for certain where a whole operand is; the last three axes are those of the operand.
        nothing = [np.all(part.exact & (part.value == 0), axis=(-3, -2, -1), keepdims=True) for part in (x, y)]
        zeros = (sizes == 0) & (nothing[0] | nothing[1])
        return self._bounded(x.value @ y.value, error, count, zeros)

    def solved(self, a: Running, b: Running) -> Running:
        r"""The solution with a bound from its residual.

        Elimination with exchanged rows solves $(A + \Delta) x = b$ with $|\Delta| \le \gamma_{3n} |L| |U|$, and with
        entries of $L$ at most one those of $|L| |U|$ are at most $2^n \max |A|$. For every such system, $C$ being any
        matrix, $x - \hat x = C (b - A \hat x) + (I - C A)(x - \hat x)$; that bounds all solutions at once, the exact
        one and those of all executions.

        **Source:** Higham 2002, theorem 9.4, section 14.1; Rump 2010, section 10.
        """
        size = len(a.value)
        gamma = _gamma(3 * size, self.unit_roundoff)
        tiny, own = 4 * size * _PRECISIONS[self.dtype].tiny, _gamma(size + 2, 2.0**-53)
        try:
            found, inverse = np.linalg.solve(a.value, b.value), np.linalg.inv(a.value)
        except np.linalg.LinAlgError:
            return Running(np.full(b.value.shape, np.nan), np.full(b.value.shape, np.inf))
        # 1.25 covers the roundings of the factors themselves while n u is below a fiftieth.
        growth = 1.25 * 2.0**size if size * self.unit_roundoff < 0.02 else math.inf
        largest = a.size.max(initial=0.0)
        moved = a.reach + gamma * growth * largest + tiny * (1 + largest)
        inverted, matrix = np.abs(inverse), np.abs(a.value)
        eye = np.eye(size)
        contracts = np.abs(eye - inverse @ a.value) + own * (inverted @ matrix + eye) + inverted @ moved
        residual = np.abs(b.value - a.value @ found) + own * (matrix @ np.abs(found) + np.abs(b.value))
        residual = residual + b.reach + moved @ np.abs(found) + tiny * (1 + largest)
        first = inverted @ residual
        share = contracts.sum(axis=1, keepdims=True)
        shrinks = share.max(initial=0.0) * (1 + 2.0**-40)
        rest = first.max(axis=0, keepdims=True) / (1 - shrinks) if shrinks < 1 else np.full((1, 1), np.inf)
        return self._bounded(found, first + share * rest, size, False)

    def scan_sum(self, x: Running) -> Running:
        count = x.value.shape[-1]
        gamma = _gamma(max(count - 1, 0), self.unit_roundoff)
        error = np.cumsum(x.error, axis=-1) + gamma * np.cumsum(x.size, axis=-1)
        zeros = np.cumsum(~(x.exact & (x.value == 0)), axis=-1) == 0
        return self._bounded(np.cumsum(x.value, axis=-1), error, count, zeros)

    def _rounded(self, value: np.ndarray, propagated: np.ndarray, roundings: Any, exact: np.ndarray) -> Running:
        r"""The bound after a result of relative error $k u$.

        A computed result is at most $|z| + P$ away from zero and $|z| \le |c| + E$, so
        $E = P + ku(|c| + E + P)$, that is $E = ((1 + ku) P + ku |c|) / (1 - ku)$.
        """
        relative = np.asarray(roundings * self.unit_roundoff)
        relative = np.where(relative < 1, relative, np.nan)
        error = ((1 + relative) * propagated + relative * np.abs(value)) / (1 - relative)
        return self._bounded(value, error, 1, exact)

    def _bounded(self, value: np.ndarray, error: np.ndarray, terms: int, exact: np.ndarray | bool) -> Running:
        # The bound is itself computed in float64, from positive terms: a relative inflation covers its own rounding.
        inflated = error * (1 + 2.0**-40 + 4 * terms * 2.0**-52) + max(terms, 1) * _PRECISIONS[self.dtype].tiny
        overflows = ~(np.abs(value) + inflated < np.finfo(self.dtype).max)  # also true of a NaN
        return Running(np.asarray(value), np.where(exact, 0.0, np.where(overflows, np.inf, inflated)))


def library_ulps(name: str, dtype: str) -> float:
    """The error of a library function, of which the domain allows twice: on record, or as measured here if larger."""
    return max(_PRECISIONS[dtype].ulps[name], ulps(name, dtype, _FUNCTIONS[name][0]))


def probed() -> Mapping[str, tuple[float, ...]]:
    """Of every library function the error measured on this platform in float32 and float64, in ulps."""
    return {name: tuple(ulps(name, dtype, _FUNCTIONS[name][0]) for dtype in _PRECISIONS) for name in PROBED}


def _gamma(count: int, unit: float) -> float:
    return count * unit / (1 - count * unit) if count * unit < 1 else math.inf


def _constant(number: float, like: Running) -> Running:
    return Running(np.full_like(like.value, number), np.zeros_like(like.value))


def _nearest_zero(x: Running) -> np.ndarray:
    return np.maximum(np.maximum(x.low, -x.high), 0.0)


def _logistic(x: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1 + small)


def _positive(low: np.ndarray) -> np.ndarray:
    return np.where(low > 0, low, 0.0)


def _one(x: Running) -> np.ndarray:
    return np.ones_like(x.value)


_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])

_FUNCTIONS: Mapping[str, tuple[Callable[[np.ndarray], np.ndarray], Callable[[Running], np.ndarray], bool]] = {
    # the function, a bound of its slope over everything the carrier stands for, whether it fixes an exact zero
    "exp": (np.exp, lambda x: np.exp(x.high), False),
    "exp2": (np.exp2, lambda x: np.exp2(x.high), False),
    "expm1": (np.expm1, lambda x: np.exp(x.high), True),
    "log": (np.log, lambda x: 1 / _positive(x.low), False),
    "log1p": (np.log1p, lambda x: 1 / _positive((1 + x.low) * (1 - 2.0**-40)), True),
    "sqrt": (np.sqrt, lambda x: 0.5 / np.sqrt(_positive(x.low)), True),
    "rsqrt": (lambda x: 1 / np.sqrt(x), lambda x: 0.5 * _positive(x.low) ** -1.5, False),
    "cbrt": (np.cbrt, lambda x: np.cbrt(_nearest_zero(x)) ** -2.0 / 3 * (1 + 2.0**-40), True),
    "asin": (np.arcsin, lambda x: (1 + 2.0**-40) / np.sqrt(_positive(1 - x.size**2 * (1 + 2.0**-50))), True),
    "tanh": (np.tanh, lambda x: np.cosh(_nearest_zero(x)) ** -2.0, True),
    "erf": (_erf, lambda x: 2 / math.sqrt(math.pi) * np.exp(-(_nearest_zero(x) ** 2)), True),
    "erfc": (_erfc, lambda x: 2 / math.sqrt(math.pi) * np.exp(-(_nearest_zero(x) ** 2)), False),
    "logistic": (_logistic, lambda x: 0.25 * np.cosh(_nearest_zero(x) / 2) ** -2.0, False),
    "sin": (np.sin, _one, True),
    "cos": (np.cos, _one, False),
}

_GROWING: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    # Roundings that grow with the argument: the exponent is rounded before it is raised. Measured at most a quarter.
    "exp2": lambda size: 8.0 * (1 + size),
    "erfc": lambda size: 8.0 * (1 + size**2),
}

_RELATIONS: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
