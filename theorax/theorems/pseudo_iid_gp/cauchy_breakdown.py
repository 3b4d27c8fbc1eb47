"""Weights without a variance have another limit: Cauchy weights of scale 1/n leave Cauchy units of scale E|phi|.

**Theorem.** Let h = sum_j W_j phi(z_j) with n iid weights W_j, iid standard normal z_j, and phi
ReLU, the identity or the normal distribution function. Let s = E|phi(z)|, which is 1/sqrt(2 pi),
sqrt(2/pi) or 1/2. If the W_j are Cauchy of scale 1/n, then, as n -> oo, E e^(i t h) -> e^(-s |t|)
(a Cauchy law), P(|h| <= s) -> 1/2, P(|h| <= tan(49 pi/100) s) -> 49/50, and E log|h| -> log s,
where log 0 is read as 0. If their scale is 1/sqrt n, exp(E log|h|) grows like sqrt n. If the law of
sqrt(n) W_j is fixed, centred and of variance one, the law of h tends to N(0, E phi(z)^2), even
without eighth moments, as for Student's weights with five degrees of freedom.

**Idea.** Given the layer before, h has the characteristic function prod_j e^(-|t phi_j|/n): it is
exactly Cauchy, and its scale is the mean of |phi_j|, which tends to E|phi|. For a standard Cauchy
variable x, 1/|x| has the law of |x|, hence E log|x| = 0.
"""

from enum import IntEnum

import jax
import jax.numpy as jnp
from sympy import Abs, Integral, Product, Rational, Subs, Symbol, cos, exp, log, oo, pi, sqrt, symbols, tan

from theorax.language import *
from theorax.numerics.ensembles import gaussian as normals
from theorax.numerics.extents import block, literal
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp import _ensembles as setting
from theorax.theorems.pseudo_iid_gp._ensembles import LINEAR, PHI, RELU, a, n, z

scale = Parameter("scale", "E|phi(z)|, z standard normal", positive=True)
units = Measured("units", "h_i of eight units at eight orthogonal inputs", sample=True)
letters = numbers(
    size="log |h_i|, mean over units and inputs",
    below="share of units and inputs with |h_i| <= E|phi|",
    inside="share of units and inputs with |h_i| <= tan(49 pi/100) E|phi|",
)

t = Symbol("t", real=True)
FAR = tan(49 * pi / 100)
BECAUSE = (
    "the mean of |phi_j| over n units, smooth functions of which expand in 1/n; at most {} at n = 32 on other seeds"
)
H = hypotheses(
    cauchy="entries of W are independent and Cauchy",
    scaled="their scale is 1/n",
    root="their scale, or standard deviation, is 1/sqrt n",
    finite="entries of W are iid and centred, with a finite variance",
)
HEAVY = (H.cauchy, H.scaled)


def cauchy_law(scale):
    return Characteristic(exp(-scale * Abs(t)), t)


cauchy = cauchy_law(scale)


def in_powers(rest, seen):
    return Expansion(powers=(1,), rest=rest, order=2, reference=32, reason=BECAUSE.format(seen))


law = Law(
    units, cauchy, as_=n, mean_law=True, under=HEAVY, spread=Rational(1, 8),
    approach=in_powers(Rational(1, 200), "1/1000"), scale=scale,
    excludes=(cauchy_law(scale * Rational(6, 5)), gaussian(a)),
    wrong={
        "the normal law of Gaussian weights": gaussian(a),
        "the root of E phi^2 for E|phi|": cauchy_law(sqrt(a)),
    },
)
median = Limit(
    letters.below, Rational(1, 2), as_=n, under=HEAVY, spread=Rational(1, 10),
    approach=in_powers(Rational(1, 100), "1/1000"),
    margin=Absolute(1, 20, "the normal law of Gaussian weights has 0.43 there for ReLU, 0.61 for Phi"),
)
tail = Limit(
    letters.inside, Rational(49, 50), as_=n, under=HEAVY, spread=Rational(1, 20),
    approach=in_powers(Rational(1, 500), "1/10000"),
    margin=Absolute(
        1, 100, "a normal law with this median has all of its mass there: its quantile is 3.4, not 31.8 times the median"
    ),
    wrong={"a normal law": 1},
)
typical = Limit(
    letters.size, log(scale), as_=n, under=HEAVY, spread=Rational(1, 2), approach=in_powers(Rational(1, 50), "1/300"),
    margin=Absolute(1, 10, "the root of E phi^2 is larger by the factor 1.15 for Phi, 1.25 for the identity, 1.77 for ReLU"),
    wrong={"the root of E phi^2": log(a) / 2},
)
growing = Rate(
    exp(letters.size), sqrt(n), as_=n, under=(H.cauchy, H.root), spread=Rational(1, 8),
    approach=in_powers(Rational(1, 50), "1/300"), margin=Absolute(1, 5, "a limit has the exponent zero"),
    wrong={"linear growth": n},
)
without_eighth = Law(
    units, gaussian(a), as_=n, mean_law=True, under=(H.finite, H.root), spread=Rational(1, 8),
    approach=in_powers(Rational(1, 50), "1/200"), scale=sqrt(a),
    excludes=(cauchy, gaussian(a * Rational(6, 5))), wrong={"the Cauchy law": cauchy},
)


class HeavyTails(IntEnum):
    """Laws of the entries of the second layer."""

    CAUCHY, STUDENT, NORMAL = range(3)


