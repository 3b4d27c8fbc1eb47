"""Calls of JAX's linear algebra that are read as what they compute: determinants, solutions of linear systems.

JAX computes both from one factorisation whose rows are exchanged by size. The determinant and the solution do not
depend on the exchange; the factors do. So a call is read as a whole, where its body is JAX's own, word for word, and
the factors alone are followed only by arithmetics that know which number is the largest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from theorax.numerics.nested_steps import jaxpr_as_fun

try:
    from jax import enable_x64
except ImportError:
    from jax.experimental import enable_x64  # type: ignore[no-redef, attr-defined]

__all__ = ["LibraryCall", "digest_of", "library_call"]

_POLYNOMIAL = frozenset({"jit", "pjit", "slice", "squeeze", "mul", "add", "sub"})
"""Primitives of a determinant that is written out, as some versions of JAX do it up to order three: it is followed so."""


@dataclass(frozen=True)
class LibraryCall:
    """A call with its meaning: ``det``, ``slogdet`` or ``linear_solve``, and the numbers of what it is applied to."""

    name: str
    operands: tuple[int, ...]
    params: Mapping[str, Any] = field(default_factory=dict)


def library_call(equation: Any, operands: Sequence[int], factored: Mapping[int, tuple[int, int]]) -> LibraryCall | None:
    """The call that an equation is, if JAX's own library made it.

    ``factored``: for every result of a factorisation the number of the matrix and the place among the results.
    """
    if equation.primitive.name in ("pjit", "jit") and equation.params.get("name") in ("det", "slogdet"):
        name, kinds = equation.params["name"], _kinds(equation.invars)
        body, own = equation.params["jaxpr"], len(kinds) == 1 and len(kinds[0][0]) >= 2
        written_out = {part.primitive.name for part in _equations(body.jaxpr)} <= _POLYNOMIAL
        if own and not written_out and digest_of(body) == _called(name, kinds[0]):
            return LibraryCall(name, tuple(operands), equation.params)
        return None
    if equation.primitive.name != "custom_linear_solve":
        return None
    lengths, bodies = equation.params["const_lengths"], equation.params["jaxprs"]
    held = list(operands[lengths.matvec + lengths.vecmat :][: lengths.solve])
    places = [factored.get(number, (-1, -1)) for number in held]
    if len(operands) != sum(lengths) + 1 or [place for _, place in places] != [0, 2] or len({a for a, _ in places}) > 1:
        return None  # the factors and the permutation, of one matrix
    matrix, right = _kinds(equation.invars[lengths.matvec + lengths.vecmat :][:1]), _kinds(equation.invars[-1:])
    layout = _layouts(matrix[0], right[0]).get(digest_of(bodies.solve)) if len(matrix[0][0]) == 2 else None
    if layout is None:
        return None
    transposed, by_rows = layout
    return LibraryCall("linear_solve", (places[0][0], operands[-1]), {"transposed": transposed, "by_rows": by_rows})


def digest_of(closed: Any) -> str:
    """The SHA-256 of a jaxpr and its constants."""
    text = re.sub(r"\bat 0x[0-9a-f]+", "", str(closed.jaxpr))
    digest = hashlib.sha256(re.sub(r"\s+", " ", text).encode())
    for constant in closed.consts:
        array = np.asarray(constant)
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


_Kind = tuple[tuple[int, ...], str]


def _kinds(variables: Sequence[Any]) -> list[_Kind]:
    return [(tuple(variable.aval.shape), str(variable.aval.dtype)) for variable in variables]


def _traced(function: Callable[..., Any], *kinds: _Kind) -> Any:
    return jax.make_jaxpr(function)(*[jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in kinds])


def _equations(jaxpr: Any) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        yield equation
        if equation.primitive.name in ("pjit", "jit"):
            yield from _equations(equation.params["jaxpr"].jaxpr)


@cache
def _called(name: str, kind: _Kind) -> str:
    """The body of JAX's own function of this name for a matrix of this type; empty where it makes no call."""
    with enable_x64(True):  # the types are those of the program, whatever the session's default is
        traced = _traced(getattr(jnp.linalg, name), kind)
    bodies = [each.params["jaxpr"] for each in _equations(traced.jaxpr) if each.params.get("name") == name]
    return digest_of(bodies[0]) if bodies else ""


@cache
def _layouts(matrix: _Kind, right: _Kind) -> Mapping[str, tuple[bool, bool]]:
    """The readings of the bodies, asked with the types of the program whatever the session's default is."""
    with enable_x64(True):
        return _read_layouts(matrix, right)


def _read_layouts(matrix: _Kind, right: _Kind) -> Mapping[str, tuple[bool, bool]]:
    """For the bodies of JAX's own solve: whether the matrix is transposed, and whether the unknowns are rows.

    How JAX lays out several right sides is its own affair, so the body is asked: a unipotent matrix of whole numbers
    is solved without rounding, and no two readings give the same numbers.
    """
    size, several = matrix[0][-1], len(right[0]) == 2
    found: dict[str, tuple[bool, bool]] = {}
    if len(right[0]) not in (1, 2) or size not in right[0]:
        return found
    shapes = {right[0], right[0][::-1]}
    unipotent = np.eye(size, dtype=matrix[1]) + np.eye(size, k=1, dtype=matrix[1])
    factors, _, order = jax.lax.linalg.lu(jnp.asarray(unipotent))
    numbers = (np.arange(int(np.prod(right[0]))).reshape(right[0]) ** 2 + 1.0).astype(right[1])
    inverse = np.linalg.inv(np.eye(size) + np.eye(size, k=1)).round()
    for shape in shapes:
        if shape[0] != size:
            continue
        for equation in _equations(_traced(jnp.linalg.solve, matrix, (shape, right[1])).jaxpr):
            if equation.primitive.name != "custom_linear_solve":
                continue
            bodies = equation.params["jaxprs"]
            for body in (bodies.solve, bodies.transpose_solve):
                if body is None or tuple(body.in_avals[-1].shape) != right[0]:
                    continue
                solved = np.asarray(jaxpr_as_fun(body)(factors, order, numbers)[0])
                readings = [
                    (transposed, by_rows)
                    for transposed in (False, True)
                    for by_rows in ((False, True) if several else (False,))
                    if size == len(numbers.T if by_rows else numbers)
                    and np.array_equal(solved, _read(inverse, numbers, transposed, by_rows))
                ]
                if len(readings) == 1 or size == 1:
                    found[digest_of(body)] = readings[0]
    return found


def _read(inverse: np.ndarray, right: np.ndarray, transposed: bool, by_rows: bool) -> np.ndarray:
    solved = (inverse.T if transposed else inverse) @ (right.T if by_rows else right)
    return solved.T if by_rows else solved
