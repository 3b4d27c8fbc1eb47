"""A JAX function of a few numbers in balls: at exact points, and over boxes with its slopes; traced once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from flint import arb, fmpq
from sympy import Expr, Symbol

from theorax.errors import UsageError
from theorax.numerics.jaxprs.courses import hull
from theorax.numerics.jaxprs.domain import ObjectDomain
from theorax.numerics.jaxprs.failures import UndecidedComparison
from theorax.numerics.jaxprs.interpret import Interpreter
from theorax.numerics.jaxprs.program import doubles, flatten, trace
from theorax.numerics.jaxprs.slopes import Slope, Slopes, inputs
from theorax.numerics.jaxprs.tape import Node, Tape
from theorax.verifiers.rigorous.expressions import recorded

Coordinates = Sequence[fmpq]


class Enclosure:
    """``function(x)`` for one vector of ``dimension`` numbers, in balls of any precision.

    A program without branches is recorded once as scalar operations; one that compares is interpreted at every box,
    because its course depends on the box.

    **Raises:** ``UsageError`` if the function cannot be traced or returns no single number, ``UnsupportedPrimitive`` for
    a primitive that has no enclosure.
    """

    dimension: int

    def __init__(self, function: Callable[[Any], Any], dimension: int):
        self.dimension = dimension
        self._courses: dict[Any, Callable[[Any], Any]] = {}
        argument = np.empty(dimension, dtype=object)
        argument[:] = [arb(0)] * dimension
        self._program = flatten(trace(function, (argument,), lambda leaf: leaf is argument).closed)
        shapes = [self._program.types[number].shape for number in self._program.outputs]
        if len(shapes) != 1 or int(np.prod(shapes[0], dtype=np.int64)) != 1:
            raise UsageError(
                f"The function returns {len(shapes)} arrays of shapes {shapes}. An inequality is between two numbers. "
                "Return one number, the smallest entry by .min() for instance."
            )
        self._tape = Tape()
        try:
            self._output: Node | None = self._interpreted(self._tape, self._tape.inputs(dimension))
        except UndecidedComparison:
            self._output = None

    @classmethod
    def of(cls, expression: Expr, letters: Sequence[Symbol]) -> Enclosure:
        """The expression as a function of its letters, every number in it exact.

        **Raises:** ``UnsupportedPrimitive`` for a function without an enclosure.
        """
        found = cls.__new__(cls)
        found.dimension, found._courses, found._tape = len(letters), {}, Tape()
        found._output = recorded(expression, letters, found._tape, list(found._tape.inputs(len(letters))))
        return found

    @property
    def branches(self) -> bool:
        """Whether the program compares numbers."""
        return self._output is None

    def at(self, point: Coordinates, precision: int) -> arb:
        """The ball of the value at an exact point.

        **Raises:** ``UndecidedComparison`` where the balls of this precision do not decide a branch.
        """
        with flint.ctx.workprec(precision):
            entries = np.empty(self.dimension, dtype=object)
            entries[:] = [Slope(arb(x)) for x in point]
            return self._evaluated(entries, precision).value

    def over(self, sides: Sequence[tuple[fmpq, fmpq]], precision: int) -> Slope:
        """The ball of the values over a box, with the balls of the slopes.

        **Raises:** ``UndecidedComparison`` where a primitive may jump inside the box.
        """
        with flint.ctx.workprec(precision):
            return self._evaluated(inputs([interval(*side) for side in sides]), precision)

    def values(self, sides: Sequence[tuple[fmpq, fmpq]], precision: int) -> arb:
        """The ball of the values over a box on which the program may jump: the hull of every course it can take.

        **Raises:** ``UndecidedComparison`` where there are too many.
        """
        with flint.ctx.workprec(precision):
            entries = np.empty(self.dimension, dtype=object)
            entries[:] = [interval(*side) for side in sides]
            found: arb = hull(lambda course: self._run(course, entries), precision)
            return found

    def _evaluated(self, entries: np.ndarray, precision: int) -> Slope:
        result: Slope = self._run(Slopes(self.dimension, precision), entries)
        return result

    def _run(self, domain: ObjectDomain, entries: np.ndarray) -> Any:
        if self._output is None:
            return self._interpreted(domain, entries)
        if not isinstance(domain, Slopes):
            with domain.working():
                return self._tape.course(domain, self._output)(entries)
        if domain.precision not in self._courses:
            self._courses[domain.precision] = self._tape.course(domain, self._output)
        return self._courses[domain.precision](entries)

    def _interpreted(self, domain: ObjectDomain, entries: np.ndarray) -> Any:
        with domain.working(), doubles():
            (result,) = Interpreter(domain).run(self._program, [domain.adopt(entries)])
        return np.asarray(result, dtype=object).reshape(()).item() if isinstance(result, np.ndarray) else result


def interval(lower: fmpq, upper: fmpq) -> arb:
    """The ball of an interval, rounded outward; one whose lower end is exact keeps it, for a root or a logarithm there."""
    if lower == upper:
        return arb(lower)
    radius = arb(0, ((arb(upper) - arb(lower)) / 2).upper())
    start = arb(lower)
    if start.is_exact():
        kept = (start + radius.rad()) + radius
        if kept.lower() >= start and kept.upper() >= arb(upper):
            return kept
    return arb(lower).union(arb(upper))


def fraction(number: fmpq) -> Fraction:
    """The same rational as Python writes it."""
    return Fraction(int(number.p), int(number.q))


def rational(number: Fraction) -> fmpq:
    """The same rational as flint computes with it."""
    return fmpq(number.numerator, number.denominator)
