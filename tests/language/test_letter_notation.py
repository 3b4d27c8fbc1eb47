"""Notation of measured letters: every rendering shows it typeset, code and digests keep the name."""

from __future__ import annotations

import pickle

import pytest
from sympy import latex

from theorax.errors import StatementError
from theorax.language import (
    Absolute,
    Expectation,
    Identity,
    Inequality,
    Measured,
    Parameter,
    Probability,
    Relative,
    arrays,
    numbers,
)
from theorax.language.notation import beside, inline, meanings
from theorax.language.typed_notation import in_latex, in_unicode, is_composite
from theorax.text.mathml import mathml

x = Measured("gram_excess", "excess", notation="sr(X_l X_l^T) - 1")
y = Measured("top", "eigenvalue", notation="lambda_1(S)")

TYPESET = {
    "sr(X_l X_l^T) - 1": ("sr(X_l X_l^T) - 1", r"\operatorname{sr}(X_{l} X_{l}^{T}) - 1", True),
    "lambda_1(S)": ("λ_1(S)", r"\lambda _{1}(S)", False),
    "||A x||_2": ("‖A x‖_2", r"\| A x\| _{2}", True),
    "X^(l+1)": ("X^(l+1)", r"X^{l+1}", False),
    "J": ("J", "J", False),
    "a <= b": ("a ≤ b", r"a \le  b", True),
    "log(1 + x)": ("log(1 + x)", r"\log (1 + x)", False),
    "50 % of $x$ {y}": ("50 % of $x$ {y}", r"50 \% \operatorname{of} \$x\$ \{y\}", True),
}


@pytest.mark.parametrize("typed", TYPESET)
def test_a_notation_is_typeset(typed):
    assert (in_unicode(typed), in_latex(typed), is_composite(typed)) == TYPESET[typed]
    assert mathml(in_latex(typed)) is not None


def test_every_printer_shows_the_notation_and_str_the_name():
    assert inline(x) == "sr(X_l X_l^T) - 1"
    assert inline(2 * x + y) == "2(sr(X_l X_l^T) - 1) + λ_1(S)"
    assert latex(x) == r"\operatorname{sr}(X_{l} X_{l}^{T}) - 1"
    assert r"2 \left(\operatorname{sr}" in latex(2 * x)
    assert "sr(X_l X_l^T) - 1" in beside("E[ ", x, " ]")
    assert meanings([x]) == (("sr(X_l X_l^T) - 1", "excess"),)
    assert str(2 * x + 1) == "2*gram_excess + 1"


def test_claims_show_it():
    bound = Inequality(x, at_most=1)
    assert bound.formula == "sr(X_l X_l^T) - 1 ≤ 1"
    assert "operatorname{sr}" in bound.latex
    j, p = arrays(jacobian=("D f(x)", "a"), product=("W_2 D W_1", "b"))
    identity = Identity(j, p, margin=Relative(1, 10**9, "rounding"))
    assert identity.formula == "D f(x) = W_2 D W_1"


def test_a_letter_with_another_notation_is_another_letter_and_none_is_as_before():
    plain = Measured("top", "eigenvalue")
    assert y != plain and pickle.loads(pickle.dumps(y)) == y and pickle.loads(pickle.dumps(y)).notation == y.notation
    assert "notation" not in plain._carried()
    assert inline(plain) == "top"
    (both,) = numbers(top=("lambda_1(S)", "eigenvalue"))
    assert both == y


@pytest.mark.parametrize("notation", ["a\nb", "a\x1b[0m", "  ", "\u202eabc"])
def test_what_cannot_be_printed_is_refused(notation):
    with pytest.raises(StatementError, match="notation"):
        Measured("a", "b", notation=notation)


plain = Measured("worst", "largest ratio")
BARE = {
    "a ratio below one": (Inequality(plain, at_most=1), True),
    "an identity of two names": (
        Identity(*arrays(jacobian="a", product="b"), margin=Relative(1, 10**9, "rounding")), True
    ),
    "a mean of a name": (Expectation(plain, 1, margin=Absolute(1, 2, "m")), True),
    "an event of a name": (Probability(plain <= 1, at_least=1), True),
    "a formula": (Inequality(plain**2, at_most=1), False),
    "a bound in two letters": (Inequality(plain, at_most=Measured("c", "c") / 4), False),
    "a notation": (Inequality(x, at_most=1), False),
    "a parameter": (Expectation(plain, Parameter("g", "gain"), margin=Absolute(1, 2, "m")), False),
}  # fmt: skip


@pytest.mark.parametrize("name", BARE)
def test_bare_claims_hold_nothing_symbolic(name):
    claim, is_bare = BARE[name]
    assert claim.is_bare is is_bare
