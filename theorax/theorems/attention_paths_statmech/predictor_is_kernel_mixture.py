"""At every width the predictor is a mixture of Gaussian processes, over the products of path weights.

**Theorem.** Let L attention layers output f = sum_p w_p^T V_0 xi_p/sqrt(Htot N_1 N_0) over the Htot
paths p = (h_1, ..., h_L) of heads, with w_p = a^T V^(L,h_L) ... V^(1,h_1)/sqrt(N_a N_L ... N_2),
and xi_p a function of the raw input. Let U_pq = w_p.w_q/N_1, C_pq(x, x') = xi_p(x).xi_q(x')/N_0 and
K = sum U_pq C_pq/Htot. Then J J^T = K for the Jacobian J of f in V_0. Given V and a, let V_0 be
standard normal, y be f at P inputs plus N(0, T) noise, S = K + T I. Given also y, f at a new input
has mean m = k^T S^(-1) y and variance s^2 = kappa - k^T S^(-1) k. Also y^T S^(-1) y = min_v |y - J
v|^2/T + |v|^2, det S = T^P det(I + J^T J/T). Let R = (f - m)^2/s^2, Q = R + y^T S^(-1) y. Then E R
= 1, E Q = P + 1, E Q^2 = (P + 1)(P + 3), and Q is uncorrelated with U_pp/(1 + U_pp). If V, a are
standard normal, all widths N and g = 1 + 2/N, then E U_pp = 1, E U_pp^2 = g^(L+1), and E U_pq^2 =
g^L/N if only h_1 differs. For L = 2 it is g (2/N + 1/N^2) if only h_2 differs, g/N if both do.

**Idea.** Given V and a, f is Gaussian with covariance J J^T. Given the layer above, U is Wishart.
"""

import numpy as np
from sympy import Eq, Integral, Product, Rational, Subs, Symbol, exp, gamma, oo, pi, sqrt, symbols, transpose, true

from theorax.language import *
from theorax.theorems.attention_paths_statmech._layered_paths import DeepPaths
from theorax.theorems.attention_paths_statmech._mixture import (
    drawn_jointly,
    grams,
    observe,
    observe_jointly,
    posed,
    regressed,
)
from theorax.theorems.attention_paths_statmech._paths import L, N, P

T = Parameter("T", "temperature: the variance of the noise of the labels", positive=True)
seen = arrays(
    gram="J J^T, J the Jacobian of all outputs in V_0, by automatic differentiation",
    kernel="K(U) of all inputs",
    alone="the terms of K(U) with one path, without pairs of two",
    ridge_mean="mean at the last input of least squares on J with the penalty |V_0|^2, T times",
    mean="k^T S^(-1) y",
    ridge_variance="j^T (I + J^T J/T)^(-1) j, j the row of the last input",
    variance="kappa - k^T S^(-1) k",
    least="least |y - J v|^2/T + |v|^2 over v",
    energy="y^T S^(-1) y",
    volume="T^P det(I + J^T J/T)",
    determinant="det S",
)
met = numbers(
    order="U_pp, mean over paths",
    squares="U_pp^2, mean over paths",
    first_pairs="U_pq^2, mean over paths p, q that differ in the first layer's head alone",
    last_pairs="the same of the last layer",
    both_pairs="the same of paths that differ in every head",
    bounded="U_00/(1 + U_00) of the first path",
    square="|v|^2, v the labels and the next output, whitened by K(U) and the noise",
    next="the entry of v for the next output",
)

H = hypotheses(
    linear="f is linear in V_0",
    bare="attention looks at the raw input alone",
    start="entries of V_0 are independent and standard normal",
    prior="entries of V and a are independent and standard normal",
    noise="the noise of the labels is normal with the variance T of the formula",
)
network = (H.linear, H.bare)
exact = Relative(1, 10**9, "the account of the rounding stays below it, another kernel is of order one away")
gram = Identity(
    seen.gram, seen.kernel, under=network, margin=exact, on="regression", wrong={"no pairs of two paths": seen.alone},
)
regression = (*network, H.start, H.noise)
mean = Identity(seen.ridge_mean, seen.mean, under=regression, margin=exact, on="regression")
variance = Identity(seen.ridge_variance, seen.variance, under=regression, margin=exact, on="regression")
energy = Identity(seen.least, seen.energy, under=regression, margin=exact, on="regression")
volume = Identity(seen.volume, seen.determinant, under=regression, margin=exact, on="regression")

