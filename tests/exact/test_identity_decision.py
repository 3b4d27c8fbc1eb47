"""The one decision on an identity: each row of its table, and which rung an obstacle stops."""

from __future__ import annotations

import re
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorax.decide.findings import Finding
from theorax.decide.status import Reason, Status
from theorax.exact.identity_decision import IdentityProblem, decide_identity
from theorax.exact.program_identity import problem_of

A = np.asarray([[0.3, -1.2], [2.0, 0.7]])


def square(x):
    return (x + 1) ** 2


def expanded(x):
    return x * x + 2 * x + 1


def circle(x):
    return jnp.sin(x) ** 2 + jnp.cos(x) ** 2


def one(x):
    return jnp.ones_like(x)


def undefined(x):
    return jnp.sqrt(-1 - x**2)


def problem(left, right, *, margin=None, every_input=True, only_floats=False) -> IdentityProblem:
    """The identity of two programs; ``only_floats``: looked at where it is given, in balls where floats are in doubt."""
    found, _ = problem_of(left, right, (A,), margin, "a test")
    points = (
        tuple(replace(point, doubted=True) for point in found.points if point.floats) if only_floats else found.points
    )
    return replace(found, points=points, every_input=every_input, panel=found.panel if every_input else ())


ROWS = {
    "the bound is trivial": (problem(square, jax.jit(square)), Finding.TRIVIAL_BOUND, None),
    "counterexample, by a ball": (problem(square, lambda x: expanded(x) + 2.0**-60), Finding.COUNTEREXAMPLE, None),
    "counterexample, by a field": (
        replace(problem(lambda x: x[0, 0] * (x[0, 0] - 0.5), lambda x: 0 * x[0, 1]), points=()),
        Finding.COUNTEREXAMPLE,
        None,
    ),
    "no instance": (problem(undefined, lambda x: undefined(x) + x), Finding.NO_INSTANCE, Reason.NUMERIC_FLOOR),
    "certificate": (problem(square, expanded), Finding.CERTIFICATE, None),
    "supported, by fields alone": (
        replace(problem(lambda x: jnp.tanh(square(x)), lambda x: jnp.tanh(expanded(x))), points=()),
        Finding.TEST_SUPPORTED,
        None,
    ),
    "supported, by balls": (problem(circle, one), Finding.TEST_SUPPORTED, None),
    "supported, by floats on draws": (
        problem(circle, one, margin=1e-9, only_floats=True, every_input=False),
        Finding.TEST_SUPPORTED,
        None,
    ),
    "undecided, by floats at one input": (
        replace(problem(circle, one, margin=1e-9, only_floats=True), panel=()),
        None,
        Reason.NUMERIC_FLOOR,
    ),
    "undecided, by floats": (
        problem(circle, one, margin=1e-20, only_floats=True, every_input=False),
        None,
        Reason.NUMERIC_FLOOR,
    ),
    "undecided, where one side alone is a number": (
        problem(lambda x: jnp.log(x**2), lambda x: 2 * jnp.log(x)),
        None,
        Reason.ONE_SIDED_DOMAIN,
    ),
    "undecided, by what cannot be followed": (problem(lambda x: jnp.linalg.svd(x)[1], jnp.diag), None, Reason.BUDGET),
    "undecided, on a branch": (
        problem(lambda x: jnp.where(circle(x) == 1, x, 0), lambda x: x),
        None,
        Reason.UNDECIDED_COMPARISON,
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_every_row_of_the_table_is_reached(name: str) -> None:
    given, finding, reason = ROWS[name]
    found = decide_identity(given)
    assert (found.findings[0] if found.findings else None, found.reason) == (finding, reason), found.detail
    assert found.detail


def test_the_table_is_covered() -> None:
    assert decide_identity.__doc__ is not None
    rows = re.findall(r"\| ([a-z ]+) \|$", decide_identity.__doc__, flags=re.MULTILINE)[1:]
    assert set(rows) == {name.split(",")[0] for name in ROWS}


def test_what_differs_at_generic_inputs_may_hold_on_those_that_are_drawn() -> None:
    given = problem(lambda x: x[0, 0] * (x[0, 0] - 0.5), lambda x: 0 * x[0, 1], every_input=False)
    assert decide_identity(replace(given, points=())).status is Status.INCONCLUSIVE


def test_a_certificate_does_not_need_its_points_and_a_counterexample_outweighs_it() -> None:
    certified = problem(square, expanded)
    assert decide_identity(replace(certified, points=())).status is Status.CERTIFIED
    wrong = problem(square, lambda x: expanded(x) + 1).points
    assert decide_identity(replace(certified, points=wrong)).status is Status.REFUTED


def test_the_difference_is_measured_over_the_largest_entry_of_either_side() -> None:
    found = decide_identity(problem(square, expanded, margin=1e-9))
    scale = np.max(square(A))
    assert 0 < found.floats.account <= found.floats.worst < 1e-14
    absolute = decide_identity(replace(problem(square, expanded, margin=1e-9), absolute=True))
    # Divided by the scale and multiplied by it again: two roundings.
    assert absolute.floats.account == pytest.approx(found.floats.account * scale, rel=2**-50)


@pytest.mark.parametrize("absolute", [False, True])
def test_a_ball_tells_the_difference_where_floats_decide_no_branch(absolute) -> None:
    def branching(x):
        return jnp.where(circle(x) + 2.0**-80 > 1, x, 0)

    given = problem(branching, lambda x: 2 * x, margin=1e-7, every_input=False)
    found = decide_identity(replace(given, absolute=absolute))
    assert found.status is Status.REFUTED
    assert found.decision(1e-7).estimate == pytest.approx(2.0 if absolute else 0.5)
