"""The singular values of a random Markov matrix, but for the first, fill a quarter circle.

**Theorem.** Let A_ij = Z_ij/sum_k Z_ik be T x T with iid weights Z >= 0 of a fixed law, sigma_A
their coefficient of variation, and A_perp = A - J. If their variance is finite, then, as T -> oo,
the law of s_i(A), i >= 2, over their root mean square, tends to the quarter-circular law on [0, 2];
Pareto weights of tail 3 are included. If all their moments are finite, then T^(k-1) sum_(i >= 2)
s_i(A)^(2k)/sigma_A^(2k) -> binom(2k, k)/(k + 1), the Catalan number, in the mean for k = 1, 2, 3.
For Gamma(alpha) weights E ||A_perp||_F^2 = (T - 1)/(alpha T + 1) at every T.

**Idea.** In the limit a row sum is T times the mean weight, so sqrt(T) A_perp is nearly an iid
matrix of variance sigma_A^2, and A has one more singular value. The even moments of the quarter
circle of radius 2 sigma_A are sigma_A^(2k) times the Catalan numbers. For Gamma weights E A_ij^2 is
an integral of y E Z^2 e^(-y S), with S the row sum, which factorises.
"""

import jax.numpy as jnp
from sympy import Derivative, Integer, Integral, Rational, Symbol, catalan, exp, factorial, oo, pi, sqrt

from theorax.language import *
from theorax.numerics import distributions
from theorax.numerics.ensembles import markov, random_markov
from theorax.theorems.mind_the_gap import _markov as setting
from theorax.theorems.mind_the_gap._attention import mean_token_removed
from theorax.theorems.mind_the_gap._free import free_moment, z
from theorax.theorems.mind_the_gap._markov import (
    BERNOULLI,
    EXPONENTIAL,
    LOGNORMAL,
    PARETO,
    POPULAR,
    UNIFORM,
    T,
    WeightLaw,
    cv,
    sigma_A,
)
from theorax.theorems.mind_the_gap._models import matrix
from theorax.theorems.mind_the_gap._spectra import singular_values

k = Index("k", "half the order of a moment")
alpha = Parameter("alpha", "shape of the Gamma weights: rows are Dirichlet(alpha, ..., alpha)", positive=True)
deviation = Parameter("deviation", "standard deviation of the weights", positive=True)
seen = numbers(
    s="singular values of A after the first, over their root mean square, which is sigma_A/sqrt(T) as observed",
    unscaled="sqrt(T) times these", sample=True,
)
power = Measured("power", "sum of their 2k-th powers", over=(k,), positive=True)
square = Measured("square", "||A_perp||_F^2", positive=True)

# On other seeds the distances are at most 0.6/T, and at most 0.02 beside 1/T at T = 16.
in_powers = Expansion(
    powers=(1,), rest=0.06, order=Rational(3, 2), reference=16,
    reason="smooth linear statistics of the spectrum expand in 1/T",
)


SOFT = WeightLaw(LOGNORMAL, sqrt(exp(Rational(1, 4)) - 1))


H = hypotheses(
    identical="the weights are independent and have one law",
    finite_variance="their variance is finite",
    fixed_law="their law does not change with T",
    dirichlet="the weights have a Gamma law",
    independent_rows="the weights of a row are independent",
)
IID = (H.identical, H.finite_variance, H.fixed_law)
bulk = Law(
    seen.s, quarter_circle(Integer(2)), as_=T, under=IID, on="spectra", spread=Rational(1, 2) / T, approach=in_powers,
    scale=Integer(1), wrong={"radius sigma_A": quarter_circle(Integer(1)), "sqrt(T) forgotten": dict(of=seen.unscaled)},
)
slow = Law(
    seen.s, quarter_circle(Integer(2)), as_=T, under=IID, on="heavy", spread=Rational(1, 2) / sqrt(T),
    approach=Expansion(
        powers=(Rational(1, 2),), rest=0.1, order=1, reference=64,
        reason="entries beyond sqrt(T) have the share T^(-1/2) of a variance of tail 3; beside it 0.05 on other seeds",
    ),
    scale=Integer(1), excludes=(quarter_circle(Integer(1)),), wrong={"radius sigma_A": quarter_circle(Integer(1))},
)
moments = Limit(
    T ** (k - 1) * power / sigma_A ** (2 * k), catalan(k), as_=T, under=IID, on="spectra", spread=(1 + k**2) / T,
    approach=setting.in_powers(
        0.15, 32, "moments of iid weights expand in 1/T; at most 0.05 beside 1/T at T = 32 on other seeds",
    ),
    margin=Relative(1, 10, "k!, which also begins with 1, 2, is a fifth more at k = 3"),
    wrong={
        "k! instead of the Catalan number": factorial(k), "radius sigma_A": catalan(k) / 4**k,
        "the mean weight forgotten": dict(of=T ** (k - 1) * power / deviation ** (2 * k)),
    },
)
frobenius = Expectation(
    square, (T - 1) / (alpha * T + 1), under=(H.independent_rows, H.dirichlet), spread=2 / T,
    margin=Relative(
        1, 16, "the limit 1/alpha is at least 30 % away at T = 4, other weights of the same sigma_A are a third away",
    ),
    wrong={"the limit at every size": 1 / alpha, "T for T - 1": T / (alpha * T + 1)},
)


