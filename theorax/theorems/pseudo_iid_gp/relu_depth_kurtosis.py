"""Exact kurtosis of deep networks without biases whose activation is positively homogeneous: a product over the layers.

**Theorem.** Let phi(s z) = s phi(z) for s > 0, a = E phi(z)^2 and b4 = E phi(z)^4 with z standard
normal. Let a network have iid Gaussian weights, no biases and l hidden layers of n, n t, ..., n
t^(l-1) units, and let h be a unit after them. Then, at all widths, E h^4/(E h^2)^2 = 3
prod_(k=1..l) (1 + (b4/a^2 - 1)/(n t^(k-1))). Here b4/a^2 - 1 is 5 for ReLU and 2 for linear layers;
a ReLU of slope 1/2 on the left has a = 5/8 and b4 = 51/32.

**Idea.** Given layer k, the units of the next one are Gaussian with variance sigma_w^2
|phi(h_k)|^2/n_k. By homogeneity this is the variance of layer k times a mean of n_k independent
terms phi(z)^2, independent of that variance. So variances multiply, and a mean of n_k terms has the
second moment a^2 (1 + (b4/a^2 - 1)/n_k). The last unit is Gaussian given its variance, which gives
the factor 3.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from sympy import Function, Integer, Integral, Product, Rational, Subs, Sum, Symbol, exp, oo, pi, sqrt

from theorax.language import *
from theorax.numerics.annotations import Scalar
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._ensembles import LINEAR, PHI, RELU, Activation, a, b4, n, z

l = Index("l", "number of hidden layers")
t = Parameter("t", "width of a layer over that of the one before", positive=True)
power = Measured(
    "power",
    "E h^4 of a unit after l hidden layers given them, over (E h^2)^2; mean over networks",
    over=(l,),
    positive=True,
)
variance = Measured(
    "variance",
    "E h^2 of a unit after l hidden layers given them, over E h^2; mean over networks",
    over=(l,),
    positive=True,
)
LEAKY = Activation(3, 1 / sqrt(8 * pi), Rational(5, 8), Rational(51, 32))  # z for z > 0, else z/2

H = hypotheses(
    iid="the entries of W are iid Gaussian",
    no_biases="there are no biases",
    homogeneous="phi(s z) = s phi(z) for s > 0",
)
j, k = Symbol("j", integer=True, positive=True), Symbol("k", integer=True, positive=True)
more = b4 / a**2 - 1
kurtosis = Expectation(
    power, 3 * Product(1 + more / (n * t ** (k - 1)), (k, 1, l)), spread=Rational(3, 20),
    variates=KnownMean(variance, 1, gain=4, because="a layer multiplies variances by a mean of terms phi^2/E phi^2"),
    margin=Relative(1, 40, "the sum of the terms for their product is 5 % less after three layers of 32 units"),
    wrong={
        "terms added up": 3 * (1 + Sum(more / (n * t ** (k - 1)), (k, 1, l))),
        "the variance of phi for its second moment": 3 * Product(1 + (more - 1) / (n * t ** (k - 1)), (k, 1, l)),
        "the last layer alone": 3 * (1 + more / (n * t ** (l - 1))),
    },
)
NETWORKS, LAYERS = 256, 3


class VariancesOfLayers(eqx.Module):
    """Variances of the units after every hidden layer of independent networks, over their mean."""

    variances: Float[Array, "layers networks"]


def activated(h: Array, activation: Array) -> Array:
    """ReLU, the identity, the normal distribution function, ReLU with the slope 1/2 on the left."""
    return jax.lax.select_n(activation, jax.nn.relu(h), h, jax.scipy.stats.norm.cdf(h), jnp.where(h > 0, h, h / 2))


def networks(key, n, l, t: Scalar, activation, weight: Scalar, bias: Scalar, haar):
    """Sampled without the weights: given a layer the next one is normal, or for Haar weights a uniform direction."""

    def layer(V, number):
        width = n.value * t**number
        place = jnp.arange(4 * n.padded) < width
        g = jnp.where(place, jax.random.normal(named(key, "layer", number), (NETWORKS, 4 * n.padded)), 0)
        lengths = jnp.sqrt(width / (g**2).sum(1, keepdims=True))
        h = jnp.sqrt(V)[:, None] * g * jnp.where(haar & (number > 0), lengths, 1)
        after = bias + weight * jnp.where(place, activated(h, activation) ** 2, 0).sum(1) / width
        return after, after

    return VariancesOfLayers(jax.lax.scan(layer, jnp.ones(NETWORKS), jnp.arange(l))[1])


def observe(net, n):
    return dict(power=3 * (net.variances**2).mean(1), variance=net.variances.mean(1))


@derives(kurtosis)
def layers():
    """Every width: one layer; every depth where widths are equal; the first four layers of any widths one by one."""
    pairs = Sum(b4, (j, 1, n)) + Sum(a**2, (k, 1, n - 1), (j, 1, n))
    yield Step("the mean of n terms phi^2, squared", pairs / (n * a) ** 2, 1 + more / n)
    yield Step("their mean", Sum(a, (j, 1, n)) / (n * a), 1)
    # E(l): E h^4 over (E h^2)^2 after l layers; g: what one layer multiplies it by.
    E, g = Function("E"), Symbol("g", positive=True)
    yield Solved("equal widths, every depth", [E(l + 1) - g * E(l), E(0) - 3], E(l), 3 * g**l)
    M, before = Symbol("M", positive=True), Integer(3)
    for depth in range(1, 5):
        after = Subs(M * (1 + more / (n * t ** (depth - 1))), M, before)
        product = kurtosis.equals.subs(l, depth)
        yield Step(f"{depth} layers", after, product)
        before = product.doit()


@lemma
def leaky():
    """ReLU with the slope 1/2 on the left."""
    density = exp(-(z**2) / 2) / sqrt(2 * pi)
    for letter, m in ((a, 2), (b4, 4)):
        both = Integral(z**m * density, (z, 0, oo)) + Integral((z / 2) ** m * density, (z, -oo, 0))
        yield Step(f"E phi^{m}", both, LEAKY.knows[letter])


def subject(activation, taper=1):
    return Subject(
        networks, t=float(taper), activation=activation.place, weight=float(1 / activation.knows[a]), bias=0.0, haar=False,
        knows={**activation.knows, t: taper},
    )


relu = subject(RELU)
theorem = Theorem(
    place="finite width of homogeneous networks (derived here)",
    label="derived",
    uses=("single_layer_kurtosis_table", "wide_network_samplers"),
    hypotheses=H,
    claims=dict(kurtosis=kurtosis),
    proofs=(layers, leaky, setting.moments),
    experiments=dict(
        networks=Experiment(
            observe, (power, variance), {n: Efforts(32, 32, (32, 64))}, along={l: (1, 2, LAYERS)},
            draws=Efforts(180, 240, 1200), dtype="float32", padded=True,
            subjects={
                "ReLU": relu,
                "ReLU, widths that double": subject(RELU, 2),
                "linear": subject(LINEAR),
                "linear, widths that double": subject(LINEAR, 2),
                "leaky ReLU": subject(LEAKY),
                "Phi": subject(PHI).breaking(H.homogeneous, fails=kurtosis),
                "ReLU with biases": relu(weight=1.0, bias=0.5).breaking(H.no_biases, fails=kurtosis),
                "ReLU, Haar weights": relu(haar=True).breaking(H.iid, fails=kurtosis),
            },
        )
    ),
    issues=("The mean of V^2 is a mean of products: at depths near the width it is carried by few networks.",),
)
