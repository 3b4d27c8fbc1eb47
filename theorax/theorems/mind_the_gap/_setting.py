"""The setting that the theorems of this paper share: its letters, the laws of its weights, the network that is measured.

T tokens of width d = T/gamma start with orthonormal rows; A is a random Markov matrix, iid positive weights of coefficient
of variation sigma_A divided by their row sums; J = 1 1^T/T and A_perp = A - J. Values are Gaussian with d sigma_V^2 = 1,
which fixes the scale of every singular value and changes no ratio of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float
from sympy import Expr, Rational, Symbol, exp, integrate, oo, simplify, sqrt

from theorax.numerics import laws
from theorax.numerics.attention import markov_products, mean_token_removed
from theorax.numerics.ensembles import bartlett, gaussian, haar_rows, random_markov
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.language import Index, Measured, Parameter, Size

T = Size("T", "context length")
d = Size("d", "width")
l = Index("l", "layer")  # noqa: E741  (the paper's letter)
gamma = Parameter("gamma", "tokens per dimension, T/d", positive=True)
cv = Measured("cv", "coefficient of variation of the attention weights as observed, ||A - J||_F")
sigma_A = Parameter("sigma_A", "coefficient of variation of the attention weights", positive=True, measured=cv)

z = Symbol("z", positive=True)


def coefficient_of_variation(density: Expr, low: Expr, high: Expr) -> Expr:
    """Standard deviation over mean of the law with this density on (low, high), by integration."""
    first, second = (integrate(z**power * density, (z, low, high)) for power in (1, 2))
    return simplify(sqrt(second - first**2) / first)


@dataclass(frozen=True)
class Weights:
    """A law of the weights: its sampler, and its coefficient of variation by integration of its density."""

    sampler: laws.Law
    sigma_A: Expr


EXPONENTIAL = Weights(laws.Exponential(), coefficient_of_variation(exp(-z), Rational(0), oo))
UNIFORM = Weights(laws.Uniform(), coefficient_of_variation(Rational(1), Rational(0), Rational(1)))


class Forward(eqx.Module):
    """What a forward pass leaves to be measured: the tokens after each layer, and the first attention matrix."""

    tokens: Float[Array, "L N M"]
    attention: Float[Array, "N N"]


def markov_network(law: laws.Law, removed: float = 0.0, values: str = "gaussian") -> Callable[..., Forward]:
    """Networks of iid Markov matrices, by T x T products equal in law to the tokens (instrument attention_products)."""

    def build(key: Any, T: Extent, d: Extent, l: int) -> Forward:  # noqa: E741
        products = markov_products(key, law, T, d, l, removed, values, sigma=_scale(values))
        attention = random_markov(named(key, "attention", 1), law, T)
        return Forward(products, mean_token_removed(attention, T, removed))

    return build


def sharp_softmax(key: Any, T: Extent, d: Extent, l: int) -> Forward:  # noqa: E741
    """Weights exp(beta g) with beta^2 = ln T: the coefficient of variation grows with T."""
    beta = jnp.sqrt(jnp.log(jnp.asarray(T.value, jnp.zeros(()).dtype)))
    law = laws.LogNormal(beta)
    products = markov_products(key, law, T, d, l, sigma="1/sqrt(d)")
    return Forward(products, random_markov(named(key, "attention", 1), law, T))


def zero_mean_attention(key: Any, T: Extent, d: Extent, l: int) -> Forward:  # noqa: E741
    """Gaussian matrices of mean zero and variance 1/T in the place of Markov matrices: no row sums, no outlier."""
    scale = 1 / jnp.sqrt(jnp.asarray(T.value, jnp.zeros(()).dtype))
    return _products(key, T, d, l, lambda layer: gaussian(named(key, "attention", layer), T, T, scale))


def uneven_tokens(key: Any, T: Extent, d: Extent, l: int) -> Forward:  # noqa: E741
    """Orthogonal input tokens, every other one of squared norm 9/5, the rest of squared norm 1/5."""
    norms = jnp.where(jnp.arange(T.padded) % 2 == 0, jnp.sqrt(1.8), jnp.sqrt(0.2))

    def attention(layer: int) -> Float[Array, "N N"]:
        A = random_markov(named(key, "attention", layer), laws.Exponential(), T)
        return A * norms if layer == 1 else A

    return _products(key, T, d, l, attention)


def user_network(factory: Callable[..., Any]) -> Callable[..., Forward]:
    """A user's layer, l times over with fresh weights, on orthonormal tokens; X_l in units of its largest singular value."""
    from theorax.numerics.adapters import adapt

    def build(key: Any, T: Extent, d: Extent, l: int) -> Forward:  # noqa: E741
        X, tokens, attention = haar_rows(named(key, "tokens"), T, d), [], None
        for layer in range(1, l + 1):
            module = adapt(factory(named(key, "layer", layer), int(T.value), int(d.value)))
            attention = module.attention(X) if attention is None else attention
            X = module(X)
            X = X / jnp.linalg.norm(X, ord=2)
            tokens.append(X)
        return Forward(jnp.stack(tokens), attention)

    return build


def observed_coefficient_of_variation(attention: Float[Array, "N N"], T: Extent) -> Float[Array, ""]:
    """||A - J||_F: the entries of a row-stochastic matrix have mean 1/T exactly and variance ||A - J||_F^2/T^2."""
    return jnp.linalg.norm(mean_token_removed(attention, T))


def _products(key: Any, T: Extent, d: Extent, depth: int, attention: Callable[[int], Array]) -> Forward:
    M, products = None, []
    for layer in range(1, depth + 1):
        R = bartlett(named(key, "values", layer), T, d) / jnp.sqrt(jnp.asarray(d.value, jnp.zeros(()).dtype))
        A = attention(layer)
        M = (A if M is None else A @ M) @ R
        products.append(M)
    return Forward(jnp.stack(products), attention(1))


def _scale(values: str) -> Any:
    return "1/sqrt(d)" if values == "gaussian" else 1.0

