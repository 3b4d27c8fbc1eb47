"""Deep fully connected networks with pseudo-iid weights tend to a Gaussian process that knows sigma_w alone.

**Theorem.** Let a Gaussian layer, two layers of n x n matrices sigma_w W and two Gaussian outputs
have iid biases N(0, sigma_b^2), all independent; |phi(z)| <= M (1 + |z|). Let W be as in
pseudo_iid_sign_symmetric_clt: pseudo-iid, and W D has the law of W for diagonal sign matrices D. At
inputs x, y of length sqrt(N_0) and cosine c let K^1 = sigma_b^2 + sigma_w^2 (1, c; c, 1), K^(l+1) =
sigma_b^2 + sigma_w^2 F(K^l), F(K) = E phi(u) phi(v), (u, v) ~ N(0, K). Then, as n -> oo, in layers
l = 2, 3: E h_i(x)^2 -> K^l_xx, E h_i(x) h_i(y) -> K^l_xy, and for i != k E h_i(x)^2 h_k(x)^2 ->
(K^l_xx)^2, E h_i(x) h_k(x) = 0 at every n. Two units of layer 3 tend to N(0, delta_ik K^3), two
outputs to N(0, delta_ik K^4). If the four-entry conditions hold up to O(1/n), |S - K^4|^2 is of
order 1/n for the covariance S of an output at x, y given the hidden layers.

**Idea.** By the symmetry of signs one layer has a Gaussian limit, and features of Gaussian units
satisfy what the next layer needs. Outputs are Gaussian given S.
"""

import jax
import jax.numpy as jnp
import sympy
from sympy import Add, Derivative, Integer, Matrix, Rational, Subs, Symbol, eye, oo, sqrt, symbols

from theorax.language import *
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._ensembles import n
from theorax.theorems.pseudo_iid_gp._kernels import c, k11, k22
from theorax.theorems.pseudo_iid_gp._limit import PHI, RELU, TANH, F, Kernel, kernel, network, phi, sb2, sw2
from theorax.theorems.pseudo_iid_gp._process import BIASES, ENVELOPE, GAUSSIAN_FIRST, HIDDEN, OUTPUT, Process, seen
from theorax.theorems.pseudo_iid_gp.erf_arcsine_kernel import F as arcsine
from theorax.theorems.pseudo_iid_gp.relu_arc_cosine_kernel import f as arc_cosine

l = Index("l", "layer")
letters = numbers(
    xx="h_i(x)^2, mean over the units of layer l",
    xy="h_i(x) h_i(y), mean over the units of layer l",
    apart="h_i(x) h_k(x), mean over pairs of units of layer l",
    squares="h_i(x)^2 h_k(x)^2, mean over pairs of units of layer l",
    over=(l,),
)
Kxx, Kxy = (Kernel(l, phi, sw2, sb2, angle) for angle in (1, c))
process = Process(n, lambda layer: Matrix([[Kxx, Kxy], [Kxy, Kxx]]).subs(l, layer))


def variants(angle):
    """Wrong kernels that are in use."""
    return {
        "sigma_w^2/2": Kernel(l, phi, sw2 / 2, sb2, angle),
        "no biases": Kernel(l, phi, sw2, 0, angle),
    }


H = hypotheses(
    first=GAUSSIAN_FIRST,
    pseudo_iid="later weights are pseudo-iid: four conditions on their entries",
    biases=BIASES,
    widths="all widths grow together, at a fixed depth",
    signs="W D has the law of W for every diagonal matrix D of signs",
    envelope=ENVELOPE,
)
variance = Limit(
    letters.xx, Kxx, spread=Rational(1, 4), wrong=variants(1),
    **process.kernels("half the weights, or no biases, move it by a sixth and more"),
)
covariance = Limit(
    letters.xy, Kxy, spread=Rational(1, 4),
    wrong=variants(c) | {"half the angle": Kernel(l, phi, sw2, sb2, sqrt((1 + c) / 2))},
    **process.kernels("at half the angle it is a third larger and more"),
)
# W is independent of what it reads and W_ij, W_kj' are uncorrelated: no law of the layer before enters.
own_units = Expectation(
    letters.apart / Kxx, 0, spread=Rational(21, 100), under=(H.pseudo_iid, H.biases, H.widths, H.envelope),
    margin=Absolute(1, 20, "columns of correlation 1/4 leave a tenth and more"),
)
own_squares = Limit(
    letters.squares, Kxx**2, as_=n, spread=Rational(1, 2),
    approach=Expansion(
        (1,), rest=Rational(1, 12), order=2, reference=16, reason="moments of a layer are rational in n",
    ),
    margin=Relative(1, 4, "a scale that all units share adds three fifths, that of rank two doubles it"),
)
output_law = Law(**process.law_of_outputs(**{"the layer before": process.at(OUTPUT - 1)}))
hidden_law = Law(**process.law_of_hidden(**{"the layer before": process.at(HIDDEN - 1)}))
order = Rate(**process.order_of_outputs())


