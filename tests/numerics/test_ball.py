"""Balls: exact literals, comparisons that decide or raise, enclosures of SymPy expressions."""

from fractions import Fraction

import flint
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from flint import arb, fmpq

from theorax.errors import UsageError
from theorax.numerics.arithmetics import (
    Ball,
    UndecidedComparison,
    UnsupportedPrimitive,
    ball,
    enclosing,
    evaluate,
)
from theorax.numerics.arithmetics.domain import COMPARISONS
from theorax.numerics.arithmetics.expressions import UnsupportedExpression, ball_of, sign_of

jax.config.update("jax_enable_x64", True)

x, y = sympy.symbols("x y", real=True)
k = sympy.Symbol("k", integer=True)


def boxes(*sides):
    entries = np.empty(len(sides), dtype=object)
    entries[:] = [enclosing(*side) for side in sides]
    return entries


@pytest.mark.parametrize("number", [0.1, 1e-300, 2.0**900, 2**200 + 1, -3, Fraction(5, 8), np.float32(0.1).item()])
def test_dyadic_numbers_are_exact_at_any_precision(number):
    with flint.ctx.workprec(20):
        assert ball(number).is_exact()
        assert ball(number).fmpq() == fmpq(*map(int, Fraction(number).as_integer_ratio()))


def test_a_third_is_enclosed_and_text_is_no_number():
    assert ball(Fraction(1, 3)).contains(fmpq(1, 3))
    with pytest.raises(UsageError, match="no real number"):
        ball("0.1")


def test_infinities_are_infinities_and_not_a_ball_around_zero():
    assert ball(float("inf")) > 10**300
    assert ball(-float("inf")) < -(10**300)


@pytest.mark.parametrize("name", COMPARISONS)
def test_overlapping_balls_decide_no_comparison(name):
    one, other = enclosing(0, 1), enclosing(Fraction(1, 2), 2)
    assert Ball().decide(name, one, other) is None
    assert Ball().decide(name, arb(1), arb(2)) is (name in ("lt", "le", "ne"))
    assert Ball().decide(name, arb.nan(), arb(2)) is None


def test_one_and_the_same_ball_equals_itself_and_an_equal_one_does_not():
    one, twin = enclosing(0, 1), enclosing(0, 1)
    assert Ball().decide("eq", one, one) is True
    assert Ball().decide("lt", one, one) is False
    assert Ball().decide("eq", one, twin) is None


STRADDLING = {
    "where": lambda v: jnp.where(v > 0, v, 0.0),
    "sign": jnp.sign,
    "heaviside": lambda v: jnp.heaviside(v, 0.5),
    "python select": lambda v: jax.lax.select(v < 0, -v, v),
    "cond": lambda v: jax.lax.cond(v[0] > 0, lambda u: u, lambda u: -u, v),
    "floor": jnp.floor,
    "mask": lambda v: v * (v >= 0),
    "gradient of relu": jax.grad(lambda u: jax.nn.relu(u).sum()),
    "while": lambda v: jax.lax.while_loop(lambda c: c[0] < 0.5, lambda c: c + 1.0, v),
}


@pytest.mark.parametrize("name", STRADDLING)
def test_a_straddling_branch_is_never_decided_in_silence(name):
    with pytest.raises(UndecidedComparison):
        evaluate(STRADDLING[name], (boxes((-1, 1)),), Ball())


@pytest.mark.parametrize("name", STRADDLING)
def test_the_same_branch_is_decided_on_one_side(name):
    value = evaluate(STRADDLING[name], (boxes((Fraction(5, 8), Fraction(6, 8))),), Ball())
    centre = np.asarray(STRADDLING[name](jnp.array([0.6875])))
    assert value[0].contains(arb(float(centre[0])))


def test_max_min_and_abs_take_the_hull_where_they_straddle():
    sides = boxes((-1, 1))
    assert evaluate(jax.nn.relu, (sides,), Ball())[0].contains(arb(0.5))
    assert evaluate(jnp.abs, (sides,), Ball())[0].contains(arb(1))
    assert evaluate(lambda v: jnp.minimum(v, 0.25), (sides,), Ball())[0].contains(arb(-1))


def test_the_gradient_of_a_decided_maximum_recognises_the_entry():
    gradient = evaluate(jax.grad(jnp.max), (boxes((0, 1), (2, 3), (-1, 1)),), Ball())
    assert [entry.is_zero() for entry in gradient] == [True, False, True]
    assert gradient[1] == 1


