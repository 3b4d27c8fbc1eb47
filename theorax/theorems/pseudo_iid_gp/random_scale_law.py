"""A random scale of the weights: of the matrix or of its rows it stays in the limit, of its columns it is averaged away.

W = s G with G Gaussian and E s^2 = 1, E s^4 = 1 + v. Entries stay uncorrelated in all three cases, and the variance of a
unit is right. One scale for the matrix is seen by all units; one for each row by its own unit alone; scales of the
columns keep the condition on products of two columns, and the layer stays near to a Gaussian one.
"""

from sympy import Rational, Sum, Symbol, sqrt

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._ensembles import PHI, RELU, a, b4, n, wide
from theorax.theorems.pseudo_iid_gp._one_layer import observe, pair, pair_of, power, power_of

v = Parameter("v", "variance of the squared scale", positive=True)
finite = 1 + (b4 / a**2 - 1) / n
H = hypotheses(
    unit="all entries of a row have one scale",
    whole="all rows have the same scales",
    independent="the scales of two rows are independent",
    columns="every column has a scale of its own, the same in all rows",
    gaussian_first="the first layer is Gaussian, so that its units are independent",
)
kurtosis = Expectation(
    power / a**2, 3 * (1 + v) * finite, under=(H.unit, H.gaussian_first), spread=1,
    margin=Relative(1, 12, "without the scale it is a fifth less and more"),
    wrong={"v for 1 + v/2": 3 * (1 + v / 2) * finite, "a scale that is averaged away": 3 * finite + 3 * v * b4 / (n * a**2)},
)  # fmt: skip
shared = Expectation(
    pair / a**2, (1 + v) * finite, under=(H.unit, H.whole, H.gaussian_first), spread=1,
    margin=Relative(1, 12, "independent units have a fifth less and more"),
    wrong={"units without a common scale": finite},
)  # fmt: skip
# Squares of two rows have independent means: how the scales lie within a row does not enter.
apart = Expectation(
    pair / a**2, finite, under=(H.independent, H.gaussian_first), spread=1,
    margin=Relative(1, 12, "a common scale adds a quarter and more"), wrong={"a common scale": (1 + v) * finite},
)  # fmt: skip
averaged = Expectation(
    power / a**2, 3 + 3 * ((1 + v) * b4 / a**2 - 1) / n, under=(H.columns, H.gaussian_first), spread=1,
    margin=Relative(1, 24, "without the scales of columns it is 3 v b4/(a^2 n) less, a tenth at n = 16 for ReLU"),
    wrong={"the scale of a row": 3 * (1 + v) * finite, "no scale": 3 * finite},
)  # fmt: skip
seen_by_pairs = Expectation(
    pair / a**2, 1 + ((1 + v) * b4 / a**2 - 1) / n, under=(H.columns, H.gaussian_first), spread=1,
    margin=Relative(1, 30, "without the scales of columns it is v b4/(a^2 n) less, 7 % at n = 16 for ReLU"),
    wrong={"a common scale": (1 + v) * finite},
)  # fmt: skip


@derives(kurtosis, shared, apart, averaged, seen_by_pairs)
def products():
    """Every law of the scale with E s^2 = 1 and E s^4 = 1 + v; s^2 = 1 -+ sqrt v stands for all of them."""
    sign = Symbol("i", integer=True)
    square = 1 + (-1) ** sign * sqrt(v)
    one, two = (Sum(square**k / 2, (sign, 0, 1)) for k in (1, 2))
    yield Step("the variance", one, 1)
    yield Step("scales of rows: one unit", power_of(3 * two, two), kurtosis.equals)
    yield Step("one scale: two units", pair_of(two, two), shared.equals)
    yield Step("scales of rows: two units", pair_of(one**2, one**2), apart.equals)
    yield Step("scales of columns: one unit", power_of(3 * two, one**2), averaged.equals)
    yield Step("scales of columns: two units", pair_of(two, one**2), seen_by_pairs.equals)


def subject(law, activation, spread):
    return wide(law, activation, {v: spread**2})


HALF, STRONG = Rational(1, 2), Rational(4, 5)
theorem = Theorem(
    place="what the condition on products of two columns excludes (derived here)",
    label="derived",
    uses=("single_layer_kurtosis_table",),
    hypotheses=H,
    claims=dict(kurtosis=kurtosis, shared=shared, apart=apart, averaged=averaged, seen_by_pairs=seen_by_pairs),
    proofs=(products,),
    experiments=dict(
        layers=Experiment(
            observe, (power, pair), {n: Efforts(16, (16, 64), (16, 64, 256))}, draws=Efforts(13000, 13000, 40000),
            dtype="float32", padded=True,
            subjects={
                "one scale, ReLU": subject(setting.SCALED, RELU, STRONG).breaking(
                    H.independent, H.columns, fails=(apart, seen_by_pairs)
                ),
                "one scale, Phi": subject(setting.SCALED, PHI, STRONG).breaking(H.independent, H.columns),
                "scales of rows, ReLU": subject(setting.SCALED_ROWS, RELU, HALF).breaking(
                    H.whole, H.columns, fails=(shared, averaged),
                ),
                "scales of rows, Phi": subject(setting.SCALED_ROWS, PHI, HALF).breaking(H.whole, H.columns),
                # Entries that are kept or not, with the chance of one half, have squared scales 1 -+ 1 each.
                "a scale for each entry, ReLU": subject(setting.masked(HALF), RELU, Rational(1)).breaking(
                    H.unit, H.whole, H.columns, fails=kurtosis,
                ),
                "scales of columns, ReLU": subject(setting.SCALED_COLUMNS, RELU, HALF).breaking(
                    H.unit, H.independent, fails=(kurtosis, shared),
                ),
                # A factor that all units of the first layer share: every mean of four of them is half as much again.
                "one scale, and one before, ReLU": subject(setting.SCALED, RELU, STRONG)(common=0.5).breaking(
                    H.gaussian_first, H.independent, H.columns, fails=(kurtosis, shared),
                ),
                "scales of rows, and one before, ReLU": subject(setting.SCALED_ROWS, RELU, HALF)(common=0.5).breaking(
                    H.gaussian_first, H.whole, H.columns, fails=apart,
                ),
                "scales of columns, and one before, ReLU": subject(setting.SCALED_COLUMNS, RELU, HALF)(common=0.5).breaking(
                    H.gaussian_first, H.unit, H.independent, fails=(averaged, seen_by_pairs),
                ),
            },
        )
    ),
    issues=("The scales have two values, 1 -+ sqrt v in their squares; other laws enter by their v alone.",),
)  # fmt: skip
