"""Predicted sides at given values."""

from __future__ import annotations

import math

import pytest
from sympy import pi, sqrt

from theorax.errors import UsageError
from theorax.language import (
    Absolute,
    Claim,
    Corrections,
    Expectation,
    Experiment,
    Inequality,
    Law,
    Limit,
    Measured,
    Parameter,
    Probability,
    Rate,
    Size,
    Subject,
    Theorem,
    gaussian,
)
from theorax.verifiers.evaluated_claims import evaluated

n = Size("n", "width")
d = Size("d", "dimension")
g = Parameter("g", "gain", positive=True)
s = Measured("s", "norm")
MARGIN = Absolute(1, 10, "why")


def build(key, n):
    return n


def observe(model):
    return dict(s=1.0)


def stated(**claims: Claim) -> Theorem:
    """A theorem of these claims."""
    experiment = Experiment(observe, s, {n: (8, 16)}, derived={d: 2 * n}, at=({g: 1},), subjects={"x": Subject(build)})
    return Theorem(place="", label="derived", claims=claims, experiments=dict(e=experiment))


@pytest.mark.parametrize(
    ("claim", "at", "exact", "decimal"),
    [
        (Limit(s, g / 3, as_=n, approach=Corrections(), margin=MARGIN), (("g", "3/7"),), "1/7", 1 / 7),
        (Limit(s, g * pi, as_=n, approach=Corrections(), margin=MARGIN), (("g", "2"),), "2π", 2 * math.pi),
        (Expectation(s, sqrt(g), margin=MARGIN), (("g", "1/4"),), "1/2", 0.5),
        (Rate(s, n**-g, as_=n, approach=Corrections(), margin=MARGIN), (("g", "3/2"),), "-3/2", -1.5),
        (Probability(s <= 1, at_least=1 - g, margin=Absolute(1, 99, "why")), (("g", "1/4"),), "3/4", 0.75),
        (Inequality(s, at_most=g**2), (("g", "5"),), "25", 25.0),
    ],
)
def test_the_predicted_side_is_exact_and_its_decimal_within_its_error(claim, at, exact, decimal):
    (row,) = evaluated(stated(kept=claim), at, ())
    assert row.exact == exact
    assert row.decimal is not None and row.error is not None
    assert abs(row.decimal - decimal) <= row.error + abs(decimal) * 2**-52
    assert not row.open


def test_sizes_and_what_follows_them_are_values_too():
    rows = evaluated(stated(kept=Expectation(s, 1 / d, margin=MARGIN)), (), (("n", (5, 10)),))
    assert [row.exact for row in rows] == ["1/10", "1/20"]


def test_a_letter_without_a_value_stays_open():
    (row,) = evaluated(stated(kept=Expectation(s, g / n, margin=MARGIN)), (("g", "2"),), ())
    assert (row.exact, row.decimal, row.open) == ("2/n", None, ("n",))


def test_a_law_is_shown_at_its_values():
    law = Law(s, gaussian(g), as_=n, approach=Corrections())
    (row,) = evaluated(stated(kept=law), (("g", "2"),), ())
    assert row.exact == "law with E exp(itX) = exp(-t^2)"


def test_a_claim_that_does_not_speak_there_names_its_condition():
    small = Expectation(s, g, margin=MARGIN, where=g <= 1)
    rows = evaluated(stated(small=small, all=Expectation(s, 2 * g, margin=MARGIN)), (("g", "2"),), ())
    assert [row.broken for row in rows] == [True, False]
    with pytest.raises(UsageError, match="small needs g ≤ 1"):
        evaluated(stated(small=small), (("g", "2"),), ())


@pytest.mark.parametrize(
    ("at", "sentence"),
    [
        ((("g", "-1"),), "is not admissible: g .gain. is positive, and -1 is not"),
        ((("h", "1"),), "no claim of this theorem holds h"),
    ],
)
def test_values_that_are_not_admissible(at, sentence):
    with pytest.raises(UsageError, match=sentence):
        evaluated(stated(kept=Expectation(s, g, margin=MARGIN)), at, ())


def test_a_pole_is_told():
    with pytest.raises(UsageError, match="no finite real number"):
        evaluated(stated(kept=Expectation(s, 1 / (g - 1), margin=MARGIN)), (("g", "1"),), ())
