"""The report document: what its type refuses, its schema refuses too, and what follows from the rest is held against it."""

from __future__ import annotations

import json
import math
import os
import stat
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import fakes
import pytest

from theorax.decide.status import Status
from theorax.errors import UsageError
from theorax.reports.assembly import document
from theorax.reports.document import ClaimReport, Document, RunSummary, TheoremReport, exit_code
from theorax.reports.json import text, writable, write_text
from theorax.reports.reading import current
from theorax.runs.adjustment import adjust_outcomes
from theorax.runs.dependencies import Graph
from theorax.runs.listening import Record
from theorax.runs.runner import Run
from theorax.text.codec import ANEW, built, json_values
from theorax.verifiers.settings import Settings


def report(*outcomes, settings=None, interrupted=False):
    found = {outcome.id: outcome for outcome in outcomes}
    adjusted, suite = adjust_outcomes(found, Graph(dict.fromkeys(found, ())))
    run = Run(tuple(found), tuple(Record(outcome) for outcome in outcomes), adjusted, suite, 1.5, interrupted)
    return document(run, settings or Settings(), ["verify", "all"], "2026-01-02T03:04:05Z")


def remade(found):
    """The document in edited JSON values, with what follows from the rest made anew."""
    for theorem in found["theorems"]:
        theorem.update(dict.fromkeys(TheoremReport.DERIVED, ANEW))
        for claim in theorem["claims"]:
            claim.update(dict.fromkeys(ClaimReport.DERIVED, ANEW))
    own = {name: found["summary"][name] for name in ("interrupted", "seconds")}
    lists = {name: tuple(found["summary"][name]) for name in ("unfinished", "troubles")}
    theorems = [built(TheoremReport, theorem) for theorem in found["theorems"]]
    return built(Document, found | {"summary": json_values(RunSummary.of(theorems, **own, **lists))})


def edited(document, change):
    """The document with a change of its JSON values."""
    found = json_values(document)
    change(found)
    return remade(found)


def turned(claim, status, **told):
    """The JSON values of a claim, with this status and what follows from its finding."""
    found = json_values(fakes.verdict(status, **told))
    return claim | {name: found[name] for name in ("findings", "status", "reason", "sentence", "shown_by", "rigorous")}


@pytest.mark.parametrize("status", Status)
def test_every_status_is_read_back(status):
    found = report(fakes.outcome("gap", status, "a reason"))
    assert current(json_values(found)) == found


def test_settings_of_every_sort_are_read_back():
    settings = Settings(at=(("gamma", "1/4"),), sizes=(("T", (64, 128)),), model="layer.py:layer")
    found = report(fakes.outcome("gap"), settings=settings)
    assert current(json_values(found)) == found
    assert found.settings.settings() == settings


def test_what_a_reader_of_the_json_relies_on_is_there():
    (theorem,) = json_values(report(fakes.outcome("gap")))["theorems"]
    assert {"id", "status", "label", "source", "claims", "controls", "mutants", "proof", "seconds", "kept"} <= set(
        theorem
    )
    claim = theorem["claims"][0]
    wanted = "id kind status reason statement predicted estimate standard_error interval level margin at draws sizes as"
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


def at(node, path):
    """The part of a document at this place."""
    for step in path:
        node = node[step]
    return node


def told_wrong(found):
    """What a reader is told of a document that is not one."""
    with pytest.raises(UsageError) as caught:
        current(found)
    return str(caught.value)


OPEN = {("environment", "versions"), ("settings", "at"), ("settings", "sizes"), ("summary", "statuses")}


def test_no_object_takes_a_field_that_is_not_known_or_goes_without_one():
    whole = json_values(report(fakes.outcome("gap")))
    for path in everywhere(whole):
        if path in OPEN or path[-1:] == ("at",):
            continue
        spoiled = deepcopy(whole)
        at(spoiled, path)["surplus"] = 1
        assert "surplus" in told_wrong(spoiled)
        for key in at(whole, path):
            spoiled = deepcopy(whole)
            del at(spoiled, path)[key]
            assert repr(key) in told_wrong(spoiled) or "schema_version" in told_wrong(spoiled)


def test_an_offending_field_is_named_by_its_path():
    whole = json_values(report(fakes.outcome("gap")))
    whole["theorems"][0]["claims"][1]["draws"] = "many"
    assert "`.theorems[0].claims[1].draws`" in told_wrong(whole)


