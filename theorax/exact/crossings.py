"""Points on both sides of every comparison of a program, found along rays through points of the panel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from theorax.numerics.arithmetics.flat_program import doubles
from theorax.numerics.comparisons_met import with_differences

__all__ = ["crossings"]

_POWERS = np.arange(-40, 41) / 2
_RAY = np.concatenate([-(2.0 ** _POWERS[::-1]), 2.0**_POWERS])
"""Factors of a point at which comparisons are looked at first: from 2^-20 to 2^20, of both signs."""
_HALVINGS = 60
_BESIDE = 2.0**-12
"""A point lies beside a crossing by this share: far enough that no rounding puts it on the other side."""
_MOST = 16  # crossings of a ray that get points
_MOST_ENTRIES = 4096


def crossings(program: Callable[..., Any], leaves: Sequence[np.ndarray]) -> tuple[float, ...]:
    """Factors of these arrays of floats just below and just above each crossing of a comparison of the program.

    A comparison that keeps its outcome on the whole ray is followed to where its sides are nearest: a narrow band of the
    other outcome may lie there. Empty where the program compares nothing, or cannot be traced.

    **Errors:** a band that is narrower than what a search along one ray resolves is not found.
    """
    if sum(map(np.size, leaves)) > _MOST_ENTRIES:
        return ()
    with doubles():
        try:
            closed = jax.make_jaxpr(program)(*leaves)
            on_ray = jax.jit(lambda factor: with_differences(closed, [factor * leaf for leaf in leaves]))
            first = np.asarray(on_ray(1.0))
        except Exception:  # a program that needs its numbers: there is nothing to follow
            return ()
        if not first.size:
            return ()
        rows = np.stack([np.asarray(on_ray(factor)) for factor in _RAY])
        found = list(dict.fromkeys(_crossed(on_ray, rows)))[:_MOST]
    return tuple(factor * (1 + side * _BESIDE) for factor in found for side in (-1, 1))


def _crossed(on_ray: Callable[[float], Any], rows: np.ndarray) -> Iterator[float]:
    """Factors at which the difference of two compared numbers changes its sign."""
    for entry in range(rows.shape[1]):
        column = rows[:, entry]
        if not np.isfinite(column).all():
            continue

        def at(factor: float, entry: int = entry) -> float:
            return float(np.asarray(on_ray(factor))[entry])

        changes = np.flatnonzero(np.sign(column[:-1]) * np.sign(column[1:]) < 0)
        if changes.size:
            place = int(changes[np.argmin(np.abs(np.log2(np.abs(_RAY[changes]))))])
            yield _bisected(at, float(_RAY[place]), float(_RAY[place + 1]))
        elif (nearest := _nearest(at, column)) is not None:
            yield nearest


def _bisected(at: Callable[[float], float], low: float, high: float) -> float:
    below = np.sign(at(low))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if np.sign(at(middle)) == below:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _nearest(at: Callable[[float], float], column: np.ndarray) -> float | None:
    """A crossing next to where the two sides come nearest, by a ternary search; None where they do not cross."""
    place = int(np.argmin(np.abs(column)))
    low, high = (float(_RAY[min(max(at_, 0), len(_RAY) - 1)]) for at_ in (place - 1, place + 1))
    sign = np.sign(column[place])
    for _ in range(_HALVINGS):
        one, other = low + (high - low) / 3, high - (high - low) / 3
        values = at(one), at(other)
        for factor, value in zip((one, other), values, strict=True):
            if np.sign(value) not in (0, sign):
                return _bisected(at, float(_RAY[place]), factor)
        low, high = (low, other) if abs(values[0]) < abs(values[1]) else (one, high)
    return None