g = 1 + 2 / N


def moment(of, equals, margin, under=None, spread=3, where=true, wrong=None):
    """A mean over the joint law of the order parameter and the outputs."""
    return Expectation(
        of, equals, margin=margin, on="law", under=under or H.prior, spread=spread, where=where, wrong=wrong or {}
    )


first = moment(met.order, 1, Relative(1, 10, "1/Htot in the place of one is a factor of two away"))
second = moment(
    met.squares, g ** (L + 1), Relative(1, 12, "a layer fewer is a fifth off at N = 8"),
    wrong={"no layer of the readout": g**L, "no fluctuations": 1},
)
first_pair = moment(
    met.first_pairs, g**L / N, Relative(1, 12, "a layer fewer is a fifth off at N = 8"),
    wrong={"a layer fewer": g ** (L - 1) / N, "a Wishart matrix, no readout, one layer": 1 / N},
)
last_pair = moment(
    met.last_pairs, g * (2 / N + 1 / N**2), Relative(1, 6, "the first layer's value is two fifths off at N = 8"),
    where=Eq(L, 2), wrong={"as for the first layer": g**2 / N, "as for both layers": g / N},
)
both = moment(
    met.both_pairs, g / N, Relative(1, 12, "the first layer's value is a quarter off at N = 8"),
    where=Eq(L, 2), wrong={"as for the first layer": g**2 / N},
)
M = P + 1
everything = (*network, H.start, H.noise)
whitened = moment(
    met.square, M, Relative(1, 20, "the labels whitened by the mean of K(U) are a tenth off"), under=everything, spread=1,
)
normal = moment(
    met.square**2, M * (M + 2), Relative(1, 15, "two normal numbers fewer are a third off"), under=everything, spread=2,
    wrong={"no fluctuations": M**2},
)
predictive = moment(
    met.next**2, 1, Relative(1, 15, "a variance that is off by a tenth is seen"), under=everything, spread=2,
)
given_U = moment(
    (met.square - M) * met.bounded, 0, Absolute(1, 12, "V_0 of variance 3/2, which the prior's scale forgets, leaves 1/2"),
    under=everything, spread=Rational(3, 2),
)


@settles(gram)
def any_weights(claim):
    """Any weights and inputs; one layer of two heads from width two to one, two tokens with one feature, two inputs."""
    V, W = generic_entries("V", 2, 1, 2), generic_entries("W", 2, 1, 1)
    net = DeepPaths(generic_entries("v", 2, 1), (V,), generic_entries("a", 1), (W,))
    yield Instance(claim, "L = 1, H = 2", grams, net, generic_entries("x", 2, 1, 2))


@settles(mean, variance, energy, volume)
def any_jacobian(claim):
    """Any Jacobian in one weight at two inputs and the next, any T; its Gram matrix is K(U) by `gram`."""
    J, temperature = generic_entries("J", 3, 1), np.array(Symbol("T", positive=True), dtype=object)
    yield Instance(claim, "one weight, P = 2", regressed, J, J @ J.T, generic_entries("y", 2), temperature)


@lemma
def least_squares():
    """Jacobians of every size, in units where T = 1; G is the inverse of J J^T + I, R that of J^T J + I."""
    J, G, R, y = generic_matrices("J G R y")
    Jt = transpose(J)
    inverse = ((J * Jt * G, 1 - G), (G * J * Jt, 1 - G), (Jt * J * R, 1 - R), (R * Jt * J, 1 - R))
    yield MatrixStep("the mean, least squares against the kernel", R * Jt, R * Jt * (J * Jt + 1) * G, inverse)
    yield MatrixStep("the mean, by the kernel", R * (Jt * J + 1) * Jt * G, Jt * G, inverse)
    yield MatrixStep("the variance", R, 1 - Jt * G * J, (*inverse, (R * Jt, Jt * G)))
    yield MatrixStep("the least square", (y - J * R * Jt * y), G * y, (*inverse, (R * Jt, Jt * G)))


s, x, z = symbols("s x z", positive=True)


@derives(second)
def chi_squares():
    """Every width and depth: U_00 of a layer is that of the layer above, times an independent chi-square over N."""
    k = symbols("k", integer=True)
    density = s ** (N / 2 - 1) * exp(-s / 2) / (2 ** (N / 2) * gamma(N / 2))
    yield Step("the mean of its square", Integral(density * s**2 / N**2, (s, 0, oo)), g)
    yield Step("a readout and L layers", Product(g, (k, 0, L)), second.equals)


