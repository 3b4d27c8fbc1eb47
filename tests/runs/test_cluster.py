"""Checks on a Dask cluster: the outcomes of the local pool, whatever dies, and sentences where it cannot be."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import fakes
import pytest

from theorax.errors import UsageError
from theorax.runs import cluster
from theorax.runs.attempt_log import FILE
from theorax.runs.known_files import KnownFiles
from theorax.runs.runner import CHECK, run
from theorax.runs.selectors import select
from theorax.runs.sources import Sources
from theorax.text.codec import json_values
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.outcome import Work
from theorax.verifiers.settings import Settings

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("default")  # those of another distribution

SCRIPT = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""
KNOWN = KnownFiles()
CHEAP = ("sparse_attention_shared_values", "price_identity")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A cluster of two processes with one thread each."""
    script = tmp_path_factory.mktemp("cluster") / "cluster.py"
    script.write_text(SCRIPT, encoding="utf-8")
    paths = os.pathsep.join([os.path.dirname(fakes.__file__), *sys.path])
    started = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=script.parent,
        env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    with started:
        yield started.stdout.readline().strip()
        started.stdin.close()
        try:
            started.wait(30)
        except subprocess.TimeoutExpired:
            started.kill()


@pytest.fixture
def go(tmp_path):
    """A run over a small library, or over the package's own."""

    def call(*words, check="fakes:counted", files=None, own=False, state="state", **chosen):
        root = fakes.library(tmp_path / "papers", **(files or {}))
        catalogue = Catalogue() if own else fakes.catalogue(root)
        given = Settings(state=str(tmp_path / state), effort="quick", **chosen)
        return run(select(words, catalogue), given, catalogue, check, sources=Sources(known=KNOWN))

    return call


def timeless(found):
    """The outcomes of a run as JSON values, without times and dates."""
    told = {}
    for record in found.records:
        claims = [
            replace(claim, log=replace(claim.log, begun="") if claim.log is not None else None)
            for claim in record.outcome.claims
        ]
        told[record.outcome.id] = json_values(replace(record.outcome, work=Work(0.0), claims=tuple(claims)))
    return told


def test_a_cluster_finds_what_this_machine_finds(go, address, tmp_path):
    files = {"refuted": fakes.stated(), "next": fakes.stated(("refuted",)), "raises": fakes.stated(),
             "weak": fakes.stated(), "exits": fakes.stated()}  # fmt: skip
    here = go("*", files=files, state="here")
    there = go("*", scheduler=address)
    assert timeless(there) == timeless(here)
    assert there.jobs == 2
    with closing(sqlite3.connect(tmp_path / "state" / FILE)) as connection:
        logged = connection.execute("SELECT DISTINCT process FROM attempts").fetchall()
    assert logged == [(os.getpid(),)]


def test_real_theorems_are_bit_by_bit_those_of_this_machine(go, address):
    here = go(*CHEAP, check=CHECK, own=True, state="here")
    assert timeless(go(*CHEAP, check=CHECK, own=True, scheduler=address)) == timeless(here)
    assert {record.outcome.status for record in here.records} <= {"PROVED", "CERTIFIED", "SUPPORTED"}


def test_what_dies_is_tried_once_more_and_is_then_an_error(go, address):
    found = go("dies", "gap", files={"dies": fakes.stated()}, scheduler=address)
    assert {record.outcome.id: record.outcome.status for record in found.records} == {
        "dies": "ERROR",
        "gap": "SUPPORTED",
    }
    (record,) = (record for record in found.records if record.outcome.id == "dies")
    assert "died twice" in record.outcome.reason


class Hunter(threading.Thread):
    """Kills the worker of a cluster that is at a check, as the check itself says in this folder, this many times."""

    def __init__(self, folder: Path, times: int) -> None:
        super().__init__(daemon=True)
        self._folder, self._left, self.killed = folder, times, set()

    def run(self) -> None:
        deadline = time.monotonic() + 60
        while self._left and time.monotonic() < deadline:
            said = {int(file.name.split()[-1]) for file in self._folder.glob("naps under *")}
            for pid in said - self.killed:
                os.kill(pid, signal.SIGKILL)
                self.killed.add(pid)
                self._left -= 1
            time.sleep(0.1)


@pytest.mark.parametrize(("kills", "status"), [(1, "SUPPORTED"), (2, "ERROR")])
def test_a_check_whose_worker_is_killed_moves_once(go, address, tmp_path, kills, status):
    hunter = Hunter(tmp_path / "state", kills)
    hunter.start()
    (record,) = go("naps", files={"naps": fakes.stated()}, scheduler=address).records
    hunter.join()
    assert len(hunter.killed) == kills
    assert record.outcome.status == status
    if kills == 1:
        assert record.outcome.claims[0].attempt == 1
    else:
        assert "died twice" in record.outcome.reason


def test_ctrl_c_cancels_what_is_under_way(go, address):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    timer = threading.Timer(4.0, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    began = time.monotonic()
    found = go("slow", "gap", files={"slow": fakes.stated()}, scheduler=address)
    assert found.interrupted
    assert time.monotonic() - began < 50  # it sleeps for sixty seconds
    assert [record.outcome.status for record in go("edge", scheduler=address).records] == ["SUPPORTED"]


@pytest.mark.parametrize("typed", ["tcp://127.0.0.1:1", "nonsense://a", "127.0.0.1"])
def test_a_scheduler_that_cannot_be_reached_is_told_in_time(go, typed):
    began = time.monotonic()
    with pytest.raises(UsageError, match="No scheduler answers"):
        go("gap", scheduler=typed)
    assert time.monotonic() - began < 4 * cluster.PATIENCE


def test_a_worker_of_another_kind_is_refused():
    cluster.refuse_other("tcp://a:1", cluster.about())
    for name in ("jax", "machine", "theorax"):
        with pytest.raises(UsageError, match=f"tcp://a:1 has {name} other, and this process"):
            cluster.refuse_other("tcp://a:1", {**cluster.about(), name: "other"})


def test_a_worker_with_other_versions_ends_the_run(go, address, monkeypatch):
    here = cluster.about()
    monkeypatch.setattr(cluster, "about", _Elsewhere())
    with pytest.raises(UsageError, match=f"has jax {here['jax']}, and this process 0.0.1"):
        go("gap", scheduler=address)


class _Elsewhere:
    """Another version here; on a worker, where it is unpickled by name, the function itself."""

    def __call__(self):
        return {**_about(), "jax": "0.0.1"}

    def __reduce__(self):
        return "about"

    __qualname__ = __name__ = "about"
    __module__ = "theorax.runs.cluster"


_about = cluster.about


def test_a_worker_that_reads_other_files_ends_the_run(go, address, tmp_path, monkeypatch):
    monkeypatch.setattr(Sources, "manifest", _edited(Sources.manifest))
    with pytest.raises(UsageError, match="reads other sources of `gap`"):
        go("gap", scheduler=address)


def _edited(manifest):
    return lambda self, path, settings: {**manifest(self, path, settings), "theorem": "another text"}


def test_a_model_of_ones_own_stays_here(go):
    with pytest.raises(UsageError, match="Check your model here"):
        go("gap", scheduler="tcp://127.0.0.1:1", model="model.py:factory")


def test_a_cluster_without_dask_is_told(go, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="needs Dask, which is not installed"):
        go("gap", scheduler="tcp://127.0.0.1:1")


def test_a_cluster_is_not_asked_where_all_is_kept(go):
    go("gap")
    assert [record.kept_from is not None for record in go("gap", scheduler="tcp://127.0.0.1:1").records] == [True]
