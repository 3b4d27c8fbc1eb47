"""A central limit theorem for exchangeable arrays, and why their exchangeability must be infinite.

**Theorem.** Let S_n = n^(-1/2) (X_1 + ... + X_n), where at each n the X_i begin an infinite
exchangeable sequence, centred with E X_i^2 = 1. Let E X_1 X_2 = 0, E X_1^2 X_2^2 -> 1 and E|X_1|^3
= o(sqrt n). Then S_n tends to N(0, 1) as n -> oo; and E S_n^4 -> 3 if also E X_1^4 = o(n). If X_i =
s e_i with independent signs e_i and one random s independent of them, E s^2 = 1, Var s^2 = v, then
E S_n^4 = (3 - 2/n)(1 + v). If the X_i are the first n of N >= n signs drawn without replacement
from an urn of sum sqrt N, times a common random sign, then E S_n^4 = 3 - 2/n - 2 (n-1)(n-2)(n-3)/(n
(N-2)(N-3)) for N > 3. At N = n this is 1, although all but infinite exchangeability holds.

**Idea.** An infinite exchangeable sequence is a mixture of iid sequences, and E X_1 X_2 = 0 makes
their means vanish. Hence E S_n^4 = E X_1^4/n + 3 (1 - 1/n) E X_1^2 X_2^2. A common scale multiplies
the fourth moment of signs by E s^4. In the urn E X_1 X_2 = 0 and E X_1 X_2 X_3 X_4 =
-2/((N-2)(N-3)) by Newton's identities. The emptied urn has S_n = +-1.
"""

import sympy
from sympy import Integer, Integral, Rational, Subs, Symbol, exp, expand, oo, pi, sqrt, symbols

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _exchangeable as arrays_of
from theorax.theorems.pseudo_iid_gp._ensembles import n

N = Parameter("N", "signs in the urn, of which (N + sqrt N)/2 are one", positive=True)
v = Parameter("v", "variance of the squared scale", positive=True)
sums = Measured("sums", "S_n of 64 independent arrays", sample=True)
power = Measured("power", "S_n^4, mean over 64 independent arrays", positive=True)
square = Measured("square", "S_n^2, mean over 64 independent arrays", positive=True)

H = hypotheses(
    infinite="the variables of one width are the beginning of an infinite exchangeable sequence",
    uncorrelated="E X_1 X_2 = 0",
    squares="E X_1^2 X_2^2 tends to one",
    third_moment="E |X_1|^3 = o(sqrt n)",
    shared="signs that are independent are multiplied by one random scale, the same for all",
    kept_out="a sign that has left the urn does not come back",
)
conditions = (H.infinite, H.uncorrelated, H.squares, H.third_moment)
kurtosis = Limit(
    power, Integer(3), as_=n, on="arrays", under=conditions, spread=Rational(1, 4),
    approach=Expansion(
        powers=(1,), rest=Rational(1, 4), order=2, reference=25, reason="exact moments are rational in n",
    ),
    margin=Relative(
        1, 10, "a random scale adds a quarter, rare large terms a third, an urn emptied to the last takes two thirds",
    ),
    wrong={"a square of the variance": Integer(1)},
)
normal = Law(
    sums, gaussian(), as_=n, mean_law=True, under=conditions, spread=Rational(1, 8),
    approach=Expansion(
        powers=(1,), rest=Rational(1, 20), order=2, reference=25, reason="an Edgeworth expansion at fixed frequencies",
    ),
    scale=Integer(1), excludes=(gaussian(Rational(5, 4)),),
)
mixture = Expectation(
    power, (3 - 2 / n) * (1 + v), on="mixtures", under=H.shared, spread=Rational(1, 2),
    variates=KnownMean(square, 1, gain=3, because="E S_n^2 = E X_1^2 + (n - 1) E X_1 X_2, and E s^2 = 1"),
    margin=Relative(1, 32, "a scale of each sign by itself leaves 3 - 2/n + v/n; v = 1/4 and 1/2 are far above"),
    wrong={"no mixture": 3 - 2 / n, "twice the variance": (3 - 2 / n) * (1 + 2 * v), "the limit": 3 * (1 + v)},
)
less = 2 * (n - 1) * (n - 2) * (n - 3) / (n * (N - 2) * (N - 3))
urn = Expectation(
    power, 3 - 2 / n - less, on="urns", under=H.kept_out, spread=Rational(1, 2),
    variates=KnownMean(square, 1, gain=4, because="E S_n^2 = E X_1^2 + (n - 1) E X_1 X_2, signs of an urn of sum sqrt N"),
    margin=Relative(1, 40, "signs that return have 3 - 2/n, a fifteenth more at N = 3 n, a seventh at N = 100"),
    wrong={"as with signs that return": 3 - 2 / n, "half as much less": 3 - 2 / n - less / 2},
)


def mixed(key, n, v, shared):
    return arrays_of.Arrays(arrays_of.scaled_signs(key, n, v, shared))


def from_urn(key, n, N, returned):
    return arrays_of.Arrays(arrays_of.urn_signs(key, n, N, returned))


def observe(net, n):
    S = net(n)
    return dict(sums=S, power=(S**4).mean(), square=(S**2).mean())


def power_of(patterns):
    """n E S^4 from E X_1^4, E X_1^2 X_2^2, E X_1^3 X_2, E X_1^2 X_2 X_3 and E X_1 X_2 X_3 X_4."""
    E4, E22, E31, E211, E1111 = patterns
    pairs = E4 + (n - 1) * (3 * E22 + 4 * E31) + 6 * (n - 1) * (n - 2) * E211
    return pairs + (n - 1) * (n - 2) * (n - 3) * E1111


