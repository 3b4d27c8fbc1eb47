"""The runner: what is checked, kept, blocked, and what an accident costs."""

from __future__ import annotations

from dataclasses import replace

import fakes
import pytest

from theorax.errors import UsageError
from theorax.runs import known_files, runner
from theorax.runs.expected_seconds import shipped_seconds
from theorax.runs.listening import Silent
from theorax.runs.runner import run
from theorax.runs.selectors import select
from theorax.runs.sources import Sources
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.settings import Settings


@pytest.fixture
def go(tmp_path, monkeypatch):
    """A run over a small library; it tells every outcome by id."""
    root = fakes.library(tmp_path / "papers")
    fakes.worker_environment(monkeypatch)
    (tmp_path / "calls").mkdir()
    monkeypatch.setenv("THEORAX_TEST_CALLS", str(tmp_path / "calls"))

    def call(*words, files=None, listener=None, **settings):
        fakes.library(root, **(files or {}))
        catalogue = fakes.catalogue(root)
        chosen = Settings(state=str(tmp_path / "state"), **settings)
        return run(select(words, catalogue), chosen, catalogue, "fakes:check", listener)

    return call


def statuses(found):
    return {record.outcome.id: record.outcome.status for record in found.records}


def kept(found):
    return {record.outcome.id for record in found.records if record.kept_from is not None}


def test_ancestors_come_first_and_only_what_is_selected_is_checked(go):
    assert list(statuses(go("+gap"))) == ["lanczos", "bulk", "gap"]
    assert list(statuses(go("gap", fresh=True))) == ["gap"]


def test_an_ancestor_that_nobody_checked_is_told(go):
    assert go("gap").unchecked == {"gap": ("bulk", "lanczos")}
    go("+gap")
    assert go("gap").unchecked == {"gap": ()}


def test_a_copied_file_is_a_theorem_of_its_own(go):
    copies = {"open": fakes.stated(), "refuted": fakes.stated()}
    assert statuses(go("open", "refuted", files=copies)) == {"open": "INCONCLUSIVE", "refuted": "REFUTED"}
    assert statuses(go("open", "refuted")) == {"open": "INCONCLUSIVE", "refuted": "REFUTED"}
    assert statuses(go("gap", "open")) == {"gap": "SUPPORTED", "open": "INCONCLUSIVE"}
    assert kept(go("open", "refuted")) == {"open", "refuted"}


def test_the_copy_of_an_ancestor_does_not_stand_for_it(go):
    files = {"refuted": fakes.stated(), "sound": fakes.stated(), "next": fakes.stated(("sound",))}
    go("refuted", files=files)
    found = go("next")
    assert statuses(found) == {"next": "SUPPORTED"}
    assert found.unchecked == {"next": ("sound",)}


def test_what_was_found_is_kept(go):
    assert kept(go("+gap")) == set()
    assert kept(go("+gap")) == {"lanczos", "bulk", "gap"}
    assert kept(go("+gap", fresh=True)) == set()
    assert kept(go("+gap", seed=1)) == set()


@pytest.mark.parametrize("id", ["edits", "removes"])
def test_sources_that_change_during_a_check_are_no_result(go, id):
    """Draws of the file before and after may stand in it, under the key of the file before."""
    before = {id: fakes.stated()}
    (record,) = go(id, files=before).records
    assert record.outcome.status == "ERROR"
    assert "changed while it was checked" in record.outcome.reason
    assert kept(go(id, files=before)) == set()


def test_a_kept_result_shows_the_present_title(go):
    assert go("gap").records[0].outcome.title == "The gap opens"
    retold = fakes.FILE.format(title="The gap stays", number=2, label="reconstructed", uses=("bulk",), kind="Rate")
    found = go("gap", files={"gap": retold})
    assert kept(found) == {"gap"}
    assert found.records[0].outcome.title == "The gap stays"


def test_a_failed_ancestor_blocks_what_rests_on_it_and_nothing_else(go):
    files = {"refuted": fakes.stated(), "next": fakes.stated(("refuted",)), "last": fakes.stated(("next",))}
    found = go("refuted+", "edge", files=files)
    assert statuses(found) == {"edge": "SUPPORTED", "refuted": "REFUTED", "next": "BLOCKED", "last": "BLOCKED"}
    assert {record.outcome.id: record.outcome for record in found.records}["last"].blocked_by == ("refuted",)


def test_a_kept_failure_of_an_ancestor_that_is_not_selected_blocks(go):
    go("refuted", files={"refuted": fakes.stated(), "next": fakes.stated(("refuted",))})
    found = go("next")
    assert statuses(found) == {"next": "BLOCKED"}
    assert "refuted (REFUTED)" in (found.records[0].outcome.reason or "")


