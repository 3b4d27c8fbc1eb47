"""The floats that a program returns on the instances that were built: JAX's own results, in the types of the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np

from theorax.numerics import platform
from theorax.numerics.arithmetics.flat_program import recalled
from theorax.numerics.arithmetics.replayed_draws import program_name
from theorax.numerics.compiling import compiled
from theorax.verifiers.cases.evaluation import Observed

__all__ = ["returned_floats"]


def returned_floats(observed: Observed, size: int, draw: int, dtype: str) -> Mapping[str, np.ndarray]:
    """The letters that `observe` returns on one instance, compiled by JAX in an experiment of this dtype.

    **Errors:** those of the program itself: this is the number that a user of the program gets.
    """

    def now() -> Mapping[str, np.ndarray]:
        model, read = observed.instance(size, draw)
        with platform.precision(dtype):
            program = recalled(
                observed.programs, ("floats", dtype, program_name((model, read))), lambda: _compiled(observed, model, read)
            )
            seen = program(model, read)
        return {name: np.asarray(value) for name, value in seen.items()}

    return observed.about_line.once(("floats", size, draw), now)


def _compiled(observed: Observed, model: Any, read: Mapping[str, Any]) -> Callable[[Any, Any], Mapping[str, Any]]:
    """The program of `observe`, compiled where it can be traced; otherwise `observe` itself, step by step."""

    def plain(model: Any, read: Mapping[str, Any]) -> Mapping[str, Any]:
        return dict(observed.observe(model, **read))

    names: list[str] = []

    def arrays(dynamic: Any) -> list[Any]:
        seen = plain(*eqx.combine(dynamic, static))
        names[:] = seen
        return list(seen.values())

    dynamic, static = eqx.partition((model, dict(read)), _is_array)
    try:
        executable = compiled(jax.jit(arrays).trace(dynamic).lower(), "cpu", few=True)
    except Exception:  # a step that asks for numbers; whatever else it is, the plain program raises it again
        return plain
    order = tuple(names)

    def run(model: Any, read: Mapping[str, Any]) -> Mapping[str, Any]:
        given, _ = eqx.partition((model, dict(read)), _is_array)
        return dict(zip(order, executable(given), strict=True))

    return run


def _is_array(leaf: object) -> bool:
    return isinstance(leaf, np.ndarray | np.generic | jax.Array)
