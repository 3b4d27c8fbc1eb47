"""The outlier of a row-stochastic matrix is exactly rank one, and subtracting the uniform matrix removes it exactly.

Let A 1 = 1, J = 1 1^T/T = u u^T and A_perp = A - J. Then A J = J, so A_perp = A (I - J): the mean token is subtracted
before tokens are mixed. Hence A A^T = u u^T + A_perp A_perp^T, singular values interlace, and a product of such
matrices is J times the earlier ones plus the product of the A_perp: naive and fixed network differ by one common token,
X_L = 1 v^T + Y_L, for every T, every value matrices and every input, as long as no A depends on the tokens.
"""

from dataclasses import replace
from functools import cache, partial
from typing import Any

import jax.numpy as jnp
from sympy import Matrix, Rational, ones

from theorax.language import *
from theorax.numerics import distributions
from theorax.numerics.arithmetics import Symbolic, evaluate
from theorax.numerics.attention import mean_token_removed
from theorax.numerics.extents import block, literal
from theorax.numerics.spectra import singular_values
from theorax.theorems.mind_the_gap import _models as models
from theorax.theorems.mind_the_gap._markov import T, d, gamma

L = Index("L", "depth")
A = Measured("A", "a row-stochastic matrix", array=True)
J = Measured("J", "the uniform matrix 1 1^T/T", array=True)
AJ = Measured("AJ", "A J", array=True)
centred_first = Measured("centred_first", "A (I - J), the mean token subtracted before mixing", array=True)
row_sums = Measured("row_sums", "A_perp 1", array=True)
column_sums = Measured("column_sums", "1^T A_perp", array=True)
gram = Measured("gram", "A A^T", array=True)
gram_perp = Measured("gram_perp", "A_perp A_perp^T", array=True)
square = Measured("square", "||A||_F^2", array=True)
square_perp = Measured("square_perp", "||A_perp||_F^2", array=True)
product = Measured("product", "A_L ... A_1", over=(L,), array=True)
carried = Measured("carried", "J A_(L-1) ... A_1", over=(L,), array=True)
product_perp = Measured("product_perp", "the product of the L matrices A_perp", over=(L,), array=True)
X = Measured("X", "tokens of the naive network after L layers", over=(L,), array=True)
Y = Measured("Y", "tokens of the fixed network after L layers", over=(L,), array=True)
common = Measured("common", "1 v^T, v the mean token of A_(L-1) ... A_1 X_0 W_1 ... W_L", over=(L,), array=True)
X_centred = Measured("X_centred", "(I - J) X_L", over=(L,), array=True)
Y_centred = Measured("Y_centred", "(I - J) Y_L", over=(L,), array=True)

rounding = "the account of the rounding of these products stays below it, a wrong term is far above"
exactly = Relative(1, 10**6, rounding)
around_zero = Absolute(1, 10**6, rounding)
H = hypotheses(
    stochastic="the rows of every attention matrix sum to one",
    independent="no attention matrix depends on the tokens",
)
stochastic: dict[str, Any] = dict(under=H.stochastic)
kept = Identity(AJ, J, margin=exactly, wrong={"no 1/T": T * J}, **stochastic)
fix = Identity(centred_first, A - J, margin=exactly, wrong={"no 1/T": A - T * J}, **stochastic)
from_the_left = {"1^T A_perp = 0, as for doubly stochastic matrices": dict(left=column_sums)}
silent = Identity(row_sums, 0, margin=around_zero, wrong=from_the_left, **stochastic)
grams = Identity(gram, J + gram_perp, margin=exactly, **stochastic)
squares = Identity(square, 1 + square_perp, margin=exactly, **stochastic)
products = Identity(product, carried + product_perp, margin=exactly, **stochastic)
tokens = Identity(X, common + Y, margin=exactly)
centred = Identity(X_centred, Y_centred, margin=exactly)

seen = numbers(
    above="the largest of s_i(A_perp) - s_i(A)",
    below="the largest of s_(i+1)(A) - s_i(A_perp)",
    top="s_1(A)",
)
slack = Absolute(1, 10**9, "the rounding of a decomposition in float64 is far below it")
not_above = Inequality(seen.above, at_most=0, margin=slack, **stochastic)
not_below = Inequality(seen.below, at_most=0, under=(), margin=slack)
at_least_one = Inequality(
    seen.top, at_least=1, margin=slack, wrong={"s_1 is at least 1 + 2/T": 1 + 2 / T}, **stochastic,
)  # fmt: skip


def weighted(key, T, log_normal, off, columns):
    shape = (T.padded, T.padded)
    weights = jnp.where(
        log_normal, distributions.LogNormal(1.0).sample(key, shape), distributions.UnitExponential().sample(key, shape)
    )
    return models.Weighted(weights, off, columns)


def network(key, T, d, L, log_normal, off, columns, dependent):
    independent = partial(weighted, T=T, log_normal=log_normal, off=off, columns=columns)
    return models.literal_network(key, T, d, L, independent, dependent, sigma="1/sqrt(d)")


