"""Two programs and their arguments: run side by side in any arithmetic, at generic or at exact points."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import sympy
from flint import arb

from theorax.errors import UsageError
from theorax.exact.identity_ladder import PRECISION, Carry, rational_near
from theorax.numerics.arithmetics import Ball, Domain, evaluate, fingerprint
from theorax.numerics.arithmetics.flat_program import doubles
from theorax.verifiers.cases import instances

__all__ = ["FINE", "Program", "constant", "has_samples", "leaves", "name_of", "points", "print_of", "refuse", "sides"]

Program = Callable[..., Any]

FINE = 4 * PRECISION
"""Bits of balls where the usual ones are too wide, and of the points given to either."""

_POINTS = 3
_MOST_ENTRIES = 200_000  # exact arithmetic on more takes minutes


def constant(like: Program, number: float, *arguments: Any) -> Any:
    """The number in every entry of what the program would return."""
    return jax.tree_util.tree_map(lambda leaf: jnp.full(leaf.shape, number), eqx.filter_eval_shape(like, *arguments))


def sides(
    left: Program, right: Program, arguments: tuple[Any, ...], domain: Domain[Any], carry: Carry
) -> list[tuple[Any, Any]]:
    """Both sides as carriers of the domain, output by output; ``carry`` turns every varied leaf into carriers."""
    carried = jax.tree_util.tree_map(partial(_carried, domain, carry), arguments, is_leaf=_is_exact)
    found = evaluate(lambda *given: (left(*given), right(*given)), carried, domain)

    def outputs(side: Any) -> list[Any]:
        entries = jax.tree_util.tree_leaves(side)
        return [entry if domain.owns(entry) else domain.lift(np.asarray(entry)) for entry in entries]

    return list(zip(outputs(found[0]), outputs(found[1]), strict=True))


def _carried(domain: Domain[Any], carry: Carry, leaf: Any) -> Any:
    if _is_exact(leaf):
        return instances.number(sympy.sympify(leaf), domain)
    return carry(leaf) if _is_varied(leaf) else leaf


def _is_exact(leaf: Any) -> bool:
    return isinstance(leaf, Fraction | sympy.Expr)


def _is_varied(leaf: Any) -> bool:
    array = isinstance(leaf, np.ndarray | np.generic | jax.Array | jax.ShapeDtypeStruct)
    return array and bool(jnp.issubdtype(leaf.dtype, jnp.floating))


def leaves(arguments: tuple[Any, ...]) -> list[Any]:
    """The arrays of floats among the arguments, for all values of which an identity is decided."""
    return [leaf for leaf in jax.tree_util.tree_leaves(arguments, is_leaf=_is_exact) if _is_varied(leaf)]


def has_samples(arguments: tuple[Any, ...]) -> bool:
    """Whether every varied array comes with values, not with its shape alone."""
    return not any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in leaves(arguments))


def points(digest: str, samples: bool) -> list[Carry]:
    """The inputs as given, if they are, and others around them, all exact."""

    def exactly(leaf: Any) -> Any:
        return Ball(PRECISION).lift(np.asarray(leaf))

    def moved(draws: random.Random, leaf: Any) -> Any:
        sample = np.asarray(leaf, np.float64) if samples else np.zeros(leaf.shape)
        entries = np.empty(sample.shape, dtype=object)
        with Ball(FINE).working():  # a seventh is as exact as the finest balls need
            for place in np.ndindex(sample.shape):
                start = float(sample[place]) if samples else draws.choice((-1.0, 1.0)) * draws.uniform(0.1, 2)
                entries[place] = arb(rational_near(start, draws))
        return entries

    # One run of the program meets every leaf once, in one order: points are made anew for every run.
    around = [partial(moved, random.Random(f"{digest} {number}")) for number in range(_POINTS)]
    return [exactly, *around[1:]] if samples else [*around]


def print_of(program: Program, arguments: tuple[Any, ...]) -> str:
    """The fingerprint of the program at the shapes of these arguments."""

    def stand_in(leaf: Any) -> Any:
        if _is_exact(leaf):
            return np.zeros(())
        return np.zeros(leaf.shape) if _is_varied(leaf) else leaf

    return fingerprint(program, jax.tree_util.tree_map(stand_in, arguments, is_leaf=_is_exact))


def refuse(left: Program, right: Program, arguments: tuple[Any, ...], margin: float | None, name: str) -> None:
    """Let pass what can be compared.

    **Raises:** `UsageError` for sides of different shapes, for nothing to vary or to compare, for a margin that is none.
    """
    if margin is not None and not 0 < margin < math.inf:
        raise UsageError(
            f"identity({name!r}, margin={margin!r}) can reject nothing. A margin is the smallest relative difference that "
            "would matter. Write a positive number, or leave it out."
        )
    entries = sum(int(np.prod(leaf.shape, dtype=np.int64)) for leaf in leaves(arguments))
    if not 0 < entries <= _MOST_ENTRIES:
        raise UsageError(
            f"identity({name!r}, at=...) has {entries} varied numbers among its inputs. An identity is decided for all "
            f"values of float arrays, exactly, of 1 to {_MOST_ENTRIES} numbers. Give float arrays of the shapes that "
            "matter, small ones where the program allows it."
        )

    def shape(leaf: Any) -> Any:
        if _is_exact(leaf):
            return jax.ShapeDtypeStruct((), jnp.float64)
        return jax.ShapeDtypeStruct(leaf.shape, jnp.float64) if _is_varied(leaf) else leaf

    shaped = jax.tree_util.tree_map(shape, arguments, is_leaf=_is_exact)
    with doubles():
        shapes = [
            [leaf.shape for leaf in jax.tree_util.tree_leaves(eqx.filter_eval_shape(program, *shaped))]
            for program in (left, right)
        ]
    if shapes[0] != shapes[1] or not any(math.prod(each) for each in shapes[0]):
        raise UsageError(
            f"identity({name!r}): the left side returns {_listed(shapes[0])}, the right side {_listed(shapes[1])}. "
            "Sides are compared entry by entry, and at least one entry. Return arrays of one shape from both."
        )


def _listed(shapes: Sequence[tuple[int, ...]]) -> str:
    return " and ".join(f"shape {list(shape)}" for shape in shapes) or "nothing"


def name_of(program: Program, side: str) -> str:
    """What a reader calls the program; the side, where it has no name of its own."""
    name = str(getattr(program, "__name__", type(program).__name__))
    return side if name == "<lambda>" else name
