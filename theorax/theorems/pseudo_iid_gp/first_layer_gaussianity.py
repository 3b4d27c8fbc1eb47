"""The first layer must be Gaussian: with signs for weights the second one is Gaussian still, with another variance.

**Theorem.** Let h = sum_j W_j phi(x_j) be a unit of the second layer, with iid Gaussian W_j of
variance 1/n independent of the first layer x_1, ..., x_n, and no biases; phi is ReLU or the normal
distribution function Phi. If the x_j are independent random signs, E h^2 = a_2 = (phi(1)^2 +
phi(-1)^2)/2 at every n, and h tends to N(0, a_2) as n -> oo. If the x_j are independent N(0, 1), E
h^2 = E phi(z)^2 at every n. For Phi, a_2 = (Phi(1)^2 + (1 - Phi(1))^2)/2 and E Phi(z)^2 = 1/3; for
ReLU both are 1/2.

**Idea.** Weights uncorrelated with variance 1/n give E h^2 = E phi(x_1)^2. With signs the terms are
iid and bounded, and the central limit theorem applies with the variance a_2. A positively
homogeneous phi does not notice the difference in the variance: E phi(x)^2 depends on E x^2 alone
for every symmetric law of x.
"""

import jax
import jax.numpy as jnp
from sympy import Integral, Rational, Subs, Symbol, erf, exp, oo, pi, sqrt

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._ensembles import PHI, RELU, a, n, z

two_values = Parameter("a_2", "(phi(1)^2 + phi(-1)^2)/2", positive=True)
square = Measured("square", "h_i^2 of the second layer, mean over units and inputs", positive=True)
units = Measured("units", "h_i of eight units at sixteen inputs", sample=True)
H = hypotheses(
    signs="the first layer is +-1 at each of its units, by independent signs",
    normal="the first layer is Gaussian with the variance one",
    iid="the weights of the second layer are iid Gaussian",
)
far = Relative(1, 30, "for Phi the two variances differ by a tenth")
by_signs = Expectation(
    square, two_values, under=(H.signs, H.iid), spread=Rational(1, 4), margin=far, wrong={"a Gaussian first layer": a},
)
by_normals = Expectation(
    square, a, under=(H.normal, H.iid), spread=Rational(1, 4), margin=far, wrong={"signs": two_values},
)
gaussian_still = Law(
    units, gaussian(two_values), as_=n, mean_law=True, under=(H.signs, H.iid), spread=Rational(1, 8),
    approach=Expansion(
        powers=(1,), rest=Rational(1, 50), order=2, reference=16, reason="an Edgeworth expansion of a sum of n terms"
    ),
    scale=sqrt(two_values), excludes=(gaussian(two_values * Rational(5, 4)), gaussian(two_values * Rational(4, 5))),
)


def layers(key, n, activation, signs, equal, law):
    """Two layers at sixteen networks' first layers, which are signs, ``equal`` ones, or normal variables."""
    shape = (setting.INPUTS, n.padded)
    signed = jax.random.rademacher(named(key, "signs"), shape).astype(jnp.zeros(()).dtype)
    signed = jnp.where(equal, signed[:, :1], signed)
    one = jnp.where(signs, signed, jax.random.normal(named(key, "normals"), shape))
    second = setting.layer(named(key, "second layer"), n, law, 2 * jnp.ones(()))
    return setting.TwoLayerNetwork(jnp.where(n.mask, one, 0), second, activation)


def observe(net, n):
    h = net(n)
    return dict(square=(h**2).sum(1).mean() / setting.width(n), units=h[:, :8].ravel())


@lemma
def second_moments():
    """Phi and ReLU at q = 1."""
    density = exp(-(z**2) / 2) / sqrt(2 * pi)
    u, x = Symbol("u", positive=True), Symbol("x", real=True)
    normal_law = (1 + erf(x / sqrt(2))) / 2
    signs = (Subs(normal_law**2, x, 1) + Subs(normal_law**2, x, -1)) / 2
    yield Step("signs, Phi", signs, TWO[PHI.place])
    yield Step("a Gaussian layer, Phi being uniform", Integral(u**2, (u, 0, 1)), PHI.knows[a])
    yield Step("ReLU, both", Integral(z**2 * density, (z, 0, oo)), TWO[RELU.place])


ONE = (1 + erf(1 / sqrt(2))) / 2  # Phi(1)
TWO = {PHI.place: (ONE**2 + (1 - ONE) ** 2) / 2, RELU.place: Rational(1, 2)}


def subject(activation, signs, law=setting.GAUSSIAN):
    known = {**activation.knows, two_values: TWO[activation.place]}
    return Subject(layers, activation=activation.place, signs=signs, equal=False, law=law.place, knows=known)


theorem = Theorem(
    place="hypothesis of the Gaussian limit: the first layer (derived here)",
    label="derived",
    uses=("pseudo_iid_definition_membership",),
    hypotheses=H,
    claims=dict(by_signs=by_signs, by_normals=by_normals, gaussian_still=gaussian_still),
    proofs=(second_moments,),
    experiments=dict(
        layers=Experiment(
            observe, (square, units), {n: (16, 32, 64)}, draws=Efforts(1500, 3000, 20000), span=4, dtype="float32",
            padded=True,
            subjects={
                "signs, Phi": subject(PHI, True).breaking(H.normal, fails=by_normals),
                "signs, ReLU": subject(RELU, True).breaking(H.normal),
                "Gaussian, Phi": subject(PHI, False).breaking(H.signs, fails=by_signs),
                "one sign for all units, Phi": subject(PHI, True)(equal=True).breaking(
                    H.signs, H.normal, fails=gaussian_still,
                ),
                "signs, Phi, rank two": subject(PHI, True, setting.fixed_rank(2)).breaking(
                    H.iid, H.normal, fails=gaussian_still,
                ),
                "signs, Phi, correlated weights": subject(PHI, True, setting.CORRELATED).breaking(
                    H.iid, H.normal, fails=(by_signs, gaussian_still),
                ),
                "Gaussian, Phi, correlated weights": subject(PHI, False, setting.CORRELATED).breaking(
                    H.iid, H.signs, fails=by_normals,
                ),
                "Gaussian, ReLU": subject(RELU, False).breaking(H.signs),
            },
        )
    ),
    issues=("ReLU shows where the hypothesis is not needed for the variance: it is homogeneous.",),
)
