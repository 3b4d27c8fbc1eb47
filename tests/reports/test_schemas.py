"""Comparisons and replays obey schemas of their own, which refuse what they do not know."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace

import fakes
import pytest
from test_document import everywhere, report

from theorax.reports import baselines as files
from theorax.reports.regression import compared
from theorax.reports.replaying import held_against
from theorax.reports.schemas import SCHEMAS, fault, obeyed
from theorax.verifiers.settings import Settings


def comparison():
    """One with every change: a claim that moved, one of each worse word, one that is gone, one that is new."""
    before = [fakes.outcome(name) for name in ("gap", "edge", "bulk", "gone", "left", "unsaid")]
    claim = fakes.CLAIM
    moved = replace(claim, cases=(replace(claim.cases[0], estimate=2.4), *claim.cases[1:]))
    now = [
        replace(before[0], claims=(moved, *before[0].claims[1:])),
        fakes.outcome("edge", "REFUTED", "no"),
        replace(before[2], claims=(replace(claim, statement="another", id="gap"), replace(claim, id="new"))),
        fakes.outcome("left", "BLOCKED", "It rests on edge."),
        fakes.outcome("fresh"),
    ]
    later = report(*now, settings=Settings(seed=3))
    return compared(files.taken(report(*before)), later, known={"gap", "edge", "bulk", "left", "unsaid", "fresh"})


def replay():
    """One with a number, a word and a list that differ, and a theorem that is gone."""
    then = report(fakes.outcome("gap"), fakes.outcome("gone"))
    now = deepcopy(then)
    del now["theorems"][1]
    claim = now["theorems"][0]["claims"][0]
    claim["cases"][0]["estimate"] += 0.01
    claim["sizes"] = [1.0]
    claim["statement"] = "another"
    claim["cases"][0]["interval"] = None
    now["theorems"][0]["controls"][0]["fired"] = False
    return held_against(then, now)


WRITTEN = {"comparison-v1": comparison, "replay-v1": replay}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_obeys_its_schema(name):
    found = json.loads(json.dumps(WRITTEN[name](), allow_nan=False))
    assert fault(found, name) is None


def test_the_samples_hold_every_kind_of_row():
    rows = comparison()["claims"]
    assert {row["change"] for row in rows} == {"vanished", "restated", "appeared", "regressed", "kept"}
    assert {row["how"] for row in rows} >= {"form", "statistical", None}
    (first, gone) = replay()["theorems"]
    assert gone["result"] == "not replayed"
    assert {type(row["then"]) for row in first["differences"]} == {float, str, list, bool}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_a_schema_does_not_know_is_refused_everywhere(name):
    whole = json.loads(json.dumps(WRITTEN[name]()))
    free = {("inputs",), ("summary", "changes"), ("summary", "outcomes")}  # whose keys are names
    places = [
        path for path in everywhere(whole) if path not in free and path[-1:] not in (("at",), ("then",), ("now",))
    ]
    assert len(places) >= 3
    for path in places:
        spoiled = deepcopy(whole)
        node = spoiled
        for step in path:
            node = node[step]
        node["surprise"] = 1
        assert fault(spoiled, name) is not None, path
        del node["surprise"]
        for key in list(node):
            kept = node.pop(key)
            assert fault(spoiled, name) is not None, (path, key)
            node[key] = kept


@pytest.mark.parametrize(
    ("name", "change", "place"),
    [
        ("comparison-v1", lambda found: found["claims"][0].update(outcome="perhaps"), ".claims[0].outcome"),
        ("comparison-v1", lambda found: found["summary"].update(exit_code=2), ".summary.exit_code"),
        ("comparison-v1", lambda found: found.update(comparison_version=2), ".comparison_version"),
        ("replay-v1", lambda found: found["theorems"][0].update(result="so-so"), ".theorems[0].result"),
        ("replay-v1", lambda found: found["theorems"][0]["differences"][0].update(rank=""), ".theorems[0].differences[0].rank"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_place(name, change, place):
    found = json.loads(json.dumps(WRITTEN[name]()))
    change(found)
    wrong = fault(found, name)
    assert wrong is not None and wrong[0] == place
    with pytest.raises(RuntimeError, match="is not what schema"):
        obeyed(found, name)


def test_every_schema_is_a_schema_that_refuses_additions():
    from jsonschema import Draft202012Validator

    for path in SCHEMAS.glob("*.json"):
        schema = json.loads(path.read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        loose = [place for place in objects(schema) if "additionalProperties" not in place]
        assert loose == [], path.name


def objects(node):
    """Every part of a schema that describes an object by its fields."""
    if isinstance(node, dict):
        if node.get("type") == "object" and "properties" in node:
            yield node
        for part in node.values():
            yield from objects(part)
    elif isinstance(node, list):
        for part in node:
            yield from objects(part)
