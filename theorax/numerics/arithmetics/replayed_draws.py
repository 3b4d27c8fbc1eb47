"""A float program run again on the same numbers in balls, beside what real numbers would not do: leave a domain, wrap.

A function taken outside its domain gives no number, and a whole number that leaves its type is not the number meant.
Both may be harmless: a mask drops them. They matter where the results change once comparisons of no numbers are
answered the other way, and wrapped numbers are put to the end of their range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, final

import equinox as eqx
import flint
import jax
import jax.numpy as jnp
import numpy as np
from flint import arb

from theorax.errors import TheoraxError
from theorax.numerics.arithmetics.ball import Ball, ball, from_zero, power
from theorax.numerics.arithmetics.domain import ObjectDomain
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.arithmetics.flat_program import Operation, Program, doubles, flatten, is_native, told_apart
from theorax.numerics.arithmetics.interpreter import Interpreter

__all__ = ["MOST_OPERATIONS", "BallProgram", "Replayed", "Stopped", "program_name"]

MOST_OPERATIONS = 2_000_000
"""Scalar operations after which a loop without a length is given up, unless less is asked for."""
_STEP = 10  # operations in scalars that one step of a program costs by itself

_WHOLE: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "abs": np.abs,
    "convert_element_type": lambda x: x,
}
"""Integer primitives that may leave their type, on whole numbers of any size."""

_SUMS: Mapping[str, Callable[..., Any]] = {
    "reduce_sum": np.sum,
    "reduce_prod": np.prod,
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
}
_POWERS = ("integer_pow", "square")


@final
@dataclass(frozen=True)
class Stopped:
    """In the place of a result that balls could not follow, with what stopped them in a few words."""

    why: str


@final
@dataclass(frozen=True)
class Replayed:
    """Results of one run: the structure that the function returns, arrays of balls or `Stopped` as leaves.

    ``outside`` has the same structure, its leaves functions taken wholly outside their domain, as ``sqrt at -0.5``;
    ``wrapped`` too, whole numbers that left their type, as ``mul in int32``. Both name only what changes that result.
    """

    results: Any
    outside: Any
    wrapped: Any


@final
class BallProgram:
    """A function traced once at the shapes of its arguments, to be run in balls on arguments of these shapes.

    The arguments may hold `jax.ShapeDtypeStruct` in the place of arrays.

    ``narrow``: whole numbers have the types of a session without 64 bits, as in a float32 experiment.
    ``operations``: scalar operations of one run, by the shapes; a loop without a length counts once.
    """

    operations: int

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any], *, narrow: bool = False) -> None:
        leaves, structure, static = _opened(arguments)
        self._structure = structure

        def flat(*entries: Any) -> Any:
            return function(*eqx.combine(jax.tree_util.tree_unflatten(structure, entries), static))

        self._program, self._returned = _traced(flat, leaves, doubles())
        if narrow:
            closer, returned = _traced(flat, leaves, _singles())
            if _reckons(closer):
                self._program, self._returned = closer, returned
        self.operations = _operations(self._program)

    @classmethod
    def of_draw(cls, closed: Any, names: Sequence[str], inputs: Sequence[Any]) -> BallProgram:
        """The closed jaxpr of a draw, from the words of its key to letters of these names, at flat inputs like these.

        Random bits and whole numbers are what they are, and the inverse error function of a sampler is one that was
        drawn: what follows is run in balls.
        """
        found = cls.__new__(cls)
        _, found._structure, _ = _opened(tuple(map(np.asarray, inputs)))
        found._program = flatten(closed)
        found._returned = jax.tree_util.tree_structure(dict.fromkeys(names, 0))
        found.operations = _operations(found._program)
        return found

    def needs(self, steps: Callable[[Operation], bool]) -> list[str]:
        """Names of the steps of the program for which this holds."""
        return list(dict.fromkeys(step.name for step in self._program.steps if steps(step)))

    def run(self, arguments: Sequence[Any], precision: int = 128, most: int = MOST_OPERATIONS) -> Replayed:
        """The results on these arguments, whose floats are exact numbers, in balls of this precision.

        ``most``: the number of scalar operations after which it is stopped.

        A function at an argument outside its domain by no more than one unit in the last place of the arguments is
        `Stopped`, as is everything that balls cannot follow.
        """
        leaves, structure, _ = _opened(arguments)
        count = len(self._program.outputs)
        if structure != self._structure:
            return self._replayed([Stopped("a model of another structure")] * count, [()] * count, [()] * count)
        results, watch = self._once(leaves, _Watched(precision), most)
        outside: list[tuple[str, ...]] = [()] * count
        wrapped = list(outside)
        if watch.outside or watch.wrapped:
            other, _ = self._once(leaves, _Watched(precision, otherwise=True), most)
            # At the edge of a domain the rounding of the arguments decides: a merely wide ball says nothing.
            surely = set()
            if watch.outside:
                _, loose = self._once([_widened(leaf) for leaf in leaves], _Watched(precision), most)
                surely = {step for step, _ in loose.outside}
            for place, needed in enumerate(_needed(self._program)):
                if not _differ(results[place], other[place]):
                    continue
                left = [(step, text) for step, text in watch.outside if step in needed]
                outside[place] = tuple(text for step, text in left if step in surely)
                wrapped[place] = tuple(text for step, text in watch.wrapped if step in needed)
                if left and not outside[place]:
                    results[place] = Stopped(f"{left[0][1].split()[0]} at the edge of its domain")
        return self._replayed(results, outside, wrapped)

    def _replayed(self, results: Sequence[Any], outside: Sequence[Any], wrapped: Sequence[Any]) -> Replayed:
        return Replayed(*(jax.tree_util.tree_unflatten(self._returned, part) for part in (results, outside, wrapped)))

    def _once(self, leaves: Sequence[Any], watched: _Watched, most: int) -> tuple[list[Any], _Watched]:
        with watched.working(), doubles():
            runner = _Runner(watched)
            runner.most = most
            types = [self._program.types[number] for number in self._program.inputs]
            entries = [
                leaf if watched.owns(leaf) else runner.given(leaf, aval)
                for leaf, aval in zip(leaves, types, strict=True)
            ]
            return runner.tolerant(self._program, entries), watched


def program_name(arguments: Sequence[Any], closed_over: Any = None) -> tuple[Any, ...]:
    """The name of a function's program at these arguments: arguments of one name are run by one `BallProgram`.

    ``closed_over``: a tree of numbers that the function holds, which are part of the program.
    """
    leaves, structure, static = _opened(arguments)
    shapes = tuple((leaf.shape, str(leaf.dtype)) for leaf in leaves)
    held, layout = jax.tree_util.tree_flatten(closed_over)
    arrays = [(type(leaf), np.asarray(leaf)) for leaf in held]
    numbers = tuple((kind, array.shape, str(array.dtype), array.tobytes()) for kind, array in arrays)
    return structure, told_apart(static), shapes, str(layout), numbers


_ARRAYS = (np.ndarray, np.generic, jax.Array, jax.ShapeDtypeStruct)


def _opened(arguments: Sequence[Any]) -> tuple[list[Any], Any, Any]:
    dynamic, static = eqx.partition(tuple(arguments), lambda leaf: isinstance(leaf, _ARRAYS))
    leaves, structure = jax.tree_util.tree_flatten(dynamic)
    return leaves, structure, static


def _singles() -> AbstractContextManager[Any]:
    try:
        from jax import enable_x64
    except ImportError:
        from jax.experimental import enable_x64  # type: ignore[no-redef, attr-defined]
    return enable_x64(False)


def _traced(
    flat: Callable[..., Any], leaves: Sequence[Any], context: AbstractContextManager[Any]
) -> tuple[Program, Any]:
    with context:
        wide = jnp.asarray(0.0).dtype

        def type_of(leaf: Any) -> jax.ShapeDtypeStruct:
            return jax.ShapeDtypeStruct(leaf.shape, wide if jnp.issubdtype(leaf.dtype, jnp.inexact) else leaf.dtype)

        closed, returned = jax.make_jaxpr(flat, return_shape=True)(*[type_of(leaf) for leaf in leaves])
    return flatten(closed), jax.tree_util.tree_structure(returned)


def _reckons(program: Program) -> bool:
    """True if the program does arithmetic on whole numbers, whose type then matters."""
    return any(step.name in (*_WHOLE, *_SUMS, *_POWERS) and _is_whole(step.result_types[0]) for step in program.steps)


def _is_whole(aval: Any) -> bool:
    return bool(jnp.issubdtype(aval.dtype, jnp.integer))


def _operations(program: Program) -> int:
    return sum(map(_operations_of, program.steps))


def _operations_of(step: Operation) -> int:
    params = step.params
    if step.name == "scan":
        return _STEP + int(params["length"]) * _operations(flatten(params["jaxpr"]))
    if step.name == "while":
        return _operations(flatten(params["cond_jaxpr"])) + _operations(flatten(params["body_jaxpr"]))
    if step.name == "cond":
        return max(_operations(flatten(branch)) for branch in params["branches"])
    made = sum(math.prod(kind.shape) for kind in step.result_types)
    read = sum(math.prod(kind.shape) for kind in step.operand_types)
    if step.name == "dot_general":
        (inner, _), _ = params["dimension_numbers"]
        return made * math.prod(step.operand_types[0].shape[axis] for axis in inner)
    if step.name in ("sort", "argmax", "argmin"):
        return read * max((length for kind in step.operand_types for length in kind.shape), default=1)
    return _cost(step, max(made, read))


def _cost(step: Operation, entries: int) -> int:
    return _STEP + entries // 20 if step.native else max(_STEP, entries)  # whole numbers stay with NumPy


@final
class _Watched(ObjectDomain):
    """Balls that remember functions taken outside their domain, and answer comparisons of no numbers as floats do.

    ``otherwise``: with the other answer.
    """

    name: ClassVar[str] = "ball"

    def __init__(self, precision: int, *, otherwise: bool = False) -> None:
        self.balls, self.otherwise = Ball(precision), otherwise
        self.step = 0  # the place of the step of the program that runs
        self.outside: list[tuple[int, str]] = []
        self.wrapped: list[tuple[int, str]] = []
        self.wide = False
        self._functions = {name: self._one(name, function) for name, function in self.balls.functions.items()}
        self._operations = {**self.balls.operations, "div": self._over, "pow": self._to_the}

    def working(self) -> AbstractContextManager[Any]:
        return flint.ctx.workprec(self.balls.precision)

    @property
    def functions(self) -> Mapping[str, Callable[[Any], Any]]:
        return self._functions

    @property
    def operations(self) -> Mapping[str, Callable[[Any, Any], Any]]:
        return self._operations

    def scalar(self, number: object) -> arb:
        return ball(number)

    def left(self, name: str, x: arb, *, wholly: bool) -> arb:
        """No number, remembered as a domain left, or as a ball too wide to say."""
        if wholly and not self.wide:
            self.outside.append((self.step, f"{name} at {float(x.mid()):.6g}"))
        self.wide = self.wide or not wholly
        return arb.nan()

    def _one(self, name: str, function: Callable[[arb], arb]) -> Callable[[arb], arb]:
        if name not in _OUTSIDE:
            return function
        at_edge, is_outside = _OUTSIDE[name]

        def at(x: arb) -> arb:
            if not x.is_finite():
                return function(x)
            if x in at_edge:
                return at_edge[x]
            if name == "sqrt" and x.contains(0):
                return from_zero(x.upper().sqrt())
            value = function(x)
            return value if value.is_finite() else self.left(name, x, wholly=is_outside(x))

        return at

    def _over(self, x: arb, y: arb) -> arb:
        value = x / y
        if value.is_finite() or not (x.is_finite() and y.is_finite()):
            return value
        return self.left("div", y, wholly=y.is_zero())

    def _to_the(self, x: arb, y: arb) -> arb:
        value = x**y
        if value.is_finite() or not (x.is_finite() and y.is_finite()):
            return value
        return self.left("pow", x, wholly=bool(x < 0 and not y.contains_integer()) or bool(x.is_zero() and y < 0))

    def decide(self, name: str, x: arb, y: arb) -> bool | None:
        if x.is_nan() or y.is_nan():
            return None if self.wide else (name == "ne") is not self.otherwise
        return self.balls.decide(name, x, y)

    def finite(self, x: arb) -> bool | None:
        if x.is_nan():
            return None if self.wide else self.otherwise
        return self.balls.finite(x)

    def integer_power(self, x: arb, exponent: int) -> arb:
        if exponent < 0 and x.is_finite() and x.contains(0):
            return self.left("div", x, wholly=x.is_zero())
        return power(x, exponent)

    def total(self, terms: Sequence[arb]) -> arb:
        return self.balls.total(terms)

    def dot(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.balls.dot(x, y)

    def determinant(self, x: np.ndarray) -> np.ndarray:
        return self.balls.determinant(x)

    def solved(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        found = self.balls.solved(a, b)
        self.wide = self.wide or not all(entry.is_finite() for entry in found.reshape(-1))
        return found


class _Edges:
    """Values at single points where a function has a one-sided limit that is no number."""

    def __init__(self, points: Mapping[int, arb]) -> None:
        self._points = points

    def __contains__(self, x: arb) -> bool:
        return any(x == point for point in self._points)

    def __getitem__(self, x: arb) -> arb:
        return next(value for point, value in self._points.items() if x == point)


_LOW, _HIGH = arb.neg_inf(), arb.pos_inf()
_OUTSIDE: Mapping[str, tuple[_Edges, Callable[[arb], bool]]] = {
    "sqrt": (_Edges({}), lambda x: x < 0),
    "rsqrt": (_Edges({0: _HIGH}), lambda x: x < 0),
    "log": (_Edges({0: _LOW}), lambda x: x < 0),
    "log1p": (_Edges({-1: _LOW}), lambda x: x < -1),
    "asin": (_Edges({}), lambda x: x > 1 or x < -1),
    "acos": (_Edges({}), lambda x: x > 1 or x < -1),
    "atanh": (_Edges({1: _HIGH, -1: _LOW}), lambda x: x > 1 or x < -1),
    "acosh": (_Edges({}), lambda x: x < 1),
}
"""For a function the values at the ends of its domain that are infinite, and where it has no real value."""


def _needed(program: Program) -> Iterator[set[int]]:
    """For every output the places of the steps that it needs."""
    for output in program.outputs:
        numbers, places = {output}, set()
        for place in range(len(program.steps) - 1, -1, -1):
            if numbers.intersection(program.steps[place].results):
                places.add(place)
                numbers.update(program.steps[place].operands)
        yield places


def _widened(leaf: Any) -> Any:
    """Floats as balls of one unit in the last place around them."""
    array = np.asarray(leaf) if not jnp.issubdtype(leaf.dtype, jax.dtypes.extended) else None
    if array is None or not jnp.issubdtype(array.dtype, jnp.floating):
        return leaf
    wide = np.empty(array.shape, dtype=object)
    # A zero is no rounded number: it is kept as it is.
    units = np.where(array == 0, 0, np.spacing(np.abs(array))).astype(np.float64)
    for place in np.ndindex(array.shape):
        wide[place] = (
            arb(float(array[place]), float(units[place])) if np.isfinite(array[place]) else ball(float(array[place]))
        )
    return wide


def _differ(one: Any, other: Any) -> bool:
    """True if a result is no number, or another one than in the other run."""
    if isinstance(one, Stopped) or isinstance(other, Stopped):
        return isinstance(one, Stopped) is not isinstance(other, Stopped)
    if one.dtype != object:
        return not np.array_equal(one, other)
    pairs = zip(one.reshape(-1).tolist(), other.reshape(-1).tolist(), strict=True)
    return any(x.is_nan() or y.is_nan() or not x.overlaps(y) for x, y in pairs)


class _Runner(Interpreter):
    """The interpreter with whole numbers watched, that hands on what stopped it as a result."""

    domain: _Watched
    done = 0
    most = 0

    def tolerant(self, program: Program, entries: Sequence[Any]) -> list[Any]:
        values: dict[int, Any] = dict(zip(program.inputs, entries, strict=True))
        values.update(self.constants(program))
        for place, step in enumerate(program.steps):
            self.domain.step = place
            operands = [values[number] for number in step.operands]
            stopped = next((operand for operand in operands if isinstance(operand, Stopped)), None)
            results = [stopped] * len(step.results) if stopped else self._tried(program, step, operands)
            values.update(zip(step.results, results, strict=True))
        return [values[number] for number in program.outputs]

    def _tried(self, program: Program, step: Operation, operands: list[Any]) -> list[Any]:
        try:
            return self.step(step, operands)
        except UnsupportedPrimitive as error:
            return [Stopped(error.name)] * len(step.results)
        except UndecidedComparison as error:
            known = self.of_constants(program, step)
            return [Stopped(f"an open comparison ({error.comparison})")] * len(step.results) if known is None else known
        except TheoraxError as error:
            return [Stopped(str(error))] * len(step.results)

    def step(self, step: Operation, operands: list[Any]) -> list[Any]:
        self.done += _cost(step, step.entries)
        if self.done > self.most:
            raise UnsupportedPrimitive(f"a loop of more than {self.most} ball operations", self.domain.name)
        if (
            step.name == "erf_inv"
        ):  # a normal number that was drawn: its law is the sampler's, its rounding none of ours
            floats = np.vectorize(lambda entry: float(entry.mid()), otypes=[np.float64])(operands[0])
            drawn = step.primitive.bind(jnp.asarray(floats, step.operand_types[0].dtype), **step.params)
            return [self.domain.lift(np.asarray(drawn))]
        if step.name == "convert_element_type" and not is_native(step.operand_types[0]):
            kind = step.result_types[0]
            if kind.dtype == bool:
                return [self.domain.compare("ne", operands[0], self.domain.lift(np.zeros(operands[0].shape)))]
            if _is_whole(kind):
                return [self._within("convert_element_type", kind, _truncated(operands[0]))]
        return super().step(step, operands)

    def native(self, step: Operation, operands: list[Any]) -> list[Any]:
        kind = step.result_types[0]
        if _is_whole(kind) and all(isinstance(operand, np.ndarray | np.generic) for operand in operands):
            exact = [np.asarray(operand).astype(object) for operand in operands]
            if step.name in _WHOLE:
                return [self._within(step.name, kind, _WHOLE[step.name](*exact))]
            if step.name in _SUMS:
                return [self._within(step.name, kind, _summed(step, exact[0]))]
            if step.name in _POWERS:
                return [self._within(step.name, kind, exact[0] ** int(step.params.get("y", 2)))]
        return super().native(step, operands)

    def _within(self, name: str, kind: Any, exact: Any) -> np.ndarray:
        """Whole numbers in their type; those that leave it are remembered.

        Numbers without a sign of 32 and 64 bits are meant to wrap: hashes and generators are written with them.
        """
        exact = np.asarray(exact, dtype=object).reshape(kind.shape)
        ends = np.iinfo(kind.dtype)
        low, high = int(ends.min), int(ends.max)
        entries = [int(entry) for entry in exact.reshape(-1).tolist()]
        span = high - low + 1
        if any(not low <= entry <= high for entry in entries):
            if low < 0 or ends.bits < 32:
                self.domain.wrapped.append((self.domain.step, f"{name} in {kind.dtype}"))
            if self.domain.otherwise and (low < 0 or ends.bits < 32):
                entries = [min(max(entry, low), high) for entry in entries]
            entries = [(entry - low) % span + low for entry in entries]
        return np.array(entries, dtype=object).reshape(kind.shape).astype(kind.dtype)


def _summed(step: Operation, exact: np.ndarray) -> Any:
    if "axes" in step.params:
        return _SUMS[step.name](exact, axis=tuple(step.params["axes"]))
    axis, back = step.params["axis"], step.params["reverse"]
    along = np.flip(exact, axis) if back else exact
    sums = _SUMS[step.name](along, axis=axis)
    return np.flip(sums, axis) if back else sums


def _truncated(x: np.ndarray) -> np.ndarray:
    """The whole numbers next to balls on the side of zero.

    **Raises:** ``UndecidedComparison`` for a ball that holds another whole number, or is no number.
    """
    whole = np.empty(x.shape, dtype=object)
    for place in np.ndindex(x.shape):
        entry: Any = x[place]
        part = entry.floor() if not entry < 0 else entry.ceil()
        if not (part.is_finite() and part.is_exact()):
            raise UndecidedComparison("convert_element_type", entry)
        whole[place] = int(part.unique_fmpz())
    return whole
