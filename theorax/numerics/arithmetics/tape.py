"""A program recorded once as scalar operations and run many times: what a search over boxes spends its time on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, final

import numpy as np

from theorax.numerics.arithmetics.casts import FloatFormat
from theorax.numerics.arithmetics.domain import BINARY, UNARY, ObjectDomain
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive


@final
class TapeNode:
    """A number of the recorded program: the place of the operation that makes it."""

    __slots__ = ("place",)
    place: int

    def __init__(self, place: int):
        self.place = place


@final
class Tape(ObjectDomain):
    """Records scalar operations instead of doing them.

    **Raises:** ``UndecidedComparison`` for every comparison: a program that asks for one has no single course.
    """

    name: ClassVar[str] = "ball"  # what a user is told of: the arithmetic in which the record will be run
    recorded: list[tuple[str, Any, Any]]

    def __init__(self) -> None:
        self.recorded = []
        self._functions = {name: self._one(name) for name in UNARY}
        self._operations = {name: self._two(name) for name in BINARY}

    def _one(self, name: str) -> Callable[[TapeNode], TapeNode]:
        return lambda x: self.record(name, x.place)

    def _two(self, name: str) -> Callable[[TapeNode, TapeNode], TapeNode]:
        return lambda x, y: self.record(name, x.place, y.place)

    def record(self, name: str, first: Any, second: Any = None) -> TapeNode:
        """One more operation: its name, then the places of its operands, or what it needs besides."""
        self.recorded.append((name, first, second))
        return TapeNode(len(self.recorded) - 1)

    def inputs(self, count: int) -> np.ndarray:
        """The inputs of the program, in the order in which `run` is given them."""
        entries = np.empty(count, dtype=object)
        for place in range(count):
            entries[place] = self.record("input", place)
        return entries

    @property
    def functions(self) -> Mapping[str, Callable[[Any], Any]]:
        return self._functions

    @property
    def operations(self) -> Mapping[str, Callable[[Any, Any], Any]]:
        return self._operations

    def scalar(self, number: object) -> TapeNode:
        return number if isinstance(number, TapeNode) else self.record("number", number)

    def decide(self, name: str, x: TapeNode, y: TapeNode) -> bool | None:
        raise UndecidedComparison(name)

    def finite(self, x: TapeNode) -> bool | None:
        raise UndecidedComparison("is_finite")

    def integer_power(self, x: TapeNode, exponent: int) -> TapeNode:
        return self.record("integer_pow", x.place, exponent)

    def rounded(self, x: TapeNode, to: FloatFormat) -> TapeNode:
        return self.record("narrow", x.place, to)

    def total(self, terms: Sequence[TapeNode]) -> TapeNode:
        return self.record("sum", tuple(term.place for term in terms))

    def course(self, domain: ObjectDomain, outputs: Sequence[TapeNode]) -> Callable[[Any], list[Any]]:
        """The recorded numbers as a function of the inputs, in the arithmetic of ``domain``.

        Run it within the domain's working precision.

        **Raises:** ``UnsupportedPrimitive`` for an operation that the domain does not have.
        """
        operations, places = self._needed(outputs)
        steps = [_step(operation, domain) for operation in operations]

        def run(entries: Any) -> list[Any]:
            values: list[Any] = []
            for step in steps:
                values.append(step(values, entries))
            return [values[place] for place in places]

        return run

    def _needed(self, outputs: Sequence[TapeNode]) -> tuple[list[tuple[str, Any, Any]], list[int]]:
        """The operations that the outputs need, renumbered, and where the outputs are among them."""
        needed = {output.place for output in outputs}
        for place in range(max(needed), -1, -1):
            if place in needed:
                needed.update(_operands(self.recorded[place]))
        new = {place: number for number, place in enumerate(sorted(needed))}
        return [_moved(self.recorded[place], new) for place in sorted(needed)], [new[node.place] for node in outputs]


_WITH_PARAMETER = ("integer_pow", "narrow")
"""Operations of one number, with what they need besides."""


def _operands(operation: tuple[str, Any, Any]) -> tuple[int, ...]:
    name, first, second = operation
    if name in ("input", "number"):
        return ()
    if name == "sum":
        return tuple(first)
    return (first,) if name in _WITH_PARAMETER or second is None else (first, second)


def _moved(operation: tuple[str, Any, Any], new: Mapping[int, int]) -> tuple[str, Any, Any]:
    name, first, second = operation
    if name in ("input", "number"):
        return operation
    if name == "sum":
        return name, tuple(new[place] for place in first), None
    return name, new[first], second if name in _WITH_PARAMETER or second is None else new[second]


def _step(operation: tuple[str, Any, Any], domain: ObjectDomain) -> Callable[[list[Any], Any], Any]:
    name, first, second = operation
    if name == "input":
        return lambda values, entries: entries[first]
    if name == "number":
        known = domain.scalar(first)
        return lambda values, entries: known
    if name == "sum":
        return lambda values, entries: domain.total([values[place] for place in first])
    if name == "integer_pow":
        return lambda values, entries: domain.integer_power(values[first], second)
    if name == "narrow":
        return lambda values, entries: domain.rounded(values[first], second)
    if name in domain.operations:
        two = domain.operations[name]
        return lambda values, entries: two(values[first], values[second])
    if name in domain.functions:
        one = domain.functions[name]
        return lambda values, entries: one(values[first])
    raise UnsupportedPrimitive(name, domain.name)
