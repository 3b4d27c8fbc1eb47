"""Multi-head attention applies to every key the matrix that a linear hypernetwork makes of the code of the pair.

**Theorem.** Let multi-head attention have any codes a_hqk, with any mask and any normalisation of
the scores. Let its output at q be W^O times the concatenated heads sum_k a_hqk (W_h^V x_k + b_h^V),
plus b^O, let W_h^O be the block of W^O for head h, and W_qk = sum_h a_hqk W_h^O W_h^V. Then the
output is sum_k (W_qk x_k + sum_h a_hqk W_h^O b_h^V) + b^O. Without b^O it is linear in the codes:
the codes z + c z' give the output for z plus c times that for z'. If the codes are the softmax of
(W_h^Q x_q).(W_h^K x_k)/sqrt(d_k) over all keys, the layer equals equinox.nn.MultiheadAttention with
these weights, at d_k = 4.

**Idea.** W^O times the concatenated heads is the sum over h of W_h^O times the output of head h.
Exchange the sums over heads and keys. So a linear hypernetwork with H basis matrices, the same for
all pairs, turns the code of a pair into its matrix. With biases the network of a pair is affine,
and b^O is added once for a query, not once for a key.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

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
    generated,
    h,
)

seen = arrays(
    attention="multi-head attention, with its biases",
    generated="sum_k (W_qk x_k + sum_h a_hqk W_h^O b_h^V) + b^O",
    each_key="the same with b^O added for every key",
    linear="the same without b_h^V",
    queries="sum_k W_qk applied to the query, and the biases",
    mixed="attention, less b^O, by the codes z + c z'",
    mixture="attention, less b^O, by z, plus c times that by z'",
    squared="attention, less b^O, by z, plus c^2 times that by z'",
    softmax="multi-head attention by softmax over the keys",
    equinox="equinox.nn.MultiheadAttention with these weights",
)

H = hypotheses(linear="the outputs of the heads are concatenated and projected linearly")
exact = Relative(1, 10**9, "the account of the rounding stays below it; a wrong term is of the order of the output")
reformulation = Identity(
    seen.attention, seen.generated, margin=exact,
    wrong={
        "b^O added for every key": seen.each_key, "no biases of the values": seen.linear,
        "one matrix for a query, as with fast weights": seen.queries,
    },
)
linearity = Identity(seen.mixed, seen.mixture, margin=exact, wrong={"degree two in the code": seen.squared})
is_multihead = Identity(seen.softmax, seen.equinox, under=(), margin=exact)


class CodedSequence(eqx.Module):
    """A layer, tokens, and another layer's scores, of which the second codes are made."""

    layer: CodedHeads
    scores: HeadScores
    others: HeadScores
    X: jax.Array
    share: jax.Array
    kind: jax.Array


def build(key, T, h, D, kind, rectified):
    draw = lambda name: setting.drawn_scores(named(key, name), h, D)
    X, share = jax.random.normal(named(key, "tokens"), (T, D)), jax.random.normal(named(key, "share"))
    return CodedSequence(
        setting.drawn_heads(key, h, D, bool(rectified)), draw("scores"), draw("others"), X, share, kind
    )


def compare(layer, codes, X):
    """The layer as it is computed, as the networks of its codes, and rivals of the latter."""
    W, count = generated(layer, codes), len(X)
    linear = jnp.einsum("qkde,ke->qd", W, X) + layer.b_O
    shifts = jnp.einsum("hqk,hd->qd", codes, layer.shifts)
    return dict(
        attention=layer(codes, X), generated=linear + shifts, each_key=linear + shifts + (count - 1) * layer.b_O, linear=linear,
        queries=jnp.einsum("qkde,qe->qd", W, X) + shifts + layer.b_O,
    )


def mix(layer, z, other, X, c):
    """Two codes, alone and together."""
    bare = lambda codes: layer(codes, X) - layer.b_O
    return dict(mixed=bare(z + c * other), mixture=bare(z) + c * bare(other), squared=bare(z) + c**2 * bare(other))


