"""One pseudo-iid layer has a Gaussian limit where its weights are symmetric under signs of the columns.

**Theorem.** Let h_i = sum_j W_ij f_j, W independent of the features f. Let n^4 E (sum_j t_j W_ij)^8
<= K |t|^8 for all n, t, and n^2 E W_aj W_bj W_cj' W_dj' -> delta_ab delta_cd, j != j'. Let the f_j
be exchangeable, E f_1^2 f_2^2 -> (E f^2)^2, E f^4 bounded; a = E f^2. Then, as n -> oo, E (sum_j
W_ij^2 f_j^2)^2 -> a^2, E sum_j W_ij^4 f_j^4 -> 0, and E (sum_j W_ij W_cj f_j^2)^2 -> 0 for i != c.
Let also entries of W be centred, uncorrelated, of variance 1/n, W D have the law of W for diagonal
sign matrices D, and all combinations of f(x), f(y) be such features. Then (h_i(x), h_i(y)) and
(h_c(x), h_c(y)) tend to independent N(0, (a, k; k, a)), k = E f(x) f(y). For phi of normals of
correlation 1/2, k is sqrt(3)/(4 pi) + 1/6 (ReLU) or 1/4 + asin(1/4)/(2 pi) (normal cdf).

**Idea.** Given |W| and f, h_i is a sum of independent signs times |W_ij| f_j, of variance V_i =
sum_j W_ij^2 f_j^2. Products of four entries fix E V_i^2, so V_i concentrates. Lindeberg's theorem
applies to every combination of units and inputs.
"""

import sympy
from sympy import Add, Derivative, Matrix, Rational, Subs, Symbol, asin, cos, eye, factorial, log, oo, pi, sqrt, symbols

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._ensembles import PHI, RELU, a, b4, crossed, fourth, mu, n, own
from theorax.theorems.pseudo_iid_gp._process import EDGEWORTH, at_two_units
from theorax.theorems.pseudo_iid_gp._units import observe, units
from theorax.theorems.pseudo_iid_gp.relu_arc_cosine_kernel import f as arc_cosine

k = Parameter("k", "E phi(u) phi(v), u and v standard normal of correlation 1/2", positive=True)
seen = numbers(
    concentration="V^2, V = sum_j W_ij^2 f_j^2, mean over units and inputs",
    largest="sum_j W_ij^4 f_j^4, mean over units and inputs",
    cross="(sum_j W_ij W_kj f_j^2)^2, mean over pairs of units",
)
hix, hiy, hkx, hky = (
    Measured(f"h{unit}{point}", f"pre-activation of unit {unit} at input {point}", sample=True)
    for unit, point in ("ix", "iy", "kx", "ky")
)

H = hypotheses(
    variance="entries of W are centred, uncorrelated, of variance 1/n",
    eighth="n^4 E (sum_j c_j W_ij)^8 is at most K |c|^8, with one K for every n and c",
    four_entries="n^2 E W_aj W_bj W_cj' W_dj' tends to delta_ab delta_cd",
    features="features of an input are exchangeable, E f_1^2 f_2^2 tends to (E f^2)^2, E f^4 is bounded",
    independent="W is independent of the features",
    signs="W D has the law of W for every diagonal matrix D of signs",
)
# Products of squares alone: four entries give their means, so that the covariance of two does not enter.
OF_SQUARES = (H.eighth, H.four_entries, H.features, H.independent)


def in_powers(second):
    """Corrections whose terms after 1/n are at most ``second``/n^2."""
    reason = f"the exact means are rational functions of n; what follows 1/n is at most {second}/n^2 (Haar, ReLU)"
    return Expansion((1,), rest=Rational(second, 256), order=2, reference=16, reason=reason)


