"""The Jacobian of l pseudo-iid layers multiplies squared lengths by chi_1^l, whatever the law of the weights.

**Theorem.** Let l layers h' = sigma_w W phi(h) + b follow a layer of independent N(0, q) units,
with b ~ N(0, sigma_b^2) and independent n x n matrices W as in pseudo_iid_sign_symmetric_clt:
pseudo-iid, so entries are centred and uncorrelated, of variance 1/n, and W D has the law of W for
diagonal sign matrices D. Let J be the Jacobian of these layers, v an independent Gaussian
direction, chi = sigma_w^2 E phi'(sqrt q z)^2. If phi is erf or tanh and q = sigma_b^2 + sigma_w^2 E
phi(sqrt q z)^2, or phi is ReLU without biases, then E |J v|^2/|v|^2 -> chi^l as n -> oo at fixed l.
For ReLU without biases E |J v|^2/|v|^2 = chi^l at every n, and chi = sigma_w^2/2.

**Idea.** Given the layer before, E |W D v|^2 = |D v|^2 for the diagonal matrix D of slopes of phi:
rows of W enter by their second moments alone. In the limit units are N(0, q) and slopes are
independent of v, and a layer contributes sigma_w^2 E phi'^2. For ReLU without biases (h, v) and
(-h, -v) have one law, so the part h > 0 carries half of |v|^2 at every width.
"""

from sympy import Integer, Integral, Matrix, Product, Rational, Symbol, exp, expand, oo, pi, simplify, sqrt, symbols

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _deep as deep
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._deep import growth, l, q, sb2, subject, sw2
from theorax.theorems.pseudo_iid_gp._ensembles import n
from theorax.theorems.pseudo_iid_gp._kernels import ERF, RELU, TANH

chi = Parameter("chi", "chi_1 = sigma_w^2 E phi'(sqrt q z)^2", positive=True)

WRONG = {
    "lengths for their squares": chi ** (l / 2),
    "one layer less": chi ** (l - 1),
    "one layer more": chi ** (l + 1),
}
H = hypotheses(
    stationary="q = sigma_b^2 + sigma_w^2 E phi(sqrt q z)^2, or phi is homogeneous and without biases",
    relu="phi is ReLU and there are no biases",
    pseudo_iid="entries of W are centred and uncorrelated, of variance 1/n, and pseudo-iid",
)
grows = Limit(
    growth, chi**l, as_=n, under=(H.stationary, H.pseudo_iid), spread=Rational(3, 2) / sqrt(n), approach=deep.IN_POWERS,
    margin=Relative(1, 10, "one layer more or less is an eighth away"), wrong=WRONG,
)
homogeneous = Expectation(
    growth, chi**l, under=(H.relu, H.pseudo_iid), spread=Rational(3, 2) / sqrt(n),
    margin=Relative(1, 10, "one layer more or less is an eighth away"), wrong=WRONG,
)


@lemma
def layer():
    """Any uncorrelated entries, three columns; what a layer does to a vector that it is independent of."""
    W, u = Matrix(symbols("W1:4")), Matrix(symbols("u1:4"))
    squared = expand((W.dot(u)) ** 2)
    moments = {W[i] * W[j]: Integer(0) for i in range(3) for j in range(i)} | {W[i] ** 2: sw2 / n for i in range(3)}
    averaged = sum(squared.coeff(product) * mean for product, mean in moments.items())
    yield Step("n rows", n * averaged, sw2 * u.dot(u))
    yield Solved("erf: sigma_w^2 at the point of q and chi", sw2 * deep.ERF_SLOPE - chi, sw2, [sw2_of_erf()])


def sw2_of_erf():
    return deep.erf_point(q, chi)[sw2]


@derives(homogeneous)
def halves():
    """Any correlation of a unit with its image of v; normal given the layer before."""
    h, v, c = Symbol("h", real=True), Symbol("v", real=True), Symbol("c", real=True)
    # v = c h + sqrt(1 - c^2) g given h: E v^2 = c^2 h^2 + 1 - c^2.
    noise = exp(-(v**2) / 2) / sqrt(2 * pi)
    second, passed = c**2 * h**2 + 1 - c**2, Rational(1, 2)
    yield Step("E v^2 given h", Integral((c * h + sqrt(1 - c**2) * v) ** 2 * noise, (v, -oo, oo)), second)
    yield Step("E v^2 over h > 0", Integral(second * exp(-(h**2) / 2) / sqrt(2 * pi), (h, 0, oo)), passed)
    k = Symbol("k", integer=True, positive=True)
    each = deep.relu_point(q, chi)[sw2] * passed
    yield Step("l layers", Product(simplify(each), (k, 1, l)), homogeneous.equals)


def known(point, value):
    return point | {chi: value}


LESS, MORE = Rational(7, 8), Rational(9, 8)
ONE = Integer(1)
BELOW, ABOVE = (known(deep.erf_point(ONE, value), value) for value in (LESS, MORE))
RELU_BELOW, RELU_ABOVE = (known(deep.relu_point(ONE, value), value) for value in (LESS, MORE))
CHAOTIC = {
    q: Rational(1063958, 10**6), sw2: Rational(5, 2), sb2: Rational(1, 20), chi: Rational(113352, 10**5)
}

theorem = Theorem(
    place="edge of chaos (reconstructed): signals and gradients of every pseudo-iid law; exact form for ReLU derived",
    label="reconstructed",
    uses=("edge_of_chaos_points",),
    hypotheses=H,
    claims=dict(grows=grows, homogeneous=homogeneous),
    proofs=(layer, halves),
    experiments=dict(
        networks=deep.experiment(
            {
                "ReLU, Gaussian": subject(setting.GAUSSIAN, RELU, RELU_ABOVE),
                "ReLU, Haar": subject(setting.HAAR, RELU, RELU_BELOW),
                "ReLU, rank n/2": subject(setting.low_rank(Rational(1, 2)), RELU, RELU_ABOVE),
                "erf, Gaussian, ordered": subject(setting.GAUSSIAN, ERF, BELOW).breaking(H.relu),
                "erf, Gaussian, chaotic": subject(setting.GAUSSIAN, ERF, ABOVE).breaking(H.relu),
                "erf, Haar": subject(setting.HAAR, ERF, ABOVE).breaking(H.relu),
                "erf, rank n/2": subject(setting.low_rank(Rational(1, 2)), ERF, BELOW).breaking(H.relu),
                "tanh, two blocks": subject(setting.blocks(2), TANH, CHAOTIC).breaking(H.relu),
                "tanh, Hadamard": subject(setting.HADAMARD, TANH, CHAOTIC).breaking(H.relu),
                "erf, starting from q = 3": subject(setting.GAUSSIAN, ERF, ABOVE | {q: Integer(3)}).breaking(
                    H.stationary, H.relu, fails=(grows, homogeneous)
                ),
                "ReLU, rank n/2 without its factor n/r": subject(
                    setting.low_rank(Rational(1, 2)), RELU, RELU_ABOVE | {sw2: RELU_ABOVE[sw2] / 2}
                ).breaking(H.pseudo_iid, fails=(grows, homogeneous)),
            },
            quick=1600,  # four layers of rank n/2 at n = 16 multiply lengths: the mean of 500 growths is skewed
        )
    ),
    issues=(
        "Means: the logarithm of one network's growth is smaller, by about l/n times a constant.",
        "ReLU is blind to the variance of a layer, and so to a scale that all units share.",
    ),
)
