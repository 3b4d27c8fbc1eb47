"""The report document: it obeys its schema, which refuses what it does not know."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from dataclasses import replace

import fakes
import pytest

from theorax.errors import UsageError
from theorax.reports.document import SCHEMA_VERSION, STATUSES, document, exit_code
from theorax.reports.json import text, write_text
from theorax.reports.reading import OLDEST, validate
from theorax.reports.schemas import SCHEMAS
from theorax.runs.adjustment import adjust
from theorax.runs.dependencies import Graph
from theorax.runs.runner import Record, Run
from theorax.verifiers.settings import Settings


def report(*outcomes, settings=None, interrupted=False):
    found = {outcome.id: outcome for outcome in outcomes}
    adjusted, suite = adjust(found, Graph(dict.fromkeys(found, ())), (settings or Settings()).adjust)
    run = Run(tuple(found), tuple(Record(outcome) for outcome in outcomes), adjusted, suite, 1.5, interrupted)
    return document(run, settings or Settings(), ["verify", "all"], "2026-01-02T03:04:05Z")


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_obeys_the_schema(status):
    validate(report(fakes.outcome("gap", status, "a reason")))


def test_settings_of_every_sort_obey_the_schema():
    settings = Settings(at=(("gamma", "1/4"),), sizes=(("T", (64, 128)),), model="layer.py:layer")
    validate(report(fakes.outcome("gap"), settings=settings))


def test_what_a_reader_relies_on_is_there():
    (theorem,) = report(fakes.outcome("gap"))["theorems"]
    assert {"id", "status", "label", "source", "claims", "controls", "mutants", "proof", "seconds", "kept"} <= set(
        theorem
    )
    claim = theorem["claims"][0]
    wanted = "id kind status reason statement predicted estimate standard_error interval level margin at draws sizes"
    assert {*wanted.split(), "design_hash"} <= set(claim)
    assert (claim["predicted"], claim["estimate"], claim["at"]) == (2.0, 1.9987, {"gamma": "1/4"})
    assert theorem["controls"][0]["fired"] is True
    assert theorem["controls"][0]["breaks"] == ["variance"]


def everywhere(node, path=()):
    """Every object of a document with its place."""
    if isinstance(node, dict):
        yield path
        for name, part in node.items():
            yield from everywhere(part, (*path, name))
    elif isinstance(node, list) and node:
        yield from everywhere(node[0], (*path, 0))


OPEN = {("environment", "versions"), ("settings", "at"), ("settings", "sizes")}


def test_no_object_takes_a_field_that_the_schema_does_not_know():
    whole = report(fakes.outcome("gap"))
    for path in everywhere(whole):
        if path in OPEN or path[-1:] == ("at",):
            continue
        spoiled = deepcopy(whole)
        place = spoiled
        for step in path:
            place = place[step]
        place["surplus"] = 1
        with pytest.raises(UsageError, match="surplus"):
            validate(spoiled)


def test_an_offending_field_is_named_by_its_path():
    whole = report(fakes.outcome("gap"))
    whole["theorems"][0]["claims"][1]["draws"] = "many"
    with pytest.raises(UsageError, match=r"`.theorems\[0\].claims\[1\].draws`"):
        validate(whole)


def test_the_schema_refuses_additional_properties_in_every_object():
    def objects(node):
        if isinstance(node, dict):
            if node.get("type") == "object":
                yield node
            for part in node.values():
                yield from objects(part)
        elif isinstance(node, list):
            for part in node:
                yield from objects(part)

    for version in range(OLDEST, SCHEMA_VERSION + 1):
        schema = json.loads((SCHEMAS / f"v{version}.json").read_text(encoding="utf-8"))
        assert all("additionalProperties" in node for node in objects(schema))


def test_numbers_that_are_not_finite_become_null():
    case = replace(fakes.CASE, interval=(0.5, math.inf), breakdown=math.inf, estimate=math.nan)
    outcome = replace(fakes.outcome("gap"), claims=(replace(fakes.CLAIM, cases=(case,)),))
    found = report(outcome)
    validate(found)
    assert found["theorems"][0]["claims"][0]["interval"] == [0.5, None]
    json.loads(text(found))


CODES = [
    ([], 5),
    (["PROVED", "CERTIFIED", "SUPPORTED"], 0),
    (["SUPPORTED", "INCONCLUSIVE"], 4),
    (["VACUOUS"], 4),
    (["BLOCKED"], 4),
    (["SUPPORTED", "ERROR", "INCONCLUSIVE"], 3),
    (["ERROR", "REFUTED"], 1),
]


@pytest.mark.parametrize(("statuses", "code"), CODES)
def test_exit_codes(statuses, code):
    assert exit_code(statuses) == code
    assert exit_code(statuses, interrupted=True) == 130


def test_a_file_is_written_whole(tmp_path):
    path = tmp_path / "report.json"
    path.write_text("old", encoding="utf-8")
    write_text(text(report(fakes.outcome("gap"))), path)
    validate(json.loads(path.read_text(encoding="utf-8")))
    assert [file.name for file in tmp_path.iterdir()] == ["report.json"]


def test_an_unwritable_file_is_a_sentence(tmp_path):
    with pytest.raises(UsageError, match="could not be written"):
        write_text(text(report(fakes.outcome("gap"))), tmp_path / "no" / "report.json")
