"""Gradients explode with the context at an exactly known rate, and T^(L-1) of it is the outlier's.

X_L is linear in W_l, so its Jacobian is a Kronecker product and its norm a product of norms. Rows of A are iid, so
E A^T M A = J M J + tr(M) v (I - J) with Cov(row) = v (I - J): with q = s_T/T, s_T = E ||A_perp||_F^2, the means
t_L = E ||A_L ... A_1||_F^2 obey t_L = 1 + q t_(L-1) from t_0 = T, and without the outlier t_L = q t_(L-1).
"""

from typing import Any

from sympy import Le, Rational, Symbol, exp, eye, integrate, limit, ones, oo, simplify, sqrt
from sympy import gamma as Gamma

from theorax.language import *
from theorax.theorems.mind_the_gap import _gradients as programs
from theorax.theorems.mind_the_gap import _markov as setting
from theorax.theorems.mind_the_gap._gradients import (
    L,
    after,
    alpha,
    before,
    bracket,
    exponential,
    fixed,
    jacobian,
    l,
    naive,
    network,
    power,
    sigma_A,
    sigma_V,
)
from theorax.theorems.mind_the_gap._markov import T, d, gamma

s_T = (T - 1) / (alpha * T + 1)
scale = d * (d * sigma_V**2) ** (L - 1)


def mean_square(q):
    """E ||A_L ... A_1||_F^2."""
    return (1 - q**L) / (1 - q) + T * q**L


H = hypotheses(
    independent="no attention matrix depends on the tokens",
    markov="attention matrices are independent and random, their rows iid and exchangeable",
    dirichlet="their rows are Dirichlet(alpha)",
    isometric=setting.ISOMETRIC,
    gaussian_values="values are iid N(0, sigma_V^2), independent over layers and of the attention",
)
factors = Identity(
    jacobian, before * after, under=H.independent,
    margin=Relative(1, 10**9, "rounding is far below it; a term left out of the Jacobian is of the order of the whole"),
    wrong={"norms for their squares": sqrt(before * after)},
)  # fmt: skip
within: dict[str, Any] = dict(
    margin=Relative(1, 20, "at T = 16 the limit sigma_A^2 in the place of s_T moves these means by 6 % and more"),
    where=Le(l, L),
    spread=Rational(3, 5),
)
mean_naive = Expectation(
    naive, scale * mean_square(s_T / T),
    wrong={
        "the outlier forgotten": scale * T * (s_T / T) ** L,
        "T q^L forgotten, a factor two at L = 1": scale * (1 - (s_T / T) ** L) / (1 - s_T / T),
        "dependence on l": scale * mean_square(s_T / T) * (s_T / T) ** (l - 1),
        "the limit of s_T in its place": scale * mean_square(1 / (alpha * T)),
    },
    **within,
)  # fmt: skip
mean_fixed = Expectation(
    fixed, scale * T * (s_T / T) ** L,
    wrong={
        "an excess explosion of T^L": scale * (s_T / T) ** L,
        "an excess explosion of T^(L-2)": scale * T**2 * (s_T / T) ** L,
        "dependence on l": scale * T * (s_T / T) ** (L - l + 1),
        "the limit of s_T in its place": scale * T * (1 / (alpha * T)) ** L,
    },
    **within,
)  # fmt: skip
any_law: dict[str, Any] = dict(
    equals=0,
    margin=Absolute(1, 20, "in units of the mean, the same margin as for Dirichlet rows"),
    under=(H.independent, H.markov, H.isometric, H.gaussian_values),
    where=Le(l, L) & Le(2, L),  # at depth one both sides are one number, by the squares of outlier_identity
    spread=Rational(3, 5),
)
naive_any_law = Expectation(
    naive / scale - bracket, wrong={"the outlier forgotten": dict(of=naive / scale - power)}, **any_law,
)  # fmt: skip
fixed_any_law = Expectation(
    T ** (L - 1) * (fixed / scale - power) / sigma_A ** (2 * L),
    wrong={
        "one power of T too many": dict(of=T ** (L - 1) * (fixed / scale - T * power) / sigma_A ** (2 * L)),
    },
    **any_law,
)  # fmt: skip


@settles(factors)
def kronecker():
    """Generic rows of sum one, tokens and values; T = d = 2 at depths 2 and 3, T = 3, d = 2 at depth 2, every layer."""
    for sizes in ((2, 2, 2), (2, 2, 3), (3, 2, 2)):
        what = "the measured program on symbols, T = {}, d = {}, L = {}".format(*sizes)
        yield instance(factors, what, programs.differentiated(*sizes))


@lemma
def one_layer():
    """Dirichlet rows of any length for s_T; two and three tokens for the second moments of a matrix."""
    z, a, b = Symbol("z", positive=True), Symbol("a"), Symbol("b")

    def second(shape):
        return integrate(z ** (shape + 1) * exp(-z), (z, 0, oo)) / Gamma(shape)

    yield Cited("a row is a vector of gamma variates over their sum, and independent of that sum", "Lukacs 1955")
    square = simplify(second(alpha) / second(alpha * T))
    yield Step("s_T = T^2 E a_1^2 - 1", T**2 * square - 1, s_T)
    for order in (2, 3):
        own, I, J = square.subs(T, order), eye(order), ones(order) / order
        other = (Rational(1, order) - own) / (order - 1)  # a row sums to one
        row, means = other * ones(order) + (own - other) * I, J / order
        M = a * J + b * (I - J)
        image = sum((M[i, j] * (row if i == j else means) for i in range(order) for j in range(order)), 0 * I)
        v = s_T.subs(T, order) / (order * (order - 1))
        yield Step(f"E A^T (a J + b (I - J)) A, T = {order}", image, a * J + v * M.trace() * (I - J))


