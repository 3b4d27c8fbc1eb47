"""Means of functions of a normal variable are computed within their declared error, which falls geometrically.

**Theorem.** Let x be normal with mean zero and variance q, and let E f(x) be computed by the
trapezoidal rule with m nodes per standard deviation, up to 9 standard deviations. Let f be analytic
with |f| <= M in the strip |Im x| < y, and |f| <= 1 on the line. Put b = min(y/sqrt(q), 2 pi m).
Then the computed mean is off by at most 2 M e^(b^2/2)/(e^(2 pi m b) - 1) + 2
e^(-81/2)/(9 sqrt(2 pi)) + (18 m + 90) 2^-53, the declared error: shown for cos(x), e^(-x^2),
erf(x)^2 and 1/(1 + x^2). For f(x) = 1/(1 + x^2) the error has the exact exponential order
e^(-2 pi m/sqrt(q)) as m grows, as long as it exceeds the cut at 9 and the rounding.

**Idea.** On the whole line the rule of step h = 1/m errs by the integrals of f along two shifted
lines, divided by e^(2 pi b/h) - 1. The lines may move up to the border of the strip where f is
analytic. The poles of 1/(1 + x^2) at +-i lie 1/sqrt(q) standard deviations from the line, which
gives its order. A kink on the line leaves only the order h^2.
"""

from enum import IntEnum

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import (
    Derivative,
    I,
    Integer,
    Integral,
    Rational,
    Subs,
    Symbol,
    asin,
    cos,
    erf,
    exp,
    log,
    oo,
    pi,
    sqrt,
)

from theorax.language import *
from theorax.numerics.annotations import Scalar
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp import _gaussian_means as gaussian_means

m = Size("m", "nodes per standard deviation")
q = Parameter("q", "variance", positive=True)
seen = numbers(error="distance of the computed mean from the exact one", declared="the error that is declared")
missed = Measured("missed", "that distance for 1/(1 + x^2)", positive=True)

H = hypotheses(
    analytic="the function is analytic in the strip",
    bounded="and at most as large there as said",
    poles="the function's nearest singularities are poles at +-i: it is analytic on the line and up to them",
)
honest = Inequality(
    seen.error,
    at_most=seen.declared,
    under=(H.analytic, H.bounded),
    wrong={"a hundredth of it": seen.declared / 100},
)
geometric = Rate(
    missed, exp(-2 * pi * m / sqrt(q)), as_=m, under=H.poles, spread=Rational(1, 1000),
    approach=Corrections(
        size=0.2, slowest=2, fastest=8, rest=0, log=0.2, reference=1,
        reason="beside the first pole's e^(-2 pi b m) its powers; twice e^(-pi) of it at most",
    ),
    rules_out=(-12, 0),
    margin=Absolute(1, 2, "half the width of the strip is at least pi/2 away, an algebraic order all of it"),
    wrong={"the half strip": exp(-pi * m / sqrt(q))},
)


class Function(IntEnum):
    """The functions whose means are known."""

    COSINE, BELL, ERF, KINK, POLES = range(5)


class ExactMean(eqx.Module):
    """A function of a normal variable whose mean is known."""

    which: Scalar
    variance: Scalar
    shortened: Scalar

    def __call__(self, x):
        """f."""
        return jax.lax.select_n(
            self.which, jnp.cos(x), jnp.exp(-(x**2)), jax.scipy.special.erf(x) ** 2, jnp.abs(x), 1 / (1 + x**2)
        )

    @property
    def exact(self):
        """E f(x)."""
        q = self.variance
        inner = 1 / jnp.sqrt(2 * q)
        poles = jnp.sqrt(jnp.pi) * inner * jnp.exp(inner**2) * jax.scipy.special.erfc(inner)
        arcsine = 2 / jnp.pi * jnp.arcsin(2 * q / (1 + 2 * q))
        choices = (jnp.exp(-q / 2), 1 / jnp.sqrt(1 + 2 * q), arcsine, jnp.sqrt(2 * q / jnp.pi), poles)
        return jax.lax.select_n(self.which, *choices)

    @property
    def strip(self):
        """Half the width of a strip, and a bound in it; 1 + 2 y e^(y^2)/sqrt pi bounds erf, 1/(1 - y^2) the last."""
        y = jnp.array([8.0, 1.0, 1.0, 1.0, 0.75])[self.which]
        steep = (1 + 2 / jnp.sqrt(jnp.pi) * y * jnp.exp(y**2)) ** 2
        # |x| is analytic on no strip; it gets the bound that it has near zero.
        bounds = (jnp.cosh(y), jnp.exp(y**2), steep, 1 + y, 1 / (1 - y**2))
        return y, jnp.where(self.shortened, 1.0, jax.lax.select_n(self.which, *bounds))


