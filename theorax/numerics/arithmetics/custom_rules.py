"""The program that is evaluated, as a JAX function: the bodies of custom derivatives in the place of their rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from theorax.numerics.arithmetics.casts import narrowed_by
from theorax.numerics.arithmetics.failures import UnsupportedPrimitive
from theorax.numerics.arithmetics.flat_program import Operation, Program, flatten
from theorax.numerics.nested_steps import constants_and_carries


def entered(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with every custom derivative replaced by its body and ``stop_gradient`` by the identity.

    A derivative of it is the derivative of the numbers the function returns. A derivative of the function itself is
    what its author declared, and a mean-value bound made of that certifies false inequalities.

    **Raises:** ``UnsupportedPrimitive`` for a step that still carries a rule of its own.
    """

    def program(*arguments: Any) -> Any:
        dynamic, static = eqx.partition(arguments, eqx.is_array_like)
        leaves, structure = jax.tree_util.tree_flatten(dynamic)

        def flat(*entries: Any) -> Any:
            return function(*eqx.combine(jax.tree_util.tree_unflatten(structure, entries), static))

        closed, returned = jax.make_jaxpr(flat, return_shape=True)(*leaves)
        results = _bind(flatten(closed), leaves)
        return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(returned), results)

    return program


def _bind(program: Program, entries: Sequence[Any]) -> list[Any]:
    values = {**program.constants, **dict(zip(program.inputs, entries, strict=True))}
    for step in program.steps:
        results = _step(step, [values[number] for number in step.operands])
        values.update(zip(step.results, results, strict=True))
    return [values[number] for number in program.outputs]


def _step(step: Operation, operands: list[Any]) -> Sequence[Any]:
    params = step.params
    match step.name:
        case "stop_gradient":
            return operands
        case "scan":
            return _scan(step, operands)
        case "cond":
            branches = [flatten(branch) for branch in params["branches"]]
            choices = [lambda *given, body=body: tuple(_bind(body, given)) for body in branches]
            return jax.lax.switch(operands[0], choices, *operands[1:])
        case "while":
            asks, does = params["cond_nconsts"], params["body_nconsts"]
            condition, body = flatten(params["cond_jaxpr"]), flatten(params["body_jaxpr"])

            def goes_on(carry: tuple[Any, ...]) -> Any:
                return _bind(condition, [*operands[:asks], *carry])[0]

            def once(carry: tuple[Any, ...]) -> tuple[Any, ...]:
                after, going = _bind(body, [*operands[asks : asks + does], *carry]), goes_on(carry)
                if not going.shape:
                    return tuple(after)
                wide = [going.reshape(going.shape + (1,) * (new.ndim - going.ndim)) for new in after]
                return tuple(map(jnp.where, wide, after, carry))

            # In a batch each member ends by its own condition.
            return jax.lax.while_loop(lambda carry: goes_on(carry).any(), once, tuple(operands[asks + does :]))
        case "linear_solve":
            matrix, right = operands
            matrix = matrix.T if params["transposed"] else matrix
            return [jnp.linalg.solve(matrix, right.T).T if params["by_rows"] else jnp.linalg.solve(matrix, right)]
        case "convert_element_type" | "dot_general" if (to := narrowed_by(step)) is not None:
            raise UnsupportedPrimitive(step.name, "entered", f"a cast to {to.name} jumps, and has no derivative")
        case "custom_linear_solve" | "custom_root":
            raise UnsupportedPrimitive(step.name, "entered", "its derivative is a rule of its own")
    results = step.primitive.bind(*operands, **params)
    return results if step.primitive.multiple_results else [results]


def _scan(step: Operation, operands: list[Any]) -> Sequence[Any]:
    params = step.params
    constants, carries = constants_and_carries(params)
    body = flatten(params["jaxpr"])
    fixed = operands[:constants]

    def turn(carry: tuple[Any, ...], entries: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        results = _bind(body, [*fixed, *carry, *entries])
        return tuple(results[:carries]), tuple(results[carries:])

    carry, stacked = jax.lax.scan(
        turn,
        tuple(operands[constants : constants + carries]),
        tuple(operands[constants + carries :]),
        length=params["length"],
        reverse=params["reverse"],
    )
    return [*carry, *stacked]