def compare(network, T):
    """The naive and the fixed network on the same tokens, and the matrices of the naive one."""
    X_0, net = network
    X, Y = net(X_0), replace(net, removed=1.0)(X_0)
    size = jnp.asarray(T.value, X_0.dtype)
    J, I = block(T, T) / size, jnp.eye(T.padded)
    P, P_perp, V, deep = I, I, X_0, []
    for attention, W, x in zip(net.attentions, net.values, [X_0, *X[:-1]], strict=True):
        A_l, V = attention(x, T), V @ W
        deep.append((A_l, A_l @ P, J @ P, (A_l - J) @ P_perp, jnp.ones((T.padded, 1)) * (P @ V).sum(0) / size))
        _, P, _, P_perp, _ = deep[-1]
    A, product, carried, product_perp, common = map(jnp.stack, zip(*deep, strict=True))
    A, A_perp = A[0], A[0] - J
    return dict(
        A=A, J=J, AJ=A @ J, centred_first=A @ (I - J), row_sums=A_perp.sum(1), column_sums=A_perp.sum(0),
        gram=A @ A.T, gram_perp=A_perp @ A_perp.T, square=(A**2).sum(), square_perp=(A_perp**2).sum(),
        product=product, carried=carried, product_perp=product_perp, X=X, Y=Y, common=common,
        X_centred=(I - J) @ X, Y_centred=(I - J) @ Y,
    )  # fmt: skip


def spectra(attention, T):
    """How the spectra of A and A_perp lie."""
    A = attention(None, T)
    s, s_perp = singular_values(A), singular_values(mean_token_removed(A, T))
    return dict(above=jnp.max(s_perp - s), below=jnp.max(s[1:] - s_perp[:-1]), top=s[0])


@cache
def symbolic(order):
    """What ``compare`` returns for a network of depth three on matrices of symbols."""
    network = models.symbolic(order, 2, "abc", "pqr")
    return evaluate(lambda network: compare(network, literal(order)), (network,), Symbolic())


identities = dict(
    kept=kept, fix=fix, silent=silent, grams=grams, squares=squares, products=products, tokens=tokens, centred=centred
)


@settles(*identities.values())
def on_symbols(claim):
    """Generic rows of sum one, tokens and values; T = 2, 3, 4, two dimensions, depths 1, 2 and 3."""
    for order in (2, 3, 4):
        yield instance(claim, f"the measured program on symbols, T = {order}", symbolic(order))


@derives(not_above)
def interlacing():
    """T = 2, 3, 4; that a positive rank-one term moves no eigenvalue past the next is cited."""
    for order in (2, 3, 4):
        lowest = min(Matrix(ones(order) / order).eigenvals())
        yield Step("A A^T - A_perp A_perp^T = J, whose lowest eigenvalue is zero", lowest, not_above.at_most)
    yield Cited("so no eigenvalue of A_perp A_perp^T lies above that of A A^T of the same index", "Weyl 1912")


@derives(at_least_one)
def rows_of_sum_one():
    """T = 2, 3, 4, generic rows of sum one; that the norm of a matrix bounds its gain on a vector is cited."""
    for order in (2, 3, 4):
        image = Matrix(symbolic(order)["A"]) * ones(order, 1) / order ** Rational(1, 2)
        yield Step(
            "the squared norm of A u, u the unit vector of equal entries", (image.T * image)[0], at_least_one.at_least
        )
    yield Cited("s_1 is the largest |A x|/|x|", "Golub and Van Loan 2013, section 2.3")


matrix = Subject(weighted, log_normal=0, off=0.0, columns=0)
net = Subject(network, log_normal=0, off=0.0, columns=0, dependent=0)
theorem = Theorem(
    place="the algebra behind the fix; elementary, proved here",
    label="reconstructed",
    hypotheses=H,
    claims=dict(**identities, not_above=not_above, not_below=not_below, at_least_one=at_least_one),
    proofs=(on_symbols, interlacing, rows_of_sum_one),
    experiments=dict(
        networks=Experiment(
            compare,
            (
                *(A, J, AJ, centred_first, row_sums, column_sums, gram, gram_perp, square, square_perp),
                *(product, carried, product_perp, X, Y, common, X_centred, Y_centred),
            ),
            {T: Efforts((4, 16), (4, 16), (4, 16, 64))}, derived={d: T / gamma},
            at=({gamma: 1}, {gamma: Rational(1, 2)}), along={L: (1, 2, 3)}, draws=Efforts(2, 3, 8), padded=True,
            subjects={
                "exponential": net,
                "log-normal": net(log_normal=1),
                "softmax off by one": net(off=1.0).breaking(H.stochastic, fails=tuple(identities.values())),
                "columns normalised": net(columns=1).breaking(
                    H.stochastic, fails=tuple(claim for name, claim in identities.items() if name != "squares")
                ),
                "key-query": net(dependent=1).breaking(H.independent, fails=(tokens, centred)),
            },
        ),
        spectra=Experiment(
            spectra, seen, {T: Efforts((8, 32), (8, 32, 128), (8, 32, 128, 512))}, draws=Efforts(200, 200, 400),
            padded=True,
            subjects={
                "exponential": matrix,
                "log-normal": matrix(log_normal=1),
                "softmax off by one": matrix(off=1.0).breaking(H.stochastic, fails=at_least_one),
                "most weight on an empty token": matrix(off=1e3).breaking(H.stochastic, fails=not_above),
            },
        ),
    ),
    issues=(
        "For attention that does not depend on the tokens the fix cannot slow the collapse of the centred part in "
        "absolute terms: it removes only the term that this part is compared with.",
        "With key-query attention the networks part from the second layer on; nothing is said about them here.",
        "Weights that sum to one are what the squared norms need in total alone: columns that sum to one satisfy "
        "||A||_F^2 = 1 + ||A_perp||_F^2 too.",
    ),
)  # fmt: skip
