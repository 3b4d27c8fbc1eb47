"""A recursion for the fourth cumulant of deep networks of finite width, for all pseudo-iid laws of the weights.

**Theorem.** Let l layers sigma_w W phi(h) + b of n units follow a N(0, q) layer, W symmetric under
signs of columns. Let n^2 E W_ij^4 -> f0, n^2 E W_ij^2 W_kj^2 -> 1, n (n^2 E W_ij^2 W_ij'^2 - 1) ->
own_1 and n (n^2 E (W_ij^2 W_kj'^2 + 2 W_ij W_kj W_ij' W_kj') - 1) -> pair_1. At variance K let m2 =
E phi^2, m4 = E phi^4, chi = sigma_w^2 dm2/dK, S_own = sigma_w^4 (f0 m4/3 + (own_1 - 1) m2^2),
S_cross = sigma_w^4 (m4 + (pair_1 - 1) m2^2). Then n (E h^4 - 3 (E h^2)^2) -> 3 (S_own + chi^2 V) as
n -> oo. V = 0 at l = 1, and a layer turns V into S_cross + chi^2 V and K, first q, into sigma_b^2 +
sigma_w^2 m2. At stationary q, V = S_cross (1 + ... + chi^(2l-4)), l > 1. For iid Gaussian W and
widths n, lam n, n, ..., divide both S by lam in layers that read lam n units. At tanh, q = 7/2,
sigma_w^2 = 4 Haar W give about -2.5 q^2, Gaussian W q^2/2.

**Idea.** V/n is the covariance of the squares of two units. Products of four entries of W give the
rest; the mean of phi^2 passes V on with the factor chi^2.
"""

from dataclasses import replace

import sympy
from sympy import Integer, Rational, Subs, Symbol, oo

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _cumulants as cumulants
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._cumulants import (
    BIASED,
    CRITICAL,
    EDGE,
    IID,
    MOVED,
    ROOT,
    SATURATED,
    act,
    constants,
    excess,
    f0,
    lam,
    own_1,
    pair_1,
    subject,
    tapered,
    weighted,
)
from theorax.theorems.pseudo_iid_gp._deep import l, q, sb2, sw2
from theorax.theorems.pseudo_iid_gp._ensembles import n
from theorax.theorems.pseudo_iid_gp._kernels import ERF, RELU, TANH
from theorax.theorems.pseudo_iid_gp._moments import (
    chi,
    m2,
    m4,
    moments_at,
    slopes,
)

S_own = sw2**2 * (f0 * m4 / 3 + (own_1 - 1) * m2**2)
S_cross = sw2**2 * (m4 + (pair_1 - 1) * m2**2)


def predicted(own_term, cross_term, slope=chi**2):
    """3 (S_own + chi^2 V)/q^2 after l layers, V summed over the l - 1 before."""
    return 3 * (own_term + slope * cross_term * cumulants.geometric(slope, l - 1)) / q**2


def in_powers(reference, reason):
    """Corrections in powers of 1/n, a tenth at most beside the first one."""
    return Expansion(powers=(1,), rest=Rational(1, 10), order=2, reference=reference, reason=reason)


IN_POWERS = in_powers(32, "a product of layers each rational in n; beside 1/n at most 0.05 at n = 32 on other seeds")
H = hypotheses(
    listed="the entries of W have the joint law that its name says, symmetric under signs of columns",
    stationary="q = sigma_b^2 + sigma_w^2 E phi(sqrt q z)^2",
    saturating="phi is tanh at q = 7/2 and sigma_w^2 = 4, where it saturates",
    haar="weights are Haar orthogonal",
    equal="all layers are n units wide",
    iid="the entries of W are iid Gaussian",
    alternating="layers are n and lam n units wide in turn, the first one n",
    first="the first layer is Gaussian, so that V starts from zero",
)
kurtosis = Limit(
    excess, predicted(S_own, S_cross), as_=n, under=(H.stationary, H.listed, H.first), on="sampled",
    spread=Rational(1, 4), approach=IN_POWERS,
    margin=Relative(
        1, 5, "Haar and Gaussian weights differ by 40 % for ReLU and by more elsewhere, two layers and one by half"
    ),
    wrong={
        "chi for its square": predicted(S_own, S_cross, chi),
        "layers that forget": 3 * S_own / q**2,
        "every law taken for iid": predicted(S_own, S_cross).subs(IID),
    },
)
literal_weights = replace(
    kurtosis,
    on="real",
    approach=in_powers(16, "two layers, each rational in n; beside 1/n at most 0.03 at n = 16, sampled on other seeds"),
)

further = Limit(
    excess, kurtosis.to.subs(constants(setting.HAAR)).subs(SATURATED), as_=n, under=(H.saturating, H.haar, H.first),
    on="sampled", spread=Rational(1, 4), approach=IN_POWERS,
    margin=Absolute(3, 2, "at -1/2 Haar weights would be as far from normal as Gaussian ones, whose excess is 1/2 there"),
    wrong={
        "Haar weights as far as Gaussian ones": -kurtosis.to.subs(IID).subs(SATURATED),
        "the sign of ReLU": -kurtosis.to.subs(constants(setting.HAAR)).subs(SATURATED),
    },
)


