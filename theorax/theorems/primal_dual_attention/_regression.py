"""The setting that the theorems of this paper share: keys, and a regression fitted on them through phi(x)/h(x).

k(x, y) = phi(x) . phi(y), h(x) = sum_j k(x, k_j), h_j = h(k_j), rows x_j = phi(k_j)/h_j and G = (x_j . x_l). The dual
has the coefficients beta = alpha - alphat; the values of the attention layer are v_j = beta_j/h_j. The programs are
solved where a model is built (`_kernel_regression`); C and eps are cases of an experiment.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from jaxtyping import Array
from sympy import Symbol, transpose

from theorax.language import Efforts, Hypothesis, MatrixStep, Parameter, Size, generic_matrices, lemma
from theorax.numerics.kernel_attention import FEATURES, KERNELS, LINEAR, PLAIN, SOFTMAX, TAYLOR
from theorax.numerics.keys import named
from theorax.theorems.primal_dual_attention._kernel_regression import OUTPUTS, QUERIES, Fitted, fit, points

N = Size("N", "number of keys")
D = Size("D", "dimension of keys and queries")
C = Parameter("C", "weight of what lies outside the tube", positive=True)
eps = Parameter("eps", "half the width of the tube", nonnegative=True)

POSITIVE = Hypothesis("C > 0 and eps >= 0", unbroken="otherwise one of the two programs has no solution")
NORMALISER = Hypothesis("h_j is not zero", unbroken="there are no rows otherwise; both kernels are positive")

SIZES: dict[Size, Efforts[tuple[int, ...]]] = {N: Efforts((8,), (8, 12), (8, 12, 16))}
DRAWS = Efforts(2, 4, 12)


def each(key: Array, count: int, name: str, *shape: int) -> tuple[Array, ...]:
    """An array of normal entries for each of so many heads, of variance one over its last dimension."""
    return tuple(jax.random.normal(named(key, name, s), shape) / shape[-1] ** 0.5 for s in range(count))


def generic(name: str, *shape: int) -> Any:
    """An array of independent real symbols, the one of this name where no shape is given."""
    out = np.empty(shape, dtype=object)
    for place in np.ndindex(*shape):
        out[place] = Symbol("_".join([name, "".join(map(str, place))]) if shape else name, real=True)
    return out


@lemma
def every_set() -> Iterator[MatrixStep]:
    """Any number of keys, features, outputs and heads; any set of keys: E keeps it, R = diag(1/h_j) and beta are its own."""
    E, F, R, beta, phi, b, H, rest = generic_matrices("E F R beta phi b H f")
    h = Symbol("h", positive=True)  # h(q) of this head alone
    regression = transpose(beta) * R * (E * F) * phi / h + b  # W = sum_j beta_j phi(k_j)/h_j
    # In the masked layer a key outside the set has no weight: as if its value were zero.
    layer = transpose(transpose(E) * (R * beta)) * (F * phi) / h + b
    diagonal = ((transpose(R), R),)
    yield MatrixStep("W phi(q)/h(q) + b is the masked layer with the values beta_j/h_j", regression, layer, diagonal)
    yield MatrixStep("one head more", rest + H * regression, rest + H * layer, diagonal)


__all__ = [
    "DRAWS", "FEATURES", "KERNELS", "LINEAR", "NORMALISER", "OUTPUTS", "PLAIN", "POSITIVE", "QUERIES", "SIZES", "SOFTMAX",
    "TAYLOR", "C", "D", "Fitted", "N", "each", "eps", "every_set", "fit", "generic", "points",
]
