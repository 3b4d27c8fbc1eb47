"""Weights of a fixed rank have no Gaussian limit: a random scale stays, and all units of the layer share it.

**Theorem.** Let h = W f be m units, f_j = phi(z_j), j <= n, z_j independent standard normal, a = E
phi^2, b4 = E phi^4. Let W = C P, C a Haar frame of r columns in R^m, P independent with iid centred
Gaussian entries, E W_ij^2 = 1/n. Then E h_i^4/a^2 = 3 m (r + 2)/(r (m + 2)) (1 + (b4/a^2 - 1)/n)
for all n and m >= r, among them m = n. For m = n -> oo at fixed r, E h_i^2 h_k^2/a^2 -> 1 + 2/r,
and a unit tends to the law E e^(i t h) = (1 + a t^2/r)^(-r/2), not Gaussian. After p ReLU layers of
such independent n x n matrices, times sqrt 2, behind N(0, 1) units, E h_i^4 = 3 ((1 + 2/r)(n +
5)/(n + 2))^p, E h_i^2 = 1.

**Idea.** Given f, P f is proportional to |f| g, g Gaussian in R^r, and C turns it uniformly: h =
sqrt(m/(n r)) |f| chi_r u, u uniform on the sphere of R^m. In the limit a unit is sqrt(a/r) g_i
chi_r with one chi_r for all units. E chi_r^4/r^2 = 1 + 2/r, and E |ReLU(u)|^4 = (n + 5)/(4 (n + 2))
for a uniform unit vector u give the moments.
"""

import sympy
from sympy import Derivative, Function, Integral, Product, Rational, Subs, Symbol, exp, gamma, oo

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp import _ranks as ranks
from theorax.theorems.pseudo_iid_gp._ensembles import RELU, a, b4, n
from theorax.theorems.pseudo_iid_gp._one_layer import moments, power_of

r = Parameter("r", "rank", integer=True, positive=True)
seen = numbers(
    power="h_i^4, mean over units and networks",
    pair="h_i^2 h_k^2, mean over pairs of units and networks",
    positive=True,
)
p = Index("p", "layers of rank r")
deep = Measured(
    "deep", "h_i^4 after p layers, mean over units and networks; h in units of its standard deviation",
    over=(p,), positive=True,
)
m = Size("m", "number of units")
ratio = Parameter("ratio", "units per input, m/n", positive=True)
rectangle = Measured("rectangle", "h_i^4, mean over m units behind n inputs and over networks", positive=True)
# Squares have a known mean, whatever the rank: control variates of the fourth powers.
second = numbers(of_rectangle="h_i^2, mean over m units behind n inputs and over networks", positive=True)
after = Measured("after", "h_i^2 after p layers, mean over units and networks", over=(p,), positive=True)
units = Measured("units", "h_i of one unit of every network", sample=True)

t = Symbol("t", real=True)
finite = 1 + (b4 / a**2 - 1) / n
diagonal = n * (r + 2) / (r * (n + 2))
again = (1 + 2 / r) * (n + 5) / (n + 2)  # one more layer, ReLU
IN_POWERS = Expansion(
    powers=(1,), rest=Rational(1, 10), order=2, reference=16, reason="the exact moments are rational in n"
)
H = hypotheses(fixed_rank="W = C P has rank r at every width, C Haar, P Gaussian")
kurtosis = Expectation(
    seen.power / a**2, 3 * diagonal * finite, spread=1,
    margin=Relative(1, 10, "without the shared scale it is 3 + 15/n, less than two thirds of it at rank two"),
    wrong={"rank r + 2": 3 * n * (r + 4) / ((r + 2) * (n + 2)) * finite},
)
not_square = Expectation(
    rectangle / a**2, 3 * m * (r + 2) / (r * (m + 2)) * finite, spread=1,
    variates=KnownMean(second.of_rectangle / a, 1, gain=Rational(5, 2), because="m/r times E |Pi e_i|^2 = r/m, times E phi^2"),
    margin=Relative(1, 12, "inputs taken for units, or the reverse, move it by a fifth and more at a ratio of four"),
    wrong={
        "inputs for units": 3 * diagonal * finite,
        "units for inputs": 3 * m * (r + 2) / (r * (m + 2)) * (1 + (b4 / a**2 - 1) / m),
    },
)
depth = Expectation(
    deep, 3 * again**p, spread=1, variates=KnownMean(after, 1, gain=2, because="ReLU keeps half of |h|^2, weights are 2 C P"),
    margin=Relative(1, 10, "one layer more or less, or Gaussian layers, differ by a quarter and more"),
    wrong={
        "one layer fewer": 3 * again ** (p - 1), "Gaussian layers": 3 * (1 + 5 / n) ** p,
        "the same scale in all layers": 3 * (1 + 2 * p / r) * ((n + 5) / (n + 2)) ** p,
    },
)
shared = Limit(
    seen.pair / a**2, 1 + 2 / r, as_=n, spread=1, approach=IN_POWERS,
    margin=Relative(1, 6, "units without a common scale have 1, a third less at rank four"),
)
mixture = Characteristic((1 + a * t**2 / r) ** (-r / 2), t)
scaled = Law(
    units, mixture, as_=n, mean_law=True, spread=Rational(1, 5),  # 32 independent networks to a draw
    approach=Expansion(
        powers=(1,), rest=Rational(1, 50), order=2, reference=16, reason="|f|^2/n is a mean of n activations squared",
    ),
    scale=Rational(7, 10), excludes=(gaussian(a),), wrong={"the Gaussian of the same variance": gaussian(a)},
)


