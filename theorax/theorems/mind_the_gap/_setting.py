"""The setting that the theorems of this paper share: its letters, the laws of its weights, the network measured.

T tokens of width d = T/gamma start with orthonormal rows; A is a random Markov matrix, iid positive weights of
coefficient of variation sigma_A divided by their row sums; J = 1 1^T/T and A_perp = A - J. Values are Gaussian with
d sigma_V^2 = 1, which fixes the scale of every singular value and changes no ratio of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sympy import Expr, Integer, Symbol, exp, integrate, oo, simplify, sqrt

from theorax.numerics import laws
from theorax.numerics.adapters import applied, made
from theorax.numerics.annotations import Entries, Scalar
from theorax.numerics.attention import Attention, mean_token_removed, token_products
from theorax.numerics.ensembles import gaussian, haar_rows, markov, random_markov
from theorax.numerics.extents import Extent, block
from theorax.numerics.keys import named
from theorax.theorems.language import Index, Measured, Parameter, Size, Subject

T = Size("T", "context length")
d = Size("d", "width")
l = Index("l", "layer")
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
    """A law of the weights: its place in the menu of samplers, and its coefficient of variation by integration."""

    place: int
    sigma_A: Expr


EXPONENTIAL = Weights(0, coefficient_of_variation(exp(-z), Integer(0), oo))
UNIFORM = Weights(1, coefficient_of_variation(Integer(1), Integer(0), Integer(1)))
LOGNORMAL, PARETO = 2, 3
BERNOULLI = Weights(4, Integer(1))


class Weighted(Attention):
    """Weights over their row sums, divided where the matrix is used: its rows sum to one in every arithmetic.

    ``off`` is added to every row sum, as in a softmax with one more, empty, token; ``columns``: over column sums.
    """

    weights: Entries[Any, "N N"]
    off: Scalar = 0.0
    columns: Scalar = 0

    def __call__(self, X: Float[Array, "N D"] | None, T: Extent) -> Float[Array, "N N"]:
        """The matrix, whatever the tokens."""
        kept = jnp.where(block(T, T), self.weights, 0)
        rows = jnp.where(T.mask, kept.sum(1) + self.off, 1)[:, None]
        return kept / jnp.where(self.columns, jnp.where(T.mask, kept.sum(0), 1)[None, :], rows)


def generic(name: str, rows: int, columns: int) -> Any:
    """A matrix of symbols, to run a program on."""
    return np.array([[Symbol(f"{name}_{i}{j}") for j in range(columns)] for i in range(rows)], dtype=object)


def rows_summing_to_one(name: str, order: int) -> Any:
    """A row-stochastic matrix of symbols: the last entry of each row is one less the others."""
    free = generic(name, order, order - 1)
    return np.column_stack([free, 1 - free.sum(1)])


class Forward(eqx.Module):
    """What a forward pass leaves to be measured: the tokens after each layer, and the first attention matrix."""

    tokens: Float[Array, "L N M"]
    attention: Float[Array, "N N"]


def network(
    key: Any,
    T: Extent,
    d: Extent,
    l: int,
    weights: Array,
    removed: Array,
    gaussian_values: Array,
    centred: Array,
    sharp: Array,
    uneven: Array,
    popular: Array,
) -> Forward:
    """The attention-only network of iid Markov matrices, by T x T products equal in law to its tokens.

    The instrument attention_products ties them to the literal network. The options, one program for all of them:
    ``weights`` the law, ``removed`` the share of the outlier subtracted, ``gaussian_values`` or identities,
    ``centred`` Gaussian matrices in the place of Markov matrices, ``sharp`` weights exp(beta g) with beta^2 = ln T,
    ``uneven`` input tokens of squared norms 1 + uneven and 1 - uneven in turn, ``popular`` weights of every other
    column larger, and of the columns between smaller, by this share.
    """

    def mixing(key: Any) -> Float[Array, "N N"]:
        return jax.lax.cond(
            centred, lambda: _centred(key, T), lambda: markov_attention(key, T, weights, removed, sharp, popular)
        )

    norms = jnp.sqrt(_in_turn(T, uneven))
    sigma = jnp.where(gaussian_values, 1 / jnp.sqrt(jnp.asarray(d.value, norms.dtype)), 1)
    tokens = token_products(key, mixing, T, d, l, gaussian_values, sigma, norms)
    return Forward(tokens, mixing(named(key, "attention", 1)))


def subject(weights: Weights | int = EXPONENTIAL, **changes: Any) -> Subject:
    """A network with some options changed; what is no option of the network goes to the subject."""
    options: dict[str, float] = dict(
        weights=weights.place if isinstance(weights, Weights) else weights,
        removed=0.0,
        gaussian_values=1,
        centred=0,
        sharp=0,
        uneven=0.0,
        popular=0.0,
    )
    for name in set(changes) & set(options):
        options[name] = changes.pop(name)
    knows = {sigma_A: weights.sigma_A if isinstance(weights, Weights) else Integer(1)}
    return Subject(network, options=options, knows=knows, **changes)


def markov_attention(
    key: Any,
    T: Extent,
    weights: Array,
    removed: Scalar,
    sharp: Array,
    popular: Array,
    beta: Scalar = 1.0,
    tail: Scalar = 3.0,
) -> Float[Array, "N N"]:
    """One random Markov matrix; ``beta`` belongs to lognormal weights that are not sharp, ``tail`` to Pareto's."""
    context = jnp.asarray(T.value, jnp.zeros(()).dtype)
    slope = jnp.where(sharp, jnp.sqrt(jnp.log(context)), beta)
    menu = (laws.Exponential(), laws.Uniform(), laws.LogNormal(slope), laws.Pareto(tail), laws.Bernoulli())
    law = laws.Choice(weights, menu)
    # Rows forget their scale, so columns may as well be rescaled after the rows were made to sum to one.
    A = random_markov(key, law, T)
    A = jnp.where(popular > 0, markov(A * _in_turn(T, popular), T), A)
    return mean_token_removed(A, T, removed)


