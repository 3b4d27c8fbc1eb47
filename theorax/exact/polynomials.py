"""Polynomials with rational coefficients: functions of a few numbers expanded exactly, where they are polynomials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, ClassVar, final

import flint
from flint import fmpq

from theorax.exact.enclosures import Enclosure
from theorax.numerics.arithmetics.casts import FloatFormat
from theorax.numerics.arithmetics.domain import ObjectDomain
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.arithmetics.symbolic import exact_rational as exact_number

__all__ = ["LARGEST_DEGREE", "terms_of"]

_MOST_TERMS = 20_000
"""Polynomials whose product may have more terms are not expanded."""

LARGEST_DEGREE = 64
"""Coefficients of a Sturm chain grow with the square of the degree."""


def terms_of(function: Enclosure) -> dict[tuple[int, ...], fmpq] | None:
    """The coefficients of the (first) value by the powers of its letters; None for what is no polynomial."""
    ring = flint.fmpq_mpoly_ctx.get([f"x{place}" for place in range(function.dimension)], flint.Ordering.lex)
    try:
        polynomial = function.in_arithmetic(Polynomials(ring), list(ring.gens()))
    except (UnsupportedPrimitive, UndecidedComparison):
        return None
    found = {tuple(int(power) for power in powers): fmpq(c) for powers, c in polynomial.to_dict().items()}
    return found or {(0,) * function.dimension: fmpq(0)}


@final
class Polynomials(ObjectDomain):
    """Polynomials with rational coefficients; only a number divides one here."""

    name: ClassVar[str] = "polynomials"

    def __init__(self, ring: Any):
        self.ring = ring

    @property
    def functions(self) -> Mapping[str, Callable[[Any], Any]]:
        return {"neg": lambda x: -x}

    @property
    def operations(self) -> Mapping[str, Callable[[Any, Any], Any]]:
        return {
            "add": lambda x, y: x + y,
            "sub": lambda x, y: x - y,
            "mul": self._product,
            "div": self._quotient,
        }

    def scalar(self, number: object) -> Any:
        if isinstance(number, flint.fmpq_mpoly):
            return number
        if isinstance(number, flint.arb):
            if not number.is_exact():
                raise UnsupportedPrimitive("constant", self.name, "a ball is no rational number")
            return self.ring.constant(number.fmpq())
        known = exact_number(number)
        if not known.is_Rational:
            raise UnsupportedPrimitive("constant", self.name, "it is no rational number")
        return self.ring.constant(fmpq(int(known.p), int(known.q)))

    def decide(self, name: str, x: Any, y: Any) -> bool | None:
        return None

    def finite(self, x: Any) -> bool | None:
        return True

    def integer_power(self, x: Any, exponent: int) -> Any:
        if exponent < 0:
            return self._quotient(self.ring.constant(1), self.integer_power(x, -exponent))
        if exponent > LARGEST_DEGREE:
            raise UnsupportedPrimitive("integer_pow", self.name, f"the power is above {LARGEST_DEGREE}")
        return reduce(self._product, [x] * exponent, self.ring.constant(1))

    def rounded(self, x: Any, to: FloatFormat) -> Any:
        raise UnsupportedPrimitive("convert_element_type", self.name, f"a cast to {to.name} is no polynomial")

    def total(self, terms: Sequence[Any]) -> Any:
        return sum(terms, self.ring.constant(0))

    def _product(self, x: Any, y: Any) -> Any:
        if len(x) * len(y) > _MOST_TERMS:
            raise UnsupportedPrimitive("mul", self.name, f"the product may have more than {_MOST_TERMS} terms")
        return x * y

    def _quotient(self, x: Any, y: Any) -> Any:
        if not y.is_constant() or y == 0:
            raise UnsupportedPrimitive("div", self.name, "the divisor is no number")
        return x * (1 / y.leading_coefficient())
