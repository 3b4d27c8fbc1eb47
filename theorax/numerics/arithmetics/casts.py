"""Casts to narrower floats: what they may lose, and which of them a program makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import jax.numpy as jnp
from flint import arb

from theorax.numerics.arithmetics.flat_program import Operation, Program, flatten, trace

__all__ = ["FloatFormat", "narrow_casts", "narrowed_by", "narrowing", "rounded"]


@final
@dataclass(frozen=True)
class FloatFormat:
    """A float format that is narrower than the one it is cast from."""

    name: str
    unit_roundoff: float
    tiny: float
    """The smallest normal number: XLA may flush what is below it to zero."""
    largest: float


def narrowing(source: Any, target: Any) -> FloatFormat | None:
    """The format of ``target`` where a float of dtype ``source`` may not fit into it."""
    if not (jnp.issubdtype(source, jnp.floating) and jnp.issubdtype(target, jnp.floating)):
        return None
    one, other = jnp.finfo(source), jnp.finfo(target)
    if other.nmant >= one.nmant and other.minexp <= one.minexp and other.maxexp >= one.maxexp:
        return None
    return FloatFormat(jnp.dtype(target).name, float(other.eps) / 2, float(other.tiny), float(other.max))


def narrowed_by(step: Operation) -> FloatFormat | None:
    """The narrower format that a step hands on its result in: a cast, or a product accumulated in fewer bits."""
    if step.name not in ("convert_element_type", "dot_general"):
        return None
    floats = [kind.dtype for kind in step.operand_types if jnp.issubdtype(kind.dtype, jnp.floating)]
    formats = [narrowing(source, step.result_types[0].dtype) for source in floats]
    return formats[0] if formats and all(formats) else None


def rounded(x: arb, to: FloatFormat) -> arb:
    r"""Every number that a cast of the ball's numbers may give: $v (1 \pm u)$, plus what underflow loses.

    No number where the format may overflow.
    """
    size = x.abs_upper()
    if not size * (1 + arb(to.unit_roundoff)) < arb(to.largest):
        return arb.nan()
    return x + arb(0, (size * arb(to.unit_roundoff) + arb(to.tiny)).upper())


def narrow_casts(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[str, ...]:
    """The narrower formats that the function casts to, at the shapes of the array leaves of its arguments."""
    return tuple(sorted(set(_casts(flatten(trace(function, arguments, lambda leaf: False).closed)))))


def _casts(program: Program) -> Iterator[str]:
    for step in program.steps:
        found = narrowed_by(step)
        yield from [found.name] if found is not None else []
        for value in step.params.values():
            for body in value if isinstance(value, tuple | list) else (value,):
                if hasattr(body, "jaxpr") and hasattr(body, "consts"):
                    yield from _casts(flatten(body))
