"""Steps of a traced program, those inside loops, branches and called programs included; and the program made of steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

try:
    from jax.extend.core import jaxpr_as_fun
except ImportError:  # where older versions keep it
    from jax.core import jaxpr_as_fun  # type: ignore[no-redef, attr-defined]

__all__ = ["constants_and_carries", "every_step", "jaxpr_as_fun", "programs_in"]


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


def constants_and_carries(params: Mapping[str, Any]) -> tuple[int, int]:
    """Numbers of operands of a scan: the constants of its body, and what it carries; the others are scanned."""
    if "num_consts" in params:  # before JAX 0.11
        return params["num_consts"], params["num_carry"]
    constants, carries, _ = params["ft_in"].unpack()
    return len(constants), len(carries)
