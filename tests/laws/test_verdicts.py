"""A status comes from `settle` alone, one place builds a verdict, and nothing that is told hangs on printed text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import fakes
import numpy as np
import pytest

import theorax
from theorax import decide
from theorax.decide.findings import Finding, Found, settle
from theorax.decide.status import Side, Status
from theorax.text.codec import Malformed

PACKAGE = Path(theorax.__file__).parent
AGAINST_DRAWS = {Finding.INSENSITIVE, Finding.CANNOT_FAIL, Finding.WITHHELD}
HOME = PACKAGE / "decide" / "verdict.py"


def calls(name: str) -> Iterator[tuple[Path, ast.Call]]:
    """Every call of this name in the package."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            if getattr(called, "id", getattr(called, "attr", None)) == name:
                yield file, node


def test_one_place_builds_a_verdict():
    assert [file for file, _ in calls("Verdict")] == [HOME]


@pytest.mark.parametrize("status", Status)
def test_no_verdict_has_a_status_that_its_findings_do_not_give(status):
    claim = fakes.verdict(status)
    for other in set(Status) - {status}:
        with pytest.raises(Malformed, match="does not follow from the findings"):
            replace(claim, status=other)
    with pytest.raises(Malformed, match="does not follow"):
        replace(claim, sentence="Another.")
    with pytest.raises(Malformed, match="does not follow"):
        replace(claim, rigorous=not claim.rigorous)


@pytest.mark.parametrize("finding", Finding)
def test_every_finding_is_passed_by_code(finding):
    named = f"Finding.{finding.name}"
    home = PACKAGE / "decide" / "findings.py"
    assert any(named in file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py") if file != home)


@pytest.mark.parametrize("further", Finding)
@pytest.mark.parametrize("own", Finding)
def test_a_further_finding_is_settled_with_the_others(own, further):
    claim = fakes.settled(fakes.CLAIM, own, sentence="the first")
    after = claim.with_findings(Found(further, "the second"))
    assert after.status is settle([own, further])
    # What is told is what decided: where one alone comes to another status, the other one is told.
    if settle([own]) is not after.status:
        assert after.sentence != "the first" or {own, further} & AGAINST_DRAWS
    if settle([further]) is not after.status:
        assert after.sentence != "the second" or {own, further} & AGAINST_DRAWS


STATEMENTS = ["q", "E[x | y ≤ 3] = 0", "E[x | y ≥ 3] = 0", "q = O(n)  as n → ∞", "q = Ω(n)  as n → ∞", "a ≤ q ≤ b"]


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("claim", [fakes.CLAIM, fakes.RATE], ids=lambda claim: claim.kind)
def test_what_is_told_never_depends_on_how_the_statement_is_printed(claim, side):
    told = {str(replace(claim, statement=text, side=side)).split("\n", 1)[1] for text in STATEMENTS}
    assert len(told) == 1


def test_the_side_of_a_claim_is_told(rng):
    plan = decide.plan_mean(to=0.5, margin=0.2, draws=400, sd=1.0, of="x | y ≤ 3")
    found = decide.mean(plan, 0.5 + rng.standard_normal(400) / 2)
    assert found.side is Side.EQUAL and "away from" in str(found) and "above" not in str(found)
    rate = decide.plan_rate([8, 16, 32, 64], exponent=-1, margin=0.4, side="at most")
    found = decide.rate(rate, [np.exp(0.1 * rng.standard_normal(32)) / n for n in rate.sizes])
    assert (found.side, found.direction) == (Side.AT_MOST, "decay") and "or more above" in str(found)


@pytest.mark.parametrize("status", Status)
def test_the_order_of_badness_is_one(status):
    assert status.holds == (status.severity < 3)
