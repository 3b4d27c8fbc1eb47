"""Special functions in balls against mpmath, which shares no code with them, and JAX's own against JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from jax.scipy import special
from sympy import I, Rational, symbols

from theorax.exact.complex_balls import complex_ball_of
from theorax.numerics.arithmetics import Ball, evaluate

a, b, c, z = symbols("a b c z")
PLACES = [
    {a: Rational(7, 11), b: Rational(9, 7), c: Rational(15, 13), z: Rational(3, 11)},
    {a: Rational(17, 11), b: Rational(9, 13), c: Rational(5, 13), z: Rational(-13, 11)},
]
FUNCTIONS = [
    sympy.hyper([a, b], [c], z), sympy.hyper([a], [b], z), sympy.hyper([], [b], z),
    sympy.hyper([a, b, Rational(1, 3)], [c, Rational(5, 4)], z),
    sympy.besselj(a, z), sympy.bessely(a, z), sympy.besseli(a, z), sympy.besselk(a, z), sympy.hankel1(a, z),
    sympy.uppergamma(a, z), sympy.lowergamma(a, z), sympy.betainc(a, b, 0, Rational(1, 3)),
    sympy.betainc_regularized(a, b, 0, Rational(1, 3)), sympy.beta(a, b),
    sympy.elliptic_k(z), sympy.elliptic_e(z), sympy.elliptic_f(a, z), sympy.elliptic_e(a, z), sympy.elliptic_pi(a, z),
    sympy.polylog(a, z), sympy.zeta(b, a), sympy.dirichlet_eta(a), sympy.lerchphi(z, a, b),
    sympy.erfc(z), sympy.erfi(z), sympy.Ei(z), sympy.expint(a, z), sympy.Si(z), sympy.Ci(z), sympy.fresnels(z),
    sympy.LambertW(z), sympy.LambertW(z, -1), sympy.polygamma(2, z), sympy.loggamma(z), sympy.harmonic(z), sympy.airyai(z),
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
@pytest.mark.parametrize("aside", [0, Rational(2, 7)])
def test_a_ball_holds_the_value(function, aside):
    seen = 0
    for place in PLACES:
        whole = function.subs(z, z + I * aside) if aside else function
        ball = complex_ball_of(whole, place, 200)
        if not ball.is_finite():  # beyond a branch point of the cut, or of the radius of a series
            continue
        seen += 1
        # Thirty digits of mpmath, and a float that is read: 2^-50 of the number.
        value = complex(whole.subs(place).evalf(30))
        assert abs(complex(ball.mid()) - value) <= 2.0**-50 * (1 + abs(value))
    assert seen


def test_an_integral_that_ends_on_a_cut_has_no_side():
    assert not complex_ball_of(sympy.hyper([a, b], [c], z), {**PLACES[0], z: Rational(3, 2)}, 100).is_finite()


PROGRAMS = {
    "igamma": lambda x: special.gammainc(2.5, x),
    "igammac": lambda x: special.gammaincc(2.5, x),
    "betainc": lambda x: special.betainc(1.5, 2.5, x / 4),
    "zeta": lambda x: special.zeta(2.5, x),
    "polygamma": lambda x: special.polygamma(2, x),
    "i0e": special.i0e,
    "i1e": lambda x: special.i1e(-x),
    "slope of i0": jax.grad(lambda x: special.i0(x).sum()),
    "slope of igamma": jax.grad(lambda x: special.gammainc(2.5, x).sum()),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_jax_in_balls(name):
    jax.config.update("jax_enable_x64", True)
    x = np.array([0.3, 1.7, 3.1])
    balls = evaluate(PROGRAMS[name], (x,), Ball())
    for ball, value in zip(np.asarray(balls).ravel(), np.asarray(PROGRAMS[name](jnp.asarray(x))), strict=True):
        assert ball.is_finite() and float(ball.rad()) < 2.0**-100
        # JAX's own functions state no error; theirs are a few hundred units in the last place.
        assert abs(float(ball.mid()) - value) <= 2.0**-42 * abs(value)
