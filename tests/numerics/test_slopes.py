"""Balls with slopes: enclosures of values and differences, recorded programs, courses of programs with branches."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flint import arb, ctx, fmpq

from theorax.exact.enclosures import Enclosure, ball_of_interval, fraction
from theorax.numerics.arithmetics import UnsupportedPrimitive
from theorax.numerics.arithmetics.ball import from_zero, power

jax.config.update("jax_enable_x64", True)

SMOOTH = {
    "polynomial": lambda v: v[0] ** 3 * v[1] - 2 * v[0] ** 2 + v[1] / (3 + v[0]),
    "exponentials": lambda v: jnp.exp(v[0]) * jnp.expm1(v[1]) + jnp.exp2(v[0]),
    "logarithms": lambda v: jnp.log(2 + v[0]) * jnp.log1p(v[1] + 1.5),
    "roots": lambda v: jnp.sqrt(2 + v[0]) + jax.lax.rsqrt(3 + v[1]) + (2 + v[0]) ** 0.3 + (2 + v[0]) ** v[1],
    "circular": lambda v: jnp.sin(v[0]) * jnp.cos(v[1]) + jnp.tan(v[0] / 2) + jnp.arctan2(v[0], 2 + v[1]),
    "arcs": lambda v: jnp.arcsin(v[0] / 2) + jnp.arccos(v[1] / 2) + jnp.arctan(v[0]),
    "hyperbolic": lambda v: jnp.sinh(v[0]) + jnp.cosh(v[1]) + jnp.tanh(v[0] * v[1]) + jnp.arcsinh(v[0]),
    "inverse hyperbolic": lambda v: jnp.arccosh(3 + v[0]) + jnp.arctanh(v[1] / 2),
    "error function": lambda v: jax.lax.erf(v[0]) - jax.lax.erfc(v[1]) + jax.nn.sigmoid(v[0]),
    "gamma": lambda v: jax.lax.lgamma(3 + v[0]),
    "kinks": lambda v: jnp.maximum(v[0], v[1]) - jnp.minimum(v[0], 0.1) + jnp.abs(v[1]) + jax.nn.relu(v[0] - v[1]),
    "softmax": lambda v: jax.nn.softmax(jnp.stack([v[0], v[1], 0.3 * v[0]]))[1],
    "a small network": lambda v: jnp.tanh(jnp.asarray([[1.0, -2.0], [0.5, 3.0]]) @ v).sum(),
    "a scan": lambda v: jax.lax.scan(lambda c, x: (jnp.tanh(c + x), None), v[0], v)[0],
}


@pytest.mark.parametrize("name", SMOOTH)
def test_values_and_differences_lie_in_their_balls(name: str, rng: np.random.Generator) -> None:
    function = SMOOTH[name]
    enclosure = Enclosure(function, 2)
    assert not enclosure.branches
    for _ in range(6):
        low = [fmpq(int(k), 64) for k in rng.integers(-60, 40, 2)]
        sides = [(x, x + fmpq(int(w), 64)) for x, w in zip(low, rng.integers(1, 20, 2), strict=True)]
        whole = enclosure.over(sides, 128)
        # The slopes of one pair of points: v(b) - v(a) lies in the sum of slope times step.
        a, b = ([x + (y - x) * fmpq(int(k), 16) for (x, y), k in zip(sides, rng.integers(0, 17, 2), strict=True)]
                for _ in range(2))  # fmt: skip
        at_a, at_b = enclosure.at(a, 256), enclosure.at(b, 256)
        with ctx.workprec(128):
            assert whole.value.contains(at_a) and whole.value.contains(at_b)
            assert whole.slopes is not None
            step = sum((s * arb(y - x) for s, x, y in zip(whole.slopes, a, b, strict=True)), arb(0))
            assert step.overlaps(at_b - at_a)
        # Beside the floats, whose error is far below 2^-30 here.
        floats = float(function(jnp.asarray([float(fraction(x)) for x in a])))
        assert abs(floats - float(at_a.mid())) < 2.0**-30


def test_slopes_of_a_smooth_program_are_its_derivatives() -> None:
    function = SMOOTH["hyperbolic"]
    point = [fmpq(1, 4), fmpq(-3, 8)]
    whole = Enclosure(function, 2).over([(x, x) for x in point], 128)
    exact = jax.grad(function)(jnp.asarray([0.25, -0.375]))
    assert whole.slopes is not None
    # Three terms of order one in floats: their rounding is far below 2^-45.
    assert all(abs(float(s.mid()) - float(g)) < 2.0**-45 for s, g in zip(whole.slopes, exact, strict=True))


def test_even_powers_start_at_zero_and_odd_ones_cross_it() -> None:
    with ctx.workprec(64):
        x = ball_of_interval(fmpq(-2), fmpq(3))
        assert power(x, 2).lower() == 0
        assert power(x, 2) >= 0
        assert power(arb(0, 1), 3).contains(arb(-1))
        assert power(arb(0, 1), 3).is_finite()
        assert from_zero(arb(3)).lower() == 0
        assert from_zero(arb(3)) >= 0
        assert not power(arb.nan(), 2).is_finite()


@pytest.mark.parametrize(("lower", "upper"), [((0, 1), (1, 3)), ((0, 1), (7, 1)), ((1, 3), (2, 3)), ((-5, 7), (1, 9))])
def test_an_interval_is_enclosed_and_keeps_an_exact_lower_end(lower: tuple[int, int], upper: tuple[int, int]) -> None:
    low, high = fmpq(*lower), fmpq(*upper)
    with ctx.workprec(64):
        found = ball_of_interval(low, high)
        assert found.contains(arb(low)) and found.contains(arb(high))
        if low == 0:
            assert found.sqrt().is_finite()


def test_a_program_with_branches_is_run_along_every_course() -> None:
    function = Enclosure(lambda v: jnp.where(v[0] > 0.5, 3.0, v[0]) + jnp.floor(v[1]), 2)
    assert function.branches
    value = function.values([(fmpq(0), fmpq(1)), (fmpq(0), fmpq(3, 2))], 64)
    for inside in (0, 1, 3, 4):
        assert value.contains(inside)
    assert value < 6


@pytest.mark.parametrize("name", ["svd", "cumlogsumexp"])
def test_a_primitive_without_an_enclosure_is_named(name: str) -> None:
    programs = {
        "svd": lambda v: jnp.linalg.norm(v.reshape(2, 1), 2),
        "cumlogsumexp": lambda v: jax.lax.cumlogsumexp(v)[1],
    }
    with pytest.raises(UnsupportedPrimitive, match=f"`{name}`"):
        Enclosure(programs[name], 2)
