"""Parts of a page: a ledger told once, variants by what a reader needs of them, cases that say the same."""

from __future__ import annotations

from dataclasses import replace

import fakes
import pytest
from test_document import report

from theorax.decide import inequalities
from theorax.decide.facts import FactKey, by_key, facts
from theorax.reports.html import page_parts
from theorax.verifiers.outcome import MutantOutcome


@pytest.fixture
def claim():
    return report(fakes.outcome("gap")).theorems[0].claims[0]


def told(claims, hypotheses=()):
    return {line.text: line.claims for group in page_parts.joint_ledger(claims, hypotheses) for line in group.lines}


def test_a_line_is_told_once_with_the_claims_that_it_is_told_of(claim):
    first, second, third = (replace(claim, id=id) for id in ("one", "two", "three"))
    own = replace(third, unseen=(*claim.unseen, "what the third alone is blind to"))
    found = told((first, second, own))
    assert found.pop("what the third alone is blind to") == "three"
    assert set(found.values()) == {""}
    bare = replace(first, ledger=(), unseen=("what the third alone is blind to",))
    found = told((bare, second, own))
    assert found.pop("what the third alone is blind to") == "all but two"
    assert set(found.values()) == {"all but one"}


def test_no_line_of_a_claim_is_lost(claim):
    other = replace(claim, id="other", ledger=claim.ledger[:1], unseen=())
    lines = [line for groups in (claim, other) for line in told((groups,))]
    assert set(lines) == set(told((claim, other)))


def test_hypotheses_whose_sentences_stand_nearby_are_named(claim):
    part = report(fakes.outcome("gap")).theorems[0]
    row = part.hypotheses[0]
    line = replace(claim.ledger[0], kind="hypothesis", text=f"{row.name}: {row.sentence}")
    own = replace(claim, ledger=(line,), unseen=())
    assert list(told((own,))) == [f"hypothesis: {row.name}: {row.sentence}"]
    assert list(told((own,), part.hypotheses)) == [f"hypothesis: {row.name}"]


def test_variants_of_the_file_say_what_they_state_and_those_of_a_rule_are_named(claim):
    part = report(fakes.outcome("gap")).theorems[0]
    wrong: MutantOutcome = part.mutants[0]
    of_file = replace(wrong, origin="file", name="twice", statement="s = 4", detail="far off")
    made = [replace(wrong, origin="machine", name=name, statement="long") for name in ("x 2", "x 3")]
    other = replace(made[0], claim="other", name="x 5")
    rows = page_parts.variant_rows((made[0], of_file, other, made[1]))
    assert [(row.claim, row.names) for row in rows] == [
        (wrong.claim, "twice"),
        (wrong.claim, "x 2; x 3"),
        ("other", "x 5"),
    ]
    assert rows[0].statement == "s = 4"
    assert rows[0].verdict == f"{wrong.status}: far off"
    assert {row.statement for row in rows[1:]} == {""}


def test_a_verdict_that_all_cases_share_is_told_in_their_title(claim):
    assert page_parts.common_status(claim) == str(claim.cases[0].status)
    refuted = report(fakes.outcome("gap", "REFUTED")).theorems[0].claims[0].cases[0]
    assert page_parts.common_status(replace(claim, cases=(*claim.cases, refuted))) == ""


def test_a_statement_is_repeated_as_text_where_a_screen_holds_it(claim):
    shown = replace(claim, latex="s", statement="a   \nb")
    assert page_parts.as_text(shown) == "a\nb"
    assert page_parts.as_text(replace(shown, latex="")) == ""
    assert page_parts.as_text(replace(shown, statement="a" * (page_parts.SCREEN + 1))) == ""


def test_the_number_of_a_bound_is_a_share_of_draws_or_an_excess(claim):
    def measured(of):
        return by_key(facts(of))[FactKey.MEASURED].value

    counted = replace(claim, words=inequalities.WORDS)
    assert measured(counted).startswith("share of violations")
    at_points = replace(counted, cases=tuple(replace(case, interval=None) for case in counted.cases))
    assert measured(at_points).startswith("largest excess over the bound")
