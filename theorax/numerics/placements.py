"""Placement of a program: the device that draws it, and how many neighbouring draws it vectorises together.

A choice is made before anything is drawn, from the program and from the memory of the device alone: a power of two, first
as many as have room for the program's widest step, then fewer until the compiler's own account fits. Draws do not depend
on how many of them are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from theorax.errors import UsageError
from theorax.names import many
from theorax.numerics.nested_steps import every_step

__all__ = ["AsManyAsFit", "Placement", "steps_of_host", "widest_step"]

HOST_STEPS = frozenset(
    {
        # Eigenvalues without symmetry and the reductions for them: accelerators hand each matrix to the host, or run them
        # one after the other.
        "eig",
        "hessenberg",
        "schur",
        # Functions of Python.
        "pure_callback",
        "io_callback",
        "debug_callback",
    }
)
"""Primitives that draw after draw wait for the host: a program with one of them is drawn on the CPU, one draw at a time."""


@dataclass(frozen=True)
class AsManyAsFit:
    """Neighbours to vectorise: a power of two of at most ``most`` draws, as many as fit into the memory of the device.

    **Raises:** UsageError if ``most`` is below one.
    """

    most: int

    def __post_init__(self) -> None:
        if self.most < 1:
            raise UsageError(
                f"At most {many(self.most, 'draw')} were to be vectorised together. Write `AsManyAsFit(1)` or more."
            )

    def first(self, memory: int, step: int) -> int:
        """The number to compile first, by the bytes of the widest ``step``: what is fused away may leave room for more."""
        return power_of_two_below(min(self.most, memory // max(step, 1)))

    def next(self, batch: int, memory: int, needed: int) -> int:
        """The number to compile after one whose program ``needed`` more than the ``memory``."""
        return power_of_two_below(min(batch // 2, batch * memory // needed))


@dataclass(frozen=True)
class Placement:
    """Placement of a program: device, draws vectorised together, and the steps that keep it on the CPU if any do."""

    device: str
    batch: int
    host_steps: tuple[str, ...] = ()


def power_of_two_below(number: int) -> int:
    """The largest power of two that is at most the number; one for a number below one."""
    return 1 << (max(number, 1).bit_length() - 1)


def steps_of_host(program: Any) -> tuple[str, ...]:
    """The names of the steps of a jaxpr that wait for the host, in alphabetical order."""
    return tuple(sorted({step.primitive.name for step in every_step(program)} & HOST_STEPS))


def widest_step(program: Any) -> int:
    """Bytes of the operands and results of the widest step."""
    widest = 0
    for step in every_step(program):
        sizes = {id(atom): _bytes(atom.aval) for atom in (*step.invars, *step.outvars)}
        widest = max(widest, sum(sizes.values()))
    return widest


def _bytes(aval: Any) -> int:
    try:
        return int(np.prod(aval.shape)) * np.dtype(aval.dtype).itemsize
    except (AttributeError, TypeError):  # keys and tokens: a few words
        return 0
