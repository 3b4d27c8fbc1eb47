"""The models that the theorems of this paper measure: attention matrices of positive weights, and networks of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from sympy import Integer

from theorax.language import Parameter, Subject
from theorax.numerics import distributions
from theorax.numerics.ensembles import gaussian, haar_rows, markov, random_markov
from theorax.numerics.extents import Extent, block
from theorax.numerics.keys import named
from theorax.theorems.mind_the_gap._adapters import applied, made
from theorax.theorems.mind_the_gap._attention import mean_token_removed, token_products
from theorax.theorems.mind_the_gap._markov import EXPONENTIAL, WeightLaw, sigma_A


class Forward(eqx.Module):
    """Results of a forward pass: the tokens after each layer, the first attention matrix, the growths of the layers."""

    tokens: Float[Array, "L N M"]
    attention: Float[Array, "N N"]
    growths: Float[Array, " L"]


def forward(
    key: Any,
    T: Extent,
    d: Extent,
    l: int,
    weights: Array,
    removed: Array,
    gaussian_values: Array,
    centred: Array,
    sharp: Array,
    zeros: Array,
    popular: Array,
) -> Forward:
    """The attention-only network of iid Markov matrices, by T x T products equal in law to its tokens.

    The instrument attention_products ties them to the literal network. The options, one program for all of them:
    ``weights`` the law, ``removed`` the share of the outlier subtracted, ``gaussian_values`` or identities,
    ``centred`` Gaussian matrices in the place of Markov matrices, ``sharp`` weights exp(beta g), beta^2 = sharp ln T,
    ``zeros`` the share of the input tokens that are zero, all but two at most, the others of one norm and T in the square,
    ``popular`` weights of every other column larger, and of the columns between smaller, by this share.
    """

    def mixing(key: Any) -> Float[Array, "N N"]:
        return jax.lax.cond(
            centred, lambda: _centred(key, T), lambda: markov_attention(key, T, weights, removed, sharp, popular)
        )

    size = jnp.asarray(T.value, jnp.zeros(()).dtype)
    count = jnp.maximum(jnp.round((1 - zeros) * size), 2)
    norms = jnp.where(jnp.arange(T.padded) < count, jnp.sqrt(size / count), 0)
    sigma = jnp.where(gaussian_values, 1 / jnp.sqrt(jnp.asarray(d.value, norms.dtype)), 1)
    layers = token_products(key, mixing, T, d, l, gaussian_values, sigma, norms)
    return Forward(layers.products, layers.mixings[0], layers.growths)


NETWORK = Subject(
    forward,
    weights=EXPONENTIAL.place,
    removed=0.0,
    gaussian_values=1,
    centred=0,
    sharp=0,
    zeros=0.0,
    popular=0.0,
)


def network(weights: WeightLaw | int = EXPONENTIAL, **changes: Any) -> Subject:
    """A network of these weights with some options changed; a law that grows with T is held against sigma_A = 1."""
    known = weights.sigma_A if isinstance(weights, WeightLaw) else Integer(1)
    return NETWORK(weights=_place(weights), knows={sigma_A: known}, **changes)


def one_matrix(
    key: Any,
    T: Extent,
    weights: Array,
    sharp: Array,
    popular: Array,
    beta: Array,
    tail: Array,
    loose: Array,
    camps: Array,
) -> Float[Array, "N N"]:
    """A random Markov matrix; controls change it.

    ``loose`` exponential weights over the mean of all row sums, instead of each over its own; ``camps`` weights between
    tokens of one parity larger, and of different parity smaller, by this share.
    """
    size, parity = jnp.asarray(T.value, jnp.zeros(()).dtype), _in_turn(T, jnp.ones(())) - 1

    def over_their_mean() -> Float[Array, "N N"]:
        weights = jnp.where(block(T, T), distributions.UnitExponential().sample(key, (T.padded, T.padded)), 0)
        return weights * size / weights.sum()

    A = jax.lax.cond(
        loose,
        over_their_mean,
        lambda: markov_attention(key, T, weights, 0.0, sharp, popular, beta, tail),
    )
    return jnp.where(camps > 0, markov(A * (1 + camps * jnp.outer(parity, parity)), T), A)


MATRIX = Subject(one_matrix, weights=EXPONENTIAL.place, sharp=0, popular=0.0, beta=0.5, tail=3.0, loose=0, camps=0.0)


def matrix(weights: WeightLaw | int, knows: Mapping[Parameter, Any] | None = None, **changes: Any) -> Subject:
    """One attention matrix of these weights; where sigma_A is not known, the one observed takes its place."""
    known = {sigma_A: weights.sigma_A} if isinstance(weights, WeightLaw) else {}
    return MATRIX(weights=_place(weights), knows={**known, **(knows or {})}, **changes)


def _place(weights: WeightLaw | int) -> int:
    return weights.place if isinstance(weights, WeightLaw) else weights


def markov_attention(
    key: Any,
    T: Extent,
    weights: Array,
    removed: Array | float,
    sharp: Array,
    popular: Array,
    beta: Array | float = 1.0,
    tail: Array | float = 3.0,
) -> Float[Array, "N N"]:
    """One random Markov matrix; ``beta`` belongs to lognormal weights that are not sharp, ``tail`` to Pareto's."""
    context = jnp.asarray(T.value, jnp.zeros(()).dtype)
    slope = jnp.where(sharp, jnp.sqrt(jnp.asarray(sharp, context.dtype) * jnp.log(context)), beta)
    menu = (
        distributions.UnitExponential(),
        distributions.UnitUniform(),
        distributions.LogNormal(slope),
        distributions.Pareto(tail),
        distributions.Bernoulli(),
    )
    law = distributions.Choice(weights, menu)
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
        # No law of a growth is known for it, so no claim asks for one.
        return Forward(jnp.stack(tokens), attention, jnp.ones(l))

    return build