def along(ratio, f0, own_1, pair_1):
    """The same by the recursion, from any variance q of the first layer on, over q^2."""
    return cumulants.moving_cumulant(l, ratio, act, q, sw2, sb2, f0, own_1, pair_1) / q**2


last = cumulants.variance_of_layer(l, act, q, sw2, sb2)
moving = Limit(
    excess, along(Integer(1), f0, own_1, pair_1), as_=n, on="started", under=(H.listed, H.first, H.equal),
    spread=Rational(1, 4), approach=IN_POWERS,
    margin=Relative(1, 8, "the variance of the first layer in all of them, or of the last, moves it by a fifth and more"),
    wrong={
        "the variance of the first layer everywhere": predicted(S_own, S_cross).subs(moments_at(q, act)),
        "that of the last layer": predicted(S_own, S_cross).subs(moments_at(last, act)),
        "every law taken for iid": along(Integer(1), *IID.values()),
    },
)
unequal = replace(
    moving, to=along(lam, *IID.values()), on="started", under=(H.iid, H.first, H.alternating), spread=Rational(1, 2),
    margin=Relative(1, 8, "two layers of equal width are a third away from a second one of n/2, a quarter from 2 n"),
    wrong={"equal widths": along(Integer(1), *IID.values()), "n divided by lam in all": along(1, *IID.values()) / lam},
)


@derives(kurtosis)
def one_unit():
    """Any law that is symmetric under signs of columns, any phi; first order in 1/n."""
    V, A = Symbol("V", nonnegative=True), Symbol("A", positive=True)
    # E phi(h)^2 given the variance S is m2 + chi/sw2 (S - q): the squares of two units have the covariance (chi/sw2)^2 V/n.
    square = A**2 + (m4 - m2**2 + (chi / sw2) ** 2 * V) / n
    law_own = 1 + own_1 / n
    given = 3 * sb2**2 + 6 * sb2 * sw2 * A + sw2**2 * (f0 * m4 / n + 3 * law_own * (square - m4 / n))
    cumulant = sympy.Limit(n * (given - 3 * (sb2 + sw2 * A) ** 2).subs(A, m2), n, oo)
    yield Step("n (E h^4 - 3 (E h^2)^2)", cumulant, 3 * (S_own + chi**2 * V))
    law_pair = 1 + pair_1 / n  # two rows share a column in one pattern of n, which enters by its limit one
    together = sb2**2 + 2 * sb2 * sw2 * A + sw2**2 * (m4 / n + law_pair * (square - m4 / n))
    covariance = sympy.Limit(n * (together - (sb2 + sw2 * A) ** 2).subs(A, m2), n, oo)
    yield Step("n cov(h_i^2, h_k^2)", covariance, S_cross + chi**2 * V)
    V_before = Integer(0)
    for layers in range(1, 5):
        found = Subs(3 * (S_own + chi**2 * V) / q**2, V, V_before)
        yield Step(f"{layers} layers, from V = 0", found, kurtosis.to.subs(l, layers))
        V_before = S_cross + chi**2 * V_before


@derives(moving, unequal)
def path():
    """Any activation and start, widths n and lam n in turn; one to four layers: what one_unit has, layer by layer."""
    for claim, known in ((moving, {}), (unequal, IID)):
        K, V = q, Integer(0)
        for layers in range(1, 5):
            at, share = moments_at(K, act), (lam if claim is unequal and layers % 2 == 0 else 1)
            found = Subs(3 * (S_own / share + chi**2 * V) / q**2, tuple(at), tuple(at.values()))
            yield Step(f"{layers} layers", found.subs(known), claim.to.subs(l, layers))
            K, V = sb2 + sw2 * at[m2], (S_cross / share + chi**2 * V).subs(at).subs(known)


@lemma
def table():
    """Every law of the menu with known products: what it adds."""
    variance = m4 - m2**2
    for name, law, alone, pair in (
        ("Gaussian", setting.GAUSSIAN, variance, variance),
        ("uniform: excess kurtosis -6/5", setting.UNIFORM, variance - Rational(2, 5) * m4, variance),
        ("Haar", setting.HAAR, m4 - 3 * m2**2, m4 - 3 * m2**2),
        ("rank n/2", setting.low_rank(Rational(1, 2)), variance + 2 * m2**2, variance + 2 * m2**2),
        ("two blocks", setting.blocks(2), 2 * variance, variance),
    ):
        given = constants(law)
        found = [Subs(side / sw2**2, tuple(given), tuple(given.values())) for side in (S_own, S_cross)]
        yield Step(name, found, [alone, pair])
    known, values = tuple(ROOT), tuple(ROOT.values())
    nine, fifteen = (Subs(kurtosis.to.subs(l, 1).subs(law), known, values) for law in (constants(setting.HAAR), IID))
    yield Step("ReLU, Haar and Gaussian, one layer", [nine, fifteen], [9, 15])


