"""Linear algebra in any scalar domain: factorisations and substitutions entry by entry, JAX's own calls as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theorax.numerics.arithmetics.failures import UnsupportedPrimitive

if TYPE_CHECKING:
    from theorax.numerics.arithmetics.domain import Domain
    from theorax.numerics.arithmetics.flat_program import Operation
    from theorax.numerics.arithmetics.interpreter import Interpreter


def solve(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    """The solution of a linear system, whatever the order in which the rows are eliminated."""
    domain, (matrix, right) = run.domain, operands
    if step.params["transposed"]:
        matrix = _transposed(domain, matrix)
    if step.params["by_rows"]:
        return [_transposed(domain, domain.solved(matrix, _transposed(domain, right)))]
    shape = domain.shape(right)
    if len(shape) == 2:
        return [domain.solved(matrix, right)]
    column = domain.take(right, np.arange(shape[0])[:, None])
    return [domain.take(domain.solved(matrix, column), np.arange(shape[0]))]


def determinant(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    """The determinants of matrices, or their signs and the logarithms of their sizes."""
    try:
        determinants = run.domain.determinant(operands[0])
    except UnsupportedPrimitive:
        return run.run(run.body(step.params["jaxpr"]), operands)
    if step.name == "det":
        return [determinants]
    size = run.domain.unary("abs", determinants)
    return [run.domain.unary("sign", determinants), run.domain.unary("log", size)]


def triangular_solve(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    """Systems with triangular matrices, by substitution; nothing beyond the triangle is read."""
    params, domain = step.params, run.domain
    parts = []
    for matrix, right in zip(*(_matrices(domain, operand) for operand in operands), strict=True):
        # X A = B is A' X' = B'.
        turned = bool(params["transpose_a"]) == bool(params["left_side"])
        a = _transposed(domain, matrix) if turned else matrix
        b = right if params["left_side"] else _transposed(domain, right)
        lower = bool(params["lower"]) != turned
        x = _substituted(domain, a, b, lower, bool(params["unit_diagonal"]))
        parts.append(x if params["left_side"] else _transposed(domain, x))
    return [_stacked(domain, parts, step.result_types[0].shape)]


def cholesky(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    """Factors $L$ of $A = L L'$, from the lower triangle; NaN, as JAX has it, where a pivot is not positive.

    **Raises:** ``UndecidedComparison`` where a pivot may be positive or not. A field has no order: there the pivots are
    taken to be positive, and what follows holds wherever the factors are defined.
    """
    domain = run.domain
    parts = [_cholesky(domain, matrix) for matrix in _matrices(domain, operands[0])]
    return [_stacked(domain, parts, step.result_types[0].shape)]


def lu(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    """Factors with the exchanges of rows: of every column the largest entry is the pivot, the first of equal ones.

    **Raises:** ``UndecidedComparison`` where the largest entry is not known, ``UnsupportedPrimitive`` in a field, which
    has no order: a determinant or a solution, for which the order is no matter, is followed there as a whole.
    """
    domain = run.domain
    if not domain.ordered:
        raise UnsupportedPrimitive("lu", domain.name, "which rows are exchanged depends on the order of numbers")
    found = [_lu(domain, matrix) for matrix in _matrices(domain, operands[0])]
    factors, pivots, orders = step.result_types
    return [
        _stacked(domain, [part for part, _, _ in found], factors.shape),
        np.asarray([part for _, part, _ in found], pivots.dtype).reshape(pivots.shape),
        np.asarray([part for _, _, part in found], orders.dtype).reshape(orders.shape),
    ]


def custom_solve(run: Interpreter, step: Operation, operands: list[Any]) -> list[Any]:
    """The solution as the body of a solve computes it; its derivatives and its transpose are not run."""
    lengths = step.params["const_lengths"]
    start = lengths.matvec + lengths.vecmat
    held = operands[start : start + lengths.solve]
    return run.run(run.body(step.params["jaxprs"].solve), [*held, *operands[sum(lengths) :]])


def _matrices(domain: Domain[Any], x: Any) -> list[Any]:
    *batch, rows, columns = domain.shape(x)
    count = int(np.prod(batch, dtype=np.int64))
    places = np.arange(count * rows * columns).reshape(count, rows, columns)
    return [domain.take(x, part) for part in places]


def _stacked(domain: Domain[Any], parts: Sequence[Any], shape: Sequence[int]) -> Any:
    return domain.take(domain.join(parts), np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape))


def _transposed(domain: Domain[Any], x: Any) -> Any:
    rows, columns = domain.shape(x)
    return domain.take(x, np.arange(rows * columns).reshape(rows, columns).T)


def _substituted(domain: Domain[Any], a: Any, b: Any, lower: bool, unit: bool) -> Any:
    size, columns = domain.shape(b)
    places_a, places_b = np.arange(size * size).reshape(size, size), np.arange(size * columns).reshape(size, columns)
    known: dict[int, Any] = {}
    for i in range(size) if lower else reversed(range(size)):
        x, used = domain.take(b, places_b[i]), sorted(known)
        if used:
            factors = domain.take(a, places_a[i, used][None, None, :])
            pool = _stacked(domain, [known[j] for j in used], (1, len(used), columns))
            x = domain.binary("sub", x, domain.take(domain.dot(factors, pool), np.arange(columns)))
        if not unit:
            x = domain.binary("div", x, domain.take(a, np.full(columns, places_a[i, i])))
        known[i] = x
    return _stacked(domain, [known[i] for i in range(size)], (size, columns))


def _cholesky(domain: Domain[Any], a: Any) -> Any:
    size = domain.shape(a)[0]
    places = np.arange(size * size).reshape(size, size)
    zero = domain.lift(np.zeros(1))
    rows: list[list[Any]] = []
    for i in range(size):
        rows.append([])
        for j in range(i + 1):
            entry = domain.take(a, places[i, j].reshape(1))
            if j:
                left, right = (_stacked(domain, rows[place][:j], (1, j)) for place in (i, j))
                entry = domain.binary("sub", entry, domain.sum(domain.binary("mul", left, right)))
            if i > j:
                rows[i].append(domain.binary("div", entry, rows[j][j]))
                continue
            if domain.ordered and not np.all(domain.compare("lt", zero, entry)):
                return domain.lift(np.full((size, size), np.nan))
            rows[i].append(domain.unary("sqrt", entry))
    return _stacked(
        domain, [part for i, row in enumerate(rows) for part in [*row, *[zero] * (size - 1 - i)]], (size, size)
    )


def _lu(domain: Domain[Any], a: Any) -> tuple[Any, list[int], list[int]]:
    rows, columns = domain.shape(a)
    places = np.arange(rows * columns).reshape(rows, columns)
    order, pivots = list(range(rows)), []
    entries: list[list[Any]] = [[domain.take(a, places[i, j].reshape(1)) for j in range(columns)] for i in range(rows)]
    zero = domain.lift(np.zeros(1))
    for k in range(min(rows, columns)):
        largest = k
        for i in range(k + 1, rows):
            size, other = (domain.unary("abs", entries[place][k]) for place in (largest, i))
            largest = i if domain.compare("lt", size, other)[0] else largest
        pivots.append(largest)
        entries[k], entries[largest] = entries[largest], entries[k]
        order[k], order[largest] = order[largest], order[k]
        if domain.compare("eq", entries[k][k], zero)[0]:
            continue  # then the whole column is zero, and nothing is left to eliminate
        for i in range(k + 1, rows):
            entries[i][k] = domain.binary("div", entries[i][k], entries[k][k])
            for j in range(k + 1, columns):
                product = domain.binary("mul", entries[i][k], entries[k][j])
                entries[i][j] = domain.binary("sub", entries[i][j], product)
    return _stacked(domain, [entry for row in entries for entry in row], (rows, columns)), pivots, order