DERIVED = [
    (("summary", "exit_code"), 1),
    (("summary", "theorems"), 2),
    (("summary", "statuses", "SUPPORTED"), 3),
    (("summary", "draws"), 0),
    (("theorems", 0, "kept"), True),
    (("theorems", 0, "claims", 0, "estimate"), 2.5),
    (("theorems", 0, "claims", 0, "worst"), 7),
    (("theorems", 0, "claims", 0, "worst"), -1),
    (("theorems", 0, "reads"), [99]),
]


@pytest.mark.parametrize(("path", "value"), DERIVED)
def test_what_does_not_follow_from_the_rest_is_refused(path, value):
    whole = json_values(report(fakes.outcome("gap")))
    at(whole, path[:-1])[path[-1]] = value
    assert f".{path[0]}" in told_wrong(whole)


def test_numbers_that_are_not_finite_become_null():
    case = replace(fakes.CASE, interval=(0.5, math.inf), breakdown=math.inf, estimate=math.nan)
    outcome = replace(fakes.outcome("gap"), claims=(replace(fakes.CLAIM, cases=(case,)),))
    found = report(outcome)
    assert found.theorems[0].claims[0].interval == (0.5, None)
    assert current(json.loads(text(found))) == found


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
    found = [Status(word) for word in statuses]
    assert exit_code(found) == code
    assert exit_code(found, interrupted=True) == 130


def test_a_file_is_written_whole(tmp_path):
    path = tmp_path / "report.json"
    path.write_text("old", encoding="utf-8")
    write_text(text(report(fakes.outcome("gap"))), path)
    assert current(json.loads(path.read_text(encoding="utf-8"))) == report(fakes.outcome("gap"))
    assert [file.name for file in tmp_path.iterdir()] == ["report.json"]


def test_a_link_stays_and_the_file_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    kept, link = tmp_path / "real" / "report.json", tmp_path / "link.json"
    kept.write_text("old", encoding="utf-8")
    kept.chmod(0o640)
    for target in (kept, tmp_path / "real" / "other.json"):  # the second is not there yet
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        writable(link)
        write_text("new", link)
        assert link.is_symlink() and target.read_text(encoding="utf-8") == "new"
    assert kept.stat().st_mode & 0o777 == 0o640
    assert sorted(file.name for file in (tmp_path / "real").iterdir()) == ["other.json", "report.json"]


def test_a_link_in_a_circle_is_a_sentence(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(UsageError, match="could not be written"):
        write_text("new", tmp_path / "a")


def test_a_device_stays_a_device(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("/dev/null")
    for place in (Path("/dev/null"), link):
        before = place.stat()
        writable(place)
        write_text("new", place)
        assert stat.S_ISCHR(place.stat().st_mode) and place.stat().st_ino == before.st_ino
    if Path("/dev/full").exists():
        with pytest.raises(UsageError, match="No space left"):
            write_text("new", Path("/dev/full"))


def test_a_pipe_is_written_into_where_somebody_reads(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="nobody reads from it"):
        write_text("new", pipe)
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8") as reader:
        writable(pipe)
        write_text("new", pipe)
        assert reader.read() == "new"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_stream_that_leads_to_a_file_keeps_what_was_written(tmp_path):
    said = "from pathlib import Path; from theorax.reports.json import *; print('one', flush=True); "
    said += "writable(Path('/dev/stdout')); write_text('two\\n', Path('/dev/stdout')); print('three')"
    with (tmp_path / "log").open("a") as log:
        subprocess.run([sys.executable, "-c", said], stdout=log, check=True)
    assert (tmp_path / "log").read_text(encoding="utf-8") == "one\ntwo\nthree\n"


def test_a_long_name_is_a_sentence(tmp_path):
    with pytest.raises(UsageError, match="cannot be written"):
        writable(tmp_path / ("n" * 300))
    write_text("new", tmp_path / ("n" * 250))  # which leaves no room for a longer one beside it


def test_an_unwritable_file_is_a_sentence(tmp_path):
    with pytest.raises(UsageError, match="could not be written"):
        write_text(text(report(fakes.outcome("gap"))), tmp_path / "no" / "report.json")
