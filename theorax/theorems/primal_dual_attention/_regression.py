"""The setting that the theorems of this paper share: keys, and a regression fitted on them through phi(x)/h(x).

k(x, y) = phi(x) . phi(y), h(x) = sum_j k(x, k_j), h_j = h(k_j), rows x_j = phi(k_j)/h_j and G = (x_j . x_l). The dual
has the coefficients beta = alpha - alphat; the values of the attention layer are v_j = beta_j/h_j. The programs are
solved where a model is built (``numerics.kernel_regression``); C and eps are cases of an experiment.
"""

from __future__ import annotations

import jax
import numpy as np
from jaxtyping import Array
from sympy import Symbol

from theorax.language import Efforts, Hypothesis, Parameter, Size
from theorax.numerics.kernel_attention import FEATURES, LINEAR, PLAIN, TAYLOR, Softmax
from theorax.numerics.kernel_regression import OUTPUTS, QUERIES, Fitted, fit, points
from theorax.numerics.keys import named

N = Size("N", "number of keys")
D = Size("D", "dimension of keys and queries")
C = Parameter("C", "weight of what lies outside the tube", positive=True)
eps = Parameter("eps", "half the width of the tube", nonnegative=True)

POSITIVE = Hypothesis("C > 0 and eps >= 0", unbroken="otherwise one of the two programs has no solution")

SIZES: dict[Size, Efforts[tuple[int, ...]]] = {N: Efforts(quick=(8,), standard=(8, 12), thorough=(8, 12, 16))}
DRAWS = Efforts(quick=2, standard=4, thorough=12)


def each(key: Array, count: int, name: str, *shape: int) -> tuple[Array, ...]:
    """An array of normal entries for each of so many heads, of variance one over its last dimension."""
    return tuple(jax.random.normal(named(key, name, s), shape) / shape[-1] ** 0.5 for s in range(count))


def generic(name: str, *shape: int) -> np.ndarray:
    """An array of independent real symbols."""
    out = np.empty(shape, dtype=object)
    for place in np.ndindex(*shape):
        out[place] = Symbol(f"{name}_{''.join(map(str, place))}", real=True)
    return out


def scalar(name: str) -> np.ndarray:
    """One real symbol as an array without axes."""
    return np.array(Symbol(name, real=True), dtype=object)


__all__ = [
    "DRAWS", "FEATURES", "LINEAR", "OUTPUTS", "PLAIN", "POSITIVE", "QUERIES", "SIZES", "TAYLOR", "C", "D", "Fitted", "N",
    "Softmax", "eps", "fit", "generic", "points",
]  # fmt: skip
