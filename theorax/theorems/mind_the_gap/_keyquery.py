"""One layer of key-query attention on isometric tokens: the program, its hypotheses, the classes of its corrections."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from sympy import Integer, Rational, exp

from theorax.language import Hypothesis, Parameter, Size, Subject
from theorax.numerics.ensembles import bartlett, gaussian
from theorax.numerics.extents import Extent, block
from theorax.numerics.keys import named
from theorax.theorems.mind_the_gap._attention import mean_token_removed, softmax_rows
from theorax.theorems.mind_the_gap._markov import at_an_edge, in_powers

d_qk = Size("d_qk", "width of queries and keys")
beta = Parameter("beta", "standard deviation of the scores", positive=True)
phi = Parameter("phi", "tokens per dimension of the queries, T/d_qk", positive=True)


def attention(
    key: Any,
    T: Extent,
    d_qk: Extent,
    beta: Array,
    sharp: Array,
    wide: Array,
    tied: Array,
    aligned: Array,
    removed: Array,
    groups: Array,
    equal: Array,
    few: Array,
) -> Float[Array, "N N"]:
    """Attention on isometric tokens, whose queries X_0 W_Q and keys X_0 W_K are standard Gaussian whatever the tokens.

    ``sharp`` beta^2 = ln T; ``wide`` queries and keys T times as wide; ``tied`` W_Q = W_K; ``aligned`` tokens of squared norm
    one that share a direction of this squared weight, ``groups`` a direction in each of two groups instead; ``removed``
    the share of the outlier J subtracted; ``equal`` columns of W_Q in turn that are one column, or ``few`` > 0 columns in all.
    """
    zero = jnp.zeros(())
    size = jnp.asarray(T.value, zero.dtype)
    odd = jnp.arange(T.padded)[:, None] % 2 == 1
    ours, shared = jnp.sqrt(1 - aligned), jnp.sqrt(aligned)

    def row(*names: Any) -> Float[Array, "1 K"]:
        return jax.random.normal(named(key, *names), (1, d_qk.padded))

    def rows(name: str) -> Float[Array, "N K"]:
        own, common = jax.random.normal(named(key, name), (T.padded, d_qk.padded)), row(name, 0)
        common = jnp.where((groups > 0) & odd, row(name, 1), common)
        return jnp.where(block(T, d_qk), ours * own + shared * common, 0)

    columns = jnp.arange(d_qk.padded)
    in_turn = jnp.where(few > 0, -(-d_qk.value // jnp.maximum(few, 1)), equal)
    queries = rows("queries")[:, columns - columns % in_turn] * d_qk.mask
    keys = jnp.where(tied, queries, rows("keys"))
    scores = queries @ keys.T / jnp.sqrt(jnp.asarray(d_qk.value, zero.dtype))
    scores = jax.lax.cond(wide, lambda: _of_wide_queries(key, T, d_qk, tied, aligned), lambda: scores)
    A = softmax_rows(jnp.where(sharp, jnp.sqrt(jnp.log(size)), beta) * scores, T)
    return mean_token_removed(A, T, removed)


def _of_wide_queries(key: Any, T: Extent, d_qk: Extent, tied: Array, aligned: Array) -> Float[Array, "N N"]:
    """Scores of queries and keys of width D = T d_qk, in law.

    Q = R O with a Bartlett factor R and orthonormal rows O. Then Q K^T = R O K^T, and O K^T is Gaussian, independent of R.
    The first row is what tokens share.
    """
    rows, wide = Extent(T.value + 1, T.padded + 1), Extent(T.value * d_qk.value, (T.padded + 1) * d_qk.padded)
    R = bartlett(named(key, "wide queries"), rows, wide)
    keys = jnp.where(tied, R.T, gaussian(named(key, "wide keys"), rows, rows))
    S = R @ keys / jnp.sqrt(jnp.asarray(wide.value, R.dtype))
    both = jnp.sqrt(aligned * (1 - aligned)) * (S[1:, :1] + S[:1, 1:])
    return (1 - aligned) * S[1:, 1:] + both + aligned * S[0, 0]


layer = Subject(attention, sharp=0, wide=0, tied=0, aligned=0.0, removed=0.0, groups=0, equal=1, few=0)

TEMPERATURE = Hypothesis("the standard deviation beta of the scores does not grow with T")
INDEPENDENT = Hypothesis("W_Q and W_K are independent, with iid Gaussian entries")
NOT_REMOVED = Hypothesis("nothing is subtracted from the attention matrix")
RATIO = Hypothesis("phi = T/d_qk is fixed as T grows")
WIDE = Hypothesis("queries and keys are much wider than the context is long, T/d_qk tends to zero as T grows")

# By the mean and the variance of e^(beta x), x standard Gaussian.
variance = exp(beta**2) - 1
light = beta <= Rational(3, 5)  # beyond, weights of size e^(4 beta) stand out of the edge at every size in reach
CASES = (
    {beta: Rational(1, 2), phi: Integer(1)}, {beta: Rational(1, 2), phi: Integer(4)}, {beta: Integer(1), phi: Integer(1)},
)

# Moments of normalised weights expand in 1/T; beside that term at most 0.03 was measured at T = 64 on other seeds.
smooth = in_powers(0.1, 64, "moments of normalised weights expand in 1/T")
edges = at_an_edge(0.3, seen=0.1)
