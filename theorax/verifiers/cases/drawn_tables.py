"""Tables of draws: cut and joined by number, packed to be kept with a result, and unpacked again."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping

import numpy as np

from theorax.errors import ObservationError, option
from theorax.verifiers.cases.crew import Place, Tables

__all__ = ["LARGEST", "cut", "joined", "length", "packed", "unpacked"]

LARGEST = 16 * 2**20  # bytes of observations kept with a result; beyond, a result is kept without them
_FRESH = option("fresh")


def packed(drawn: Mapping[Place, tuple[Tables, Tables]]) -> bytes | None:
    """The tables as a compressed NPZ file; None if there are none, or more than is worth keeping."""
    entries, arrays = [], {}
    for place, (tables, errors) in drawn.items():
        for kind, columns in (("table", tables), ("error", errors)):
            for at, table in enumerate(columns):
                for letter, column in table.items():
                    entries.append([*place, at, kind, letter])
                    arrays[f"a{len(entries) - 1}"] = column
    if not arrays or sum(array.nbytes for array in arrays.values()) > 4 * LARGEST:
        return None
    file = io.BytesIO()
    np.savez_compressed(file, index=np.frombuffer(json.dumps(entries).encode(), np.uint8), **arrays)  # type: ignore[arg-type]
    return file.getvalue() if file.tell() <= LARGEST else None


def length(tables: Tables) -> int:
    """Number of draws that every table has."""
    return min((len(column) for table in tables for column in table.values()), default=0)


def cut(tables: Tables, first: int, end: int | None) -> Tables:
    """Draws ``first`` .. ``end - 1`` of every table."""
    return tuple({letter: column[first:end] for letter, column in table.items()} for table in tables)


def joined(one: Tables, other: Tables) -> Tables:
    """The draws of one behind those of the other."""
    if not one or not other:
        return one or other
    return tuple(
        {letter: np.concatenate([column, more[letter]]) for letter, column in table.items()}
        for table, more in zip(one, other, strict=True)
    )


def unpacked(kept: bytes) -> dict[Place, tuple[Tables, Tables]]:
    """Tables and bounds by their lines.

    **Raises:** ObservationError for what is no such file.
    """
    found: dict[Place, dict[str, dict[int, dict[str, np.ndarray]]]] = {}
    try:
        with np.load(io.BytesIO(kept), allow_pickle=False) as file:
            for number, entry in enumerate(json.loads(file["index"].tobytes())):
                experiment, name, label, at, kind, letter = entry
                place = (experiment, name, tuple((str(key), str(value)) for key, value in label))
                columns = found.setdefault(place, {"table": {}, "error": {}})[kind]
                columns.setdefault(int(at), {})[letter] = file[f"a{number}"]
    except (ValueError, KeyError, OSError, TypeError, zipfile.BadZipFile) as error:
        raise ObservationError(
            f"The kept observations cannot be read ({error}). A decision cannot be made again from them. "
            f"Check the theorem with {_FRESH}."
        ) from None
    return {place: (_in_order(kinds["table"]), _in_order(kinds["error"])) for place, kinds in found.items()}


def _in_order(columns: Mapping[int, Mapping[str, np.ndarray]]) -> Tables:
    return tuple(columns[at] for at in sorted(columns))
