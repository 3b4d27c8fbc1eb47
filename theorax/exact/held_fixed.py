"""Inputs that a check held fixed: what is no array of floats, by name and value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy

__all__ = ["held_fixed", "held_fixed_text", "leaf_array"]

_MOST_ENTRIES, _MOST_NAMES = 8, 6


def held_fixed(inputs: Any, varied: Callable[[Any], bool], names: Sequence[str] = ()) -> tuple[str, ...]:
    """Every leaf of the inputs that is not varied, as ``name = value``; ``names`` are those of a tuple of arguments."""
    leaves = jax.tree_util.tree_leaves_with_path(inputs, is_leaf=lambda leaf: isinstance(leaf, sympy.Basic))
    return tuple(
        f"{name_of(path, names)} = {leaf_text(leaf)}"
        for path, leaf in leaves
        if not varied(leaf) and not callable(leaf) and (not hasattr(leaf, "size") or leaf.size)
    )


def name_of(path: Sequence[Any], names: Sequence[str] = ()) -> str:
    """The name of a leaf: its place in the tree, with the name of the argument in front."""
    parts: list[str] = [str(getattr(key, "name", getattr(key, "key", getattr(key, "idx", key)))) for key in path]
    place = getattr(path[0], "idx", None) if path else None
    if isinstance(place, int) and place < len(names):
        parts[0] = names[place]
    elif parts and parts[0].isdigit():
        parts[0] = f"input {int(parts[0]) + 1}"
    return ".".join(parts) or "the input"


def leaf_array(leaf: Any) -> Any:
    """The value of a leaf as an array of NumPy, keys of random numbers as their data."""
    if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.extended):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf)


def leaf_text(leaf: Any) -> str:
    """The value of a leaf in a few characters."""
    if not isinstance(leaf, np.ndarray | jax.Array | np.generic):
        return str(leaf)
    array = leaf_array(leaf)
    entries = ", ".join(
        f"{entry:.6g}" if array.dtype.kind == "f" else str(entry) for entry in array.flat[:_MOST_ENTRIES]
    )
    if array.ndim == 0:
        return entries
    more = ", ..." if array.size > _MOST_ENTRIES else ""
    shape = f" of shape {list(array.shape)}" if array.ndim > 1 else ""
    return f"[{entries}{more}]{shape}"


def held_fixed_text(held: Sequence[str]) -> str:
    """Inputs held fixed, as the end of a scope."""
    more = f" and {len(held) - _MOST_NAMES} more" if len(held) > _MOST_NAMES else ""
    return f"held fixed: {', '.join(held[:_MOST_NAMES])}{more}"
