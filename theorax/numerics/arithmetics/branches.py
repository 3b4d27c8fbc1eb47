"""Every course that a program with branches can take on a box: the hull of its values, never of its slopes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import reduce
from typing import Any, ClassVar, final

import flint
from flint import arb

from theorax.numerics.arithmetics.ball import Ball, ball, power
from theorax.numerics.arithmetics.casts import FloatFormat, rounded
from theorax.numerics.arithmetics.domain import ObjectDomain
from theorax.numerics.arithmetics.failures import UndecidedComparison

MOST_COURSES = 32


def hull(run: Callable[[Course], arb], precision: int) -> arb:
    """The hull of ``run`` over every course that is possible.

    A point of the box takes one of the two ways at each comparison that the balls leave open; both are followed, so
    the value at the point lies in the ball of its course.

    **Raises:** ``UndecidedComparison`` if there are more than ``MOST_COURSES``.
    """
    waiting: list[tuple[bool, ...]] = [()]
    values: list[arb] = []
    while waiting:
        if len(values) + len(waiting) > MOST_COURSES:
            raise UndecidedComparison(f"one of {MOST_COURSES} courses")
        course = Course(precision, waiting.pop())
        values.append(run(course))
        taken = course.taken
        waiting += [(*taken[:place], False) for place in range(len(course.given), len(taken))]
    return reduce(arb.union, values)


@final
class Course(ObjectDomain):
    """Balls that follow one course: open comparisons are answered as ``given``, later ones with true."""

    name: ClassVar[str] = "one course"
    given: tuple[bool, ...]
    taken: tuple[bool, ...]

    def __init__(self, precision: int, given: tuple[bool, ...]):
        self.balls = Ball(precision)
        self.given = given
        self.taken = ()

    def working(self) -> AbstractContextManager[Any]:
        return flint.ctx.workprec(self.balls.precision)

    @property
    def functions(self) -> Mapping[str, Callable[[Any], Any]]:
        return {**self.balls.functions, **_STEPS}

    @property
    def operations(self) -> Mapping[str, Callable[[Any, Any], Any]]:
        return self.balls.operations

    def scalar(self, number: object) -> arb:
        return ball(number)

    def decide(self, name: str, x: arb, y: arb) -> bool | None:
        known = self.balls.decide(name, x, y)
        # What is no number has no course: it stays undecided.
        if known is not None or not (x.is_finite() and y.is_finite()):
            return known
        place = len(self.taken)
        answer = self.given[place] if place < len(self.given) else True
        self.taken = (*self.taken, answer)
        return answer

    def finite(self, x: arb) -> bool | None:
        return self.balls.finite(x)

    def integer_power(self, x: arb, exponent: int) -> arb:
        return power(x, exponent)

    def rounded(self, x: arb, to: FloatFormat) -> arb:
        return rounded(x, to)

    def total(self, terms: Sequence[arb]) -> arb:
        return self.balls.total(terms)


def _stairs(name: str) -> Callable[[arb], arb]:
    # Monotone steps: the image of a ball lies between the images of its ends.
    def step(x: arb) -> arb:
        if not x.is_finite():
            raise UndecidedComparison(name, x)
        ends = [getattr(end, name)() for end in (x.lower(), x.upper())]
        return ends[0].union(ends[1])

    return step


_STEPS: Mapping[str, Callable[[Any], Any]] = {
    "sign": _stairs("sgn"),
    "floor": _stairs("floor"),
    "ceil": _stairs("ceil"),
}
