"""Columns of numbers in a CSV or NPZ file, in pieces; whatever is wrong is a sentence that names row and column."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from theorax.errors import UsageError
from theorax.names import did_you_mean

__all__ = ["DataTable", "Piece", "open_table"]

Vector = NDArray[np.float64]
LINES = 2**16  # of a text file at a time
_LONGEST = 2**20  # of a row of names
_WORDS = {"true": 1.0, "false": 0.0}
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


@final
@dataclass(frozen=True)
class Piece:
    """Consecutive rows: their numbers in the file (of lines in a text, the names being row 1), and columns."""

    rows: NDArray[np.int64]
    columns: dict[str, Vector]
    texts: dict[str, list[str]]


@final
@dataclass(frozen=True)
class DataTable:
    """A file with named columns; ``pieces`` reads the chosen ones."""

    path: Path
    names: tuple[str, ...]
    delimiter: str | None = None  # of a text file; None is white space
    arrays: dict[str, NDArray[Any]] | None = None  # of an NPZ file

    def named(self, name: str) -> str:
        """A column's name, if there is such a column.

        **Raises:** UsageError with the nearest names.
        """
        if name not in self.names:
            known = ", ".join(self.names[:12]) + (", ..." if len(self.names) > 12 else "")
            raise UsageError(f"{self.path} has no column `{name}`{did_you_mean(name, self.names)} It has: {known}.")
        return name

    def pieces(self, numbers: Sequence[str], texts: Sequence[str] = (), truths: Sequence[str] = ()) -> Iterator[Piece]:
        """The rows of these columns, in order; every number finite. Columns in ``truths`` may say true and false.

        **Raises:** UsageError for the first field that cannot be read, naming its row and column.
        """
        for name in (*numbers, *texts):
            self.named(name)
        empty = True
        found = self._arrays(numbers, texts) if self.arrays is not None else self._lines(numbers, texts, truths)
        for piece in found:
            empty = empty and not len(piece.rows)
            yield piece
        if empty:
            raise UsageError(f"{self.path} has names but no rows. Nothing can be decided from it. Write some data.")

    def wide(self, name: str) -> NDArray[Any] | None:
        """An array of two dimensions of an NPZ file; None for a column."""
        if self.arrays is None or self.arrays[self.named(name)].ndim < 2:
            return None
        return self.arrays[name]

    def _arrays(self, numbers: Sequence[str], texts: Sequence[str]) -> Iterator[Piece]:
        assert self.arrays is not None
        lengths = {name: len(np.atleast_1d(self.arrays[name])) for name in (*numbers, *texts)}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise UsageError(f"The arrays in {self.path} differ in length: {told}. A row has one entry in each.")
        columns = {name: _array(self.path, name, self.arrays[name]) for name in numbers}
        rows = np.arange(1, next(iter(lengths.values())) + 1)
        _finite(self.path, rows, columns)
        yield Piece(rows, columns, {name: [str(v) for v in np.atleast_1d(self.arrays[name])] for name in texts})

    def _lines(self, numbers: Sequence[str], texts: Sequence[str], truths: Sequence[str]) -> Iterator[Piece]:
        places = [self.names.index(name) for name in numbers]
        with _text(self.path) as file:
            next(file)
            start = 2
            while True:
                try:
                    lines = list(islice(file, LINES))
                except UnicodeDecodeError:
                    raise _no_text(self.path) from None
                if not lines:
                    return
                rows = np.array([start + at for at, line in enumerate(lines) if line.strip()], np.int64)
                yield self._piece([line for line in lines if line.strip()], rows, numbers, places, texts, truths)
                start += len(lines)

    def _piece(
        self,
        lines: list[str],
        rows: NDArray[np.int64],
        numbers: Sequence[str],
        places: list[int],
        texts: Sequence[str],
        truths: Sequence[str],
    ) -> Piece:
        wanted = len(self.names) - 1
        regular = not texts and (
            all(line.count(self.delimiter) == wanted for line in lines)
            if self.delimiter is not None
            else all(len(line.split()) == wanted + 1 for line in lines)
        )
        if regular and lines:
            try:
                table = np.loadtxt(lines, delimiter=self.delimiter, usecols=places, comments=None, ndmin=2)
            except ValueError:
                pass  # told below, with row and column
            else:
                columns = {name: table[:, at] for at, name in enumerate(numbers)}
                _finite(self.path, rows, columns)
                return Piece(rows, columns, {})
        return self._slowly(lines, rows, numbers, texts, truths)

    def _slowly(
        self,
        lines: list[str],
        rows: NDArray[np.int64],
        numbers: Sequence[str],
        texts: Sequence[str],
        truths: Sequence[str],
    ) -> Piece:
        """The same with quotes and text columns understood, and every mistake placed."""
        columns: dict[str, list[float]] = {name: [] for name in numbers}
        keys: dict[str, list[str]] = {name: [] for name in texts}
        wanted = [(name, self.names.index(name)) for name in numbers]
        for row, fields in zip(rows, _split(lines, self.delimiter), strict=True):
            if len(fields) != len(self.names):
                raise UsageError(_ragged(self, int(row), fields))
            for name, at in wanted:
                word = fields[at].strip().lower() if name in truths else ""
                told = _WORDS.get(word)
                columns[name].append(_number(self.path, int(row), name, fields[at]) if told is None else told)
            for name in texts:
                keys[name].append(fields[self.names.index(name)].strip())
        read = {name: np.array(column, float) for name, column in columns.items()}
        _finite(self.path, rows, read)
        return Piece(rows, read, keys)


def open_table(path: Path) -> DataTable:
    """The table in a file, its names read and nothing else.

    **Raises:** UsageError for what is no file, neither CSV nor NPZ, or has no names.
    """
    if path.is_dir():
        raise UsageError(f"`{path}` is a folder. Name a CSV or NPZ file in it.")
    if not path.is_file():
        near = did_you_mean(path.name, [found.name for found in path.parent.glob("*")] if path.parent.is_dir() else [])
        raise UsageError(f"There is no file `{path}`{near}")
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    if start.startswith(b"PK") or path.suffix.lower() == ".npz":
        return _archive(path)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UsageError(f"{path} is text in UTF-16. Save it as UTF-8 (in a spreadsheet: “CSV UTF-8”).")
    if b"\0" in start:
        raise _no_text(path)
    return _comma_separated(path)


def _archive(path: Path) -> DataTable:
    try:
        # Opened here: NumPy leaves a file open that it finds to be no archive.
        with path.open("rb") as opened_file, np.load(opened_file, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, KeyError, TypeError, NotImplementedError):
        raise UsageError(
            f"{path} is no NPZ archive of plain arrays that can be read. Write it with numpy.savez(FILE, N=..., error=...)."
        ) from None
    if not arrays:
        raise UsageError(f"{path} holds no arrays. Write it with numpy.savez(FILE, N=..., error=...).")
    return DataTable(path, tuple(arrays), arrays=arrays)


def _comma_separated(path: Path) -> DataTable:
    with _text(path) as file:
        try:
            head = file.readline(_LONGEST)
            if len(head) == _LONGEST:
                raise UsageError(f"Row 1 of {path} has more than {_LONGEST} characters. It names no columns.")
            second = next((line for line in file if line.strip()), "")
        except UnicodeDecodeError:
            raise _no_text(path) from None
    head = head.strip("\r\n").removeprefix("#").strip()
    if not head:
        raise UsageError(f"{path} is empty, or begins with an empty line. Its first row must name the columns.")
    counts = {sign: head.count(sign) for sign in _DELIMITERS}
    best = max(counts, key=lambda sign: counts[sign])
    delimiter = best if counts[best] else None
    if delimiter is None and len(head.split()) == 1 and any(sign in second for sign in _DELIMITERS):
        raise UsageError(
            f"Row 1 of {path} names one column, `{head}`, but row 2 holds several fields. Name every column in row 1."
        )
    (fields,) = _split([head], delimiter)
    names = tuple(field.strip() for field in fields)
    if any(_is_number(name) for name in names):
        raise UsageError(
            f"Row 1 of {path} holds the number {next(filter(_is_number, names))}, so its columns have no names. "
            f"Write a first row that names them, such as `{(delimiter or ' ').join(('N', 'error'))}`."
        )
    for at, name in enumerate(names):
        if not name:
            raise UsageError(f"Column {at + 1} of {path} has no name. Name it in row 1.")
        if name in names[:at]:
            raise UsageError(
                f"Two columns of {path} are named `{name}` ({names.index(name) + 1} and {at + 1}). Rename one."
            )
    return DataTable(path, names, delimiter)


def _text(path: Path) -> Any:
    return path.open(encoding="utf-8-sig", newline=None)


def _no_text(path: Path) -> UsageError:
    return UsageError(
        f"{path} is no text: it holds bytes that are no UTF-8. Write a CSV file, or NPZ with numpy.savez."
    )


def _split(lines: list[str], delimiter: str | None) -> Iterator[list[str]]:
    if delimiter is None:
        return (line.split() for line in lines)
    return (next(csv.reader([line], delimiter=delimiter), []) for line in lines)


def _ragged(table: DataTable, row: int, fields: list[str]) -> str:
    told = (
        f"Row {row} of {table.path} has {len(fields)} field{'s' * (len(fields) != 1)}, row 1 names {len(table.names)}."
    )
    if table.delimiter == "," and len(fields) > len(table.names):
        return (
            f"{told} If decimals are written with a comma, write them with a point, or separate fields by semicolons."
        )
    if len(fields) == 1 and table.delimiter is not None:
        other = next((name for sign, name in _DELIMITERS.items() if sign in fields[0]), None)
        if other:
            return f"{told} It is separated by {other}, row 1 by {_DELIMITERS[table.delimiter]}. Use one of them throughout."
    return f"{told} Every row has one field for each name: complete it, or remove it."


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(path: Path, row: int, name: str, text: str) -> float:
    shown = text.strip()
    try:
        if "_" in shown:  # Python reads 1_000 as a number, a table does not mean it
            raise ValueError
        return float(shown)
    except ValueError:
        pass
    where = f"Row {row}, column `{name}` of {path}"
    if not shown:
        raise UsageError(f"{where} is empty. A missing value is not a number: complete the row, or remove it.")
    if _is_number(shown.replace(",", ".", 1)):
        raise UsageError(f"{where} is `{shown}`: a decimal comma. Write `{shown.replace(',', '.', 1)}`, in every row.")
    short = shown if len(shown) <= 40 else f"{shown[:37]}..."
    raise UsageError(f"{where} is `{short}`, which is no number. Correct it, or remove the row.")


def _array(path: Path, name: str, array: NDArray[Any]) -> Vector:
    if array.dtype.kind not in "biuf":
        raise UsageError(f"The array `{name}` in {path} is of {array.dtype}, not of real numbers. Save it as floats.")
    if array.ndim > 1:
        raise UsageError(f"The array `{name}` in {path} has the shape {array.shape}. A column has one dimension.")
    return np.atleast_1d(array).astype(float, copy=False)


def _finite(path: Path, rows: NDArray[np.int64], columns: dict[str, Vector]) -> None:
    for name, column in columns.items():
        bad = np.flatnonzero(~np.isfinite(column))
        if bad.size:
            raise UsageError(
                f"Row {rows[bad[0]]}, column `{name}` of {path} is {column[bad[0]]:g}. Nothing can be averaged with it. "
                "A run that failed is not a number: remove the row, and say so where you report the result."
            )