concentrates = Limit(
    seen.concentration / a**2, 1, as_=n, under=OF_SQUARES, spread=Rational(1, 10), approach=in_powers(30),
    margin=Absolute(1, 8, "a scale of the features adds a quarter, one of the weights more"),
)
none_large = Limit(
    seen.largest / a**2, 0, as_=n, under=OF_SQUARES, spread=Rational(1, 10), approach=in_powers(36),
    margin=Absolute(1, 8, "with four columns it tends to 9/2 for ReLU"),
)
apart = Limit(
    seen.cross / a**2, 0, as_=n, under=OF_SQUARES, spread=Rational(1, 10), approach=in_powers(10),
    margin=Absolute(1, 20, "columns whose entries have correlation 1/4 leave 1/16, a rank of two leaves a half"),
)


def units_of(kernel=k, between=0, scale=1):
    """The law of two units at two inputs."""
    return at_two_units(Matrix([[a, kernel], [kernel, a]]), between, scale)


normal = Law(
    (hix, hiy, hkx, hky), units_of(), as_=n, mean_law=True, spread=Rational(1, 4), approach=EDGEWORTH,
    excludes=(units_of(between=Rational(1, 4)), units_of(scale=Rational(5, 4))),
    wrong={
        "inputs independent of each other": units_of(mu**2),
        "one input twice": units_of(a * Rational(99, 100)),
    },
)

LISTED = {
    "Gaussian": setting.GAUSSIAN,
    "Haar": setting.HAAR,
    "Hadamard": setting.HADAMARD,
    "rank n/4": setting.low_rank(Rational(1, 4)),
    "two blocks": setting.blocks(2),
}


@derives(concentrates)
def conditional_law():
    """Every law with the symmetry: the characteristic function given |W| and f, and the means of what it depends on."""
    x, entries = Symbol("x"), symbols("w_1:4")
    yield Step(
        "log E exp(i x e) of a sign e: V, and terms that sum w^4 bounds",
        [Subs(Derivative(log(cos(x)), (x, order)), x, 0) / factorial(order) for order in (1, 2, 3, 4)],
        [0, -Rational(1, 2), 0, -Rational(1, 12)],
    )
    V = Add(*(w**2 for w in entries))
    pairs = Add(*(v**2 * w**2 for v in entries for w in entries if v != w))
    powers = Add(pairs, *(w**4 for w in entries))
    yield Step("V^2 at three columns: fourth powers and pairs", V**2, powers)
    exact = (n - 1) / n * own + fourth * b4 / (n * a**2)  # n (n - 1) pairs, n fourth powers, W^2 = 1/n
    for name, law in LISTED.items():
        yield Step(f"{name}: E V^2/a^2", sympy.Limit(exact.subs(law.knows), n, oo), concentrates.to)
    yield Step("rank two: V stays random", sympy.Limit(exact.subs(setting.fixed_rank(2).knows), n, oo), 2)
    yield Cited("signs with such variances have a Gaussian sum", "Lindeberg 1922")
    yield Cited("several units and inputs: every linear combination of them", "Cramer and Wold 1936")


@derives(none_large)
def no_term_is_large():
    """Every law of the list, any activation: the mean of the sum of fourth powers."""
    for name, law in LISTED.items():
        yield Step(name, sympy.Limit((fourth * b4 / n).subs(law.knows), n, oo), none_large.to)
    four = sympy.Limit((fourth * b4 / n).subs(setting.fan_in(4).knows), n, oo)
    yield Step("four columns: some terms stay large", four, 3 * b4 / 4)


@derives(apart)
def two_units():
    """Every law of the list, any activation: a bound of the mean, E W_aj^2 W_cj^2 being at most E W^4."""
    for name, law in LISTED.items():
        yield Step(name, sympy.Limit((fourth * b4 / n + crossed * a**2).subs(law.knows), n, oo), apart.to)


