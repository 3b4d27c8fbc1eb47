"""Derivatives of the numbers that a program returns, in the place of those that its author declared.

Within `without_rules` a function is traced with its custom derivatives replaced by their bodies and with
``stop_gradient`` as the identity, so that every derivative taken inside is that of the body. What JAX itself declares,
for relu or logsumexp, is JAX's own mathematics and stays.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import jax
from jax._src.interpreters import ad  # nothing public says that a derivative is taken

__all__ = ["RULES_MET", "derivatives_met", "without_rules"]

RULES_MET: dict[str, None] = {}
"""Names of the rules that were replaced in this process so far: where there is none, no program has one."""

_JAX = Path(jax.__file__).parent
_MATHEMATICS = ("nn", "numpy", "scipy", "ops", "lax", "random", "image", "custom_derivatives")
# Traces are kept by JAX under the settings they were made with. No program is run under this one here: it only keeps
# traces without rules apart from the others.
_APART = "tensorfloat32"


@contextlib.contextmanager
def without_rules() -> Iterator[dict[str, None]]:
    """Trace functions with the bodies of custom derivatives, and with ``stop_gradient`` as the identity.

    What it hands out gathers the names of the rules that are met; a compiled function that was traced so before hides
    its own. Not for several threads at once.
    """
    jvp, vjp, stop = jax.custom_jvp.__call__, jax.custom_vjp.__call__, jax.lax.stop_gradient
    code = stop.__code__
    try:
        jax.custom_jvp.__call__ = _body_instead(jvp)  # type: ignore[method-assign]
        jax.custom_vjp.__call__ = _body_instead(vjp)  # type: ignore[method-assign]
        _STOP.append(FunctionType(code, stop.__globals__))
        # The function itself is changed, since modules that imported it by name hold this very object.
        stop.__code__ = _handed_on.__code__
        _MET.clear()
        with jax.default_matmul_precision(_APART):
            yield _MET
    finally:
        RULES_MET.update(_MET)
        stop.__code__ = code
        _STOP.clear()
        jax.custom_jvp.__call__ = jvp  # type: ignore[method-assign]
        jax.custom_vjp.__call__ = vjp  # type: ignore[method-assign]


@contextlib.contextmanager
def derivatives_met() -> Iterator[list[str]]:
    """Trace functions and gather a word for every step that is differentiated: nothing for a program without a derivative.

    Not for several threads at once.
    """
    met: list[str] = []
    traces = [found for name in ("JVPTrace", "LinearizeTrace") if (found := getattr(ad, name, None)) is not None]
    kept = [found.process_primitive for found in traces]

    def counted(process: Callable[..., Any]) -> Callable[..., Any]:
        def process_primitive(self: Any, primitive: Any, *others: Any, **named: Any) -> Any:
            met.append(str(primitive))
            return process(self, primitive, *others, **named)

        return process_primitive

    try:
        for trace, process in zip(traces, kept, strict=True):
            trace.process_primitive = counted(process)
        yield met
    finally:
        for trace, process in zip(traces, kept, strict=True):
            trace.process_primitive = process


_STOP: list[Callable[[Any], Any]] = []
_MET: dict[str, None] = {}


def _body_instead(call: Callable[..., Any]) -> Callable[..., Any]:
    def body(self: Any, *arguments: Any, **named: Any) -> Any:
        rules = [vars(self).get(part) for part in ("fun", "jvp", "fwd", "bwd")]
        if all(_is_jax(rule) for rule in rules if rule is not None):
            return call(self, *arguments, **named)
        _MET[str(getattr(self, "__name__", None) or getattr(self.fun, "__name__", "a custom derivative"))] = None
        return self.fun(*arguments, **named)

    return body


def _handed_on(x: Any) -> Any:
    import sys

    from theorax.numerics.arithmetics.true_derivatives import stopped

    return stopped(x, sys._getframe(1).f_code)


def stopped(x: Any, caller: CodeType) -> Any:
    """The value handed on, or what JAX's own mathematics made of it."""
    if _in_mathematics(caller):
        return _STOP[-1](x)
    _MET["stop_gradient"] = None
    return x


def _in_mathematics(code: CodeType) -> bool:
    path = Path(code.co_filename)
    if not path.is_relative_to(_JAX):
        return False
    rooms = [part for part in path.relative_to(_JAX).with_suffix("").parts if part != "_src"]
    return bool(rooms) and rooms[0] in _MATHEMATICS


def _is_jax(function: Any, depth: int = 8) -> bool:
    """True if all code of the function, with what it has closed over, is JAX's own."""
    if depth == 0:
        return False
    if isinstance(function, functools.partial):
        return all(_is_jax(part, depth - 1) for part in (function.func, *function.args) if callable(part))
    if (inner := getattr(function, "__wrapped__", None)) is not None:
        return _is_jax(inner, depth - 1)
    if not isinstance(function, FunctionType):
        return str(getattr(type(function), "__module__", "")).split(".")[0] in ("jax", "jaxlib")
    if not Path(function.__code__.co_filename).is_relative_to(_JAX):
        return False
    held = list(inspect.getclosurevars(function).nonlocals.values())
    parts = [part for entry in held for part in (entry if isinstance(entry, tuple | list) else (entry,))]
    return all(_is_jax(part, depth - 1) for part in parts if callable(part) and part is not function)
