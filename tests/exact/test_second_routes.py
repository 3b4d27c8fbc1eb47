"""Second routes of computations: they agree with what is true and speak against what is not, wherever it is asked."""

import pytest
import sympy
from sympy import Derivative, E, Integral, Limit, Piecewise, Product, Rational, Subs, Sum, Symbol, cos, oo, pi, sqrt

from theorax.exact.poles import undefined_inside
from theorax.exact.second_routes import second_route
from theorax.language import Solved, Step
from theorax.verifiers.outcome import StepStatus
from theorax.verifiers.proof_steps import decide_solved, decide_step

x = Symbol("x")


@pytest.mark.parametrize("direction", ["+", "-", "+-"])
@pytest.mark.parametrize("place", [0, Rational(1, 3), sqrt(2), pi, -E, pi**2 - sqrt(3)], ids=str)
def test_a_limit_is_looked_at_at_any_finite_place(place, direction):
    node = Limit((1 - cos(x - place)) / (x - place) ** 2, x, place, direction)
    assert second_route(node, Rational(1, 2)).agrees is True
    assert second_route(node, Rational(1, 3)).agrees is False


def test_a_limit_at_a_place_that_is_a_letter():
    a = Symbol("a", positive=True)
    node = Limit((x**2 - a) / (x - sqrt(a)), x, sqrt(a), "+")
    assert second_route(node, 2 * sqrt(a)).agrees is True
    assert second_route(node, sympy.sqrt(a)).agrees is False


REAL = Symbol("t", real=True)
A = Symbol("a", real=True)
B = Symbol("b", positive=True)
K, N = (Symbol(name, integer=True, positive=True) for name in "KN")


@pytest.mark.parametrize(
    "node",
    [
        Integral(1 / (REAL - B) ** 2, (REAL, 0, 3 * B)),
        Integral(1 / (REAL - A) ** 2, (REAL, 0, 1)),
        Integral(1 / (REAL**2 - B**2), (REAL, -oo, oo)),
        Integral(1 / cos(REAL) ** 2, (REAL, 0, pi)),
        Integral(sympy.tan(REAL), (REAL, 0, pi)),
        Sum(1 / ((K - 8) * (K - 7)), (K, 1, oo)),
        Sum(1 / ((K - 8) * (K - 7)), (K, 1, N)),
        Product(1 + 1 / (K - 20), (K, 1, N)),
    ],
    ids=str,
)
def test_a_place_between_the_ends_without_a_value_is_found(node):
    assert "between the ends" in undefined_inside(node)


@pytest.mark.parametrize(
    "node",
    [
        Integral(1 / (REAL + B) ** 2, (REAL, 0, oo)),
        Integral(1 / sqrt(abs(REAL)), (REAL, -1, 1)),
        Integral(sympy.sin(REAL) / REAL, (REAL, -oo, oo)),
        Integral(sympy.exp(-1 / REAL**2), (REAL, -oo, oo)),
        Integral(1 / sqrt(1 - REAL**2), (REAL, -1, 1)),
        Integral(sympy.tan(REAL), (REAL, 0, pi / 4)),
        Sum(1 / (K * (K + 1)), (K, 1, N)),
        Sum(1 / (2 * K - 7) ** 2, (K, 1, oo)),
    ],
    ids=str,
)
def test_a_denominator_that_does_no_harm_is_no_such_place(node):
    assert undefined_inside(node) == ""


@pytest.mark.parametrize(
    ("node", "value"),
    [
        (Integral(1 / (REAL - A) ** 2, (REAL, 0, 1)), 1 / (A * (A - 1))),
        (Sum(1 / ((K - 8) * (K - 7)), (K, 1, N)), -Rational(1, 7) - 1 / (N - 7)),
    ],
    ids=str,
)
def test_a_rule_that_steps_over_a_pole_proves_nothing(node, value):
    decided = decide_step(Step("by the rule", node, value))
    assert decided.status is StepStatus.UNDECIDED and "between the ends" in decided.method


