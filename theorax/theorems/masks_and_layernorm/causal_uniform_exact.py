"""Uniform causal attention is diagonal in Pascal's matrix: tokens meet like 2^(-t), and the first one takes all context.

**Theorem.** Let N tokens have uniform causal attention, A_ij = 1/i for j <= i (W_Q = 0), and
P_ij = binom(i - 1, j - 1). Then A P = P diag(1, 1/2, ..., 1/N), and (A^t)_ij = sum_k
binom(i - 1, k - 1) (-1)^(k - j) binom(k - 1, j - 1) k^(-t). Let further W_V = I, x_1 != x_2, and mu
be the Frobenius norm of the tokens without their mean. Then 2^t mu(X_t)/|x_2 - x_1| -> sqrt(N
(N^2 - 1)/12) as t -> oo.

**Idea.** The hockey-stick identity says that P diagonalises A. In A^t the eigenvalue one belongs to
the first column of P, the vector of ones, so all rows tend to the first token. The slowest part of
the differences is 2^(-t) (x_2 - x_1) times the second column 0, 1, ..., N - 1, whose norm without
its mean is sqrt(N (N^2 - 1)/12). Corrections are of the order (2/3)^t.
"""

from math import comb
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Integer, Rational, Sum, Symbol, binomial, oo, sqrt

from theorax.language import *
from theorax.numerics.annotations import Entries
from theorax.numerics.keys import named
from theorax.theorems.masks_and_layernorm._masked_attention import (
    CAUSAL,
    CAUSAL_WINDOW,
    STAR,
    MaskedLayer,
    distance_from_mean,
    mask_of,
    masks_of,
)

t = Size("t", "number of layers")
N = Size("N", "number of tokens")
seen = arrays(
    product="A P, A the attention matrix of a layer and P Pascal's matrix",
    scaled="P diag(1, 1/2, ..., 1/N)",
    after="A^t, the product of the attention matrices of t layers",
    sums="sum over k of binom(i - 1, k - 1) (-1)^(k - j) binom(k - 1, j - 1) k^(-t)",
    simple="binom(i - 1, j - 1) j^(-t), the first of these terms alone",
)
met = numbers(
    distance="2^t mu(X_t)/|x_2 - x_1|, mu the norm of the tokens without their mean", far="2^t mu(X_t)/|x_N - x_1|",
    positive=True,
)

H = hypotheses(
    causal="token i attends to tokens 1, ..., i",
    uniform="scores do not depend on the tokens: W_Q = 0",
)
exact = Relative(1, 10**9, "the account of the rounding stays below it, a wrong entry is of order one")
diagonal = Identity(seen.product, seen.scaled, margin=exact, wrong={"no 1/k": dict(right=seen.product * 2)})
powers = Identity(seen.after, seen.sums, margin=exact, wrong={"the slowest term of a column alone": seen.simple})
fast = Corrections(
    size=Rational(1, 100), slowest=4, fastest=16, rest=0, reference=20,
    reason="terms (2/3)^t, which fall faster than t^(-8) from t = 20 on; at most 0.003 at t = 20 on other seeds",
)
constant = Limit(
    met.distance, sqrt(N * (N**2 - 1) / 12), as_=t, spread=N**2 / 30 * Rational(2, 3) ** t, approach=fast,
    margin=Relative(1, 20, "with its mean left in it the norm is twice as large; one token less moves it by a fifth at N = 8"),
    wrong={
        "the second moment, not centred": sqrt(N * (N - 1) * (2 * N - 1) / 6),
        "N (N^2 - 1)/6": sqrt(N * (N**2 - 1) / 6),
        "the distance of the last token": dict(of=met.far),
    },
)


class Tokens(eqx.Module):
    """A layer that all depths share, and the tokens at its input."""

    layer: MaskedLayer
    X: Entries[Any, "N d"]
    places: Entries[Any, " N"]  # 1, ..., N


def tokens(key, N, mask, scores):
    """Standard normal tokens in four dimensions; ``mask`` and ``scores`` as in the theorem, or a control."""
    d = 4
    masks = masks_of((CAUSAL, STAR, CAUSAL_WINDOW), N, 3)
    W_Q = scores * jax.random.normal(named(key, "queries"), (d, d))
    W_K = jax.random.normal(named(key, "keys"), (d, d))
    X = jax.random.normal(named(key, "tokens"), (N, d))
    return Tokens(MaskedLayer(W_Q, W_K, jnp.eye(d), masks[mask]), X, jnp.arange(1.0, N + 1))


