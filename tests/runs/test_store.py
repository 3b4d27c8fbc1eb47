"""The store: what is kept comes back, and nothing breaks it that a user could not mend."""

from __future__ import annotations

import shutil
import sqlite3

import fakes
import numpy as np
import pytest

from theorax.runs.store import FILE, KEPT_PER_THEOREM, LAYOUT, DamagedResult, LastResult, Store, StoreError

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


def test_results_of_an_older_layout_are_told_and_not_used(tmp_path, monkeypatch):
    store = Store(tmp_path)
    with monkeypatch.context() as earlier:
        earlier.setattr("theorax.runs.store.LAYOUT", LAYOUT - 1)
        store.put(MANIFEST, fakes.outcome("gap"), DATE)
    assert store.get(MANIFEST) is None
    assert store.last_manifest("gap") == LastResult(MANIFEST, DATE, usable=False)
    assert store.statuses() == {"gap": ("SUPPORTED", DATE)}
    store.prepare()
    assert store.last_manifest("gap") is None
    store.put(MANIFEST, fakes.outcome("gap"), DATE)
    assert store.get(MANIFEST) is not None


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / FILE).write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match=r"delete that file.* log of attempts"):
        Store(tmp_path).get(MANIFEST)


def test_a_database_cut_short(tmp_path):
    store = Store(tmp_path)
    for number in range(20):
        store.put({**MANIFEST, "setting seed": str(number)}, fakes.outcome("gap"), DATE)
    whole = store.path.read_bytes()
    store.path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match=r"delete that file.* log of attempts"):
        [store.get({**MANIFEST, "setting seed": str(number)}) for number in range(20)]


def test_an_outcome_of_another_shape(tmp_path, monkeypatch):
    store = Store(tmp_path)
    with monkeypatch.context() as earlier:
        earlier.setattr("theorax.runs.store.json_values", lambda *_, **__: {})
        store.put(MANIFEST, fakes.outcome("gap"), DATE)
    with pytest.raises(DamagedResult, match="required property"):
        store.get(MANIFEST)
    assert store.get(MANIFEST) is None


def test_a_folder_in_the_place_of_the_file(tmp_path):
    (tmp_path / FILE).mkdir()
    with pytest.raises(StoreError, match="Give `--state` a folder"):
        Store(tmp_path).prepare()


def test_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "state").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="Give `--state` a folder"):
        Store(tmp_path / "state").prepare()


def test_a_store_that_another_run_holds(tmp_path, monkeypatch):
    monkeypatch.setattr("theorax.runs.database.PATIENCE", 0.05)
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
    assert "Make room" in store._database.unusable("database or disk is full")


def test_a_write_that_is_interrupted_leaves_the_old_result(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put(MANIFEST, fakes.outcome("gap"), DATE)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("theorax.runs.store.json_values", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.put(MANIFEST, fakes.outcome("gap", "REFUTED"), DATE)
    kept = store.get(MANIFEST)
    assert kept is not None
    assert kept.outcome.status == "SUPPORTED"


@pytest.mark.parametrize(
    "column",
    ["theorem", "status", "date", "seconds", "variant", "manifest", "outcome", "observations", "digests", "seal"],
)
def test_no_column_of_a_row_can_be_altered(tmp_path, column):
    store = Store(tmp_path)
    store.put(MANIFEST, fakes.outcome("gap"), DATE, observations=b"npz")
    with sqlite3.connect(store.path) as connection:
        connection.execute(f"UPDATE sealed_results SET {column} = '7'")
    connection.close()
    with pytest.raises(DamagedResult, match="altered or damaged"):
        store.get(MANIFEST)
    # It is dropped, so that the next check is kept in its place.
    assert store.get(MANIFEST) is None
    assert store.observations(MANIFEST) is None
    store.put(MANIFEST, fakes.outcome("gap"), DATE)
    assert store.get(MANIFEST) is not None


def test_a_list_of_verdicts_passes_over_an_altered_row(tmp_path):
    store = Store(tmp_path)
    store.put(MANIFEST, fakes.outcome("open", "INCONCLUSIVE"), DATE)
    store.put({**MANIFEST, "id": "gap"}, fakes.outcome("gap"), DATE)
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE sealed_results SET status = 'PROVED' WHERE theorem = 'open'")
    connection.close()
    assert store.statuses() == {"gap": ("SUPPORTED", DATE)}


@pytest.mark.parametrize("column", ["status", "outcome"])
def test_altered_results_are_counted(tmp_path, column):
    store = Store(tmp_path)
    assert store.damaged() == 0
    store.put(MANIFEST, fakes.outcome("gap"), DATE)
    assert store.damaged() == 0
    with sqlite3.connect(store.path) as connection:
        connection.execute(f"UPDATE sealed_results SET {column} = 'PROVED'")
    connection.close()
    assert store.damaged() == 1


@pytest.mark.parametrize("column", ["status", "date", "theorem", "seal"])
def test_an_earlier_result_does_not_stand_in_for_an_altered_one(tmp_path, column):
    store = Store(tmp_path)
    store.put(MANIFEST, fakes.outcome("gap"), DATE)
    store.put({**MANIFEST, "setting seed": "1"}, fakes.outcome("gap", "REFUTED"), "2026-02-02T03:04:05Z")
    assert store.statuses()["gap"][0] == "REFUTED"
    with sqlite3.connect(store.path) as connection:
        connection.execute(f"UPDATE sealed_results SET {column} = 'x' WHERE status = 'REFUTED'")
    connection.close()
    assert store.statuses() == {}


def test_no_flipped_bit_is_served(tmp_path):
    kept = Store(tmp_path / "kept")
    found, bytes_ = fakes.outcome("gap"), bytes(range(256)) * 4
    kept.put(MANIFEST, found, DATE, observations=bytes_)
    whole = kept.path.read_bytes()
    rng = np.random.default_rng(5)
    served = altered = 0
    for place in rng.integers(0, 8 * len(whole), size=500):
        state = tmp_path / "flipped"
        shutil.rmtree(state, ignore_errors=True)
        state.mkdir()
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << (place % 8)
        (state / FILE).write_bytes(flipped)
        store = Store(state)
        try:
            result, observations, statuses = store.get(MANIFEST), store.observations(MANIFEST), store.statuses()
        except StoreError:
            continue
        served += result is not None
        altered += result is not None and (result.outcome, result.date, observations) != (found, DATE, bytes_)
        altered += bool(statuses) and statuses != {"gap": ("SUPPORTED", DATE)}
    assert altered == 0
    assert served > 100, "most bits of the file belong to no row, and those of a row are noticed"
