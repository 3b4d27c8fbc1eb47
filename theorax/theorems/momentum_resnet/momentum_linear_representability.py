r"""Linear momentum networks reach every real eigenvalue down to a threshold, which lies between -1 and 0.

**Theorem.** Let eps x'' + x' = theta x and x'(0) = 0, with a real matrix theta that does not change
in time, so x(1) = Psi(theta) x(0). Let a = 1/(2 eps), let omega in (pi, 4.4934) solve
a = omega^2 sin(omega)/(omega cos(omega) - sin(omega)), and let lambda =
e^(-a) (cos(omega) + a sin(omega)/omega). Then Psi(theta) >= lambda for every real number theta. Let
D be a real matrix, diagonalizable over the complex numbers, whose real eigenvalues below lambda
have even multiplicity. Then D = Psi(theta) for some real theta. As eps -> oo,
eps (1 + lambda) -> 1/2.

**Idea.** On the real axis Psi = e^(-a) (cosh(w) + a sinh(w)/w), w^2 = theta/eps + a^2, is least at
w = i omega, where omega is the first minimum of cos(x) + a sin(x)/x for x > 0. From there on it
takes every value above lambda. Every other number has a complex preimage, and two equal real
eigenvalues share a conjugate pair of them. As a -> 0, omega tends to pi.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
from sympy import Derivative, Rational, Subs, cos, exp, pi, sin

from theorax.language import *
from theorax.numerics.annotations import Scalar
from theorax.numerics.keys import named
from theorax.theorems.momentum_resnet import _solution_operator as solution
from theorax.theorems.momentum_resnet._spectral_targets import (
    Halves,
    SpectralTarget,
    compare,
    mass_of,
    rotation,
    threshold_of,
)

m = Size("m", "mass epsilon")
d = Size("d", "dimension")
omega = Parameter("omega", "angle between pi and 4.4934 that stands for the mass eps", positive=True)
value = numbers(psi="x(1)/x(0) of one neuron at rest, with a random real weight")
built = numbers(missed="|x(1) - D x(0)|/|D|, the largest over unit vectors, for theta built from the spectrum of D")
mass = numbers(above="eps (1 + lambda), lambda the threshold")

H = hypotheses(
    tied="all layers share their weights",
    rest="the velocity at time zero is zero",
    even="real eigenvalues of D below lambda have even multiplicity",
    diagonalizable="D is diagonalizable over the complex numbers",
)
LEAST = solution.threshold(omega)
least = Inequality(
    value.psi, at_least=LEAST, under=(H.tied, H.rest),
    wrong={"the threshold -e^(-a)": -exp(-solution.bend(omega)), "threshold 0, as of the first order": 0},
)
reached = Expectation(
    built.missed, 0, under=(H.tied, H.rest, H.even, H.diagonalizable), spread=Rational(1, 10**14),
    margin=Absolute(1, 10**6, "roots found in floats miss by 1e-10; a map that is not reached, by a hundredth or more"),
)
heavy = Limit(
    mass.above, Rational(1, 2), as_=m, under=H.rest,
    approach=Expansion(
        powers=(1,), rest=Rational(1, 20), order=2, reference=8,
        reason="lambda is analytic in 1/eps: at eps = 8 off by 0.034, to first order by less than 0.002",
    ),
    margin=Relative(1, 50, "factors of two are far away"),
    wrong={"1 + lambda = 1/eps": 1, "1 + lambda = 1/(4 eps)": Rational(1, 4)},
)


class Threshold(eqx.Module):
    """A mass, and the velocity at the start in units of x(0)."""

    mass: jax.Array
    push: Scalar


def neuron(key, omega, push, changing):
    """Weights whose w is imaginary, at most 8 in size; real ones give more than Psi at w = 0."""
    eps = mass_of(omega)
    angle = jax.random.uniform(named(key, "angle"), maxval=8.0)
    theta = (-eps * angle**2 - 1 / (4 * eps)) * jnp.ones((1, 1))
    return Halves(theta, theta * (1 - 2 * changing), eps, push)


def spectral(key, omega, push, changing, split, defective):
    """Dimension six: a real eigenvalue above lambda, zero, a complex pair, and a double one below lambda.

    ``split`` parts the double eigenvalue; ``defective`` makes a Jordan block at lambda of the first two.
    """
    draw = lambda name, low, high: jax.random.uniform(named(key, name), minval=low, maxval=high)
    eps, least = mass_of(omega), threshold_of(omega)
    high = jnp.where(defective > 0, least, least + draw("real", 0.05, 2.0))
    zero = jnp.where(defective > 0, least, 0.0)
    turning = draw("modulus", 0.3, 2.0) * jnp.exp(1j * draw("angle", 0.2, 3.0))
    low = least - draw("below", 0.1, 2.0)
    corner = jnp.array([[high, defective], [0.0, zero]])
    pair = jnp.diag(jnp.stack([low, low - split]))
    ends = [[solution.real_preimage(high, omega), defective], [0.0, solution.real_preimage(zero, omega)]]
    parts = [jnp.array(ends), rotation(solution.preimage(turning, eps)), rotation(solution.preimage(low, eps))]
    P = jnp.eye(6) + 0.3 * jax.random.normal(named(key, "basis"), (6, 6)) / 6**0.5
    change = lambda blocks: P @ jax.scipy.linalg.block_diag(*blocks) @ jnp.linalg.inv(P)
    theta = change(parts)
    return SpectralTarget(change([corner, rotation(turning), pair]), Halves(theta, theta * (1 - changing), eps, push))


def at_mass(key, m, push):
    return Threshold(m * jnp.ones(()), push)


def one_neuron(equation):
    return dict(psi=equation.map()[0, 0])


def above(model):
    """The angle of a mass by bisection: ``bend`` increases from zero at pi."""
    a = 1 / (2 * model.mass)
    share = a + model.push

    def halve(_, ends):
        middle = (ends[0] + ends[1]) / 2
        larger = solution.bend(middle, jnp.sin, jnp.cos) > share
        return jnp.where(larger, ends[0], middle), jnp.where(larger, middle, ends[1])

    angle = jax.lax.fori_loop(0, 60, halve, (jnp.pi * jnp.ones(()), 4.49 * jnp.ones(())))[0]
    return dict(above=model.mass * (1 + jnp.exp(-a) * (jnp.cos(angle) + share * jnp.sin(angle) / angle)))


@lemma
def stationary():
    """Any angle: where the derivative vanishes."""
    x, a = sympy.symbols("x a", positive=True)
    curve = cos(x) + a * sin(x) / x
    slope = Subs(Derivative(curve, x).subs(a, solution.bend(omega)), x, omega)
    yield Step("the derivative vanishes at omega", slope, 0)


@derives(heavy)
def large_mass():
    """Any mass: omega tends to pi as a = 1/(2 eps) tends to zero."""
    ratio = (1 + LEAST) / (2 * solution.bend(omega))
    yield Step("eps (1 + lambda) as omega tends to pi", sympy.Limit(ratio, omega, pi, "+"), heavy.to)


weight = Subject(neuron, push=0.0, changing=0.0)
spectrum = Subject(spectral, push=0.0, changing=0.0, split=0.0, defective=0.0)
angles = tuple({omega: angle} for angle in (Rational(33, 10), Rational(18, 5)))
theorem = Theorem(
    place="the linear maps that second-order models represent; reconstructed, derived here",
    label="reconstructed",
    uses=("linear_solution_operator",),
    hypotheses=H,
    claims=dict(least=least, reached=reached, heavy=heavy),
    proofs=(stationary, large_mass),
    experiments=dict(
        weights=Experiment(one_neuron, value, {d: 1}, at=angles, draws=Efforts(600, 1000, 4000), subjects={
            "shared": weight,
            "weights of the other sign later": weight(changing=1.0).breaking(H.tied, fails=least),
            "with a velocity": weight(push=-3.0).breaking(H.rest, fails=least),
        }),
        spectra=Experiment(compare, built, {d: 6}, at=angles, draws=Efforts(100, 200, 800), subjects={
            "any spectrum": spectrum,
            "weights halved later": spectrum(changing=0.5).breaking(H.tied, fails=reached),
            "with a velocity": spectrum(push=-3.0).breaking(H.rest, fails=reached),
            "two simple eigenvalues below lambda": spectrum(split=0.5).breaking(H.even, fails=reached),
            "a Jordan block at lambda": spectrum(defective=1.0).breaking(H.diagonalizable, fails=reached),
        }),
        masses=Experiment(
            above, mass, {m: Efforts((8, 32, 128), (8, 32, 128), (8, 32, 128, 512))}, draws=1, seeds="none",
            subjects={
                "at rest": Subject(at_mass, push=0.0),
                "with a velocity": Subject(at_mass, push=1.0).breaking(H.rest, fails=heavy),
            },
        ),
    ),
    issues=(
        "Jordan blocks away from lambda are representable too; only the one at lambda is shown not to be.",
        "A free velocity at the start makes every map representable, with f = 0: it is zero in every claim.",
    ),
)
