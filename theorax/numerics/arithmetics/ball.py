"""The ball domain: a program's numbers are midpoints and radii that enclose the exact value (Arb)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

import flint
import numpy as np
import sympy
from flint import acb, arb, fmpq, fmpz

from theorax.errors import UsageError
from theorax.numerics.arithmetics.casts import FloatFormat, rounded
from theorax.numerics.arithmetics.domain import ObjectDomain
from theorax.numerics.arithmetics.failures import UndecidedComparison
from theorax.numerics.arithmetics.special_functions import real_part
from theorax.numerics.arithmetics.undefined import Undefined


def ball(number: object) -> arb:
    """The ball of one exact number: radius zero for integers and floats, outward rounded for other rationals.

    **Errors:** at most one unit in the last place of the working precision, inside the radius.

    **Raises:** ``UsageError`` for what is no real number.
    """
    match number:
        case arb():
            return number
        case bool() | int():
            return arb(fmpz(int(number)))
        case float():
            return arb(number) if math.isfinite(number) else _special(number)
        case fmpz() | fmpq():
            return arb(number)
        case Fraction() | sympy.Rational():
            return arb(fmpq(int(number.numerator), int(number.denominator)))
    raise UsageError(
        f"An entry of type {type(number).__name__} is no real number. Give an int, a Fraction, a float or a flint.arb."
    )


def enclosing(lower: object, upper: object) -> arb:
    """A ball that contains the interval between two numbers, each side rounded outward."""
    return ball(lower).union(ball(upper))


def sign(x: arb) -> int | None:
    """The sign that every number in the ball has; nothing if the ball holds numbers of two signs."""
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0 if x.is_zero() else None


def power(x: arb, exponent: int) -> arb:
    """An integer power of a ball; an even power of one that holds zero is the ball from zero to its largest value."""
    if exponent >= 0 and exponent % 2 == 0 and exponent and x.contains(0):
        return from_zero(x.abs_upper() ** exponent)
    if x.mid().is_zero() and not x.is_zero() and exponent > 0:
        # Arb takes the logarithm of a ball whose midpoint is zero; the product of an odd number of factors needs none.
        reach = x.abs_upper() ** exponent
        return arb(0, reach.upper())
    return x**exponent


def from_zero(largest: arb) -> arb:
    """The ball from zero, exactly, to at least this number: its midpoint is its radius as Arb has rounded it."""
    around = arb(0, largest.upper() / 2)
    return around + around.rad()


@final
@dataclass(frozen=True)
class Ball(ObjectDomain):
    """Balls of ``precision`` bits; a comparison is answered only where the balls do not overlap.

    One and the same ball object equals itself; entries of the arguments must therefore be distinct objects unless they
    are meant to be one number. ``max``, ``min`` and ``abs`` take the hull where the balls overlap, ``sign``, ``floor``
    and ``ceil`` raise there.

    ``loose``: a float that needs more than 26 bits stands for every number within one unit in its last place, as a
    third or a root frozen into a program does; carriers are taken as they are. ``undefined`` records what is no number.

    ``rounds``: a cast to a narrower float gives every number that rounding may; otherwise it is read as exact.

    **Errors:** inside the radius; a radius is rounded up.
    """

    precision: int = 128
    loose: bool = False
    rounds: bool = False
    undefined: Undefined | None = None
    name: ClassVar[str] = "ball"

    def __post_init__(self) -> None:
        if self.precision < 2:
            raise UsageError(f"Ball(precision={self.precision}) has no bits to compute with. Write 128 or more.")

    def working(self) -> AbstractContextManager[Any]:
        return flint.ctx.workprec(self.precision)

    @property
    def functions(self) -> Mapping[str, Callable[[Any], Any]]:
        return _FUNCTIONS if self.undefined is None else self.undefined.watching(_FUNCTIONS)

    @property
    def operations(self) -> Mapping[str, Callable[[Any, Any], Any]]:
        return _OPERATIONS if self.undefined is None else self.undefined.watching(_OPERATIONS)

    def scalar(self, number: object) -> arb:
        return ball(number)

    def lift(self, numbers: np.ndarray) -> np.ndarray:
        lifted = super().lift(numbers)
        if not self.loose or np.asarray(numbers).dtype.kind != "f":
            return lifted
        ulps = np.spacing(np.abs(np.asarray(numbers, np.float64)))
        entries = [
            entry + arb(0, ulp) if entry.is_finite() and _significant_bits(entry) > _SHORT else entry
            for entry, ulp in zip(lifted.reshape(-1).tolist(), ulps.reshape(-1).tolist(), strict=True)
        ]
        loosened = np.empty(len(entries), dtype=object)
        loosened[:] = entries
        return loosened.reshape(lifted.shape)

    def decide(self, name: str, x: arb, y: arb) -> bool | None:
        if name in ("ge", "gt"):
            return self.decide({"ge": "le", "gt": "lt"}[name], y, x)
        if x is y and x.is_finite():
            return name in ("eq", "le")
        match name:
            case "lt":
                return _either(x < y, x >= y)
            case "le":
                return _either(x <= y, x > y)
            case "eq":
                return _either(x == y, x < y or x > y)
        return _either(x < y or x > y, x == y)

    def finite(self, x: arb) -> bool | None:
        if x.is_finite():
            return True
        return False if x == _INFINITY or x == -_INFINITY else None

    def integer_power(self, x: arb, exponent: int) -> arb:
        if self.undefined is None or exponent >= 0:
            return power(x, exponent)
        return self.undefined.watching({"div": lambda one, y: one / y})["div"](arb(1), power(x, -exponent))

    def special(self, name: str, operands: Sequence[np.ndarray]) -> np.ndarray:
        function, arrays = _SPECIAL[name], np.broadcast_arrays(*operands)
        rows = zip(*(array.reshape(-1).tolist() for array in arrays), strict=True)
        found = np.empty(arrays[0].size, dtype=object)
        found[:] = [real_part(function(*map(acb, row))) for row in rows]
        return found.reshape(arrays[0].shape)

    def rounded(self, x: arb, to: FloatFormat) -> arb:
        return rounded(x, to) if self.rounds else x

    def total(self, terms: Sequence[arb]) -> arb:
        return sum(terms[1:], terms[0]) if terms else arb(0)

    def dot(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        batch, rows, inner = x.shape
        columns = y.shape[2]
        products = np.empty((batch, rows, columns), dtype=object)
        for b in range(batch):
            left = flint.arb_mat(rows, inner, list(x[b].reshape(-1)))
            right = flint.arb_mat(inner, columns, list(y[b].reshape(-1)))
            products[b] = np.array((left * right).entries(), dtype=object).reshape(rows, columns)
        return products

    def determinant(self, x: np.ndarray) -> np.ndarray:
        found = np.empty(x.shape[:-2], dtype=object)
        for place in np.ndindex(found.shape):
            found[place] = _matrix(x[place]).det()
        return found

    def solved(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        try:
            entries = _matrix(a).solve(_matrix(b)).entries()
        except ZeroDivisionError:  # no pivot is known to differ from zero, as in a quotient by such a ball
            entries = [arb.nan()] * b.size
        return np.array([*entries, None], dtype=object)[:-1].reshape(b.shape)


def _matrix(entries: np.ndarray) -> flint.arb_mat:
    rows, columns = entries.shape
    return flint.arb_mat(rows, columns, list(entries.reshape(-1)))


_SHORT = 26
"""Bits of a float that was meant as it is: a small integer, a quarter, a power of two."""


def _significant_bits(x: arb) -> int:
    mantissa, _ = x.mid().man_exp()
    return int(abs(mantissa)).bit_length()


def _either(holds: bool, fails: bool) -> bool | None:
    return True if holds else False if fails else None


def _special(number: float) -> arb:
    return arb.nan() if math.isnan(number) else arb.pos_inf() if number > 0 else arb.neg_inf()


_INFINITY = arb.pos_inf()


def _max(x: arb, y: arb) -> arb:
    # The very object is handed on where the order is known, so that `eq` recognises it later.
    return x if x is y or x >= y else y if x < y else x.max(y)


def _min(x: arb, y: arb) -> arb:
    return x if x is y or x <= y else y if x > y else x.min(y)


def _abs(x: arb) -> arb:
    return x if x >= 0 else abs(x)


def _sign(x: arb) -> arb:
    known = sign(x)
    if known is None:
        raise UndecidedComparison("sign", x)
    return arb(known)


def _integer_part(name: str, x: arb) -> arb:
    part = x.floor() if name == "floor" else x.ceil()
    if not part.is_exact():
        raise UndecidedComparison(name, x)
    return part


def _cbrt(x: arb) -> arb:
    if x.is_zero():
        return x
    if x > 0:
        return x.root(3)
    if x < 0:
        return -((-x).root(3))
    if not x.is_finite():
        return arb.nan()
    # Monotone, so that the image of a ball lies between the images of its ends; those of one sign are roots.
    low, high = x.lower(), x.upper()
    return (-((-low).root(3)) if low < 0 else arb(0)).union(high.root(3) if high > 0 else arb(0))


def _logistic(x: arb) -> arb:
    # Monotone, so the image of a wide ball is the hull of the images of its ends; 1/(1 + exp(-x)) of a ball is wider.
    return ((x / 2).tanh() + 1) / 2


_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "neg": lambda x: -x,
    "abs": _abs,
    "sign": _sign,
    "sqrt": lambda x: x.sqrt(),
    "rsqrt": lambda x: x.rsqrt(),
    "cbrt": _cbrt,
    "exp": lambda x: x.exp(),
    "exp2": lambda x: arb(2) ** x,
    "expm1": lambda x: x.expm1(),
    "log": lambda x: x.log(),
    "log1p": lambda x: x.log1p(),
    "tanh": lambda x: x.tanh(),
    "sinh": lambda x: x.sinh(),
    "cosh": lambda x: x.cosh(),
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "tan": lambda x: x.tan(),
    "asin": lambda x: x.asin(),
    "acos": lambda x: x.acos(),
    "atan": lambda x: x.atan(),
    "asinh": lambda x: x.asinh(),
    "acosh": lambda x: x.acosh(),
    "atanh": lambda x: x.atanh(),
    "erf": lambda x: x.erf(),
    "erfc": lambda x: x.erfc(),
    "logistic": _logistic,
    "floor": lambda x: _integer_part("floor", x),
    "ceil": lambda x: _integer_part("ceil", x),
    "lgamma": lambda x: x.lgamma(),
    "digamma": lambda x: x.digamma(),
}

_OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
    "max": _max,
    "min": _min,
    "atan2": arb.atan2,
}

_SPECIAL: Mapping[str, Callable[..., acb]] = {
    # JAX: the order first, both incomplete gamma functions and the incomplete beta function regularised.
    "igamma": lambda a, x: x.gamma_lower(a, regularized=1),
    "igammac": lambda a, x: x.gamma_upper(a, regularized=1),
    "regularized_incomplete_beta": lambda a, b, x: x.beta_lower(a, b, regularized=1),
    "zeta": lambda s, q: s.zeta(q),
    "polygamma": lambda m, x: x.digamma() if m.is_zero() else x.polygamma(m),
    "bessel_i0e": lambda x: x.bessel_i(0) * acb((-abs(x.real)).exp()),
    "bessel_i1e": lambda x: x.bessel_i(1) * acb((-abs(x.real)).exp()),
}
