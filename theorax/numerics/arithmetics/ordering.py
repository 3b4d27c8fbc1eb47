"""Primitives that ask for the order of numbers: they answer where the carriers decide it, and raise where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive

if TYPE_CHECKING:
    from theorax.numerics.arithmetics.flat_program import Operation
    from theorax.numerics.arithmetics.interpreter import Interpreter


def sort(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    """All operands in the order of the first along one dimension; equal keys keep their places.

    **Raises:** ``UndecidedComparison`` where two keys may stand in either order.
    """
    if step.params["num_keys"] != 1:
        raise UnsupportedPrimitive("sort", run.domain.name, "more than one array of keys is compared")
    shape, dimension = step.operand_types[0].shape, step.params["dimension"]
    places = np.moveaxis(np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape), dimension, -1)
    rows = places.reshape(-1, shape[dimension])
    if isinstance(operands[0], np.ndarray) and operands[0].dtype != object:
        order = np.argsort(operands[0].reshape(-1)[rows], axis=-1, kind="stable")
    else:
        below = _below(run, run.domain.take(operands[0], rows))
        level = ~below & ~below.transpose(0, 2, 1)
        # The rank of an entry: how many lie below it, and how many equal ones stand before it.
        ranks = below.sum(axis=1) + np.triu(level, 1).sum(axis=1)
        order = np.argsort(ranks, axis=-1, kind="stable")
    sorted_places = np.moveaxis(np.take_along_axis(rows, order, axis=-1).reshape(places.shape), -1, dimension)
    return [
        operand.reshape(-1)[sorted_places]
        if isinstance(operand, np.ndarray) and operand.dtype != object
        else run.domain.take(operand, sorted_places)
        for operand in operands
    ]


def extreme(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    """The index of the largest entry, or of the smallest, along an axis; the first of several equal ones."""
    below = _below(run, run.rows(operands[0], step.params["axes"]))
    flat = below.reshape(-1, *below.shape[-2:])
    beaten = flat.any(axis=2) if step.name == "argmax" else flat.any(axis=1)
    found = np.argmin(beaten, axis=1)
    return [found.reshape(step.result_types[0].shape).astype(step.params["index_dtype"])]


def nearest_integer(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    """The nearest integer; midway between two, what the program returns depends on its rule and is not followed."""
    half = run.domain.lift(np.full(step.operand_types[0].shape, 0.5))
    up = run.domain.unary("floor", run.domain.binary("add", operands[0], half))
    down = run.domain.unary("ceil", run.domain.binary("sub", operands[0], half))
    if not np.all(run.domain.compare("eq", up, down)):
        raise UndecidedComparison("round")
    return [up]


def remainder(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    """x less the multiple of y next to it on the side of zero."""
    x, y = operands
    quotient = run.domain.binary("div", x, y)
    whole = run.domain.unary("floor", run.domain.unary("abs", quotient))
    signed = run.domain.binary("mul", whole, run.domain.unary("sign", quotient))
    return [run.domain.binary("sub", x, run.domain.binary("mul", y, signed))]


def _below(run: Interpreter, rows: Any) -> np.ndarray:
    """For every row which entry i lies below which entry j."""
    shape = run.domain.shape(rows)
    count = shape[-1]
    places = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(-1, count)
    i, j = np.nonzero(~np.eye(count, dtype=bool))
    below = np.zeros((len(places), count, count), bool)
    if len(i) and len(places):
        below[:, i, j] = run.domain.compare(
            "lt", run.domain.take(rows, places[:, i]), run.domain.take(rows, places[:, j])
        )
    return below
