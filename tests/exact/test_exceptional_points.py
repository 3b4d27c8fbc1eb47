"""Exceptional points come from the step: conditions, denominators, coefficients of bound variables, coincidences."""

import pytest
from sympy import Derivative, Integral, Max, Ne, Piecewise, Symbol, exp, sin, sympify

from theorax.errors import StatementError
from theorax.exact.exceptional_points import exceptional_points
from theorax.language import Step
from theorax.verifiers.outcome import StepStatus
from theorax.verifiers.proof_steps import decide_step

x, a = (Symbol(name, real=True) for name in "xa")
p, q, u = (Symbol(name, positive=True) for name in "pqu")


@pytest.mark.parametrize(
    ("formula", "zero"),
    [
        (1 / (p - 3 * q), p - 3 * q),
        (Piecewise((1, Ne(a, 5)), (0, True)), a - 5),
        (Piecewise((1, a > 7), (0, True)), a - 7),
        (abs(a + 4), a + 4),
        (Max(a, 3), a - 3),
        (Integral(exp((p - 5 * q) * u), (u, 0, 1)), p - 5 * q),
        (Integral(u ** (p - 3), (u, 0, 1)), p - 2),
        (1 / (a**2 - 9), a - 3),
        (exp(p) + q, p - q),
        (exp(p) + q, p - 2 * q),
    ],
    ids=str,
)
def test_zeros_are_among_the_points(formula, zero):
    found = [point.point for point in exceptional_points([formula], formula.free_symbols)]
    assert any(sympify(zero).subs(point) == 0 for point in found)


def test_the_scope_and_the_assumptions_admit_every_point():
    for point in exceptional_points([1 / (p - q)], {p, q}, Ne(p, q)):
        assert point.point[p] != point.point[q] and min(point.point.values()) > 0


GROWTH = Integral(exp(a * u), (u, 0, 1))


def test_a_scope_excludes_the_point_at_which_a_step_is_false():
    wrong = Piecewise(((exp(a) - 1) / a, Ne(a, 0)), (7, True))
    decided = decide_step(Step("everywhere", GROWTH, wrong))
    assert decided.status is StepStatus.REFUTED and "a = 0" in decided.method
    scoped = decide_step(Step("elsewhere", GROWTH, wrong, where=Ne(a, 0)))
    assert scoped.status is StepStatus.PROVED
    assert "where a" in scoped.statement


def test_a_derivative_is_compared_at_its_special_points():
    filled = Piecewise((sin(x) / x, Ne(x, 0)), (1, True))
    slope = (x * sin(x).diff(x) - sin(x)) / x**2

    def step(value):
        return Step("slope", Derivative(filled, x), Piecewise((slope, Ne(x, 0)), (value, True)))

    assert decide_step(step(1)).status is StepStatus.REFUTED
    assert decide_step(step(0)).status is not StepStatus.REFUTED


def test_a_scope_is_a_condition():
    with pytest.raises(StatementError, match="not a condition"):
        Step("never", x, x + 1, where=False)
