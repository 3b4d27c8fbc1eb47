r"""Balls that carry the slopes of a program in its inputs: an enclosure of the values and of every partial derivative.

What is differentiated is what is evaluated. The bodies of custom derivatives are entered, ``stop_gradient`` is the
identity, and a primitive that may jump inside the box raises before any slope could hide the jump.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar, final

import flint
import numpy as np
from flint import arb

from theorax.numerics.arithmetics.ball import Ball, ball, from_zero, power
from theorax.numerics.arithmetics.casts import FloatFormat, rounded
from theorax.numerics.arithmetics.domain import ObjectDomain
from theorax.numerics.arithmetics.failures import UndecidedComparison

Gradient = tuple[arb, ...]
_LARGEST_POWER = 64  # above, the exponential of a multiple of the logarithm loses no more than the repeated product


@final
class Slope:
    r"""One number of a program over a box: the ball of its values, the balls of its slopes; no slopes if constant.

    For every two points $a, b$ of the box $v(b) - v(a) = \sum_i s_i (b_i - a_i)$ with $s_i$ in the i-th ball: partial
    derivatives where the program is smooth, the hull of the one-sided ones at a kink of ``max``, ``min`` or ``abs``.
    """

    __slots__ = ("slopes", "value")
    value: arb
    slopes: Gradient | None

    def __init__(self, value: arb, slopes: Gradient | None = None):
        self.value = value
        self.slopes = slopes

    def __repr__(self) -> str:
        return f"Slope({self.value}, {self.slopes})"


def inputs(balls: Sequence[arb]) -> np.ndarray:
    """The coordinates of a box as numbers with slopes: the i-th has slope one in itself and zero in the others."""
    entries = np.empty(len(balls), dtype=object)
    for place, x in enumerate(balls):
        entries[place] = Slope(x, tuple(arb(int(other == place)) for other in range(len(balls))))
    return entries


@final
@dataclass(frozen=True)
class Slopes(ObjectDomain):
    """Balls with slopes in ``dimension`` inputs, of ``precision`` bits (guards i and ii of METHOD, section 4.1).

    **Errors:** inside the radii.

    **Raises:** ``UndecidedComparison`` wherever a primitive that jumps does not have one value on the box: ``select``
    and every other use of a comparison, ``sign``, ``floor``, ``ceil``, ``round``, a cast to a narrower float, ``atan2``
    on its cut.
    """

    dimension: int
    precision: int = 64
    name: ClassVar[str] = "ball with slopes"
    balls: Ball = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "balls", Ball(self.precision))

    def working(self) -> AbstractContextManager[Any]:
        return flint.ctx.workprec(self.precision)

    @property
    def functions(self) -> Mapping[str, Callable[[Any], Any]]:
        return _FUNCTIONS

    @property
    def operations(self) -> Mapping[str, Callable[[Any, Any], Any]]:
        return _OPERATIONS

    def scalar(self, number: object) -> Slope:
        return number if isinstance(number, Slope) else Slope(ball(number))

    def decide(self, name: str, x: Slope, y: Slope) -> bool | None:
        return self.balls.decide(name, x.value, y.value)

    def finite(self, x: Slope) -> bool | None:
        return self.balls.finite(x.value)

    def integer_power(self, x: Slope, exponent: int) -> Slope:
        return _whole_power(x, exponent)

    def rounded(self, x: Slope, to: FloatFormat) -> Slope:
        if x.slopes is not None:
            raise UndecidedComparison(f"a cast to {to.name}, which jumps")
        return Slope(rounded(x.value, to))

    def total(self, terms: Sequence[Slope]) -> Slope:
        if not terms:
            return Slope(arb(0))
        value = sum((term.value for term in terms[1:]), terms[0].value)
        sloped = [term.slopes for term in terms if term.slopes is not None]
        if not sloped:
            return Slope(value)
        columns: Iterable[tuple[arb, ...]] = zip(*sloped, strict=True)
        return Slope(value, tuple(reduce(operator.add, column) for column in columns))


def _times(slopes: Gradient, factor: arb) -> Gradient:
    return tuple(s * factor for s in slopes)


def _smooth(name: str, derivative: Callable[[arb, arb], arb]) -> Callable[[Slope], Slope]:
    function = Ball().functions[name]

    def rule(x: Slope) -> Slope:
        value = function(x.value)
        return Slope(value) if x.slopes is None else Slope(value, _times(x.slopes, derivative(x.value, value)))

    return rule


def _jumping(name: str) -> Callable[[Slope], Slope]:
    # The ball raises where the function jumps inside the box; elsewhere it is constant.
    function = Ball().functions[name]
    return lambda x: Slope(function(x.value))


def _abs(x: Slope) -> Slope:
    if x.value >= 0:
        return x
    if x.value < 0:
        return _negated(x)
    value = from_zero(x.value.abs_upper()) if x.value.is_finite() else abs(x.value)
    return Slope(value) if x.slopes is None else Slope(value, _times(x.slopes, arb(0, 1)))


def _negated(x: Slope) -> Slope:
    return Slope(-x.value, None if x.slopes is None else tuple(-s for s in x.slopes))


def _squared(x: arb) -> arb:
    return power(x, 2)


_DERIVATIVES: Mapping[str, Callable[[arb, arb], arb]] = {
    # of the function at the ball x, which has the value v there
    "sqrt": lambda x, v: 1 / (2 * v),
    "rsqrt": lambda x, v: -power(v, 3) / 2,
    "cbrt": lambda x, v: 1 / (3 * _squared(v)),
    "exp": lambda x, v: v,
    "exp2": lambda x, v: v * arb.const_log2(),
    "expm1": lambda x, v: x.exp(),
    "log": lambda x, v: 1 / x,
    "log1p": lambda x, v: 1 / (1 + x),
    "tanh": lambda x, v: 1 - _squared(v),
    "sinh": lambda x, v: x.cosh(),
    "cosh": lambda x, v: x.sinh(),
    "sin": lambda x, v: x.cos(),
    "cos": lambda x, v: -x.sin(),
    "tan": lambda x, v: 1 + _squared(v),
    "asin": lambda x, v: (1 - _squared(x)).rsqrt(),
    "acos": lambda x, v: -(1 - _squared(x)).rsqrt(),
    "atan": lambda x, v: 1 / (1 + _squared(x)),
    "asinh": lambda x, v: (1 + _squared(x)).rsqrt(),
    "acosh": lambda x, v: (_squared(x) - 1).rsqrt(),
    "atanh": lambda x, v: 1 / (1 - _squared(x)),
    "erf": lambda x, v: 2 * (-_squared(x)).exp() * arb.pi().rsqrt(),
    "erfc": lambda x, v: -2 * (-_squared(x)).exp() * arb.pi().rsqrt(),
    "logistic": lambda x, v: (1 - _squared((x / 2).tanh())) / 4,
    "lgamma": lambda x, v: x.digamma(),
}

_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "neg": _negated,
    "abs": _abs,
    **{name: _jumping(name) for name in ("sign", "floor", "ceil", "round") if name in Ball().functions},
    **{name: _smooth(name, derivative) for name, derivative in _DERIVATIVES.items()},
}


def _linear(x: Slope, y: Slope, value: arb, in_x: arb | None, in_y: arb | None) -> Slope:
    """The number with this value whose slopes are those of x times ``in_x`` plus those of y times ``in_y``."""
    if x.slopes is None and y.slopes is None:
        return Slope(value)
    if y.slopes is None:
        assert x.slopes is not None
        return Slope(value, x.slopes if in_x is None else _times(x.slopes, in_x))
    if x.slopes is None:
        return Slope(value, y.slopes if in_y is None else _times(y.slopes, in_y))
    pairs = zip(x.slopes, y.slopes, strict=True)
    if in_x is None and in_y is None:
        return Slope(value, tuple(s + t for s, t in pairs))
    left, right = arb(1) if in_x is None else in_x, arb(1) if in_y is None else in_y
    return Slope(value, tuple(s * left + t * right for s, t in pairs))


def _whole_power(x: Slope, exponent: int) -> Slope:
    value = power(x.value, exponent)
    if x.slopes is None or exponent == 0:
        return Slope(value)
    return Slope(value, _times(x.slopes, exponent * power(x.value, exponent - 1)))


def _divided(x: Slope, y: Slope) -> Slope:
    value = x.value / y.value
    if y.slopes is None:
        return _linear(x, y, value, 1 / y.value, None)
    return _linear(x, y, value, 1 / y.value, -value / y.value)


def _raised(x: Slope, y: Slope) -> Slope:
    whole = y.value.unique_fmpz() if y.slopes is None and y.value.is_integer() else None
    if whole is not None and abs(int(whole)) < _LARGEST_POWER:
        return _whole_power(x, int(whole))
    value = x.value**y.value
    if y.slopes is None:
        return _linear(x, y, value, y.value * x.value ** (y.value - 1), None)
    return _linear(x, y, value, y.value * x.value ** (y.value - 1), value * x.value.log())


def _chosen(x: Slope, y: Slope, first: bool, second: bool, value: Callable[[arb, arb], arb]) -> Slope:
    """The larger or the smaller of two numbers; their hull, with the hull of their slopes, where neither always is."""
    if x is y or first:
        return x
    if second:
        return y
    hull = value(x.value, y.value)
    if x.slopes is None and y.slopes is None:
        return Slope(hull)
    zeros = tuple(arb(0) for _ in (x.slopes or y.slopes or ()))
    pairs = zip(x.slopes or zeros, y.slopes or zeros, strict=True)
    return Slope(hull, tuple(s.union(t) for s, t in pairs))


def _turned(y: Slope, x: Slope) -> Slope:
    if not (x.value > 0 or y.value > 0 or y.value < 0 or y.value.is_zero()):
        raise UndecidedComparison("atan2", y.value, x.value)
    square = _squared(x.value) + _squared(y.value)
    return _linear(y, x, arb.atan2(y.value, x.value), x.value / square, -y.value / square)


_OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: _linear(x, y, x.value + y.value, None, None),
    "sub": lambda x, y: _linear(x, y, x.value - y.value, None, arb(-1)),
    "mul": lambda x, y: _linear(x, y, x.value * y.value, y.value, x.value),
    "div": _divided,
    "pow": _raised,
    "max": lambda x, y: _chosen(x, y, x.value >= y.value, y.value >= x.value, arb.max),
    "min": lambda x, y: _chosen(x, y, x.value <= y.value, y.value <= x.value, arb.min),
    "atan2": _turned,
}
