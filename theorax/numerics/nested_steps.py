"""Steps of a traced program, those inside loops, branches and called programs included; and the program made of steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

try:
    from jax.extend.core import jaxpr_as_fun
except ImportError:  # where older versions keep it
    from jax.core import jaxpr_as_fun  # type: ignore[no-redef, attr-defined]

__all__ = ["constants_and_carries", "every_step", "jaxpr_as_fun", "programs_in", "same_steps"]


def programs_in(value: Any) -> Iterator[Any]:
    """The programs that a parameter of a step holds: the body of a loop, the branches of a choice, a called function."""
    for part in value if isinstance(value, tuple | list) else (value,):
        body = getattr(part, "jaxpr", part)
        if hasattr(body, "eqns"):
            yield body


def every_step(program: Any) -> Iterator[Any]:
    """Each step of a jaxpr, closed or open, and after it the steps of the programs that it holds."""
    for step in getattr(program, "jaxpr", program).eqns:
        yield step
        for value in step.params.values():
            for body in programs_in(value):
                yield from every_step(body)


def same_steps(one: Any, other: Any) -> bool:
    """True if two jaxprs, closed or open, are the same steps of the same variables, constants and parameters.

    **Errors:** a parameter that is no program is compared by its text; a step that is written differently differs.
    """
    held = [getattr(part, "consts", ()) for part in (one, other)]
    first, second = (getattr(part, "jaxpr", part) for part in (one, other))
    if len(first.eqns) != len(second.eqns) or not _same_numbers(*held):
        return False
    names: dict[Any, int] = {}
    others: dict[Any, int] = {}

    def same(mine: Any, theirs: Any) -> bool:
        if str(mine.aval) != str(theirs.aval) or hasattr(mine, "val") != hasattr(theirs, "val"):
            return False
        if hasattr(mine, "val"):
            return _same_numbers([mine.val], [theirs.val])
        return names.setdefault(mine, len(names)) == others.setdefault(theirs, len(others))

    def every(mine: Any, theirs: Any) -> bool:
        return len(mine) == len(theirs) and all(same(*pair) for pair in zip(mine, theirs, strict=True))

    if not every([*first.constvars, *first.invars], [*second.constvars, *second.invars]):
        return False
    for step, its in zip(first.eqns, second.eqns, strict=True):
        if step.primitive.name != its.primitive.name or step.params.keys() != its.params.keys():
            return False
        if not (every(step.invars, its.invars) and every(step.outvars, its.outvars)):
            return False
        if not all(_same_parameter(step.params[name], its.params[name]) for name in step.params):
            return False
    return every(first.outvars, second.outvars)


def _same_numbers(mine: Sequence[Any], theirs: Sequence[Any]) -> bool:
    """True if two lists of arrays hold the same types, shapes and bits; keys are compared by their words."""
    pairs = zip(map(_numbers, mine), map(_numbers, theirs), strict=False)
    return len(mine) == len(theirs) and all(
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
        for one, other in pairs
    )


def _numbers(value: Any) -> np.ndarray:
    is_key = hasattr(value, "dtype") and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(value) if is_key else value)


def _same_parameter(mine: Any, theirs: Any) -> bool:
    programs = [list(programs_in(value)) for value in (mine, theirs)]
    if not any(programs):
        return str(mine) == str(theirs)
    parts = [value if isinstance(value, tuple | list) else (value,) for value in (mine, theirs)]
    return len(parts[0]) == len(parts[1]) and all(same_steps(*pair) for pair in zip(*parts, strict=True))


def constants_and_carries(params: Mapping[str, Any]) -> tuple[int, int]:
    """Numbers of operands of a scan: the constants of its body, and what it carries; the others are scanned."""
    if "num_consts" in params:  # before JAX 0.11
        return params["num_consts"], params["num_carry"]
    constants, carries, _ = params["ft_in"].unpack()
    return len(constants), len(carries)
