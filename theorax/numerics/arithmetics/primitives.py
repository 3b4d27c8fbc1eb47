"""Meaning of each primitive in terms of a domain's few operations; integers stay with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import numpy as np

from theorax.numerics.arithmetics import linear_algebra, ordering
from theorax.numerics.arithmetics.casts import narrowed_by
from theorax.numerics.arithmetics.domain import running
from theorax.numerics.arithmetics.failures import UnsupportedPrimitive
from theorax.numerics.arithmetics.flat_program import Operation, is_native
from theorax.numerics.arithmetics.movement import landings
from theorax.numerics.nested_steps import constants_and_carries

if TYPE_CHECKING:
    from theorax.numerics.arithmetics.interpreter import Interpreter

Rule: TypeAlias = "Callable[[Interpreter, Operation, list[Any]], list[Any]]"

_MOST_ITERATIONS = 100_000
"""A while loop is unrolled; one that runs longer has no static bound worth the name."""


def _sum(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    return [run.domain.sum(run.rows(operands[0], step.params["axes"]))]


def _reduce(name: str) -> Rule:
    def rule(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
        rows = run.rows(operands[0], step.params["axes"])
        while (count := run.domain.shape(rows)[-1]) > 1:
            places = np.arange(int(np.prod(run.domain.shape(rows)))).reshape(run.domain.shape(rows))
            half = count // 2
            pairs = run.domain.binary(
                name, run.domain.take(rows, places[..., :half]), run.domain.take(rows, places[..., half : 2 * half])
            )
            if count == 2 * half:
                rows = pairs
                continue
            left = np.arange(int(np.prod(places.shape[:-1])) * half).reshape(*places.shape[:-1], half)
            last = left.size + np.arange(int(np.prod(places.shape[:-1]))).reshape(*places.shape[:-1], 1)
            pool = run.domain.join([pairs, run.domain.take(rows, places[..., -1])])
            rows = run.domain.take(pool, np.concatenate([left, last], axis=-1))
        if count == 0:
            raise UnsupportedPrimitive(step.name, run.domain.name, "there is no entry to reduce")
        return [
            run.domain.take(rows, np.arange(int(np.prod(run.domain.shape(rows)))).reshape(step.result_types[0].shape))
        ]

    return rule


def _cumulative(name: str) -> Rule:
    def rule(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
        shape = run.domain.shape(operands[0])
        axis, reverse = step.params["axis"], step.params["reverse"]
        order = np.moveaxis(np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape), axis, -1)
        order = (order[..., ::-1] if reverse else order).reshape(-1, shape[axis])
        rows = run.domain.take(operands[0], order)
        sums = run.domain.scan_sum(rows) if name == "add" else running(run.domain, name, rows)
        back = np.empty(order.size, dtype=np.int64)
        back[order.reshape(-1)] = np.arange(order.size)
        return [run.domain.take(sums, back.reshape(shape))]

    return rule


def _dot_general(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    (inner_x, inner_y), (batch_x, batch_y) = step.params["dimension_numbers"]
    # A product of integers with floats keeps its integers: they are numbers of the domain here.
    x, y = (
        run.domain.lift(entry) if is_native(aval) else entry
        for entry, aval in zip(operands, step.operand_types, strict=True)
    )
    shape_x, shape_y = run.domain.shape(x), run.domain.shape(y)
    free_x = [axis for axis in range(len(shape_x)) if axis not in inner_x and axis not in batch_x]
    free_y = [axis for axis in range(len(shape_y)) if axis not in inner_y and axis not in batch_y]
    batch = int(np.prod([shape_x[axis] for axis in batch_x], dtype=np.int64))
    inner = int(np.prod([shape_x[axis] for axis in inner_x], dtype=np.int64))
    rows = int(np.prod([shape_x[axis] for axis in free_x], dtype=np.int64))
    columns = int(np.prod([shape_y[axis] for axis in free_y], dtype=np.int64))
    places_x = np.arange(batch * rows * inner).reshape(shape_x).transpose(*batch_x, *free_x, *inner_x)
    places_y = np.arange(batch * inner * columns).reshape(shape_y).transpose(*batch_y, *inner_y, *free_y)
    product = run.domain.dot(
        run.domain.take(x, places_x.reshape(batch, rows, inner)),
        run.domain.take(y, places_y.reshape(batch, inner, columns)),
    )
    if (narrower := narrowed_by(step)) is not None:
        product = run.domain.narrowed(product, narrower)
    return [run.domain.take(product, np.arange(batch * rows * columns).reshape(step.result_types[0].shape))]


def _integer_pow(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    return [run.domain.power(operands[0], int(step.params["y"]))]


def _one_minus_square(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    """(1 + x) (1 - x), as JAX computes it from 0.11 on."""
    x, one = operands[0], run.domain.lift(np.ones(run.domain.shape(operands[0])))
    return [run.domain.binary("mul", run.domain.binary("add", one, x), run.domain.binary("sub", one, x))]


def _log2(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    """log x / log 2; JAX multiplies by the rounded 1 / log 2 from 0.11 on, which rounds no more often."""
    x, two = operands[0], run.domain.lift(np.full(run.domain.shape(operands[0]), 2.0))
    return [run.domain.binary("div", run.domain.unary("log", x), run.domain.unary("log", two))]


def _pow(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    base, exponent = operands
    if not is_native(step.operand_types[1]):
        return [run.domain.binary("pow", base, exponent)]
    exponents = np.unique(exponent)
    if len(exponents) == 1 and len(run.domain.shape(base)) >= exponent.ndim:
        return [run.domain.power(base, int(exponents[0]))]
    raise UnsupportedPrimitive("pow", run.domain.name, "its integer exponents differ from entry to entry")


def _convert(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    source, target = step.operand_types[0], step.result_types[0]
    if is_native(source):
        return [run.domain.lift(operands[0])]
    if is_native(target):
        raise UnsupportedPrimitive(step.name, run.domain.name, f"a float becomes {target.dtype}")
    narrower = narrowed_by(step)
    return [operands[0] if narrower is None else run.domain.narrowed(operands[0], narrower)]


def _bitcast(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    if not is_native(step.operand_types[0]):
        raise UnsupportedPrimitive(step.name, run.domain.name, "the bits of a float are asked for")
    return [run.domain.lift(np.asarray(step.primitive.bind(*operands, **step.params)))]


def _iota(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    shape, dimension = step.params["shape"], step.params["dimension"]
    lengths = [1] * len(shape)
    lengths[dimension] = shape[dimension]
    return [run.domain.lift(np.broadcast_to(np.arange(shape[dimension]).reshape(lengths), shape))]


def _clamp(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    low, x, high = operands
    return [run.domain.binary("min", run.domain.binary("max", x, low), high)]


def _scatter_add(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    operand, indices, updates = operands
    shape, counts = run.domain.shape(operand), run.domain.shape(updates)
    landing = landings(step.params, shape, indices, counts).reshape(-1)
    size = int(np.prod(shape, dtype=np.int64))
    falls = [np.flatnonzero(landing == place) for place in range(size)]
    most = max((len(fall) for fall in falls), default=0)
    zero = size + len(landing)
    terms = np.full((size, most + 1), zero, dtype=np.int64)
    for place, fall in enumerate(falls):
        terms[place, 0] = place
        terms[place, 1 : 1 + len(fall)] = size + fall
    pool = run.domain.join([operand, updates, run.domain.lift(np.zeros(1))])
    sums = run.domain.sum(run.domain.take(pool, terms))
    return [run.domain.take(sums, np.arange(size).reshape(shape))]


def _scan(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    params = step.params
    constants, carries = constants_and_carries(params)
    body = run.body(params["jaxpr"])
    fixed, carry, sequences = (
        operands[:constants],
        operands[constants : constants + carries],
        operands[constants + carries :],
    )
    types = step.operand_types[constants + carries :]
    order = range(params["length"])[::-1] if params["reverse"] else range(params["length"])
    rows: dict[int, list[Any]] = {}
    for place in order:
        entries = [_row(run, x, aval, place) for x, aval in zip(sequences, types, strict=True)]
        results = run.run(body, [*fixed, *carry, *entries])
        carry, rows[place] = results[:carries], results[carries:]
    stacked = [
        _stack(run, [rows[place][number] for place in range(params["length"])], aval)
        for number, aval in enumerate(step.result_types[carries:])
    ]
    return [*carry, *stacked]


def _row(run: Interpreter, x: Any, aval: Any, place: int) -> Any:
    if is_native(aval):
        return np.asarray(x[place])
    size = int(np.prod(aval.shape[1:], dtype=np.int64))
    return run.domain.take(x, np.arange(place * size, (place + 1) * size).reshape(aval.shape[1:]))


def _stack(run: Interpreter, rows: list[Any], aval: Any) -> Any:
    if is_native(aval):
        return np.stack([np.asarray(row) for row in rows]) if rows else np.zeros(aval.shape, aval.dtype)
    if not rows:
        return run.domain.lift(np.zeros(aval.shape))
    return run.domain.take(
        run.domain.join(rows), np.arange(int(np.prod(aval.shape, dtype=np.int64))).reshape(aval.shape)
    )


def _while(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    params = step.params
    asks, does = params["cond_nconsts"], params["body_nconsts"]
    condition, body = run.body(params["cond_jaxpr"]), run.body(params["body_jaxpr"])
    carry = operands[asks + does :]
    for _ in range(_MOST_ITERATIONS):
        goes = np.asarray(run.run(condition, [*operands[:asks], *carry])[0])
        if not goes.any():
            return carry
        after = run.run(body, [*operands[asks : asks + does], *carry])
        # A loop under vmap asks once for each member, and leaves those as they are that have ended.
        pairs = zip(after, carry, step.result_types, strict=True)
        carry = after if goes.all() else [_going(run, goes, *part) for part in pairs]
    raise UnsupportedPrimitive("while", run.domain.name, f"it runs for more than {_MOST_ITERATIONS} rounds")


def _going(run: Interpreter, goes: np.ndarray, after: Any, before: Any, aval: Any) -> Any:
    """The value after a round of the members of a batch that go on, before it of the others."""
    which = np.broadcast_to(goes.reshape(goes.shape + (1,) * (len(aval.shape) - goes.ndim)), aval.shape)
    if is_native(aval):
        return np.where(which, after, before)
    places = np.arange(which.size).reshape(aval.shape)
    return run.domain.take(run.domain.join([after, before]), np.where(which, places, places + which.size))


def _cond(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    branches = step.params["branches"]
    chosen = min(max(int(operands[0]), 0), len(branches) - 1)
    return run.run(run.body(branches[chosen]), operands[1:])


def _special(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    numbers = [
        run.domain.lift(operand) if is_native(aval) else operand
        for operand, aval in zip(operands, step.operand_types, strict=True)
    ]
    return [run.domain.special(step.name, numbers)]


def _identity(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    return list(operands)


def _platform(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    """The place of the branch that is run on the default device."""
    named = [names is not None and jax.default_backend() in names for names in step.params["platforms"]]
    return [np.asarray(named.index(True) if any(named) else len(named) - 1, step.result_types[0].dtype)]


CONTROL: Mapping[str, Rule] = {"scan": _scan, "while": _while, "cond": _cond, "platform_index": _platform}

RULES: Mapping[str, Rule] = {
    "add_any": lambda run, step, operands: [run.domain.binary("add", *operands)],
    "square": lambda run, step, operands: [run.domain.power(operands[0], 2)],
    "one_minus_square": _one_minus_square,
    "integer_pow": _integer_pow,
    "pow": _pow,
    "log2": _log2,
    "reduce_sum": _sum,
    "reduce_prod": _reduce("mul"),
    "reduce_max": _reduce("max"),
    "reduce_min": _reduce("min"),
    "cumsum": _cumulative("add"),
    "cumprod": _cumulative("mul"),
    "cummax": _cumulative("max"),
    "cummin": _cumulative("min"),
    "dot_general": _dot_general,
    "convert_element_type": _convert,
    "bitcast_convert_type": _bitcast,
    "iota": _iota,
    "clamp": _clamp,
    "scatter-add": _scatter_add,
    "linear_solve": linear_algebra.solve,
    "det": linear_algebra.determinant,
    "slogdet": linear_algebra.determinant,
    "triangular_solve": linear_algebra.triangular_solve,
    "cholesky": linear_algebra.cholesky,
    "lu": linear_algebra.lu,
    "custom_linear_solve": linear_algebra.custom_solve,
    "sort": ordering.sort,
    "igamma": _special,
    "igammac": _special,
    "regularized_incomplete_beta": _special,
    "zeta": _special,
    "polygamma": _special,
    "bessel_i0e": _special,
    "bessel_i1e": _special,
    "argmax": ordering.extreme,
    "argmin": ordering.extreme,
    "round": ordering.nearest_integer,
    "rem": ordering.remainder,
    "is_finite": lambda run, step, operands: [run.domain.is_finite(operands[0])],
    "stop_gradient": _identity,
    "copy": _identity,
    "copy_p": _identity,
    "name": _identity,
    "device_put": _identity,
    "optimization_barrier": _identity,
    "sharding_constraint": _identity,
}

INTEGERS: Mapping[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "max": np.maximum,
    "min": np.minimum,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "convert_element_type": np.asarray,
}
