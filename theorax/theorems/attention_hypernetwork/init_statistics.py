"""Mean squares at initialisation: of a generated matrix, and of the outputs of HYLA, which grow with the number of tokens.

**Theorem.** Let W_h^V and W_h^O have independent centred normal entries of variance 1/D and
1/(H d_v), h = 1, ..., H, and W_qk = sum_h a_hqk W_h^O W_h^V. If the code z_qk = (a_1qk, ..., a_Hqk)
does not depend on these weights, then E |W_qk|_F^2 = |z_qk|^2 D/H. Let T independent standard
normal tokens have scores s_hqk that are bilinear in x_q and x_k and do not depend on these weights,
and codes a_hqk = s_hqk/sqrt(mean_g s_gqk^2). Then the mean square of a coordinate of out_q = sum_k
(sum_h a_hqk W_h^O) phi(sum_g a_gqk W_g^V x_k) is H T for the identity and H T/2 for the ReLU.

**Idea.** Products of different weights have mean zero. If x_k changes its sign, k != q, then so
does the term of key k, and no other term changes. So the products of two keys have mean zero. Given
the code and the token, sum_g a_gqk W_g^V x_k is normal and centred, and the ReLU halves its mean
square. For equal tokens the products of two keys remain, and the mean square is of order T^2.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import Integral, Rational, Sum, Symbol, exp, oo, pi, sqrt, symbols

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.attention_hypernetwork import _coded_heads as setting
from theorax.theorems.attention_hypernetwork._coded_heads import (
    CodedHeads,
    D,
    T,
    generated,
    h,
    hyla,
    identity,
    over_heads,
    relu,
)

v = Size("v", "width of the values of a head")
seen = numbers(
    matrix="|W_qk|_F^2 over |z_qk|^2, at one pair with a code that is given",
    linear="mean square of the outputs of HYLA with the identity at one query",
    rectified="the same with the ReLU",
    positive=True,
)

H = hypotheses(
    variances="values have entries of variance 1/D, outputs of variance 1/(H d_v)",
    heads="the weights of different heads are independent",
    given="the code does not depend on values and outputs",
    tokens="the tokens are independent and standard normal",
    codes="the codes have mean square one over the heads",
)
weights = (H.variances, H.heads, H.given)
margin = Relative(1, 10, "a head, a key or a ReLU more or less is a factor of 5/4 and more")
of_matrix = Expectation(
    seen.matrix, D / h, under=weights, margin=margin, spread=Rational(1, 2),
    wrong={"the heads not counted": D, "the width of the values left in it": D * v / h},
)
of_linear = Expectation(
    seen.linear, h * T, margin=margin, spread=Rational(3, 4),
    wrong={"squared in T, as for equal tokens": h * T**2, "the heads not counted": T, "no growth": h},
)
of_rectified = Expectation(
    seen.rectified, h * T / 2, margin=margin, spread=Rational(3, 4),
    wrong={"as with the identity": h * T, "a factor of two in the root": h * T / 4, "the heads not counted": T / 2},
)


class InitialHyla(eqx.Module):
    """A layer at initialisation, its tokens, the codes of the first query, and a code that is given."""

    layer: CodedHeads
    X: jax.Array
    codes: jax.Array
    given: jax.Array


def build(key, T, h, D, v, output, shared, chosen, equal, plain):
    """``output``: the variance of the outputs' entries times H d_v; the other options break one hypothesis each."""
    normal = lambda name, *shape: jax.random.normal(named(key, name), shape)
    W_V, W_O = normal("values", h, v, D) / D**0.5, normal("outputs", h, D, v) * (output / (h * v)) ** 0.5
    W_V, W_O = (jnp.where(shared, W[:1], W) for W in (W_V, W_O))
    layer = CodedHeads(W_V, W_O, jnp.zeros((h, v)), jnp.zeros(D))
    X = jnp.where(equal, normal("token", 1, D), normal("tokens", T, D))
    scores = setting.drawn_scores(named(key, "scores"), h, D)(X)[:, :1]
    codes = jnp.where(plain, scores, over_heads(scores))
    # The head of the largest matrix alone, with the length of the others.
    largest = jnp.argmax((layer.matrices**2).sum((1, 2)))
    alone = jnp.zeros(h).at[largest].set(h**0.5)
    best = jnp.where(chosen, alone, jnp.arange(1.0, h + 1))
    return InitialHyla(layer, X, jnp.where(chosen, alone[:, None, None], codes), best)


