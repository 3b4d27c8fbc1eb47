"""Public reports of computer algebra that is wrong: its value is never proved, and the true one is never called false.

Numbers are those of the reports; the formulas are in our own letters.
"""

import pytest
from sympy import (
    Abs,
    Derivative,
    Eq,
    I,
    Integral,
    Ne,
    Piecewise,
    Rational,
    Subs,
    Sum,
    Symbol,
    binomial,
    cos,
    erfc,
    exp,
    expint,
    log,
    oo,
    pi,
    sin,
    sqrt,
)

from theorax.exact import computations
from theorax.language import Step
from theorax.verifiers.outcome import StepStatus
from theorax.verifiers.proof_steps import decide_step

x = Symbol("x", real=True)
a, b, t, u = (Symbol(name, positive=True) for name in "abtu")
low = Symbol("a", negative=True)
k, n = (Symbol(name, integer=True, positive=True) for name in "kn")
FILLED = Piecewise((sin(x) / x, Ne(x, 0)), (1, True))
CONVOLVED = (exp(-b * t) - exp(-2 * a * t)) / (2 * a - b)

REPORTS = {
    "sympy#29792": (Integral(sqrt(2 - x) * sqrt(1 / (2 - x)), (x, 0, 1)), -1, 1),
    "sympy#25197": (
        Integral(exp((b - 2 * a) * u - b * t), (u, 0, t)),
        Piecewise((CONVOLVED, Ne(2 * a - b, 0)), (t, True)),
        Piecewise((CONVOLVED, Ne(2 * a - b, 0)), (t * exp(-b * t), True)),
    ),
    "sympy#28485": (
        Integral(exp(low * (x**2 + 2 * x)), (x, -oo, oo)),
        I * sqrt(pi) * exp(-low) * erfc(I * sqrt(low)) / sqrt(low),
        sqrt(pi) * exp(-low) / sqrt(-low),
    ),
    "sympy#11402": (Subs(Derivative(FILLED, x, x), x, 0), 0, -Rational(1, 3)),
    "sympy#30404": (Integral(sqrt(1 - x) * log(1 - x), (x, 0, 1)), 0, -Rational(4, 9)),
    "sympy#25052": (Integral(Abs(cos(x)), (x, -pi / 2, 0)), -1, 1),
    "sympy#29072": (Integral(Abs(sin(x) * cos(x)), (x, 0, 2 * pi)), 1, 2),
    "sympy#21387": (Integral(Abs(cos(x)) * sin(x), (x, -pi, pi)), 1, 0),
    "sympy#13902": (
        Sum(binomial(2, k) * k**2, (k, 0, n)),
        2 - 2 * (n + 1) * binomial(1, n),
        Piecewise((2, Eq(n, 1)), (6, True)),
    ),
}


@pytest.mark.parametrize("report", REPORTS)
def test_a_false_value_is_false_and_a_true_one_is_not(report):
    node, false, true = REPORTS[report]
    assert decide_step(Step(report, node, false)).status is StepStatus.REFUTED
    assert decide_step(Step(report, node, true)).status is not StepStatus.REFUTED


@pytest.mark.parametrize("report", ["sympy#29792", "sympy#25052", "sympy#11402"])
def test_computer_algebra_is_said_to_be_wrong(report):
    node, _, true = REPORTS[report]
    decided = decide_step(Step(report, node, true))
    assert decided.status is StepStatus.UNDECIDED
    assert "computer algebra is wrong here" in decided.method


def test_an_exception_of_computer_algebra_leaves_the_step_open():
    node, value = Integral(exp(-1 / x), (x, 0, t)), t * exp(-1 / t) - expint(1, 1 / t)
    decided = decide_step(Step("sympy#23846", node, value))
    assert decided.status is StepStatus.UNDECIDED
    assert "sympy.integrate raised TypeError" in decided.method and "agrees with both sides" in decided.method
    assert decide_step(Step("sympy#23846", node, value + 1)).status is StepStatus.REFUTED


def test_a_computation_without_an_end_is_ended_and_leaves_the_step_open(monkeypatch):
    monkeypatch.setattr(computations, "LONGEST_COMPUTATION", 0.5)
    node = Integral(sqrt(cos(x) ** 2) * cos(x) / (sin(x) ** 2 + 1), (x, -pi / 2, pi / 2))
    decided = decide_step(Step("sympy#27050", node, (sqrt(2) - 1) * pi))
    assert decided.status is StepStatus.UNDECIDED and "of processor time" in decided.method
    assert decide_step(Step("sympy#27050", node, 0)).status is StepStatus.REFUTED
