"""The edge of chaos is one for all pseudo-iid laws: variances and small changes stand still whatever the weights.

**Theorem.** Let phi be ReLU, erf or tanh. Let the first layer have independent N(0, q) units, and
let l layers h' = sigma_w W phi(h) + b follow, with b ~ N(0, sigma_b^2) and independent n x n
matrices W as in pseudo_iid_sign_symmetric_clt: pseudo-iid, so entries are centred and uncorrelated,
of variance 1/n, and W D has the law of W for diagonal sign matrices D. Let sigma_w^2 E phi'(sqrt q
z)^2 = 1 and q = sigma_b^2 + sigma_w^2 E phi(sqrt q z)^2. Let J be the Jacobian of the l layers and
v a Gaussian direction, independent of the network. Then, as n -> oo at fixed l, E |J v|^2/|v|^2 ->
1 and E h_i^2/q -> 1 after l layers.

**Idea.** Given the layer before, E (sum_j W_ij f_j)^2 = |f|^2/n for uncorrelated entries of
variance 1/n, whatever their law. So E h_i^2 after a layer is sigma_b^2 + sigma_w^2 times the mean
of phi^2, and E |W D v|^2 = |D v|^2 for the diagonal matrix D of slopes of phi. In the limit units
are N(0, q), and the two conditions of the edge of chaos make both quantities stationary.
"""

from itertools import combinations_with_replacement

from sympy import Add, Integer, Rational, Symbol, expand, sqrt, symbols

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _deep as deep
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._deep import growth, q, sb2, square, subject, sw2
from theorax.theorems.pseudo_iid_gp._ensembles import n
from theorax.theorems.pseudo_iid_gp._kernels import ERF, RELU, TANH

H = hypotheses(
    on_curve="sigma_w^2 E phi'^2 = 1 and q = sigma_b^2 + sigma_w^2 E phi^2",
    pseudo_iid="entries of W are centred and uncorrelated, of variance 1/n, and pseudo-iid",
)
NARROW = Rational(3, 2) / sqrt(n)  # of one draw around its mean
marginal = Limit(
    growth, 1, as_=n, spread=NARROW, approach=deep.IN_POWERS,
    margin=Relative(1, 10, "a tenth more or less in sigma_w^2 is another tenth for every layer"),
)
stationary = Limit(
    square / q, 1, as_=n, spread=NARROW, approach=deep.IN_POWERS,
    margin=Relative(1, 10, "without biases the variance at these points is a fifth smaller after one layer"),
    wrong={"the biases forgotten": dict(of=(square + sb2) / q)},
)


@lemma
def second_moments():
    """Three columns, any features: the mean of (sum_j W_j f_j)^2 from the second moments of one row."""
    variance = Symbol("v", positive=True)
    weights, features = symbols("w_1:4"), symbols("f_1:4")
    square = expand(Add(*(w * f for w, f in zip(weights, features, strict=True))) ** 2)
    moments = {a * b: variance if a == b else Integer(0) for a in weights for b in weights}
    mean = Add(*(moments[a * b] * square.coeff(a * b) for a, b in combinations_with_replacement(weights, 2)))
    yield Step("uncorrelated entries of one variance", mean, variance * Add(*(f**2 for f in features)))


ONE, HALVED = deep.erf_point(Integer(1)), deep.erf_point(Rational(1, 2))
EARLY = {q: Rational(570048, 10**6), sw2: Rational(1760955, 10**6), sb2: Rational(1, 20)}
LATE = {q: Rational(1317939, 10**6), sw2: Rational(2401489, 10**6), sb2: Rational(1, 4)}
OFF_CURVE = {q: Integer(1), sw2: Integer(1), sb2: Integer(0)}
HALF = setting.low_rank(Rational(1, 2))
BOTH = (marginal, stationary)
theorem = Theorem(
    place="edge of chaos of the limit (reconstructed): the same for every pseudo-iid law",
    label="reconstructed",
    uses=("edge_of_chaos_points",),
    hypotheses=H,
    claims=dict(marginal=marginal, stationary=stationary),
    proofs=(second_moments,),
    experiments=dict(
        networks=deep.experiment({
            "ReLU, Gaussian": subject(setting.GAUSSIAN, RELU, deep.relu_point(Integer(1))),
            "erf at q = 1, Gaussian": subject(setting.GAUSSIAN, ERF, ONE),
            "erf at q = 1, Haar": subject(setting.HAAR, ERF, ONE),
            "erf at q = 1/2, rank n/2": subject(HALF, ERF, HALVED),
            "tanh at 1/20, two blocks": subject(setting.blocks(2), TANH, EARLY),
            "tanh at 1/20, Hadamard": subject(setting.HADAMARD, TANH, EARLY),
            "tanh at 1/4, half kept": subject(setting.masked(Rational(1, 2)), TANH, LATE),
            "erf at the tanh point (0, 1)": subject(setting.GAUSSIAN, ERF, OFF_CURVE).breaking(H.on_curve, fails=BOTH),
            "tanh with sigma_w^2 = 1": subject(setting.GAUSSIAN, TANH, EARLY | {sw2: Integer(1)}).breaking(
                H.on_curve, fails=BOTH
            ),
            "rank n/2 without its factor n/r": subject(HALF, ERF, HALVED | {sw2: HALVED[sw2] / 2}).breaking(
                H.pseudo_iid, fails=BOTH
            ),
        }, quick=800)
    ),
    issues=(
        "The paper's body was not read: that its points are these is read off descriptions of it.",
        "Both means are second moments: they need uncorrelated entries of the right variance and no more.",
    ),
)