def spectrum(A, T):
    size, meant = jnp.asarray(T.value, A.dtype), (jnp.arange(T.padded) > 0) & T.mask
    rest = jnp.where(meant, singular_values(A), 0)
    powers = jnp.stack([(rest ** (2 * order)).sum() for order in (1, 2, 3)])
    shape = rest / jnp.sqrt(powers[0] / (size - 1))
    every = dict(s=shape, unscaled=jnp.sqrt(size) * shape)
    valid = {name + "_valid": meant for name in every}
    return dict(every, **valid, power=powers, cv=setting.observed_coefficient_of_variation(A, T))


def row_stochastic(key, T, alpha, dirichlet, twins):
    law = distributions.Choice(dirichlet, (distributions.UnitUniform(), distributions.Dirichlet(alpha)))
    A = random_markov(key, law, T)
    return jnp.where(twins, markov(jnp.repeat(A[:, ::2], 2, axis=1), T), A)  # sizes are even: each weight twice


def observe_square(A, T):
    return dict(square=(mean_token_removed(A, T) ** 2).sum())


@derives(bulk)
def the_circle():
    """Every sigma_A, and the four laws of weights; that the spectrum tends to the quarter circle is cited."""
    yield Cited("the empirical law tends to the quarter-circular law of radius 2 sigma_A", "Bordenave et al. 2012")
    second = setting.moment(quarter_circle(2 * sigma_A), 2)
    yield Step("its second moment, over sigma_A^2", second / sigma_A**2, bulk.to.moment(2))
    for law, weight, density, over in (
        (EXPONENTIAL, z, exp(-z), (z, 0, oo)),
        (UNIFORM, z, Integer(1), (z, 0, 1)),
        (BERNOULLI, Integer(1), Integer(1), (z, 0, Rational(1, 2))),  # a uniform variable below a half: one, else zero
    ):
        first, second = (Integral(weight**n * density, over) for n in (1, 2))
        yield Step("sigma_A^2 from the density", setting.variation(first, second) ** 2, law.sigma_A**2)
    g, soft = Symbol("g", real=True), (exp(Rational(1, 8)), exp(Rational(1, 2)))
    for n, value in enumerate(soft, start=1):
        shifted = -((g - Rational(n, 2)) ** 2) / 2
        yield Step(f"the exponent of moment {n} of exp(g/2)", n * g / 2 - g**2 / 2, Rational(n**2, 8) + shifted)
        shifted_normal = Integral(exp(shifted) / sqrt(2 * pi), (g, -oo, oo))
        yield Step(f"moment of order {n} of exp(g/2)", exp(Rational(n**2, 8)) * shifted_normal, value)
    yield Step("sigma_A^2 of exp(g/2)", setting.variation(*soft) ** 2, SOFT.sigma_A**2)


@derives(moments)
def catalan_numbers():
    """k = 1 to 5, every sigma_A."""
    for order in range(1, 6):
        moment = setting.moment(quarter_circle(2 * sigma_A), 2 * order) / sigma_A ** (2 * order)
        yield Step(f"moment of order {2 * order} of the quarter circle", moment, moments.to.subs(k, order))
        free = free_moment(1 / (1 + z), order)
        yield Step("and of its square, from the S-transform 1/(1 + z)", free, moments.to.subs(k, order))


