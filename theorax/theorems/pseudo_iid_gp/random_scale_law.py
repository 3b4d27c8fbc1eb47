"""A random scale of the weights: of the matrix or of its rows it stays in the limit, of its columns it is averaged away.

**Theorem.** Let h_i = sum_j W_ij phi(z_j), z_j iid N(0, 1), a = E phi^2, b4 = E phi^4, W_ij = s_ij
g_ij/sqrt n. Let the g_ij be iid, centred, of variance one and finite fourth moment, independent of
the s_ij; E s_ij^2 = 1, E s_ij^4 = 1 + v. Let s_ij^2 and s_kl^2 have correlation row if i = k,
column if j = l, apart if both differ, with apart <= row, column and row + column <= 1 + apart. Then
at every n E h_i^2 h_k^2/a^2 = 1 + apart v + ((1 + column v) b4/a^2 - 1 - apart v)/n for i != k, and
E h_i^4/a^2 = 3 (1 + row v) + 3 ((1 + v) b4/a^2 - 1 - row v)/n if E g^4 = 3. As n -> oo, E h_i^4/a^2
-> 3 (1 + row v) and E h_i^2 h_k^2/a^2 -> 1 + apart v.

**Idea.** Two squares of correlation c have the mean product 1 + c v. E h_i^4 contains pairs of
columns in one row, E h_i^2 h_k^2 pairs of columns in two rows. One scale of the matrix has row =
column = apart = 1, scales of rows row = 1 alone, scales of columns column = 1 alone: the last are
averaged away. Dropout of units is a scale of rows.
"""

import sympy
from sympy import And, Derivative, Integral, Le, Rational, Subs, Sum, Symbol, exp, gamma, oo, sqrt

from theorax.language import *
from theorax.theorems.pseudo_iid_gp._ensembles import PHI, RELU, a, b4, n
from theorax.theorems.pseudo_iid_gp._one_layer import pair, pair_of, power, power_of
from theorax.theorems.pseudo_iid_gp._scales import Entries, Scaled, ScaleLaw, observe, scaled_layers

v = Parameter("v", "variance of a squared scale", positive=True)
row = Parameter("row", "correlation of the squared scales of two entries of a row", nonnegative=True)
column = Parameter("column", "correlation of the squared scales of two entries of a column", nonnegative=True)
apart = Parameter("apart", "correlation of the squared scales of entries of two rows and two columns", nonnegative=True)
# What squares of an array can have if rows and columns are exchangeable and go on for ever: parts of variance of all
# entries, of a row, of a column and of one entry.
possible = And(Le(apart, row), Le(apart, column), Le(row + column, 1 + apart))