def library(layer, scores, X):
    """The layer with softmax over the keys, and Equinox's module with its weights."""
    count, width = scores.W_Q.shape[:2]
    module = eqx.nn.MultiheadAttention(
        count, X.shape[1], qk_size=width, vo_size=layer.W_V.shape[1], use_value_bias=True, use_output_bias=True,
        key=jax.random.key(0),
    )
    flat = lambda W: W.reshape(-1, W.shape[-1])
    weights = (
        flat(scores.W_Q), flat(scores.W_K), flat(layer.W_V), layer.b_V.reshape(-1),
        jnp.concatenate(list(layer.W_O), axis=1), layer.b_O,
    )
    places = lambda m: (
        m.query_proj.weight, m.key_proj.weight, m.value_proj.weight, m.value_proj.bias, m.output_proj.weight,
        m.output_proj.bias,
    )
    module = eqx.tree_at(places, module, weights)
    return dict(softmax=layer(setting.over_keys(scores(X)), X), equinox=module(X, X, X))


def observe(model):
    layer, X = model.layer, model.X
    z, other = (setting.normalised(scores(X), model.kind) for scores in (model.scores, model.others))
    plain = CodedHeads(layer.W_V, layer.W_O, layer.b_V, layer.b_O)
    return compare(layer, z, X) | mix(layer, z, other, X, model.share) | library(plain, model.scores, X)


def two_heads():
    """Two heads of width one, two tokens in the plane, any weights, biases and codes."""
    g = generic_entries
    return CodedHeads(g("V", 2, 1, 2), g("O", 2, 2, 1), g("b", 2, 1), g("o", 2)), g("z", 2, 2, 2), g("x", 2, 2)


@settles(reformulation)
def any_codes():
    """Two heads of width one, two tokens in the plane, any weights, biases and codes."""
    yield Instance(reformulation, "two heads", compare, *two_heads())


@settles(linearity)
def any_two_codes():
    """Two heads of width one, two tokens in the plane, any weights, any two codes and factor."""
    layer, z, X = two_heads()
    yield Instance(linearity, "two heads", mix, layer, z, generic_entries("y", 2, 2, 2), X, generic_entries("c"))


@settles(is_multihead)
def softmax_heads():
    """Two heads with keys of width four and values of width one, two tokens of dimension one, any weights."""
    g = generic_entries
    layer = CodedHeads(g("V", 2, 1, 1), g("O", 2, 1, 1), g("b", 2, 1), g("o", 1))
    scores = HeadScores(g("q", 2, setting.KEY_WIDTH, 1), g("k", 2, setting.KEY_WIDTH, 1))
    yield Instance(is_multihead, "two heads", library, layer, scores, g("x", 2, 1))


@lemma
def every_width():
    """Two heads of any widths, dimensions and numbers of tokens: the columns of x are tokens, those of P_h are codes."""
    P_1, P_2, V_1, V_2, O_1, O_2, x = generic_matrices("P_1 P_2 V_1 V_2 O_1 O_2 x")
    W, E_1, E_2 = generic_matrices("W E_1 E_2")  # E_h puts the output of head h into its place
    blocks = ((W * E_1, O_1), (W * E_2, O_2))
    heads = W * (E_1 * V_1 * x * P_1 + E_2 * V_2 * x * P_2)
    yield MatrixStep("concatenated and projected", heads, O_1 * V_1 * x * P_1 + O_2 * V_2 * x * P_2, blocks)


whole = Subject(build, kind=int(SOFTMAX), rectified=False)
theorem = Theorem(
    place="the reformulation of multi-head attention as a linear hypernetwork",
    label="reconstructed",
    hypotheses=H,
    claims=dict(reformulation=reformulation, linearity=linearity, is_multihead=is_multihead),
    proofs=(any_codes, any_two_codes, softmax_heads, every_width),
    experiments=dict(
        layers=Experiment(
            observe, seen, setting.TOKENS, at={h: 3, D: 4}, draws=setting.DRAWS,
            subjects={
                "softmax over keys": whole,
                "causal softmax": whole(kind=int(CAUSAL)),
                "no normalisation": whole(kind=int(PLAIN)),
                "root mean square over heads": whole(kind=int(HEADS)),
                "ReLU before the output projection": whole(rectified=True).breaking(H.linear, fails=(reformulation, linearity)),
            },
        ),
    ),
    issues=(
        "Nothing is trained here; codes of trained networks, which the paper reads sub-tasks from, are not looked at.",
        "The networks cost T^2 D^2 for each head, which is why nobody computes attention by them.",
    ),
)