def test_an_error_is_one_theorems_own(go):
    files = {"raises": fakes.stated(), "states": fakes.stated(), "broken": "theorem = (", "weak": fakes.stated()}
    found = go("*", files=files)
    assert statuses(found) == {
        "lanczos": "SUPPORTED", "bulk": "SUPPORTED", "edge": "SUPPORTED", "gap": "SUPPORTED",
        "raises": "ERROR", "states": "ERROR", "broken": "ERROR", "weak": "INCONCLUSIVE",
    }  # fmt: skip
    assert kept(go("*")) == {"lanczos", "bulk", "edge", "gap"}


def test_the_users_mistake_ends_the_run(go):
    with pytest.raises(UsageError, match="no letter"):
        go("misused", files={"misused": fakes.stated()})


def test_other_parameters_are_for_the_named_theorems(go, monkeypatch):
    seen = {}

    def check(id, settings):
        seen[id] = settings.at
        return fakes.outcome(id)

    monkeypatch.setattr(fakes, "check", check)
    go("+gap", at=(("gamma", "1/4"),))
    assert seen == {"lanczos": (), "bulk": (), "gap": (("gamma", "1/4"),)}


def test_an_interrupted_run_returns_what_had_finished(go):
    found = go("+gap", "interrupts", files={"interrupts": fakes.stated(("gap",))})
    assert found.interrupted
    assert list(statuses(found)) == ["lanczos", "bulk", "gap"]
    assert set(found.selected) - set(statuses(found)) == {"interrupts"}
    assert kept(go("+gap")) == {"lanczos", "bulk", "gap"}


def test_one_job_and_two_find_the_same(go):
    def plain(found):
        return [replace(record, kept_from=None) for record in found.records]

    one, two = go("*", jobs=1), go("*", jobs=2, fresh=True)
    assert plain(one) == plain(two)


class Heard(Silent):
    """Remembers what it was told."""

    def __init__(self):
        self.expected, self.phases, self.begun = {}, [], []

    def started(self, id):
        self.begun.append(id)

    def planned(self, waiting, expected, jobs):
        self.expected = dict(expected)

    def reached(self, id, phase):
        self.phases.append((id, phase))


@pytest.mark.parametrize(("jobs", "first"), [(1, ["a", "b", "c"]), (2, ["c", "b"])])
def test_several_cores_begin_with_the_critical_path(go, monkeypatch, jobs, first):
    monkeypatch.setattr(runner, "shipped_seconds", lambda effort: {"a": 1.0, "b": 2.0, "c": 1.0, "d": 9.0})
    files = {"a": fakes.stated(), "b": fakes.stated(), "c": fakes.stated(), "d": fakes.stated(("c",))}
    go("a", "b", "c", "d", files=files, jobs=jobs, listener=(heard := Heard()))
    assert heard.begun[: len(first)] == first and sorted(heard.begun) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_phases_of_a_check_are_told_from_wherever_it_runs(go, jobs):
    heard = Heard()
    go("lanczos", "gap", fresh=True, jobs=jobs, listener=heard)
    assert set(heard.phases) == {(id, phase) for id in ("lanczos", "gap") for phase in ("drawing 1/2", "deciding")}


def test_a_first_run_expects_the_times_of_the_benchmark_and_a_later_one_its_own(go):
    heard = Heard()
    go("gap", effort="quick", listener=heard)
    assert heard.expected == shipped_seconds("quick")
    go("gap", effort="quick", fresh=True, listener=heard)
    assert set(heard.expected) == {"gap", *shipped_seconds("quick")}


@pytest.mark.parametrize("effort", ["quick", "standard"])
def test_the_benchmark_timed_theorems_of_the_library(effort):
    assert set(shipped_seconds(effort)) <= set(Catalogue().ids)
    assert min(shipped_seconds(effort).values()) > 0


def test_every_process_computes_with_one_thread(go, tmp_path):
    go("gap", "edge", jobs=2)
    go("gap", fresh=True)
    assert {path.read_text(encoding="utf-8") for path in (tmp_path / "calls").iterdir()} == {"1"}


def test_a_worker_that_dies_costs_one_theorem(go):
    found = go("dies", "edge", "gap", "raises", files={"dies": fakes.stated(), "raises": fakes.stated()}, jobs=2)
    assert statuses(found) == {"dies": "ERROR", "edge": "SUPPORTED", "gap": "SUPPORTED", "raises": "ERROR"}
    (reason,) = (record.outcome.reason for record in found.records if record.outcome.id == "dies")
    assert "died twice" in (reason or "")


def test_a_kept_result_costs_no_parsing_of_sources(go, monkeypatch):
    monkeypatch.setattr(known_files, "SETTLED", -(10**12))  # the files were written just now
    go("+gap")
    monkeypatch.setattr(fakes, "library", lambda root: root)  # which would write them again
    read = []
    monkeypatch.setattr(Sources, "_source_file", lambda _, path: read.append(path))
    found = go("gap")  # and of its ancestors neither
    assert kept(found) == {"gap"}
    assert found.unchecked == {"gap": ()}
    assert read == []
