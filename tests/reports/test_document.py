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
import numpy as np
import pytest

from theorax.decide.findings import Finding
from theorax.decide.status import Status
from theorax.errors import UsageError
from theorax.reports.assembly import document
from theorax.reports.document import ClaimReport, Document, RunSummary, TheoremReport, exit_code
from theorax.reports.json import text, writable, write_text
from theorax.reports.reading import current
from theorax.runs.listening import Record
from theorax.runs.runner import Run
from theorax.text.codec import ANEW, built, json_values
from theorax.verifiers.settings import Settings


def report(*outcomes, settings=None, interrupted=False):
    found = {outcome.id: outcome for outcome in outcomes}
    run = Run(tuple(found), tuple(Record(outcome) for outcome in outcomes), 1.5, interrupted)
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
    ([], False, 5),
    (["PROVED", "CERTIFIED", "SUPPORTED"], False, 0),
    (["SUPPORTED", "INCONCLUSIVE"], False, 4),
    (["VACUOUS"], False, 4),
    (["BLOCKED"], False, 4),
    (["SUPPORTED", "ERROR", "INCONCLUSIVE"], False, 3),
    (["ERROR", "REFUTED"], True, 1),
    (["REFUTED", "SUPPORTED"], False, 4),
    (["ERROR", "REFUTED"], False, 3),
]


@pytest.mark.parametrize(("statuses", "refuted", "code"), CODES)
def test_exit_codes(statuses, refuted, code):
    found = [Status(word) for word in statuses]
    assert exit_code(found, refuted=refuted) == code
    assert exit_code(found, refuted=refuted, interrupted=True) == 130


def alone(id, status, p_refute, p_support, **more):
    """A theorem of one claim, decided by a test with these p-values."""
    claim = fakes.verdict(status, p_refute=p_refute, p_support=p_support, **more)
    return replace(fakes.outcome(id), status=Status(status), claims=(claim,))


def test_a_refutation_on_its_own_ends_with_four():
    """Charged with attempt 1, .0005 is .0008; the run holds it at .01/k, k the number of claims with larger p-values."""
    red, others = alone("red", "REFUTED", 5e-4, 1.0), [alone(f"o{n}", "SUPPORTED", 0.6, 1e-9) for n in range(20)]
    held, fell = report(red, *others[:5]), report(red, *others)
    assert (held.summary.exit_code, fell.summary.exit_code) == (1, 4)
    assert [held.theorems[0].alone, fell.theorems[0].alone] == [False, True]
    assert (held.together.red_alone, fell.together.red_alone) == ((), ("red.gap",))
    assert held.theorems[0].status == fell.theorems[0].status == "REFUTED"
    assert held.together.sentence == (
        "All 5 green verdicts hold jointly at 2.5 %. The refutation holds over the run at 1 %."
    )
    assert "0 of 1 refutations hold over the run at 1 %; on their own only: red.gap." in fell.together.sentence


def test_a_rigorous_refutation_holds_over_every_run():
    red = alone("red", "REFUTED", None, None, finding=Finding.COUNTEREXAMPLE)
    found = report(red, *(alone(f"o{n}", "SUPPORTED", 0.6, 1e-9) for n in range(400)))
    assert (found.summary.exit_code, found.together.red_alone, found.together.tested) == (1, (), 400)


def test_an_erratum_on_its_own_changes_no_exit_code():
    printed = fakes.verdict("REFUTED", id="as_printed", corrected="gap", p_refute=5e-3, p_support=1.0)
    whole = replace(fakes.outcome("one"), claims=(fakes.CLAIM, printed))
    found = report(whole)
    assert found.together.red_alone == ("one.as_printed",)
    assert (found.summary.exit_code, found.theorems[0].status) == (0, "SUPPORTED")


@pytest.mark.parametrize("seed", range(20))
def test_no_word_depends_on_the_others_of_its_run(seed):
    """Whatever else is asked, and in whatever order, a claim has one word; the statement about the run alone changes."""
    rng = np.random.default_rng(seed)

    def one(n):
        status = ["SUPPORTED", "REFUTED", "INCONCLUSIVE", "PROVED"][rng.integers(4)]
        p = None if status == "PROVED" else float(10.0 ** -rng.uniform(1, 9))
        return alone(f"t{n}", status, p, p, attempt=int(rng.integers(1, 4)))

    outcomes = [one(n) for n in range(17)]
    together = report(*(outcomes[at] for at in rng.permutation(17)))
    for outcome in outcomes:
        (own,) = report(outcome).theorems
        other = together.by_id[outcome.id]
        assert (own.status, own.reason) == (other.status, other.reason) == (outcome.status, outcome.reason)
        assert [claim.sentence for claim in own.claims] == [claim.sentence for claim in other.claims]
    # The statement depends on the set of claims, and not on their order.
    assert set(report(*outcomes).together.green_alone) == set(together.together.green_alone)
    assert set(report(*outcomes).together.red_alone) == set(together.together.red_alone)


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
