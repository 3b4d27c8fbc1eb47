"""Promises of green words: their first line, the groups of their ledger, controls that are missing, limits that are told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import fakes
import pytest
from test_document import report

from theorax.decide.promise import GROUPS, UNSEEN, grouped, promise
from theorax.decide.status import Status
from theorax.decide.verdict import Assumption, Standing
from theorax.reports import summary
from theorax.reports.claim_facts import NO_CONTROL
from theorax.reports.renderings import render
from theorax.reports.theorem_text import EVERYTHING
from theorax.text import plain
from theorax.verifiers.unseen import Unseen

ROOT = Path(__file__).parents[2]
LINES = tuple(Assumption("moment", f"a line that is {standing.value}", standing) for standing in Standing)


@pytest.mark.parametrize("status", Status)
def test_only_a_green_word_promises_and_it_says_how_for_what_and_what_is_believed(status):
    claim = replace(fakes.verdict(status), ledger=LINES, scope="for gamma in [0, 1]", level=None)
    first = promise(claim)
    assert bool(first) == status.holds
    if first:
        assert first.startswith(f"{status}")
        for part in ("for gamma in [0, 1]", "Held fixed: a line that is held fixed", "Assumed: moment"):
            assert part in first


def test_a_level_and_a_hypothesis_are_named():
    assert promise(fakes.CLAIM) == (
        "SUPPORTED by a test at level 0.025 as T → ∞ under the declared class. Assumed: class, hypothesis iid."
    )
    assert promise(replace(fakes.CLAIM, ledger=())).endswith("Nothing was assumed.")


def test_a_ledger_has_a_group_for_every_standing_and_loses_no_line():
    assert {standing for standing, _ in GROUPS} == set(Standing)
    told = dict(grouped(LINES, unseen=("rare ones",)))
    assert list(told) == [heading for _, heading in GROUPS]
    assert sum(map(len, told.values())) == len(LINES) + 1
    assert told["Not looked at"] == ("rare ones", "moment: a line that is not looked at")
    assert dict(grouped([Assumption(UNSEEN, "all", Standing.NOT_LOOKED_AT)])) == {"Not looked at": ("all",)}


def words(format_, document):
    """The words of a report in this format, on the terminal with all its parts."""
    if format_ == "terminal":
        return " ".join(plain.render(summary.report_blocks(document, shown=EVERYTHING)).split())
    return " ".join(render(format_, document).split())


@pytest.mark.parametrize("format_", ["terminal", "markdown", "html"])
def test_every_rendering_has_the_groups(format_):
    whole = fakes.outcome("gap")
    found = report(replace(whole, claims=(replace(whole.claims[0], ledger=LINES), whole.claims[1])))
    text = words(format_, found)
    for standing, heading in GROUPS:
        assert heading in text, heading
        assert f"a line that is {standing.value}" in text
    assert "SUPPORTED by a test at level 0.025" in text


@pytest.mark.parametrize("format_", ["terminal", "markdown", "html"])
def test_a_green_claim_without_a_control_says_so(format_):
    whole = fakes.outcome("gap")

    def told(outcome):
        return words(format_, report(outcome)).count(NO_CONTROL)

    assert told(whole) == 0
    assert told(replace(whole, controls=whole.controls[:1])) == 1
    assert told(replace(whole, controls=())) == 2
    # A claim that is not green promises nothing, so nothing is missing.
    assert told(replace(fakes.outcome("gap", "REFUTED", "no"), controls=())) == 1


def test_what_applies_to_several_claims_is_told_once():
    line = Assumption(UNSEEN, Unseen.SELECTION.value, Standing.NOT_LOOKED_AT)
    whole = fakes.outcome("gap")
    both = replace(whole, claims=tuple(replace(claim, ledger=(*claim.ledger, line)) for claim in whole.claims))
    text = words("terminal", report(both))
    assert text.count(Unseen.SELECTION.value) == 1
    one = replace(whole, claims=(both.claims[0], whole.claims[1]))
    assert f"{Unseen.SELECTION.value} (gap)" in words("terminal", report(one))


def test_the_page_on_promises_has_everything_that_cannot_be_seen():
    page = " ".join((ROOT / "docs" / "promises.md").read_text(encoding="utf-8").split())
    assert [part for part in Unseen if part.value not in page] == []
    assert all(heading in page for _, heading in GROUPS)