@derives(kurtosis)
def fourth_moment():
    """Exchangeable variables of any law: the patterns of four indices, counted."""
    x = symbols("x_1:5")
    patterns = symbols("E_4 E_22 E_31 E_211 E_1111")
    counted = expand(sum(x) ** 4)
    names = {(4,): 0, (2, 2): 1, (1, 3): 2, (1, 1, 2): 3, (1, 1, 1, 1): 4}
    total = 0
    for term, count in counted.as_coefficients_dict().items():
        powers = tuple(sorted(int(p) for p in term.as_powers_dict().values()))
        total += count * patterns[names[powers]]
    yield Step("n E S^4 at n = 4, from the expanded power", total / 4, Subs(power_of(patterns), n, 4))
    independent = sympy.Limit(power_of((1, 1, 0, 0, 0)) / n, n, oo)
    yield Step("independent signs", independent, kurtosis.to)


@derives(mixture)
def random_scale():
    """Every n and v, by the patterns of fourth_moment: each holds four factors of the scale."""
    up, down = 1 + sqrt(v), 1 - sqrt(v)
    fourth = (up**2 + down**2) / 2
    sign = Symbol("i", integer=True)
    yield Step("E s^2", sympy.Sum(1 + (-1) ** sign * sqrt(v), (sign, 0, 1)) / 2, Integer(1))
    yield Step("independent signs, times E s^4", power_of((fourth, fourth, 0, 0, 0)) / n, mixture.equals)


@derives(urn)
def four_signs():
    """Every n and every N > 3, by the patterns of fourth_moment: signs have E X_1^3 X_2 = E X_1^2 X_2 X_3 = E X_1 X_2 = 0."""
    s, i = Symbol("s"), Symbol("i", integer=True)
    yield Step("uncorrelated: the sum over i != j", Subs(s**2 - N, s, sqrt(N)), Integer(0))
    # e_4 from power sums, p_1 = p_3 = s and p_2 = p_4 = N, by Newton's identities.
    fourth = Subs(s**4 - 6 * s**2 * N + 3 * N**2 + 8 * s**2 - 6 * N, s, sqrt(N))
    different = -2 / ((N - 2) * (N - 3))
    yield Step("E X_1 X_2 X_3 X_4", fourth / sympy.Product(N - i, (i, 0, 3)), different)
    yield Step("the fourth power", power_of((1, 1, 0, 0, different)) / n, urn.equals)
    yield Step("the urn emptied: S^4 = 1", Subs(urn.equals, N, n), Integer(1))
    share = Symbol("rho", positive=True)
    yield Step("a share rho of the signs", sympy.Limit(urn.equals.subs(N, n / share), n, oo), 3 - 2 * share**2)


@derives(normal)
def de_finetti():
    """Infinitely exchangeable arrays."""
    yield Cited(
        "they are mixtures of independent ones, so the third moments give the limit",
        "Blum et al. 1958",
    )
    z = Symbol("z", real=True)
    density = exp(-(z**2) / 2) / sqrt(2 * pi)
    yield Step("a normal law of variance one", Integral(z**4 * density, (z, -oo, oo)), normal.to.moment(4))


def subject(name):
    return Subject(arrays_of.drawn_arrays, law=arrays_of.MENU.index(name))


FAILS = (kurtosis, normal)
theorem = Theorem(
    place="Blum et al. 1958 and Matthews et al. 2018, lemma 10, as used for the Gaussian limit (reconstructed)",
    label="reconstructed",
    hypotheses=H,
    claims=dict(kurtosis=kurtosis, normal=normal, mixture=mixture, urn=urn),
    proofs=(fourth_moment, de_finetti, random_scale, four_signs),
    experiments=dict(
        arrays=Experiment(
            observe, (sums, power), {n: (25, 100, 225)}, draws=Efforts(2400, 2400, 6000), padded=True,
            subjects={
                "independent signs": subject("signs"),
                "random scale": subject("random scale").breaking(H.squares, fails=FAILS),
                "common part": subject("common part").breaking(H.uncorrelated, fails=FAILS),
                "rare and large": subject("rare and large").breaking(H.third_moment, fails=FAILS),
                "urn emptied": subject("urn emptied").breaking(H.infinite, fails=FAILS),
                "skewed common part of order 1/sqrt n": subject("skewed part").breaking(H.uncorrelated, fails=FAILS),
                "n out of n^2": subject("urn of n^2"),
                "random scale that settles": subject("scale that settles"),
            },
        ),
        mixtures=Experiment(
            observe, (power, square), {n: 25}, at=({v: Rational(1, 4)}, {v: Rational(1, 2)}), draws=Efforts(3200, 3200, 8000),
            padded=True, subjects={
                "one scale": Subject(mixed, shared=1.0),
                "a scale of each sign": Subject(mixed, shared=0.0).breaking(H.shared, fails=mixture),
            },
        ),
        urns=Experiment(
            observe, (power, square), {n: 48}, at=({N: 100}, {N: 144}), draws=Efforts(3200, 3200, 8000), padded=True,
            subjects={
                "signs kept out": Subject(from_urn, returned=0.0),
                "signs that return": Subject(from_urn, returned=1.0).breaking(H.kept_out, fails=urn),
            },
        ),
    ),
    issues=(
        "The columns of a random matrix of one width are finitely exchangeable only, as the urn is.",
        "Sums of signs live on a lattice: at fixed frequencies that is invisible, in the distribution function it is not.",
    ),
)