def observe(model):
    layer, z = model.layer, model.given
    matrix = generated(layer, z[:, None, None])
    square = lambda phi: (hyla(layer, model.codes, model.X, phi) ** 2).mean()
    return dict(matrix=(matrix**2).sum() / (z**2).sum(), linear=square(identity), rectified=square(relu))


j, k, g = symbols("j k g", integer=True)
every_entry = Sum(1 / (h * v * D), (j, 1, v))


@derives(of_matrix)
def entries():
    """Every width, dimension and number of heads, a given code of squared length z^2."""
    z = Symbol("z", positive=True)
    yield Step("an entry of M_h", every_entry, 1 / (h * D))
    yield Step("the square of the matrix", D**2 * z**2 * every_entry / z**2, of_matrix.equals)


@derives(of_linear)
def identity_between():
    """Every width, dimension, number of heads and of tokens."""
    # A coordinate of the values given a_k: sum over the heads of a_g^2 times |x_k|^2/D in the mean.
    value = Sum(Sum(1, (g, 1, h)) / D, (j, 1, D))
    outputs = Sum(Sum(h * value / (h * v), (j, 1, v)), (k, 1, T))
    yield Step("a coordinate of the values", value, h)
    yield Step("the mean square of an output", outputs, of_linear.equals)


@derives(of_rectified)
def relu_between():
    """Every width, dimension, number of heads and of tokens; given codes and tokens, coordinates of the values are normal."""
    u, s = symbols("u s", positive=True)
    half = Integral(u**2 * exp(-(u**2) / (2 * s**2)) / sqrt(2 * pi * s**2), (u, 0, oo))
    yield Step("the half of a normal coordinate", half, s**2 / 2)
    outputs = Sum(Sum(h * (h / 2) / (h * v), (j, 1, v)), (k, 1, T))
    yield Step("the mean square of an output", outputs, of_rectified.equals)


whole = Subject(build, output=1.0, shared=0, chosen=0, equal=0, plain=0)
outputs_too = (of_matrix, of_linear, of_rectified)
theorem = Theorem(
    place="initialisation of the released code (statistics: derived here)",
    label="derived",
    uses=("hyla_definition_and_quadratic_code", "rms_head_invariance"),
    hypotheses=H,
    claims=dict(of_matrix=of_matrix, of_linear=of_linear, of_rectified=of_rectified),
    proofs=(entries, identity_between, relu_between),
    experiments=dict(
        layers=Experiment(
            observe, seen, {T: Efforts((4, 16), (4, 16), (4, 16, 64))}, at={h: 4, D: 8, v: 4},
            draws=Efforts(4000, 4000, 16000),
            subjects={
                "normal tokens": whole,
                "outputs of variance 1/d_v": whole(output=4.0).breaking(H.variances, fails=outputs_too),
                "one weight for all heads": whole(shared=1).breaking(H.heads, fails=of_matrix),
                "the code of the largest matrix": whole(chosen=1).breaking(H.given, fails=of_matrix),
                "equal tokens": whole(equal=1).breaking(H.tokens, fails=(of_linear, of_rectified)),
                "scores as they are": whole(plain=1).breaking(H.codes, fails=(of_linear, of_rectified)),
            },
        ),
    ),
    issues=("Softmax at the same sizes is not measured here; what training makes of the scale is not looked at.",),
)
