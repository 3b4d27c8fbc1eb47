"""Layers that nobody here wrote, brought to what theorems ask of them: the tokens after it, and how it mixes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorax.errors import TheoraxError, UsageError


@runtime_checkable
class MeasuredLayer(Protocol):
    """The part of a layer that a theorem measures."""

    def __call__(self, X: Float[Array, "T d"], /) -> Float[Array, "T d"]:
        """The tokens after the layer."""
        ...

    def attention(self, X: Float[Array, "T d"], /) -> Float[Array, "T T"]:
        """The matrix that mixes the tokens at these tokens."""
        ...


class SelfAttention(eqx.Module):
    r"""`equinox.nn.MultiheadAttention` attending to its own input.

    ``attention`` is the matrix of the first head, $\mathrm{softmax}(QK^T/\sqrt{d_{qk}})$: at initialisation the heads
    are independent with one law, so each speaks for all.
    """

    module: eqx.nn.MultiheadAttention

    def __call__(self, X: Float[Array, "T d"]) -> Float[Array, "T d"]:
        """Queries, keys and values from the same tokens."""
        return self.module(X, X, X)

    def attention(self, X: Float[Array, "T d"]) -> Float[Array, "T T"]:
        """The attention probabilities of the first head."""
        heads, size = self.module.num_heads, self.module.qk_size
        queries, keys = (
            jax.vmap(project)(X).reshape(len(X), heads, size)[:, 0]
            for project in (self.module.query_proj, self.module.key_proj)
        )
        return jax.nn.softmax(queries @ keys.T / jnp.sqrt(jnp.asarray(size, X.dtype)), axis=-1)


def adapt(module: Any) -> MeasuredLayer:
    """The module as a layer.

    **Raises:** UsageError if it is neither an ``equinox.nn.MultiheadAttention`` nor has what a `Layer` has.
    """
    if isinstance(module, eqx.nn.MultiheadAttention):
        return SelfAttention(module)
    if isinstance(module, MeasuredLayer):
        return module
    raise UsageError(
        f"The model's factory returned an object of type {type(module).__name__}. A layer maps tokens to tokens and says "
        "how it mixes them. Return an equinox.nn.MultiheadAttention, or a module with __call__(X) -> (T, d) and "
        "attention(X) -> (T, T)."
    )


def made(factory: Callable[..., Any], key: PRNGKeyArray, T: int, d: int) -> MeasuredLayer:
    """The layer that a user's factory makes.

    **Raises:** UsageError if the factory raises, or returns no layer.
    """
    try:
        module = factory(key, T, d)
    except TheoraxError:
        raise
    except Exception as error:
        raise UsageError(
            f"The model's factory raised {type(error).__name__}: {error} (called with a key, T = {T} and d = {d}). "
            "It must make a layer for every context length and width. Mend it and run again."
        ) from error
    return adapt(module)


def applied(method: Callable[..., Array], X: Array, shape: tuple[int, ...], what: str) -> Array:
    """Output of a method of a user's layer, checked for its shape.

    **Raises:** UsageError if the method raises, or returns another shape.
    """
    try:
        result = method(X)
    except TheoraxError:
        raise
    except Exception as error:
        raise UsageError(
            f"The model's {what} raised {type(error).__name__} on tokens of shape {X.shape}: {error}. "
            "A layer takes a (T, d) array. Mend it and run again."
        ) from error
    if not isinstance(result, jax.Array) or result.shape != shape:
        given = result.shape if isinstance(result, jax.Array) else f"a {type(result).__name__}"
        raise UsageError(
            f"The model's {what} returned {given} on tokens of shape {X.shape}. It must return {shape}, or nothing can "
            "be measured on it. Write a layer that keeps the number of tokens and their width."
        )
    return result
