"""The attention of keys to each other is a reversible chain, and the mean of its outputs is the mean of the values.

**Theorem.** Let k(x, y) = phi(x).phi(y), h(x) = sum_j k(x, k_j) not 0, A_lj = k(k_l, k_j)/h_l,
pi_l = h_l/sum h, and f(q) = sum_j k(q, k_j) v_j/h(q) + b, where queries and keys go through the
same map, so k is symmetric. Then pi_l A_lj = pi_j A_jl, pi A = pi,
sum_l pi_l f(k_l) = b + sum_j pi_j v_j, and W = sum_j phi(k_j) gives W phi(q)/h(q) = 1 for every q.
For any weights that sum to one, symmetric or not, values V + 1 c^T with the bias b - c give the
same f as V with b.

**Idea.** The symmetry of k is detailed balance for pi, so pi is the stationary law of the chain A,
and averages over pi pass through A. Hence attention with any values and no bias is the expansion
with centred values and b = sum_j pi_j v_j. As the constant lies in the span of the normalised
features, b adds nothing to the class of functions.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from theorax.language import *
from theorax.numerics.annotations import Entries
from theorax.numerics.kernel_attention import Features, Regression, feature_rows
from theorax.numerics.keys import named
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._regression import FEATURES, LINEAR, OUTPUTS, PLAIN, TAYLOR, D, N

seen = arrays(
    forth="pi_l A_lj",
    back="pi_j A_jl",
    after="pi A",
    law="pi_j = h_j/sum h",
    mean="sum_l pi_l f(k_l)",
    centre="b + sum_j pi_j v_j",
    average="b + the plain mean of the values",
    output="f(q) of values V and bias b",
    shifted="f(q) of values V + 1 c^T and bias b - c",
    same_bias="f(q) of values V + 1 c^T and bias b",
    one="W phi(q)/h(q) with W = sum_j phi(k_j)",
    one_raw="the same with W = sum_j phi(k_j)/h_j",
)

exact = Relative(1, 10**9, "the account of the rounding stays below it, wrong weights are tenths off")
H = hypotheses(symmetric="queries and keys go through the same map, so that k is symmetric")
reversible = Identity(seen.forth, seen.back, under=H.symmetric, margin=exact)
stationary = Identity(seen.after, seen.law, under=H.symmetric, margin=exact)
mean_output = Identity(
    seen.mean, seen.centre, under=H.symmetric, margin=exact, wrong={"the plain mean of the values": seen.average},
)
gauge = Identity(seen.output, seen.shifted, under=(), margin=exact, wrong={"the bias left as it is": seen.same_bias})
constant = Identity(
    seen.one, 1, under=H.symmetric, margin=exact, wrong={"rows summed instead": dict(left=seen.one_raw)},
)


class Chain(eqx.Module):
    """Keys that attend to each other, as queries through a matrix of their own, with any values and bias."""

    features: Features
    keys: Entries[Any, "N D"]
    queries: Entries[Any, "n D"]
    V: Entries[Any, "N v"]
    b: Entries[Any, " v"]
    c: Entries[Any, " v"]
    asks: Entries[Any, "D D"]


def chain(key, N, D, kind, difference):
    """``difference``: of the matrices of the queries and of the keys."""
    keys, queries, V = setting.points(key, N, D)
    turned = jnp.eye(D.padded) + difference * jax.random.normal(named(key, "W_Q"), (D.padded, D.padded))
    b, c = jax.random.normal(named(key, "b"), (2, OUTPUTS))
    return Chain(FEATURES[int(kind)], keys, queries, V, b, c, turned)


def walk(K, asked, V, b, c):
    """Everything that holds of a kernel matrix K between the keys, ``asked`` between queries and keys."""
    h = K.sum(1)
    A, pi = K / h[:, None], h / h.sum()
    weights = asked / asked.sum(1, keepdims=True)
    return dict(
        forth=pi[:, None] * A, back=(pi[:, None] * A).T, after=pi @ A, law=pi,
        mean=pi @ (A @ V + b), centre=b + pi @ V, average=b + V.sum(0) / len(V),
        output=weights @ V + b, shifted=weights @ (V + c) + (b - c), same_bias=weights @ (V + c) + b,
    )


def observe(model):
    phi, keys = model.features, model.keys
    K, asked = phi.kernel(keys @ model.asks.T, keys), phi.kernel(model.queries, keys)
    raw = Regression(phi, keys, feature_rows(phi, keys, keys).sum(0)[None], jnp.zeros(1))
    # The normaliser of the chain's own queries: with two matrices it is not that of the features.
    one = phi(keys) / K.sum(1)[:, None] @ phi(keys).sum(0)
    return walk(K, asked, model.V, model.b, model.c) | dict(one=one, one_raw=raw(model.queries))


def on_symbols(claim):
    g = setting.generic
    K = g("k", 3, 3)
    for i in range(3):
        K[i, :i] = K[:i, i]
    given = (K, g("q", 1, 3), g("v", 3, 1), g("b", 1), g("c", 1))
    yield Instance(claim, "three keys", walk, *given)


@settles(reversible, stationary)
def any_chain(claim):
    """Any symmetric kernel matrix of three keys."""
    yield from on_symbols(claim)


@settles(mean_output)
def any_chain_and_values(claim):
    """Any symmetric kernel matrix of three keys, any values and bias."""
    yield from on_symbols(claim)


@settles(gauge)
def any_query(claim):
    """Any kernel values of one query at three keys, any values, b and c."""
    yield from on_symbols(claim)


@settles(constant)
def constants():
    """Two keys and a query in the plane, phi(x) = x."""
    g = setting.generic
    model = Chain(FEATURES[PLAIN], g("k", 2, 2), g("q", 1, 2), g("v", 2, 1), g("b", 1), g("c", 1), np.eye(2))
    yield Instance(constant, "two keys", observe, model)


walking = Subject(chain, kind=LINEAR, difference=0.0)
theorem = Theorem(
    place="the gauge of the bias: what attention between keys keeps (derived here)",
    label="derived",
    uses=("softmax_attention_support_vector_expansion",),
    hypotheses=H,
    claims=dict(reversible=reversible, stationary=stationary, mean_output=mean_output, gauge=gauge, constant=constant),
    proofs=(any_chain, any_chain_and_values, any_query, constants),
    experiments=dict(
        chain=Experiment(observe, seen, {N: (4, 8)}, at={D: 2}, draws=setting.DRAWS, padded=True, subjects={
            "Taylor features": walking(kind=TAYLOR),
            "linear attention": walking,
            "queries by another matrix": walking(difference=0.5).breaking(
                H.symmetric, fails=(reversible, stationary, mean_output, constant)),
        }),
    ),
    issues=("Reversibility is that of keys that ask through their own map; transformers have two, and no law in closed form.",),
)
