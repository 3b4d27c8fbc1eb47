"""Single bits of a store of real results turned over: what is served afterwards is what was kept, or nothing."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from tests.faults.counts import Counts
from theorax.runs.attempt_log import AttemptFile
from theorax.runs.manifests import Manifest
from theorax.runs.store import FILE, KeptResult, Store, StoreError


def attack(counts: Counts, number: int, rng: random.Random, real: Path) -> None:
    """So many flips of a store that real checks wrote."""
    from contextlib import closing
    from sqlite3 import connect

    with closing(connect(real / FILE)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store = Store(real)
    whole = store.path.read_bytes()
    manifests = {id: last.manifest for id in store.statuses() if (last := store.last_manifest(id)) is not None}
    kept = {id: _served(store, manifest) for id, manifest in manifests.items()}
    statuses = dict(store.statuses())
    if not any(served is not None and served[1] for served in kept.values()):
        raise RuntimeError("The real store holds no result with its draws.")
    with tempfile.TemporaryDirectory(prefix="theorax-flips-") as folder:
        for _ in range(number):
            place = rng.randrange(8 * len(whole))
            _flip(counts, Path(folder), whole, place, manifests, kept, statuses)
            counts.count("bit flips")


def _flip(
    counts: Counts,
    folder: Path,
    whole: bytes,
    place: int,
    manifests: dict[str, Manifest],
    kept: dict[str, tuple[KeptResult, bytes | None] | None],
    statuses: dict[str, tuple[str, str]],
) -> None:
    for file in folder.glob("*.sqlite*"):
        file.unlink()
    flipped = bytearray(whole)
    flipped[place // 8] ^= 1 << (place % 8)
    (folder / FILE).write_bytes(flipped)
    store = Store(folder)
    try:
        listed = store.statuses()
        AttemptFile(folder).prepare()  # it takes over what older versions logged here
    except StoreError:
        listed = {}
    if any(statuses.get(id) != found for id, found in listed.items()):
        counts.breaks("wrongly green", f"bit {place}: the list says {listed}")
    for id, manifest in manifests.items():
        try:
            served = _served(store, manifest)
        except StoreError:
            continue
        if served is not None and served != kept[id]:
            counts.breaks("wrongly green", f"bit {place}: another result of {id} is served")


def _served(store: Store, manifest: Manifest) -> tuple[KeptResult, bytes | None] | None:
    found = store.get(manifest)
    return None if found is None else (found, store.observations(manifest))
