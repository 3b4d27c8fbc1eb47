"""Gradients explode with the context at an exactly known rate, and T^(L-1) of it is the outlier's.

**Theorem.** Let X_L = A_L ... A_1 X_0 W_1 ... W_L, 1 <= l <= L, where no A depends on the tokens.
Then ||dX_L/dW_l||_F^2 = ||A_L ... A_1 X_0 W_1 ... W_(l-1)||_F^2 ||W_(l+1) ... W_L||_F^2. Let X_0
have orthonormal rows, the A_l be iid with iid exchangeable rows of sum one, q = E ||A - J||_F^2/T,
and the W_l iid N(0, sigma_V^2), independent of the A's. Then the mean is d (d sigma_V^2)^(L-1)
(1 + q + ... + q^(L-1) + T q^L), and d (d sigma_V^2)^(L-1) T q^L if J is subtracted from every A.
For Dirichlet(alpha) rows q = (T - 1)/(T (alpha T + 1)). So the first mean is
(1 + q + ... + q^(L-1) + T q^L)/(T q^L) times the second, at every T and d.

**Idea.** X_L is linear in W_l, so its Jacobian is a Kronecker product. Rows are iid, so
E A^T M A = J M J + tr(M) c (I - J) with the covariance c (I - J) of a row. So t_L = E ||A_L ...
A_1||_F^2 obeys t_L = 1 + q t_(L-1), t_0 = T, and t_L = q t_(L-1) without the outlier. For Dirichlet
rows the ratio grows like T^(L-1) alpha^L as T -> oo, L >= 2.
"""

from dataclasses import replace

import sympy
from sympy import Le, Rational, Subs, Sum, Symbol, oo, sqrt, transpose

from theorax.language import *
from theorax.numerics.extents import literal
from theorax.theorems.mind_the_gap import _gradients as programs
from theorax.theorems.mind_the_gap import _markov as setting
from theorax.theorems.mind_the_gap._gradients import L, common, l, norms, powers, seen
from theorax.theorems.mind_the_gap._markov import T, d, gamma

alpha = Parameter("alpha", "parameter of the Dirichlet law of a row of attention weights", positive=True)
sigma_A = Parameter("sigma_A", "coefficient of variation of the attention weights", positive=True)
sigma_V = Parameter("sigma_V", "standard deviation of the values", positive=True)

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
    seen.jacobian, seen.before * seen.after, under=H.independent,
    margin=Relative(1, 10**9, "rounding is far below it; a term left out of the Jacobian is of the order of the whole"),
    wrong={"norms for their squares": sqrt(seen.before * seen.after)},
)
# The growth of the common token by the values carries most of the noise of the naive network.
of_values = KnownMean(
    common, 1, gain=4, under=(H.independent, H.gaussian_values),
    because="u is independent of the values: a layer multiplies E |u|^2 and E ||W||_F^2 by d sigma_V^2",
)
against_limit = Relative(1, 20, "at T = 16 the limit sigma_A^2 in the place of s_T moves these means by 6 % and more")
mean_naive = Expectation(
    norms.naive, scale * mean_square(s_T / T), margin=against_limit, where=Le(l, L), spread=Rational(3, 5),
    variates=of_values,
    wrong={
        "the outlier forgotten": scale * T * (s_T / T) ** L,
        "T q^L forgotten, a factor two at L = 1": scale * (1 - (s_T / T) ** L) / (1 - s_T / T),
        "dependence on l": scale * mean_square(s_T / T) * (s_T / T) ** (l - 1),
        "the limit of s_T in its place": scale * mean_square(1 / (alpha * T)),
    },
)
mean_fixed = Expectation(
    norms.fixed, scale * T * (s_T / T) ** L, margin=against_limit, where=Le(l, L), spread=Rational(2, 5),
    wrong={
        "an excess explosion of T^L": scale * (s_T / T) ** L,
        "an excess explosion of T^(L-2)": scale * T**2 * (s_T / T) ** L,
        "dependence on l": scale * T * (s_T / T) ** (L - l + 1),
        "the limit of s_T in its place": scale * T * (1 / (alpha * T)) ** L,
    },
)
for_any_law = (H.independent, H.markov, H.isometric, H.gaussian_values)
in_means = Absolute(1, 20, "in units of the mean, the same margin as for Dirichlet rows")
deeper = Le(l, L) & Le(2, L)  # at depth one both sides are one number, by the squares of outlier_identity
naive_any_law = Expectation(
    norms.naive / scale - powers.bracket, 0, under=for_any_law, margin=in_means, where=deeper, spread=Rational(3, 5),
    variates=of_values,
    wrong={"the outlier forgotten": dict(of=norms.naive / scale - powers.power)},
)
fixed_any_law = Expectation(
    T ** (L - 1) * (norms.fixed / scale - powers.power) / sigma_A ** (2 * L), 0,
    under=for_any_law, margin=in_means, where=deeper, spread=Rational(2, 5),
    wrong={"one power of T too many": dict(of=T ** (L - 1) * (norms.fixed / scale - T * powers.power) / sigma_A ** (2 * L))},
)
# E naive over E fixed, T^(L-1) sigma_A^(-2 L) in the limit by explosion; both are seen on the same networks.
ratio = mean_square(s_T / T) / (T * (s_T / T) ** L)
explodes = Expectation(
    (norms.naive / ratio - norms.fixed) / (scale * T * (s_T / T) ** L), 0, margin=in_means, where=Le(l, L),
    spread=Rational(3, 5), variates=replace(of_values, gain=Rational(3, 2)),
    wrong={
        "T^L in the place of T^(L-1)": dict(of=(norms.naive / (T * ratio) - norms.fixed) / (scale * T * (s_T / T) ** L)),
        "sigma_A^(-L)": dict(of=(norms.naive / (ratio * sigma_A**L) - norms.fixed) / (scale * T * (s_T / T) ** L)),
    },
)


