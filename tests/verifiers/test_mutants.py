"""Variants of a claim of every kind: what is wrong, what is sharper, what follows."""

from __future__ import annotations

from dataclasses import replace

import fakes
import pytest
from sympy import I, Integer, Max, Min, Rational, pi, sqrt

from theorax.decide.findings import Finding
from theorax.decide.status import Status
from theorax.language import (
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
    Relative,
    Size,
    gaussian,
    quarter_circle,
)
from theorax.verifiers.attacks import controls
from theorax.verifiers.attacks.mutants import variants
from theorax.verifiers.attacks.sensitivity import contradiction, surviving_variant
from theorax.verifiers.outcome import ControlOutcome, Expected

n = Size("n", "a size")
l = Index("l", "a depth")  # noqa: E741
g = Parameter("g", "a ratio", positive=True)
x, y = Measured("x", "a number", positive=True), Measured("y", "another", positive=True)
A, B = Measured("A", "an array", array=True), Measured("B", "another array", array=True)
CLASS = Corrections(size=0.1, slowest=1, reason="declared")
CLAIMS = {
    "limit": Limit(sqrt(n) * x / g, pi * l, as_=n, approach=CLASS, margin=Relative(1, 10, "it would matter")),
    "expectation": Expectation(Max(x, y) / g, g + 1, margin=Relative(1, 10, "it would matter")),
    "rate": Rate(x, 1 / n, as_=n, approach=CLASS, margin=Absolute(1, 10, "it would matter")),
    "law": Law(Measured("s", "a sample", sample=True), quarter_circle(2), as_=n, approach=CLASS, scale=1),
    "characteristic": Law(Measured("s", "a sample", sample=True), gaussian(), as_=n, approach=CLASS, scale=1),
    "identity": Identity(A, l * B + 1, margin=Relative(1, 10**9, "it would matter")),
    "inequality": Inequality(x, at_most=y, margin=Absolute(1, 10, "it would matter")),
    "from below": Inequality(x, at_least=y),
    "probability": Probability(x < y, at_least=Rational(9, 10), margin=Absolute(1, 20, "it would matter")),
    "almost surely": Probability(x < y, at_least=1),
    "optimum": Optimum(x, bound=y, unconstrained_because="a number", margin=Absolute(1, 100, "it would matter")),
    "impossibility": Impossibility(x, at_least=Integer(1), planted=y, started=y + 1, tol=Rational(1, 10**6)),
}
ROWS = [  # claim, variant, field, its value, what should become of it
    ("limit", "to with l + 1 for l", "to", pi * (l + 1), "rejected"),
    ("limit", "to with pi dropped", "to", l, "rejected"),
    ("limit", "the factor 1/g dropped", "to", pi * l / g, "rejected"),
    ("limit", "the factor sqrt(n) dropped", "of", x / g, "rejected"),
    ("limit", "twice the margin", "margin", Relative(2, 10, "it would matter"), "stays supported"),
    ("expectation", "max and min swapped in of", "of", Min(x, y) / g, "rejected"),
    ("rate", "at most this order", "side", "at most", "stays supported"),
    ("identity", "l + 1 for l on the right", "right", (l + 1) * B + 1, "rejected"),
    ("inequality", "bound halved", "at_most", y / 2, "rejected if tight"),
    ("inequality", "bound sharper by twice its slack", "at_most", y - Rational(1, 5), "rejected if tight"),
    ("from below", "bound doubled", "at_least", 2 * y, "rejected if tight"),
    ("from below", "twice the content", "content", Rational(1, 25), "stays supported"),
    ("probability", "the opposite event", "event", x >= y, "rejected"),
    ("probability", "delta / 2", "at_least", Rational(19, 20), "rejected if tight"),
    ("probability", "delta / 10", "at_least", Rational(99, 100), "rejected if tight"),
    ("probability", "delta x 2", "at_least", Rational(8, 10), "stays supported"),
    ("almost surely", "twice the content", "content", Rational(1, 25), "stays supported"),
    ("optimum", "bound raised by twice the margin", "bound", y + Rational(1, 50), "rejected"),
    ("optimum", "twice the margin", "margin", Absolute(2, 100, "it would matter"), "stays supported"),
    ("impossibility", "the planted members searched for", "distance", y, "rejected"),
    ("impossibility", "twice the distance", "at_least", 2, "rejected if tight"),
    ("impossibility", "half the distance", "at_least", Rational(1, 2), "stays supported"),
]