def test_an_unknown_primitive_stops_with_its_name():
    with pytest.raises(UnsupportedPrimitive) as caught:
        evaluate(jax.scipy.special.erfinv, (np.array([0.5, 0.25]),), Ball())
    assert caught.value.name == "erf_inv"


EXPRESSIONS = [
    (sympy.exp(x) * sympy.log(y) - sympy.sqrt(y) + sympy.pi, {x: 1, y: 2}),
    (
        sympy.sin(x) + sympy.cos(y) * sympy.tan(x) + sympy.atan(y) + sympy.asin(x) - sympy.acos(x),
        {x: Fraction(1, 2), y: 2},
    ),
    (sympy.gamma(y) + sympy.digamma(y) + sympy.polygamma(2, y) + sympy.EulerGamma, {y: Fraction(7, 3)}),
    (sympy.binomial(y, 3) + sympy.factorial(4) + sympy.erf(y) + sympy.tanh(y), {y: Fraction(11, 2)}),
    (sympy.Sum(1 / k**2, (k, 1, 20)) + sympy.Product(1 + 1 / k, (k, 1, 5)), {}),
    (sympy.Max(x, y) - sympy.Min(x, y) + sympy.Abs(x), {x: -2, y: 3}),
    (sympy.Piecewise((x**2, x < 0), (x, True)) + y**x + x ** sympy.Rational(2, 3), {x: Fraction(1, 3), y: 2}),
    (sympy.LambertW(x) + sympy.E**y, {x: 1, y: 1}),
]


@pytest.mark.parametrize(("expression", "point"), EXPRESSIONS)
def test_an_expression_lies_in_its_ball(expression, point):
    exact = {symbol: sympy.sympify(value) for symbol, value in point.items()}
    value = expression.doit().subs(exact).evalf(60)
    enclosure = ball_of(expression, point, 128)
    digits = sympy.Rational(value)
    # SymPy's 60 digits are right to one unit of the 59th; the ball of 128 bits is wider than that.
    with flint.ctx.workprec(256):
        assert (enclosure - ball(digits)).abs_lower() < arb(10) ** -57
    assert enclosure.rad() < arb(2) ** -110


def test_a_float_in_an_expression_is_the_dyadic_it_stores():
    assert ball_of(sympy.Float(0.1), {}, 64).fmpq() == fmpq(*(0.1).as_integer_ratio())
    assert ball_of(sympy.Float(-3 * 2.0**70), {}, 64) == -3 * 2**70


def test_a_node_without_an_enclosure_is_named():
    with pytest.raises(UnsupportedExpression) as caught:
        ball_of(sympy.besselj(0, x), {x: 1})
    assert caught.value.name == "besselj"
    with pytest.raises(UsageError, match="`y` has no value"):
        ball_of(x + y, {x: 1})


def test_a_sign_is_decided_at_the_precision_it_needs():
    assert sign_of(sympy.pi - sympy.Rational(355, 113), {}).sign == -1
    one = sympy.sin(x) ** 2 + sympy.cos(x) ** 2
    narrow = sign_of(sympy.sqrt(2) - ball_midpoint(200), {})
    assert narrow.sign is not None
    assert narrow.precision == 256
    assert sign_of(one - 1, {x: 2}).sign is None
    assert sign_of(sympy.Piecewise((1, one > 1), (-1, True)), {x: 2}).sign is None


def ball_midpoint(bits):
    with flint.ctx.workprec(bits):
        middle = arb(2).sqrt().mid().fmpq()
    return sympy.Rational(int(middle.p), int(middle.q))


@pytest.mark.parametrize("to", [jnp.float32, jnp.bfloat16, jnp.float16], ids=lambda to: to.__name__)
def test_no_cast_leaves_the_ball_of_a_cast(to):
    draws = np.random.default_rng(3)
    numbers = 10.0 ** draws.uniform(-42, 38, 300) * draws.choice((-1, 1), 300)
    cast = np.asarray(jax.jit(lambda x: x.astype(to).astype(jnp.float64))(jnp.asarray(numbers)))
    rounded = evaluate(lambda x: x.astype(to), (numbers,), Ball(128, rounds=True))
    for enclosure, value in zip(rounded, cast.tolist(), strict=True):
        assert enclosure.contains(value) if np.isfinite(value) else not enclosure.is_finite()
    exact = evaluate(lambda x: x.astype(to), (numbers,), Ball(128))
    assert all(enclosure == number for enclosure, number in zip(exact, numbers.tolist(), strict=True))
