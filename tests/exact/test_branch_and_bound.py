"""Branch and bound: what it proves, what it refutes, and what it leaves open and says so."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flint import ctx

from theorax.decide.status import Reason, Status
from theorax.exact.branch_and_bound import certify_on_box, confirm
from theorax.exact.convex import tangent
from theorax.exact.enclosures import Box, Enclosure, rational

GAP = 2.0**-23  # about 1e-7


def motzkin(v: Any) -> Any:
    x, y = v
    return x**4 * y**2 + x**2 * y**4 - 3 * x**2 * y**2 + 1


TRUE: dict[str, tuple[Callable[[Any], Any], list[tuple[Any, Any]], Any]] = {
    "Motzkin's polynomial, a gap of 1e-7": (lambda v: motzkin(v) + GAP, [(-2, 2)] * 2, 0),
    "Rosenbrock's valley, a gap of 1e-7": (
        lambda v: (1 - v[0]) ** 2 + 100 * (v[1] - v[0] ** 2) ** 2 + GAP, [(-2, 2)] * 2, 0,
    ),
    "a valley with a flat floor, a gap of 1e-7": (
        lambda v: v[0] ** 2 - 2 * v[0] * v[1] + v[1] ** 2 + GAP, [(-1, 1)] * 2, 0,
    ),
    "equality at a corner": (lambda v: v[0] + v[1], [(0, 1)] * 2, 0),
    "equality inside, with slack": (lambda v: v[0] - jnp.tanh(v[0]), [(0, 3)], Fraction(1, 10**6)),
    "kinks": (lambda v: jnp.abs(v[0]) + jnp.abs(v[1]) - jnp.maximum(v[0], v[1]) + 0.001, [(-1, 1)] * 2, 0),
    "a side without width": (lambda v: v[0] * v[1], [(2, 2), (0, 1)], 0),
    "a root at the edge of its domain": (lambda v: jnp.sqrt(v[0]) + 0.1, [(0, Fraction(1, 3))], 0),
    "rounding as large as the gap": (lambda v: (v[0] + 1e12) - 1e12 - v[0] + 1e-15, [(0, Fraction(1, 3))], 0),
}  # fmt: skip


@pytest.mark.parametrize("name", TRUE)
def test_what_holds_is_certified(name: str) -> None:
    function, sides, slack = TRUE[name]
    found = certify_on_box(Enclosure(function, len(sides)), Box.of(sides), Fraction(slack))
    assert found.status is Status.CERTIFIED
    assert found.slack == slack


def test_the_mean_value_form_saves_boxes() -> None:
    class Values(Enclosure):
        """Without slopes: a plain search by interval evaluation."""

        def over(self, sides: Any, precision: int) -> Any:
            whole = super().over(sides, precision)
            return type(whole)(whole.value, tuple(s * float("inf") for s in whole.slopes))

    def gapped(v: Any) -> Any:
        return v[0] ** 2 - v[0] * v[1] + v[1] ** 2 - v[0] + 0.35  # 1/60 above zero

    box = Box.of([(-1, 1)] * 2)
    found = certify_on_box(Enclosure(gapped, 2), box)
    assert found.status is Status.CERTIFIED
    assert certify_on_box(Values(gapped, 2), box, budget=5 * found.boxes).status is Status.INCONCLUSIVE


def test_a_counterexample_is_an_exact_point_and_its_ball_is_negative() -> None:
    function = Enclosure(lambda v: motzkin(v) - GAP, 2)
    found = certify_on_box(function, Box.of([(-2, 2), (-2, Fraction(7, 3))]))
    assert found.status is Status.REFUTED
    assert found.point is not None and found.value is not None
    x, y = found.point
    assert x**4 * y**2 + x**2 * y**4 - 3 * x**2 * y**2 + 1 - Fraction(GAP) < 0
    assert found.value < 0


def test_floats_never_refute_what_balls_do_not() -> None:
    # The double above the root of two, squared: the float difference is negative, the exact one is zero.
    third = 1 / 3
    function = Enclosure(lambda v: (v[0] * 3 - 3 * v[0]) + 0.0, 1)
    assert confirm(function, [[rational(Fraction(third))]]) is None


OPEN = {
    "equality inside": (lambda v: v[0] - jnp.tanh(v[0]), [(0, 3)], Reason.UNDECIDED_COMPARISON),
    "too small a budget": (lambda v: v[0] ** 4 - 2 * v[0] ** 2 * v[1] + v[1] ** 2, [(0, 1)] * 2, Reason.BUDGET),
    "no value in a part": (lambda v: jnp.log(v[0]) + 100, [(-1, 1)], Reason.UNDECIDED_COMPARISON),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_is_left_open_says_why_and_what_is_certain(name: str) -> None:
    function, sides, reason = OPEN[name]
    found = certify_on_box(Enclosure(function, len(sides)), Box.of(sides), budget=400)
    assert (found.status, found.reason) == (Status.INCONCLUSIVE, reason)
    if name != "no value in a part":
        assert found.lowest is not None and found.lowest < 0
        # The bound that is said to be certain is the slack with which the claim is certified.
        slack = Fraction(-found.lowest)
        assert (
            certify_on_box(Enclosure(function, len(sides)), Box.of(sides), slack, budget=400).status is Status.CERTIFIED
        )


def test_certified_bounds_are_bounds(rng: np.random.Generator) -> None:
    """Random quadratic polynomials: a certified slack is never below the true minimum on the box's corners and inside."""
    for _ in range(10):
        matrix, shift = rng.integers(-4, 5, (2, 2)), rng.integers(-4, 5, 2)
        function = Enclosure(lambda v, m=matrix, s=shift: v @ m @ v + s @ v, 2)
        slack = Fraction(int(rng.integers(0, 12)))
        found = certify_on_box(function, Box.of([(-1, 1)] * 2), slack, budget=2000)
        grid = np.linspace(-1, 1, 65)
        points = np.stack(np.meshgrid(grid, grid), -1).reshape(-1, 2)
        lowest = (np.einsum("ni,ij,nj->n", points, matrix, points) + points @ shift).min()
        if found.status is Status.CERTIFIED:
            assert lowest >= -float(slack)  # exact: all numbers are small dyadics
        if lowest < -float(slack):
            assert found.status is Status.REFUTED
    assert ctx.prec == 53  # the working precision is put back


