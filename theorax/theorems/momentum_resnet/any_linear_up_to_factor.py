r"""A momentum network reaches every diagonalizable linear map up to a factor, with shared weights and from rest.

**Theorem.** Let eps x'' + x' = theta x and x'(0) = 0, with a real matrix theta that does not change
in time. Let a = 1/(2 eps), let omega in (pi, 4.4934) solve a = omega^2 sin(omega)/(omega cos(omega)
- sin(omega)), and let lambda = e^(-a) (cos(omega) + a sin(omega)/omega). Let D be real and
diagonalizable over the complex numbers, alpha > 0, and alpha mu >= lambda for every real eigenvalue
mu of D. Then some theta gives x(1) = alpha D x(0) for all x(0). For one neuron at rest with eps =
1, theta = -40 for t < 1/2 and theta = c for t > 1/2, where 4 <= c <= 20, x(1)/x(0) <= -1.

**Idea.** The map is Psi(theta), an entire function with the least real value lambda on the real
axis, and it takes every complex value. So real eigenvalues of alpha D have real preimages, and
conjugate pairs have conjugate ones. As -1 < lambda < 0, every D has such an alpha, but -I in odd
dimension needs alpha <= -lambda < 1. Weights that change in time pass -1.
"""

import jax
import jax.numpy as jnp
import sympy
from sympy import Derivative, Rational, Subs

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.momentum_resnet import _solution_operator as solution
from theorax.theorems.momentum_resnet._solution_operator import eps, from_push, from_rest, theta
from theorax.theorems.momentum_resnet._spectral_targets import (
    Halves,
    SpectralTarget,
    compare,
    mass_of,
    rotation,
    threshold_of,
)

d = Size("d", "dimension")
c = Parameter("c", "weight of the second half of time", positive=True)
omega = Parameter("omega", "angle between pi and 4.4934 that stands for the mass eps", positive=True)
share = Parameter(
    "share", "the factor alpha, in units of |lambda| over |the smallest real eigenvalue of D|", positive=True
)
built = numbers(
    missed="|x(1) - alpha D x(0)|/|alpha D|, the largest over unit vectors, theta built from the spectrum of D"
)
neuron = numbers(value="x(1)/x(0) of one neuron at rest, at eps = 1")

H = hypotheses(
    tied="all layers share their weights",
    rest="the velocity at time zero is zero",
    factor="alpha times the smallest real eigenvalue of D is at least lambda",
    diagonalizable="D is diagonalizable over the complex numbers",
    changing="theta is -40 on the first half of time and between 4 and 20 on the second",
)
reached = Expectation(
    built.missed, 0, under=(H.tied, H.rest, H.factor, H.diagonalizable), spread=Rational(1, 10**14),
    margin=Absolute(1, 10**6, "roots found in floats miss by 1e-10; a map that is not reached, by a hundredth or more"),
)
HALF, ONE, LOW = Rational(1, 2), sympy.Integer(1), -40


def at_one(late):
    """The position at time one, from one at rest: the weight LOW on the first half, ``late`` on the second."""
    t, second = sympy.Symbol("t"), (HALF, late, ONE)
    early = {theta: LOW, eps: ONE, t: HALF}
    position, speed = from_rest(t), Derivative(from_rest(t), t).doit()
    return position.subs(early) * from_rest(*second) + speed.subs(early) * from_push(*second)


passes = Inequality(
    at_one(c), at_most=-1, over={c: (4, 20)}, under=(),
    wrong={"a weight of two suffices": dict(over={c: (2, 20)}), "-6/5 is passed": -Rational(6, 5)},
)
measured = Inequality(
    neuron.value, at_most=-1, under=(H.rest, H.changing),
    margin=Absolute(1, 10**9, "rounding stays below it; the nearest value is off by a tenth"),
    wrong={"-6/5 is passed": -Rational(6, 5)},
)