INPUTS = 8


def heavy(key, n, tails, root, activation):
    """Two layers, the second of Cauchy, Student's or Gaussian weights, of scale 1/n or (``root``) 1/sqrt n."""
    place, shape = named(key, "second layer"), (n.padded, n.padded)
    W = jax.lax.switch(
        tails,
        (
            lambda: jax.random.cauchy(place, shape),
            lambda: jax.random.t(place, 5.0, shape) * jnp.sqrt(3 / 5),  # the variance of Student's law is 5/3
            lambda: jax.random.normal(place, shape),
        ),
    )
    before = normals(named(key, "first layer"), literal(INPUTS), n)
    W = jnp.where(block(n, n), W * setting.width(n) ** -jnp.where(root, 0.5, 1.0), 0)
    return setting.TwoLayerNetwork(before, setting.LinearLayer(W), activation)


def observe(net, n, scale):
    h = jnp.abs(net(n))
    entries = jnp.where(h > 0, h, 1)  # padded units are zero

    def share(x):
        return jnp.where(n.mask, x, 0).sum(1).mean() / setting.width(n)

    return dict(
        units=net(n)[:, :8].ravel(),
        size=share(jnp.log(entries)),
        below=share((h <= scale).astype(h.dtype)),
        inside=share((h <= float(FAR) * scale).astype(h.dtype)),
    )


@lemma
def stable():
    """Three columns; the law of a unit given the layer before."""
    x, s, f = symbols("x s f", positive=True)  # the density is even
    j = Symbol("j", integer=True, positive=True)
    density = Integral(exp(-s) * cos(s * x), (s, 0, oo)) / pi
    yield Step("the density behind e^(-|s|)", density, 1 / (pi * (1 + x**2)))
    # Columns of |phi_j| = f, 2 f, 3 f: exponents add up, so the scale is the mean of |phi_j|.
    given = Product(exp(-s * j * f / 3), (j, 1, 3))
    yield Step("a sum of Cauchy numbers has the mean scale", given, exp(-s * (f + 2 * f + 3 * f) / 3))


@lemma
def quantiles():
    """The Cauchy law of scale one."""
    x, y = Symbol("x", positive=True), Symbol("y", positive=True)
    half = 2 / (pi * (1 + x**2))
    yield Step("half of its mass", Integral(half, (x, 0, 1)), median.to)
    yield Step("and 49 of 50", Integral(half, (x, 0, FAR)), tail.to)
    yield Step("x -> 1/x leaves |x| its law", Subs(half, x, 1 / y) / y**2, half.subs(x, y))


@lemma
def scales():
    """ReLU, the normal distribution function, the identity."""
    density = exp(-(z**2) / 2) / sqrt(2 * pi)
    yield Step("ReLU", Integral(z * density, (z, 0, oo)), SCALES[RELU.place])
    yield Step("Phi, uniform on (0, 1)", Integral(z, (z, 0, 1)), SCALES[PHI.place])
    yield Step("the identity", 2 * Integral(z * density, (z, 0, oo)), SCALES[LINEAR.place])


SCALES = {RELU.place: 1 / sqrt(2 * pi), PHI.place: Rational(1, 2), LINEAR.place: sqrt(2 / pi)}


def subject(tails, activation):
    known = activation.knows | {scale: SCALES[activation.place]}
    return Subject(heavy, tails=tails, root=0, activation=activation.place, knows=known)


theorem = Theorem(
    place="negative control of the Gaussian limit: no variance (derived here)",
    label="derived",
    uses=("pseudo_iid_definition_membership",),
    hypotheses=H,
    claims=dict(law=law, median=median, tail=tail, typical=typical, growing=growing, without_eighth=without_eighth),
    proofs=(stable, quantiles, scales),
    experiments=dict(
        layers=Experiment(
            observe, (units, letters), {n: (32, 64, 128)}, draws=Efforts(600, 2000, 20000), span=4, dtype="float32",
            padded=True,
            subjects={
                "Cauchy, ReLU": subject(HeavyTails.CAUCHY, RELU).breaking(H.root, H.finite, fails=(without_eighth, growing)),
                "Cauchy, Phi": subject(HeavyTails.CAUCHY, PHI).breaking(H.root, H.finite),
                "Cauchy, linear": subject(HeavyTails.CAUCHY, LINEAR).breaking(H.root, H.finite),
                "Cauchy of scale 1/sqrt n": subject(HeavyTails.CAUCHY, RELU)(root=1).breaking(
                    H.scaled, H.finite, fails=(law, median, tail, typical, without_eighth),
                ),
                # Its units are of order 1/sqrt n: no scale but zero is left.
                "Gaussian of deviation 1/n": subject(HeavyTails.NORMAL, RELU).breaking(
                    H.cauchy, H.root, fails=(law, median, tail, typical, without_eighth),
                ),
                "Student's, five degrees of freedom": subject(HeavyTails.STUDENT, RELU)(root=1).breaking(
                    H.cauchy, H.scaled, fails=(law, tail, growing)
                ),
                "Gaussian": subject(HeavyTails.NORMAL, RELU)(root=1).breaking(
                    H.cauchy, H.scaled, fails=(law, median, tail, growing),
                ),
            },
        )
    ),
    issues=("No mean of |h| or of its square is claimed: there is none, and no number of draws would show it.",),
)
