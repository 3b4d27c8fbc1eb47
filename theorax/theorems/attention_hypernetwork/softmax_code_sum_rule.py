"""Codes that are normalised over the keys sum to one, so that the generated matrices of a query sum to sum_h M_h.

**Theorem.** Let softmax normalise the scores of each head over the keys that a query may see: all
keys, or those up to the query. Other keys have the weight zero. Then the codes satisfy sum_k a_hqk
= 1 for every query q and head h. The matrices W_qk = sum_h a_hqk M_h, M_h = W_h^O W_h^V, satisfy
sum_k W_qk = sum_h M_h for every q. If all tokens are equal to x, the output at every query is sum_h
(M_h x + W_h^O b_h^V) + b^O, whatever the scores are.

**Idea.** The sum over the keys acts on the codes alone, and those of each head sum to one. A head
that averages equal values returns this value. Scores without normalisation, codes normalised over
the heads and dropout of weights do not obey the rule.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.attention_hypernetwork import _coded_heads as setting
from theorax.theorems.attention_hypernetwork._coded_heads import (
    CAUSAL,
    HEADS,
    PLAIN,
    SOFTMAX,
    CodedHeads,
    D,
    HeadScores,
    T,
    generated,
    h,
)

seen = arrays(
    sums="sum_k z_qk, for every query and head",
    totals="sum_k W_qk, for every query",
    matrices="sum_h M_h, once for every query",
    means="sum_h M_h over T, once for every query",
    outputs="the outputs, less b^O",
    mapped="(sum_h (M_h x + W_h^O b_h^V)) for x = x_1, once for every query",
    first="M_1 x + W_1^O b_1^V for x = x_1, once for every query",
)

H = hypotheses(
    normalised="the scores are normalised over the keys that a query may see",
    equal="all tokens are equal",
)
exact = Relative(1, 10**9, "the account of the rounding stays below it; a wrong term is of the order of the matrices")
codes = Identity(seen.sums, 1, under=H.normalised, margin=exact, wrong={"the mean over the keys": 1 / T})
totals = Identity(
    seen.totals, seen.matrices, under=H.normalised, margin=exact, wrong={"the mean over the keys": seen.means},
)
outputs = Identity(seen.outputs, seen.mapped, margin=exact, wrong={"the first head alone": seen.first})


class CodedTokens(eqx.Module):
    """A layer, its tokens, what makes their codes, and the share of the weights that is kept."""

    layer: CodedHeads
    scores: HeadScores
    X: jax.Array
    kind: jax.Array
    kept: jax.Array


def build(key, T, h, D, kind, apart, dropout):
    x, others = jax.random.normal(named(key, "token"), (D,)), jax.random.normal(named(key, "tokens"), (T, D))
    kept = 1 - dropout * jax.random.bernoulli(named(key, "dropout"), 0.5, (h, T, T))
    scores = setting.drawn_scores(named(key, "scores"), h, D)
    return CodedTokens(setting.drawn_heads(key, h, D), scores, x + apart * others, kind, kept)


def compare(layer, codes, X):
    """Sums over the keys, and what they are said to be."""
    repeat, matrices = np.ones((codes.shape[1], 1)), layer.matrices
    each = jnp.einsum("hde,e->hd", matrices, X[0]) + layer.shifts
    total = matrices.sum(0)[None] * repeat[:, :, None]
    return dict(
        sums=codes.sum(2), totals=generated(layer, codes).sum(1), matrices=total, means=total / len(X),
        outputs=layer(codes, X) - layer.b_O, mapped=each.sum(0)[None] * repeat, first=each[0][None] * repeat,
    )


def observe(model):
    # Every query sees itself, so that dropout leaves something in every row.
    codes = setting.normalised(model.scores(model.X), model.kind) * model.kept
    return compare(model.layer, codes, model.X)


def normalised_codes(count):
    """Codes of symbols for two heads: the last key has one less the others."""
    free = generic_entries("z", 2, count, count - 1)
    return np.concatenate([free, 1 - free.sum(2, keepdims=True)], axis=2)


@settles(codes, totals)
def any_scores(claim):
    """Two heads of width one, two tokens in the plane, any weights, any codes of sum one."""
    layer = setting.generic_layer(2, 1, 2)
    yield Instance(claim, "two tokens", compare, layer, normalised_codes(2), generic_entries("x", 2, 2))


@settles(outputs)
def equal_tokens():
    """Two heads of width one, three equal tokens in the plane, any weights and biases, any codes of sum one."""
    g = generic_entries
    layer = CodedHeads(g("V", 2, 1, 2), g("O", 2, 2, 1), g("b", 2, 1), g("o", 2))
    X = np.stack([g("x", 2)] * 3)
    yield Instance(outputs, "three tokens", compare, layer, normalised_codes(3), X)


@lemma
def every_size():
    """One head of any width, any numbers of tokens and queries: u holds ones, P is the transposed matrix of its codes."""
    M, P, u, w, x = generic_matrices("M P u w x")
    # x u^T are equal tokens as columns; the columns of P sum to one: u^T P = w^T.
    rows = ((u * P, w),)
    yield MatrixStep("equal tokens leave the head as M x", M * (x * u) * P, M * x * w, rows)


whole = Subject(build, kind=int(SOFTMAX), apart=0.0, dropout=0.0)
both = (codes, totals, outputs)
theorem = Theorem(
    place="a consequence of softmax for the codes (derived here)",
    label="derived",
    uses=("mha_is_linear_hypernetwork",),
    hypotheses=H,
    claims=dict(codes=codes, totals=totals, outputs=outputs),
    proofs=(any_scores, equal_tokens, every_size),
    experiments=dict(
        layers=Experiment(
            observe, seen, setting.TOKENS, at={h: 3, D: 4}, draws=setting.DRAWS,
            subjects={
                "softmax": whole,
                "causal softmax": whole(kind=int(CAUSAL)),
                "no normalisation": whole(kind=int(PLAIN)).breaking(H.normalised, fails=both),
                "root mean square over heads": whole(kind=int(HEADS)).breaking(H.normalised, fails=both),
                "dropout of half the weights": whole(dropout=1.0).breaking(H.normalised, fails=both),
                "tokens apart": whole(apart=1.0).breaking(H.equal, fails=outputs),
            },
        ),
    ),
    issues=("The sums do not say which keys a head reads: every softmax has them.",),
)
