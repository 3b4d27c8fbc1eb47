"""A condition is a part of the statement: every rendering of a claim that speaks of some cases alone says of which."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import Eq, Integer, Rational, sqrt

from theorax.language import (
    KINDS,
    Absolute,
    Corrections,
    Expectation,
    Identity,
    Impossibility,
    Index,
    Inequality,
    Law,
    Limit,
    Measured,
    Optimum,
    Parameter,
    Probability,
    Rate,
    Size,
    gaussian,
)  # fmt: skip

T = Size("T", "how many")
theta = Parameter("theta", "what is left", positive=True)
depth = Index("l", "the layer")
x, y = Measured("x", "one side"), Measured("y", "the other side")
left, right = Measured("left", "a side", array=True), Measured("right", "a side", array=True)
margin = Absolute(1, 10, "a reader would notice")
class_ = Corrections(size=0.1, slowest=1, rest=0, reference=32, reason="by a pilot")
CLAIMS = {
    "expectation": Expectation(x, theta, margin=margin),
    "identity": Identity(left, right, margin=margin),
    "impossibility": Impossibility(x, at_least=theta, planted=y, started=y + 1, tol=Rational(1, 100), margin=margin),
    "inequality": Inequality(x, at_most=theta**2 / sqrt(theta + 1)),
    "law": Law(x, to=gaussian(theta), as_=T, approach=class_),
    "limit": Limit(x, theta**2 / sqrt(theta**2 + 1), as_=T, margin=margin, approach=class_),
    "optimum": Optimum(x, bound=y, feasible=y > 0, margin=margin),
    "probability": Probability(x > theta, at_least=Rational(9, 10), margin=margin),
    "rate": Rate(x, like=1 / sqrt(T), as_=T, margin=margin, approach=class_),
}
CONDITIONS = {
    "above": (theta**2 > 2, ("θ^2 > 2",), (r"\theta^{2} > 2",)),
    "both": ((theta > 1) & (depth <= 3), ("θ", "l"), (r"\theta", "l \\leq 3")),
    "either": ((theta > 1) | Eq(depth, 1), ("θ", "l"), (r"\theta", "l = 1")),
    "fraction": (theta / (1 + theta) <= Rational(1, 2), ("θ",), (r"\frac{\theta}",)),
}


def test_the_table_has_every_kind():
    assert sorted(CLAIMS) == sorted(kind.__name__.lower() for kind in KINDS)


@pytest.mark.parametrize("kind", CLAIMS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_rendering_holds_the_condition_and_its_letters(kind, condition):
    where, letters, latex = CONDITIONS[condition]
    bare, claim = CLAIMS[kind], replace(CLAIMS[kind], where=where)
    for text in (claim.statement, claim.typeset):
        said = text.rpartition("where ")[2]
        assert said != text and "\n" not in said
        assert all(letter in said for letter in letters), said
    assert claim.latex.startswith(f"{bare.latex} \\quad \\text{{where }}")
    assert all(part in claim.latex for part in latex)
    assert claim.statement.startswith(bare.statement) and claim.typeset.startswith(bare.typeset)
    assert "where" not in bare.statement + bare.typeset + bare.latex


def test_no_kind_renders_a_claim_without_its_condition():
    for kind in KINDS:
        assert not {"statement", "typeset", "latex", "condition"} & vars(kind).keys(), kind


def test_two_claims_on_two_sides_of_a_threshold_are_told_apart():
    above, below = replace(CLAIMS["limit"], where=theta > 2), replace(CLAIMS["limit"], to=Integer(2), where=theta <= 2)
    assert above.typeset.endswith("\nwhere θ > 2")
    assert below.typeset.endswith(",  where θ ≤ 2")


def test_a_condition_over_a_page_is_one_line():
    where = sum((theta + n) ** n for n in range(2, 12)) > 0
    assert "\n" not in replace(CLAIMS["identity"], where=where).statement
