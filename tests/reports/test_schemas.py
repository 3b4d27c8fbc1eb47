"""The JSON files that theorax writes: each schema is generated from its type, and both refuse the same."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace

import fakes
import pytest
from jsonschema import Draft202012Validator
from test_document import at, edited, everywhere, report

from theorax.reports import baselines as files
from theorax.reports.regression import compared
from theorax.reports.replaying import held_against
from theorax.reports.schemas import FOLDER, KINDS, schema_text
from theorax.text.codec import Malformed, built, json_values
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

    def change(found):
        del found["theorems"][1]
        claim = found["theorems"][0]["claims"][0]
        claim["cases"][0]["estimate"] += 0.01
        claim["sizes"] = [1.0]
        claim["statement"] = "another"
        claim["cases"][0]["interval"] = None
        found["theorems"][0]["controls"][0]["fired"] = False

    return held_against(then, edited(then, change))


def whole():
    """A report with an open interval, a kept result and every verdict."""
    settings = Settings(at=(("gamma", "1/4"),), sizes=(("T", (64, 128)),))
    return report(
        *(fakes.outcome(status.lower(), status, "a reason") for status in ("SUPPORTED", "ERROR")), settings=settings
    )


WRITTEN = {"report": whole, "baseline": lambda: files.taken(whole()), "comparison": comparison, "replay": replay}


def schema(name):
    """The schema as the package has it."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def test_every_type_has_its_schema_and_every_schema_its_type():
    assert set(KINDS) == set(WRITTEN) == {path.stem for path in FOLDER.glob("*.json")}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_schema_is_what_its_type_generates(name):
    """Where a type changed: `python -m theorax.reports.schemas` writes it anew."""
    assert (FOLDER / f"{name}.json").read_text(encoding="utf-8") == schema_text(name)


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_obeys_its_schema_and_is_read_back(name):
    made = WRITTEN[name]()
    found = json.loads(json.dumps(json_values(made), allow_nan=False))
    assert list(Draft202012Validator(schema(name)).iter_errors(found)) == []
    assert json_values(built(KINDS[name], found)) == json_values(made)


def test_the_samples_hold_every_kind_of_row():
    rows = comparison().claims
    assert {row.change for row in rows} == {"vanished", "restated", "appeared", "regressed", "kept"}
    assert {row.how for row in rows} >= {"form", "statistical", None}
    (first, gone) = replay().theorems
    assert gone.result == "not replayed"
    assert {type(row.then) for row in first.differences} == {float, str, list, bool}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_type_and_its_schema_refuse_the_same(name):
    """Every field gone, of another sort, or one too many: neither takes it."""
    found, check = json.loads(json.dumps(json_values(WRITTEN[name]()))), Draft202012Validator(schema(name))
    free = {
        ("changed", "sources"),
        ("changed", "versions"),
        ("changed", "settings"),
        ("summary", "changes"),
        ("summary", "outcomes"),
        ("summary", "statuses"),
    }  # their keys are names
    loose = ("at", "then", "now", "sizes", "versions")
    places = [path for path in everywhere(found) if path not in free and path[-1:] not in [(name,) for name in loose]]
    assert len(places) >= 3
    for path in places:
        for key in ("surprise", *at(found, path)):
            for spoil in ("gone", "another"):
                spoiled = deepcopy(found)
                node = at(spoiled, path)
                if spoil == "gone" and key in node:
                    del node[key]
                elif key in loose and spoil == "another":
                    continue
                else:
                    node[key] = [{"no": ["such", {}]}]
                assert not check.is_valid(spoiled), (path, key, spoil)
                with pytest.raises(Malformed):
                    built(KINDS[name], spoiled)


@pytest.mark.parametrize(
    ("name", "change", "place"),
    [
        ("comparison", lambda found: found["claims"][0].update(outcome="perhaps"), ".claims[0].outcome"),
        ("comparison", lambda found: found["summary"].update(exit_code=2), ".summary.exit_code"),
        ("comparison", lambda found: found.update(comparison_version=1), ".comparison_version"),
        ("comparison", lambda found: found.update(comparison_version=True), ".comparison_version"),
        ("comparison", lambda found: found["summary"].update(identical=-1), ".summary.identical"),
        ("comparison", lambda found: found.update(created="yesterday"), ".created"),
        ("replay", lambda found: found["theorems"][0].update(result="so-so"), ".theorems[0].result"),
        ("replay", lambda found: found["theorems"][0]["differences"][0].update(rank=""), ".theorems[0].differences[0].rank"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_place(name, change, place):
    found = json.loads(json.dumps(json_values(WRITTEN[name]())))
    change(found)
    assert not Draft202012Validator(schema(name)).is_valid(found)
    with pytest.raises(Malformed) as caught:
        built(KINDS[name], found)
    assert caught.value.place == place


def test_every_schema_is_a_schema_that_refuses_additions():
    for path in FOLDER.glob("*.json"):
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
