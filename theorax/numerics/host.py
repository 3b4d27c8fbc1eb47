"""Computations of the host inside a draw: a solver that JAX does not have, called where an experiment builds.

A model that is built as an instance, outside compiled programs, calls the function at once; inside a compiled program the
call becomes one of XLA back to the host. Arithmetics other than floats cannot follow it: it belongs into ``build``, whose
results are the exact numbers that ``observe`` starts from in every arithmetic, and so it stays outside what is trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

__all__ = ["on_host"]


def on_host(
    function: Callable[..., Sequence[np.ndarray]], shapes: Sequence[tuple[int, ...]], *arguments: Any
) -> tuple[Array, ...]:
    """The arrays of these shapes that a NumPy ``function`` of the arguments returns, traced or not.

    The function is pure: it may be called once, several times, or not at all if nothing needs its result. It must not
    call JAX itself, which may wait for the very program that waits for it.

    **Errors:** those of the function; its results are rounded to the session's floats.
    """
    given = [jnp.asarray(argument) for argument in arguments]
    dtype = jnp.result_type(float)

    def call(*values: Any) -> tuple[np.ndarray, ...]:
        found = function(*(np.asarray(value) for value in values))
        return tuple(
            np.broadcast_to(np.asarray(f, dtype), shape).copy() for f, shape in zip(found, shapes, strict=True)
        )

    if not any(isinstance(argument, Tracer) for argument in given):
        return tuple(jnp.asarray(found) for found in call(*given))
    promised = tuple(jax.ShapeDtypeStruct(shape, dtype) for shape in shapes)
    return tuple(jax.pure_callback(call, promised, *given, vmap_method="sequential"))
