"""A function as a flat list of primitives: traced at given shapes, its calls entered, its dead steps dropped."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from numbers import Number
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

try:
    from jax.extend.core import Literal
except ImportError:  # before jax.extend carried the types of jaxprs
    from jax.core import Literal  # type: ignore[no-redef, attr-defined]

from theorax.numerics.arithmetics.library_calls import digest_of, library_call

_CALLS = frozenset(
    {
        "pjit", "jit", "closed_call", "core_call", "core_closed_call", "call", "custom_jvp_call", "custom_vjp_call",
        "custom_vjp_call_jaxpr", "checkpoint", "remat", "remat2", "custom_lin",
    }
)  # fmt: skip
_BODIES = ("jaxpr", "call_jaxpr", "fun_jaxpr")

Kept = TypeVar("Kept")


def is_native(aval: Any) -> bool:
    """True for a value that is computed as it is: an integer, a truth value, a random key."""
    return _is_no_float(aval.dtype)


@cache
def _is_no_float(dtype: Any) -> bool:
    return not jnp.issubdtype(dtype, jnp.inexact)


def doubles() -> AbstractContextManager[Any]:
    """A context in which JAX has float64 and int64."""
    try:
        from jax import enable_x64
    except ImportError:
        from jax.experimental import enable_x64  # type: ignore[no-redef, attr-defined]
    return enable_x64(True)


@dataclass(frozen=True)
class Operation:
    """One primitive with the numbers of its operands and results, and what is known of their shapes and dtypes."""

    name: str
    primitive: Any
    params: Mapping[str, Any]
    operands: tuple[int, ...]
    results: tuple[int, ...]
    operand_types: tuple[Any, ...]
    result_types: tuple[Any, ...]

    @cached_property
    def native(self) -> bool:
        """True if no float enters or leaves."""
        return all(map(is_native, (*self.operand_types, *self.result_types)))

    @cached_property
    def entries(self) -> int:
        """The entries of all results."""
        return sum(math.prod(kind.shape) for kind in self.result_types)


@dataclass(frozen=True)
class Program:
    """Steps over numbered values; ``constants`` are given values, ``inputs`` and ``outputs`` numbers."""

    constants: Mapping[int, Any]
    inputs: tuple[int, ...]
    steps: tuple[Operation, ...]
    outputs: tuple[int, ...]
    types: Mapping[int, Any]

    @cached_property
    def read(self) -> tuple[int, ...]:
        """The numbers of the constants that a step, or the caller, reads."""
        read = {number for step in self.steps for number in step.operands} | set(self.outputs)
        return tuple(number for number in self.constants if number in read)


@dataclass(frozen=True)
class Traced:
    """A function of a pytree as a closed jaxpr of its array leaves."""

    closed: Any
    leaves: tuple[Any, ...]
    structure: Any
    """The structure of what the function returns."""


@dataclass(frozen=True)
class KnownPrograms:
    """Programs of one function that were met: its traces, and the bodies of jaxprs as flat programs, by their identity."""

    traces: dict[Any, Traced] = field(default_factory=dict)
    bodies: dict[int, tuple[Any, Program]] = field(default_factory=dict)


def trace(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    carries: Callable[[object], bool],
    known: dict[Any, Traced] | None = None,
) -> Traced:
    """Trace ``function(*arguments)`` at the shapes of the array leaves; floats and carriers become float64.

    Leaves that are no arrays, activation functions or Python numbers, are part of the program. ``known``: traces of this
    function so far; one of the same shapes and the same other leaves is taken again. Numbers that Python calls equal, 1 and
    1.0, 0.0 and -0.0, are other leaves.
    """

    def is_array(leaf: object) -> bool:
        return carries(leaf) or isinstance(leaf, np.ndarray | np.generic | jax.Array)

    dynamic, static = eqx.partition(tuple(arguments), is_array)
    leaves, structure = jax.tree_util.tree_flatten(dynamic)

    def flat(*entries: Any) -> Any:
        return function(*eqx.combine(jax.tree_util.tree_unflatten(structure, entries), static))

    def type_of(leaf: Any) -> jax.ShapeDtypeStruct:
        if carries(leaf):
            return jax.ShapeDtypeStruct(_carrier_shape(leaf), jnp.float64)
        inexact = jnp.issubdtype(leaf.dtype, jnp.inexact)
        return jax.ShapeDtypeStruct(leaf.shape, jnp.float64 if inexact else leaf.dtype)

    types = [type_of(leaf) for leaf in leaves]
    place = (structure, told_apart(static), tuple((part.shape, str(part.dtype)) for part in types))

    def now() -> Traced:
        with doubles():
            closed, returned = jax.make_jaxpr(flat, return_shape=True)(*types)
        return Traced(closed, (), jax.tree_util.tree_structure(returned))

    return replace(recalled(known, place, now), leaves=tuple(leaves))


def most_entries(program: Program) -> int:
    """The entries of the largest array that a program makes, in its bodies too."""
    made = [math.prod(kind.shape) for step in program.steps for kind in step.result_types]
    inner = [most_entries(flatten(body)) for step in program.steps for body in _bodies_of(step.params)]
    return max([*made, *inner], default=0)


def _bodies_of(params: Mapping[str, Any]) -> Iterator[Any]:
    for entry in params.values():
        for part in entry if isinstance(entry, tuple | list) else (entry,):
            if hasattr(part, "eqns") or hasattr(part, "jaxpr"):
                yield part


def told_apart(static: Any) -> tuple[Any, ...]:
    """Leaves that are no arrays, which tell programs of one function apart beside the shapes of their arrays.

    Numbers that Python calls equal are told apart by their words, also where they are fields of a structure.
    """
    leaves, layout = jax.tree_util.tree_flatten(static)
    others = tuple((type(leaf), leaf, str(leaf) if isinstance(leaf, Number) else "") for leaf in leaves)
    return layout, str(layout), others


def recalled(known: dict[Any, Kept] | None, place: Any, make: Callable[[], Kept]) -> Kept:
    """Recall a value by its place, or make it and keep it; where places do not compare it is made anew."""
    try:
        found = None if known is None else known.get(place)
    except (TypeError, ValueError):  # a leaf without a hash, or an array in a field of a structure
        return make()
    if found is None:
        found = make()
        if known is not None:
            known[place] = found
    return found


def _carrier_shape(leaf: Any) -> tuple[int, ...]:
    return leaf.shape if isinstance(leaf, np.ndarray) else leaf.value.shape


def flatten(closed: Any) -> Program:
    """A closed jaxpr with every call replaced by its body and every step dropped that no output needs.

    The bodies of custom derivatives are entered as they are written, so a derivative taken beforehand, by ``jax.grad``
    of the function, is the custom one.
    """
    numbers = itertools.count()
    constants: dict[int, Any] = {}
    types: dict[int, Any] = {}
    steps: list[Operation] = []
    factored: dict[int, tuple[int, int]] = {}

    def new(aval: Any) -> int:
        number = next(numbers)
        types[number] = aval
        return number

    def enter(jaxpr: Any, values: Sequence[Any], operands: Sequence[int]) -> list[int]:
        place: dict[Any, int] = dict(zip(jaxpr.invars, operands, strict=True))
        for variable, value in zip(jaxpr.constvars, values, strict=True):
            place[variable] = new(variable.aval)
            constants[place[variable]] = value

        def read(atom: Any) -> int:
            if not isinstance(atom, Literal):
                return place[atom]
            number = new(atom.aval)
            constants[number] = atom.val
            return number

        for equation in jaxpr.eqns:
            name = equation.primitive.name
            read_operands = [read(atom) for atom in equation.invars]
            if (known := library_call(equation, read_operands, factored)) is not None:
                results = [new(variable.aval) for variable in equation.outvars]
                kinds = tuple(tuple(types[number] for number in numbers) for numbers in (known.operands, results))
                steps.append(
                    Operation(known.name, equation.primitive, known.params, known.operands, tuple(results), *kinds)
                )
            elif name in _CALLS:
                body = next(equation.params[key] for key in _BODIES if key in equation.params)
                results = enter(*_open(body), read_operands)
            else:
                results = [new(variable.aval) for variable in equation.outvars]
                if name == "lu":
                    factored.update((number, (read_operands[0], place)) for place, number in enumerate(results))
                steps.append(
                    Operation(
                        name,
                        equation.primitive,
                        equation.params,
                        tuple(read_operands),
                        tuple(results),
                        tuple(types[number] for number in read_operands),
                        tuple(types[number] for number in results),
                    )
                )
            place.update(zip(equation.outvars, results, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    jaxpr, values = _open(closed)
    inputs = [new(variable.aval) for variable in jaxpr.invars]
    outputs = enter(jaxpr, values, inputs)
    living = tuple(_living(steps, outputs))
    return Program(constants, tuple(inputs), living, tuple(outputs), types)


def _open(body: Any) -> tuple[Any, Sequence[Any]]:
    try:
        return body.jaxpr, body.consts
    except AttributeError:
        return body, ()


def _living(steps: Sequence[Operation], outputs: Sequence[int]) -> Iterator[Operation]:
    needed = set(outputs)
    kept = []
    for step in reversed(steps):
        if needed.intersection(step.results):
            needed.update(step.operands)
            kept.append(step)
    return reversed(kept)


def fingerprint(function: Callable[..., Any], arguments: Sequence[Any]) -> str:
    """A name for the program that a function is at these shapes: the SHA-256 of its jaxpr and its constants.

    Two functions with one fingerprint do the same operations on the same constants; another version of JAX may trace
    the same function to other operations, and so to another name.
    """
    closed = trace(function, arguments, lambda leaf: isinstance(leaf, np.ndarray) and leaf.dtype == object).closed
    return digest_of(closed)
