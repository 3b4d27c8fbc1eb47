"""Codes over the root of their mean square keep the direction of the scores alone.

**Theorem.** Let H heads have scores s_hqk, m = mean_h s_hqk^2 for each pair (q, k), and codes a_hqk
= s_hqk/sqrt(m + floor), m + floor > 0. Then sum_h a_hqk^2 = H m/(m + floor). Now let floor = 0.
Multiply the scores of each pair by a c_qk != 0. Then HYLA, sum_k (sum_h a_hqk W_h^O)
phi(sum_g a_gqk W_g^V x_k), does not change if phi is the identity. It does not change if phi is the
ReLU and every c_qk is positive. If H = 1, the code is sign(s_1qk).

**Idea.** The factor c_qk cancels in a_hqk up to its sign. HYLA with the identity is even in the
code, HYLA with the ReLU is not. So only the direction of the scores across the heads has an effect,
and with one head attention is not graded. The floor 10^(-6) in the authors' code lowers a code by
the share 10^(-6)/(2 m), to first order.
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
    h,
    hyla,
    identity,
    over_heads,
    relu,
)

seen = arrays(
    squares="sum_h a_hqk^2",
    floor="what is added to the mean square",
    mean="m, the mean over the heads of s_hqk^2",
    rectified="HYLA with the ReLU",
    scaled_rectified="HYLA with the ReLU, the scores of each pair times c_qk",
    linear="HYLA with the identity",
    scaled_linear="HYLA with the identity, the scores of each pair times c_qk",
    plain_linear="the same without normalisation of the codes",
    alone="the codes if the first head is the only one",
    signs="the sign of its scores",
    alone_scores="its scores",
)

H = hypotheses(
    floorless="nothing is added to the mean square of the scores of a pair",
    positive="every factor c_qk is positive",
)
exact = Relative(
    1, 10**9, "the account of the rounding stays below it; the released floor moves the sides by 10^(-7) and more"
)
lengths = Identity(
    seen.squares, h * seen.mean / (seen.mean + seen.floor), under=(), margin=exact,
    wrong={"length one": seen.mean / (seen.mean + seen.floor)},
)
direction = Identity(
    seen.scaled_rectified, seen.rectified, margin=exact, wrong={"as with the identity": seen.linear},
)
either_sign = Identity(
    seen.scaled_linear, seen.linear, under=H.floorless, margin=exact,
    wrong={"codes as they come": dict(left=seen.plain_linear)},
)
one_head = Identity(
    seen.alone, seen.signs, under=H.floorless, margin=exact, wrong={"the scores": seen.alone_scores},
)


class ScaledScores(eqx.Module):
    """A layer, tokens, scores, and the factors of their pairs."""

    layer: CodedHeads
    scores: jax.Array
    X: jax.Array
    factors: jax.Array
    floor: jax.Array


def build(key, T, h, D, floor, negative):
    X, size = (
        jax.random.normal(named(key, "tokens"), (T, D)),
        jax.random.uniform(named(key, "size"), (T, T), minval=-1.0),
    )
    scores = setting.drawn_scores(named(key, "scores"), h, D)(X)
    # Scores away from zero, where any floor would matter at once.
    scores = jnp.where(scores < 0, scores - 0.1, scores + 0.1)
    sign = jnp.where(jax.random.bernoulli(named(key, "sign"), 0.5, (T, T)), -1, 1)
    factors = jnp.exp(2 * size) * jnp.where(negative, sign, 1)
    return ScaledScores(setting.drawn_heads(key, h, D), scores, X, factors, floor)


def compare(layer, scores, X, factors, floor):
    """HYLA at the scores, and at scores times the factors of their pairs."""
    scaled, codes = over_heads(scores * factors, floor), over_heads(scores, floor)
    alone = scores[:1]
    return dict(
        squares=(codes**2).sum(0), floor=floor, mean=(scores**2).sum(0) / len(scores),
        rectified=hyla(layer, codes, X, relu), scaled_rectified=hyla(layer, scaled, X, relu),
        linear=hyla(layer, codes, X, identity), scaled_linear=hyla(layer, scaled, X, identity),
        plain_linear=hyla(layer, scores * factors, X, identity),
        alone=over_heads(alone, floor), signs=alone / jnp.abs(alone), alone_scores=alone,
    )


def observe(model):
    return compare(model.layer, model.scores, model.X, model.factors, model.floor)


def two_heads(factor):
    """Two heads of width one, one token and one query in the plane, any scores and weights."""
    layer = setting.generic_layer(2, 1, 2)
    return layer, generic_entries("s", 2, 1, 1), generic_entries("x", 1, 2), np.array([[factor]], dtype=object)


@settles(lengths)
def any_floor():
    """Two heads, any scores, any floor."""
    yield Instance(lengths, "two heads", compare, *two_heads(1), generic_entries("floor"), letters={h: 2})


@settles(direction)
def positive_factors():
    """Two heads of width one, one token and one query in the plane, any scores and weights, any positive factor."""
    yield Instance(direction, "two heads", compare, *two_heads(Symbol("c", positive=True)), 0)


@settles(either_sign)
def factors_of_any_sign():
    """Two heads of width one, one token and one query in the plane, any scores and weights, factors of each sign."""
    c = Symbol("c", positive=True)
    for reason, factor in {"positive": c, "negative": -c}.items():
        yield Instance(either_sign, reason, compare, *two_heads(factor), 0)


@settles(one_head)
def single_codes():
    """Any score of one head."""
    yield Instance(one_head, "one pair", compare, *two_heads(1), 0)


whole = Subject(build, floor=0.0, negative=0)
theorem = Theorem(
    place="the root-mean-square normalisation over heads in the released code (derived here)",
    label="derived",
    uses=("mha_is_linear_hypernetwork",),
    hypotheses=H,
    claims=dict(lengths=lengths, direction=direction, either_sign=either_sign, one_head=one_head),
    proofs=(any_floor, positive_factors, factors_of_any_sign, single_codes),
    experiments=dict(
        layers=Experiment(
            observe, seen, setting.TOKENS, at={h: 3, D: 4}, draws=setting.DRAWS,
            subjects={
                "positive factors": whole,
                "factors of both signs": whole(negative=1).breaking(H.positive, fails=direction),
                "the released floor": whole(floor=1e-6).breaking(
                    H.floorless, fails=(direction, either_sign, one_head),
                ),
            },
        ),
    ),
    issues=(
        "Scores are at least a tenth: below 10^(-2) the released floor of 10^(-6) is felt in any precision.",
    ),
)
