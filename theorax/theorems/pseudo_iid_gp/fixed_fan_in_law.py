"""A unit that reads k inputs whatever the width stays away from the Gaussian law, and units do not see it in each other.

**Theorem.** Let the z_j be independent standard normal, a = E phi(z)^2 and b4 = E phi(z)^4. Let the
n^2 entries of W be independent, N(0, 1/k) with probability k/n and else zero, and h_i = sum_j W_ij
phi(z_j). Then at every n >= k E h_i^4/a^2 = 3 + 3 b4/(k a^2) - 3/n, and E h_i^2 h_c^2/a^2 = 1 +
(b4/a^2 - 1)/n for i != c. So the kurtosis does not tend to 3, while the squares of two units become
uncorrelated. Moreover n^4 E W_ij^8 = 105 n^3/k^3 grows, and in the direction of equal coordinates
the same moment tends to 105 (1 + 6/k + 7/k^2 + 1/k^3).

**Idea.** By independence E h_i^4 = n E W^4 b4 + 3 n (n-1) (E W^2)^2 a^2, where n^2 E W^4 = 3 n/k
and n E W^2 = 1. Different rows are independent, so n^2 E W_ij^2 W_cj^2 = 1. Conditions on products
of squares hold; a single entry is too large. The bound on eighth moments must therefore hold in
every direction, single coordinates among them.
"""

import sympy
from sympy import Derivative, Integral, Rational, Subs, Symbol, exp, oo, pi, sqrt

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._ensembles import LINEAR, PHI, RELU, a, b4, n, wide
from theorax.theorems.pseudo_iid_gp._one_layer import (
    observe,
    of_squares,
    pair,
    pair_of,
    power,
    power_of,
    second_moment,
    square,
)

k = Parameter("k", "mean number of inputs that a unit reads", integer=True, positive=True)
H = hypotheses(
    fan_in="entries are independent, normal of variance 1/k with probability k/n, and else zero",
    gaussian_first="the first layer is Gaussian, so that its units are independent",
)
kurtosis = Expectation(
    power / a**2, 3 + 3 * b4 / (k * a**2) - 3 / n, spread=2, variates=of_squares(3, *H),
    margin=Relative(1, 8, "a density of one half would leave 3 + (6 b4/a^2 - 3)/n, a third less and more"),
    wrong={
        "the normal value": 3,
        "a spread that fades with the width": 3 + 3 * (b4 / a**2 - 1) / n,
        "variance of phi^2 for its second moment": 3 + 3 * (b4 / a**2 - 1) / k - 3 / n,
    },
)
apart = Expectation(
    pair / a**2, 1 + (b4 / a**2 - 1) / n, spread=1, variates=of_squares(6, *H),
    margin=Relative(1, 8, "units with a common scale have 1 + 2/r at rank r, a half more at rank four"),
    wrong={"inputs read by all units alike": 1 + (b4 / a**2 - 1) / k},
)


@derives(kurtosis, apart)
def products():
    """Every k and n: a kept entry has the fourth moment 3/k^2."""
    g = Symbol("g", real=True)
    density = exp(-(g**2) / 2) / sqrt(2 * pi)
    fourth = n**2 * k / n * Integral(g**4 * density, (g, -oo, oo)) / k**2
    own = n**2 * (k / n * Integral(g**2 * density, (g, -oo, oo)) / k) ** 2
    yield Step("a unit", power_of(fourth, own), kurtosis.equals)
    # Rows are independent: a column in two rows, as two columns, gives the square of the variance.
    yield Step("two units", pair_of(own, own), apart.equals)


@lemma
def eighth_moments():
    """Every k: where the condition on eighth moments fails, and where it holds."""
    g, t = Symbol("g", real=True), Symbol("t", real=True)
    density = exp(-(g**2) / 2) / sqrt(2 * pi)
    single = n**4 * k / n * Integral(g**8 * density, (g, -oo, oo)) / k**4
    yield Step("a single entry", single, 105 * n**3 / k**3)
    # The mean of a row over sqrt n is N(0, D/(k n)) given the number D of its kept entries, which is binomial.
    generating = (1 + k / n * (exp(t) - 1)) ** n
    kept = 105 * Subs(Derivative(generating, (t, 4)), t, 0) / k**4
    yield Step("a flat direction, in the limit", sympy.Limit(kept, n, oo), 105 * (1 + 6 / k + 7 / k**2 + 1 / k**3))


def subject(fan_in, activation):
    return wide(setting.fan_in(fan_in), activation, {k: fan_in})


theorem = Theorem(
    place="what the condition on eighth moments excludes (derived here)",
    label="derived",
    uses=("single_layer_kurtosis_table",),
    hypotheses=H,
    claims=dict(kurtosis=kurtosis, apart=apart),
    proofs=(products, second_moment, eighth_moments),
    experiments=dict(
        layers=Experiment(
            observe, (power, pair, square), {n: Efforts(16, (16, 64), (16, 64, 256))}, draws=Efforts(2000, 3000, 15000),
            dtype="float32", padded=True,
            subjects={
                "four, ReLU": subject(4, RELU),
                "eight, ReLU": subject(8, RELU),
                "four, linear": subject(4, LINEAR),
                "four, Phi": subject(4, PHI),
                # A factor that all units of the first layer share: every mean of four of them is half as much again.
                "units of one scale before, ReLU": subject(4, RELU)(common=0.5).breaking(
                    H.gaussian_first, fails=(kurtosis, apart)
                ),
                "half of the inputs taken for four": wide(setting.masked(Rational(1, 2)), RELU, {k: 4}).breaking(
                    H.fan_in, fails=kurtosis
                ),
                "rank four taken for four": wide(setting.fixed_rank(4), RELU, {k: 4}).breaking(
                    H.fan_in, fails=(kurtosis, apart)
                ),
            },
        )
    ),
    issues=("Eighth moments are exact steps and not measured: no number of draws would settle E W^8.",),
)
