"""Balls against mpmath at 400 digits: another library, the same programs; every ball holds the reference value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import flint
import jax
import mpmath
import numpy as np
import pytest
from flint import arb, fmpq
from test_arithmetics import PROGRAMS

from theorax.numerics.arithmetics import Ball, evaluate
from theorax.numerics.arithmetics.domain import ObjectDomain

jax.config.update("jax_enable_x64", True)

DIGITS = 400
mp = mpmath.mp.clone()
mp.dps = DIGITS

FUNCTIONS = {
    "neg": lambda x: -x,
    "abs": abs,
    "sign": mp.sign,
    "sqrt": mp.sqrt,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "exp": mp.exp,
    "exp2": lambda x: mp.mpf(2) ** x,
    "expm1": mp.expm1,
    "log": mp.log,
    "log1p": mp.log1p,
    "tanh": mp.tanh,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "asin": mp.asin,
    "acos": mp.acos,
    "atan": mp.atan,
    "asinh": mp.asinh,
    "acosh": mp.acosh,
    "atanh": mp.atanh,
    "erf": mp.erf,
    "erfc": mp.erfc,
    "logistic": lambda x: 1 / (1 + mp.exp(-x)),
    "floor": mp.floor,
    "ceil": mp.ceil,
    "lgamma": mp.loggamma,
    "digamma": mp.digamma,
}
OPERATIONS = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": mp.power,
    "max": max,
    "min": min,
    "atan2": mp.atan2,
}
ORDER = {
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
}


@dataclass(frozen=True)
class Digits(ObjectDomain):
    """Numbers of 400 digits, compared by their values; for tests alone."""

    name: ClassVar[str] = "400 digits"
    functions: ClassVar[Mapping] = FUNCTIONS
    operations: ClassVar[Mapping] = OPERATIONS

    def scalar(self, number):
        return mp.mpf(number)

    def decide(self, name, x, y):
        return bool(ORDER[name](x, y))

    def finite(self, x):
        return bool(mp.isfinite(x))

    def integer_power(self, x, exponent):
        return x**exponent

    def total(self, terms):
        return mp.fsum(terms)


def holds(ball, reference, slack):
    """Whether the ball holds the number, up to the rounding of the reference itself."""
    if not mp.isfinite(reference):
        return ball.is_nan() or not ball.is_finite()
    scaled = int(mp.nint(reference * mp.mpf(2) ** 1300))
    exact = arb(fmpq(scaled, 2**1300))
    return bool(abs(ball - exact).abs_lower() <= slack)


POINTS = {
    **dict.fromkeys(("acosh",), (1.0, 9.0)),
    **dict.fromkeys(("asin", "acos", "atanh"), (-0.99, 0.99)),
    **dict.fromkeys(("sqrt", "rsqrt", "log", "lgamma", "digamma"), (1e-3, 30.0)),
    "log1p": (-0.99, 5.0),
}


def test_the_tables_name_the_same_functions():
    assert set(FUNCTIONS) == set(Ball().functions)
    assert set(OPERATIONS) == set(Ball().operations)


@pytest.mark.parametrize("precision", [53, 128, 256])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_a_point_lies_in_its_ball(name, precision, rng):
    low, high = POINTS.get(name, (-8.0, 8.0))
    slack = arb(10) ** -380
    for number in rng.uniform(low, high, size=12).tolist():
        with flint.ctx.workprec(precision):
            ball = Ball(precision).functions[name](arb(number))
        with flint.ctx.workprec(1400):
            assert holds(ball, FUNCTIONS[name](mp.mpf(number)), slack)


# A step raises where an interval meets it, as test_ball says.
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("sign", "floor", "ceil")])
def test_the_image_of_an_interval_lies_in_its_ball(name, rng):
    low, high = POINTS.get(name, (-8.0, 8.0))
    for centre, reach in zip(rng.uniform(low, high, size=6), rng.uniform(0, 1e-2, size=6), strict=True):
        ends = [max(low, centre - reach), min(high, centre + reach)]
        with flint.ctx.workprec(128):
            ball = Ball(128).functions[name](arb(ends[0]).union(arb(ends[1])))
        for share in (0.0, 0.3, 1.0):
            inside = mp.mpf(ends[0]) + share * (mp.mpf(ends[1]) - mp.mpf(ends[0]))
            with flint.ctx.workprec(1400):
                assert holds(ball, FUNCTIONS[name](inside), arb(10) ** -380)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if "hessian" not in name])
def test_a_program_lies_in_its_balls(name):
    program, makers = PROGRAMS[name]
    arguments = [make(np.random.default_rng([5, *name.encode()])) for make in makers]
    balls = jax.tree_util.tree_leaves(evaluate(program, arguments, Ball(128)))
    reference = jax.tree_util.tree_leaves(evaluate(program, arguments, Digits()))
    for one, other in zip(balls, reference, strict=True):
        if one.dtype != object:
            np.testing.assert_array_equal(one, other)
            continue
        for ball, number in zip(one.reshape(-1), other.reshape(-1), strict=True):
            with flint.ctx.workprec(1400):
                assert holds(ball, mp.mpf(number), arb(10) ** -350)  # 400 digits, less what a program cancels


def test_a_planted_error_in_the_last_bit_leaves_the_ball():
    # The power of the tests above: a function off by one part in 2^130 is seen at 128 bits times its radius.
    with flint.ctx.workprec(128):
        ball = Ball(128).functions["exp"](arb(0.7))
    with flint.ctx.workprec(1400):
        assert not holds(ball, mp.exp(mp.mpf(0.7)) * (1 + mp.mpf(2) ** -120), arb(10) ** -380)
