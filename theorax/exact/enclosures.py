"""Functions of a few numbers, JAX programs or SymPy expressions, in balls: at exact points, over boxes with slopes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, final

import flint
import jax
import jax.numpy as jnp
import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray
from sympy import Dummy, Expr, Function, Symbol, default_sort_key, lambdify

from theorax.errors import TheoraxError, UsageError
from theorax.names import many
from theorax.numerics.arithmetics.branches import hull
from theorax.numerics.arithmetics.custom_rules import entered
from theorax.numerics.arithmetics.domain import ObjectDomain
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.arithmetics.flat_program import doubles, flatten, trace
from theorax.numerics.arithmetics.interpreter import Interpreter
from theorax.numerics.arithmetics.letter_expressions import in_domain
from theorax.numerics.arithmetics.slopes import Slope, Slopes, inputs
from theorax.numerics.arithmetics.tape import Tape, TapeNode

Coordinates = Sequence[fmpq]


@final
@dataclass(frozen=True)
class Box:
    """A product of closed intervals with exact rational ends."""

    sides: tuple[tuple[fmpq, fmpq], ...]

    @classmethod
    def of(cls, sides: Iterable[tuple[Fraction, Fraction]]) -> Box:
        """The box with these ends."""
        return cls(tuple((rational(Fraction(lower)), rational(Fraction(upper))) for lower, upper in sides))

    @property
    def middle(self) -> tuple[fmpq, ...]:
        """The exact midpoint."""
        return tuple((lower + upper) / 2 for lower, upper in self.sides)

    @property
    def ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lower and the upper ends in floats."""
        low, high = (np.asarray([float(fraction(side[end])) for side in self.sides]) for end in (0, 1))
        return low, high

    def exact(self, point: Sequence[float] | NDArray[np.float64]) -> tuple[fmpq, ...]:
        """The float point as exact rationals, moved into the box where rounding has left it."""
        return tuple(
            min(max(rational(Fraction(float(x))), low), high) for x, (low, high) in zip(point, self.sides, strict=True)
        )

    def inside(self, other: Box) -> bool:
        """True if every point of this box lies in the other."""
        return all(low >= a and high <= b for (low, high), (a, b) in zip(self.sides, other.sides, strict=True))

    def with_side(self, place: int, lower: fmpq, upper: fmpq) -> Box:
        """The same box with another side."""
        return Box((*self.sides[:place], (lower, upper), *self.sides[place + 1 :]))


