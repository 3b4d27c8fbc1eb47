"""Equalities of polynomials in matrices of every size: what is proved, what stays open, and what is refused."""

import random

import numpy as np
import pytest
from sympy import Integer, Rational, Symbol, expand, sqrt, transpose

from theorax.errors import StatementError
from theorax.exact import noncommuting_words
from theorax.exact.noncommuting_words import decide_words
from theorax.exact.zero import ZeroTest
from theorax.language import MatrixStep, generic_matrices
from theorax.verifiers.outcome import StepStatus
from theorax.verifiers.proof_steps import decide_matrix_step

A, B, C, J = LETTERS = generic_matrices("A B C J")
t, x = Symbol("t", positive=True), Symbol("x", real=True)
ROWS = ((A * J, J), (J * J, J), (transpose(J), J))

PROVED = {
    "a square": ((A + B) ** 2, A**2 + A * B + B * A + B**2, ()),
    "Jacobi": (
        A * (B * C - C * B) - (B * C - C * B) * A + B * (C * A - A * C) - (C * A - A * C) * B,
        -(C * (A * B - B * A) - (A * B - B * A) * C),
        (),
    ),
    "a scalar in and out": (t * (A + B / t) * 3, 3 * B + 3 * t * A, ()),
    "transposes turn around": (transpose(A * B + t * C), transpose(B) * transpose(A) + t * transpose(C), ()),
    "rows of sum one": (A * transpose(A), J + (A - J) * transpose(A - J), ROWS),
    "an equation transposed": (J * transpose(A), J, ROWS),
    "two equations together": (C, B, ((A * B, 1), (C * A, 1))),
    "push through": (A * (1 + B * A), (1 + A * B) * A, ()),
    "an inverse, transposed": (transpose(C) * transpose(A), 1, ((A * C, 1),)),
}
OPEN = {
    "the other product": (J * A, J, ROWS),
    "inverses of one side": (A * B, 1, ((B * A, 1),)),
}
FALSE = {
    "letters that commute": (A * B, B * A, ()),
    "a square of numbers": ((A + B) ** 2, A**2 + 2 * A * B + B**2, ()),
    "a sign": (A * (B - C), A * B + A * C, ()),
    "transposes in order": (transpose(A * B), transpose(A) * transpose(B), ()),
    "a factor": (t * A * B, A * B, ()),
    "the standard polynomial of degree two": (A * B - B * A, 0, ()),
}


@pytest.mark.parametrize("name", PROVED)
def test_what_holds_for_every_size_is_proved_and_multiplied_out(name):
    left, right, given = PROVED[name]
    found, route = decide_words(_expr(left), _expr(right), _given(given))
    assert found.proved, found.reason
    assert route.agrees is True


@pytest.mark.parametrize("name", OPEN)
def test_what_the_equations_do_not_say_stays_open(name):
    left, right, given = OPEN[name]
    assert decide_words(_expr(left), _expr(right), _given(given))[0].status is ZeroTest.UNDECIDED


@pytest.mark.parametrize("name", FALSE)
def test_what_fails_for_some_matrices_is_refuted(name):
    left, right, given = FALSE[name]
    assert decide_words(_expr(left), _expr(right), given)[0].status is ZeroTest.REFUTED


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (((A * J, J), (A * J, 0)), "J = 0"),
        (((A * B, 1), (A * B, 2)), "the identity matrix = 0"),
        (((A * B, 1), (B * A, 0)), "= 0"),
        (((x * A * B, 1),), "up to the factor x"),
        (((A, 0),), "A = 0"),
    ],
)
def test_equations_from_which_anything_follows_are_refused(given, said):
    with pytest.raises(StatementError, match=said):
        decide_words(A, B, _given(given))