def spectral(key, omega, share, changing, push, defective, stretched):
    """Dimension five: two negative eigenvalues, zero, and a complex pair; scaled so that the lowest is share x lambda.

    ``defective`` makes a Jordan block at lambda of the first two; the weights of the second half are less by ``changing``.
    """
    draw = lambda name, low, high: jax.random.uniform(named(key, name), minval=low, maxval=high)
    eps, least = mass_of(omega), threshold_of(omega)
    low = least * jnp.where(defective > 0, 1.0, share * stretched)
    second = low * jnp.where(defective > 0, 1.0, draw("second", 0.1, 0.9))
    turning = draw("modulus", 0.3, 2.0) * jnp.exp(1j * draw("angle", 0.2, 3.0))
    corner = jnp.array([[low, defective], [0.0, second]])
    preimages = [solution.real_preimage(mu, omega) for mu in (low, second, 0.0)]
    ends = jnp.array([[preimages[0], defective], [0.0, preimages[1]]])
    P = jnp.eye(5) + 0.3 * jax.random.normal(named(key, "basis"), (5, 5)) / 5**0.5
    change = lambda *blocks: P @ jax.scipy.linalg.block_diag(*blocks) @ jnp.linalg.inv(P)
    weights = change(ends, preimages[2].reshape(1, 1), rotation(solution.preimage(turning, eps)))
    target = change(corner, jnp.zeros((1, 1)), rotation(turning))
    return SpectralTarget(target, Halves(weights, weights * (1 - changing), eps, push))


def two_weights(key, changing, push):
    late = jax.random.uniform(named(key, "late"), minval=4.0, maxval=20.0)
    first = LOW * jnp.ones((1, 1))
    return Halves(first, jnp.where(changing > 0, late, LOW) * jnp.ones((1, 1)), 1.0, push)


def one_neuron(equation):
    return dict(value=equation.map()[0, 0])


@lemma
def threshold():
    """Any mass: lambda is at least -(1 + a) e^(-a), which lies above -1; so -I in odd dimension is not reached."""
    x, a = sympy.symbols("x a", positive=True)
    curve = sympy.cos(x) + a * sympy.sin(x) / x
    slope = Subs(Derivative(curve, x).subs(a, solution.bend(omega)), x, omega)
    yield Step("lambda is attained where the derivative vanishes", slope, 0)
    yield Step(
        "(1 + a) e^(-a) falls from its value at zero", Derivative((1 + a) * sympy.exp(-a), a), -a * sympy.exp(-a)
    )
    yield Step("which is one", Subs((1 + a) * sympy.exp(-a), a, 0), 1)
    low = solution.threshold(omega)
    yield Step("it tends to -1 as the mass grows without bound", sympy.Limit(low, omega, sympy.pi, "+"), -1)


spectrum = Subject(spectral, changing=0.0, push=0.0, defective=0.0, stretched=1.0)
switched = Subject(two_weights, changing=1.0, push=0.0)
factors = (Rational(1, 2), Rational(9, 10))
angles = tuple({omega: angle, share: factor} for angle in (Rational(33, 10), Rational(18, 5)) for factor in factors)
theorem = Theorem(
    place="what second-order models represent up to a factor; reconstructed, derived here",
    label="reconstructed",
    uses=("momentum_linear_representability",),
    hypotheses=H,
    claims=dict(reached=reached, passes=passes, measured=measured),
    proofs=(threshold,),
    experiments=dict(
        spectra=Experiment(compare, built, {d: 5}, at=angles, draws=Efforts(100, 200, 800), subjects={
            "any spectrum": spectrum,
            "weights halved later": spectrum(changing=0.5).breaking(H.tied, fails=reached),
            "with a velocity": spectrum(push=-3.0).breaking(H.rest, fails=reached),
            "three times the factor": spectrum(stretched=3.0).breaking(H.factor, fails=reached),
            "a Jordan block at lambda": spectrum(defective=1.0).breaking(H.diagonalizable, fails=reached),
        }),
        neurons=Experiment(one_neuron, neuron, {d: 1}, draws=Efforts(500, 500, 2000), subjects={
            "two weights": switched,
            "one weight": switched(changing=0.0).breaking(H.changing, fails=measured),
            "with a velocity": switched(push=-3.0).breaking(H.rest, fails=measured),
        }),
    ),
    issues=(
        "Matrices without a negative eigenvalue are reached with every factor.",
        "A free velocity at the start makes every map representable, with f = 0: it is zero in every claim.",
    ),
)