class Enclosure:
    """A function of one vector of ``dimension`` numbers, in balls of any precision: one number, or ``length`` of them.

    A program without branches is recorded once as scalar operations; one that compares is interpreted at every box,
    because its course depends on the box.

    **Raises:** ``UsageError`` if the function cannot be traced or does not return so many numbers,
    ``UnsupportedPrimitive`` for a primitive that has no enclosure.
    """

    dimension: int
    _gradient: Callable[[], Enclosure]

    def __init__(self, function: Callable[[Any], Any], dimension: int, length: int = 1):
        self.dimension = dimension
        self._courses: dict[int, Callable[[Any], list[Any]]] = {}
        argument = np.empty(dimension, dtype=object)
        argument[:] = [arb(0)] * dimension
        self._program = flatten(trace(function, (argument,), lambda leaf: leaf is argument).closed)
        shapes = [self._program.types[number].shape for number in self._program.outputs]
        if len(shapes) != 1 or int(np.prod(shapes[0], dtype=np.int64)) != length:
            wanted = "one number, the smallest entry by .min() for instance" if length == 1 else f"{length} numbers"
            raise UsageError(
                f"The function returns {many(len(shapes), 'array')} of shapes {shapes}. It is compared as one number. "
                f"Return {wanted}."
            )
        slopes = jax.grad(entered(function))
        # Of one letter the derivative is one number, which has a derivative again.
        derivative = (lambda x: slopes(x)[0]) if dimension == 1 else slopes
        self._gradient = lambda: Enclosure(derivative, dimension, dimension)
        self._tape = Tape()
        try:
            self._outputs: list[TapeNode] | None = self._interpreted(self._tape, self._tape.inputs(dimension))
        except UndecidedComparison:
            self._outputs = None

    @classmethod
    def of(cls, expressions: Expr | Sequence[Expr], letters: Sequence[Symbol]) -> Enclosure:
        """Expressions as functions of their letters, every number in them exact.

        **Raises:** ``UnsupportedPrimitive`` for a function without an enclosure.
        """
        found = cls.__new__(cls)
        found.dimension, found._courses, found._tape = len(letters), {}, Tape()
        entries = list(found._tape.inputs(len(letters)))
        every: tuple[Any, ...] = (expressions,) if isinstance(expressions, Expr) else tuple(expressions)
        found._gradient = lambda: cls.of([every[0].diff(letter) for letter in letters], letters)
        places = dict(zip(letters, (np.asarray(entry, dtype=object) for entry in entries), strict=True))
        found._outputs = [in_domain(expression, found._tape, places.get).item() for expression in every]
        return found

    @property
    def branches(self) -> bool:
        """True if the program compares numbers."""
        return self._outputs is None

    @cached_property
    def gradient(self) -> Enclosure | None:
        """The gradient of the program that is evaluated (guard i); None where it has none, or no enclosure."""
        try:
            return self._gradient()
        except (TheoraxError, TypeError, ValueError):  # JAX: no reverse derivative of a while loop, of integers
            return None

    def at(self, point: Coordinates, precision: int) -> arb:
        """The ball of the (first) value at an exact point.

        **Raises:** ``UndecidedComparison`` where the balls of this precision do not decide a branch.
        """
        return self.all_at(point, precision)[0]

    def all_at(self, point: Coordinates, precision: int) -> list[arb]:
        """The balls of all values at an exact point."""
        with flint.ctx.workprec(precision):
            entries = np.empty(self.dimension, dtype=object)
            entries[:] = [Slope(arb(x)) for x in point]
            return [slope.value for slope in self._run(Slopes(self.dimension, precision), entries)]

    def over(self, sides: Sequence[tuple[fmpq, fmpq]], precision: int) -> Slope:
        """The ball of the (first) value over a box, with the balls of its slopes.

        **Raises:** ``UndecidedComparison`` where a primitive may jump inside the box.
        """
        return self.all_over(sides, precision)[0]

    def all_over(self, sides: Sequence[tuple[fmpq, fmpq]], precision: int) -> list[Slope]:
        """The balls of all values over a box, with those of their slopes."""
        with flint.ctx.workprec(precision):
            entries = inputs([ball_of_interval(*side) for side in sides])
            return self._run(Slopes(self.dimension, precision), entries)

    def values(self, sides: Sequence[tuple[fmpq, fmpq]], precision: int) -> arb:
        """The ball of the (first) value over a box on which the program may jump: the hull of every course it can take.

        **Raises:** ``UndecidedComparison`` where there are too many.
        """
        with flint.ctx.workprec(precision):
            entries = np.empty(self.dimension, dtype=object)
            entries[:] = [ball_of_interval(*side) for side in sides]
            found: arb = hull(lambda course: self._run(course, entries)[0], precision)
            return found

    def in_arithmetic(self, domain: ObjectDomain, entries: Sequence[Any]) -> Any:
        """The (first) value in another scalar arithmetic.

        **Raises:** ``UndecidedComparison`` for a program that compares, ``UnsupportedPrimitive`` for an operation that
        the arithmetic does not have.
        """
        if self._outputs is None:
            raise UndecidedComparison("a branch of the program")
        given = np.empty(self.dimension, dtype=object)
        given[:] = entries
        return self._run(domain, given)[0]

    def _run(self, domain: ObjectDomain, entries: np.ndarray) -> list[Any]:
        if self._outputs is None:
            return self._interpreted(domain, entries)
        if not isinstance(domain, Slopes):
            with domain.working():
                return self._tape.course(domain, self._outputs)(entries)
        if domain.precision not in self._courses:
            self._courses[domain.precision] = self._tape.course(domain, self._outputs)
        return self._courses[domain.precision](entries)

    def _interpreted(self, domain: ObjectDomain, entries: np.ndarray) -> list[Any]:
        with domain.working(), doubles():
            (result,) = Interpreter(domain).run(self._program, [domain.adopt(entries)])
        return list(np.asarray(result, dtype=object).reshape(-1))


def floats(expression: Expr, letters: Sequence[Symbol]) -> Callable[[Any], Any]:
    """The expression as a JAX function of one vector, rounded: for proposing points, never for deciding at them.

    The function raises ``UnsupportedPrimitive`` where JAX cannot trace it.
    """

    @cache
    def compiled() -> tuple[Callable[..., Any], Callable[..., Any]]:
        # What is written out stays outside the expression: built anew, a maximum of long sums is compared term by term.
        # In an order of their own: that of a set, and with it the rounding of a sum, changes from process to process.
        functions = sorted(expression.atoms(Function), key=default_sort_key)
        written = {node: Dummy() for node in functions if node.doit() != node}
        whole = lambdify([tuple(letters), tuple(written.values())], expression.xreplace(written), "jax")
        return whole, lambdify([tuple(letters)], [node.doit() for node in written], "jax")

    def function(x: Any) -> Any:
        values = [x[place] for place in range(len(letters))]
        try:
            whole, inner = compiled()
            found = whole(values, inner(values))
        except (NameError, AttributeError, NotImplementedError, TypeError, ValueError):
            # SymPy prints a name that JAX does not have, or a call that takes no traced number.
            reason = "JAX has no function for part of it"
            raise UnsupportedPrimitive(str(expression), "floats", reason) from None
        return jnp.asarray(found, dtype=x.dtype)

    return function


def ball_of_interval(lower: fmpq, upper: fmpq) -> arb:
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
