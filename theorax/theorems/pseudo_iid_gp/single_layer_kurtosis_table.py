"""Exact kurtosis of one wide layer of pseudo-iid weights, at every width.

**Theorem.** Let h = sum_j W_ij phi(z_j) with n inputs z_j iid N(0, 1), a = E phi^2, b4 = E phi^4,
and let W D have the law of W for diagonal sign matrices D. If fourth = n^2 E W_ij^4 and own = n^2 E
W_ij^2 W_ik^2, j != k, are the same for all columns, E h^4/a^2 = (fourth b4/a^2 + 3 (n - 1) own)/n
at every n. With A = b4/a^2 and B = 1 + (A - 1)/n the excess over 3 is (3 (A - 1) + k_w A)/n for iid
entries of excess kurtosis k_w, 3 (A/s - 1)/n for Gaussian entries kept with probability s, 3 n B/(n
+ 2) - 3 for Haar, 3 m (r + 2) B/(r (m + 2)) - 3 for rank r and m units, 3 b (A - 1)/n for b
permuted Gaussian blocks. For ReLU, n times the excess tends to 15, 39/5, 9, 33, 60, 51 for
Gaussian, uniform, Haar, rank n/4, four blocks, density 1/3. Linear Haar layers have the kurtosis 3.

**Idea.** Averaged over the signs of columns, h^4 keeps each fourth power once and each ordered pair
of squares three times. The law of W gives E W_ij^4 and E W_ij^2 W_ik^2.
"""

import sympy
from sympy import Add, Rational, Subs, Symbol, oo, symbols

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._ensembles import LINEAR, PHI, RELU, a, b4, fourth, n, own, wide
from theorax.theorems.pseudo_iid_gp._one_layer import moments, of_squares, power, power_of, second_moment, square

H = hypotheses(
    listed="the entries of W have the joint law that its name says",
    signs="W D has the law of W for every diagonal matrix D of signs",
    gaussian_first="the first layer is Gaussian, so that its units are independent",
)
value = power_of(fourth, own)
kurtosis = Expectation(
    power / a**2, value, spread=Rational(6, 5), variates=of_squares(3, H.listed, H.gaussian_first),
    margin=Relative(1, 16, "at n = 16 the laws of the table lie 12 % and more from each other and from the normal value 3"),
    wrong={
        "the normal value": 3,
        "the factor three of pairings forgotten": (fourth * b4 / a**2 + (n - 1) * own) / n,
        "columns taken as uncorrelated in their squares": (fourth * b4 / a**2 + 3 * (n - 1)) / n,
        "variance of phi^2 in the place of its second moment": (fourth * (b4 - a**2) / a**2 + 3 * (n - 1) * own) / n,
    },
)


def observe(net, n):
    seen = moments(net(n), n)
    return dict(power=seen["power"], square=seen["square"])


@derives(kurtosis)
def pairings():
    """Three columns, any law that is symmetric under signs of columns: the terms that survive in E h^4."""
    f, W, signs = ([Symbol(f"{name}_{j}") for j in range(3)] for name in ("f", "W", "e"))
    h = Add(*(e * w * x for e, w, x in zip(signs, W, f, strict=True)))
    averaged = 0
    for pattern in range(8):  # the mean over the signs of three columns
        chosen = {e: 1 - 2 * (pattern >> j & 1) for j, e in enumerate(signs)}
        averaged += h.subs(chosen) ** 4 / 8
    squares = [(w * x) ** 2 for w, x in zip(W, f, strict=True)]
    pairs = sum(squares[i] * squares[j] for i in range(3) for j in range(3) if i != j)
    yield Step(
        "fourth powers once, pairs of squares three times",
        averaged,
        sum(s**2 for s in squares) + 3 * pairs,
    )
    yield Step(
        "n entries of a row, n (n - 1) pairs",
        (n * fourth * b4 / n**2 + 3 * n * (n - 1) * own * a**2 / n**2) / a**2,
        value,
    )


