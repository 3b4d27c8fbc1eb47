"""Observations as bytes: a compressed NPZ file with one array for each line, size, letter and sort of column."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from theorax.errors import ObservationError, option

__all__ = ["LARGEST", "KeptColumn", "packed", "unpacked"]

_FRESH = option("fresh")
LARGEST = 16 * 2**20  # bytes of observations kept with a result; beyond, a result is kept without them


@dataclass(frozen=True)
class KeptColumn:
    """Draws of one letter on one line at one size.

    ``kind``: "table" for values, "error" for bounds of their errors; "witness" for the one draw of a witness, whose letter
    has the claim before it, as in bound.after, and whose noise is e1, e2 and so on.
    """

    experiment: str
    line: str
    at: tuple[tuple[str, str], ...]
    place: int  # of the size along the line
    kind: str
    letter: str
    values: np.ndarray
    size: float | None = None  # None in what an earlier version kept


def packed(columns: Iterable[KeptColumn]) -> bytes | None:
    """The columns as one file; None if there are none, or more than is worth keeping."""
    entries: list[list[object]] = []
    sizes: list[float | None] = []
    arrays: dict[str, np.ndarray] = {}
    for column in columns:
        arrays[f"a{len(entries)}"] = column.values
        entries.append([column.experiment, column.line, column.at, column.place, column.kind, column.letter])
        sizes.append(column.size)
    if not arrays or sum(array.nbytes for array in arrays.values()) > 4 * LARGEST:
        return None
    file = io.BytesIO()
    index, at = (np.frombuffer(json.dumps(value).encode(), np.uint8) for value in (entries, sizes))
    np.savez_compressed(file, index=index, sizes=at, **arrays)  # type: ignore[arg-type]
    return file.getvalue() if file.tell() <= LARGEST else None


def unpacked(kept: bytes) -> Iterator[KeptColumn]:
    """The columns in such a file.

    **Raises:** ObservationError if it is none.
    """
    try:
        with np.load(io.BytesIO(kept), allow_pickle=False) as file:
            entries = json.loads(file["index"].tobytes())
            sizes = json.loads(file["sizes"].tobytes()) if "sizes" in file else [None] * len(entries)
            for number, (entry, size) in enumerate(zip(entries, sizes, strict=True)):
                experiment, line, label, at, kind, letter = entry
                labels = tuple((str(key), str(value)) for key, value in label)
                yield KeptColumn(experiment, line, labels, int(at), kind, letter, file[f"a{number}"], size)
    except (ValueError, KeyError, OSError, EOFError, TypeError, zipfile.BadZipFile) as error:
        raise ObservationError(
            f"The kept observations cannot be read ({error}). A decision cannot be made again from them. "
            f"Check the theorem with {_FRESH}."
        ) from None