H = hypotheses(
    independent="the g_ij are iid, independent of the scales, centred, of variance one and finite fourth moment",
    normal="E g_ij^4 = 3",
    variance="E s_ij^2 = 1 and E s_ij^4 = 1 + v",
    correlations="squares of scales have the correlations row, column and apart",
    gaussian_first="the first layer is Gaussian, so that its units are independent",
)
always = (H.independent, H.variance, H.correlations, H.gaussian_first)
kurtosis = Expectation(
    power / a**2, 3 * (1 + row * v) + 3 * ((1 + v) * b4 / a**2 - 1 - row * v) / n, where=possible, spread=Rational(4, 5),
    margin=Relative(1, 12, "without the scale it is an eighth less and more at n = 16"),
    wrong={
        "a scale that is averaged away": 3 + 3 * ((1 + v) * b4 / a**2 - 1) / n,
        "a scale of the row whatever the columns": 3 * (1 + v) * (1 + (b4 / a**2 - 1) / n),
        "no scale": 3 + 3 * (b4 / a**2 - 1) / n,
        "half of the variance": 3 * (1 + row * v / 2) + 3 * ((1 + v / 2) * b4 / a**2 - 1 - row * v / 2) / n,
    },
)
squares = Expectation(
    pair / a**2, 1 + apart * v + ((1 + column * v) * b4 / a**2 - 1 - apart * v) / n,
    where=possible, under=always, spread=Rational(4, 5),
    margin=Relative(1, 12, "without the scale it is an eighth less and more at n = 16"),
    wrong={
        "independent units": 1 + (b4 / a**2 - 1) / n,
        "a scale of the row for one of all rows": 1 + row * v + ((1 + column * v) * b4 / a**2 - 1 - row * v) / n,
        "columns forgotten": 1 + apart * v + (b4 / a**2 - 1 - apart * v) / n,
    },
)
EXACT = Expansion(
    powers=(1,), rest=Rational(1, 50), order=2, reference=16, reason="both means are a constant and a multiple of 1/n",
)
stays = Limit(
    power / a**2, 3 * (1 + row * v), as_=n, where=possible, under=always, spread=Rational(4, 5), approach=EXACT,
    margin=Relative(1, 10, "without the scale it is a fifth less and more"),
    wrong={"a scale that is averaged away": 3, "a scale of the row whatever the columns": 3 * (1 + v)},
)
together = Limit(
    pair / a**2, 1 + apart * v, as_=n, where=possible, under=always, spread=Rational(4, 5), approach=EXACT,
    margin=Relative(1, 10, "without a common scale it is a fifth less and more"),
    wrong={"independent units": 1, "a scale of the row for one of all rows": 1 + row * v},
)


@derives(kurtosis, squares, stays, together)
def products():
    """Every law of the scales with these moments, every n: the squares that two columns of one or two rows multiply."""
    sign = Symbol("i", integer=True)
    # Two values 1 -+ sqrt v stand for all laws of the mean one and the variance v.
    one, two = (Sum((1 + (-1) ** sign * sqrt(v)) ** k / 2, (sign, 0, 1)) for k in (1, 2))
    yield Step("the mean of a squared scale", one, 1)
    # Two squares of the correlation c have the mean product c E s^4 + (1 - c) (E s^2)^2.
    in_row, in_column, elsewhere = (c * two + (1 - c) * one**2 for c in (row, column, apart))
    yield Step("a unit", power_of(3 * two, in_row), kurtosis.equals)
    yield Step("two units", pair_of(in_column, elsewhere), squares.equals)
    yield Step("a unit, in the limit", sympy.Limit(kurtosis.equals, n, oo), stays.to)
    yield Step("two units, in the limit", sympy.Limit(squares.equals, n, oo), together.to)


@lemma
def whole_rows_columns():
    """Every v and n: one scale of the matrix, one of each row, one of each column."""
    letters, finite = (row, column, apart), 1 + (b4 / a**2 - 1) / n
    one, of_rows, of_columns = (1, 1, 1), (1, 0, 0), (0, 1, 0)
    for name, value in (("one scale", one), ("scales of rows", of_rows)):
        yield Step(f"{name}: a unit", Subs(kurtosis.equals, letters, value), 3 * (1 + v) * finite)
    yield Step("one scale: two units", Subs(squares.equals, letters, one), (1 + v) * finite)
    yield Step("scales of rows: two units", Subs(squares.equals, letters, of_rows), finite)
    averaged = 3 + 3 * ((1 + v) * b4 / a**2 - 1) / n
    yield Step("scales of columns: a unit", Subs(kurtosis.equals, letters, of_columns), averaged)
    seen = 1 + ((1 + v) * b4 / a**2 - 1) / n
    yield Step("scales of columns: two units", Subs(squares.equals, letters, of_columns), seen)
    for name, value, kept in (("one scale", one, 3 * v), ("rows", of_rows, 3 * v), ("columns", of_columns, 0)):
        yield Step(f"{name}: the excess kurtosis", Subs(stays.to - 3, letters, value), kept)
    for name, value, kept in (("one scale", one, v), ("rows", of_rows, 0), ("columns", of_columns, 0)):
        yield Step(f"{name}: the covariance of squares", Subs(together.to - 1, letters, value), kept)


