"""Use of keys in a program: a key that is drawn from twice, random bits of another key, results without randomness.

The steps of a traced program are followed with the lineage of every key, and of every whole number of a small array,
in the place of its words. As in JAX's own check of keys, drawing from a key and splitting it use it up, folding a number
into it does not; one number folded into one key twice is one key. The body of a loop is followed twice, since what a
second round draws from again every further round does.

**Errors:** a key that is chosen by an index which only the run can tell is taken for one of its own; so is one whose
words a program computes. What is drawn twice through them is not seen, and `KeyUse.chosen` says that there are such. Two
numbers that are computed in different ways count as different. Keys and numbers that a loop of more than two rounds
changes count as new ones where it ends. Two loops that may run no round are not held against each other.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.xla_metadata import set_xla_metadata
from jax.interpreters.partial_eval import dce_jaxpr

from theorax.numerics.arithmetics.flat_program import Literal
from theorax.numerics.keys import BY_NAME
from theorax.numerics.nested_steps import constants_and_carries

__all__ = ["KeyUse", "key_use", "traced_otherwise", "use_by"]

Shape = tuple[int, ...]

# Where a step keeps the program that it calls; the bodies of custom derivatives are those of the function itself.
_BODIES = ("jaxpr", "call_jaxpr", "fun_jaxpr")
_SMALL = 4096  # entries of an array of numbers that is followed by value
_FEW = 256  # entries of an array of whole numbers that are followed each by itself
_NUMBER = "number"


@final
@dataclass(frozen=True)
class KeyUse:
    """Findings about the keys of one program.

    ``twice``: shapes of two arrays that were drawn from one key, the first such pair; None if there is none.
    ``foreign``: shapes of the arrays drawn from keys that do not descend from the argument.
    ``constant``: names of the results that do not depend on the argument. ``numbers``: the arrays that are
    part of the program; a second trace holds the same ones, unless the program draws from something other than its key.
    ``chosen``: True if a key is chosen by an index, or made of words, that only the run can tell.
    """

    twice: tuple[Shape, Shape] | None = None
    foreign: tuple[Shape, ...] = ()
    constant: frozenset[str] = frozenset()
    numbers: frozenset[tuple[str, Shape, bytes]] = frozenset()
    chosen: bool = False

    @property
    def arrays(self) -> tuple[Shape, ...]:
        """Shapes of the arrays of real numbers, not all one number, that are part of the program; sorted."""
        found = set()
        for kind, shape, written in self.numbers:
            dtype, size = jnp.dtype(kind), math.prod(shape)
            one = size * dtype.itemsize == len(written) and written == size * written[: dtype.itemsize]
            if size > 1 and not one and jnp.issubdtype(dtype, np.inexact):
                found.add(shape)
        return tuple(sorted(found))


@dataclass(frozen=True)
class _Seen:
    """A value as it is followed: its keys, or the words of keys, or a few whole numbers, by the lineage of each."""

    random: bool  # it depends on the argument
    name: int  # equal names, equal values
    keys: np.ndarray | None = None  # of a key array, or of the words of one
    whole: np.ndarray | None = None  # of an array of few whole numbers


@dataclass
class _Uses:
    """Keys drawn from so far, with the shape of what was drawn."""

    twice: tuple[Shape, Shape] | None = None
    foreign: list[Shape] = field(default_factory=list)
    used: dict[int, tuple[Shape, int]] = field(default_factory=dict)  # and in which loop, 0 for none
    loop: int = 0
    made: dict[Any, np.ndarray] = field(default_factory=dict)  # keys of one origin
    names: dict[Any, int] = field(default_factory=dict)  # numbers that are part of the program
    fresh: itertools.count[int] = field(default_factory=itertools.count)
    numbers: set[tuple[str, Shape, bytes]] = field(default_factory=set)
    given: set[int] = field(default_factory=set)  # names of the arguments
    chosen: bool = False

    def name(self, *parts: Any) -> int:
        """The name of what these parts determine."""
        return self.names.setdefault(parts, next(self.fresh))

    def block(self, shape: Shape) -> np.ndarray:
        """Lineages that nothing else has."""
        return np.array([next(self.fresh) for _ in range(int(np.prod(shape)))], np.int64).reshape(shape)

    def each(self, done: str, *parts: np.ndarray) -> np.ndarray:
        """Lineages entry by entry: of what was done with these, which give equal ones where they are equal."""
        arrays = np.broadcast_arrays(*parts)
        entries = zip(*(one.ravel().tolist() for one in arrays), strict=True)
        return np.array([self.name(done, *entry) for entry in entries], np.int64).reshape(arrays[0].shape)

    def within(self, name: int, shape: Shape) -> np.ndarray:
        """Lineages of the entries of a value of this name."""
        return self.each(f"of {name}", np.arange(int(np.prod(shape))).reshape(shape))

    def use(self, keys: np.ndarray, shape: Shape) -> None:
        """Draw an array of this shape from each of the keys, or split it into so many."""
        for key in keys.ravel().tolist():
            before, loop = self.used.get(key, (None, 0))
            # Of two loops that run as long as a condition holds, one may run no round: JAX's own `binomial` is so.
            exclusive = loop and self.loop and loop != self.loop
            if before is not None and self.twice is None and not exclusive:
                self.twice = (before, shape)
            self.used[key] = (shape, self.loop)


def key_use(closed: Any, random: Sequence[bool], results: Sequence[str]) -> KeyUse:
    """The use of keys in a closed jaxpr: which inputs are, or carry, the key, and the names of its outputs."""
    uses = _Uses()
    given = [_opaque(uses, var.aval, drawn) for var, drawn in zip(closed.jaxpr.invars, random, strict=True)]
    uses.given = {seen.name for seen in given}
    out = _follow(uses, closed, given)
    varying = {name for name, seen in zip(results, out, strict=True) if seen.random}
    constant, numbers = frozenset(results) - varying, frozenset(uses.numbers)
    return KeyUse(uses.twice, tuple(uses.foreign), constant, numbers, uses.chosen)


def use_by(program: Callable[[Any], Any]) -> KeyUse | None:
    """The use of keys in a function of a key alone that returns named arrays; None where it cannot be traced.

    What no result depends on is left out: weights that a layer is made with, and that are then replaced.

    **Errors:** whatever it raises is taken for a step that asks for numbers which a trace has not.
    """
    try:
        words = jax.random.key_data(jax.random.key(0))
        closed, out = jax.make_jaxpr(lambda words: program(jax.random.wrap_key_data(words)), return_shape=True)(words)
    except Exception:
        return None
    jaxpr, (used,) = dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars), instantiate=True)
    return key_use(closed.replace(jaxpr=jaxpr), [used], list(out))


_TRACES = itertools.count()


def traced_otherwise() -> Any:
    """A context in which JAX traces anew what it has traced before: its caches know no program with this mark."""
    return set_xla_metadata(theorax_trace=str(next(_TRACES)))


def _opaque(uses: _Uses, aval: Any, random: bool) -> _Seen:
    """A value of which nothing but its type is known."""
    keys = uses.block(aval.shape) if _is_key(aval) else None
    return _Seen(random, next(uses.fresh), keys, uses.block(aval.shape) if _is_whole(aval) else None)


def _is_key(aval: Any) -> bool:
    return hasattr(aval, "dtype") and jnp.issubdtype(aval.dtype, jax.dtypes.prng_key)


def _is_whole(aval: Any) -> bool:
    """True of few whole numbers, such as are folded into a key or choose one, and of what is asked of them."""
    return (
        hasattr(aval, "dtype")
        and aval.size <= _FEW
        and any(jnp.issubdtype(aval.dtype, sort) for sort in (np.integer, np.bool_))
    )


def _constant(uses: _Uses, value: Any) -> _Seen:
    """A number or an array that is part of the program."""
    keys = uses.block(value.shape) if _is_key(value) else None
    array = np.asarray(value if keys is None else jax.random.key_data(value))
    written = array.tobytes()
    small = array.size <= _SMALL
    uses.numbers.add((str(array.dtype), array.shape, written if small else hashlib.sha256(written).digest()))
    if keys is not None or not small:
        return _Seen(False, next(uses.fresh), keys)
    whole = uses.each(_NUMBER, array) if _is_whole(array) else None
    return _Seen(False, uses.name(str(array.dtype), array.shape, written), None, whole)


def _follow(uses: _Uses, closed: Any, given: Sequence[_Seen]) -> list[_Seen]:
    """The results of a jaxpr, closed or open, on these values."""
    jaxpr, constants = getattr(closed, "jaxpr", closed), getattr(closed, "consts", ())
    known: dict[Any, _Seen] = {}
    known |= zip(jaxpr.constvars, (_constant(uses, value) for value in constants), strict=True)
    known |= zip(jaxpr.invars, given, strict=True)

    def read(atom: Any) -> _Seen:
        return _constant(uses, atom.val) if isinstance(atom, Literal) else known[atom]

    for step in jaxpr.eqns:
        operands = [read(atom) for atom in step.invars]
        known |= zip(step.outvars, _step(uses, step, operands), strict=True)
    return [read(atom) for atom in jaxpr.outvars]


def _step(uses: _Uses, step: Any, operands: Sequence[_Seen]) -> list[_Seen]:
    name, params = step.primitive.name, step.params
    if name in _LOOPS:
        return _LOOPS[name](uses, step, operands)
    body = next((params[part] for part in _BODIES if part in params), None)
    if body is not None and len(getattr(body, "jaxpr", body).invars) == len(operands):
        return _follow(uses, body, operands)
    if name in _RANDOM:
        return [_RANDOM[name](uses, step, operands)]
    if any(seen.keys is not None for seen in operands):
        return _moved(uses, step, operands)
    # A call of the host without operands, or a step with effects, may return another number each time.
    random = any(seen.random for seen in operands) or bool(step.effects)
    if len(step.outvars) == 1 and not step.effects and _is_whole(step.outvars[0].aval):
        return [_whole(uses, step, operands, random)]
    return [_Seen(random, next(uses.fresh)) for _ in step.outvars]


def _whole(uses: _Uses, step: Any, operands: Sequence[_Seen], random: bool) -> _Seen:
    """Whole numbers that a step computes of these operands: the same step of the same makes the same."""
    name, shape = step.primitive.name, step.outvars[0].aval.shape
    lineages = [seen.whole for seen in operands if seen.whole is not None]
    named = uses.name(name, repr(step.params), *(seen.name for seen in operands))
    if name == "iota":
        whole = uses.each(_NUMBER, np.indices(shape)[step.params["dimension"]])
    elif len(lineages) == len(operands) and name in _MOVES:
        whole = _MOVES[name](step.params, *lineages)
    elif len(lineages) == len(operands) and name in _KEPT:
        (whole,) = lineages
    else:
        whole = uses.within(named, shape)
    return _Seen(random, named, None, whole)


def _moved(uses: _Uses, step: Any, operands: Sequence[_Seen]) -> list[_Seen]:
    """Keys in another order; fresh ones, the same for the same operands, where it cannot be told which they are."""
    name, random = step.primitive.name, all(seen.random for seen in operands if seen.keys is not None)
    moved = [seen.keys for seen in operands if seen.keys is not None]
    if name in _MOVES and len(moved) == len(operands):
        parts = _MOVES[name](step.params, *moved)
        return [_Seen(random, next(uses.fresh), part) for part in (parts if isinstance(parts, list) else [parts])]
    if name in _PASSED:
        return list(operands)
    told = tuple(seen.name if seen.keys is None else seen.keys.tobytes() for seen in operands)
    found = []
    for at, var in enumerate(step.outvars):
        place = (name, repr(step.params), at, told)
        if place not in uses.made:
            uses.made[place] = uses.block(var.aval.shape)
        uses.chosen |= _is_key(var.aval)
        found.append(_Seen(random, next(uses.fresh), uses.made[place] if _is_key(var.aval) else None))
    return found


# Steps that draw from keys or make them.


def _bits(uses: _Uses, step: Any, operands: Sequence[_Seen]) -> _Seen:
    shape = tuple(step.outvars[0].aval.shape)
    drawn = operands[0]
    assert drawn.keys is not None
    if not drawn.random:
        uses.foreign.append(shape)
    uses.use(drawn.keys, shape)
    return _Seen(any(seen.random for seen in operands), next(uses.fresh))


def _split(uses: _Uses, step: Any, operands: Sequence[_Seen]) -> _Seen:
    (parent,) = operands
    assert parent.keys is not None
    uses.use(parent.keys, tuple(step.params["shape"]))
    return _Seen(parent.random, next(uses.fresh), uses.block(step.outvars[0].aval.shape))


def _fold(uses: _Uses, step: Any, operands: Sequence[_Seen]) -> _Seen:
    parent, number = operands
    random, shape = parent.random or number.random, step.outvars[0].aval.shape
    # A key of its own at every step: two models of one program share what they draw under one name, and may.
    if BY_NAME in str(step.source_info.name_stack):
        return _Seen(random, next(uses.fresh), uses.block(shape))
    assert parent.keys is not None
    whole = number.whole if number.whole is not None else uses.within(number.name, step.invars[1].aval.shape)
    return _Seen(random, next(uses.fresh), uses.each("folded", parent.keys, whole))


def _cloned(uses: _Uses, step: Any, operands: Sequence[_Seen]) -> _Seen:
    # Who clones a key says that it is to be used again.
    return _Seen(operands[0].random, next(uses.fresh), uses.block(step.outvars[0].aval.shape))


def _made(uses: _Uses, step: Any, operands: Sequence[_Seen]) -> _Seen:
    """Keys from words: the same words are the same keys."""
    (words,), shape = operands, step.outvars[0].aval.shape
    if words.keys is not None and (words.keys == words.keys[..., :1]).all():
        return _Seen(words.random, next(uses.fresh), words.keys[..., 0])
    place = ("words", words.name, shape)
    uses.chosen |= words.random and words.name not in uses.given
    if place not in uses.made:
        uses.made[place] = uses.block(shape)
    return _Seen(words.random, next(uses.fresh), uses.made[place])


def _words(uses: _Uses, step: Any, operands: Sequence[_Seen]) -> _Seen:
    (whole,) = operands
    assert whole.keys is not None
    count = step.outvars[0].aval.shape[-1]
    return _Seen(whole.random, next(uses.fresh), np.repeat(whole.keys[..., None], count, axis=-1))


_RANDOM = {
    "random_bits": _bits,
    "random_gamma": _bits,
    "random_split": _split,
    "random_fold_in": _fold,
    "random_clone": _cloned,
    "random_seed": _made,
    "random_wrap": _made,
    "random_unwrap": _words,
}


def _broadcast(params: Mapping[str, Any], keys: np.ndarray) -> np.ndarray:
    placed = np.ones(len(params["shape"]), int)
    placed[list(params["broadcast_dimensions"])] = keys.shape
    return np.broadcast_to(keys.reshape(placed), params["shape"])


def _slice(params: Mapping[str, Any], keys: np.ndarray) -> np.ndarray:
    strides = params["strides"] or (1,) * keys.ndim
    parts = zip(params["start_indices"], params["limit_indices"], strides, strict=True)
    return keys[tuple(slice(*part) for part in parts)]


_MOVES = {
    "slice": _slice,
    "broadcast_in_dim": _broadcast,
    "squeeze": lambda params, keys: np.squeeze(keys, tuple(params["dimensions"])),
    "reshape": lambda params, keys: keys.reshape(params["new_sizes"]),
    "transpose": lambda params, keys: keys.transpose(params["permutation"]),
    "rev": lambda params, keys: np.flip(keys, tuple(params["dimensions"])),
    "concatenate": lambda params, *keys: np.concatenate(keys, params["dimension"]),
    "stack": lambda params, *keys: np.stack(keys, params["axis"]),
    "unstack": lambda params, keys: list(np.moveaxis(keys, params["axis"], 0)),
    "split": lambda params, keys: np.split(keys, np.cumsum(params["sizes"])[:-1], params["axis"]),
    "tile": lambda params, keys: np.tile(keys, params["reps"]),
    "copy": lambda params, keys: keys,
}
_PASSED = frozenset({"optimization_barrier", "device_put", "copy_p"})
_KEPT = frozenset({"convert_element_type", "optimization_barrier", "copy_p"})  # one number remains itself


# Loops and branches.


def _scan(uses: _Uses, step: Any, operands: Sequence[_Seen]) -> list[_Seen]:
    params = step.params
    first, carried = constants_and_carries(params)
    constants, carry, along = operands[:first], list(operands[first : first + carried]), operands[first + carried :]
    length, begun = params["length"], carry
    stacked: list[_Seen] = []
    for turn in range(min(length, 2)):
        place = length - 1 - turn if params["reverse"] else turn
        each = [_at(uses, seen, place) for seen in along]
        out = _follow(uses, params["jaxpr"], [*constants, *carry, *each])
        carry = [_joined(new, old) for new, old in zip(out, carry, strict=False)]
        stacked = out[len(carry) :]
    rows = [_opaque(uses, var.aval, seen.random) for var, seen in zip(step.outvars[len(carry) :], stacked, strict=True)]
    if rows and not stacked:  # no round at all
        return [_opaque(uses, var.aval, False) for var in step.outvars]
    # All rounds of at most two were followed.
    return [*(carry if length <= 2 else _left(uses, step, begun, carry)), *rows]


def _while(uses: _Uses, step: Any, operands: Sequence[_Seen]) -> list[_Seen]:
    params = step.params
    asked, used = params["cond_nconsts"], params["body_nconsts"]
    constants, carry = operands[asked : asked + used], list(operands[asked + used :])
    random, outer, begun = False, uses.loop, carry
    uses.loop = outer or next(uses.fresh) + 1
    for _ in range(2):
        (going,) = _follow(uses, params["cond_jaxpr"], [*operands[:asked], *carry])
        random |= going.random
        out = _follow(uses, params["body_jaxpr"], [*constants, *carry])
        carry = [_joined(new, old) for new, old in zip(out, carry, strict=True)]
    uses.loop = outer
    # How many rounds there are shows in every result.
    return [replace(seen, random=seen.random or random) for seen in _left(uses, step, begun, carry)]


def _cond(uses: _Uses, step: Any, operands: Sequence[_Seen]) -> list[_Seen]:
    choice, *given = operands
    before, after = dict(uses.used), dict(uses.used)
    branches = []
    for branch in step.params["branches"]:
        uses.used = dict(before)  # one branch is taken: what both draw from a key is drawn once
        branches.append(_follow(uses, branch, given))
        after |= uses.used
    uses.used = after
    found = []
    for several in zip(*branches, strict=True):
        same = all(seen.keys is None or np.array_equal(seen.keys, several[0].keys) for seen in several)
        if several[0].keys is None:
            found.append(_Seen(choice.random or any(seen.random for seen in several), next(uses.fresh)))
        else:
            keys = several[0].keys if same else uses.block(several[0].keys.shape)
            found.append(_Seen(all(seen.random for seen in several), next(uses.fresh), keys))
    return found


def _at(uses: _Uses, seen: _Seen, place: int) -> _Seen:
    """One row of what a loop runs along."""
    keys, whole = (None if part is None else part[place] for part in (seen.keys, seen.whole))
    return _Seen(seen.random, uses.name("row", seen.name, place), keys, whole)


def _joined(new: _Seen, old: _Seen) -> _Seen:
    """Values that a loop carries into its next round: numbers that depend on the argument in one round may in each."""
    return new if new.keys is not None else replace(new, random=new.random or old.random)


def _left(uses: _Uses, step: Any, begun: Sequence[_Seen], carry: Sequence[_Seen]) -> list[_Seen]:
    """Values that a loop leaves: what no round changes, and what is not that of its second round if there are more."""
    return [
        now if now.name == before.name else _opaque(uses, var.aval, now.random)
        for var, before, now in zip(step.outvars, begun, carry, strict=False)
    ]


_LOOPS = {"scan": _scan, "while": _while, "cond": _cond}