def powers_in_depth(net, n):
    return dict(deep=ranks.mean_power(4, net.h, n), after=ranks.mean_power(2, net.h, n))


def of_rectangles(net, m):
    return dict(rectangle=ranks.mean_power(4, net.h, m), of_rectangle=ranks.mean_power(2, net.h, m))


def observe(net, n):
    return moments(net.h, n) | dict(units=net.h[:, 0])


@derives(kurtosis, shared)
def exact_moments():
    """Every rank and width, from the products of a Haar frame and Gaussian coefficients."""
    products = setting.low_rank_products(n, r)
    yield Step("kurtosis", power_of(products["fourth"], products["own"]), kurtosis.equals)
    # Two units at one column: (Pi_aa Pi_cc + 2 Pi_ac^2)/r^2 given the frame, which is across + 2 crossed.
    together = (products["across"] + 2 * products["crossed"]) * finite
    yield Step("two units of one layer", sympy.Limit(together, n, oo), shared.to)


@derives(not_square)
def units_and_inputs():
    """Every rank, m units and n inputs, any phi: the frame lies in the space of the units."""
    yield Cited(
        "a diagonal entry of a Haar projection of rank r is Beta(r/2, (m - r)/2)", "Muirhead 1982, theorem 3.3.3"
    )
    j = Symbol("j", integer=True)
    own = m**2 / r**2 * Product((r / 2 + j) / (m / 2 + j), (j, 0, 1))
    yield Step("E h_i^2: the mean of that entry", m / r * Product((r / 2 + j) / (m / 2 + j), (j, 0, 0)) * a, a)
    yield Step("one layer", power_of(3 * own, own), not_square.equals)


@derives(depth)
def one_more_layer():
    """Every rank, width and depth, ReLU: h = sqrt(2/r) |f| chi_r u, u uniform on the sphere, f = ReLU of the h before."""
    x, half = Symbol("x", positive=True), Symbol("h", positive=True)  # r/2
    density = x ** (half - 1) * exp(-x / 2) / (2**half * gamma(half))
    scale = Integral(x**2 * density, (x, 0, oo)) / (4 * half**2)
    yield Step("E chi_r^4/r^2", scale, 1 + 1 / half)
    # Moments of a uniform unit vector: E u_i^4 = 3/(n (n + 2)), E u_i^2 u_k^2 = 1/(n (n + 2)); ReLU keeps half of them.
    one, two = 3 / (n * (n + 2)), 1 / (n * (n + 2))
    passed = sympy.Sum(one / 2, (x, 1, n)) + n * (n - 1) * two / 4
    yield Step("E |ReLU(u)|^4", passed, (n + 5) / (4 * (n + 2)))
    yield Step("E h_i^2: 2 E chi_r^2/r, half of |u|^2", 2 * Integral(x * density, (x, 0, oo)) / (2 * half) / 2, 1)
    power = Function("E")  # of h^4: the factor of a layer is 4 E chi_r^4/r^2 times E |ReLU(u)|^4
    once = 4 * (1 + 2 / r) * (n + 5) / (4 * (n + 2))
    yield Solved("every depth", [power(p + 1) - once * power(p), power(0) - 3], power(p), depth.equals)


