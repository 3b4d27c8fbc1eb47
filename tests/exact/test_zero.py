"""Zero tests: true identities proved, false ones refuted at an exact point, and never both."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from sympy import Rational, exp, sqrt, tanh

from theorax.errors import UsageError
from theorax.exact import zero
from theorax.exact.normal_forms import vanishes
from theorax.exact.zero import Contradiction, ZeroTest, is_zero
from theorax.numerics.arithmetics import Symbolic, evaluate

jax.config.update("jax_enable_x64", True)

x, y = sympy.symbols("x y", real=True)
p, q = sympy.symbols("p q", positive=True)
n = sympy.Symbol("n", integer=True, positive=True)
k = sympy.Symbol("k", integer=True)
w = sympy.Symbol("w")
THIRD = Rational(6004799503160661, 2**54)  # as a program holds it

PROVED = [
    (x + y) ** 3 - x**3 - 3 * x**2 * y - 3 * x * y**2 - y**3,
    (x**2 - 1) / (x - 1) - x - 1,
    exp(x + y) - exp(x) * exp(y),
    exp(x / 2) ** 2 - exp(x),
    tanh(x) - (1 - exp(-2 * x)) / (1 + exp(-2 * x)),
    1 / (1 + exp(-x)) - (tanh(x / 2) + 1) / 2,
    sqrt(p * q) - sqrt(p) * sqrt(q),
    1 / ((x - y) * (x - w)) + 1 / ((y - x) * (y - w)) + 1 / ((w - x) * (w - y)),
    tanh(THIRD * x * y) * (exp(2 * THIRD * x * y) + 1) - exp(2 * THIRD * x * y) + 1,
    sqrt((p + q) / (p * q)) * sqrt(p) * sqrt(q) - sqrt(p + q),
    (p + q) ** Rational(2, 3) * (p + q) ** Rational(1, 3) / (sqrt(p) - sqrt(p + q))
    + (p + q) * (sqrt(p) + sqrt(p + q)) / q,
    1 / (sqrt(p) + sqrt(q)) - (sqrt(p) - sqrt(q)) / (p - q),
    1 / (sqrt(1 + x**2) + x) - sqrt(1 + x**2) + x,
    sqrt(1 + sqrt(2)) ** 4 - 3 - 2 * sqrt(2),
    p ** (n + 1) - p * p**n,
    sympy.log(p * q) - sympy.log(p) - sympy.log(q),
    sympy.sin(x) ** 2 + sympy.cos(x) ** 2 - 1,
    sympy.gamma(n + 1) - sympy.factorial(n),
    sympy.Sum(k, (k, 1, n)) - n * (n + 1) / 2,
]

REFUTED = [
    sqrt(w**2) - w,
    sympy.Abs(x) - x,
    x + Rational(1, 10**60),
    exp(x + y) - exp(x) * exp(y) * (1 + Rational(1, 2**80)),
    sympy.Add(0.1 * x, -x / 10, evaluate=False),
    sympy.log(p + q) - sympy.log(p) - sympy.log(q),
    sqrt(2) + sqrt(3) - sqrt(10),
    sympy.Sum(k, (k, 1, n)) - n**2 / 2,
]


@pytest.mark.parametrize("expression", PROVED)
def test_an_identity_is_proved(expression):
    outcome = is_zero(expression)
    assert outcome.status is ZeroTest.PROVED, outcome
    assert outcome.points > 0


@pytest.mark.parametrize("expression", REFUTED)
def test_a_false_identity_is_refuted_at_an_exact_point(expression):
    outcome = is_zero(expression)
    assert outcome.refuted
    assert not outcome.enclosure.contains(0)
    assert set(outcome.point) == expression.free_symbols
    assert all(isinstance(value, sympy.Rational) for value in outcome.point.values())


@pytest.mark.parametrize("expression", PROVED)
def test_a_proved_identity_with_a_planted_error_is_refuted(expression):
    scale = 1 + sum(symbol**2 for symbol in expression.free_symbols)
    assert is_zero(expression + Rational(1, 2**100) / scale).refuted


def test_what_only_balls_see_is_not_called_proved():
    outcome = is_zero(sympy.acos(p / 8) + sympy.asin(p / 8) - sympy.pi / 2, {p: (0, 8)})
    assert outcome.status is ZeroTest.UNREFUTED
    assert outcome.points == zero.POINTS


@pytest.mark.parametrize("factor", [1, x, p + 2], ids=str)
def test_an_identity_of_the_simplifier_is_asked_at_the_poles(factor):
    m = sympy.Symbol("m", integer=True)
    outcome = is_zero(factor * (sympy.binomial(m, k) - sympy.binomial(m, m - k)))
    assert outcome.refuted
    assert "pole" in outcome.reason
    assert outcome.point[m] < 0


def test_the_poles_of_a_true_identity_change_nothing():
    m = sympy.Symbol("m", integer=True)
    pascal = sympy.binomial(m + 1, k) - sympy.binomial(m, k) - sympy.binomial(m, k - 1)
    assert is_zero(pascal).proved
    assert is_zero(sympy.binomial(n, k) - sympy.binomial(n, n - k)).proved


@pytest.mark.parametrize("limits", [None, {x: (0, 1)}], ids=["everywhere", "on a range"])
def test_the_simplifier_alone_proves_nothing(monkeypatch, limits):
    monkeypatch.setattr(zero, "_simplifier", lambda expression: "sympy.simplify")
    outcome = is_zero(sympy.mathieuc(0, 1, x) - 1, limits)
    assert outcome.status is ZeroTest.UNDECIDED
    assert f"0 of {zero.POINTS} points" in outcome.reason


def test_a_point_counts_once():
    few = sympy.Symbol("few", integer=True)
    outcome = is_zero(sympy.gamma(few + 1) - sympy.factorial(few), {few: (0, 3)})
    assert outcome.status is ZeroTest.UNDECIDED
    assert outcome.points == 2


def test_points_at_which_an_expression_is_complex_are_counted():
    outcome = is_zero(sympy.root(x**3, 3) - x)
    assert outcome.status is ZeroTest.UNREFUTED
    assert "no real number" in outcome.reason


def test_what_no_ball_reaches_is_undecided():
    outcome = is_zero(sympy.mathieuc(0, 1, x))
    assert outcome.status is ZeroTest.UNDECIDED
    assert "mathieuc" in outcome.reason
    assert is_zero(sympy.log(-p)).status is ZeroTest.UNDECIDED


def test_points_respect_assumptions_and_ranges():
    even = sympy.Symbol("even", even=True, positive=True)
    point = is_zero(even + x + p, {x: (2, Rational(5, 2))}).point
    assert point[even] % 2 == 0
    assert point[even] > 0
    assert point[p] > 0
    assert 2 < point[x] < Rational(5, 2)
    with pytest.raises(UsageError, match="assumptions"):
        is_zero(sympy.Symbol("t", irrational=True) - 1)


def test_a_proof_beside_a_counterexample_is_an_error_of_its_own(monkeypatch):
    monkeypatch.setattr(zero, "vanishes", lambda expression: True)
    with pytest.raises(Contradiction):
        is_zero(x)


def test_products_of_matrices_of_symbols_are_decided_as_polynomials():
    # Expanded term by term these entries take minutes.
    first, second, third = (row_stochastic(4) + sympy.Symbol(name) for name in "abc")
    left, right = (first @ second) @ third, first @ (second @ third)
    assert all(vanishes(one - other) for one, other in zip(left.ravel(), right.ravel(), strict=True))
    assert not vanishes(left[0, 0] - right[0, 0] + Rational(1, 10**40))


def test_matrices_that_do_not_commute_are_no_polynomials():
    A, B = sympy.symbols("A B", commutative=False)
    assert not vanishes(A * B - B * A)


def test_an_expression_that_is_nowhere_defined_is_not_zero():
    assert not vanishes(sympy.nan)
    nowhere = sympy.log(-1 - x**2)
    assert is_zero(nowhere * exp(x + y) - nowhere * exp(x) * exp(y)).status is ZeroTest.UNDECIDED


def row_stochastic(size):
    """A generic row-stochastic matrix: free entries but the last of each row."""
    matrix = np.empty((size, size), dtype=object)
    for i in range(size):
        row = sympy.symbols(f"a{i}_:{size - 1}", real=True)
        matrix[i, : size - 1] = row
        matrix[i, size - 1] = 1 - sum(row)
    return matrix


def gram_identity(removed):
    """A A^T - (J + A_perp A_perp^T) for A_perp = A - removed * ones, J = ones / T."""

    def program(a):
        size = a.shape[0]
        rest = a - jnp.ones((size, size)) * (1 / removed(size))
        return size * (a @ a.T) - jnp.ones((size, size)) - size * (rest @ rest.T)

    return program


@pytest.mark.parametrize("size", [2, 4])
def test_the_gram_identity_of_row_stochastic_matrices_is_proved(size):
    # 1/2 and 1/4 are dyadic, so the literal of the program is the exact number.
    residual = evaluate(gram_identity(lambda t: t), (row_stochastic(size),), Symbolic())
    assert all(is_zero(entry).proved for entry in residual.ravel())


def test_the_gram_identity_of_three_rows_is_proved_when_a_third_is_exact():
    def program(a):
        ones = jnp.ones((3, 3))
        average = ones / jnp.sum(ones[0])
        rest = a - average
        return a @ a.T - average - rest @ rest.T

    residual = evaluate(program, (row_stochastic(3),), Symbolic())
    assert all(is_zero(entry).proved for entry in residual.ravel())


def test_a_third_rounded_to_a_literal_makes_the_identity_false():
    residual = evaluate(gram_identity(lambda t: t), (row_stochastic(3),), Symbolic())
    assert any(is_zero(entry).refuted for entry in residual.ravel())


def test_the_gram_identity_without_the_average_is_refuted():
    residual = evaluate(gram_identity(lambda t: 1), (row_stochastic(3),), Symbolic())
    assert any(is_zero(entry).refuted for entry in residual.ravel())


def test_a_softmax_has_rows_that_sum_to_one():
    scores = np.array([[x, y, x * y]], dtype=object)
    residual = evaluate(lambda s: jnp.sum(jax.nn.softmax(s), axis=-1) - 1, (scores,), Symbolic())
    assert all(is_zero(entry).proved for entry in residual)


def test_the_gradient_of_the_logistic_function_is_proved():
    residual = evaluate(
        lambda v: jax.grad(jax.nn.sigmoid)(v) - jnp.exp(-v) / (1 + jnp.exp(-v)) ** 2,
        (np.array(x, dtype=object),),
        Symbolic(),
    )
    assert is_zero(residual.item()).proved
