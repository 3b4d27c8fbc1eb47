"""A program of a random key as a program of its noise: the uniform numbers that it draws become inputs.

JAX makes each of its real random numbers in one way: random bits are shifted into the mantissa of a float in
[1, 2), and one is subtracted. The program is cut there and nowhere else: at these steps, whatever function they are
in, under calls, custom rules, `vmap`, `scan` and `cond`. Samplers turn the number u in [0, 1) into every other law,
so each array of floats in [1, 2) leads to values that the law can take. A cut further on, at `erf_inv` say, would
leave the range of a half-normal sampler.

Left as drawn, and named: whole numbers and permutations, `random_gamma`, everything drawn inside a loop without a
length, and bits that a program also uses in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters.partial_eval import dce_jaxpr
from scipy.special import ndtr, ndtri

from theorax.numerics.arithmetics.flat_program import Literal, doubles
from theorax.numerics.nested_steps import constants_and_carries, every_step, jaxpr_as_fun

__all__ = ["FARTHEST", "NoiseProgram", "Ties", "mantissas", "noise_scores", "slopes", "tied"]

FARTHEST = 6.0
"""The largest score of a uniform number, as a quantile of the normal law: u is between Phi(-6) and Phi(6)."""

_MIDDLE = 1.5  # of [1, 2): score zero
_CHANCE = 64  # bits: distinct numbers are taken for one with probability 2^-64

_BODIES = ("jaxpr", "call_jaxpr", "fun_jaxpr")
_MOVED = frozenset({"reshape", "squeeze", "expand_dims", "transpose", "rev", "copy"})
_DRAWN = frozenset({"random_gamma", "rng_bit_generator", "rng_uniform", "threefry2x32"})
_WORDS = frozenset({"random_bits", *_DRAWN})


@final
class NoiseProgram:
    """A closed jaxpr that draws, cut into one that returns its noise and one that takes it.

    ``noise``: shapes and types of the free arrays, floats in [1, 2), one for each step that is cut. Those in the body of a scan
    have its length as their first axis. ``left``: what stays as drawn, by name and shape. With the noise of `drawing`,
    `replayed` computes the operations of the program itself; a compiler may order them differently.
    """

    whole: Any
    noise: tuple[jax.ShapeDtypeStruct, ...]
    left: tuple[str, ...]

    def __init__(self, closed: Any) -> None:
        self.whole = closed
        self._inputs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in closed.in_avals]
        reading = _Reading()
        marks = reading.read(closed.jaxpr, [None] * len(closed.jaxpr.invars))
        reading.spoil(marks)
        self._plan = _Plan(closed.jaxpr, reading.clean)
        self.noise = self._plan.noise(())
        spoilt = [f"whole numbers {shape}" for shape in reading.spoilt_shapes]
        self.left = tuple(dict.fromkeys([*reading.left, *spoilt]))

    @cached_property
    def drawing(self) -> Any:
        """The closed jaxpr from the inputs of the program to its noise; nothing else is left in it."""
        return self._made(lambda *inputs: self._run(inputs, None)[1], self._inputs)

    @cached_property
    def replayed(self) -> Any:
        """The closed jaxpr from the noise, followed by the inputs of the program, to its outputs."""
        count = len(self.noise)
        return self._made(lambda *given: self._run(given[count:], given[:count])[0], [*self.noise, *self._inputs])

    @property
    def draws_to_tie(self) -> int:
        """Draws after which `tied` takes distinct numbers for one with probability 2^-64 at most."""
        entries = sum(int(np.prod(kind.shape)) for kind in self.noise)
        bits = min((int(jnp.finfo(kind.dtype).nmant) for kind in self.noise), default=52)
        return -(-(_CHANCE + 2 * max(entries, 1).bit_length()) // bits)

    def draw(self, *inputs: Any) -> list[Any]:
        """The noise that the program draws on these inputs, its flat ones."""
        with _types_of(self.whole):
            found: list[Any] = jaxpr_as_fun(self.drawing)(*inputs)
        return found

    def replay(self, noise: Sequence[Any], *inputs: Any) -> list[Any]:
        """The flat outputs of the program on this noise."""
        with _types_of(self.whole):
            found: list[Any] = jaxpr_as_fun(self.replayed)(*noise, *inputs)
        return found

    def _run(self, inputs: Sequence[Any], noise: Sequence[Any] | None) -> tuple[list[Any], list[Any]]:
        return _run(self._plan, self.whole.consts, inputs, noise)

    def _made(self, function: Callable[..., list[Any]], types: Sequence[Any]) -> Any:
        with _types_of(self.whole):
            closed = jax.make_jaxpr(function)(*types)
        jaxpr, _ = dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars), instantiate=True)
        return closed.replace(jaxpr=jaxpr)


def mantissas(score: np.ndarray, dtype: Any = np.float64) -> np.ndarray:
    """The floats in [1, 2) of these scores, the quantiles of a normal law: 1 + Phi(score), rounded to the type.

    A score beyond `FARTHEST` counts as that; of short types the largest float below two stands for what rounds to two.
    """
    found = (1 + ndtr(np.clip(score, -FARTHEST, FARTHEST))).astype(dtype)
    return np.minimum(found, np.asarray(2 - float(jnp.finfo(dtype).eps), dtype))


def slopes(score: np.ndarray) -> np.ndarray:
    """The derivative of `mantissas`: the density of the normal law."""
    return np.exp(-np.square(score) / 2) / np.sqrt(2 * np.pi)


def noise_scores(noise: Any) -> np.ndarray:
    """The score of each of these floats in [1, 2), at most six deviations from zero.

    For JAX's normal numbers the score is the number itself, up to their rounding.
    """
    return np.clip(ndtri(np.asarray(noise, np.float64) - 1), -FARTHEST, FARTHEST)


@final
@dataclass(frozen=True)
class Ties:
    """Entries of several noise arrays that are one number: ``places`` has, for each entry of an array, that of the number."""

    count: int
    places: tuple[np.ndarray, ...]

    def gathered(self, arrays: Sequence[Any]) -> np.ndarray:
        """One value for each number, from values for all entries."""
        found = np.zeros(self.count)
        for place, array in zip(self.places, arrays, strict=True):
            found[place] = np.asarray(array, np.float64)
        return found

    def spread(self, values: Any) -> list[Any]:
        """The arrays of these values, one for each number."""
        return [values[place] for place in self.places]


def tied(draws: Sequence[Sequence[Any]]) -> Ties:
    """Entries that are equal in all of these draws, which are then one number: keys made of one name draw the same twice.

    Entries that are not one number are equal in d draws with probability 2^(-md) for m bits of the mantissa.
    """
    if not draws or not draws[0]:
        return Ties(0, ())
    shapes = [np.shape(array) for array in draws[0]]
    rows = np.stack(
        [np.concatenate([np.asarray(array, np.float64).ravel() for array in draw]) for draw in draws], axis=1
    )
    kinds = np.concatenate([np.full(np.size(array), str(np.asarray(array).dtype)) for array in draws[0]])
    # Numbers of two types come from bits of two lengths.
    numbered = np.column_stack([rows, np.unique(kinds, return_inverse=True)[1]])
    _, first, which = np.unique(numbered, axis=0, return_index=True, return_inverse=True)
    # The noise of a branch that no draw takes is no number of its own yet: it stays in the middle.
    idle = np.flatnonzero((rows == _MIDDLE).all(axis=1))
    which = which.reshape(-1)
    which[idle] = len(first) + np.arange(len(idle))
    met, first, which = np.unique(which, return_index=True, return_inverse=True)
    which = np.argsort(np.argsort(first))[which]  # numbered in the order in which they are met
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    places = [part.reshape(shape) for part, shape in zip(np.split(which, ends), shapes, strict=True)]
    return Ties(len(met), tuple(places))


# Reading: which steps make floats of random bits that serve nothing else.


@dataclass(frozen=True)
class _Mark:
    """A whole number on its way from random bits to a float; ``stage`` is bits, shifted or filled."""

    source: int
    stage: str
    bits: int  # of the word
    random: int  # of those, the lowest ones that are random


@dataclass
class _Reading:
    """A walk through a jaxpr, with the stage of every value that comes from random bits."""

    # By jaxpr and step, the bits that become floats there: one body may be called several times.
    places: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    shapes: list[tuple[int, ...]] = field(default_factory=list)
    uses: dict[tuple[int, Any], int] = field(default_factory=dict)  # of a variable that holds these bits
    spoilt: set[int] = field(default_factory=set)
    left: list[str] = field(default_factory=list)

    def spoil(self, marks: Sequence[_Mark | None]) -> None:
        self.spoilt |= {mark.source for mark in marks if mark is not None}

    @property
    def clean(self) -> frozenset[tuple[int, int]]:
        """The steps at which the program is cut, in every call of their body."""
        shared = {source for (source, _), count in self.uses.items() if count > 1}
        bad = self.spoilt | shared
        return frozenset(place for place, several in self.places.items() if not bad & set(several))

    @property
    def spoilt_shapes(self) -> list[tuple[int, ...]]:
        free = {source for place in self.clean for source in self.places[place]}
        return [shape for source, shape in enumerate(self.shapes) if source not in free]

    def read(self, jaxpr: Any, given: Sequence[_Mark | None]) -> list[_Mark | None]:
        marks: dict[Any, _Mark | None] = dict(zip(jaxpr.invars, given, strict=True))

        def mark(atom: Any) -> _Mark | None:
            return None if isinstance(atom, Literal) else marks.get(atom)

        for at, step in enumerate(jaxpr.eqns):
            operands = [mark(atom) for atom in step.invars]
            for atom, each in zip(step.invars, operands, strict=True):
                if each is not None and not _is_call(step):
                    self.uses[each.source, atom] = self.uses.get((each.source, atom), 0) + 1
            found = self._step(jaxpr, at, step, operands)
            marks.update(zip(step.outvars, found, strict=True))
        return [mark(atom) for atom in jaxpr.outvars]

    def _step(self, jaxpr: Any, at: int, step: Any, operands: list[_Mark | None]) -> list[_Mark | None]:
        name = step.primitive.name
        nothing: list[_Mark | None] = [None] * len(step.outvars)
        if _is_call(step):
            body = _body(step)
            return self.read(getattr(body, "jaxpr", body), operands)
        if name == "random_bits":
            self.shapes.append(tuple(step.outvars[0].aval.shape))
            width = int(step.params["bit_width"])
            return [_Mark(len(self.shapes) - 1, "bits", width, width)]
        if name in ("scan", "cond"):
            self.spoil(operands)
            bodies = [step.params["jaxpr"]] if name == "scan" else step.params["branches"]
            for body in bodies:
                self.spoil(self.read(body.jaxpr, [None] * len(body.jaxpr.invars)))
            return nothing
        if name in _DRAWN:
            self.left.append(f"{name} {tuple(step.outvars[0].aval.shape)}")
        elif any(inner.primitive.name in _WORDS for inner in _inner(step)):  # a loop without a length
            self.left.append(f"{name} loop")
        followed = self._followed(jaxpr, at, step, operands)
        if followed is None:
            self.spoil(operands)
            return nothing
        return [followed if followed.stage != "float" else None]

    def _followed(self, jaxpr: Any, at: int, step: Any, operands: list[_Mark | None]) -> _Mark | None:
        """The next stage of the only operand with a mark; None where this step is not on the way to a float."""
        marked = [each for each in operands if each is not None]
        if len(marked) != 1 or operands[0] is None:
            return None
        (mark,), name, kind = marked, step.primitive.name, step.outvars[0].aval
        if name in _MOVED:
            return mark
        if name == "convert_element_type" and mark.stage == "bits" and jnp.issubdtype(kind.dtype, jnp.unsignedinteger):
            wider = jnp.iinfo(kind.dtype).bits
            return replace(mark, bits=wider) if wider >= mark.bits else None
        if name == "shift_right_logical" and mark.stage == "bits":
            shift = _number(jaxpr, step.invars[1])
            return None if shift is None else replace(mark, stage="shifted", random=mark.random - shift)
        if name == "or" and mark.stage == "shifted":
            filled = _number(jaxpr, step.invars[1])
            return None if filled is None else replace(mark, stage=f"filled {filled}")
        if name == "bitcast_convert_type" and _is_one_to_two(mark, kind.dtype, tuple(kind.shape), self.shapes):
            self.places.setdefault((id(jaxpr), at), []).append(mark.source)
            return replace(mark, stage="float")
        return None


def _is_one_to_two(mark: _Mark, dtype: Any, shape: tuple[int, ...], shapes: Sequence[tuple[int, ...]]) -> bool:
    """True if random bits fill the whole mantissa of a float of this type in [1, 2), and nothing else."""
    if not jnp.issubdtype(dtype, jnp.floating) or np.prod(shape) != np.prod(shapes[mark.source]):
        return False
    info = jnp.finfo(dtype)
    one = np.asarray(1, dtype).view(f"uint{info.bits}")
    return mark.stage == f"filled {int(one)}" and info.bits == mark.bits and mark.random == info.nmant


def _number(jaxpr: Any, atom: Any) -> int | None:
    """The one whole number that an operand is, where the program holds it."""
    if isinstance(atom, Literal):
        value = np.asarray(atom.val)
        return int(value.flat[0]) if value.size and (value == value.flat[0]).all() else None
    for step in jaxpr.eqns:
        if atom in step.outvars:
            held = step.primitive.name in ("broadcast_in_dim", "convert_element_type", "reshape")
            return _number(jaxpr, step.invars[0]) if held else None
    return None


def _is_call(step: Any) -> bool:
    """True for a step that calls one program on its operands, as they are."""
    body = _body(step)
    if body is None or step.primitive.name in ("scan", "while", "cond"):
        return False
    return len(getattr(body, "jaxpr", body).invars) == len(step.invars)


def _body(step: Any) -> Any:
    return next((step.params[part] for part in _BODIES if step.params.get(part) is not None), None)


def _inner(step: Any) -> Any:
    for value in step.params.values():
        for part in value if isinstance(value, tuple | list) else (value,):
            if hasattr(getattr(part, "jaxpr", part), "eqns"):
                yield from every_step(part)


# Running: the same walk, with values.


@final
class _Plan:
    """A jaxpr with, for each of its steps, how it is run: as it is, cut, or by the plans of its bodies."""

    def __init__(self, jaxpr: Any, clean: frozenset[tuple[int, int]]) -> None:
        self.jaxpr = jaxpr
        self.cuts = {at for at in range(len(jaxpr.eqns)) if (id(jaxpr), at) in clean}
        self.inner: dict[int, list[_Plan]] = {}
        for at, step in enumerate(jaxpr.eqns):
            name = step.primitive.name
            bodies = [_body(step)] if name == "scan" or _is_call(step) else []
            bodies = list(step.params["branches"]) if name == "cond" else bodies
            plans = [_Plan(getattr(body, "jaxpr", body), clean) for body in bodies]
            if any(plan.noise(()) for plan in plans):
                self.inner[at] = plans

    def noise(self, leading: tuple[int, ...]) -> tuple[jax.ShapeDtypeStruct, ...]:
        """Shapes and types of what is cut here and in the bodies, in the order of the steps."""
        found: list[jax.ShapeDtypeStruct] = []
        for at, step in enumerate(self.jaxpr.eqns):
            if at in self.cuts:
                kind = step.outvars[0].aval
                found.append(jax.ShapeDtypeStruct((*leading, *kind.shape), kind.dtype))
            rows = (step.params["length"],) if step.primitive.name == "scan" else ()
            for plan in self.inner.get(at, ()):
                found += plan.noise((*leading, *rows))
        return tuple(found)


def _run(plan: _Plan, constants: Sequence[Any], inputs: Sequence[Any], noise: Sequence[Any] | None) -> Any:
    """Outputs of the jaxpr, and the noise that was taken: that given, or that drawn."""
    jaxpr = plan.jaxpr
    values: dict[Any, Any] = {
        **dict(zip(jaxpr.constvars, constants, strict=True)),
        **dict(zip(jaxpr.invars, inputs, strict=True)),
    }
    taken: list[Any] = []

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else values[atom]

    def given(count: int) -> Sequence[Any] | None:
        return None if noise is None else noise[len(taken) : len(taken) + count]

    for at, step in enumerate(jaxpr.eqns):
        operands = [read(atom) for atom in step.invars]
        if at in plan.cuts:
            results = list(given(1) or _bound(step, operands))
            taken += results
        elif at in plan.inner:
            plans = plan.inner[at]
            parts = given(sum(len(inner.noise(())) for inner in plans))
            results, more = _INNER.get(step.primitive.name, _called)(plans, step, operands, parts)
            taken += more
        else:
            results = _bound(step, operands)
        values.update(zip(step.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars], taken


def _bound(step: Any, operands: Sequence[Any]) -> list[Any]:
    params = step.primitive.get_bind_params(step.params)
    functions, params = params if isinstance(params, tuple) else ((), params)  # apart before JAX 0.10
    results = step.primitive.bind(*functions, *operands, **params)
    return list(results) if step.primitive.multiple_results else [results]


def _called(plans: Sequence[_Plan], step: Any, operands: Sequence[Any], noise: Sequence[Any] | None) -> Any:
    return _run(plans[0], getattr(_body(step), "consts", ()), operands, noise)


def _scanned(plans: Sequence[_Plan], step: Any, operands: Sequence[Any], noise: Sequence[Any] | None) -> Any:
    params = step.params
    held, carried = constants_and_carries(params)
    constants, begun, rows = operands[:held], operands[held : held + carried], operands[held + carried :]

    def turn(carry: tuple[Any, ...], entries: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        given = None if noise is None else entries[len(rows) :]
        inputs = [*constants, *carry, *entries[: len(rows)]]
        results, taken = _run(plans[0], params["jaxpr"].consts, inputs, given)
        return tuple(results[:carried]), (*results[carried:], *taken)

    scanned = (*rows, *(noise or ()))
    how = {name: params[name] for name in ("length", "reverse", "unroll")}
    carry, stacked = jax.lax.scan(turn, tuple(begun), scanned, **how)
    results = [*carry, *stacked]
    count = len(step.outvars)
    return results[:count], results[count:]


def _chosen(plans: Sequence[_Plan], step: Any, operands: Sequence[Any], noise: Sequence[Any] | None) -> Any:
    choice, *inputs = operands
    kinds = [plan.noise(()) for plan in plans]
    starts = np.cumsum([0, *map(len, kinds)])

    def branch(which: int) -> Callable[..., Any]:
        def run(*given: Any) -> tuple[Any, ...]:
            mine = None if noise is None else given[len(inputs) :][starts[which] : starts[which + 1]]
            body = step.params["branches"][which]
            results, taken = _run(plans[which], body.consts, given[: len(inputs)], mine)
            # A branch that is not taken draws nothing: its noise stays in the middle.
            middle = [[jnp.full(kind.shape, _MIDDLE, kind.dtype) for kind in other] for other in kinds]
            middle[which] = list(taken)
            return (*results, *(array for part in middle for array in part))

        return run

    found = jax.lax.switch(choice, [branch(which) for which in range(len(plans))], *inputs, *(noise or ()))
    count = len(step.outvars)
    return list(found[:count]), list(found[count:])


_INNER: dict[str, Callable[..., Any]] = {"scan": _scanned, "cond": _chosen}


def _types_of(closed: Any) -> AbstractContextManager[Any]:
    """A context in which the types of the program exist, whatever the session's default is."""
    kinds = [atom.aval for step in every_step(closed) for atom in step.outvars]
    wide = any(getattr(kind, "dtype", None) in (np.float64, np.int64, np.uint64) for kind in kinds)
    return doubles() if wide else nullcontext()
