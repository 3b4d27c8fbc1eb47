"""One layer of key-query attention on isometric tokens: the program, what is measured of it, and where its bulk ends."""

from typing import Any

import jax
import jax.numpy as jnp
import sympy
from jaxtyping import Array, Float
from sympy import Expr, exp

from theorax.language import Measured, Parameter, Size, Subject
from theorax.numerics.attention import mean_token_removed, softmax_rows
from theorax.numerics.ensembles import gaussian
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.numerics.spectra import singular_values
from theorax.theorems.mind_the_gap._free import least_stationary
from theorax.theorems.mind_the_gap._markov import cv

d_qk = Size("d_qk", "width of queries and keys")
beta = Parameter("beta", "standard deviation of the scores", positive=True)
phi = Parameter("phi", "tokens per dimension of the queries, T/d_qk", positive=True)
top = Measured("top", "largest singular value of A", positive=True)
second = Measured("second", "second singular value of A", positive=True)
tail = Measured("tail", "sum of the fourth powers of the singular values of A after the first", positive=True)
square = Measured("square", "mean square of the bulk: ||A - J||_F^2", positive=True)
fourth = Measured("fourth", "mean fourth power of the bulk: T ||(A - J)^T (A - J)||_F^2", positive=True)
bulk = Measured("bulk", "sqrt(T) s_i(A), i >= 2, with both signs", sample=True)
MEASURED = (top, second, tail, square, fourth, cv, bulk)


def attention(
    key: Any,
    T: Extent,
    d_qk: Extent,
    beta: Array,
    sharp: Array,
    wide: Array,
    tied: Array,
    aligned: Array,
    removed: Array,
) -> Float[Array, "N N"]:
    """Attention on isometric tokens, whose queries X_0 W_Q and keys X_0 W_K are standard Gaussian whatever the tokens.

    ``sharp`` beta^2 = ln T; ``wide`` scores of d_qk -> infinity; ``tied`` W_Q = W_K; ``aligned`` tokens of squared norm
    one that share a direction of this squared weight; ``removed`` the share of the outlier J subtracted.
    """
    zero = jnp.zeros(())
    size = jnp.asarray(T.value, zero.dtype)

    def rows(name: str) -> Float[Array, "N K"]:
        own, common = gaussian(named(key, name), T, d_qk), gaussian(named(key, name, 0), Extent(1, 1), d_qk)
        return jnp.where(T.mask[:, None], jnp.sqrt(1 - aligned) * own + jnp.sqrt(aligned) * common, 0)

    queries = rows("queries")
    keys = jnp.where(tied, queries, rows("keys"))
    scores = queries @ keys.T / jnp.sqrt(jnp.asarray(d_qk.value, zero.dtype))
    scores = jax.lax.cond(wide, lambda: gaussian(named(key, "scores"), T, T), lambda: scores)
    A = softmax_rows(jnp.where(sharp, jnp.sqrt(jnp.log(size)), beta) * scores, T)
    return mean_token_removed(A, T, removed)


def observe(A, T):
    size = jnp.asarray(T.value, A.dtype)
    s = singular_values(A)
    centred = mean_token_removed(A, T)
    values = jnp.sqrt(size) * s[1:]
    return dict(
        top=s[0],
        second=s[1],
        tail=jnp.sum(s[1:] ** 4),
        square=jnp.sum(centred**2),
        fourth=size * jnp.sum((centred.T @ centred) ** 2),
        cv=jnp.linalg.norm(centred),
        bulk=jnp.concatenate([values, -values]),
        bulk_valid=jnp.tile(T.mask[1:], 2),
    )


layer = Subject(attention, sharp=0, wide=0, tied=0, aligned=0.0, removed=0.0)


variance = exp(beta**2) - 1
x, g = sympy.symbols("x g")


def R(g: Expr) -> Expr:
    """The R-transform of the symmetrised bulk: the semicircle of the nonlinear part, and beta Q K^T/sqrt(T d_qk)."""
    return (variance - beta**2) * g + beta**2 * g / (1 - phi * beta**2 * g**2)


class right_edge(sympy.Function):
    """The right edge of the bulk, the least value of 1/g + R(g) on 0 < g < 1/(beta sqrt(phi)); a number only."""

    nargs = 2

    def _eval_evalf(self, prec: int) -> Expr | None:
        values = dict(zip((beta, phi), (value.evalf(30) for value in self.args), strict=True))
        if any(value.free_symbols for value in values.values()):
            return None
        inverse = (1 / g + R(g)).subs(values)
        return inverse.subs(g, least_stationary(inverse, g)).evalf()
