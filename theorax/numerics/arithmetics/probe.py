"""Errors of the library functions as they run here: JAX's and NumPy's, measured against balls."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import flint
import jax
import numpy as np
from flint import arb

from theorax.numerics.arithmetics.ball import Ball
from theorax.numerics.arithmetics.flat_program import doubles
from theorax.numerics.compiling import compiled

_BITS = 120
_COUNT = 400
"""Points in each of a function's ranges; all of them in both formats take about a second, compilation included."""

Range = tuple[float, float]

_RANGES: Mapping[str, tuple[Range, ...]] = {
    # Both everyday arguments and those where implementations change their formula, or cancel.
    "exp": ((-80, 80), (-1, 1), (-1e-3, 1e-3)),
    "expm1": ((-20, 40), (-1, 1), (-1e-3, 1e-3)),
    "log": ((1e-30, 1e-3), (0.5, 2), (0.99, 1.01), (1e-3, 1e30)),
    "log1p": ((-0.999, 1), (-0.43, -0.40), (-1e-3, 1e-3), (1, 1e6)),
    "sqrt": ((1e-30, 1e-3), (0.5, 4)),
    "rsqrt": ((1e-30, 1e-3), (0.5, 4)),
    "cbrt": ((1e-30, 1e-3), (-8, 8), (0.5, 4)),
    "asin": ((-1, 1), (-1e-3, 1e-3), (0.9, 1)),
    "tanh": ((-9, 9), (-1, 1), (-1e-3, 1e-3)),
    "erf": ((-5, 5), (-1, 1), (-1e-3, 1e-3)),
    "logistic": ((-30, 30), (-1, 1)),
    "sin": ((-30, 30), (-3.2, 3.2), (-1e-3, 1e-3)),
    "cos": ((-30, 30), (-3.2, 3.2)),
}

FUNCTIONS = tuple(_RANGES)
"""The functions that are probed."""


@cache
def ulps(name: str, dtype: str, numpy_function: Callable[[np.ndarray], np.ndarray] | None = None) -> float:
    r"""The largest error found, in units in the last place of the result, of a library function in ``dtype``.

    JAX's compiled function is measured on the default device, in light code and in full, and NumPy's in float64 beside it
    if it is given: the error domain carries its values. Results below the normal numbers are left out.

    **Errors:** a lower bound of the worst case: some hundred points of each range were looked at. The error domain
    allows twice the larger of this and of what is on record.
    """
    points = _points(name, dtype)
    results = [(values[name], dtype) for values in _computed(dtype)]
    if numpy_function is not None:
        results.append((np.asarray(numpy_function(points.astype(np.float64))), "float64"))
    worst = 0.0
    with flint.ctx.workprec(_BITS):
        exact = [Ball(_BITS).functions[name](arb(x)) for x in points.astype(np.float64).tolist()]
        for found, form in results:
            spacings = np.spacing(np.abs(found).astype(form)).astype(np.float64).tolist()
            values = found.astype(np.float64).tolist()
            for value, spacing, true in zip(values, spacings, exact, strict=True):
                if math.isfinite(value) and abs(value) > np.finfo(form).tiny:
                    worst = max(worst, float(abs(arb(value) - true).mid()) / spacing)
    return worst


_CODES = {"cpu": (0.0, math.inf), "gpu": (0.0,)}
"""Work of a draw that each code of a device stands for: there is one for light draws on the CPU."""


@cache
def _computed(dtype: str) -> Sequence[Mapping[str, np.ndarray]]:
    """JAX's values of all functions at their points, on each kind of device, in each code that a program may have there.

    One program holds all functions, for compiling is what takes the time.
    """
    with doubles():
        points = {name: _points(name, dtype) for name in FUNCTIONS}
        program = jax.jit(lambda inputs: {name: getattr(jax.lax, name)(x) for name, x in inputs.items()})
        found = []
        for kind, works in _CODES.items():
            if kind == "cpu" or kind == jax.default_backend():
                inputs = jax.device_put(points, jax.devices(kind)[0])
                codes = [compiled(program.lower(inputs), kind, work) for work in works]
                found += [{name: np.asarray(entries) for name, entries in code(inputs).items()} for code in codes]
        return found


def _points(name: str, dtype: str) -> np.ndarray:
    draws = np.random.default_rng(0)
    ranges: list[Any] = []
    for low, high in _RANGES[name]:
        wide = low > 0 and high / low > 1e3
        uniform = draws.uniform(math.log(low), math.log(high), _COUNT) if wide else draws.uniform(low, high, _COUNT)
        ranges.append(np.exp(uniform) if wide else uniform)
    return np.concatenate(ranges).astype(dtype)
