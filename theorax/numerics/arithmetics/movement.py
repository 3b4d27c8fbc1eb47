"""Primitives that only move scalars, on numpy arrays; other carriers are moved by moving their positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from theorax.numerics.arithmetics.failures import UnsupportedPrimitive

Parameters = Mapping[str, Any]
Movement = Callable[[Parameters, Sequence[np.ndarray], Sequence[np.ndarray]], list[np.ndarray]]


def _slices(starts: Sequence[int], sizes: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))


def _clamped(starts: Sequence[np.ndarray], sizes: Sequence[int], shape: Sequence[int]) -> list[int]:
    # The semantics of XLA: a slice that would leave the array is moved back into it.
    return [min(max(int(start), 0), length - size) for start, size, length in zip(starts, sizes, shape, strict=True)]


def _broadcast_in_dim(params: Parameters, moved: Sequence[np.ndarray], _: Sequence[np.ndarray]) -> list[np.ndarray]:
    lengths = [1] * len(params["shape"])
    for axis, dimension in enumerate(params["broadcast_dimensions"]):
        lengths[dimension] = moved[0].shape[axis]
    return [np.broadcast_to(moved[0].reshape(lengths), params["shape"])]


def _reshape(params: Parameters, moved: Sequence[np.ndarray], _: Sequence[np.ndarray]) -> list[np.ndarray]:
    if params.get("dimensions") is not None:
        return [np.transpose(moved[0], params["dimensions"]).reshape(params["new_sizes"])]
    return [moved[0].reshape(params["new_sizes"])]


def _slice(params: Parameters, moved: Sequence[np.ndarray], _: Sequence[np.ndarray]) -> list[np.ndarray]:
    strides = params["strides"] or (1,) * moved[0].ndim
    bounds = zip(params["start_indices"], params["limit_indices"], strides, strict=True)
    return [moved[0][tuple(slice(start, limit, stride) for start, limit, stride in bounds)]]


def _pad(params: Parameters, moved: Sequence[np.ndarray], _: Sequence[np.ndarray]) -> list[np.ndarray]:
    x, filling = moved
    for axis, (low, high, interior) in enumerate(params["padding_config"]):
        length = x.shape[axis] + max(x.shape[axis] - 1, 0) * interior
        shape = list(x.shape)
        shape[axis] = length + max(low, 0) + max(high, 0)
        wide = np.full(shape, filling, dtype=x.dtype)
        places: list[slice] = [slice(None)] * x.ndim
        places[axis] = slice(max(low, 0), max(low, 0) + length, interior + 1)
        wide[tuple(places)] = x
        places[axis] = slice(max(-low, 0), shape[axis] - max(-high, 0))
        x = wide[tuple(places)]
    return [x]


def _dynamic_slice(params: Parameters, moved: Sequence[np.ndarray], starts: Sequence[np.ndarray]) -> list[np.ndarray]:
    sizes = params["slice_sizes"]
    return [moved[0][_slices(_clamped(starts, sizes, moved[0].shape), sizes)]]


def _dynamic_update(params: Parameters, moved: Sequence[np.ndarray], starts: Sequence[np.ndarray]) -> list[np.ndarray]:
    updated = np.array(moved[0])
    updated[_slices(_clamped(starts, moved[1].shape, updated.shape), moved[1].shape)] = moved[1]
    return [updated]


def _select_n(params: Parameters, moved: Sequence[np.ndarray], which: Sequence[np.ndarray]) -> list[np.ndarray]:
    cases = np.stack(np.broadcast_arrays(*moved))
    chosen = np.broadcast_to(which[0].astype(np.int64), cases.shape[1:])
    return [np.take_along_axis(cases, chosen[None], axis=0)[0]]


def _split(params: Parameters, moved: Sequence[np.ndarray], _: Sequence[np.ndarray]) -> list[np.ndarray]:
    return list(np.split(moved[0], np.cumsum(params["sizes"])[:-1], axis=params["axis"]))


def _gather(params: Parameters, moved: Sequence[np.ndarray], indices: Sequence[np.ndarray]) -> list[np.ndarray]:
    clips = "CLIP" in str(params["mode"])
    mode = jax.lax.GatherScatterMode.CLIP if clips else jax.lax.GatherScatterMode.FILL_OR_DROP
    gathered = np.asarray(
        jax.lax.gather(
            jnp.asarray(moved[0]),
            jnp.asarray(indices[0]),
            params["dimension_numbers"],
            params["slice_sizes"],
            mode=mode,
            fill_value=-1,
        )
    )
    if np.any(gathered == -1):
        raise UnsupportedPrimitive("gather", "data movement", "an index lies outside the array")
    return [gathered]


def _scatter(params: Parameters, moved: Sequence[np.ndarray], indices: Sequence[np.ndarray]) -> list[np.ndarray]:
    operand, updates = moved
    landing = landings(params, operand.shape, indices[0], updates.shape)
    if len(np.unique(landing[landing >= 0])) != np.count_nonzero(landing >= 0):
        raise UnsupportedPrimitive("scatter", "data movement", "two updates fall on one entry")
    scattered = np.array(operand).reshape(-1)
    scattered[landing[landing >= 0]] = updates[landing >= 0]
    return [scattered.reshape(operand.shape)]


def landings(params: Parameters, shape: tuple[int, ...], indices: np.ndarray, updates: tuple[int, ...]) -> np.ndarray:
    """For every entry of the updates of a scatter the position it falls on, or -1 where it is dropped.

    The transpose of a scatter-add is the gather from the positions it adds to, so its cotangent at 1, 2, 3, ... reads
    them off; these floats are exact below 2**53.
    """

    def added(entries: jax.Array) -> jax.Array:
        zeros = jnp.zeros(shape, jnp.float64)
        numbers = params["dimension_numbers"]
        return jax.lax.scatter_add(zeros, jnp.asarray(indices), entries, numbers, mode=params["mode"])

    _, transpose = jax.vjp(added, jnp.zeros(updates, jnp.float64))
    places = np.arange(1, int(np.prod(shape)) + 1, dtype=np.float64).reshape(shape)
    return np.asarray(transpose(jnp.asarray(places))[0]).astype(np.int64) - 1


MOVEMENTS: Mapping[str, Movement] = {
    # parameters, the arrays moved, the integers that say where to
    "reshape": _reshape,
    "broadcast_in_dim": _broadcast_in_dim,
    "transpose": lambda params, moved, _: [np.transpose(moved[0], params["permutation"])],
    "squeeze": lambda params, moved, _: [np.squeeze(moved[0], axis=tuple(params["dimensions"]))],
    "expand_dims": lambda params, moved, _: [np.expand_dims(moved[0], tuple(params["dimensions"]))],
    "rev": lambda params, moved, _: [np.flip(moved[0], axis=tuple(params["dimensions"]))],
    "slice": _slice,
    "concatenate": lambda params, moved, _: [np.concatenate(moved, axis=params["dimension"])],
    "split": _split,
    "stack": lambda params, moved, _: [np.stack(moved, axis=params["axis"])],
    "unstack": lambda params, moved, _: list(np.moveaxis(moved[0], params["axis"], 0)),
    "tile": lambda params, moved, _: [np.tile(moved[0], params["reps"])],
    "pad": _pad,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update,
    "select_n": _select_n,
    "gather": _gather,
    "scatter": _scatter,
}

MOVED: Mapping[str, slice] = {
    # which operands are moved, all of them unless said here; the others say where to
    "dynamic_slice": slice(0, 1),
    "dynamic_update_slice": slice(0, 2),
    "select_n": slice(1, None),
    "gather": slice(0, 1),
    "scatter": slice(0, 3, 2),
}