@lemma
def table():
    """ReLU: n (kurtosis - 3) in the limit for every law; no law but Haar's is nearer to normal than Gaussian weights."""
    for name, law, constant in (
        ("Gaussian", setting.GAUSSIAN, 15),
        ("uniform", setting.UNIFORM, 15 - 6 * Rational(6, 5)),
        ("Haar", setting.HAAR, 9),
        ("rank n/4", setting.low_rank(Rational(1, 4)), 9 + 6 * 4),
        ("four blocks", setting.blocks(4), 15 * 4),
        ("a third kept", setting.masked(Rational(1, 3)), 18 * 3 - 3),
    ):
        yield Step(name, sympy.Limit(n * (value.subs(RELU.knows).subs(law.knows) - 3), n, oo), constant)
    yield Step("linear, Haar: exactly normal", value.subs(setting.HAAR.knows).subs(LINEAR.knows), 3)


@lemma
def rows():
    """Any phi, n inputs, m units, rank r, b blocks, density s, excess kurtosis k_w of iid entries: the excess kurtosis."""
    m, r, b, s, excess = symbols("m r b s k_w", positive=True)
    shape, fade = b4 / a**2, 1 + (b4 / a**2 - 1) / n
    diagonal = m * (r + 2) / (r * (m + 2))  # of a frame of r columns for m units
    haar, blocks = setting.haar_products(n), setting.block_products(n, b)
    for name, product, pairs, claimed in (
        ("iid entries", excess + 3, 1, (3 * (shape - 1) + excess * shape) / n),
        ("mask of density s, Gaussian values", 3 / s, 1, 3 * (shape / s - 1) / n),
        ("Haar", haar["fourth"], haar["own"], 3 * n / (n + 2) * fade - 3),
        ("low rank", 3 * diagonal, diagonal, 3 * diagonal * fade - 3),
        ("permuted blocks", blocks["fourth"], blocks["own"], 3 * (b * shape + n - b) / n - 3),
    ):
        yield Step(name, Subs(power_of(fourth, own) - 3, (fourth, own), (product, pairs)), claimed)
    first = sympy.Limit(n * (3 * diagonal * fade - 3).subs({m: m * n, r: r * n}).subs(RELU.knows), n, oo)
    yield Step("low rank, ReLU: m n units of rank r n", first, 15 + 6 / r - 6 / m)


theorem = Theorem(
    place="finite width, one layer (derived here)",
    label="derived",
    uses=("pseudo_iid_definition_membership",),
    hypotheses=H,
    claims=dict(kurtosis=kurtosis),
    proofs=(pairings, rows, table, setting.moments, second_moment),
    experiments=dict(
        layers=Experiment(
            observe, (power, square), {n: Efforts(16, (16, 64), (16, 64, 256))}, draws=Efforts(4000, 4000, 20000), padded=True,
            subjects={
                "Gaussian, ReLU": wide(setting.GAUSSIAN, RELU),
                "Gaussian, Phi": wide(setting.GAUSSIAN, PHI),
                "uniform, ReLU": wide(setting.UNIFORM, RELU),
                "Haar, ReLU": wide(setting.HAAR, RELU),
                "Haar, linear": wide(setting.HAAR, LINEAR),
                "rank n/4, ReLU": wide(setting.low_rank(Rational(1, 4)), RELU),
                "four blocks, ReLU": wide(setting.blocks(4), RELU),
                "a third kept, ReLU": wide(setting.masked(Rational(1, 3)), RELU),
                "Hadamard, ReLU": wide(setting.HADAMARD, RELU),
                "Haar taken for Gaussian": wide(setting.HAAR, RELU, knows=setting.GAUSSIAN.knows).breaking(
                    H.listed, fails=kurtosis
                ),
                # A factor that all units of the first layer share: every mean of four of them is half as much again.
                "Gaussian, units of one scale before, ReLU": wide(setting.GAUSSIAN, RELU)(common=0.5).breaking(
                    H.gaussian_first, fails=kurtosis,
                ),
                "rows of a fixed sum, Phi": wide(setting.CONDITIONED, PHI).breaking(H.signs, fails=kurtosis),
            },
        )
    ),
    issues=("One unit and one input: shared scales, which other units see too, need fixed_rank_law.",),
)