@settles(factors)
def kronecker():
    """Generic rows of sum one, tokens and values; T = d = 2 at depths 2 and 3, T = 3, d = 2 at depth 2, every layer."""
    for sizes in ((2, 2, 2), (2, 2, 3), (3, 2, 2)):
        network, (rows, columns, depth) = programs.naive_of_symbols(*sizes), sizes
        what = f"T = {rows}, d = {columns}, L = {depth}"
        yield Instance(factors, what, programs.differentiate, network, literal(rows), literal(columns))


@lemma
def every_shape():
    """Any sizes, depth and layer: X_L = P W_l Q, one entry of W_l moved at a time, W_l + e_i e_j^T."""
    P, W, Q, e, f = generic_matrices("P W_l Q e_i e_j")
    column = Symbol("p_i", positive=True)  # |P e_i|^2
    slope = P * (W + e * transpose(f)) * Q - P * W * Q
    y, z = P * e, transpose(Q) * f
    yield MatrixStep("the slope is of rank one", slope, y * transpose(z))
    squares = ((transpose(y) * y, column),)
    # q_j is the trace of z z^T. Summed over i and j, p_i q_j is the product of both squared norms.
    gram = transpose(y * transpose(z)) * (y * transpose(z))
    yield MatrixStep("its Gram matrix, of trace p_i q_j", gram, column * z * transpose(z), squares)


@lemma
def one_layer():
    """Every T and alpha: second moments of rows that are iid and exchangeable, Dirichlet rows for s_T."""
    a, b, i, j = Symbol("a"), Symbol("b"), Symbol("i", integer=True), Symbol("j", integer=True)
    yield Cited("E ||A_perp||_F^2 of Gamma weights, every T and alpha", "markov_bulk_quarter_circular")
    own = (alpha + 1) / (T * (alpha * T + 1))  # E a_1^2
    yield Solved("the second moment of an entry: T^2 E a_1^2 - 1 = s_T", T**2 * i - 1 - s_T, i, [own])
    other = (1 / T - own) / (T - 1)  # a row sums to one
    # M = a J + b (I - J): A^T M A sums M_ij times the products of an entry of row i and of row j, of mean 1/T^2 if i != j.
    trace, v = a + b * (T - 1), s_T / (T * (T - 1))
    rows = Sum((a - b) / T / T**2, (j, 1, T - 1), (i, 1, T))
    for name, moment, claimed in (("on", own, a / T + v * trace * (1 - 1 / T)), ("off", other, a / T - v * trace / T)):
        image = Sum((b + (a - b) / T) * moment, (i, 1, T)) + rows
        yield Step(f"E A^T M A = J M J + tr(M) v (I - J), {name} the diagonal", image, claimed)


