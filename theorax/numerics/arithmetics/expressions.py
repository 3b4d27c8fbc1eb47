"""Enclosures of SymPy expressions at exact points: every node a ball, the sign of the whole decided or not."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import flint
import sympy
from flint import acb, arb
from sympy.core.relational import Relational

from theorax.errors import TheoraxError, UsageError
from theorax.numerics.arithmetics.ball import ball, sign
from theorax.numerics.arithmetics.failures import UndecidedComparison
from theorax.numerics.arithmetics.special_functions import applied, real_part

PRECISIONS = (128, 256, 512)
"""Bits tried one after another until a sign is decided."""

_MOST_TERMS = 10_000

Point = Mapping[Any, Any]
"""Exact numbers or balls for symbols, or for any other node that is to be taken as given."""


class UnsupportedExpression(TheoraxError):
    """A node of an expression has no enclosure; it carries the node's name."""

    def __init__(self, name: str, reason: str = "no enclosure of it is known"):
        self.name = name
        super().__init__(
            f"The expression contains `{name}`, which cannot be evaluated in balls: {reason}. "
            "Rewrite it with elementary functions, or give its value in the point."
        )


def ball_of(expression: sympy.Expr, point: Point, precision: int = 256) -> arb:
    """A ball that contains the exact value of the expression at the point.

    **Errors:** inside the radius. Where the value is not a real number the ball is not finite.

    **Raises:** ``UnsupportedExpression`` with the name of a node that has no enclosure, ``UndecidedComparison`` for a
    branch that the balls do not decide, ``UsageError`` for a symbol without a value.
    """
    with flint.ctx.workprec(precision):
        return _Evaluation(point).value(sympy.sympify(expression))


@dataclass(frozen=True)
class Sign:
    """The sign of a number, or nothing where its ball holds numbers of two signs, with the last ball and its bits."""

    sign: int | None
    enclosure: arb | None
    precision: int


def sign_of(expression: sympy.Expr, point: Point) -> Sign:
    """The sign of the expression at the point, decided in balls of 128, 256, then 512 bits.

    Zero is decided only where the ball is exactly zero; a zero that is not rational stays undecided.

    **Raises:** ``UnsupportedExpression``, ``UsageError`` as ``ball_of``.
    """
    last = Sign(None, None, PRECISIONS[0])
    for precision in PRECISIONS:
        try:
            enclosure = ball_of(expression, point, precision)
        except UndecidedComparison:
            last = Sign(None, None, precision)
            continue
        last = Sign(sign(enclosure) if enclosure.is_finite() else None, enclosure, precision)
        if last.sign is not None:
            break
    return last


def dyadic(number: sympy.Float) -> sympy.Rational:
    """The rational that a binary float stores."""
    negative, mantissa, exponent, _ = number._mpf_
    return (-1) ** int(negative) * sympy.Integer(int(mantissa)) * sympy.Integer(2) ** int(exponent)


