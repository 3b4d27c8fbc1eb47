"""Theorems checked whole at quick effort: their claims hold, their controls fire, their mutants die, their numbers stay.

All of them take minutes, so a run of the tests checks a third, and three days in a row check all: a theorem belongs to
the third that the hash of its id names, and a day (UTC) to the third of its ordinal. ``--whole`` checks every theorem:

    python -m pytest tests/power/test_every_theorem.py --whole -n 2

What each found is held against ``every_theorem.json``, a baseline as users keep one. Where a claim is stated, decided or
measured otherwise on purpose, it is written anew:

    verify baseline save tests/power/every_theorem.json --effort quick --fresh
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from theorax.reports import baselines
from theorax.reports.document import document
from theorax.reports.regression import compared
from theorax.runs.runner import run
from theorax.runs.selectors import Selection
from theorax.runs.sources import Sources
from theorax.theorems.catalogue import Catalogue

KEPT = baselines.read(Path(__file__).with_name("every_theorem.json"))
CATALOGUE = Catalogue()
SOURCES = Sources()
SHARES = 3


def share_of(name: str) -> int:
    """The share that a theorem belongs to, whatever other theorems there are."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest(), "big") % SHARES


def chosen(config: pytest.Config) -> list[str]:
    """The theorems that this session checks."""
    today = int(os.environ["THEORAX_TEST_DAY"]) % SHARES
    return [name for name in CATALOGUE.ids if config.getoption("whole") or share_of(name) == today]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for every theorem of this session."""
    if "theorem" in metafunc.fixturenames:
        metafunc.parametrize("theorem", chosen(metafunc.config))


def checked(theorem: str, state: Path) -> dict[str, Any]:
    """The report of a run of this theorem alone, with the settings of what is kept."""
    settings = baselines.settings_of(KEPT["runs"][-1]["settings"], fresh=True, state=str(state))
    found = run(Selection((theorem,), (theorem,)), settings, CATALOGUE, sources=SOURCES)
    return document(found, settings, ["pytest"], "today")


def silent(part: Mapping[str, Any]) -> list[str]:
    """The controls that did not fire, the mutants that live, and what a check without any of them leaves untested."""
    found = [
        f"the control {row['subject']!r} is silent on {row['claim']}" for row in part["controls"] if not row["fired"]
    ]
    killable = [row for row in part["mutants"] if row["expected"] == "killed"]
    found += [f"the mutant {row['name']!r} of {row['claim']} lives" for row in killable if not row["killed"]]
    empty = {"claims": part["claims"], "controls": part["controls"], "mutants to kill": killable}
    return found + [f"it has no {what}" for what, rows in empty.items() if not rows]


def moved(report: Mapping[str, Any]) -> list[str]:
    """The claims whose statement, word or estimate is another than what is kept."""
    ids = {part["id"] for part in report["theorems"]}
    kept = {**KEPT, "theorems": [part for part in KEPT["theorems"] if part["id"] in ids]}
    rows = compared(kept, report, strict=True)["claims"]
    return [
        f"{row['claim']} {row['change']}, {row['outcome']}: {row['before']} -> {row['now']}; {row['why']}"
        for row in rows
        if row["change"] != "kept" or row["exit"]
    ]


def test_the_words_of_its_claims_its_controls_mutants_and_numbers(theorem, tmp_path):
    report = checked(theorem, tmp_path)
    (part,) = report["theorems"]
    assert part["status"] in ("PROVED", "CERTIFIED", "SUPPORTED"), part["reason"]
    assert silent(part) == []
    assert moved(report) == []


def test_every_theorem_is_kept_and_holds():
    assert [part["id"] for part in KEPT["theorems"]] == sorted(CATALOGUE.ids)
    for part in KEPT["theorems"]:
        assert part["status"] in ("PROVED", "CERTIFIED", "SUPPORTED"), part["id"]
        for claim in part["claims"]:
            # What a source prints wrongly is refuted, and another claim says what is right.
            expected = ("REFUTED",) if claim["corrected"] else ("PROVED", "CERTIFIED", "SUPPORTED")
            assert claim["status"] in expected, f"{part['id']}.{claim['id']}"
    assert len({run["settings"]["effort"] for run in KEPT["runs"]} | {"quick"}) == 1


def test_three_days_check_every_theorem():
    shares = [sum(share_of(name) == share for name in CATALOGUE.ids) for share in range(SHARES)]
    assert sum(shares) == len(CATALOGUE.ids)
    assert all(shares)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report of a theorem that is cheap and has claims, controls and mutants."""
    return checked("price_identity", tmp_path_factory.mktemp("state"))


def altered(report: Mapping[str, Any], rows: str, **changes: Any) -> dict[str, Any]:
    """The report with the first of the theorem's claims, controls or killable mutants changed."""
    (part,) = report["theorems"]
    at = next(i for i, row in enumerate(part[rows]) if row.get("expected", "killed") == "killed")
    changed = [row | changes if i == at else row for i, row in enumerate(part[rows])]
    return {**report, "theorems": [{**part, rows: changed}]}


def test_a_silent_control_and_a_living_mutant_are_faults(report):
    (part,) = altered(report, "controls", fired=False)["theorems"]
    assert [fault.split("'")[0] for fault in silent(part)] == ["the control "]
    (part,) = altered(report, "mutants", killed=False)["theorems"]
    assert [fault.split("'")[0] for fault in silent(part)] == ["the mutant "]
    (part,) = report["theorems"]
    assert silent({**part, "controls": []}) == ["it has no controls"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"status": "VACUOUS", "status_unadjusted": "VACUOUS"}, "regressed"),
        ({"status": "PROVED"}, "improved"),
        ({"statement": "1 = 1"}, "restated"),
        ({"id": "another"}, "vanished"),
    ],
)
def test_another_word_statement_or_claim_is_a_fault(report, changes, told):
    assert moved(report) == []
    (claim, *_) = report["theorems"][0]["claims"]
    assert claim["status"] != changes.get("status")
    assert told in " ".join(moved(altered(report, "claims", **changes)))


def test_an_estimate_that_moved_by_a_margin_is_a_fault(report):
    at, claim = next(
        (i, row)
        for i, row in enumerate(report["theorems"][0]["claims"])
        if any(case["margin"] for case in row["cases"])
    )
    case = next(case for case in claim["cases"] if case["margin"])
    shift = 2 * case["margin"]
    ends = [end + shift for end in case["interval"]]
    there = case | {"estimate": case["estimate"] + shift, "interval": ends}
    claims = list(report["theorems"][0]["claims"])
    claims[at] = claim | {"cases": [there if row is case else row for row in claim["cases"]]}
    (fault,) = moved({**report, "theorems": [{**report["theorems"][0], "claims": claims}]})
    assert "kept, moved" in fault