@derives(mean_naive, mean_fixed)
def induction(claim):
    """Every depth, layer and size: rows iid and exchangeable, tokens isometric, values iid and centred."""
    q = Symbol("q", positive=True)
    t, outlier = (mean_square(q), 1) if claim is mean_naive else (T * q**L, 0)
    yield Step("without a layer, ||I||_F^2", Subs(t, L, 0), T)
    yield Step("one layer more, by E A^T M A = J M J + tr(M) v (I - J)", outlier + q * t, t.subs(L, L + 1))
    values = (d * sigma_V**2) ** (l - 1) * d * (d * sigma_V**2) ** (L - l)  # E W W^T = d sigma_V^2 I, ||I_d||^2 = d
    yield Step("those before on a unit vector, and those after, over their mean", values / scale, 1)
    yield Step("independent values before and after, isometric tokens", values * t.subs(q, s_T / T), claim.equals)


@lemma
def explosion():
    """Any alpha, sigma_A^2 = 1/alpha; depths 1 to 4: the ratio of both means grows like T^(L-1) sigma_A^(-2L)."""
    for depth in range(1, 5):
        grown = sympy.Limit((ratio / T ** (L - 1)).subs(L, depth).factor(), T, oo)
        excess = 1 + 1 / alpha if depth == 1 else 1  # at depth one the outlier is no larger than the bulk
        yield Step(f"naive/fixed over T^(L-1), L = {depth}", grown, excess * alpha**depth)


network = Subject(programs.literal_net, removed=0.0, dependent=0)
exponential = Subject(
    programs.drawn_layers, law=programs.EXPONENTIAL, constant=0, favoured=0.0, aligned=0.0, shared=0.0,
    knows={alpha: 1, sigma_A: 1},
)
uniform = exponential(law=programs.UNIFORM, knows={alpha: 1, sigma_A: setting.UNIFORM.sigma_A})
means, any_rows = (mean_naive, mean_fixed), (naive_any_law, fixed_any_law)
dirichlet = (*means, explodes)
theorem = Theorem(
    place="exploding gradients; rate reconstructed, exact finite-size means derived here",
    label="derived",
    uses=("outlier_identity", "markov_bulk_quarter_circular"),
    hypotheses=H,
    claims=dict(
        factors=factors, mean_naive=mean_naive, mean_fixed=mean_fixed, naive_any_law=naive_any_law,
        fixed_any_law=fixed_any_law, explodes=explodes,
    ),
    proofs=(kronecker, every_shape, one_layer, induction, explosion),
    experiments=dict(
        jacobians=Experiment(
            programs.differentiate, seen, {T: Efforts((4,), (4, 6), (4, 6, 8))}, derived={d: T / gamma},
            at=({gamma: 1}, {gamma: Rational(2, 3)}), along={L: (3,), l: (1, 2, 3)}, draws=Efforts(2, 3, 8),
            padded=True,
            subjects={
                "naive": network,
                "fixed": network(removed=1.0),
                "key-query": network(dependent=1).breaking(H.independent, fails=factors),
            },
        ),
        means=Experiment(
            programs.squared_norms, (norms, powers, common), {T: Efforts((16,), (16, 32), (16, 32, 64))},
            derived={d: T / gamma}, at=({gamma: 1, sigma_V: Rational(1, 4)}, {gamma: Rational(2, 3), sigma_V: 1}),
            along={L: (1, 2, 3), l: (1, 2, 3)}, draws=Efforts(2000, 2000, 9000), padded=True,
            subjects={
                "exponential": exponential,
                "Dirichlet(1/2)": exponential(law=programs.SQUARES, knows={alpha: Rational(1, 2), sigma_A: sqrt(2)}),
                "uniform": uniform.breaking(H.dirichlet, fails=dirichlet),
                "uniform attention": exponential(constant=1).breaking(H.markov, fails=dirichlet),
                "a favoured token": exponential(favoured=1.0).breaking(H.markov, fails=(*dirichlet, *any_rows)),
                "aligned tokens": exponential(aligned=0.5).breaking(H.isometric, fails=(*dirichlet, *any_rows)),
                "values with a common factor": exponential(shared=1.0).breaking(
                    H.gaussian_values, fails=(*means, *any_rows),
                ),
            },
        ),
    ),
    issues=(
        "The norms are products of independent factors; their right tails grow with depth and shrink with size. Up to "
        "depth 3 and from T = 16 on their skewness stays below 2, so Student's t holds for thousands of draws. "
        "Nothing is asserted about deeper or smaller networks.",
        "The ratio of both means is measured at finite sizes, where it is exact; its limit is a lemma. At depth one it is "
        "1 + 1/sigma_A^2. No control breaks it by the values: a common factor of theirs is in both means.",
        "The means are arithmetic: typical norms are smaller, and their logarithms obey no such formula.",
        "With Xavier queries and keys attention is nearly uniform and the control of the Jacobian would hardly fail.",
    ),
)
