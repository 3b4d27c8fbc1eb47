"""The matrices W_qk of one layer span at most H dimensions, and each has at most the rank H d_v.

**Theorem.** Let M_h = W_h^O W_h^V be the matrices of H heads of width d_v, and W_qk = sum_h a_hqk
M_h with any weights and any codes a_hqk. Then the matrices W_qk of all pairs (q, k) span at most H
dimensions, each M_h has rank at most d_v, and each W_qk has rank at most H d_v. The last bound also
holds for W_qk = (sum_h a_hqk W_h^O)(sum_g a_gqk W_g^V), the matrices of HYLA with the identity.
Dimension and ranks are checked by minors of the first rows and columns, at d_v = 1.

**Idea.** W_qk lies in the span of the H matrices M_h, and each M_h is a product through d_v
coordinates. So the minors of order H + 1 of the matrix with the rows W_qk vanish, as do those of
order d_v + 1 of M_h and of order H d_v + 1 of W_qk. A head of width d_v is a sum of d_v heads of
width one with a common code. For H = 1 all W_qk are multiples of one matrix.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.attention_hypernetwork import _coded_heads as setting
from theorax.theorems.attention_hypernetwork._coded_heads import CodedHeads, D, T, determinant, generated, h

seen = arrays(
    span="minors of order H + 1 of the matrix with the rows W_qk",
    span_below="its minors of order H",
    head="minors of order d_v + 1 of M_h, d_v = 1",
    head_below="minors of order d_v of M_h",
    pair="minors of order H d_v + 1 of W_qk",
    pair_below="minors of order H d_v of W_qk",
)

H = hypotheses(linear="the matrix of a pair is linear in its code")
exact = Absolute(
    1, 10**9, "the account of the rounding stays below it; minors of one order less are of order 1/100 and more"
)
span = Identity(
    seen.span, 0, under=H.linear, margin=exact, wrong={"one dimension fewer": dict(left=seen.span_below)},
)
of_heads = Identity(
    seen.head, 0, under=(), margin=exact, wrong={"one rank lower": dict(left=seen.head_below)},
)
of_pairs = Identity(
    seen.pair, 0, under=(), margin=exact, wrong={"one rank lower": dict(left=seen.pair_below)},
)


class Coded(eqx.Module):
    """A layer whose heads have one coordinate, codes, and the degree of the matrices in them."""

    layer: CodedHeads
    codes: jax.Array
    quadratic: jax.Array


def build(key, T, h, D, quadratic):
    layer, X = setting.drawn_heads(key, h, D), jax.random.normal(named(key, "tokens"), (T, D))
    narrow = CodedHeads(layer.W_V[:, :1], layer.W_O[:, :, :1], layer.b_V[:, :1], layer.b_O)
    return Coded(narrow, setting.over_keys(setting.drawn_scores(named(key, "scores"), h, D)(X)), quadratic)


def compare(layer, codes, quadratic):
    """Minors of a few rows and columns; ``quadratic`` = 1: of the matrices of HYLA with the identity."""
    values, outputs = (jnp.einsum("hqk,h...->qk...", codes, W) for W in (layer.W_V, layer.W_O))
    W = (1 - quadratic) * generated(layer, codes) + quadratic * (outputs @ values)
    # The entries 11, 12 and 22: in one row, HYLA's matrices span no more than attention's.
    pairs, count = jnp.stack([W[..., 0, 0], W[..., 0, 1], W[..., 1, 1]], axis=-1).reshape(-1, 3), len(codes)
    minor = lambda A, order: determinant(A[..., :order, :order])
    return dict(
        span=minor(pairs, count + 1), span_below=minor(pairs, count),
        head=minor(layer.matrices, 2), head_below=minor(layer.matrices, 1),
        pair=minor(W, count + 1), pair_below=minor(generated(layer, codes), count),
    )


def observe(model):
    return compare(model.layer, model.codes, model.quadratic)


@settles(span, of_heads, of_pairs)
def any_codes(claim):
    """One and two heads of width one, two tokens, in the plane and in space, any weights and codes."""
    for count in (1, 2):
        layer, codes = setting.generic_layer(count, 1, count + 1), generic_entries("a", count, 2, 2)
        yield Instance(claim, f"H = {count}", compare, layer, codes, 0)


whole = Subject(build, quadratic=0.0)
theorem = Theorem(
    place="the span and the rank of the generated matrices (derived here)",
    label="derived",
    uses=("mha_is_linear_hypernetwork",),
    hypotheses=H,
    claims=dict(span=span, of_heads=of_heads, of_pairs=of_pairs),
    proofs=(any_codes,),
    experiments=dict(
        layers=Experiment(
            observe, seen, {T: (2,)}, at=({h: 2, D: 4}, {h: 1, D: 4}), draws=setting.DRAWS,
            subjects={
                "softmax": whole,
                "HYLA with the identity": whole(quadratic=1.0).breaking(H.linear, fails=span),
            },
        ),
    ),
    issues=(
        "A few rows and columns are looked at, which for independent weights stand for all others.",
        "Heads have one coordinate here. Wider heads are sums of such heads with one common code.",
    ),
)
