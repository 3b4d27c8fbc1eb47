"""Squares of activations need a mean, not a linear envelope: exp(c z^2) has a limit only if 4 c q < 1.

**Theorem.** Let z_1, ..., z_n be iid with a bounded density, S = (1/n) sum_j phi(z_j)^2, and h =
n^(-1/2) sum_j W_j phi(z_j) with independent W_j ~ N(0, 1). Let phi(z) = exp(b z^2/4), that is exp(c
z^2) at q = 1 with b = 4 c q, or phi(z) = z^2; a = E phi(z)^2. If a is finite, exp(E log S) stays of
order one as n -> oo. If also the z_j are standard normal, then a = (1 - b)^(-1/2) for exp(b z^2/4)
with b < 1, a = 3 for z^2, and h tends to N(0, a). If phi(z) = exp(b z^2/4) with b > 1 and the z_j
are standard normal, then a is infinite, and exp(E log S) (log n)^(b/2) grows like n^(b - 1).

**Idea.** phi^2 = exp(b z^2/2) leaves exp(-(1 - b) z^2/2) of the density. For b > 1 the largest of
the n terms rules the sum: P(|z| > x) = 1/n at x^2 = 2 log n - log(pi log n) to first order, and
there phi^2/n = n^(b-1) (pi log n)^(-b/2). The tail index of phi^2 is 1/b < 1, so S divided by this
has a stable limit, which is random. As z^2 has a Gaussian limit, a linear envelope is sufficient
but not necessary.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
from jaxtyping import Array, Float
from sympy import Integer, Integral, Rational, Symbol, erfc, exp, log, oo, pi, sqrt

from theorax.language import *
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._ensembles import a, n, z

b = Parameter("b", "4 c q, the growth c of the activation exp(c z^2) at pre-activations of variance q", positive=True)
seen = numbers(
    square="phi(z_j)^2, mean over the n units of a layer and 32 networks",
    size="logarithm of the mean of phi(z_j)^2 over the n units, mean over 32 networks",
)
units = Measured("units", "h, a unit of the next layer in each of 32 networks", sample=True)

H = hypotheses(
    integrable="E phi(z)^2 is finite: 4 c q < 1",
    heavy="E phi(z)^2 is infinite: 4 c q > 1",
    normal="the pre-activations are Gaussian",
    independent="the weights of the next layer are Gaussian and independent of all else",
)
LIGHT = (H.integrable, H.normal)
moment = Expectation(
    seen.square, a, under=LIGHT, spread=Rational(1, 20),
    margin=Relative(1, 50, "E phi for E phi^2 is 6 % less at 4 c q = 1/5"),
    wrong={"the exponent -1, of a pair of normals": a**2},
)
# The law of large numbers asks for a finite mean of phi^2, whatever the law of z.
bounded = Rate(
    exp(seen.size), Integer(1), as_=n, under=H.integrable, spread=Rational(1, 10),
    approach=Corrections(size=Rational(1, 4), slowest=1, rest=0, reference=256, reason="the variance of S is of order 1/n"),
    margin=Absolute(1, 10, "an infinite mean lets it grow by the power b - 1, here 1/2 and 1"),
    wrong={"a sum without its 1/n": n, "growth like a root": sqrt(n)},
)
gaussian_still = Law(
    units, gaussian(a), as_=n, mean_law=True, under=(*LIGHT, H.independent), spread=Rational(1, 8),
    approach=Expansion(
        powers=(1,), rest=Rational(1, 50), order=2, reference=256, reason="an Edgeworth expansion of a sum of n terms"
    ),
    scale=sqrt(a), excludes=(gaussian(a * Rational(5, 4)), gaussian(a * Rational(4, 5))),
)
growth = Rate(
    exp(seen.size) * log(n) ** (b / 2), n ** (b - 1), as_=n, under=(H.heavy, H.normal), spread=Rational(4, 5),
    approach=Corrections(
        size=Rational(1, 2), slowest=1, rest=0, reference=256, loglog=Rational(1, 4),
        reason="quantiles of the normal law in powers of log log n/log n; at most 0.06 in the exponent on other seeds",
    ),
    margin=Absolute(1, 4, "a mean that exists has the exponent zero, here 1/2 and 1 away"),
    wrong={"S without the 1/n": n**b, "a mean exists": Integer(1)},
)
NETWORKS = 32


class GrowingActivation(eqx.Module):
    """phi(z) = exp(c z^2), or z^2."""

    c: Scalar
    quadratic: Scalar

    def __call__(self, z: Float[Array, "networks N"]) -> Float[Array, "networks N"]:
        """Phi at every unit."""
        return jnp.where(self.quadratic, z * z, jnp.exp(self.c * z * z))


class OneLayer(eqx.Module):
    """Pre-activations of variance one at one input, the activation, and a unit of the next layer in each network."""

    before: Float[Array, "networks N"]
    activation: GrowingActivation
    weights: Float[Array, "networks N"]

    def squares(self, n: Extent) -> Float[Array, " networks"]:
        """The mean of phi^2 over the units: the variance of h given the layer."""
        return jnp.where(n.mask, self.activation(self.before) ** 2, 0).sum(1) / setting.width(n)

    def __call__(self, n: Extent) -> Float[Array, " networks"]:
        """The unit h of each network."""
        mixed = jnp.where(n.mask, self.weights * self.activation(self.before), 0)
        return mixed.sum(1) / jnp.sqrt(setting.width(n))


def layers(key, n, c, quadratic, uniform, laplace, silent):
    """Networks of one layer; ``uniform`` or ``laplace`` pre-activations, ``silent`` half of the networks: controls."""
    shape = (NETWORKS, n.padded)
    # One uniform number for each unit, in (-1, 1); each law is its quantile there.
    flat = jax.random.uniform(named(key, "pre-activations"), shape, minval=jnp.nextafter(-jnp.ones(()), 0))
    even, normal = jnp.sqrt(3.0) * flat, jnp.sqrt(2.0) * jax.lax.erf_inv(flat)
    tailed = -jnp.sign(flat) * jnp.log1p(-jnp.abs(flat)) / jnp.sqrt(2.0)
    before = jnp.where(laplace, tailed, jnp.where(uniform, even, normal))
    heard = jnp.where(silent, 2 * jax.random.bernoulli(named(key, "heard"), shape=(NETWORKS, 1)), 1)
    weights = jnp.sqrt(heard) * jax.random.normal(named(key, "weights"), shape)
    return OneLayer(before, GrowingActivation(c, quadratic), weights)


def observe(net, n):
    S = net.squares(n)
    return dict(square=S.mean(), size=jnp.log(S).mean(), units=net(n))


@lemma
def second_moments():
    """Every b < 1, by the substitution 1 - b = r > 0; the quadratic activation."""
    r = Symbol("r", positive=True)
    density = exp(-(z**2) / 2) / sqrt(2 * pi)
    # phi^2 = exp(2 c q z^2) = exp(b z^2/2), which leaves exp(-r z^2/2) of the density.
    yield Step("exp(c z^2)", Integral(exp(-r * z**2 / 2) / sqrt(2 * pi), (z, -oo, oo)), 1 / sqrt(r))
    yield Step("z^2", Integral(z**4 * density, (z, -oo, oo)), QUADRATIC)


@derives(growth)
def largest_term():
    """Every b > 1: the quantile of the largest of n terms; that the sum follows it is cited."""
    x, L = Symbol("x", positive=True), Symbol("L", positive=True)
    yield Step("Mills' ratio", sympy.Limit(erfc(x / sqrt(2)) * x * exp(x**2 / 2), x, oo), sqrt(2 / pi))
    # P(|z| > x) = 1/n at x^2 = 2 L - log(pi L), L = log n, to first order: what n times the tail tends to there.
    square = 2 * L - log(pi * L)
    tail = sqrt(2 / pi) * exp(L - square / 2) / sqrt(square)
    yield Step("n P(|z| > x) at x^2 = 2 log n - log(pi log n)", sympy.Limit(tail, L, oo), Integer(1))
    largest = (b * square / 2 - L).subs(L, log(n))  # the logarithm of phi^2 there, over n
    factor = b / 2 * log(pi * log(n))
    yield Step("the largest term over n, by its factor of log n", exp(largest + factor), growth.like)
    yield Cited(
        "sums of iid positive terms of a tail index below one, over that quantile, have a stable limit", "Feller 1971"
    )


QUADRATIC = Integer(3)
exponential = Subject(layers, c=0.05, quadratic=False, uniform=False, laplace=False, silent=False)


def growing(b_):
    """The activation exp(c z^2) at q = 1, c = b/4."""
    # Beyond one there is no mean: what the formula's modulus gives there stands for one.
    return exponential(c=float(b_) / 4, knows={b: b_, a: 1 / sqrt(abs(1 - b_))})


light, quadratic = growing(Rational(1, 5)), exponential(quadratic=True, knows={a: QUADRATIC})
theorem = Theorem(
    place="assumption of the Gaussian limit: the linear envelope of the activation (derived here)",
    label="derived",
    hypotheses=H,
    claims=dict(moment=moment, bounded=bounded, gaussian_still=gaussian_still, growth=growth),
    proofs=(second_moments, largest_term),
    experiments=dict(
        layers=Experiment(
            observe, (units, seen), {n: (256, 1024, 4096)}, draws=Efforts(400, 600, 3000), span=16, padded=True,
            subjects={
                "exp(z^2/20)": light.breaking(H.heavy, fails=growth),
                "z^2": quadratic.breaking(H.heavy),
                "exp(z^2/2)": growing(Integer(2)).breaking(H.integrable, fails=(bounded, gaussian_still)),
                "exp(3 z^2/8)": growing(Rational(3, 2)).breaking(H.integrable, fails=bounded),
                "exp(3 z^2/8) of Laplace's pre-activations": growing(Rational(3, 2))(laplace=True).breaking(
                    H.normal, H.integrable, fails=growth,
                ),
                "z^2 of uniform pre-activations": quadratic(uniform=True).breaking(
                    H.normal, H.heavy, fails=(moment, gaussian_still),
                ),
                "z^2, half of the networks silent": quadratic(silent=True).breaking(
                    H.independent, H.heavy, fails=gaussian_still,
                ),
            },
        )
    ),
    issues=(
        "A linear envelope is sufficient and not necessary: neither activation with a limit here has one.",
        "At greater depth z^2 makes moments that grow with the depth; one layer is looked at.",
        "No number of draws refutes a mean beyond 4 c q = 1, where none exists: of that hypothesis the other claims show the "
        "need.",
        "The case 4 c q = 1 is left out: S then grows like a root of log n.",
    ),
)
