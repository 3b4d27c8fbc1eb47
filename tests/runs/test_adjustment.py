"""One error budget over a run: the table of the module's docstring, row by row."""

from __future__ import annotations

from dataclasses import replace

import fakes
import pytest

from theorax.decide.findings import Finding
from theorax.decide.status import Status
from theorax.runs.adjustment import adjust_outcomes
from theorax.runs.dependencies import Graph


def outcome(id, status, p_refute, p_support, **more):
    claim = fakes.verdict(status, p_refute=p_refute, p_support=p_support, **more)
    return replace(fakes.outcome(id), status=Status(status), claims=(claim,))


ROWS = [
    ("SUPPORTED", 0.5, 0.02, {}, 1, "SUPPORTED"),
    ("SUPPORTED", 0.5, 0.02, {}, 9, "INCONCLUSIVE"),
    # Charged with attempt 1, .003 is .0049, and .05/9 is .0056; attempt 2 costs four times as much.
    ("SUPPORTED", 0.5, 0.003, {}, 9, "SUPPORTED"),
    ("SUPPORTED", 0.5, 0.003, {"attempt": 2}, 9, "INCONCLUSIVE"),
    ("CERTIFIED", 0.5, 0.02, {}, 9, "CERTIFIED"),
    ("REFUTED", 0.02, 1.0, {}, 1, "INCONCLUSIVE"),
    ("REFUTED", 0.002, 1.0, {}, 9, "INCONCLUSIVE"),
    ("REFUTED", 0.0002, 1.0, {}, 9, "REFUTED"),
    ("REFUTED", 0.02, 1.0, {"finding": Finding.COUNTEREXAMPLE}, 9, "REFUTED"),
    ("INCONCLUSIVE", 0.0001, 0.0001, {}, 1, "INCONCLUSIVE"),
    ("VACUOUS", 0.5, 0.5, {}, 1, "VACUOUS"),
]


@pytest.mark.parametrize(("status", "p_refute", "p_support", "more", "family", "after"), ROWS)
def test_a_row(status, p_refute, p_support, more, family, after):
    # The others are undecided with middling p: they only make the family larger.
    outcomes = {"one": outcome("one", status, p_refute, p_support, **more)}
    outcomes |= {f"o{n}": outcome(f"o{n}", "INCONCLUSIVE", 0.6, 0.6) for n in range(family - 1)}
    adjusted, suite = adjust_outcomes(outcomes, Graph(dict.fromkeys(outcomes, ())))
    assert adjusted["one"].status == after
    assert adjusted["one"].claims[0].status == after
    assert suite.changed == (("one.gap",) if after != status else ())


def test_what_rests_on_a_fallen_theorem_is_blocked():
    outcomes = {"one": outcome("one", "REFUTED", 0.02, 1.0), "two": outcome("two", "SUPPORTED", 0.5, 1e-9)}
    adjusted, _ = adjust_outcomes(outcomes, Graph({"one": (), "two": ("one",)}))
    assert adjusted["two"].status == "BLOCKED"
    assert adjusted["two"].blocked_by == ("one",)
    assert adjusted["two"].claims[0].status == "SUPPORTED"


def test_an_erratum_that_falls_leaves_its_theorem():
    printed = fakes.verdict("REFUTED", id="as_printed", corrected="gap", p_refute=0.02, p_support=1.0)
    whole = replace(fakes.outcome("one"), claims=(fakes.CLAIM, printed))
    adjusted, suite = adjust_outcomes({"one": whole}, Graph({"one": ()}))
    assert suite.changed == ("one.as_printed",)
    assert adjusted["one"].status == "SUPPORTED"
