"""The store: what is kept comes back, and nothing breaks it that a user could not mend."""

from __future__ import annotations

import sqlite3

import fakes
import pytest

from theorax.runs.store import FILE, KEPT_PER_THEOREM, LAYOUT, LastResult, Store, StoreError

MANIFEST = {"theorem": "abc", "setting seed": "0", "setting at": "()", "setting sizes": "()", "setting model": "None"}
DATE = "2026-01-02T03:04:05Z"


def test_an_outcome_comes_back_as_it_was(tmp_path):
    store = Store(tmp_path / "state")
    assert store.get(MANIFEST) is None
    assert not (tmp_path / "state").exists()
    found = fakes.outcome("gap")
    store.put(MANIFEST, found, DATE, observations=b"npz")
    kept = store.get(MANIFEST)
    assert kept is not None
    assert kept.outcome == found
    assert (kept.date, kept.seconds) == (DATE, found.work.seconds)
    assert store.observations(MANIFEST) == b"npz"
    assert store.get({**MANIFEST, "setting seed": "1"}) is None
    assert store.last_manifest("gap") == LastResult(MANIFEST, DATE, usable=True)
    assert store.seconds() == {"gap": found.work.seconds}


def test_an_error_is_told_and_never_used_again(tmp_path):
    store = Store(tmp_path)
    store.put(MANIFEST, fakes.outcome("gap", "ERROR"), DATE)
    assert store.get(MANIFEST) is None
    assert store.statuses() == {"gap": ("ERROR", DATE)}


def test_a_look_at_other_parameters_is_not_the_theorems_status(tmp_path):
    store = Store(tmp_path)
    store.put(MANIFEST, fakes.outcome("gap"), DATE)
    store.put({**MANIFEST, "setting at": "(('l', '2'),)"}, fakes.outcome("gap", "REFUTED"), "2026-02-02T03:04:05Z")
    assert store.statuses() == {"gap": ("SUPPORTED", DATE)}


def test_only_the_newest_results_stay(tmp_path):
    store = Store(tmp_path)
    for number in range(KEPT_PER_THEOREM + 3):
        store.put({**MANIFEST, "setting seed": str(number)}, fakes.outcome("gap"), f"2026-01-01T00:00:{number:02}Z")
    assert store.get({**MANIFEST, "setting seed": "2"}) is None
    assert store.get({**MANIFEST, "setting seed": "3"}) is not None


def test_results_of_an_older_layout_are_told_and_not_used(tmp_path):
    store = Store(tmp_path)
    store.put(MANIFEST, fakes.outcome("gap"), DATE)
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE results SET layout = ?", (LAYOUT - 1,))
    connection.close()
    assert store.get(MANIFEST) is None
    assert store.last_manifest("gap") == LastResult(MANIFEST, DATE, usable=False)
    assert store.statuses() == {"gap": ("SUPPORTED", DATE)}
    store.prepare()
    assert store.last_manifest("gap") is None
    store.put(MANIFEST, fakes.outcome("gap"), DATE)
    assert store.get(MANIFEST) is not None


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / FILE).write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match="Delete that file"):
        Store(tmp_path).get(MANIFEST)


def test_a_database_cut_short(tmp_path):
    store = Store(tmp_path)
    for number in range(20):
        store.put({**MANIFEST, "setting seed": str(number)}, fakes.outcome("gap"), DATE)
    whole = store.path.read_bytes()
    store.path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match="Delete that file"):
        [store.get({**MANIFEST, "setting seed": str(number)}) for number in range(20)]


def test_an_outcome_of_another_shape(tmp_path):
    store = Store(tmp_path)
    store.put(MANIFEST, fakes.outcome("gap"), DATE)
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE results SET outcome = '{}'")
    connection.close()
    with pytest.raises(StoreError, match="Delete that file"):
        store.get(MANIFEST)


def test_a_folder_in_the_place_of_the_file(tmp_path):
    (tmp_path / FILE).mkdir()
    with pytest.raises(StoreError, match="Give `--state` a folder"):
        Store(tmp_path).prepare()


def test_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "state").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="Give `--state` a folder"):
        Store(tmp_path / "state").prepare()


def test_a_store_that_another_run_holds(tmp_path, monkeypatch):
    monkeypatch.setattr("theorax.runs.store.PATIENCE", 0.05)
    store = Store(tmp_path)
    store.prepare()
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="Another run is writing"):
        store.put(MANIFEST, fakes.outcome("gap"), DATE)
    other.execute("ROLLBACK")
    other.close()
    store.put(MANIFEST, fakes.outcome("gap"), DATE)


def test_a_full_disk(tmp_path):
    store = Store(tmp_path)
    store.prepare()
    pages = sqlite3.connect(store.path)
    pages.execute("PRAGMA journal_mode = DELETE")
    pages.close()
    assert "Make room" in store._unusable("database or disk is full")


def test_a_write_that_is_interrupted_leaves_the_old_result(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put(MANIFEST, fakes.outcome("gap"), DATE)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("theorax.runs.store.plain", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.put(MANIFEST, fakes.outcome("gap", "REFUTED"), DATE)
    kept = store.get(MANIFEST)
    assert kept is not None
    assert kept.outcome.status == "SUPPORTED"