class _Evaluation:
    """One walk over an expression; equal nodes are one and the same ball."""

    def __init__(self, point: Point):
        self.point = point
        self.known: dict[Any, arb] = {}

    def value(self, node: Any) -> arb:
        if node not in self.known:
            self.known[node] = self.node(node)
        return self.known[node]

    def node(self, node: Any) -> arb:
        if node in self.point:
            return ball(self.point[node])
        if node in _CONSTANTS:
            return _CONSTANTS[node]()
        match node:
            case sympy.Rational():
                return ball(node)
            case sympy.Float():
                return ball(dyadic(node))
            case sympy.Symbol():
                raise UsageError(f"The symbol `{node}` has no value in the point. Give it one: point[{node}] = ...")
            case sympy.Add():
                terms = [self.value(term) for term in node.args]
                return sum(terms[1:], terms[0])
            case sympy.Mul():
                return math.prod((self.value(factor) for factor in node.args), start=arb(1))
            case sympy.Pow():
                return self.power(*node.args)
            case sympy.Max() | sympy.Min():
                first, *others = (self.value(argument) for argument in node.args)
                for other in others:
                    first = first.max(other) if isinstance(node, sympy.Max) else first.min(other)
                return first
            case sympy.Piecewise():
                return self.piecewise(node)
            case sympy.Sum() | sympy.Product():
                return self.series(node)
            case sympy.binomial():
                return self.binomial(*node.args)
        name = type(node).__name__
        if name in _FUNCTIONS and node.args:
            return _FUNCTIONS[name](*[self.value(argument) for argument in node.args])
        special = applied(node)
        if special is None:
            raise UnsupportedExpression(name)
        return real_part(special.at([acb(self.value(part)) for part in special.operands], analytic=False))

    def power(self, base: Any, exponent: Any) -> arb:
        x = self.value(base)
        if isinstance(exponent, sympy.Integer):
            return x ** int(exponent)
        if isinstance(exponent, sympy.Rational):
            if exponent == sympy.S.Half:
                return x.sqrt()
            if exponent == -sympy.S.Half:
                return x.rsqrt()
            if x.is_zero() and exponent > 0:
                return arb(0)
            return x ** ball(exponent)
        return x ** self.value(exponent)

    def binomial(self, above: Any, below: Any) -> arb:
        k = self.value(below)
        integer = k.unique_fmpz() if k.is_exact() else None
        n = self.value(above)
        if integer is not None and 0 <= integer <= _MOST_TERMS:
            return math.prod(((n - i) / (i + 1) for i in range(int(integer))), start=arb(1))
        return (n + 1).gamma() * (k + 1).rgamma() * (n - k + 1).rgamma()

    def piecewise(self, node: Any) -> arb:
        for expression, condition in node.args:
            if self.holds(condition):
                return self.value(expression)
        raise UnsupportedExpression("Piecewise", "no condition holds at the point")

    def holds(self, condition: Any) -> bool:
        match condition:
            case sympy.logic.boolalg.BooleanTrue():
                return True
            case sympy.logic.boolalg.BooleanFalse():
                return False
            case sympy.And():
                return all(self.holds(part) for part in condition.args)
            case sympy.Or():
                return any(self.holds(part) for part in condition.args)
            case sympy.Not():
                return not self.holds(condition.args[0])
            case Relational():
                return self.relation(condition)
        raise UnsupportedExpression(type(condition).__name__, "it is no comparison")

    def relation(self, condition: Any) -> bool:
        difference = condition.lhs - condition.rhs
        known = sign(self.value(difference))
        if known is None and all(isinstance(number, sympy.Rational) for number in self.point.values()):
            # A ball of a rational that is no dyadic holds more than zero; the rational itself does not.
            exact = difference.xreplace(dict(self.point))
            known = int(sympy.sign(exact)) if exact.is_Rational else None
        if known is not None:
            return bool(condition.func(sympy.Integer(known), 0))
        raise UndecidedComparison(str(condition.rel_op), condition.lhs, condition.rhs)

    def series(self, node: Any) -> arb:
        term, limits = node.args[0], node.args[1:]
        if len(limits) != 1:
            raise UnsupportedExpression(type(node).__name__, "it runs over more than one index")
        index, first, last = limits[0]
        start, stop = self.integer(first), self.integer(last)
        if stop - start >= _MOST_TERMS:
            raise UnsupportedExpression(type(node).__name__, f"it has more than {_MOST_TERMS} terms")
        if stop < start - 1:
            raise UnsupportedExpression(type(node).__name__, "its bounds run backwards")
        inner = {key: value for key, value in self.point.items() if key != index}
        terms = [_Evaluation({**inner, index: place}).value(term) for place in range(start, stop + 1)]
        return sum(terms, arb(0)) if isinstance(node, sympy.Sum) else math.prod(terms, start=arb(1))

    def integer(self, bound: Any) -> int:
        enclosure = self.value(bound)
        integer = enclosure.unique_fmpz() if enclosure.is_exact() else None
        if integer is None:
            raise UnsupportedExpression("Sum", f"its bound {bound} is no integer at the point")
        return int(integer)


def _sign(x: arb) -> arb:
    known = sign(x)
    if known is None:
        raise UndecidedComparison("sign", x)
    return arb(known)


def _whole(name: str) -> Callable[[arb], arb]:
    def function(x: arb) -> arb:
        part = x.floor() if name == "floor" else x.ceil()
        if not part.is_exact():
            raise UndecidedComparison(name, x)
        return part

    return function


_CONSTANTS: Mapping[Any, Callable[[], arb]] = {
    sympy.pi: arb.pi,
    sympy.E: arb.const_e,
    sympy.EulerGamma: arb.const_euler,
    sympy.Catalan: arb.const_catalan,
    sympy.GoldenRatio: lambda: (1 + arb(5).sqrt()) / 2,
    sympy.oo: arb.pos_inf,
    -sympy.oo: arb.neg_inf,
}

_FUNCTIONS: Mapping[str, Callable[..., arb]] = {
    "exp": arb.exp,
    "log": lambda x, base=None: x.log() if base is None else x.log() / base.log(),
    "sin": arb.sin,
    "cos": arb.cos,
    "tan": arb.tan,
    "cot": arb.cot,
    "sec": arb.sec,
    "csc": arb.csc,
    "asin": arb.asin,
    "acos": arb.acos,
    "atan": arb.atan,
    "atan2": arb.atan2,
    "sinh": arb.sinh,
    "cosh": arb.cosh,
    "tanh": arb.tanh,
    "coth": arb.coth,
    "asinh": arb.asinh,
    "acosh": arb.acosh,
    "atanh": arb.atanh,
    "erf": arb.erf,
    "erfc": arb.erfc,
    "erfi": arb.erfi,
    "gamma": arb.gamma,
    "loggamma": arb.lgamma,
    "digamma": arb.digamma,
    "factorial": lambda x: (x + 1).gamma(),
    "Abs": abs,
    "sign": _sign,
    "floor": _whole("floor"),
    "ceiling": _whole("ceil"),
    "re": lambda x: x,
    "im": lambda x: arb(0),
    "conjugate": lambda x: x,
}