def test_a_tangent_plane_bounds_convex_functions_and_no_others(rng: np.random.Generator) -> None:
    box = Box.of([(-1, 1)] * 2)
    for _ in range(8):
        root, shift = rng.integers(-4, 5, (2, 2)) / 4, rng.integers(-8, 9, 2) / 4
        matrix = root @ root.T
        bound = tangent(Enclosure(lambda v, m=matrix, s=shift: v @ m @ v / 2 + s @ v, 2), box, 64)
        assert bound is not None
        grid = np.linspace(-1, 1, 129)
        points = np.stack(np.meshgrid(grid, grid), -1).reshape(-1, 2)
        lowest = (np.einsum("ni,ij,nj->n", points, matrix, points) / 2 + points @ shift).min()
        assert bound <= lowest  # small dyadics: the floats are exact
        # The grid is 1/64 fine and the gradient at most 8: nothing is lower than the grid by more than an eighth.
        assert bound > lowest - 0.125
    for saddle in (lambda v: v[0] * v[1], lambda v: v[0] ** 3 + v[1] ** 2, lambda v: jnp.abs(v[0]) - v[1] ** 2):
        assert tangent(Enclosure(saddle, 2), box, 64) is None
    # A kink has no Hessian, and what the author declares of a derivative is not asked.
    assert tangent(Enclosure(lambda v: jnp.maximum(v[0], v[1]), 2), box, 64) is None
    frozen = Enclosure(lambda v: v[1] ** 2 - jax.lax.stop_gradient(v[0]) ** 2, 2)
    assert tangent(frozen, box, 64) is None