def observe(net, n, sw2, sb2, c):
    inputs = 2 * jnp.array([[1, 0, 0, 0], [c, jnp.sqrt(1 - c**2), 0, 0]])  # of length sqrt(N_0)
    h, last, f = jax.vmap(net)(inputs)
    x, y, size = h[0], h[1], setting.width(n)
    gram = sb2 + sw2 * last @ last.T / size
    pairs = size * (size - 1)
    values = dict(
        xx=(x**2).sum(1) / size,
        xy=(x * y).sum(1) / size,
        apart=(x.sum(1) ** 2 - (x**2).sum(1)) / pairs,
        squares=((x**2).sum(1) ** 2 - (x**4).sum(1)) / pairs,
        Sxx=gram[0, 0],
        Sxy=gram[0, 1],
        Syy=gram[1, 1],
    )
    return values | seen(x[-1], y[-1], f[0], f[1], n)


@lemma("kernel")
def recursion():
    """ReLU and the normal distribution function, every variance q and covariance k; ReLU at every sigma_w, sigma_b."""
    q, k = symbols("q k", positive=True)
    yield Step("ReLU, from the arc-cosine kernel", q * Subs(arc_cosine, c, k / q), F(RELU, q, k))
    halves = Subs(arcsine, (k11, k22, Symbol("k12", real=True)), (q / 2, q / 2, k / 2))
    yield Step("Phi(x) = (1 + erf(x/sqrt 2))/2, from the arcsine", (1 + halves) / 4, F(PHI, q, k))
    third = sb2 + sw2 / 2 * (sb2 + sw2 / 2 * (sb2 + sw2))
    yield Step("ReLU at one input: E phi^2 is half the variance", kernel(3, RELU, sw2, sb2, Integer(1)), third)


@derives(own_units)
def layer_covariance():
    """Any entries that are uncorrelated, of variance sw2/n, two units and two columns: exact at finite n."""
    W, f, g = Matrix(2, 2, symbols("W_11 W_12 W_21 W_22")), Matrix(symbols("f_1:3")), Matrix(symbols("g_1:3"))
    h, other = W * f, W * g
    # Means of products of two different entries vanish; those of squares are sw2/n with n = 2.
    mean = Matrix(2, 2, lambda i, k: Add(*(Derivative(h[i], w) * Derivative(other[k], w) * sw2 / 2 for w in W)))
    yield Step("E h_i(x) h_k(y) = delta_ik sw2 mean of f_j(x) f_j(y)", mean, sw2 * f.dot(g) / 2 * eye(2))
    yield Step("units of one layer are uncorrelated", mean[0, 1], own_units.equals)


@derives(own_squares)
def limits():
    """Every depth: layer after layer."""
    yield Cited(
        "features of Gaussian units satisfy what one layer asks, and their means converge",
        "Matthews et al. 2018, section 4",
    )
    yield Cited("one layer has the Gaussian limit", "pseudo_iid_sign_symmetric_clt")
    (f, g), (p, q, r, s) = symbols("f_1:3", real=True), symbols("W_11 W_12 W_21 W_22", real=True)
    turned = sum(((p * f + e * q * g) * (r * f + e * s * g)) ** 2 for e in (1, -1)) / 2
    pairs = (p * r * f**2) ** 2 + (q * s * g**2) ** 2 + (f * g) ** 2 * ((p * s) ** 2 + (q * r) ** 2 + 4 * p * q * r * s)
    yield Step("h_i^2 h_k^2, signs of columns averaged: columns in pairs stay", turned, pairs)
    # n^2 E W_ij^2 W_kj^2 stays bounded; of two columns n^2 E W_ij^2 W_kj'^2 tends to 1, n^2 E W_ij W_kj W_ij' W_kj' to 0.
    # A, S_4: means of f^2 and of f^4; K: the variance of a unit, sb2 + sw2 A.
    same, across, crossed, A, fourth, K = symbols("same across crossed A S_4 K", real=True)
    columns = same * fourth / n + (A**2 - fourth / n) * (across + 2 * crossed)
    layer = (sb2**2 + 2 * sb2 * sw2 * A + sw2**2 * columns).subs({across: 1, crossed: 0, A: (K - sb2) / sw2})
    yield Step("two units of one layer: squares factor", sympy.Limit(layer, n, oo), K**2)
    yield Step("at the kernel of the layer", Subs(K**2, K, variance.to), own_squares.to)


