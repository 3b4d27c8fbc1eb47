"""Critical points by Krawczyk's test, least values on a box, duality gaps, restarts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flint import arb
from scipy.optimize import minimize

from theorax import exact
from theorax.decide.status import Status
from theorax.errors import StatementError, UsageError
from theorax.exact.duality_gap import GapProblem, duality_gap
from theorax.exact.enclosures import Box, Enclosure
from theorax.exact.krawczyk import critical_point, zero
from theorax.exact.least_values import least_on_box, restarts
from theorax.language import Absolute, Impossibility, Measured, Optimum, Parameter
from theorax.numerics.arithmetics.custom_rules import entered

jax.config.update("jax_enable_x64", True)


def valley(v: Any) -> Any:
    return (1 - v[0]) ** 2 + 100 * (v[1] - v[0] ** 2) ** 2


def double_well(v: Any) -> Any:
    return (v[0] ** 2 - 1) ** 2 + v[0] / 8


def gradient(function: Any, dimension: int) -> Enclosure:
    return Enclosure(jax.grad(entered(function)), dimension, dimension)


def test_the_root_of_two_is_enclosed_alone() -> None:
    found = zero(Enclosure(lambda v: v**2 - 2, 1, 1), [Fraction(7, 5)])
    assert found is not None
    low, high = (float(found.centre[0] + sign * found.radius) for sign in (-1, 1))
    assert low < 2**0.5 < high
    # The other root is not in the box: it would not hold one zero alone.
    assert not found.holds([Fraction(-141421356, 10**8)])


def test_a_double_root_has_no_box() -> None:
    assert zero(Enclosure(lambda v: v**2, 1, 1), [Fraction(0)]) is None


@pytest.mark.parametrize(
    ("function", "at", "shape"),
    [
        (valley, (1, 1), "minimum"),
        (lambda v: v[0] ** 2 - v[1] ** 2 + v[0] * v[1], (0, 0), "no minimum"),
        (lambda v: -jnp.cosh(v[0]) - v[1] ** 2, (0, 0), "no minimum"),
        (lambda v: jnp.log(jnp.exp(v[0]) + jnp.exp(-v[0])) + v[1] ** 2 / 2, (0, 0), "minimum"),
    ],
)
def test_the_shape_of_a_critical_point(function: Any, at: tuple[int, int], shape: str) -> None:
    found = critical_point(gradient(function, 2), [Fraction(x) for x in at])
    assert found is not None and found.shape == shape
    assert found.near.holds([Fraction(x) for x in at])
    hessian = np.asarray(jax.hessian(function)(jnp.asarray(at, float)))
    for row, balls in zip(hessian, found.near.jacobian, strict=True):
        # Small dyadics and functions at zero: the floats are exact to the last place or two.
        assert all(abs(ball.mid() - arb(float(x))) <= ball.rad() + 2.0**-45 for x, ball in zip(row, balls, strict=True))


def test_six_parameters_of_a_fit_are_a_strict_minimum_on_a_small_radius_only(rng: np.random.Generator) -> None:
    t, prior = jnp.linspace(-1.0, 1.0, 5), jnp.asarray([0.1, 0.2, 0.3, -0.1, 0.2, 0.3])

    def loss(x: Any) -> Any:
        outputs = jnp.tanh(x[:3] * t[:, None] + x[3:]).sum(1)
        return jnp.sum((outputs - jnp.sin(2 * t)) ** 2) + 0.05 * jnp.sum((x - prior) ** 2)

    x = minimize(jax.jit(loss), rng.normal(prior, 0.01), jac=jax.jit(jax.grad(loss))).x
    found = critical_point(gradient(loss, 6), [Fraction(float(v)) for v in x])
    assert found is not None and found.shape == "minimum" and found.curved > 0
    assert 1e-6 < float(found.near.radius) < 1e-2


def test_a_least_value_on_a_box_is_certified_without_slack_where_the_gradient_vanishes_exactly() -> None:
    box = Box.of([(-2, 2)] * 2)
    found, strict = least_on_box(Enclosure(valley, 2), gradient(valley, 2), [Fraction(1)] * 2, box, Fraction(0))
    assert found.status is Status.CERTIFIED
    assert strict is not None and strict.shape == "minimum"
    # Without the sign of the curvature the search over boxes alone stays open at the touching point.
    assert least_on_box(Enclosure(valley, 2), None, [Fraction(1)] * 2, box, Fraction(0), 500)[0].status is (
        Status.INCONCLUSIVE
    )


def test_the_upper_of_two_wells_is_refuted_by_the_lower_one() -> None:
    upper = next(float(r.real) for r in sorted(np.roots([4, 0, -4, 0.125]), key=lambda r: -r.real))
    found, strict = least_on_box(
        Enclosure(double_well, 1), gradient(double_well, 1), [Fraction(upper)], Box.of([(-2, 2)]), Fraction(1, 10**9)
    )
    assert strict is not None and strict.shape == "minimum"  # a strict minimum, and not the least value
    assert found.status is Status.REFUTED and found.point is not None and found.value is not None
    assert found.value < arb(double_well([upper]))


@pytest.mark.parametrize("mass", [0.03, 0.5])
def test_restarts_count_the_basins_of_better_value(mass: float, rng: np.random.Generator) -> None:
    def basins(v: Any) -> Any:
        # The better basin is the interval [0, mass], of height one below; the other slopes gently down to one.
        return jnp.minimum((v[0] - mass / 2) ** 2 / mass**2 - 2, -(v[0] - mass) / 10)

    found = restarts(Enclosure(basins, 1), basins, [Fraction(1)], Box.of([(0, 1)]), Fraction(0), 368, rng)
    assert found.better > 0
    assert found.refuted is not None and found.refuted.point is not None
    assert float(found.refuted.point[0]) < 2 * mass


@pytest.mark.parametrize(
    ("value", "bound", "constraints", "rival", "status"),
    [
        (1.0, 1.0 - 2.0**-30, (0.0, 2.0), None, Status.CERTIFIED),
        (1.0, 1.0 - 2.0**-10, (0.0,), None, Status.INCONCLUSIVE),
        (1.0, 1.0 + 2.0**-30, (0.0,), None, Status.REFUTED),
        (1.0, 1.0 + 2.0**-30, (-(2.0**-60),), None, Status.INCONCLUSIVE),
        (1.0, 0.5, (0.0,), 0.75, Status.REFUTED),
        (1.0, 1.0, (0.0,), 1.0 - 2.0**-30, Status.CERTIFIED),
        (1.0, None, (), None, Status.INCONCLUSIVE),
    ],
)
def test_a_gap_decides_as_the_table_says(value, bound, constraints, rival, status) -> None:
    problem = GapProblem(
        arb(value),
        None if bound is None else arb(bound),
        [arb(c) for c in constraints],
        None if rival is None else arb(rival),
    )
    found = duality_gap(lambda: problem, Fraction(1, 2**20))
    assert found.status is status


def test_a_wide_ball_of_the_gap_decides_nothing() -> None:
    assert duality_gap(lambda: GapProblem(arb(1, 0.25), arb(1, 0.25)), Fraction(1, 10)).status is Status.INCONCLUSIVE


B = np.asarray([1.0, -2.0, 0.5])
PROGRAM = dict(
    primal=lambda x: 0.5 * x @ x - B @ x,
    dual=lambda m: -0.5 * (B + m) @ (B + m),
    at=[1.0, 0, 0.5],
    dual_at=[0, 2.0, 0],
    gap=1e-9,
    constraints=lambda x: x,
    dual_constraints=lambda m: m,
)


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, "CERTIFIED"),
        ({"at": [1.0, 0, 0.4]}, "INCONCLUSIVE"),
        ({"at": [1.0, -1e-20, 0.5]}, "INCONCLUSIVE"),
        ({"dual": lambda m: 0.1 - 0.5 * (B + m) @ (B + m)}, "REFUTED"),
        ({"dual": lambda m: jnp.linalg.norm(m.reshape(3, 1), 2)}, "INCONCLUSIVE"),
    ],
)
def test_duality_of_own_functions(changed, status) -> None:
    verdict = exact.duality(**{**PROGRAM, **changed})
    assert verdict.status == status
    assert verdict.sentence and verdict.ledger


def test_least_values_of_own_functions() -> None:
    assert exact.minimum(valley, [1, 1]).status == "CERTIFIED"
    assert exact.minimum(valley, [1, 1], box=[(-2, 2)] * 2).status == "CERTIFIED"
    assert exact.minimum(double_well, [1], box=[(-2, 2)], slack=1e-3).status == "REFUTED"
    off = exact.minimum(valley, [1.001, 1])
    assert off.status == "INCONCLUSIVE" and "lies 0.001" in off.sentence
    # Equal least values along a line: no box closes, and restarts say what they can.
    flat = exact.minimum(lambda v: 2 - 2 * jnp.cos(v[0] - v[1]), [0, 0], box=[(-1, 1)] * 2, budget=50)
    assert flat.status == "SUPPORTED" and "at most a share 0.01" in flat.sentence


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: exact.minimum(valley, [1, float("nan")]), "not finite"),
        (lambda: exact.minimum(valley, [1, 1], box=[(-2, 2)]), "2 coordinates, the box 1"),
        (lambda: exact.minimum(valley, [3, 1], box=[(-2, 2)] * 2), "lies outside"),
        (lambda: exact.minimum(valley, [1, 1], starts=0), "is no count"),
        (lambda: exact.duality(**{**PROGRAM, "gap": 0}), "leaves no room"),
        (lambda: exact.duality(**{**PROGRAM, "dual": lambda m: m}), "return several"),
        (lambda: exact.duality(**{**PROGRAM, "dual": lambda m: m[0].foo}), "cannot be called"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence(wrong, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        wrong()


t, v, d = Parameter("t", "a position"), Measured("v", "a value"), Measured("d", "a distance")
EPS = Absolute(1, 10**6, "a test")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: Optimum(v, bound=v - 1), "no absolute one"),
        (lambda: Optimum(v, bound=v - 1, margin=EPS), "which points are feasible"),
        (lambda: Impossibility(d, at_least=1, planted=d, tol=1), "where the searches"),
        (lambda: Optimum(v, margin=EPS), "no lower bound"),
        (lambda: Optimum(t**2, over={t: (0, 1)}, margin=EPS), "no point of the box"),
        (lambda: Optimum(t**2, over={t: (0, 1)}, at={t: 2}, margin=EPS), "outside"),
        (lambda: Optimum(t**2, over={t: (0, 1)}, at={t: 0.5}, margin=EPS), "no rational number"),
        (lambda: Impossibility(d, at_least=0, planted=d, tol=1), "not positive"),
        (lambda: Impossibility(d, at_least=1), "neither planted members nor a box"),
        (lambda: Impossibility(d, at_least=1, planted=d), "tells no member"),
    ],
)
def test_optima_and_impossibilities_that_cannot_be_meant(wrong, said: str) -> None:
    with pytest.raises(StatementError, match=said):
        wrong()


def quadratic(x: Any) -> Any:
    return 0.5 * x @ x - B @ x


@pytest.mark.parametrize(
    ("function", "constraints", "at", "status"),
    [
        (quadratic, lambda x: x, [1, 0, 0.5], "CERTIFIED"),
        (quadratic, lambda x: jnp.append(x, 1.25 - x.sum()), [0.875, 0, 0.375], "CERTIFIED"),
        # Concave along the normal of the constraint alone: a minimum, though the Hessian is not definite.
        (lambda x: x[0] ** 2 - x[1] ** 2 + 3 * x[1], lambda x: x[1:], [0, 0], "CERTIFIED"),
        # Concave along the constraint: stationary, and no minimum.
        (lambda x: x[1] - x[0] ** 2, lambda x: x[1:], [0, 0], "INCONCLUSIVE"),
        (quadratic, lambda x: x, [1, 0.5, 0.5], "INCONCLUSIVE"),
        # The multiplier is zero: complementarity is not strict, and nothing is certified.
        (lambda x: (x[0] - 1) ** 2 + x[1] ** 2, lambda x: x[1:], [1, 0], "INCONCLUSIVE"),
    ],
)
def test_strict_minima_under_constraints(function, constraints, at, status) -> None:
    verdict = exact.minimum(function, at, constraints=constraints)
    assert verdict.status == status, verdict.sentence
    if status == "CERTIFIED":
        assert "with positive multipliers" in verdict.sentence


def test_a_point_without_a_value_is_no_least_one() -> None:
    found = exact.minimum(jnp.sqrt, [-1], box={"x": (-1, 1)})
    assert found.status == "INCONCLUSIVE" and "no finite value at the claimed point (-1)" in found.sentence