@lemma
def laws_of_the_scale():
    """Every v: mean and mean square of v times a Gamma variable of shape 1/v, and of two values of any chance p."""
    x, p = Symbol("x", positive=True), Symbol("p", positive=True)
    density = x ** (1 / v - 1) * exp(-x / v) / (v ** (1 / v) * gamma(1 / v))
    yield Step("Gamma", [Integral(x**k * density, (x, 0, oo)) for k in (1, 2)], [1, 1 + v])
    t, odds = Symbol("t"), sqrt((1 - p) / p)
    generating = p * exp(t * (1 + sqrt(v) * odds)) + (1 - p) * exp(t * (1 - sqrt(v) / odds))
    yield Step("two values", [Subs(Derivative(generating, (t, k)), t, 0) for k in (1, 2)], [1, 1 + v])


def subject(activation):
    return Subject(
        scaled_layers, law=ScaleLaw.TWO_VALUES, activation=activation.place, entries=Entries.NORMAL,
        shared_by=Scaled.AS_CORRELATED, times=1.0, common=0.0, knows=activation.knows,
    )


two_values = subject(RELU)
CASES = (
    {v: Rational(1, 4), row: 1, column: 1, apart: 1},
    {v: Rational(16, 25), row: 1, column: 0, apart: 0},
    {v: 1, row: 0, column: 1, apart: 0},
    {v: Rational(1, 2), row: Rational(1, 2), column: Rational(1, 2), apart: Rational(1, 4)},
)
theorem = Theorem(
    place="what the condition on products of two columns excludes (derived here)",
    label="derived",
    uses=("single_layer_kurtosis_table",),
    hypotheses=H,
    claims=dict(kurtosis=kurtosis, squares=squares, stays=stays, together=together),
    proofs=(products, whole_rows_columns, laws_of_the_scale),
    experiments=dict(
        layers=Experiment(
            observe, (power, pair), {n: Efforts((16, 64), (16, 32, 64), (16, 32, 64, 128))}, at=CASES,
            draws=Efforts(3000, 3000, 12000), span=4, dtype="float32", padded=True,
            subjects={
                "two values, ReLU": two_values,
                "two values, Phi": subject(PHI),
                "Gamma, ReLU": two_values(law=ScaleLaw.GAMMA),
                "Gamma of four times the variance, ReLU": two_values(law=ScaleLaw.GAMMA, times=4.0).breaking(
                    H.variance, fails=(kurtosis, squares, stays, together),
                ),
                "a scale for each entry, ReLU": two_values(shared_by=Scaled.ENTRIES).breaking(
                    H.correlations, fails=(kurtosis, squares, stays, together),
                ),
                "scales of rows taken for one scale, ReLU": two_values(shared_by=Scaled.ROWS).breaking(
                    H.correlations, fails=(squares, together),
                ),
                "scales of columns taken for one scale, Phi": subject(PHI)(shared_by=Scaled.COLUMNS).breaking(
                    H.correlations, fails=(kurtosis, stays),
                ),
                "signs, ReLU": two_values(entries=Entries.SIGNS).breaking(H.normal, fails=kurtosis),
                "correlated entries of a row, ReLU": two_values(entries=Entries.CORRELATED).breaking(
                    H.independent, fails=(kurtosis, squares, stays, together),
                ),
                # A factor that all units of the first layer share: every mean of four of them is half as much again.
                "units of one scale before, ReLU": two_values(common=0.5).breaking(
                    H.gaussian_first, fails=(kurtosis, squares, stays, together),
                ),
            },
        )
    ),
    issues=(
        "Negative correlations, as of a fixed number of kept rows, obey the same formulas and are not drawn.",
        "Fourth powers of a scale have heavy tails: a Gamma law with v = 2 leaves this number of draws undecided.",
    ),
)