def observe(model, t):
    """Differences to the first token are followed beside the tokens: they are not lost in the rounding of what all share."""

    def layer(state, _):
        X, differences = state
        mixed = model.layer.weights(X) @ differences
        return (model.layer(X), mixed - mixed[0]), None

    X = model.X
    differences = jax.lax.scan(layer, (X, X - X[0]), length=t)[0][1]
    scaled = 2.0**t * distance_from_mean(differences)
    length = lambda x: jnp.sqrt((x * x).sum())
    return dict(distance=scaled / length(X[1] - X[0]), far=scaled / length(X[-1] - X[0]))


def matrices(model, N):
    """The attention matrix of the layer at its tokens beside Pascal's, for three layers."""
    A, k = model.layer.weights(model.X), model.places
    pascal = np.array([[comb(row, column) for column in range(N)] for row in range(N)], float)
    inverse = pascal * (-1.0) ** np.add.outer(range(N), range(N))
    return dict(
        product=A @ pascal, scaled=pascal / k, after=A @ A @ A, sums=(pascal / k**3) @ inverse, simple=pascal / k**3
    )


depth = Symbol("t", positive=True)
i, j, k = (Symbol(name, integer=True, positive=True) for name in "ijk")
m = Symbol("m", integer=True, nonnegative=True)


@settles(diagonal, powers)
def any_tokens(claim):
    """Any tokens, keys and values; N = 3, 4."""
    for order in (3, 4):
        X, W_K, W_V = generic_entries("x", order, 2), generic_entries("k", 2, 2), generic_entries("v", 2, 2)
        layer = MaskedLayer(0 * W_K, W_K, W_V, mask_of(CAUSAL, order))
        places = np.array([Integer(place) for place in range(1, order + 1)], dtype=object)
        yield Instance(claim, f"N = {order}", matrices, Tokens(layer, X, places), order)


@lemma
def hockey_stick():
    """Every N: entry (i, k) of A P and of P diag(1, 1/2, ...), and of P times the inverse that is claimed."""
    yield Step(
        "a column of Pascal's triangle, over i", Sum(binomial(j - 1, k - 1), (j, k, i)) / i, binomial(i - 1, k - 1) / k
    )
    # binom(i - 1, k - 1) binom(k - 1, j - 1) = binom(i - 1, j - 1) binom(i - j, k - j), and alternating sums vanish.
    yield Step("P^(-1), below the diagonal", Sum((-1) ** k * binomial(m + 1, k), (k, 0, m + 1)), Integer(0))


@lemma
def drain():
    """Every N: of (A^t)_(i1) the term k = 1 is one, and the others vanish."""
    more = Symbol("m", positive=True)
    yield Step("k^(-t) of k = 1 + m", sympy.Limit((1 + more) ** (-depth), depth, oo), Integer(0))


@derives(constant)
def second_column():
    """Every N: the second column of P and its norm without its mean; what multiplies it is x_2 - x_1."""
    centred = (j - (N - 1) / 2) ** 2
    yield Step("squared norm of 0, 1, ..., N - 1 without its mean", Sum(centred, (j, 0, N - 1)), constant.to**2)
    yield Step("its root", sqrt(sympy.factor(constant.to**2)), constant.to)


causal = Subject(tokens, mask=0, scores=0.0)
theorem = Theorem(
    place="uniform attention under the causal mask (derived here)",
    label="derived",
    hypotheses=H,
    claims=dict(diagonal=diagonal, powers=powers, constant=constant),
    proofs=(any_tokens, hockey_stick, drain, second_column),
    experiments=dict(
        depths=Experiment(observe, met, {t: (20, 30, 40)}, at=({N: 4}, {N: 8}), draws=Efforts(40, 60, 200), subjects={
            "causal": causal,
            "star": causal(mask=1).breaking(H.causal, fails=constant),
            "causal window of three": causal(mask=2).breaking(H.causal, fails=constant),
            "scores of random weights": causal(scores=1.0).breaking(H.uniform, fails=constant),
        }),
        layers=Experiment(matrices, seen, {N: Efforts((4, 8), (4, 8), (4, 8, 16))}, draws=Efforts(2, 3, 8), subjects={
            "causal": causal,
            "star": causal(mask=1).breaking(H.causal, fails=(diagonal, powers)),
            "scores of random weights": causal(scores=1.0).breaking(H.uniform, fails=(diagonal, powers)),
        }),
    ),
    issues=("The rate ln 2 is that of uniform attention; how much of it other weights share is asked elsewhere.",),
)
