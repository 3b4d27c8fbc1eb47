"""The outlier of a row-stochastic matrix is exactly rank one, and subtracting the uniform matrix removes it exactly.

Let A 1 = 1, J = 1 1^T/T = u u^T and A_perp = A - J. Then A J = J, so A_perp = A (I - J): the mean token is subtracted
before tokens are mixed. Hence A A^T = u u^T + A_perp A_perp^T, singular values interlace, and a product of such matrices
is J times the earlier ones plus the product of the A_perp: naive and fixed network differ by one common token,
X_L = 1 v^T + Y_L, for every T, every value matrices and every input, as long as no A depends on the tokens.
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sympy import Matrix, Rational, Symbol, eye, ones, sqrt

from theorax.numerics import laws
from theorax.numerics.attention import AttentionNet, KeyQueryAttention, value_matrix
from theorax.numerics.ensembles import gaussian, haar_rows
from theorax.numerics.extents import block, literal
from theorax.numerics.jaxprs import Symbolic, evaluate
from theorax.numerics.keys import named
from theorax.numerics.spectra import singular_values
from theorax.theorems.language import (
    Absolute,
    Cited,
    Efforts,
    Experiment,
    Hypothesis,
    Identity,
    Index,
    Inequality,
    Measured,
    Proof,
    Relative,
    Step,
    Subject,
    Theorem,
    instance,
)
from theorax.theorems.mind_the_gap._setting import T, Weighted, d, gamma

L = Index("L", "depth")
A = Measured("A", "a row-stochastic matrix", array=True)
J = Measured("J", "the uniform matrix 1 1^T/T", array=True)
AJ = Measured("AJ", "A J", array=True)
centred_first = Measured("centred_first", "A (I - J), the mean token subtracted before mixing", array=True)
of_ones = Measured("of_ones", "A_perp 1", array=True)
ones_of = Measured("ones_of", "1^T A_perp", array=True)
gram = Measured("gram", "A A^T", array=True)
gram_perp = Measured("gram_perp", "A_perp A_perp^T", array=True)
square = Measured("square", "||A||_F^2", array=True)
square_perp = Measured("square_perp", "||A_perp||_F^2", array=True)
product = Measured("product", "A_L ... A_1", over=(L,), array=True)
carried = Measured("carried", "J A_(L-1) ... A_1", over=(L,), array=True)
product_perp = Measured("product_perp", "the product of the L matrices A_perp", over=(L,), array=True)
X = Measured("X", "tokens of the naive network", over=(L,), array=True)
Y = Measured("Y", "tokens of the fixed network", over=(L,), array=True)
common = Measured("common", "1 v^T, v the mean token of A_(L-1) ... A_1 X_0 W_1 ... W_L", over=(L,), array=True)
X_centred = Measured("X_centred", "(I - J) X_L", over=(L,), array=True)
Y_centred = Measured("Y_centred", "(I - J) Y_L", over=(L,), array=True)

exactly = dict(margin=Relative(1, 10**9), because="rounding of these products is far below, a wrong term far above")
around_zero = dict(margin=Absolute(1, 10**9), because=exactly["because"])
stochastic = ("stochastic",)
kept = Identity(left=AJ, right=J, under=stochastic, **exactly, mutants={"no 1/T": dict(right=T * J)})
fix = Identity(left=centred_first, right=A - J, under=stochastic, **exactly, mutants={"no 1/T": dict(right=A - T * J)})
silent = Identity(
    left=of_ones, right=0, under=stochastic, **around_zero, mutants={"from the left, 1^T A_perp": dict(left=ones_of)}
)
grams = Identity(left=gram, right=J + gram_perp, under=stochastic, **exactly)
squares = Identity(left=square, right=1 + square_perp, under=stochastic, **exactly)
products = Identity(left=product, right=carried + product_perp, under=stochastic, **exactly)
tokens = Identity(left=X, right=common + Y, **exactly)
centred = Identity(left=X_centred, right=Y_centred, **exactly)

above = Measured("above", "largest of s_i(A_perp) - s_i(A)")
below = Measured("below", "largest of s_(i+1)(A) - s_i(A_perp)")
top = Measured("top", "s_1(A)")
slack = dict(margin=Absolute(1, 10**9), because="a decomposition in float64 is that accurate, and controls violate by more")
not_above = Inequality(of=above, at_most=0, under=stochastic, **slack)
not_below = Inequality(of=below, at_most=0, under=(), **slack)
one = Inequality(of=top, at_least=1, under=stochastic, **slack)


def weighted(key, T, off, columns):
    return Weighted(laws.Exponential().sample(key, (T.padded, T.padded)), off, columns)


def network(key, T, d, L, off, columns, dependent):
    def attention(layer):
        if dependent:
            maps = (gaussian(named(key, name, layer), d, d) for name in ("queries", "keys"))
            return KeyQueryAttention(*maps, d)
        return weighted(named(key, "attention", layer), T, off, columns)

    layers = range(1, L + 1)
    values = tuple(value_matrix(named(key, "values", layer), d, "gaussian", "1/sqrt(d)") for layer in layers)
    return haar_rows(named(key, "tokens"), T, d), AttentionNet(tuple(map(attention, layers)), values, T, d)


def compare(network, T):
    """Both networks on the same tokens, and the matrices of the naive one."""
    X_0, net = network
    X, Y = net(X_0), replace(net, removed=1.0)(X_0)
    J, I = block(T, T) / jnp.asarray(T.value, X_0.dtype), jnp.eye(T.padded)
    As = [attention(x, T) for attention, x in zip(net.attentions, [X_0, *X[:-1]], strict=True)]
    A, P, P_perp, V = As[0], As[0], As[0] - J, X_0 @ net.values[0]
    deep = []
    for A_l, W in zip(As[1:], net.values[1:], strict=True):
        V, v = V @ W, (P @ V @ W).sum(0) / jnp.asarray(T.value, X_0.dtype)
        deep.append((A_l @ P, J @ P, (A_l - J) @ P_perp, jnp.outer(jnp.ones(T.padded), v)))
        P, P_perp = deep[-1][0], deep[-1][2]
    product, carried, product_perp, common = map(jnp.stack, zip(*deep, strict=True))
    return dict(
        A=A, J=J, AJ=A @ J, centred_first=A @ (I - J), of_ones=(A - J).sum(1), ones_of=(A - J).sum(0),
        gram=A @ A.T, gram_perp=(A - J) @ (A - J).T, square=(A**2).sum(), square_perp=((A - J) ** 2).sum(),
        product=product, carried=carried, product_perp=product_perp, X=X[1:], Y=Y[1:], common=common,
        X_centred=(I - J) @ X[1:], Y_centred=(I - J) @ Y[1:],
    )  # fmt: skip