@lemma
def kernels():
    """ReLU and the normal distribution function at correlation 1/2."""
    c = Symbol("c", real=True)
    (letter,) = arc_cosine.free_symbols
    yield Step("ReLU", Subs(arc_cosine, letter, Rational(1, 2)), KERNELS[RELU])
    slopes = 1 / (2 * pi * sqrt((eye(2) + Matrix([[1, c], [c, 1]])).det()))  # E of two normal densities at (u, v)
    from_independence = Rational(1, 4) + asin(c / 2) / (2 * pi)
    yield Step("Phi: by Price's identity", Derivative(from_independence, c) ** 2, slopes**2)
    yield Step(
        "Phi at 1/2, and 1/4 where u and v are independent", Subs(from_independence, c, Rational(1, 2)), KERNELS[PHI]
    )
    yield Step("Phi at one: E phi^2", Subs(from_independence, c, 1), PHI.knows[a])


KERNELS = {
    RELU: (sqrt(3) / 2 + pi / 3) / (2 * pi),
    PHI: Rational(1, 4) + asin(Rational(1, 4)) / (2 * pi),
}


def subject(law, activation):
    known = activation.knows | {k: KERNELS[activation]}
    return law.subject(units, known, activation=activation.place, scaled=0, tied=0, rare=0, kept=0, matched=0)


LAW = (concentrates, normal)
EVERY = (concentrates, none_large, apart, normal)
theorem = Theorem(
    place="one layer of the Gaussian limit, with the symmetry that its proof needs (derived here)",
    label="derived",
    uses=("pseudo_iid_definition_membership", "relu_arc_cosine_kernel", "price_identity"),
    hypotheses=H,
    claims=dict(concentrates=concentrates, none_large=none_large, apart=apart, normal=normal),
    proofs=(conditional_law, no_term_is_large, two_units, kernels),
    experiments=dict(
        layers=Experiment(
            observe, (seen, hix, hiy, hkx, hky), {n: (16, 32, 64)}, draws=Efforts(1200, 1200, 15000), span=4,
            padded=True,
            subjects={
                "Haar, ReLU": subject(setting.HAAR, RELU),
                "rank n/4, Phi": subject(setting.low_rank(Rational(1, 4)), PHI),
                "two permuted blocks, Phi": subject(setting.blocks(2), PHI),
                "two still blocks, Phi": subject(setting.still_blocks(2), PHI),
                "Hadamard, Phi": subject(setting.HADAMARD, PHI),
                "fixed sums under random signs, Phi": subject(setting.SIGNED_COLUMNS, PHI),
                "fixed sums, Phi": subject(setting.CONDITIONED, PHI).breaking(H.signs, fails=normal),
                "rank two, ReLU": subject(setting.fixed_rank(2), RELU).breaking(H.four_entries, fails=(*LAW, apart)),
                "random scale, Phi": subject(setting.SCALED, PHI).breaking(H.four_entries, fails=normal),
                "four columns, ReLU": subject(setting.GAUSSIAN, RELU)(kept=1).breaking(H.eighth, fails=EVERY),
                "correlated columns, Phi": subject(setting.CORRELATED_COLUMNS, PHI).breaking(
                    H.variance, H.four_entries, fails=apart,
                ),
                "features of random scale, Phi": subject(setting.GAUSSIAN, PHI)(scaled=1).breaking(
                    H.features, fails=concentrates,
                ),
                "one large feature, ReLU": subject(setting.GAUSSIAN, RELU)(rare=1).breaking(H.features, fails=EVERY),
                "columns where the features are large, ReLU": subject(setting.GAUSSIAN, RELU)(matched=1).breaking(
                    H.independent, fails=LAW,
                ),
                "tied to the layer before, ReLU": subject(setting.GAUSSIAN, RELU)(tied=1).breaking(
                    H.independent, fails=normal,
                ),
            },
        )
    ),
    issues=(
        "Exchangeability is no hypothesis: the blocks that stay in their places have it neither in rows nor in columns.",
        "Another way round the signs, columns independent given a frame or a mask, is not measured.",
        "An infinite fourth moment of the features need not spoil the limit and is no control.",
    ),
)
