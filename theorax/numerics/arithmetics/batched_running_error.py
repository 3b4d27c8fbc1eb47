"""Running error bounds of one program at many inputs at once: arrays carry the instances along a hidden first axis.

Every formula of the error domain is entry by entry, a sum along a row, or a product of two matrices, so each instance has
the very bits that it has alone. Comparisons steer a program, and one run takes one road: instances that would part are
not run together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, final

import jax
import jax.numpy as jnp
import numpy as np

from theorax.errors import TheoraxError
from theorax.numerics.arithmetics.domain import Domain
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.arithmetics.flat_program import KnownPrograms, Program, doubles, is_native, most_entries, trace
from theorax.numerics.arithmetics.interpreter import Interpreter
from theorax.numerics.arithmetics.running_error import Running, RunningError

_ENTRIES = 1 << 14
"""Entries of the largest array of a batch: below a few thousand the work of an operation is its call."""


class _InstancesPart(TheoraxError):
    """A comparison has one answer for some instances and another for others."""


def evaluate_batch(
    function: Callable[..., Any], batch: Sequence[Sequence[Any]], domain: RunningError, known: KnownPrograms
) -> list[Any]:
    """Results of ``evaluate`` for the first of these arguments, as many as fit into one run.

    Empty where they cannot be run together: other programs, other whole numbers, comparisons with other answers, or an
    error for one of them.
    """
    first = trace(function, batch[0], domain.owns, known.traces)
    interpreter = Interpreter(domain, known.bodies)
    program = interpreter.body(first.closed)
    count = min(len(batch), _ENTRIES // max(1, most_entries(program)))
    traced = [first, *(trace(function, arguments, domain.owns, known.traces) for arguments in batch[1:count])]
    columns = list(zip(*(one.leaves for one in traced), strict=True))
    if count < 2 or any(one.closed is not first.closed for one in traced) or not _same_road(program, columns):
        return []
    batched = interpreter.domain = BatchedRunningError(domain, count)
    types = [program.types[number] for number in program.inputs]
    try:
        with domain.working(), doubles():
            entries = [
                interpreter.given(column[0], aval) if is_native(aval) else batched.lift_each(column)
                for column, aval in zip(columns, types, strict=True)
            ]
            results = interpreter.run(program, entries)
    except (UnsupportedPrimitive, UndecidedComparison, _InstancesPart):
        return []
    return [
        jax.tree_util.tree_unflatten(first.structure, [_instance(result, number) for result in results])
        for number in range(count)
    ]


def _same_road(program: Program, columns: Sequence[Sequence[Any]]) -> bool:
    """True if the inputs are plain arrays, those of whole numbers the same in every instance."""
    for number, column in zip(program.inputs, columns, strict=True):
        if not all(isinstance(leaf, np.ndarray | np.generic | jax.Array) for leaf in column):
            return False
        if is_native(program.types[number]):
            if any(jnp.issubdtype(leaf.dtype, jax.dtypes.extended) for leaf in column):
                return False
            if any(not np.array_equal(leaf, column[0]) for leaf in column[1:]):
                return False
    return True


def _instance(result: Any, number: int) -> Any:
    if not isinstance(result, Running):
        return result
    return Running(result.value[number], result.error[number], np.asarray(result.names[number]))


@final
@dataclass(frozen=True)
class BatchedRunningError(Domain[Running]):
    """The error domain on arrays whose first axis, which no program sees, counts the instances.

    **Errors:** those of the domain of each instance.
    """

    each: RunningError
    count: int
    name: ClassVar[str] = RunningError.name

    def working(self) -> AbstractContextManager[Any]:
        return self.each.working()

    def owns(self, leaf: object) -> bool:
        return False  # instances are given as plain numbers

    def adopt(self, leaf: Running) -> Running:
        return leaf

    def lift(self, numbers: np.ndarray) -> Running:
        one = self.each.lift(numbers)
        shape = (self.count, *one.value.shape)
        return Running(*(np.broadcast_to(part, shape) for part in (one.value, one.error, one.names)))

    def lift_each(self, columns: Sequence[Any]) -> Running:
        """Numbers of every instance."""
        return self.each.lift(np.stack([np.asarray(column) for column in columns]))

    def shape(self, carriers: Running) -> tuple[int, ...]:
        return carriers.value.shape[1:]

    def take(self, carriers: Running, indices: np.ndarray) -> Running:
        return Running(*(np.take(part, indices, axis=1) for part in self._rows(carriers)))

    def join(self, parts: Sequence[Running]) -> Running:
        return Running(*(np.concatenate(rows, axis=1) for rows in zip(*map(self._rows, parts), strict=True)))

    def unary(self, name: str, x: Running) -> Running:
        return self.each.unary(name, x)

    def binary(self, name: str, x: Running, y: Running) -> Running:
        return self.each.binary(name, *self.aligned(x, y))

    def power(self, x: Running, exponent: int) -> Running:
        return self.each.power(x, exponent)

    def compare(self, name: str, x: Running, y: Running) -> np.ndarray:
        return _common(self.each.compare(name, *self.aligned(x, y)))

    def is_finite(self, x: Running) -> np.ndarray:
        return _common(self.each.is_finite(x))

    def sum(self, x: Running) -> Running:
        return self.each.sum(x)

    def dot(self, x: Running, y: Running) -> Running:
        return self.each.dot(x, y)

    def scan_sum(self, x: Running) -> Running:
        return self.each.scan_sum(x)

    def solved(self, a: Running, b: Running) -> Running:
        found = [self.each.solved(_instance(a, number), _instance(b, number)) for number in range(self.count)]
        return Running(*(np.stack(parts) for parts in zip(*((x.value, x.error, x.names) for x in found), strict=True)))

    def _rows(self, x: Running) -> tuple[np.ndarray, ...]:
        return tuple(part.reshape(self.count, -1) for part in (x.value, x.error, x.names))

    def aligned(self, x: Running, y: Running) -> tuple[Running, Running]:
        """The shorter shape filled up with ones behind the axis of the instances, as NumPy fills it up in front."""
        most = max(x.value.ndim, y.value.ndim)

        def filled(x: Running) -> Running:
            shape = (self.count, *[1] * (most - x.value.ndim), *x.value.shape[1:])
            return Running(*(part.reshape(shape) for part in (x.value, x.error, x.names)))

        return tuple(part if part.value.ndim == most else filled(part) for part in (x, y))  # type: ignore[return-value]


def _common(answers: np.ndarray) -> np.ndarray:
    """The one answer of all instances."""
    if not np.array_equal(answers, np.broadcast_to(answers[:1], answers.shape)):
        raise _InstancesPart("Instances take different branches. Run them one by one.")
    return np.asarray(answers[0])
