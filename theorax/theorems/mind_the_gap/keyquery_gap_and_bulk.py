"""Key-query attention opens the same spectral gap as a random Markov matrix, and has another bulk.

A = softmax(beta q_i.k_j/sqrt(d_qk)) with standard Gaussian queries and keys, which is what isometric tokens give. Its
entries are exp(beta x_ij) up to scale, x_ij = q_i.k_j/sqrt(d_qk), and e^(beta x - beta^2/2) = sum beta^k/k! He_k(x).
Terms with k >= 2 act like an independent matrix of variance tau^2 = sigma_A^2 - beta^2, sigma_A^2 = e^(beta^2) - 1; the
linear term beta x_ij keeps the singular values of Q K^T. Their free sum has the R-transform
tau^2 g + beta^2 g/(1 - phi beta^2 g^2), phi = T/d_qk: free cumulants kappa_2 = sigma_A^2 and kappa_4 = phi beta^4.
"""

from dataclasses import replace
from typing import Any

import sympy
from sympy import Integer, Rational, Symbol, exp, oo, pi, sqrt

from theorax.language import *
from theorax.theorems.mind_the_gap import _keyquery as program
from theorax.theorems.mind_the_gap import _markov as setting
from theorax.theorems.mind_the_gap._free import inverse_of_edge, z
from theorax.theorems.mind_the_gap._keyquery import (
    R,
    beta,
    bulk,
    d_qk,
    fourth,
    g,
    layer,
    phi,
    right_edge,
    second,
    square,
    tail,
    top,
    variance,
    x,
)
from theorax.theorems.mind_the_gap._markov import T, sigma_A
from theorax.theorems.mind_the_gap._models import user_layer

quartic = (
    x * g * (1 - phi * beta**2 * g**2) - (1 + (variance - beta**2) * g**2) * (1 - phi * beta**2 * g**2) - beta**2 * g**2
)
law, semicircle = AlgebraicLaw(quartic, x, g), AlgebraicLaw(variance * g**2 - x * g + 1, x, g)
light = beta <= Rational(3, 5)  # beyond, weights of size e^(4 beta) stand out of the edge at every size in reach

# Moments of normalised weights expand in 1/T; beside that term at most 0.03 was measured at T = 64 on other seeds.
smooth = setting.in_powers(0.1, 64, "moments of normalised weights expand in 1/T")
at_an_edge = setting.at_an_edge(0.3, seen=0.1)
H = hypotheses(
    isometric=setting.ISOMETRIC,
    independent="W_Q and W_K are independent, with iid Gaussian entries",
    temperature="the standard deviation beta of the scores does not grow with T",
    not_removed="nothing is subtracted from the attention matrix",
    ratio="phi = T/d_qk is fixed as T grows",
    one_layer=Hypothesis("A is that of the first layer", unbroken="aligned tokens stand for what later layers see"),
)
needed: dict[str, Any] = dict(under=(H.isometric, H.independent, H.temperature, H.not_removed))

second_moment = Limit(
    square, variance, as_=T, where=beta <= 1, spread=5 / T, approach=smooth,
    margin=Relative(1, 12, "beta^2 in the place of e^(beta^2) - 1 is 12 percent less at beta = 1/2"),
    wrong={"sigma_A^2 = beta^2": beta**2},
)  # fmt: skip
fourth_moment = Limit(
    fourth, 2 * variance**2 + phi * beta**4, as_=T, where=light, spread=12 / T, approach=smooth,
    margin=Relative(1, 8, "the quarter circle's 2 sigma_A^4 is 28 percent less at beta = 1/2, phi = 1"),
    wrong={"that of the quarter circle": 2 * variance**2},
)  # fmt: skip
excess = replace(fourth_moment, of=T * tail / top**4)
outlier = Limit(
    T * (top - 1), (variance + phi * beta**4 / 2) / 2, as_=T, where=light, spread=2 / sqrt(T),
    approach=Corrections(
        size=0.1, slowest=1, rest=0, reference=64, reason="as for moments; at most 0.03 at T = 64 on other seeds"
    ),
    margin=Relative(3, 32, "without the fluctuation of the keys' norms it is a tenth less at beta = 1/2, phi = 1"),
    wrong={"that of a random Markov matrix": variance / 2},
)  # fmt: skip
gap = Rate(
    second / top, 1 / sqrt(T), as_=T, spread=3 / T ** Rational(2, 3), approach=at_an_edge,
    margin=Absolute(1, 3, "no gap at all, or a second value of order 1/T, is half a power away"),
    wrong={"order 1/T": 1 / T}, **needed,
)  # fmt: skip
# What is claimed of any single layer, in units of the coefficient of variation observed on it.
layer_gap = replace(gap, of=second / (top * sigma_A))
layer_collapse = Rate(
    tail / top**4 / sigma_A**4, 1 / T, as_=T, spread=12 / T,
    approach=Corrections(
        size=0.3, slowest=1, rest=0, reference=64, reason="the logarithm of such an expansion; at most 0.1 at T = 64",
    ),
    margin=Absolute(1, 3, "an exponent of -1/2 or -3/2 is half a power away"), wrong={"no collapse": Integer(1)},
    **needed,
)  # fmt: skip
edge = Limit(
    second * sqrt(T), right_edge(beta, phi), as_=T, where=light, spread=1 / T ** Rational(2, 3), approach=at_an_edge,
    margin=Relative(1, 10, "the quarter circle's 2 sigma_A is 20 percent less at beta = 1/2, phi = 1"),
    wrong={"that of the quarter circle": 2 * sqrt(variance)},
)  # fmt: skip
distribution = Law(
    bulk, law, as_=T, where=light, spread=Rational(7, 10) / T, approach=replace(smooth, rest=0.01),
    scale=sqrt(variance), excludes=(law.scaled(sqrt(Rational(11, 10))), semicircle),
    wrong={"the quarter circle": semicircle},
)  # fmt: skip


