"""Masks: the numbers of inputs that units read must agree in the limit; the numbers of units that read an input need not.

**Theorem.** Let h_i = sum_j W_ij phi(z_j), z_j independent standard normal, a = E phi(z)^2, b4 = E
phi(z)^4. Let row i of W have D_i nonzero entries, independent N(0, 1/E D) given their places, where
D is the number for a random row. Then the mean of E h_i^4/a^2 over the rows is 3 E D^2/(E D)^2 + 3
(b4/a^2 - 1)/E D at every n, wherever these entries stand. As n -> oo it tends to 3 if E D^2/(E D)^2
-> 1 and E D -> oo, as for equal blocks, a fixed density or columns of unequal densities. It tends
to 4 if D is uniform on 1..n, as for a triangle. For column densities of mean p and mean square p_2
the excess over 3 is (3 b4/(p a^2) - 3 p_2/p^2)/n.

**Idea.** Given its row, h_i has D terms with the fourth moment 3 b4/(E D)^2 and 3 D (D - 1) ordered
pairs of squares a^2/(E D)^2. Only E D and E D^2 enter, so permutations change nothing. Units must
read numbers of inputs that agree in the limit; the numbers of units that read an input need not
agree.
"""

import sympy
from sympy import Rational, Subs, Sum, Symbol, oo, sqrt, symbols

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._ensembles import PHI, RELU, a, b4, n, wide
from theorax.theorems.pseudo_iid_gp._one_layer import observe, of_squares, power, second_moment, square

first = Parameter("D1", "E D, D the number of entries that are kept in a row", positive=True)
second = Parameter("D2", "E D^2", positive=True)
H = hypotheses(
    numbers="D has these moments, and the kept entries are normal of variance 1/E D",
    regular="E D^2/(E D)^2 tends to one",
    triangle="D is uniform on 1..n",
    gaussian_first="the first layer is Gaussian, so that its units are independent",
)
IN_POWERS = Expansion(
    powers=(1,), rest=Rational(1, 10), order=2, reference=16,
    reason="the exact kurtosis is rational in n; beside 1/n at most 12/(n + 1)^2 at the triangle",
)
entries = of_squares(Rational(5, 2), H.numbers, H.gaussian_first)
kurtosis = Expectation(
    power / a**2, 3 * second / first**2 + 3 * (b4 / a**2 - 1) / first, under=(H.numbers, H.gaussian_first), spread=1,
    variates=entries,
    margin=Relative(1, 16, "a triangle and equal rows differ by a quarter in the limit, by an eighth at n = 16"),
    wrong={
        "equal rows": 3 + 3 * (b4 / a**2 - 1) / first,
        "the normal value": 3,
        "phi^4 forgotten": 3 * second / first**2,
    },
)
normal = Limit(
    power / a**2, 3, as_=n, under=(H.numbers, H.regular, H.gaussian_first), spread=1, approach=IN_POWERS, variates=entries,
    margin=Relative(1, 6, "a triangle has 4, a third more"), wrong={"a triangle": 4},
)
irregular = Limit(
    power / a**2, 4, as_=n, under=(H.numbers, H.triangle, H.gaussian_first), spread=1, approach=IN_POWERS, variates=entries,
    margin=Relative(1, 8, "equal rows have 3, a quarter less"), wrong={"equal rows": 3},
)


@derives(kurtosis, normal, irregular)
def rows():
    """Every mask and width: given its row a unit has D terms of fourth moment, and D (D - 1) pairs."""
    sign = Symbol("k", integer=True)
    # The mean of a polynomial of degree two asks for two moments: a law of two values with these moments stands for all.
    D = first + (-1) ** sign * sqrt(second - first**2)
    given = (3 * D * b4 + 3 * D * (D - 1) * a**2) / (first**2 * a**2)
    yield Step("a random row", Sum(given / 2, (sign, 0, 1)), kurtosis.equals)
    i = Symbol("i", integer=True, positive=True)
    triangle = {first: Sum(i, (i, 1, n)) / n, second: Sum(i**2, (i, 1, n)) / n}
    yield Step("the moments of a triangle", list(triangle.values()), [TRIANGLE[first], TRIANGLE[second]])
    yield Step("its limit", sympy.Limit(kurtosis.equals.subs(TRIANGLE), n, oo), irregular.to)
    for name, known in (("blocks", BLOCKS), ("columns of density 9/10 and 1/10", COLUMNS), ("a half kept", HALF)):
        yield Step(name, sympy.Limit(kurtosis.equals.subs(known), n, oo), normal.to)


