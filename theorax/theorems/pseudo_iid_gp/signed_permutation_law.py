"""A signed permutation of the units is orthogonal and exchangeable, and no Gaussian layer at any width.

**Theorem.** Let W be a uniform n x n permutation matrix whose entries have independent random
signs, and h_i = sum_j W_ij phi(z_j), z_j independent standard normal, a = E phi(z)^2, b4 = E
phi(z)^4. Then at every n E h_i^4/a^2 = b4/a^2, and E h_i^2 h_k^2/a^2 = 1 for i != k. So the
kurtosis is 6 for ReLU, 9/5 for the normal distribution function and 3 for the identity, at every
width.

**Idea.** W has one entry +-1 in every row and every column, and so h_i = +-phi(z_j): a unit keeps
the law of one activation, and two units read different activations. Entries are centred and
uncorrelated, of variance 1/n. But n^2 E W_ij^4 = n grows, and two columns of a row are never both
nonzero, where pseudo-iid weights have n^2 E W_ij^2 W_ik^2 -> 1. The conditions on single entries
and on products exclude this law.
"""

from sympy import Rational, Subs, Sum, Symbol

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._ensembles import LINEAR, PHI, RELU, a, b4, n, wide
from theorax.theorems.pseudo_iid_gp._one_layer import observe, pair, power

H = hypotheses(
    permutation="W permutes the units and gives each a random sign",
    gaussian_first="the first layer is Gaussian, so that its units are independent",
)
kurtosis = Expectation(
    power / a**2, b4 / a**2, spread=1,
    margin=Relative(1, 6, "Haar matrices come near to 3: twice that for ReLU, 9/5 for Phi"),
    wrong={
        "orthogonal weights that are spread out": 3 * n / (n + 2) * (1 + (b4 / a**2 - 1) / n),
        "the mean of two entries": (b4 / a**2 + 3) / 2,
    },
)
apart = Expectation(
    pair / a**2, 1, spread=Rational(1, 2),
    margin=Relative(1, 6, "two units that read one activation have b4/a^2, twice as much and more"),
    wrong={"units that read one activation": b4 / a**2},
)


@derives(kurtosis, apart)
def products():
    """Every width: each column holds one entry, in a row that is uniform."""
    j, chance, pairs = Symbol("j", integer=True, positive=True), Symbol("p", positive=True), n * (n - 1)
    yield Step("a unit: no row has two entries", Sum(b4 / n, (j, 1, n)) / a**2, kurtosis.equals)
    # n kept entries of different rows and columns: n (n - 1) ordered pairs of them among (n (n - 1))^2 such places.
    yield Solved("two rows and two columns", chance * pairs**2 - pairs, chance, [1 / pairs])
    yield Step("two units: no column has two entries", Subs(pairs * chance, chance, 1 / pairs), apart.equals)


theorem = Theorem(
    place="orthogonal weights outside the pseudo-iid class (derived here)",
    label="derived",
    uses=("single_layer_kurtosis_table",),
    hypotheses=H,
    claims=dict(kurtosis=kurtosis, apart=apart),
    proofs=(products,),
    experiments=dict(
        layers=Experiment(
            observe, (power, pair), {n: Efforts(16, (16, 64), (16, 64, 256))}, draws=Efforts(1000, 3000, 20000),
            dtype="float32", padded=True,
            subjects={
                "ReLU": wide(setting.SIGNED_PERMUTATION, RELU),
                "Phi": wide(setting.SIGNED_PERMUTATION, PHI),
                "linear": wide(setting.SIGNED_PERMUTATION, LINEAR),
                # A factor that all units of the first layer share: every mean of four of them is half as much again.
                "units of one scale before, ReLU": wide(setting.SIGNED_PERMUTATION, RELU)(common=0.5).breaking(
                    H.gaussian_first, fails=(kurtosis, apart)
                ),
                "Haar, ReLU": wide(setting.HAAR, RELU).breaking(H.permutation, fails=kurtosis),
                "rank two, ReLU": wide(setting.fixed_rank(2), RELU).breaking(H.permutation, fails=(kurtosis, apart)),
            },
        )
    ),
    issues=("With the identity for phi a unit is exactly normal: its kurtosis alone does not tell this law from others.",),
)