@derives(first_pair, both, last_pair)
def pairs(claim):
    """Every width; x, y are entries of rows of two paths, of variances a and d and covariance b given the layer above."""
    a, b, d = symbols("a b d", positive=True)
    p, q = symbols("p q", real=True)
    density = exp(-(p**2) / 2 - q**2 / 2) / (2 * pi)
    x, y = sqrt(a) * p, b / sqrt(a) * p + sqrt(d - b**2 / a) * q
    fourth = Integral(Integral(density * x**2 * y**2, (p, -oo, oo)), (q, -oo, oo))
    yield Step("E x^2 y^2", fourth, a * d + 2 * b**2)
    square = (N * (a * d + 2 * b**2) + N * (N - 1) * b**2) / N**2
    yield Step("the square of the mean of N products", square, b**2 + (a * d + b**2) / N)
    above = (sqrt(g / N), g, 1) if claim is last_pair else (0, g if claim is both else g**L, 1)
    yield Step("with the means of b^2 and a d above", Subs(square, (b, a, d), above), claim.equals)


def regressing(depth):
    return Subject(posed(depth), hidden=0.0, relu_share=0.0, prior=1.0, noise=1.0)


def joint(depth, mixture=False):
    build = drawn_jointly(depth, mixture)
    return Subject(build, hidden=0.0, relu_share=0.0, deviation=1.0, start=1.0, noise=1.0, knows={L: depth})


one, two, drawn, deep = regressing(1), regressing(2), joint(1), joint(2)
regressions = (mean, variance, energy, volume)
moments, outputs = (first, second, first_pair), (whitened, normal, predictive, given_U)
theorem = Theorem(
    place="the mixture at every width (derived here)",
    label="derived",
    hypotheses=H,
    claims=dict(
        gram=gram, mean=mean, variance=variance, energy=energy, volume=volume, first=first, second=second,
        first_pair=first_pair, last_pair=last_pair, both=both, whitened=whitened, normal=normal, predictive=predictive,
        given_U=given_U,
    ),
    proofs=(any_weights, any_jacobian, least_squares, chi_squares, pairs),
    experiments=dict(
        regression=Experiment(observe, seen, {N: Efforts((2,), (2,), (2, 4))}, at={P: 3, T: Rational(1, 4)},
                              draws=Efforts(2, 2, 12), subjects={
            "one layer": one,
            "two layers": two,
            "ReLU after the embedding": one(relu_share=1.0).breaking(H.linear, fails=(gram, *regressions)),
            "attention to embedded tokens": one(hidden=1.0).breaking(H.bare, fails=(gram, *regressions)),
            "V_0 of variance 3/2": one(prior=1.5).breaking(H.start, fails=regressions),
            "noise of variance 2 T": one(noise=2.0).breaking(H.noise, fails=regressions),
        }),
        law=Experiment(observe_jointly, met, {N: 8}, at={P: 3, T: Rational(1, 4)}, draws=Efforts(48000, 48000, 100000),
                       subjects={
            "networks, one layer": drawn,
            "networks, two layers": deep,
            "the mixture, one layer": joint(1, mixture=True),
            "the mixture, two layers": joint(2, mixture=True),
            "ReLU after the embedding": drawn(relu_share=1.0).breaking(H.linear, fails=(whitened, predictive, given_U)),
            "attention to embedded tokens": drawn(hidden=1.0).breaking(H.bare, fails=(whitened, predictive, given_U)),
            "weights of variance 5/4": drawn(deviation=1.25**0.5).breaking(H.prior, fails=moments),
            "two layers, weights of variance 5/4": deep(deviation=1.25**0.5).breaking(
                H.prior, fails=(*moments, last_pair, both),
            ),
            "V_0 of variance 3/2": drawn(start=1.5).breaking(H.start, fails=outputs),
            "noise of variance 2 T": drawn(noise=2.0).breaking(H.noise, fails=(whitened, normal, given_U)),
        }),
    ),
    issues=(
        "Of the law of U moments up to the second are compared; a mixture drawn by Bartlett's factors has the same.",
        "The square of |v|^2 scatters too much to show that f must be linear and attention bare: |v|^2 itself shows it.",
        "No posterior is sampled here: that of U follows from the density of the labels given U.",
    ),
)
