"""Programs that build models: traced once, and compiled when the numbers of a model are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, final

import equinox as eqx
import jax
from jax.core import Tracer

from theorax.numerics.compiling import compiled
from theorax.numerics.nested_steps import jaxpr_as_fun

__all__ = ["ModelProgram"]


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