@derives(frobenius)
def second_moment_of_a_row():
    """Every T and alpha: S^(-2) is the integral of y e^(-y S), which factorises over independent weights."""
    y, S = Symbol("y", positive=True), Symbol("S", positive=True)
    yield Step("1/S^2 as an integral", Integral(y * exp(-y * S), (y, 0, oo)), S**-2)
    # Gamma weights: E exp(-y Z) = (1 + y)^(-alpha), so E Z^2 exp(-y Z) is its second derivative; substitute x = 1 + y.
    x = Symbol("x", positive=True)
    transform = x**-alpha
    other_weights = transform ** (T - 1)
    integrand = (x - 1) * Derivative(transform, (x, 2)) * other_weights
    yield Step("E Z^2 exp(-y S)", integrand, alpha * (alpha + 1) * (x - 1) * x ** (-alpha * T - 2))
    entry = alpha * (alpha + 1) * Integral((x - 1) * x ** (-alpha * T - 2), (x, 1, oo))
    # Rows sum to one and entries are exchangeable, so each has mean 1/T, and the squares of A - J add up to:
    yield Step("T^2 (E A_ij^2 - 1/T^2)", T**2 * (entry - T**-2), frobenius.equals)


gamma_weights = Subject(row_stochastic, dirichlet=1, twins=0)
theorem = Theorem(
    place="Bordenave et al. 2012, reconstructed in form; moments and the exact mean derived here",
    label="reconstructed",
    uses=("outlier_identity", "outlier_interlacing"),
    hypotheses=H,
    claims=dict(bulk=bulk, slow=slow, moments=moments, frobenius=frobenius),
    proofs=(the_circle, catalan_numbers, second_moment_of_a_row),
    experiments=dict(
        spectra=Experiment(
            spectrum, (seen, power, cv), {T: Efforts((48, 64, 192), (64, 96, 256), (64, 128, 256, 512))},
            along={k: (1, 2, 3)}, draws=Efforts(48, 96, 256), padded=True,
            subjects={
                "exponential": matrix(EXPONENTIAL, knows={deviation: 1}),
                "uniform": matrix(UNIFORM, knows={deviation: UNIFORM.sigma_A / 2}),
                "zero or one": matrix(BERNOULLI, knows={deviation: Rational(1, 2)}),
                "exp(g/2)": matrix(SOFT, knows={deviation: exp(Rational(1, 8)) * SOFT.sigma_A}),
                "popular tokens": matrix(POPULAR, popular=0.5, knows={deviation: POPULAR.sigma_A}).breaking(
                    H.identical, fails=(bulk, moments),
                ),
                # Where sigma_A grows with T the one observed takes its place: what fails is the shape.
                "infinite variance": matrix(PARETO, tail=1.5).breaking(H.finite_variance, fails=(bulk, moments)),
                "sharp softmax": matrix(LOGNORMAL, sharp=1).breaking(H.fixed_law, fails=(bulk, moments)),
            },
        ),
        heavy=Experiment(
            spectrum, (seen, power, cv), {T: Efforts((64, 128, 256), (64, 128, 256), (64, 128, 256, 512))},
            along={k: (1, 2, 3)}, draws=Efforts(32, 48, 256), span=4, padded=True,
            subjects={
                "Pareto weights, tail 3": matrix(PARETO, tail=3.0),
                "infinite variance": matrix(PARETO, tail=1.5).breaking(H.finite_variance, fails=slow),
            },
        ),
        rows=Experiment(
            observe_square, square, {T: Efforts((4, 8, 16), (4, 8, 16, 64), (4, 8, 16, 64, 256))},
            at=({alpha: Integer(3)}, {alpha: Integer(1)}, {alpha: Rational(1, 2)}), draws=Efforts(900, 2000, 10000),
            padded=True,
            subjects={
                "Gamma weights": gamma_weights,
                "uniform weights": gamma_weights(dirichlet=0).breaking(H.dirichlet, fails=frobenius),
                "each weight twice": gamma_weights(twins=1).breaking(H.independent_rows, fails=frobenius),
            },
        ),
    ),
    issues=(
        "The authors' lognormal weights, exp(sqrt(ln 2) g) with sigma_A = 1, are too slow for the declared class. At "
        "T = 512 their law is still 0.006 away, and approaches like T^(-p) with p < 1. Weights exp(g/2) stand in for them.",
        "Popular tokens are a control of `bulk` and `moments` alone; for weights of tail 3 no fourth moment is claimed.",
    ),
)
