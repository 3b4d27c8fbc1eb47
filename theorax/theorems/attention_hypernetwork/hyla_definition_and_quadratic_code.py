"""HYLA with the identity is quadratic in the code; it is not multi-head attention by another normalisation.

**Theorem.** Let heads of width d_v have values W_h^V and outputs W_h^O without biases, and let HYLA
with phi be out_q = sum_k (sum_h a_hqk W_h^O) phi(sum_g a_gqk W_g^V x_k), for any codes a. With the
identity, out_q = sum_k sum_(g <= h) a_hqk a_gqk (W_h^O W_g^V + W_g^O W_h^V) x_k/(1 + delta_gh), and
the codes -a give the same output. This output is the sum of the outputs of HYLA with the ReLU for
the codes a and -a. With the ReLU, the codes c a multiply the output by c^2 for every c > 0. The
leading minors of order d_v + 1 of the matrices (sum_h a_hqk W_h^O)(sum_g a_gqk W_g^V) are zero,
also with sum_h W_h^O as the first factor.

**Idea.** Expand the product of the two sums over the heads. As the code enters twice, parity and
degree follow from relu(u) - relu(-u) = u and relu(c u) = c relu(u). Each matrix is a product
through d_v coordinates. Multi-head attention, in contrast, is odd and of degree one in the code,
and has no products of different heads.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Symbol

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.attention_hypernetwork import _coded_heads as setting
from theorax.theorems.attention_hypernetwork._coded_heads import (
    CodedHeads,
    D,
    generated,
    h,
    hyla,
    identity,
    over_heads,
    relu,
)

seen = arrays(
    linear="HYLA with the identity",
    pairs="sum_k sum_(g <= h) a_h a_g (W_h^O W_g^V + W_g^O W_h^V) x_k/(1 + delta_gh)",
    attention="multi-head attention with these codes, without biases",
    same="the pairs of a head and itself alone",
    negated="HYLA with the identity by the codes -a",
    rectified="HYLA with the ReLU",
    both_signs="HYLA with the ReLU by a, plus that by -a",
    scaled="HYLA with the ReLU by the codes c a",
    factor="c > 0, by which the codes are multiplied",
    minors="minors of order d_v + 1 of the matrices W_qk of HYLA with the identity",
    minors_of_attention="the same of the matrices sum_h a_hqk W_h^O W_h^V",
)

H = hypotheses(twice="the code multiplies both the values and the output projections")
why = "the account of the rounding stays below it; wrong terms are of the order of the output"
exact = Relative(1, 10**9, why)
quadratic = Identity(
    seen.linear, seen.pairs, margin=exact,
    wrong={"multi-head attention with these codes": seen.attention, "no products of different heads": seen.same},
)
even = Identity(seen.negated, seen.linear, margin=exact, wrong={"odd, as attention is": -seen.linear})
split = Identity(
    seen.both_signs, seen.linear, margin=exact, wrong={"twice the ReLU at a": 2 * seen.rectified},
)
degree = Identity(
    seen.scaled, seen.factor**2 * seen.rectified, margin=exact,
    wrong={"degree one, as attention is": seen.factor * seen.rectified},
)
bottleneck = Identity(
    seen.minors, 0, under=(), margin=Absolute(1, 10**9, why),
    wrong={"attention's matrices": dict(left=seen.minors_of_attention)},
)


class Hyla(eqx.Module):
    """A layer, its codes and tokens, a factor of the codes, and what the outputs are multiplied by."""

    layer: CodedHeads
    codes: jax.Array
    X: jax.Array
    factor: jax.Array
    twice: jax.Array


def build(key, T, h, D, twice):
    X, scores = jax.random.normal(named(key, "tokens"), (T, D)), setting.drawn_scores(named(key, "scores"), h, D)
    factor = jnp.exp(jax.random.uniform(named(key, "factor"), minval=0.3, maxval=1.5))
    return Hyla(setting.drawn_heads(key, h, D), over_heads(scores(X)), X, factor, twice)


def products(layer, codes, X, twice):
    """HYLA with the identity, and sums over pairs of heads."""
    W = jnp.einsum("hdv,gve->hgde", layer.W_O, layer.W_V)
    count, terms = len(codes), []
    for first in range(count):
        for second in range(first + 1):
            matrix = W[first, second] + W[second, first] if second < first else W[first, first]
            terms.append(jnp.einsum("qk,de,ke->qd", codes[first] * codes[second], matrix, X))
    own = [jnp.einsum("qk,de,ke->qd", codes[head] ** 2, W[head, head], X) for head in range(count)]
    attention = jnp.einsum("qkde,ke->qd", generated(layer, codes), X)
    return dict(linear=hyla(layer, codes, X, identity, twice), pairs=sum(terms), same=sum(own), attention=attention)


def signs(layer, codes, X, twice):
    """HYLA at a and -a."""
    of = lambda a, phi: hyla(layer, a, X, phi, twice)
    rectified = of(codes, relu)
    return dict(
        linear=of(codes, identity),
        negated=of(-codes, identity),
        rectified=rectified,
        both_signs=rectified + of(-codes, relu),
    )


def scale(layer, codes, X, factor, twice):
    """HYLA with the ReLU at a and c a."""
    of = lambda a: hyla(layer, a, X, relu, twice)
    return dict(factor=factor, rectified=of(codes), scaled=of(factor * codes))


def minors(layer, codes, twice):
    """Determinants of the first d_v + 1 rows and columns, of HYLA's matrices and of attention's."""
    order = layer.W_V.shape[1] + 1
    outer = jnp.einsum("hqk,hdv->qkdv", codes * twice + (1 - twice), layer.W_O)
    inner = jnp.einsum("hqk,hvd->qkvd", codes, layer.W_V)
    det = lambda A: setting.determinant(A[..., :order, :order])
    return dict(
        minors=det(jnp.einsum("qkdv,qkve->qkde", outer, inner)), minors_of_attention=det(generated(layer, codes))
    )


def observe(model):
    parts = model.layer, model.codes, model.X
    return (
        products(*parts, model.twice) | signs(*parts, model.twice)
        | scale(*parts, model.factor, model.twice) | minors(*parts[:2], model.twice)
    )


def two_heads():
    """Two heads of width one, two tokens in the plane, one query."""
    return setting.generic_layer(2, 1, 2), generic_entries("a", 2, 1, 2), generic_entries("x", 2, 2)


@settles(quadratic)
def any_codes():
    """Two heads of width one, two tokens in the plane and one query, any weights and codes."""
    yield Instance(quadratic, "two heads", products, *two_heads(), 1)


@settles(even, split)
def any_sign(claim):
    """Two heads of width one, two tokens in the plane and one query, any weights and codes."""
    yield Instance(claim, "two heads", signs, *two_heads(), 1)


@settles(degree)
def any_factor():
    """Two heads of width one, two tokens in the plane and one query, any weights and codes, any positive factor."""
    c = np.array(Symbol("c", positive=True), dtype=object)
    yield Instance(degree, "two heads", scale, *two_heads(), c, 1)


@settles(bottleneck)
def any_weights():
    """Two heads of width one and of width two, one pair of tokens, any weights and codes."""
    for width in (1, 2):
        layer, codes = setting.generic_layer(2, width, width + 1), generic_entries("a", 2, 1, 1)
        yield Instance(bottleneck, f"d_v = {width}", minors, layer, codes, 1)


whole = Subject(build, twice=1.0)
theorem = Theorem(
    place="the definition of HYLA in the released code (properties: derived here)",
    label="reconstructed",
    uses=("mha_is_linear_hypernetwork",),
    hypotheses=H,
    claims=dict(quadratic=quadratic, even=even, split=split, degree=degree, bottleneck=bottleneck),
    proofs=(any_codes, any_sign, any_factor, any_weights),
    experiments=dict(
        layers=Experiment(
            observe, seen, setting.TOKENS, at={h: 3, D: 3}, draws=setting.DRAWS,
            subjects={
                "codes of mean square one": whole,
                "outputs without the code": whole(twice=0.0).breaking(H.twice, fails=(quadratic, even, split, degree)),
            },
        ),
    ),
    issues=(
        "Masked scores are zero in the released code and stay so; masks are not looked at.",
    ),
)