def slope(function, place=0, order=1):
    return Subs(Derivative(function, REAL, order), REAL, place)


@pytest.mark.parametrize(
    ("node", "value"),
    [
        (slope(Piecewise((1, REAL > 0), (0, True))), 0),
        (slope(Piecewise((1, REAL >= 0), (0, True))), 0),
        (slope(Piecewise((0, REAL < 1), (REAL, True)), 1), 1),
        (slope(Piecewise((B, REAL > B), (0, True)), B), 0),
        (slope(Piecewise((REAL, REAL > 0), (0, True)), 0, 2), 0),
        (slope(abs(REAL)), 0),
    ],
    ids=str,
)
def test_a_function_has_no_slope_at_a_jump_or_a_kink(node, value):
    assert decide_step(Step("by the formula", node, value)).status is StepStatus.REFUTED


@pytest.mark.parametrize(
    ("node", "value"),
    [
        (slope(abs(REAL) ** Rational(4, 3)), 0),
        (slope(abs(REAL) ** Rational(21, 20)), 0),
        (slope(REAL * abs(REAL)), 0),
        (slope(Piecewise((REAL**2, REAL > B), (2 * B * REAL - B**2, True)), B), 2 * B),
        (slope(sympy.exp(2 * REAL), 0, 3), 8),
    ],
    ids=str,
)
def test_a_slope_that_differences_reach_slowly_is_not_refuted(node, value):
    assert decide_step(Step("by the formula", node, value)).status in (StepStatus.PROVED, StepStatus.UNDECIDED)


@pytest.mark.parametrize(
    ("equation", "unknown", "solutions", "status"),
    [
        (A * REAL, REAL, [0], StepStatus.UNDECIDED),
        (N * (N - 1) * REAL, REAL, [0], StepStatus.UNDECIDED),
        (A * REAL**2 - A, REAL, [1, -1], StepStatus.UNDECIDED),
        (B * REAL, REAL, [0], StepStatus.PROVED),
        (A * REAL - 1, REAL, [1 / A], StepStatus.PROVED),
        ((A**2 + 1) * REAL**2 - A**2 - 1, REAL, [1, -1], StepStatus.PROVED),
        (2 * N - 1, N, [Rational(1, 2)], StepStatus.REFUTED),
        (sqrt(B**2) + 2, B, [-2], StepStatus.REFUTED),
        (REAL**2 + 1, REAL, [sympy.I, -sympy.I], StepStatus.REFUTED),
    ],
    ids=str,
)
def test_all_solutions_are_counted_for_every_letter_and_under_the_assumptions(equation, unknown, solutions, status):
    assert decide_solved(Solved("all of them", equation, unknown, solutions)).status is status


@pytest.mark.parametrize(
    "node",
    [Integral(sympy.floor(REAL) ** REAL, (REAL, 0, B)), Sum(1 / (K**K + sympy.log(K)), (K, 1, N))],
    ids=str,
)
def test_a_form_that_is_left_as_it_is_is_not_proved_against_itself(node):
    decided = decide_step(Step("itself", node, node))
    assert decided.status is StepStatus.UNDECIDED


L = Symbol("L", integer=True, positive=True)


@pytest.mark.parametrize(
    ("node", "value"),
    [
        (sympy.Limit((A * REAL + 1) / (A * REAL + 2), REAL, oo), 1),
        (Limit(A * REAL + 1 / REAL, REAL, oo), oo),
        (Integral(sympy.exp(sympy.I * (K - N) * REAL), (REAL, 0, 2 * pi)), 0),
        (Integral(cos((K - L) * REAL), (REAL, 0, pi)), 0),
    ],
    ids=str,
)
def test_a_value_that_is_wrong_at_special_parameters_alone_is_spoken_against(node, value):
    assert second_route(node, sympy.sympify(value)).agrees is False
