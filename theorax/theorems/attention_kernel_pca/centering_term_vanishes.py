"""Coefficients of a principal axis sum to zero: the value formula needs no centring, and values obey a linear constraint.

**Theorem.** Let g_j = sum_l k(k_j, k_l), Kp_jl = k(k_j, k_l)/(g_j g_l), Kt = J Kp J with J = I -
11^T/N, and Kt a_d = N lambda_d a_d with lambda_d > 0. Then (a_dj - mean_l a_dl)/g_j = a_dj/g_j, and
the values V_jd = a_dj/g_j satisfy sum_j g_j V_jd = 0. Let also the a_d be orthogonal, as for
different lambda_d, with |a_d|^2 = 1/(N lambda_d). Then the columns of diag(g) V have the scalar
products delta_de/(N lambda_d), also for eigenvectors of Kp instead of Kt, and V^T diag(g) Kt
diag(g) V = I. For independent standard normal values v_j that do not depend on the keys, the mean
of (sum_j g_j v_j)^2/sum_j g_j^2 is 1.

**Idea.** Kt 1 = 0, so N lambda_d sum_j a_dj = 1^T Kt a_d = 0. Hence the value formula needs no
centring. The constraint g^T V = 0 is a necessary condition on given values, but it is not
sufficient. Random values violate it.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Sum, Symbol, symbols

from theorax.language import *
from theorax.numerics.kernel_attention import Softmax
from theorax.numerics.keys import named
from theorax.theorems.attention_kernel_pca import _axes as setting
from theorax.theorems.attention_kernel_pca._axes import SOFTMAX, D, N

COUNT = 3
seen = arrays(
    subtracted="(a_dj - mean_l a_dl)/g_j",
    values="a_dj/g_j",
    coefficients="a_dj",
    total="1 + sum_j g_j v_j(d), with v_j(d) = a_dj/g_j",
    unweighted="1 + sum_j v_j(d)",
    products="products of the columns of diag(g) V",
    lengths="1/(N lambda_d) on the diagonal, 0 elsewhere",
    by_gram="(diag(g) V)^T Kt (diag(g) V)",
    unit="1 on the diagonal, 0 elsewhere",
    ratio="N lambda_d on the diagonal, 0 elsewhere",
)
drawn = numbers(violation="(sum_j g_j v_j)^2/sum_j g_j^2 for one column of values", positive=True)

H = hypotheses(
    positive=Hypothesis("lambda_d > 0", unbroken="no a_d has the length 1/sqrt(N lambda_d) otherwise"),
    eigenvector="Kt a_d = N lambda_d a_d",
    centred="Kt is the centred Gram matrix",
    length="|a_d|^2 = 1/(N lambda_d)",
    random="the values are independent standard normal numbers",
)
summing = (H.positive, H.eigenvector, H.centred)
rounding = "the account of the rounding, by the quotients of eigenvalues, stays below it"
exact = Relative(1, 10**7, rounding)
redundant = Identity(seen.subtracted, seen.values, under=summing, margin=exact, wrong={"values a_j": seen.coefficients})
constraint = Identity(
    seen.total, 1, under=summing, margin=Absolute(1, 10**7, rounding), wrong={"without g": dict(left=seen.unweighted)},
)
orthogonal = Identity(
    # Eigenvectors of any symmetric matrix are orthogonal, centred or not.
    seen.products, seen.lengths, under=(H.positive, H.eigenvector, H.length), margin=exact,
    wrong={"lengths sqrt(N lambda)": seen.ratio, "|a|^2 = 1/lambda": N * seen.lengths},
)
orthonormal = Identity(
    seen.by_gram, seen.unit, under=(*summing, H.length), margin=exact, wrong={"|a|^2 = 1/lambda": N * seen.unit},
)
violated = Expectation(
    drawn.violation, 1, under=H.random, spread=2,
    margin=Relative(1, 4, "values that satisfy the constraint have zero"), wrong={"the constraint holds": 0},
)


class GivenValues(eqx.Module):
    """One column of values, and g."""

    v: jax.Array
    g: jax.Array


def given(key, N, D, balanced):
    """``balanced``: brought into the plane of the constraint."""
    _, g = setting.normalised_gram(Softmax(), jax.random.normal(named(key, "keys"), (N, D)))
    v = jax.random.normal(named(key, "values"), (N,))
    return GivenValues(v - balanced * g * (g @ v) / (g @ g), g)


def violation(model):
    return dict(violation=(model.g @ model.v) ** 2 / (model.g @ model.g))


def conditions(Kt, g, eigenvalues, A):
    """Measured letters of the axes with these coefficients."""
    V, n = A / g[:, None], len(A)
    scaled, unit = g[:, None] * V, jnp.eye(A.shape[1], dtype=V.dtype)
    return dict(
        subtracted=(A - A.sum(0) / n) / g[:, None], values=V, coefficients=A, total=1 + g @ V, unweighted=1 + V.sum(0),
        products=scaled.T @ scaled, lengths=unit / (n * eigenvalues), by_gram=scaled.T @ Kt @ scaled, unit=unit,
        ratio=unit * n * eigenvalues,
    )


def axes(key, N, D, kind, longer, turned, plain, more, repeated, raised):
    """``raised``: what is added to every coefficient."""
    return setting.build_axes(key, N, D, kind, longer, turned, plain, more, repeated), raised


def observe(model):
    axes, raised = model
    K, g = setting.normalised_gram(axes.kernel, axes.keys)
    eigenvalues, A = setting.axes_of(axes, COUNT)
    return conditions(setting.centred(K), g, eigenvalues, A + raised)


@settles(redundant, constraint, orthogonal, orthonormal)
def four_keys(claim):
    """Four keys, centred Gram matrices of rank two whose axes lie in one plane, any g."""
    Phi, A, eigenvalues = setting.generic_axes(plane=True)
    g = np.array(symbols("g_1:5", positive=True), dtype=object)
    yield Instance(claim, "four keys", conditions, Phi @ Phi.T, g, eigenvalues, A, letters={N: 4})


@lemma
def sums():
    """Any number of keys: 1^T Kt a, with 1^T J = 0, for the sum s of the coefficients."""
    j, n = Symbol("j", integer=True), Symbol("N", integer=True, positive=True)
    value, s = Symbol("lambda", positive=True), Symbol("s", real=True)
    column: Any = Sum(1 / n, (j, 1, n))
    yield Step("a column of J sums to zero", 1 - column, 0)
    yield Solved("so do coefficients of a positive eigenvalue", n * value * s - 0, s, [0])


softmax = Subject(axes, kind=SOFTMAX, longer=1.0, turned=0.0, plain=0, more=0, repeated=0, raised=0.0)
random = Subject(given, balanced=0.0)
theorem = Theorem(
    place="the values of the main result, simplified (derived here)",
    label="derived",
    uses=("attention_is_query_projection",),
    hypotheses=H,
    claims=dict(
        redundant=redundant, constraint=constraint, orthogonal=orthogonal, orthonormal=orthonormal, violated=violated,
    ),
    proofs=(four_keys, sums),
    experiments=dict(
        axes=Experiment(observe, seen, setting.SIZES, at={D: 3}, draws=setting.DRAWS, subjects={
            "softmax attention": softmax,
            "coefficients a tenth off": softmax(turned=0.1).breaking(
                H.eigenvector, fails=(orthogonal, orthonormal)),
            # Rolled coefficients still sum to zero; raised ones sum to a tenth for each key.
            "coefficients raised by a tenth": softmax(raised=0.1).breaking(H.eigenvector, fails=(redundant, constraint)),
            "the Gram matrix that is not centred": softmax(plain=1).breaking(
                H.centred, fails=(redundant, constraint, orthonormal)),
            "coefficients three times as long": softmax(longer=3.0).breaking(H.length, fails=(orthogonal, orthonormal)),
        }),
        values=Experiment(violation, drawn, {N: (16, 64)}, at={D: 4}, draws=Efforts(1000, 2000, 10000), subjects={
            "independent values": random,
            "values in the plane of the constraint": random(balanced=1.0).breaking(H.random, fails=violated),
        }),
    ),
    issues=(
        "The constraint is that of a bias in the regression view of attention, where coefficients sum to zero as well.",
        "It is necessary, not sufficient: a column in its plane need not belong to an eigenvector.",
    ),
)
