"""The interpreter of jaxprs: one program of primitives, evaluated with the scalars of any domain."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from theorax.numerics.arithmetics.ball import Ball
from theorax.numerics.arithmetics.domain import BINARY, COMPARISONS, UNARY, Domain
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.arithmetics.flat_program import (
    KnownPrograms,
    Operation,
    Program,
    doubles,
    flatten,
    is_native,
    trace,
)
from theorax.numerics.arithmetics.movement import MOVED, MOVEMENTS
from theorax.numerics.arithmetics.primitives import CONTROL, INTEGERS, RULES


def evaluate(
    function: Callable[..., Any], arguments: Sequence[Any], domain: Domain[Any], known: KnownPrograms | None = None
) -> Any:
    """``function(*arguments)`` with the scalars of ``domain``.

    Array leaves of the arguments are numpy or JAX arrays, whose floats are read as exact dyadic rationals, or arrays of
    the domain's carriers. Integers, truth values and shapes are computed as they are; no float constant is ever
    computed outside the domain. The result has the structure the function returns, with arrays of carriers in the place
    of floats. ``known``: programs of this very function so far, at other arguments, which need no second trace.

    **Errors:** those of the domain.

    **Raises:** ``UnsupportedPrimitive`` for a primitive without a meaning in the domain, ``UndecidedComparison`` where
    the carriers do not decide a branch.
    """
    known = known or KnownPrograms()
    traced = trace(function, arguments, domain.owns, known.traces)
    with domain.working(), doubles():
        interpreter = Interpreter(domain, known.bodies)
        program = interpreter.body(traced.closed)
        types = [program.types[number] for number in program.inputs]
        entries = [
            domain.adopt(leaf) if domain.owns(leaf) else interpreter.given(leaf, aval)
            for leaf, aval in zip(traced.leaves, types, strict=True)
        ]
        return jax.tree_util.tree_unflatten(traced.structure, interpreter.run(program, entries))


def _array(value: Any) -> Any:
    # A typed random key has no numpy array; it is an integer subgraph and stays with JAX.
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.extended):
        return value
    return np.asarray(value)


class Interpreter:
    """Runs programs in one domain; a value is a numpy array if its dtype is no float, else an array of carriers."""

    domain: Domain[Any]
    bodies: dict[int, tuple[Any, Program]]

    def __init__(self, domain: Domain[Any], bodies: dict[int, tuple[Any, Program]] | None = None):
        self.domain = domain
        self.bodies = {} if bodies is None else bodies
        self._constants: dict[int, tuple[Program, dict[int, Any]]] = {}
        self._places: dict[int, tuple[Operation, list[np.ndarray]]] = {}

    def given(self, value: Any, aval: Any) -> Any:
        if jnp.issubdtype(aval.dtype, jnp.complexfloating):
            raise UnsupportedPrimitive("complex", self.domain.name, "the domains are real")
        return _array(value) if is_native(aval) else self.domain.lift(np.asarray(value))

    def body(self, closed: Any) -> Program:
        # Kept beside its jaxpr, so that the id is not used again while the program is known.
        if id(closed) not in self.bodies:
            self.bodies[id(closed)] = (closed, flatten(closed))
        return self.bodies[id(closed)][1]

    def constants(self, program: Program) -> dict[int, Any]:
        """The constants that are read, in the domain; a body that is run many times is given them once."""
        if id(program) not in self._constants:
            given = {number: self.given(program.constants[number], program.types[number]) for number in program.read}
            self._constants[id(program)] = (program, given)
        return self._constants[id(program)][1]

    def run(self, program: Program, entries: Sequence[Any]) -> list[Any]:
        values = dict(zip(program.inputs, entries, strict=True))
        values.update(self.constants(program))
        for step in program.steps:
            operands = [values[number] for number in step.operands]
            try:
                results = self.step(step, operands)
            except UndecidedComparison:
                known = self.of_constants(program, step)
                if known is None:
                    raise
                results = known
            values.update(zip(step.results, results, strict=True))
        return [values[number] for number in program.outputs]

    def of_constants(self, program: Program, step: Operation) -> list[Any] | None:
        """A comparison of numbers that no input enters, decided in balls; nothing for any other step."""
        if step.name not in COMPARISONS:
            return None
        makers = {number: other for other in program.steps for number in other.results}
        balls = Interpreter(Ball())
        values: dict[int, Any] = {}

        def value(number: int) -> Any:
            if number not in values:
                if number in program.constants:
                    values[number] = balls.given(program.constants[number], program.types[number])
                elif number in program.inputs or makers[number].name in CONTROL:
                    raise UndecidedComparison(step.name)
                else:
                    made = balls.step(makers[number], [value(operand) for operand in makers[number].operands])
                    values.update(zip(makers[number].results, made, strict=True))
            return values[number]

        try:
            with balls.domain.working():
                return balls.step(step, [value(number) for number in step.operands])
        except (UndecidedComparison, UnsupportedPrimitive):
            return None

    def step(self, step: Operation, operands: list[Any]) -> list[Any]:
        if step.name in CONTROL:
            return CONTROL[step.name](self, step, operands)
        if step.native:
            return self.native(step, operands)
        if step.name in MOVEMENTS:
            return self.move(step, operands)
        if step.name in UNARY:
            return [self.domain.unary(step.name, operands[0])]
        if step.name in COMPARISONS:
            return [self.domain.compare(step.name, *operands)]
        if step.name in RULES:
            return RULES[step.name](self, step, operands)
        if step.name in BINARY:
            return [self.domain.binary(step.name, *operands)]
        raise UnsupportedPrimitive(step.name, self.domain.name)

    def native(self, step: Operation, operands: list[Any]) -> list[Any]:
        plain = all(isinstance(operand, np.ndarray | np.generic) for operand in operands)
        if plain and step.name in INTEGERS:
            return [np.asarray(INTEGERS[step.name](*operands), dtype=step.result_types[0].dtype)]
        if plain and step.name in MOVEMENTS and step.name not in ("gather", "scatter"):
            return [np.asarray(entry) for entry in MOVEMENTS[step.name](step.params, *_parts(step, operands))]
        results = step.primitive.bind(*operands, **step.params)
        return [_array(entry) for entry in (results if step.primitive.multiple_results else [results])]

    def move(self, step: Operation, operands: list[Any]) -> list[Any]:
        moved, where = _parts(step, operands)
        if not all(isinstance(entry, np.ndarray) and entry.dtype != object for entry in where):
            raise UnsupportedPrimitive(step.name, self.domain.name, "its indices are no integers")
        if step.name == "select_n" and where[0].size and (where[0] == where[0].flat[0]).all():
            return [moved[int(where[0].flat[0])]]  # all its operands have the shape of the result
        places = self._landing(step, [self.domain.shape(entry) for entry in moved], where)
        pool = self.domain.join(moved)
        return [self.domain.take(pool, entries) for entries in places]

    def _landing(self, step: Operation, shapes: Sequence[tuple[int, ...]], where: Sequence[Any]) -> list[np.ndarray]:
        """Of each result the positions that it takes of all operands; where nothing but shapes says them, found once."""
        if not where and id(step) in self._places:
            return self._places[id(step)][1]
        positions, start = [], 0
        for shape in shapes:
            size = math.prod(shape)
            positions.append(np.arange(start, start + size).reshape(shape))
            start += size
        places = [np.asarray(entries) for entries in MOVEMENTS[step.name](step.params, positions, where)]
        if not where:
            self._places[id(step)] = (step, places)
        return places

    def rows(self, x: Any, axes: Sequence[int]) -> Any:
        """The array with these axes moved to the end and made one."""
        shape = self.domain.shape(x)
        kept = [axis for axis in range(len(shape)) if axis not in axes]
        places = np.arange(math.prod(shape)).reshape(shape).transpose(*kept, *axes)
        count = math.prod(shape[axis] for axis in axes)
        return self.domain.take(x, places.reshape(*[shape[axis] for axis in kept], count))


def _parts(step: Operation, operands: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The operands that are moved and those that say where to."""
    places = range(len(operands))
    chosen = places[MOVED[step.name]] if step.name in MOVED else places
    return [operands[place] for place in chosen], [operands[place] for place in places if place not in chosen]