def known(key, which, shortened):
    variance = jax.random.uniform(named(key, "variance"), minval=0.1, maxval=3.0)
    return ExactMean(which, variance, shortened)


def fixed(key, q, which):
    return ExactMean(which, q, jnp.zeros(()))


def compare(f, m):
    strip, bound = f.strip
    declared = gaussian_means.mean_error(strip, bound, f.variance, m)
    return dict(error=distance(f, m), declared=declared)


def distance(f, m):
    return jnp.abs(gaussian_means.mean(f, f.variance, m) - f.exact)


@lemma
def closed_forms():
    """Every variance."""
    x, y = Symbol("x", real=True), Symbol("y", positive=True)
    density = exp(-(x**2) / (2 * q)) / sqrt(2 * pi * q)
    yield Step("cos", Integral(cos(x) * density, (x, -oo, oo)), exp(-q / 2))
    yield Step("e^(-x^2)", Integral(exp(-(x**2)) * density, (x, -oo, oo)), 1 / sqrt(1 + 2 * q))
    yield Step("|x|", 2 * Integral(x * density, (x, 0, oo)), sqrt(2 * q / pi))
    # 1/(1 + x^2) integrates e^(-s (1 + x^2)) over s > 0; E e^(-s x^2) = (1 + 2 q s)^(-1/2); y^2 = s + 1/(2q).
    jacobian = 2 * y / sqrt(1 + 2 * q * (y**2 - 1 / (2 * q)))
    yield Step("what is left of (1 + 2 q s)^(-1/2) ds", jacobian, sqrt(2 / q))
    tail = sqrt(2 / q) * exp(1 / (2 * q)) * Integral(exp(-(y**2)), (y, 1 / sqrt(2 * q), oo))
    yield Step("1/(1 + x^2)", tail, sqrt(pi / (2 * q)) * exp(1 / (2 * q)) * (1 - erf(1 / sqrt(2 * q))))
    # Half the mean of (erf^2)'' is the slope of E erf^2 in q: E erf'^2 + E erf erf'', and erf'' = -2 x erf'. By parts
    # E x erf erf' = q (E erf'^2 + E erf erf''), so E erf erf'' = -2q/(1 + 2q) E erf'^2.
    slope = Integral(4 / pi * exp(-2 * x**2) * density, (x, -oo, oo))
    arcsine = 2 / pi * asin(2 * q / (1 + 2 * q))
    yield Step("erf^2, its slope in the variance", slope * (1 - 2 * q / (1 + 2 * q)), Derivative(arcsine, q))
    yield Step("which starts from", Subs(arcsine, q, 0), Integer(0))


@derives(geometric)
def border():
    """One function: how far its poles are from the line in units of the standard deviation."""
    z = Symbol("z")
    yield Cited("the error of the rule is that of the integrals along shifted lines", "Trefethen and Weideman 2014")
    f = 1 / (1 + q * z**2)
    yield Step("its pole in the upper half-plane", Subs(1 / f, z, I / sqrt(q)), Integer(0))
    yield Step("the exponent of the first term", Derivative(log(geometric.like), m), -2 * pi / sqrt(q))


cosine = Subject(known, which=Function.COSINE, shortened=0)
poles = Subject(fixed, which=Function.POLES)
theorem = Theorem(
    place="means under the normal law",
    label="derived",
    hypotheses=H,
    claims=dict(honest=honest, geometric=geometric),
    proofs=(closed_forms, border),
    experiments=dict(
        variances=Experiment(
            compare, seen, {m: (1, 2, 4, 12)}, draws=Efforts(200, 400, 2000), span=12, padded=True,
            subjects={
                "cosine": cosine,
                "e^(-x^2)": cosine(which=Function.BELL),
                "erf^2": cosine(which=Function.ERF),
                "1/(1 + x^2)": cosine(which=Function.POLES),
                "a kink": cosine(which=Function.KINK).breaking(H.analytic, fails=honest),
                "cosine taken to be at most one off the line": cosine(shortened=1).breaking(H.bounded, fails=honest),
            },
        ),
        spacings=Experiment(
            lambda f, m: dict(missed=distance(f, m)), missed, {m: (1, 2, 3, 4)}, at=({q: Integer(1)}, {q: Integer(2)}),
            span=4, seeds="none", padded=True,
            subjects={
                "1/(1 + x^2)": poles,
                "a kink": poles(which=Function.KINK).breaking(H.poles, fails=geometric),
            },
        ),
    ),
)