@derives(mean_naive, mean_fixed)
def induction(claim):
    """Every depth, layer and size: rows iid and exchangeable, tokens isometric, values iid and centred."""
    t, outlier = (mean_square, 1) if claim is mean_naive else (lambda q: T * q**L, 0)
    q = Symbol("q", positive=True)
    yield Step("without a layer, ||I||_F^2", t(q).subs(L, 0), T)
    yield Step("one layer more, by E A^T M A = J M J + tr(M) v (I - J)", outlier + q * t(q), t(q).subs(L, L + 1))
    values = (d * sigma_V**2) ** (l - 1) * d * (d * sigma_V**2) ** (L - l)  # E W W^T = d sigma_V^2 I, ||I_d||^2 = d
    yield Step("independent values before and after, isometric tokens", values * t(s_T / T), claim.equals)


@lemma
def explosion():
    """Any alpha, sigma_A^2 = 1/alpha; depths 1 to 4: the ratio of both means grows like T^(L-1) sigma_A^(-2L)."""
    ratio = mean_square(s_T / T) / (T * (s_T / T) ** L)
    for depth in range(1, 5):
        grown = limit(simplify((ratio / T ** (L - 1)).subs(L, depth)), T, oo)
        excess = 1 + 1 / alpha if depth == 1 else 1  # at depth one the outlier is no larger than the bulk
        yield Step(f"naive/fixed over T^(L-1), L = {depth}", grown, excess * alpha**depth)


means: dict[str, Any] = dict(mean_naive=mean_naive, mean_fixed=mean_fixed)
dirichlet, any_rows = (mean_naive, mean_fixed), (naive_any_law, fixed_any_law)
theorem = Theorem(
    place="exploding gradients; rate reconstructed, exact finite-size means derived here",
    label="derived",
    uses=("outlier_identity",),
    hypotheses=H,
    claims=dict(factors=factors, **means, naive_any_law=naive_any_law, fixed_any_law=fixed_any_law),
    proofs=(kronecker, one_layer, induction, explosion),
    experiments=dict(
        jacobians=Experiment(
            programs.differentiate, programs.JACOBIANS, {T: Efforts((4,), (4, 6), (4, 6, 8))}, derived={d: T / gamma},
            at=({gamma: 1}, {gamma: Rational(2, 3)}), along={L: (3,), l: (1, 2, 3)}, draws=Efforts(2, 3, 8),
            padded=True,
            subjects={
                "naive": network,
                "fixed": network(removed=1.0),
                "key-query": network(dependent=1).breaking(H.independent, fails=factors),
            },
        ),
        means=Experiment(
            programs.norms, programs.MEANS, {T: Efforts((16,), (16, 32), (16, 32, 64))}, derived={d: T / gamma},
            at=({gamma: 1, sigma_V: Rational(1, 4)}, {gamma: Rational(2, 3), sigma_V: 1}),
            along={L: (1, 2, 3), l: (1, 2, 3)}, draws=Efforts(4000, 4000, 20000), padded=True,
            subjects={
                "exponential": exponential,
                "Dirichlet(1/2)": exponential(law=programs.SQUARES, knows={alpha: Rational(1, 2), sigma_A: sqrt(2)}),
                "uniform": exponential(
                    law=programs.UNIFORM, knows={alpha: 1, sigma_A: setting.UNIFORM.sigma_A}
                ).breaking(H.dirichlet, fails=dirichlet),
                "uniform attention": exponential(constant=1).breaking(H.markov, fails=dirichlet),
                "a favoured token": exponential(favoured=1.0).breaking(H.markov, fails=(*dirichlet, *any_rows)),
                "aligned tokens": exponential(aligned=1.0).breaking(H.isometric, fails=(mean_naive, naive_any_law)),
                "values with a common factor": exponential(shared=1.0).breaking(
                    H.gaussian_values, fails=(*dirichlet, *any_rows),
                ),
            },
        ),
    ),
    issues=(
        "The norms are products of independent factors, with right tails that grow with depth and shrink with size: up "
        "to depth 3 and from T = 16 on their skewness stays below 2, so that Student's t holds for thousands of draws. "
        "Nothing is asserted about deeper or smaller networks.",
        "The explosion naive/fixed ~ T^(L-1) sigma_A^(-2L) is derived from the two exact means, not measured again; "
        "at depth one the ratio is 1 + 1/sigma_A^2.",
        "The means are arithmetic: typical norms are smaller, and their logarithms obey no such formula.",
        "With Xavier queries and keys attention is nearly uniform and the control of the Jacobian would hardly fail.",
    ),
)  # fmt: skip