IMPOSSIBLE = {
    "a commutator that is a number": ((A * B - B * A, 1),),
    "a square that is negative": ((transpose(A) * A, -1),),
    "the same, the other way around": ((A * transpose(A) + t * B * transpose(B), -t),),
    "a symmetric root of a negative number": ((J * J, -1), (transpose(J), J)),
    "parts of an identity": ((A * transpose(A), -transpose(B) * B - 2),),
    "a commutator of transposes": ((A * transpose(A) - transpose(A) * A, t),),
    "what two equations say together": ((A * B, C), (B * A, C + 1)),
}
POSSIBLE = {
    "a root of a negative number": ((A * A, -1),),
    "letters that commute": ((A * B, B * A),),
    "orthogonal rows": ((A * transpose(A), 1),),
    "a sum of squares": ((A * transpose(A) + B * transpose(B), 1),),
    "rows of sum one": ROWS,
    "an antisymmetric root": ((A * A, -1), (transpose(A), -A)),
    "a number of either sign": ((A * transpose(A), x),),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_equations_that_no_real_matrices_satisfy_are_refused(name):
    with pytest.raises(StatementError, match="No real matrices satisfy"):
        decide_words(A, B, _given(IMPOSSIBLE[name]))


@pytest.mark.parametrize("name", POSSIBLE)
def test_equations_that_some_matrices_satisfy_are_read(name):
    assert not decide_words(A, B, _given(POSSIBLE[name]))[0].refuted


@pytest.mark.parametrize("side", [A**-1, A**t, sqrt(A) * B, transpose(A) ** -2])
def test_sides_are_polynomials_in_letters(side):
    with pytest.raises(StatementError, match="generic_matrices"):
        decide_words(side, A, ())


def test_equations_come_in_pairs():
    with pytest.raises(StatementError, match="two sides"):
        MatrixStep("rows", A * J, J, given=(A * J - J,))


def test_a_proof_whose_record_is_wrong_is_refuted(monkeypatch):
    """The second route multiplies out the equations used: a rewriting that was recorded wrongly shows."""
    whole = noncommuting_words._reduced

    def forgetful(polynomial, rules):
        rest, uses = whole(polynomial, rules)
        return rest, uses[:-1]

    monkeypatch.setattr(noncommuting_words, "_reduced", forgetful)
    found = decide_matrix_step(MatrixStep("Gram", A * transpose(A), J + (A - J) * transpose(A - J), ROWS))
    assert found.status is StepStatus.REFUTED


def test_random_polynomials_are_equal_where_their_values_at_matrices_are():
    """Against NumPy: the difference of two random polynomials of degree three vanishes at matrices of order two, or not."""
    rng = random.Random(1)
    numbers = np.random.default_rng(1)
    at = {letter: numbers.integers(-9, 10, (2, 2)).astype(object) for letter in LETTERS}

    def drawn():
        return sum(
            (
                rng.randint(-1, 1) * rng.choice(LETTERS) * (1 + rng.choice(LETTERS)) * rng.choice(LETTERS)
                for _ in range(3)
            ),
            Integer(0),
        )

    def value(polynomial):
        total = np.zeros((2, 2), dtype=object)
        for term in expand(polynomial).as_ordered_terms():
            factor, letters = term.args_cnc()
            product = np.eye(2, dtype=object) * int(np.prod([int(part) for part in factor] or [1]))
            for letter in letters:
                base, power = letter.as_base_exp()
                for _ in range(int(power)):
                    product = product.dot(at[base])
            total = total + product
        return total

    seen = set()
    for _ in range(40):
        one, other = drawn(), drawn()
        other = expand(one) if rng.random() < 0.5 else other
        equal = bool((value(one) == value(other)).all()) if one != other else True
        found = decide_words(_expr(one), _expr(other), ())[0]
        assert found.proved is equal
        seen.add(equal)
    assert seen == {True, False}


def test_a_step_is_shown_with_its_equations():
    found = decide_matrix_step(MatrixStep("rows", (A - J) * J, 0, ROWS))
    assert found.status is StepStatus.PROVED
    assert "given A*J = J" in found.statement
    assert r"\text{given}" in found.latex
    half = decide_matrix_step(MatrixStep("rows", (A - J) * J, A * Rational(1, 2), ROWS))
    assert half.status is StepStatus.UNDECIDED


def _expr(side):
    return side if hasattr(side, "free_symbols") else Integer(side)


def _given(equations):
    return tuple((_expr(left), _expr(right)) for left, right in equations)