@lemma
def columns():
    """Half of the columns kept with probability 9/10, half with 1/10: sums of independent Bernoulli variables."""
    i = Symbol("i", integer=True)
    kept = Rational(1, 2) + (-1) ** i * Rational(2, 5)
    mean, variance = (n / 2 * Sum(term, (i, 0, 1)) for term in (kept, kept * (1 - kept)))
    yield Step("E D and E D^2", [mean, variance + mean**2], [COLUMNS[first], COLUMNS[second]])


@lemma
def densities():
    """Any densities p_j of the columns, of mean p and mean square p_2: D is a sum of independent Bernoulli variables."""
    p, p_2 = symbols("p p_2", positive=True)
    moments = {first: n * p, second: n * p - n * p_2 + n**2 * p**2}
    given = Subs(kurtosis.equals - 3, tuple(moments), tuple(moments.values()))
    yield Step("the excess kurtosis", given, (3 * b4 / (p * a**2) - 3 * p_2 / p**2) / n)


TRIANGLE = {first: (n + 1) / 2, second: (n + 1) * (2 * n + 1) / 6}
BLOCKS = {first: n / 4, second: n**2 / 16}
COLUMNS = {first: n / 2, second: n**2 / 4 + 9 * n / 100}
HALF = {first: n / 2, second: n**2 / 4 + n / 4}
FULL = {first: n, second: n**2}

theorem = Theorem(
    place="masks of sparse pseudo-iid weights: the condition on their rows (derived here)",
    label="derived",
    uses=("single_layer_kurtosis_table",),
    hypotheses=H,
    claims=dict(kurtosis=kurtosis, normal=normal, irregular=irregular),
    proofs=(rows, columns, densities, second_moment),
    experiments=dict(
        layers=Experiment(
            observe, (power, square), {n: (16, 32, 64)}, draws=Efforts(2000, 4000, 15000), span=4, dtype="float32",
            padded=True,
            subjects={
                "four blocks in their places, ReLU": wide(setting.still_blocks(4), RELU, BLOCKS).breaking(H.triangle),
                "columns of unequal density, ReLU": wide(setting.COLUMN_DENSITIES, RELU, COLUMNS).breaking(H.triangle),
                "a half kept, Phi": wide(setting.masked(Rational(1, 2)), PHI, HALF).breaking(H.triangle, fails=irregular),
                "triangle, permuted, ReLU": wide(setting.TRIANGLE, RELU, TRIANGLE).breaking(H.regular, fails=normal),
                "triangle in its place, ReLU": wide(setting.STILL_TRIANGLE, RELU, TRIANGLE).breaking(
                    H.regular, fails=normal
                ),
                "triangle in its place, Phi": wide(setting.STILL_TRIANGLE, PHI, TRIANGLE).breaking(
                    H.regular, fails=normal
                ),
                # A factor that all units of the first layer share: every mean of four of them is half as much again.
                "blocks, units of one scale before, ReLU": wide(setting.still_blocks(4), RELU, BLOCKS)(common=0.5).breaking(
                    H.gaussian_first, H.triangle, fails=(kurtosis, normal),
                ),
                "triangle, units of one scale before, ReLU": wide(setting.TRIANGLE, RELU, TRIANGLE)(common=0.5).breaking(
                    H.gaussian_first, H.regular, fails=irregular,
                ),
                # One factor of all entries, E s^4 = 5/4: a kurtosis of 5 in the limit.
                "triangle, entries of one scale, ReLU": wide(setting.TRIANGLE, RELU, TRIANGLE)(uneven=0.25).breaking(
                    H.numbers, H.regular, fails=(kurtosis, irregular),
                ),
                # E s^4 = 5/4: a kurtosis of 15/4 in the limit.
                "entries of one scale taken for normal ones, ReLU": wide(setting.SCALED, RELU, FULL).breaking(
                    H.numbers, H.triangle, fails=(kurtosis, normal),
                ),
                "equal signs taken for normal entries, ReLU": wide(setting.HADAMARD, RELU, FULL).breaking(
                    H.numbers, H.triangle, fails=kurtosis,
                ),
                "a triangle taken for a half kept, Phi": wide(setting.TRIANGLE, PHI, HALF).breaking(
                    H.numbers, H.regular, H.triangle, fails=kurtosis,
                ),
            },
        )
    ),
    issues=("Other values than normal ones enter by their fourth moment: see single_layer_kurtosis_table.",),
)
