"""The projection error is mean |phi(q)|^2 - |h|^2 for orthonormal axes only; kernel PCA makes it least for centred keys only.

**Theorem.** Let phi(x).phi(y) = k(x, y)/(g(x) g(y)), g(x) = sum_j k(x, k_j), u_1, ..., u_n be
orthonormal and h_d = phi(q).u_d. Then |phi(q) - sum_d h_d u_d|^2 = |phi(q)|^2 - |h|^2. Let phi have
the covariance C over the keys, with eigenvalues lambda_1 >= lambda_2 >= .... The mean squared
distance of the centred phi(k_j) from the span of the u_d is at least sum_(d > n) lambda_d, with
equality for the first n eigenvectors of C. Let k(x, y) = exp(x.y/sqrt(8)), with 24 standard normal
keys and queries in dimension 8. With probability at least 19/20 each (measured), the mean error of
the queries on the first four eigenvectors of C is at least 5/4 of that on their own best four axes,
and the mean of |phi(q)|^2 - |h|^2 over the queries is at most 0 if h is the output of attention
with standard normal values of width 8.

**Idea.** Pythagoras gives the identity, Ky Fan the bound. Queries have other second moments.
Without orthonormal axes |phi(q)|^2 - |h|^2 is not an error: it has no lower bound.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Derivative, Rational, Symbol, symbols

from theorax.language import *
from theorax.numerics.kernel_attention import Softmax, feature_rows
from theorax.numerics.keys import named
from theorax.theorems.attention_kernel_pca import _axes as setting
from theorax.theorems.attention_kernel_pca._axes import SOFTMAX, TAYLOR, D, N

COUNT = 2
seen = arrays(
    error="|phi(q) - sum_d h_d u_d|^2 by features",
    formula="|phi(q)|^2 - |h|^2",
    added="|phi(q)|^2 + |h|^2",
)
keys = arrays(
    least="mean over the keys of |phit(k_j)|^2 less that of its projection on the first axes",
    rest="sum of lambda_d over the other axes",
    frame="the same error for some orthonormal axes",
    first="sum of lambda_d over the first axes",
)
drawn = numbers(
    ratio="error of the queries on four axes of kernel PCA, over that on their own best four",
    value="mean of |phi(q)|^2 - |h|^2 over the queries for given values",
)

H = hypotheses(
    orthonormal="the axes are orthonormal",
    eigenvectors="the axes are the first eigenvectors of the covariance of the centred keys",
    random="the values are independent of the keys, of variance one",
    other=Hypothesis(
        "the queries are independent of the keys", unbroken="queries that are keys are the claim attained"
    ),
)
exact = Relative(1, 10**7, "the account of the rounding, by the quotients of eigenvalues, stays below it")
share = Rational(1, 20)
pythagoras = Identity(
    seen.error, seen.formula, under=H.orthonormal, margin=exact, wrong={"the sum of both squares": seen.added},
)
attained = Identity(
    keys.least, keys.rest, under=(H.orthonormal, H.eigenvectors), margin=exact,
    wrong={"N lambda_d": N * keys.rest, "the first eigenvalues": keys.first},
)
optimal = Inequality(
    keys.frame, at_least=keys.rest, under=H.orthonormal, wrong={"the sum of all": keys.rest + keys.first},
)
# Of two hundred pilot draws the least quotient was 1.6; at ten keys in four dimensions it was 2.6.
not_for_queries = Inequality(
    drawn.ratio, at_least=Rational(5, 4), under=H.other, content=share,
    wrong={"least for queries too": dict(at_least=None, at_most=1)},
)
# Of a thousand pilot draws 3 were positive, and 19 with 12 keys.
negative = Probability(
    drawn.value <= 0, at_least=1 - share, expected=Rational(99, 100), under=H.random,
    margin=Absolute(1, 20, "with the values of kernel PCA no draw is negative"),
    wrong={"an error is not negative": dict(event=drawn.value >= 0)},
)


def build(key, N, D, kind, longer, turned, skewed):
    """``skewed``: how far the frame that is compared is from being orthonormal."""
    model = setting.build_axes(key, N, D, kind, longer, turned, 0, N)
    Q = jnp.linalg.qr(model.more[:, :COUNT])[0] * (1 + skewed)
    return eqx.tree_at(lambda m: m.more, model, Q)


def projected(phi, U):
    """Both sides, for features in rows and axes in columns."""
    h = phi @ U
    square = (phi**2).sum(1)
    error = ((phi - h @ U.T) ** 2).sum(1)
    return dict(error=error, formula=square - (h**2).sum(1), added=square + (h**2).sum(1))


def by_features(model):
    rows = feature_rows(model.kernel, model.keys, model.keys)
    U = (rows - rows.sum(0) / len(rows)).T @ setting.axes_of(model, COUNT).A
    return projected(feature_rows(model.kernel, model.keys, model.queries), U)


def left_over(Kt, A):
    """Mean over the keys of what is left of |phit(k_j)|^2 by the axes with these coefficients."""
    n = len(Kt)
    return (jnp.diagonal(Kt).sum() - ((Kt @ A) ** 2).sum()) / n


def of_keys(Kt, A, eigenvalues, B):
    count = A.shape[1]
    return dict(
        least=left_over(Kt, A), rest=eigenvalues[count:].sum(), frame=left_over(Kt, B), first=eigenvalues[:count].sum(),
    )


def over_keys(model, N):
    Kt = setting.centred(setting.normalised_gram(model.kernel, model.keys)[0])
    found, every = setting.axes_of(model, COUNT), setting.eigenpairs(Kt, model.guess, N - 1)
    return of_keys(Kt, found.A, every.values, every.A @ model.more[: N - 1])


class QueriedKeys(eqx.Module):
    """Keys, queries and values of one head."""

    keys: jax.Array
    queries: jax.Array
    V: jax.Array


def head(key, N, D, true):
    """``true``: the values are those of kernel PCA."""
    k, q, V = (jax.random.normal(named(key, name), (N, D)) for name in ("keys", "queries", "values"))
    K, g = setting.normalised_gram(Softmax(), k)
    Kt = setting.centred(K)
    X = setting.first_basis(Kt)[:, :D]
    return QueriedKeys(k, q, jnp.where(true == 1, X / jnp.sqrt((X * (Kt @ X)).sum(0)) / g[:, None], V))


def over_queries(model):
    k, q, kernel, n = model.keys, model.queries, Softmax(), len(model.keys)
    K, g = setting.normalised_gram(kernel, k)
    at = kernel.kernel(q, k)
    h = at / at.sum(1, keepdims=True)
    squares = jnp.diagonal(kernel.kernel(q, q)) / at.sum(1) ** 2
    Kt = setting.centred(K)
    X = setting.first_basis(Kt)[:, :4]
    outputs = h @ (X / jnp.sqrt((X * (Kt @ X)).sum(0)) / g[:, None])
    own = kernel.kernel(q, q) / (at.sum(1)[:, None] * at.sum(1)[None])
    best = jnp.linalg.eigvalsh(own)[:-4].sum() / n
    value = (squares - ((h @ model.V) ** 2).sum(1)).mean()
    return dict(ratio=(squares - (outputs**2).sum(1)).mean() / best, value=value)


@settles(pythagoras)
def one_axis():
    """A feature of three coordinates, any values; any unit vector but one."""
    p, q = symbols("p q", real=True)
    size = 1 + p**2 + q**2
    U = np.array([[2 * p / size], [2 * q / size], [(1 - p**2 - q**2) / size]], dtype=object)
    yield Instance(pythagoras, "one axis", projected, generic_entries("phi", 1, 3), U)


@settles(attained)
def four_keys():
    """Four keys, two features of any variances and axes in one plane; the first axis."""
    Phi, A, eigenvalues = setting.generic_axes(plane=True)
    first = A[:, :1]
    yield Instance(attained, "four keys", of_keys, Phi @ Phi.T, first, eigenvalues, first, letters={N: 4})


@lemma
def ky_fan():
    """Three eigenvalues and one axis of squared coordinates that sum to one: what the first keeps more is not negative."""
    low, a, b = symbols("lambda_3 a b", nonnegative=True)  # lambda_2 = lambda_3 + a, lambda_1 = lambda_3 + a + b
    x, y = symbols("x y", nonnegative=True)
    top = low + a + b
    kept = x * top + y * (low + a) + (1 - x - y) * low
    yield Step("lambda_1 less what any axis keeps", top - kept, (1 - x - y) * (a + b) + y * b)
    c, square, size = Symbol("c", positive=True), Symbol("|phi|^2", positive=True), Symbol("|h|^2", positive=True)
    yield Step("values c times as large", Derivative(square - c**2 * size, c), -2 * c * size)


taylor = Subject(build, kind=TAYLOR, longer=1.0, turned=0.0, skewed=0.0)
softmax, given = taylor(kind=SOFTMAX), Subject(head, true=0)
theorem = Theorem(
    place="projection error and optimality of the axes",
    label="reconstructed",
    uses=("kpca_axes_and_covariance", "attention_is_query_projection"),
    hypotheses=H,
    claims=dict(
        pythagoras=pythagoras, attained=attained, optimal=optimal, not_for_queries=not_for_queries, negative=negative,
    ),
    proofs=(one_axis, four_keys, ky_fan),
    experiments=dict(
        features=Experiment(by_features, seen, {N: 5}, at={D: 3}, draws=setting.DRAWS, subjects={
            "monomials up to degree four": taylor,
            "axes half as long again": taylor(longer=1.5).breaking(H.orthonormal, fails=pythagoras),
        }),
        keys=Experiment(over_keys, keys, {N: 5}, at={D: 3}, draws=setting.DRAWS, subjects={
            "softmax attention": softmax,
            "axes half as long again": softmax(longer=1.5, skewed=2.0).breaking(H.orthonormal, fails=(attained, optimal)),
            "coefficients a tenth off": softmax(turned=0.1).breaking(H.eigenvectors, fails=attained),
        }),
        queries=Experiment(over_queries, drawn, {N: 24}, at={D: 8}, draws=Efforts(200, 240, 600), subjects={
            "random values": given,
            "values of kernel PCA": given(true=1).breaking(H.random, fails=negative),
        }),
    ),
    issues=(
        "A fall of this expression in training proves nothing where the values are no orthonormal axes.",
        "How much better other axes fit the queries depends on the law of queries and keys.",
    ),
)