HALF, RANK, NEITHER = Rational(1, 2), setting.low_rank(Rational(1, 2)), (H.saturating, H.haar)
theorem = Theorem(
    place="finite width, several layers (iid: Yaida 2020, Hanin 2024; other laws derived here)",
    label="derived",
    uses=("single_layer_kurtosis_table", "wide_network_samplers", "gaussian_expectation"),
    hypotheses=H,
    claims=dict(kurtosis=kurtosis, literal_weights=literal_weights, further=further, moving=moving, unequal=unequal),
    proofs=(one_unit, path, table, slopes),
    experiments=dict(
        sampled=Experiment(
            cumulants.observe, excess, {n: (32, 64, 128)}, along={l: (1, 2, 4)}, draws=Efforts(300, 600, 8000), span=4,
            dtype="float32", padded=True,
            subjects={
                "Gaussian, ReLU": subject(setting.GAUSSIAN, RELU, ROOT).breaking(*NEITHER),
                "Gaussian, erf at the edge": subject(setting.GAUSSIAN, ERF, EDGE).breaking(*NEITHER),
                "Gaussian, tanh at the edge": subject(setting.GAUSSIAN, TANH, CRITICAL).breaking(*NEITHER),
                "Gaussian, tanh saturated": subject(setting.GAUSSIAN, TANH, SATURATED).breaking(H.haar, fails=further),
                "Haar, ReLU": subject(setting.HAAR, RELU, ROOT).breaking(H.saturating, fails=further),
                "Haar, tanh at the edge": subject(setting.HAAR, TANH, CRITICAL).breaking(H.saturating),
                "Haar, tanh saturated": subject(setting.HAAR, TANH, SATURATED),
                "rank n/2, ReLU with biases": subject(RANK, RELU, BIASED).breaking(*NEITHER),
                "two blocks, tanh at the edge": subject(setting.blocks(2), TANH, CRITICAL).breaking(*NEITHER),
                "Haar taken for Gaussian": subject(setting.HAAR, ERF, EDGE, IID).breaking(
                    H.listed, H.saturating, fails=kurtosis
                ),
                "a first layer of random scale, ReLU": subject(setting.GAUSSIAN, RELU, ROOT)(uneven=6.0).breaking(
                    H.first, *NEITHER, fails=kurtosis,
                ),
                "starting from q = 4": subject(setting.GAUSSIAN, RELU, MOVED).breaking(
                    H.stationary, *NEITHER, fails=kurtosis
                ),
            },
        ),
        started=Experiment(
            cumulants.observe, excess, {n: (32, 64, 128)}, along={l: (1, 2, 4)}, draws=Efforts(1200, 1200, 8000), span=4,
            dtype="float32", padded=True,
            subjects={
                "Haar, ReLU from q = 4": subject(setting.HAAR, RELU, MOVED).breaking(H.iid, fails=unequal),
                "Gaussian, erf from q = 3": subject(setting.GAUSSIAN, ERF, EDGE | {q: Integer(3)}),
                "Haar, tanh from q = 3": subject(setting.HAAR, TANH, CRITICAL | {q: Integer(3)}).breaking(H.iid),
                "Haar taken for Gaussian": subject(setting.HAAR, RELU, MOVED, IID).breaking(H.listed, H.iid, fails=moving),
                "ReLU from q = 4, every second layer n/2": tapered(RELU, MOVED, HALF).breaking(H.equal),
                "tanh from q = 3, every second layer 2 n": tapered(TANH, CRITICAL | {q: Integer(3)}, 2).breaking(
                    H.equal, fails=moving,
                ),
                "a first layer of random scale, ReLU": tapered(RELU, MOVED, 1)(uneven=6.0).breaking(
                    H.first, fails=(moving, unequal),
                ),
                "equal widths taken for n/4": tapered(RELU, MOVED, HALF**2)(drawn=1.0).breaking(H.alternating, fails=unequal),
            },
        ),
        real=Experiment(
            cumulants.observe, excess, {n: (16, 32, 64)}, along={l: (1, 2)}, draws=Efforts(400, 1000, 8000), span=4,
            dtype="float32", padded=True,
            subjects={
                "uniform, ReLU with biases": weighted(setting.UNIFORM, RELU, BIASED).breaking(*NEITHER),
                "half kept, tanh at the edge": weighted(setting.masked(Rational(1, 2)), TANH, CRITICAL).breaking(*NEITHER),
                "Hadamard, erf at the edge": weighted(setting.HADAMARD, ERF, EDGE).breaking(*NEITHER),
                "uniform taken for Gaussian": weighted(setting.UNIFORM, RELU, BIASED, IID).breaking(
                    *NEITHER, H.listed, fails=literal_weights
                ),
            },
        ),
    ),
    issues=(
        "The moments of tanh and the fourth one of erf are sums of the trapezoidal rule, off by less than 1e-8.",
        "The last layer is averaged by the fourth moments of its law, which pseudo_iid_definition_membership derives.",
        "By a second-hand account the paper's figures show orthogonal weights converging fastest: right for ReLU alone.",
    ),
)