@pytest.mark.parametrize(("kind", "name", "field", "value", "expected"), ROWS)
def test_a_variant(kind, name, field, value, expected):
    (found,) = (variant for variant in variants("claim", CLAIMS[kind]) if variant.name == name)
    assert getattr(found.claim, field) == value
    assert found.expected == expected
    assert replace(found.claim, **{field: getattr(CLAIMS[kind], field)}) == CLAIMS[kind]


@pytest.mark.parametrize("kind", CLAIMS)
def test_every_kind_has_a_wrong_variant_and_none_is_the_claim(kind):
    found = variants("claim", CLAIMS[kind])
    assert any(variant.expected == "rejected" for variant in found)
    assert all(variant.claim != CLAIMS[kind] for variant in found)
    assert len({variant.name for variant in found}) == len(found)


def test_laws_are_bent_and_moved():
    bent = {variant.name: variant.claim.to for variant in variants("claim", CLAIMS["law"])}
    third = bent["skewed"].moment(3) - 3 * bent["skewed"].moment(2) * bent["skewed"].moment(1)
    own = quarter_circle(2)
    assert float(third) != float(own.moment(3) - 3 * own.moment(2) * own.moment(1))
    moved = {variant.name: variant.claim.to for variant in variants("claim", CLAIMS["characteristic"])}["shifted"]
    assert (moved.moment(1), moved.moment(2)) == (Rational(1, 4), 1 + Rational(1, 16))
    assert not moved.of.has(I) or moved.of.subs(moved.t, 0) == 1


def test_a_weaker_variant_that_falls_contradicts_its_claim():
    assert not list(contradiction("decay", fakes.MUTANTS))
    fallen = replace(fakes.MUTANTS[-1], killed=True, status=Status.INCONCLUSIVE)
    (found,) = contradiction("decay", (*fakes.MUTANTS[:-1], fallen))
    assert "this checker contradicts itself" in found.sentence
    assert fakes.RATE.with_findings(found).status == "ERROR"
    assert not list(contradiction("gap", (*fakes.MUTANTS[:-1], fallen)))


ATTACKED = [
    (Finding.TEST_SUPPORTED, "VACUOUS"),
    # Balls on instances could not have failed either; a proof, or a whole domain, is more than what was drawn.
    (Finding.INSTANCES, "VACUOUS"),
    (Finding.CERTIFICATE, "CERTIFIED"),
    (Finding.PROOF, "PROVED"),
    (Finding.TEST_REFUTED, "REFUTED"),
]


@pytest.mark.parametrize(("own", "becomes"), ATTACKED)
def test_a_named_wrong_variant_that_passes_leaves_its_claim_vacuous(own, becomes):
    passing = replace(fakes.MUTANTS[30], killed=False, status=Status.SUPPORTED)
    assert passing.origin == "file"
    claim = fakes.settled(fakes.CLAIM, own)
    assert claim.with_findings(*surviving_variant(claim.id, [passing])).status == becomes
    assert not list(surviving_variant(claim.id, [replace(passing, expected=Expected.WITHIN)]))
    assert not list(surviving_variant(claim.id, fakes.MUTANTS))


@pytest.mark.parametrize(("own", "becomes"), ATTACKED)
def test_a_control_that_passes_leaves_a_claim_on_draws_vacuous(own, becomes):
    claim = fakes.settled(fakes.CLAIM, own)
    silent = ControlOutcome("half of C", ("same",), claim.id, False, Status.SUPPORTED, "p(true) 1")
    assert claim.with_findings(*controls.passing_control(claim.id, [silent])).status == becomes
    assert not list(controls.passing_control(claim.id, [replace(silent, fired=True)]))
