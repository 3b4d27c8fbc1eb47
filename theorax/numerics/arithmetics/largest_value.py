"""The largest finite value that a program computes on its way: the scale of its rounding errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from theorax.numerics.arithmetics.flat_program import Literal
from theorax.numerics.nested_steps import constants_and_carries, every_step

__all__ = ["coarsest_epsilon", "largest_value"]

_BODIES = ("jaxpr", "call_jaxpr", "fun_jaxpr")


def largest_value(closed: Any, inputs: Sequence[Any]) -> Any:
    """The largest absolute value of a float that the jaxpr computes on these inputs, in every body; for JAX.

    Values that are infinite or no number are passed over, as are constants.
    """
    return _follow(closed.jaxpr, closed.consts, inputs)[1]


def coarsest_epsilon(closed: Any) -> float:
    """The unit of the shortest float type that a step of the program returns."""
    types = {getattr(atom.aval, "dtype", None) for step in every_step(closed) for atom in step.outvars}
    return max((float(jnp.finfo(dtype).eps) for dtype in types if dtype is not None and _is_float(dtype)), default=0.0)


def _is_float(dtype: Any) -> bool:
    return bool(jnp.issubdtype(dtype, jnp.floating) or jnp.issubdtype(dtype, jnp.complexfloating))


def _top(values: Sequence[Any]) -> Any:
    tops = [jnp.zeros(())]
    for value in values:
        if hasattr(value, "dtype") and _is_float(value.dtype) and value.size:
            size = jnp.abs(value)
            tops.append(jnp.max(jnp.where(jnp.isfinite(size), size, 0)).astype(tops[0].dtype))
    return jnp.max(jnp.stack(tops))


def _follow(jaxpr: Any, constants: Sequence[Any], inputs: Sequence[Any]) -> tuple[list[Any], Any]:
    values: dict[Any, Any] = {**dict(zip(jaxpr.constvars, constants, strict=True))}
    values.update(zip(jaxpr.invars, inputs, strict=True))
    top = jnp.zeros(())
    for step in jaxpr.eqns:
        operands = [atom.val if isinstance(atom, Literal) else values[atom] for atom in step.invars]
        results, inner = _step(step, operands)
        top = jnp.maximum(top, jnp.maximum(inner, _top(results)))
        values.update(zip(step.outvars, results, strict=True))
    return [atom.val if isinstance(atom, Literal) else values[atom] for atom in jaxpr.outvars], top


def _step(step: Any, operands: Sequence[Any]) -> tuple[list[Any], Any]:
    name, params = step.primitive.name, step.params
    if name == "scan":
        return _scan(step, operands)
    if name == "while":
        asks, does = params["cond_nconsts"], params["body_nconsts"]
        condition, body = params["cond_jaxpr"], params["body_jaxpr"]

        def turn(carry: tuple[Any, Any]) -> tuple[list[Any], Any]:
            found, inner = _follow(body.jaxpr, body.consts, [*operands[asks : asks + does], *carry[0]])
            return found, jnp.maximum(carry[1], inner)

        def goes_on(carry: tuple[Any, Any]) -> Any:
            return _follow(condition.jaxpr, condition.consts, [*operands[:asks], *carry[0]])[0][0]

        begun = [jnp.asarray(part) for part in operands[asks + does :]]
        results, top = jax.lax.while_loop(goes_on, turn, (begun, jnp.zeros(())))
        return list(results), top
    if name == "cond" and not params.get("branches_platforms"):
        branches = [lambda *given, body=body: _follow(body.jaxpr, body.consts, given) for body in params["branches"]]
        results, top = jax.lax.switch(operands[0], branches, *operands[1:])
        return list(results), top
    body = next((params[part] for part in _BODIES if params.get(part) is not None), None)
    inner = getattr(body, "jaxpr", body)
    if body is not None and len(inner.invars) == len(operands):
        return _follow(inner, getattr(body, "consts", ()), operands)
    bound = step.primitive.get_bind_params(params)
    functions, bound = bound if isinstance(bound, tuple) else ((), bound)  # apart before JAX 0.10
    results = step.primitive.bind(*functions, *operands, **bound)
    return (list(results) if step.primitive.multiple_results else [results]), jnp.zeros(())


def _scan(step: Any, operands: Sequence[Any]) -> tuple[list[Any], Any]:
    params = step.params
    held, carried = constants_and_carries(params)
    body = params["jaxpr"]

    def turn(carry: tuple[Any, ...], entries: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        found, top = _follow(body.jaxpr, body.consts, [*operands[:held], *carry, *entries])
        return tuple(found[:carried]), (*found[carried:], top)

    begun, rows = tuple(operands[held : held + carried]), tuple(operands[held + carried :])
    begun = tuple(jnp.asarray(part) if not isinstance(part, np.ndarray) else part for part in begun)
    carry, stacked = jax.lax.scan(turn, begun, rows, length=params["length"], reverse=params["reverse"])
    return [*carry, *stacked[:-1]], jnp.max(stacked[-1], initial=0)
