"""The floats that a program returns on the instances that were built: JAX's own results, in the types of the program."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Expr

from theorax.numerics import platform
from theorax.numerics.arithmetics import RunningError
from theorax.numerics.arithmetics.batched_running_error import BatchedRunningError
from theorax.numerics.arithmetics.flat_program import recalled
from theorax.numerics.arithmetics.replayed_draws import program_name
from theorax.numerics.comparisons_met import Branch, Taken, with_outcomes
from theorax.numerics.compiling import compiled
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import Cell

__all__ = ["FloatTest", "Gaps", "branches_taken", "gaps", "returned_floats"]

DOUBLES = RunningError("float64")


@final
@dataclass(frozen=True)
class FloatTest:
    """Two sides that the floats returned must keep: equal up to the margin, or ``bound``: left at most right plus it.

    ``relative``: the margin is one of the largest entry of either side. Without a margin, as of most bounds, the floats
    may be off by their rounding account, if that leaves them a digit.
    """

    left: Expr
    right: Expr
    margin: float = 0.0
    relative: bool = False
    bound: bool = False


@final
@dataclass(frozen=True)
class Gaps:
    """Both sides on some instances of one size, the first axis theirs, each entry's gap and what it may be.

    ``scale``: the largest finite entry of either side of an instance.
    """

    left: np.ndarray
    right: np.ndarray
    gap: np.ndarray
    allowed: np.ndarray
    scale: np.ndarray

    @property
    def worst(self) -> np.ndarray:
        """For every instance the largest excess of a gap over what it may be; minus infinity without an entry."""
        excess = self.gap - self.allowed
        return np.max(excess.reshape(len(excess), -1), axis=1, initial=-math.inf)


def gaps(test: FloatTest, cell: Cell, observed: Observed, size: int) -> Gaps:
    """The sides of a test on all instances of this size, as the program returned their letters.

    Equal infinities do not differ; a NaN is infinitely far from everything.
    """
    place = ("gaps", test, tuple(cell.chosen.items()), size, observed.line.draws)
    return observed.about_line.once(place, lambda: _gaps(test, cell, observed, size))


def _gaps(test: FloatTest, cell: Cell, observed: Observed, size: int) -> Gaps:
    count = observed.count(size)
    left, right = np.broadcast_arrays(*_sides(test, cell, observed, size))
    with np.errstate(all="ignore"):
        gap = np.where(left == right, 0.0, left - right)
        if not test.bound:
            gap = np.abs(gap)
        gap = np.where(np.isnan(gap), math.inf, gap)
        finite = [np.where(np.isfinite(side), np.abs(side), 0.0).reshape(count, -1) for side in (left, right)]
    scale = np.max(np.concatenate(finite, axis=1), axis=1, initial=0.0)
    shape = (count, *[1] * (gap.ndim - 1))
    allowed = np.broadcast_to((test.margin * (scale if test.relative else np.ones(count))).reshape(shape), gap.shape)
    return Gaps(left, right, gap, allowed, scale)


def _sides(test: FloatTest, cell: Cell, observed: Observed, size: int) -> list[np.ndarray]:
    """Both sides on every instance: at once where the letters have one shape, else one by one."""
    rows = [returned_floats(observed, size, draw) for draw in range(observed.count(size))]
    names = {str(letter) for side in (test.left, test.right) for letter in side.free_symbols} & rows[0].keys()
    if all(len({row[name].shape for row in rows}) == 1 for name in names):
        domain = BatchedRunningError(DOUBLES, len(rows))
        with domain.working():
            seen = {name: domain.lift_each([row[name] for row in rows]) for name in names}
            found = [instances.on(side, cell, size, seen, domain) for side in (test.left, test.right)]
            return [part.value for part in domain.aligned(*found)]
    with DOUBLES.working():
        pairs = []
        for row in rows:
            one = {name: DOUBLES.lift(row[name]) for name in names}
            pairs.append(
                np.broadcast_arrays(
                    *(instances.on(side, cell, size, one, DOUBLES).value for side in (test.left, test.right))
                )
            )
    most = max(left.size for left, _ in pairs)
    return [np.stack([_filled(pair[at], most) for pair in pairs]) for at in (0, 1)]


def _filled(entries: np.ndarray, count: int) -> np.ndarray:
    """The entries in a row, the first of them repeated where others have more."""
    flat = entries.reshape(-1)
    return np.concatenate([flat, np.full(count - len(flat), flat[0] if len(flat) else 0.0)])


def returned_floats(observed: Observed, size: int, draw: int) -> Mapping[str, np.ndarray]:
    """The letters that `observe` returns on one instance, compiled by JAX in the precision of the experiment.

    **Errors:** those of the program itself: these are the numbers that a user of the program gets.
    """
    return _run(observed, size, draw)[0]


def branches_taken(observed: Observed, sizes: Sequence[int]) -> Mapping[Branch, Taken]:
    """The comparisons of `observe` with the outcomes that they had on all instances of these sizes."""
    found: dict[Branch, Taken] = {}
    for size in sizes:
        for draw in range(observed.count(size)):
            for branch, taken in _run(observed, size, draw)[1].items():
                before = found.get(branch, Taken())
                found[branch] = Taken(before.true or taken.true, before.false or taken.false)
    return found


def _run(observed: Observed, size: int, draw: int) -> tuple[Mapping[str, np.ndarray], Mapping[Branch, Taken]]:
    def now() -> tuple[Mapping[str, np.ndarray], Mapping[Branch, Taken]]:
        model, read = observed.instance(size, draw)
        place = ("floats", program_name((model, read)))
        with platform.precision(observed.dtype):
            program = recalled(observed.programs, place, lambda: _compiled(observed, model, read))
            seen, taken = program(model, read)
        return {name: np.asarray(value) for name, value in seen.items()}, taken

    return observed.about_line.once(("floats", size, draw), now)


Compiled = Callable[[Any, Any], tuple[Mapping[str, Any], Mapping[Branch, Taken]]]


def _compiled(observed: Observed, model: Any, read: Mapping[str, Any]) -> Compiled:
    """The program of `observe`, compiled where it can be traced; otherwise `observe` itself, step by step."""

    def plain(model: Any, read: Mapping[str, Any]) -> Mapping[str, Any]:
        return dict(observed.observe(model, **read))

    names: list[str] = []

    def arrays(dynamic: Any) -> list[Any]:
        seen = plain(*eqx.combine(dynamic, static))
        names[:] = seen
        return list(seen.values())

    dynamic, static = eqx.partition((model, dict(read)), _is_array)
    met: list[Branch] = []
    try:
        closed, shapes = jax.make_jaxpr(arrays, return_shape=True)(dynamic)
        structure = jax.tree.structure(shapes)

        def watched(dynamic: Any) -> tuple[Any, list[Any]]:
            outcomes: list[tuple[Branch, Any]] = []
            results = with_outcomes(closed, jax.tree.leaves(dynamic), outcomes)
            met[:] = [branch for branch, _ in outcomes]
            return jax.tree.unflatten(structure, results), [jnp.stack([jnp.any(x), jnp.any(~x)]) for _, x in outcomes]

        executable = compiled(jax.jit(watched).trace(dynamic).lower(), "cpu", few=True)
    except Exception:  # a step that asks for numbers; whatever else it is, the plain program raises it again
        return lambda model, read: (plain(model, read), {})
    order, branches = tuple(names), tuple(met)

    def run(model: Any, read: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[Branch, Taken]]:
        given, _ = eqx.partition((model, dict(read)), _is_array)
        results, outcomes = executable(given)
        taken: dict[Branch, Taken] = {}
        for branch, (true, false) in zip(branches, map(np.asarray, outcomes), strict=True):
            before = taken.get(branch, Taken())
            taken[branch] = Taken(before.true or bool(true), before.false or bool(false))
        return dict(zip(order, results, strict=True)), taken

    return run


def _is_array(leaf: object) -> bool:
    return isinstance(leaf, np.ndarray | np.generic | jax.Array)
