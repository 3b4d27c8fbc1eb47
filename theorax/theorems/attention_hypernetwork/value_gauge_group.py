"""Changes of basis in the heads that leave attention as it is: all for multi-head attention, few for HYLA.

**Theorem.** Replace W_h^V, b_h^V and W_h^O by A_h W_h^V, A_h b_h^V and W_h^O A_h^(-1) with
invertible A_h, at the same codes a. Multi-head attention does not change for any A_h. HYLA, sum_k
(sum_h a_hqk W_h^O) phi(sum_g a_gqk W_g^V x_k), does not change if phi is the identity and all A_h
are equal. It does not change if phi is the ReLU and all A_h are equal to one permutation times one
positive diagonal matrix. If the heads and their codes are permuted in the same way, attention and
both kinds of HYLA do not change.

**Idea.** Only W_h^O W_h^V and W_h^O b_h^V enter multi-head attention, and A_h cancels there. HYLA
contains the products W_h^O W_g^V of different heads, where only a common A cancels. For invertible
A, relu(A u) = A relu(u) for all u if and only if A is a permutation times a positive diagonal
matrix. Other changes of basis change HYLA in examples; this is not proved in general.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import symbols

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.attention_hypernetwork import _coded_heads as setting
from theorax.theorems.attention_hypernetwork._coded_heads import (
    CodedHeads,
    D,
    h,
    hyla,
    identity,
    over_heads,
    relu,
)

seen = arrays(
    attention="multi-head attention",
    changed_attention="multi-head attention after the change of basis",
    transposed="multi-head attention with A_h^T in the place of A_h^(-1)",
    linear="HYLA with the identity",
    changed_linear="HYLA with the identity after the change of basis",
    rectified="HYLA with the ReLU",
    changed_rectified="HYLA with the ReLU after the change of basis",
    permuted="multi-head attention, HYLA with the identity and with the ReLU, heads and codes permuted",
    unpermuted="the three with the heads in their order",
    other_codes="the three, heads permuted and codes not",
)

H = hypotheses(
    common="one change of basis serves all heads",
    monomial="it is a permutation times a positive diagonal matrix",
)
exact = Relative(1, 10**9, "the account of the rounding stays below it; other changes are of the order of the output")
each_head = Identity(
    seen.changed_attention, seen.attention, under=(), margin=exact,
    wrong={"the transpose for the inverse": dict(left=seen.transposed)},
)
one_basis = Identity(
    seen.changed_linear, seen.linear, under=H.common, margin=exact,
    wrong={"HYLA is multi-head attention": seen.attention},
)
positive = Identity(
    seen.changed_rectified, seen.rectified, margin=exact, wrong={"as with the identity": seen.linear},
)
order = Identity(
    seen.permuted, seen.unpermuted, under=(), margin=exact, wrong={"codes not permuted": dict(left=seen.other_codes)},
)


class ChangedHeads(eqx.Module):
    """A layer, the changes of basis of its heads, tokens and codes."""

    layer: CodedHeads
    bases: jax.Array
    codes: jax.Array
    X: jax.Array


def build(key, T, h, D, separate, dense):
    X, scores = jax.random.normal(named(key, "tokens"), (T, D)), setting.drawn_scores(named(key, "scores"), h, D)
    diagonal = jnp.exp(jax.random.uniform(named(key, "diagonal"), (h, 2), minval=-1.0))
    swap = jax.random.bernoulli(named(key, "permutation"), 0.5, (h,))[:, None, None]
    monomial = diagonal[:, :, None] * jnp.where(swap, jnp.eye(2)[::-1], jnp.eye(2))
    # Rotations and shears: determinant one, none of them monomial.
    angle = jax.random.uniform(named(key, "angle"), (h,), minval=0.3, maxval=1.2)
    turn = jnp.stack([jnp.cos(angle), -jnp.sin(angle), jnp.sin(angle), jnp.cos(angle)], axis=1).reshape(h, 2, 2)
    bases = jnp.where(dense, turn @ monomial, monomial)
    layer = setting.drawn_heads(key, h, D)
    return ChangedHeads(layer, jnp.where(separate, bases, bases[:1]), over_heads(scores(X)), X)


def inverse(A):
    """The inverses of matrices of order two."""
    (a, b), (c, d) = (A[:, 0, 0], A[:, 0, 1]), (A[:, 1, 0], A[:, 1, 1])
    return jnp.stack([d, -b, -c, a], axis=1).reshape(A.shape) / (a * d - b * c)[:, None, None]


def changed(layer, A, back):
    """The layer with values A_h W_h^V and b_h^V, and outputs W_h^O times ``back``."""
    W_V, b_V = jnp.einsum("huv,hvd->hud", A, layer.W_V), jnp.einsum("huv,hv->hu", A, layer.b_V)
    return CodedHeads(W_V, jnp.einsum("hdv,hvu->hdu", layer.W_O, back), b_V, layer.b_O)


def attend(layer, A, codes, X):
    other, transposed = (changed(layer, A, back) for back in (inverse(A), jnp.swapaxes(A, 1, 2)))
    return dict(attention=layer(codes, X), changed_attention=other(codes, X), transposed=transposed(codes, X))


def generate(layer, A, codes, X):
    other = changed(layer, A, inverse(A))
    return dict(
        linear=hyla(layer, codes, X, identity), changed_linear=hyla(other, codes, X, identity), attention=layer(codes, X),
    )


def rectify(layer, A, codes, X):
    other = changed(layer, A, inverse(A))
    return dict(rectified=hyla(layer, codes, X, relu), changed_rectified=hyla(other, codes, X, relu))


def permute(layer, codes, X):
    """Heads in reversed order."""
    other = CodedHeads(layer.W_V[::-1], layer.W_O[::-1], layer.b_V[::-1], layer.b_O)
    three = lambda f, z: jnp.stack([f(z, X), hyla(f, z, X, identity), hyla(f, z, X, relu)])
    return dict(permuted=three(other, codes[::-1]), unpermuted=three(layer, codes), other_codes=three(other, codes))


def observe(model):
    parts = model.layer, model.bases, model.codes, model.X
    return attend(*parts) | generate(*parts) | rectify(*parts) | permute(model.layer, model.codes, model.X)


@settles(each_head)
def any_bases():
    """Two heads of width two, one token and one query in the plane, any weights, codes and changes of basis."""
    g = generic_entries
    layer = setting.generic_layer(2, 2, 2)
    yield Instance(each_head, "width two", attend, layer, g("A", 2, 2, 2), g("z", 2, 1, 1), g("x", 1, 2))


@settles(one_basis)
def any_common_basis():
    """Two heads of width two, one token and one query in the plane, any weights, codes and common change of basis."""
    g, A = generic_entries, generic_entries("A", 1, 2, 2)
    layer = setting.generic_layer(2, 2, 2)
    parts = layer, np.concatenate([A, A]), g("z", 2, 1, 1), g("x", 1, 2)
    yield Instance(one_basis, "width two", generate, *parts)


@settles(positive)
def any_monomial_basis():
    """Two heads of width two, one token and one query in the plane; both permutations, any positive diagonal."""
    p, q = symbols("p q", positive=True)
    parts = generic_entries("z", 2, 1, 1), generic_entries("x", 1, 2)
    for reason, rows in {"diagonal": [[p, 0], [0, q]], "swapped": [[0, p], [q, 0]]}.items():
        A = np.array([rows, rows], dtype=object)
        yield Instance(positive, reason, rectify, setting.generic_layer(2, 2, 2), A, *parts)


@settles(order)
def any_weights():
    """Two heads of width one, one token and one query in the plane, any weights and codes."""
    parts = generic_entries("z", 2, 1, 1), generic_entries("x", 1, 2)
    yield Instance(order, "two heads", permute, setting.generic_layer(2, 1, 2), *parts)


@lemma
def every_width():
    """Every width and dimension: the products of one head, and of two heads by one basis."""
    A, B, V_1, V_2, O_1 = generic_matrices("A B V_1 V_2 O_1")  # B is the inverse of A
    inverses = ((B * A, 1),)
    yield MatrixStep("M_h is left", (O_1 * B) * (A * V_1), O_1 * V_1, inverses)
    yield MatrixStep("the product of two heads is left", (O_1 * B) * (A * V_1 + A * V_2), O_1 * (V_1 + V_2), inverses)


whole = Subject(build, separate=0, dense=0)
theorem = Theorem(
    place="the symmetries of values and output projections (derived here)",
    label="derived",
    uses=("mha_is_linear_hypernetwork",),
    hypotheses=H,
    claims=dict(each_head=each_head, one_basis=one_basis, positive=positive, order=order),
    proofs=(any_bases, any_common_basis, any_monomial_basis, any_weights, every_width),
    experiments=dict(
        layers=Experiment(
            observe, seen, setting.TOKENS, at={h: 3, D: 4}, draws=setting.DRAWS,
            subjects={
                "a common monomial basis": whole,
                "a monomial basis for every head": whole(separate=1).breaking(H.common, fails=(one_basis, positive)),
                "a common rotated basis": whole(dense=1).breaking(H.monomial, fails=positive),
            },
        ),
    ),
    issues=("Other changes of basis are shown to change HYLA at the examples drawn; a proof for all of them is not given.",),
)