@derives(scaled)
def shared_scale():
    """Every rank: the characteristic function of a normal variable times chi_r/sqrt r."""
    yield Cited(
        "a coordinate of one uniform unit vector of growing dimension, times its root, tends to a normal variable",
        "Diaconis and Freedman 1987",
    )
    x, T = Symbol("x", positive=True), Symbol("T", positive=True)  # the law is symmetric
    # In units of chi_r^2's exponential rate: E exp(-s chi_r^2) = (1 + 2 s)^(-r/2), whatever r.
    half = Symbol("h", positive=True)  # r/2
    density = x ** (half - 1) * exp(-x / 2) / (2**half * gamma(half))
    mean = Integral(exp(-a * T**2 * x / (4 * half)) * density, (x, 0, oo))
    yield Step("E exp(-a t^2 chi^2/(2r)), every rank", mean, mixture.of.subs({r: 2 * half, t: T}))
    yield Step("its variance, every rank", -Subs(Derivative(mixture.of, (t, 2)), t, 0), a)
    yield Step(
        "its kurtosis, every rank: the limit of the exact one",
        Subs(Derivative(mixture.of, (t, 4)), t, 0) / a**2,
        sympy.Limit(kurtosis.equals, n, oo),
    )


def subject(law, rank):
    return law.subject(ranks.layers, {**RELU.knows, r: rank}, activation=RELU.place)


two = Subject(ranks.rectangles, rank=2, split=0, activation=RELU.place, knows={**RELU.knows, r: 2})


theorem = Theorem(
    place="what the condition on four entries excludes (derived here)",
    label="derived",
    uses=("pseudo_iid_definition_membership", "single_layer_kurtosis_table", "wide_network_samplers"),
    hypotheses=H,
    claims=dict(kurtosis=kurtosis, not_square=not_square, depth=depth, shared=shared, scaled=scaled),
    proofs=(exact_moments, units_and_inputs, one_more_layer, shared_scale),
    experiments=dict(
        layers=Experiment(
            observe, (seen, units), {n: (16, 32, 64)}, draws=Efforts(3000, 8000, 60000), span=4, dtype="float32",
            padded=True,
            subjects={
                "rank two": subject(setting.fixed_rank(2), 2),
                "rank four": subject(setting.fixed_rank(4), 4),
                "rank n/4 taken for two": subject(setting.low_rank(Rational(1, 4)), 2).breaking(
                    H.fixed_rank, fails=(kurtosis, shared),
                ),
                "Gaussian taken for rank two": subject(setting.GAUSSIAN, 2).breaking(
                    H.fixed_rank, fails=(kurtosis, shared, scaled),
                ),
            },
        ),
        rectangles=Experiment(
            of_rectangles, (rectangle, second), {n: (16, 64)}, derived={m: ratio * n}, at=({ratio: Rational(1, 4)}, {ratio: 4}),
            draws=Efforts(1000, 1500, 10000), span=4, padded=True,
            subjects={
                "rank two": two,
                "rank four taken for two": two(rank=4).breaking(H.fixed_rank, fails=not_square),
                # Units with one entry of P f each are Gaussian: 3 in the place of 4 at m = 4, of 6 at large m.
                "C that splits the units": two(split=1).breaking(H.fixed_rank, fails=not_square),
            },
        ),
        chains=Experiment(
            powers_in_depth, (deep, after), {n: (16,)}, along={p: ranks.DEPTHS}, draws=Efforts(10000, 10000, 30000),
            padded=True, subjects={
                "rank eight": setting.fixed_rank(8).subject(ranks.deep_layers, {r: 8}),
                "Gaussian taken for rank eight": setting.GAUSSIAN.subject(ranks.deep_layers, {r: 8}).breaking(
                    H.fixed_rank, fails=depth,
                ),
            },
        ),
    ),
    issues=("A shared scale is heavy-tailed: fourth moments need thousands of matrices.",),
)