def _in_turn(T: Extent, share: Array) -> Float[Array, " N"]:
    """1 + share and 1 - share in turn."""
    return jnp.where(jnp.arange(T.padded) % 2 == 0, 1 + share, 1 - share)


def _centred(key: Any, T: Extent) -> Float[Array, "N N"]:
    return gaussian(key, T, T, 1 / jnp.sqrt(jnp.asarray(T.value, jnp.zeros(()).dtype)))


def user_layer(factory: Callable[..., Any]) -> Callable[..., Array]:
    """The attention matrix of a user's layer at T orthonormal tokens of width T."""

    def build(key: Any, T: Extent) -> Array:
        X, size = haar_rows(named(key, "tokens"), T, T), T.padded
        layer = made(factory, named(key, "layer", 1), size, size)
        return applied(layer.attention, X, (size, size), "attention")

    return build


def user_network(factory: Callable[..., Any]) -> Callable[..., Forward]:
    """A user's layer, l times over with fresh weights, on orthonormal tokens; X_l divided by its Frobenius norm."""

    def build(key: Any, T: Extent, d: Extent, l: int) -> Forward:
        X, (size, width) = haar_rows(named(key, "tokens"), T, d), (T.padded, d.padded)
        layers = [made(factory, named(key, "layer", layer), size, width) for layer in range(1, l + 1)]
        attention, tokens = applied(layers[0].attention, X, (size, size), "attention"), []
        for layer in layers:
            X = applied(layer, X, (size, width), "__call__")
            X = X / jnp.linalg.norm(X)
            tokens.append(X)
        return Forward(jnp.stack(tokens), attention)

    return build


def observed_coefficient_of_variation(attention: Float[Array, "N N"], T: Extent) -> Float[Array, ""]:
    """||A - J||_F: the entries of a row-stochastic matrix have mean 1/T exactly and variance ||A - J||_F^2/T^2."""
    return jnp.linalg.norm(mean_token_removed(attention, T))