@derives(distribution)
def moments():
    """Generic beta and phi; that the nonlinear part is free of the linear one is cited."""
    t = Symbol("t", real=True)
    weight = exp(beta * t - beta**2 / 2) * exp(-(t**2) / 2) / sqrt(2 * pi)
    yield Step("the linear Hermite coefficient", sympy.integrate(t * weight, (t, -oo, oo)), beta)
    squared = sympy.integrate(exp(beta * t - beta**2 / 2) * weight, (t, -oo, oo))
    yield Step("its variance, the sum of all squared coefficients", squared - 1, variance)
    yield Cited("a function of a Gaussian product: that product plus a free semicircle", "Pennington and Worah 2017")
    yield Cited("dividing the rows by their sums moves the spectrum by one rank and o(1)", "Bordenave et al. 2012")
    # The square of a symmetric law has g(x) = (1 + z)/x with 1/x^2 = chi(z), S the transform of the square.
    S = 1 / ((1 + z) * (1 + phi * z))
    place = sympy.solve((g**2 / (1 + z) ** 2 * inverse_of_edge(S) - 1).factor(), z)[0]
    yield Step("Q K^T/sqrt(T d_qk): R = x - 1/g with x = (1 + z)/g", (1 + place) / g - 1 / g, g / (1 - phi * g**2))
    yield Step("the quartic is R(g) + 1/g = x", (x - R(g) - 1 / g) * g * (1 - phi * beta**2 * g**2), quartic)
    cumulant = sympy.series(R(g), g, 0, 4).removeO().expand()
    two, four = cumulant.coeff(g, 1), cumulant.coeff(g, 3)
    yield Step("second moment: kappa_2", two, law.moment(2))
    yield Step("fourth moment: kappa_4 + 2 kappa_2^2", four + 2 * two**2, law.moment(4))


@derives(fourth_moment)
def fourth_from_law():
    """Generic beta and phi, from the law of the bulk."""
    yield Step("the law's fourth moment", law.moment(4), fourth_moment.to)


@derives(outlier)
def first_order():
    """Generic beta and phi, to first order in 1/T."""
    # s_1^2 = 1 + |A_perp^T u|^2 + ...: T times the variance of a column sum. Given k_j a column's entries have mean
    # e^(beta^2 |k_j|^2/(2 d_qk)) up to scale, |k_j|^2 chi-square with d_qk degrees, and variance sigma_A^2 about it.
    n, a = sympy.symbols("n a", positive=True)
    laplace = (1 - 2 * a / n) ** (-n / 2)  # E exp(a chi^2_n/n)
    between = sympy.limit(n * (laplace.subs(a, 2 * a) / laplace**2 - 1), n, oo).subs(a, beta**2 / 2)
    yield Step("d_qk Var(e^(beta^2 |k|^2/(2 d_qk))) over its squared mean", between, beta**4 / 2)
    yield Step("half of T(s_1^2 - 1): within and between columns", (variance + phi * between) / 2, outlier.to)


moments_of_it = dict(second_moment=second_moment, fourth_moment=fourth_moment, excess=excess, outlier=outlier)
gaps = dict(gap=gap, layer_gap=layer_gap, layer_collapse=layer_collapse)
shape = (fourth_moment, excess, outlier, edge, distribution)
theorem = Theorem(
    place="the gap of key-query attention (reconstructed); law of the bulk and constants derived here",
    label="reconstructed",
    uses=("markov_top_and_second_singular",),
    hypotheses=H,
    claims=dict(**moments_of_it, **gaps, edge=edge, distribution=distribution),
    proofs=(moments, fourth_from_law, first_order),
    experiments=dict(
        layer=Experiment(
            program.observe, program.MEASURED, {T: setting.WIDTHS}, derived={d_qk: T / phi},
            at=(
                {beta: Rational(1, 2), phi: Integer(1)}, {beta: Rational(1, 2), phi: Integer(4)},
                {beta: Integer(1), phi: Integer(1)},
            ),
            draws=Efforts(64, 64, 256), adopt=user_layer, asked=(layer_gap, layer_collapse), padded=True,
            subjects={
                "key-query attention": layer,
                "sharp softmax": layer(sharp=1).breaking(H.temperature, fails=(second_moment, *shape, gap)),
                "wide queries": layer(wide=1).breaking(H.ratio, fails=shape),
                "tied queries and keys": layer(tied=1).breaking(
                    H.independent, fails=(second_moment, *shape, layer_gap),
                ),
                "outlier removed": layer(removed=1.0).breaking(H.not_removed, fails=(outlier, excess, *gaps.values())),
                "aligned tokens": layer(aligned=0.5).breaking(H.isometric, fails=(second_moment, *shape)),
            },
        )
    ),
    issues=(
        "Moments of exp(beta x) converge slowly: the second is claimed for beta <= 1, the fourth, the edge and the law "
        "for beta <= 3/5, above which spikes of the log-normal weights exceed the edge at every size within reach.",
        "The Markov model has this gap but not this bulk: it is not a model of key-query attention's whole spectrum.",
    ),
)  # fmt: skip