CASES = {
    RELU: {sw2: Rational(3, 2), sb2: Rational(1, 4), c: -Rational(1, 2)},
    PHI: {sw2: Integer(4), sb2: Rational(1, 4), c: -Rational(1, 2)},
    TANH: {sw2: Integer(2), sb2: Rational(3, 10), c: Rational(1, 2)},
}


def subject(law, activation, variance_of_biases=None):
    known = {phi: activation, **CASES[activation]}
    known |= {sb2: variance_of_biases} if variance_of_biases else {}
    return law.subject(
        network, known, activation=activation, signs=0.0, one_bias=0, row_sums=0, one_way=0, kept=0, one_sum=0
    )


STEEP = {phi: PHI, **CASES[PHI], sw2: Integer(25)}
LAWS = (output_law, hidden_law)
theorem = Theorem(
    place="theorem 1, fully connected networks (reconstructed), with the symmetry of signs added",
    label="reconstructed",
    uses=("pseudo_iid_sign_symmetric_clt", "relu_arc_cosine_kernel", "erf_arcsine_kernel", "wide_network_samplers"),
    hypotheses=H,
    claims=dict(
        variance=variance, covariance=covariance, own_units=own_units, own_squares=own_squares, output_law=output_law,
        hidden_law=hidden_law, order=order,
    ),
    proofs=(recursion, layer_covariance, limits),
    experiments=dict(
        networks=Experiment(
            observe, (letters, *process.covariances, *process.hidden, *process.outputs), {n: (16, 32, 64)},
            along={l: (2, 3)}, draws=Efforts(600, 600, 10000), span=4, dtype="float32", padded=True,
            subjects={
                "Gaussian, tanh": subject(setting.GAUSSIAN, TANH),
                "Haar, ReLU": subject(setting.HAAR, RELU),
                "Haar, tanh": subject(setting.HAAR, TANH),
                "rank n/2, Phi": subject(setting.low_rank(Rational(1, 2)), PHI),
                "two blocks, tanh": subject(setting.blocks(2), TANH),
                "Hadamard, Phi": subject(setting.HADAMARD, PHI),
                "first layer of rare signs, tanh": subject(setting.GAUSSIAN, TANH)(signs=1 / 32).breaking(
                    H.first, fails=(variance, covariance, own_squares, *LAWS, order),
                ),
                # Units that read are not read: the last hidden layer sees no more than biases.
                "weights from one half to the other, ReLU": subject(setting.GAUSSIAN, RELU)(one_way=1).breaking(
                    H.pseudo_iid, fails=(variance, covariance, own_squares, *LAWS, order),
                ),
                "rank two, tanh": subject(setting.fixed_rank(2), TANH).breaking(H.pseudo_iid, fails=(*LAWS, order)),
                "random scale, tanh": subject(setting.SCALED, TANH).breaking(H.pseudo_iid, fails=(hidden_law, order)),
                "correlated rows, ReLU": subject(setting.CORRELATED, RELU).breaking(
                    H.pseudo_iid, H.signs, fails=(variance, covariance, *LAWS),
                ),
                "correlated columns, Phi": subject(setting.CORRELATED_COLUMNS, PHI).breaking(
                    H.pseudo_iid, fails=own_units,
                ),
                "one large bias a layer, ReLU": subject(setting.GAUSSIAN, RELU, Integer(4))(one_bias=1).breaking(
                    H.biases, fails=(own_units, order),
                ),
                "biases that are sums of rows, Phi": subject(setting.GAUSSIAN, PHI)(row_sums=1).breaking(
                    H.biases, fails=(variance, covariance, own_squares, *LAWS),
                ),
                # Bounded: h_i^2 h_k^2 behind two ReLU has no mean to speak of in 600 draws. It grows by three quarters here.
                "bottleneck of one unit, Phi": subject(setting.GAUSSIAN, PHI)(kept=1).breaking(
                    H.widths, fails=(own_squares, *LAWS, order),
                ),
                "fixed sums, steep Phi": subject(setting.CONDITIONED, PHI)(knows=STEEP).breaking(H.signs, fails=LAWS),
                # A unit has the variance K -+ sw2 (E phi)^2, all units of a layer the same one.
                "sums of rows that vanish together, Phi": subject(setting.GAUSSIAN, PHI)(one_sum=1).breaking(
                    H.signs, fails=(own_squares, order),
                ),
            },
        )
    ),
    issues=(
        "Without the symmetry of signs the reconstructed statement fails: pseudo_iid_finite_exchangeability_gap.",
        "The order 1/n of the error of a kernel's mean is declared as a class, not claimed; that of its fluctuation is "
        "claimed. For the mean n (E h^2/K - 1) is 0 for ReLU and about -1/5 for tanh. At standard effort the half-width of a "
        "claim about it would be 1.1.",
        "Two inputs stand for finitely many; countably many are a matter of marginals.",
    ),
)
