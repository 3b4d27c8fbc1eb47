"""Comparisons of a program: what it compares, where its author wrote that, and the outcomes of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

import jax.numpy as jnp
import numpy as np
from jax._src import source_info_util  # nothing public says on which line a step was written

from theorax.numerics.arithmetics.flat_program import Literal

__all__ = ["Branch", "Taken", "with_differences", "with_outcomes"]

_SIGNS = {"lt": "<", "le": "≤", "gt": ">", "ge": "≥"}
_CALLS = frozenset(
    {"jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat2", "checkpoint"}
)
_BODIES = ("jaxpr", "call_jaxpr", "fun_jaxpr")
_PASSED_ON = frozenset({"broadcast_in_dim", "convert_element_type", "reshape", "copy"})


@final
@dataclass(frozen=True)
class Branch:
    """A comparison of real numbers: ``> 5``, ``clipped below 0`` or ``rounded away``, and the line that holds it."""

    text: str
    line: str


@final
@dataclass(frozen=True)
class Taken:
    """Outcomes of a comparison: if it was true, and if it was false, in some entry of some run."""

    true: bool = False
    false: bool = False

    @property
    def always(self) -> bool | None:
        """The outcome, where it was always the same."""
        return None if self.true == self.false else self.true


def with_outcomes(closed: Any, inputs: Sequence[Any], found: list[tuple[Branch, Any]]) -> list[Any]:
    """The results of a closed jaxpr; ``found`` gathers its comparisons of floats with a fixed number, and their outcomes.

    Calls are entered; the bodies of loops and of `cond` are not.
    """
    return _run(closed.jaxpr, closed.consts, inputs, {}, partial(_note, found))


def with_differences(closed: Any, inputs: Sequence[Any]) -> Any:
    """The differences of all pairs of floats that a closed jaxpr compares, in one row; calls are entered, loops are not."""
    found: list[Any] = [jnp.zeros(0)]

    def note(step: Any, operands: Sequence[Any], numbers: Sequence[float | None], results: Sequence[Any]) -> None:
        name, compared = step.primitive.name, list(operands)
        if name not in (*_SIGNS, "max", "min", "clamp", "eq", "ne") or not all(map(_is_float, compared)):
            return
        pairs = [compared] if name != "clamp" else [[compared[1], compared[0]], [compared[1], compared[2]]]
        found.extend(jnp.ravel(jnp.asarray(one - other, jnp.float64)) for one, other in pairs)

    _run(closed.jaxpr, closed.consts, inputs, {}, note)
    return jnp.concatenate(found)


def _run(
    jaxpr: Any, constants: Sequence[Any], inputs: Sequence[Any], known: dict[Any, float], note: Callable[..., None]
) -> list[Any]:
    values: dict[Any, Any] = {
        **dict(zip(jaxpr.constvars, constants, strict=True)),
        **dict(zip(jaxpr.invars, inputs, strict=True)),
    }
    numbers = dict(known)  # variables that hold one number of the program
    numbers |= {
        name: one for name, value in zip(jaxpr.constvars, constants, strict=True) if (one := _one(value)) is not None
    }

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else values[atom]

    def number(atom: Any) -> float | None:
        return _one(atom.val) if isinstance(atom, Literal) else numbers.get(atom)

    for step in jaxpr.eqns:
        operands = [read(atom) for atom in step.invars]
        name = step.primitive.name
        body = next((step.params[part] for part in _BODIES if step.params.get(part) is not None), None)
        inner = getattr(body, "jaxpr", body)
        if name in _CALLS and inner is not None and len(inner.invars) == len(operands):
            pairs = zip(inner.invars, step.invars, strict=True)
            given = {variable: one for variable, atom in pairs if (one := number(atom)) is not None}
            results = _run(inner, getattr(body, "consts", ()), operands, given, note)
        else:
            params = step.primitive.get_bind_params(step.params)
            functions, params = params if isinstance(params, tuple) else ((), params)
            results = step.primitive.bind(*functions, *operands, **params)
            results = list(results) if step.primitive.multiple_results else [results]
        if name in _PASSED_ON and (one := number(step.invars[0])) is not None:
            numbers[step.outvars[0]] = one
        note(step, operands, [number(atom) for atom in step.invars], results)
        values.update(zip(step.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _note(
    found: list[tuple[Branch, Any]],
    step: Any,
    operands: Sequence[Any],
    numbers: Sequence[float | None],
    results: Sequence[Any],
) -> None:
    name = step.primitive.name
    if any(one is not None and not np.isfinite(one) for one in numbers):  # what is compared with infinity is a mask
        numbers = [None if one is not None and not np.isfinite(one) else one for one in numbers]
    if not operands or not all(map(_is_float, operands)):
        return
    if name in _SIGNS and numbers.count(None) == 1:
        first, other = numbers
        sign = _SIGNS[name] if first is None else {"<": ">", "≤": "≥", ">": "<", "≥": "≤"}[_SIGNS[name]]
        found.append((Branch(f"{sign} {_text(other if first is None else first)}", _line(step)), results[0]))
    elif name in ("max", "min") and numbers.count(None) == 1:
        at = numbers.index(None)
        side = "below" if name == "max" else "above"
        found.append((Branch(f"{side} {_text(numbers[1 - at])}", _line(step)), results[0] != operands[at]))
    elif name == "clamp":
        low, x, high = operands
        for side, outcome, end in (("below", x < low, numbers[0]), ("above", x > high, numbers[2])):
            if end is not None and np.isfinite(end):
                found.append((Branch(f"{side} {_text(end)}", _line(step)), outcome))
    elif name in ("floor", "ceil", "round"):
        found.append((Branch(f"not whole before {name}", _line(step)), results[0] != operands[0]))


def _is_float(value: Any) -> bool:
    return bool(jnp.issubdtype(jnp.result_type(value), jnp.floating))


def _one(value: Any) -> float | None:
    """The one number that a constant holds."""
    try:
        array = np.asarray(value)
        whole = array.size and array.dtype.kind in "fiu" and (array == array.flat[0]).all()
    except TypeError:  # a key, or a traced value
        return None
    return float(array.flat[0]) if whole else None


def _text(value: float | None) -> str:
    return f"{value:.6g}"


def _line(step: Any) -> str:
    frame = source_info_util.user_frame(step.source_info.traceback)
    return "" if frame is None else f"{Path(frame.file_name).name}:{frame.start_line}"
