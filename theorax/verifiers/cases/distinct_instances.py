"""Instances that were built, and how many of them differ: copies of one model are one instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import jax
import numpy as np

from theorax.exact.held_fixed import leaf_array
from theorax.names import many
from theorax.verifiers.cases.evaluation import Observed

__all__ = ["Built", "built_at", "bytes_of", "mark_of"]

_NUMBERS = np.ndarray | np.generic | jax.Array | int | float | complex


@final
@dataclass(frozen=True)
class Built:
    """Instances of one size: how many were built, and how many of them differ."""

    built: int
    distinct: int

    @property
    def counted(self) -> int:
        """Independent draws of a law among them: one where all are equal, as of a build that ignores its key.

        Draws of a law of few values may be equal, and weigh as much as others; then some of them differ.
        """
        return 1 if self.distinct == 1 else self.built

    @property
    def words(self) -> str:
        """Their number, and that of the distinct ones where some are equal."""
        return many(self.built, "instance") + (
            f", {self.distinct} of them distinct" if self.distinct < self.built else ""
        )

    @property
    def copies(self) -> str:
        """The sentence that they are one model; empty where they are not."""
        if self.counted == self.built:
            return ""
        return (
            f"all {many(self.built, 'instance')} are equal and count as one: the build ignores its key, or its law "
            'holds one model, which seeds="none" would say'
        )


def built_at(observed: Observed, size: int) -> Built:
    """The instances of this size, compared by every number of their models and of the letters that observe reads."""

    def built() -> Built:
        marks = [mark_of(observed.instance(size, draw)) for draw in range(observed.count(size))]
        return Built(len(marks), len(set(marks)))

    return observed.evaluations.once(("built", size), built)


def mark_of(instance: Any) -> bytes:
    """Bytes that tell an instance from others: every number of its model and of what observe reads."""
    return b"".join(map(_mark, jax.tree_util.tree_leaves(instance)))


def _mark(leaf: Any) -> bytes:
    """Bytes that tell a leaf from others; of a function the numbers that it holds, not its place in memory."""
    if not callable(leaf):
        return bytes_of(leaf) if isinstance(leaf, _NUMBERS) else repr(leaf).encode()
    cells = [cell.cell_contents for cell in getattr(leaf, "__closure__", None) or ()]
    inside = jax.tree_util.tree_leaves((cells, getattr(leaf, "args", ()), getattr(leaf, "keywords", {})))
    return b"".join(bytes_of(part) for part in inside if isinstance(part, _NUMBERS))


def bytes_of(leaf: Any) -> bytes:
    """The shape, the type and the bytes of an array or a number."""
    array = leaf_array(leaf)
    return repr((array.shape, str(array.dtype))).encode() + array.tobytes()
