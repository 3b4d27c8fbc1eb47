"""Compiling of programs: how long the compiler may take over one, by what a draw of it costs.

Most programs of theorems are drawn some thousand times and take longer to compile than to run. On the CPU they are compiled
lightly: with the older code of XLA for loops over entries, in one piece, at its first level of optimisation. It takes half
the time. Most draws cost the same, as matrices are left to libraries either way; a few take two or three times as long. Draws
of millions of entries are compiled with everything there is. What runs a few times, as a program that builds a model again,
is compiled with the least there is: in half the time again, for code that takes two or three times as long.

An accelerator is asked for code that returns the same bits in every run: without it, the compiler times several codes of a
product and takes the fastest of that day, and sums may be gathered in the order in which they finish.

**Errors:** the codes may round in another order, and differ in library functions; `probe` measures those of the two codes of
draws. A model that is built again is read as the exact numbers that it holds, in whatever code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import jax

from theorax.numerics.nested_steps import programs_in

__all__ = ["compiled", "is_light", "work_on_entries"]

_LIGHT: Mapping[str, Any] = {
    "xla_backend_optimization_level": 1,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
}
_LEAST: Mapping[str, Any] = {**_LIGHT, "xla_backend_optimization_level": 0}
_REPEATABLE: Mapping[str, Any] = {"xla_gpu_deterministic_ops": True}

HEAVY = 1e7
"""Work of a draw from which on it is compiled with everything: some milliseconds, where the light code is slower."""

# Rough costs in additions: only what is compiled how depends on them. Matrices are the libraries' in either code.
_COSTS = dict.fromkeys(("random_bits", "threefry2x32"), 60) | dict.fromkeys(
    ("cos", "erf", "erf_inv", "exp", "expm1", "lgamma", "log", "log1p", "logistic", "pow", "sin", "tan", "tanh"), 10
)
_MOVED = frozenset({"broadcast_in_dim", "convert_element_type", "copy", "iota", "reshape", "squeeze", "transpose"})
_LIBRARIES = frozenset(
    {
        "cholesky",
        "dot_general",
        "eig",
        "eigh",
        "geqrf",
        "householder_product",
        "lu",
        "qr",
        "schur",
        "svd",
        "triangular_solve",
    }
)
_ROUNDS = 32
"""Rounds that a loop of unknown length is taken to make: rather many, as light code that runs long costs the most."""


def compiled(lowered: Any, device: str, work: float = 0.0, *, few: bool = False) -> Any:
    """The executable of a lowered program that does this ``work`` on entries in a run, in thousands of runs or in ``few``."""
    if device != "cpu":
        options = _REPEATABLE
    elif few:
        options = _LEAST
    else:
        options = _LIGHT if is_light(device, work) else {}
    return lowered.compile({name: value for name, value in options.items() if _is_known(name, value)} or None)


def is_light(device: str, work: float) -> bool:
    """True if a program whose draws do this ``work`` on entries gets light code there."""
    return device == "cpu" and work < HEAVY


@cache
def _is_known(option: str, value: Any) -> bool:
    """True if this version of XLA knows the option."""
    try:
        jax.jit(lambda x: x).lower(0.0).compile({option: value})
    except (RuntimeError, ValueError):  # the compiler's own error for an option that it does not know
        return False
    return True


def work_on_entries(program: Any) -> float:
    """Additions that the steps of a jaxpr cost which work entry by entry, roughly; all rounds of its loops counted."""
    work = 0.0
    for step in getattr(program, "jaxpr", program).eqns:
        name = step.primitive.name
        bodies = [body for value in step.params.values() for body in programs_in(value)]
        if bodies:
            rounds = step.params["length"] if name == "scan" else _ROUNDS if name == "while" else 1
            work += rounds * sum(map(work_on_entries, bodies))
        elif name not in _MOVED | _LIBRARIES:
            places = step.invars if name.startswith("reduce") else step.outvars
            work += _COSTS.get(name, 1) * sum(math.prod(getattr(atom.aval, "shape", ())) for atom in places)
    return work
