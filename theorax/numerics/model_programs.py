"""Programs that build models: traced once, and compiled when the numbers of a model are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from types import FunctionType, MethodType, ModuleType
from typing import Any, final

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer

from theorax.numerics.compiling import compiled
from theorax.numerics.nested_steps import jaxpr_as_fun
from theorax.numerics.placements import steps_of_host

__all__ = ["ModelProgram", "holds_tracer"]

_PLAIN = (str, bytes, bool, int, float, complex, np.ndarray, np.generic, jax.Array, np.dtype, ModuleType)


@final
class ModelProgram:
    """``build(key, numbers)``, a pure function of arrays that returns a model, on the CPU.

    What of the model is no array, ``rest``, is the same for every key and all numbers: that of the trace.
    """

    def __init__(self, build: Callable[[Any, Any], Any], key: Any, numbers: Any) -> None:
        parts: list[Any] = []

        def arrays(key: Any, numbers: Any) -> list[Any]:
            dynamic, rest = eqx.partition(build(key, numbers), eqx.is_array)
            leaves, structure = jax.tree.flatten(dynamic)
            parts[:] = rest, structure
            return leaves

        self._traced = jax.jit(arrays).trace(key, numbers)
        self.rest, self._structure = parts
        self.host_steps = steps_of_host(self._traced.jaxpr)

    @cached_property
    def _executable(self) -> Callable[..., list[Any]]:
        found: Callable[..., list[Any]] = compiled(self._traced.lower(), "cpu", few=True)
        return found

    def __call__(self, key: Any, numbers: Any) -> Any:
        """The model; inside another program its steps are entered into that one, and no Python of ``build`` runs again."""
        given = jax.tree.leaves((key, numbers))
        if any(isinstance(leaf, Tracer) for leaf in given):
            leaves = jaxpr_as_fun(self._traced.jaxpr)(*given)
        else:
            leaves = self._executable(key, numbers)
        return eqx.combine(jax.tree.unflatten(self._structure, leaves), self.rest)


def holds_tracer(value: Any) -> bool:
    """True if a value, or a function that it holds, closes over a number that is known inside a program alone."""
    met: set[int] = set()

    def found(part: Any) -> bool:
        if isinstance(part, Tracer):
            return True
        if id(part) in met or part is None or isinstance(part, _PLAIN):
            return False
        met.add(id(part))
        if isinstance(part, FunctionType):
            cells = [cell.cell_contents for cell in part.__closure__ or ()]
            return any(map(found, [*cells, *(part.__defaults__ or ()), *(part.__kwdefaults__ or {}).values()]))
        if isinstance(part, MethodType):
            return found(part.__self__) or found(part.__func__)
        if isinstance(part, partial):
            return any(map(found, [part.func, *part.args, *part.keywords.values()]))
        if isinstance(part, Mapping):
            return any(map(found, part.values()))
        if isinstance(part, list | tuple | set | frozenset):
            return any(map(found, part))
        return (
            any(map(found, vars(part).values())) if hasattr(part, "__dict__") and not isinstance(part, type) else False
        )

    return found(value)
