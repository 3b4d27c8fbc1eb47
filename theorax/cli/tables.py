"""Columns of numbers in a CSV, Parquet or NPZ file, and arithmetic of them; an error names row and column.

Polars reads the texts and Parquet, NumPy the archives. Arithmetic is that of `formulas`, so every part is checked.
"""

from __future__ import annotations

import csv
import gzip
import io
import unicodedata
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, final

import numpy as np
import polars
from numpy.typing import NDArray

from theorax.cli.formulas import CONSTANTS, LARGEST, NoValue, formula_value, names_in, parse_formula
from theorax.errors import UsageError
from theorax.names import did_you_mean, many

__all__ = ["DataTable", "Rows", "open_table"]

Vector = NDArray[np.float64]
LARGEST_OF_LOGARITHMS = 1e300
"""Largest magnitude of a value whose logarithm is taken: sums over 1e8 rows are doubles."""
_LONGEST = 2**20  # of a row of names
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_NOT_FINITE = (
    "Nothing can be averaged with it. A run that failed is not a number: remove the row, and say so where you report the "
    "result"
)
_TOO_LARGE = (
    "Powers of such a number leave the range of doubles. Write it in another unit, of magnitudes up to {:g}, or its "
    "logarithm"
)
_ROW, _BLANK, _SHORT = "\0row", "\0blank", "\0short"  # columns beside those of the file


@final
@dataclass(frozen=True)
class Rows:
    """Columns and formulas as numbers, and the number of each row: that of a line in a text, the names being row 1."""

    table: DataTable
    numbers: NDArray[np.int64]
    columns: dict[str, Vector]
    texts: dict[str, list[str]]

    def refuse(self, name: str, bad: NDArray[np.bool_], why: str) -> None:
        """Refuse the first bad number of a column or formula.

        **Raises:** UsageError naming its row.
        """
        if bad.any():
            at = int(np.argmax(bad))
            raise UsageError(
                f"Row {self.numbers[at]}, {'column ' * (name in self.table.names)}`{name}` of {self.table.path} is "
                f"{self.columns[name][at]:g}. {why}."
            )


@final
@dataclass(frozen=True)
class DataTable:
    """A file with named columns; ``read`` reads columns and arithmetic of columns."""

    path: Path
    names: tuple[str, ...]
    frame: polars.LazyFrame | None = None  # of a text, its names being the first row, or of Parquet
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # of an NPZ file
    delimiter: str | None = None  # of a text; None is white space
    text: bool = False

    def named(self, name: str) -> str:
        """A column's name, if there is such a column.

        **Raises:** UsageError with the nearest names.
        """
        if name not in self.names:
            known = ", ".join(self.names[:12]) + (", ..." if len(self.names) > 12 else "")
            raise UsageError(f"{self.path} has no column `{name}`{did_you_mean(name, self.names)} It has: {known}.")
        return name

    def columns_of(self, formula: str) -> dict[str, str]:
        """The columns that a formula needs, by the names it gives them; a whole text that names a column is that column.

        **Raises:** UsageError for a text that is no formula, or a name that is no column.
        """
        if formula in self.names:
            return {formula: formula}
        letters = names_in(parse_formula(formula))
        if formula in letters:  # one word
            return {formula: self.named(formula)}
        # Python reads identifiers in their normal form; a column's name is as it was typed.
        normal = {unicodedata.normalize("NFKC", name): name for name in self.names}
        return {
            name: normal.get(name) or self.named(name) for name in letters if name in normal or name not in CONSTANTS
        }

    def read(
        self,
        formulas: Sequence[str],
        texts: Sequence[str] = (),
        truths: Sequence[str] = (),
        *,
        largest: float = LARGEST,
    ) -> Rows:
        """Values of these formulas row by row; every number finite, none of a magnitude above ``largest``.

        Columns in ``truths`` may say true and false.

        **Raises:** UsageError for the first field that cannot be read, naming its row and column.
        """
        needed = {formula: self.columns_of(formula) for formula in formulas}
        wanted = list(dict.fromkeys(name for columns in needed.values() for name in columns.values()))
        frame = self._frame(list(dict.fromkeys([*wanted, *map(self.named, texts)])))
        if frame.is_empty():
            raise UsageError(f"{self.path} has names but no rows. Nothing can be decided from it. Write some data.")
        words = {name: _words(frame[name]).to_list() for name in texts}
        rows = Rows(self, frame[_ROW].to_numpy().astype(np.int64), {}, words)
        for name in wanted:
            rows.columns[name] = self._numbers(frame[name], rows.numbers, truth=name in truths)
            rows.refuse(name, ~np.isfinite(rows.columns[name]), _NOT_FINITE)
        for formula in formulas:
            if formula not in rows.columns:
                rows.columns[formula] = self._value(formula, needed[formula], rows)
        for formula in formulas:
            rows.refuse(formula, np.abs(rows.columns[formula]) > largest, _TOO_LARGE.format(largest))
        return rows

    def wide(self, name: str) -> NDArray[Any] | None:
        """An array of two dimensions of an NPZ file; None for anything else."""
        found = self.arrays.get(name)
        return found if found is not None and found.ndim > 1 else None

    def _frame(self, wanted: Sequence[str]) -> polars.DataFrame:
        """These columns as they are in the file, and the numbers of the rows."""
        if self.frame is None:
            return self._archived(wanted)
        blank = polars.all_horizontal(polars.col(*self.names).is_null()) if self.text else polars.lit(False)
        short = polars.col(self.names[-1]).is_null()
        numbered = self.frame.with_row_index(_ROW, offset=1)
        try:
            found = numbered.select(_ROW, *wanted, blank.alias(_BLANK), short.alias(_SHORT)).collect()
        except polars.exceptions.PolarsError as error:
            if self.text:
                self._refuse_ragged()
            said = str(error).strip().splitlines()[0][:200] if str(error).strip() else "it is damaged"
            raise UsageError(f"{self.path} cannot be read as a table: {said}.") from None
        if not self.text:
            return found
        found = found[1:].filter(~polars.col(_BLANK))
        if found[_SHORT].any():
            self._refuse_ragged()
        return found

    def _archived(self, wanted: Sequence[str]) -> polars.DataFrame:
        columns: dict[str, NDArray[Any]] = {}
        for name in wanted:
            array = np.atleast_1d(self.arrays[name])
            if array.ndim > 1:
                raise UsageError(
                    f"The array `{name}` in {self.path} has the shape {array.shape}. A column has one dimension."
                )
            if array.dtype.kind not in "biufSU":
                raise UsageError(f"The array `{name}` in {self.path} is of {array.dtype}, not of real numbers.")
            columns[name] = array.astype(float) if array.dtype == np.float16 else array
        lengths = {name: len(array) for name, array in columns.items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise UsageError(f"The arrays in {self.path} differ in length: {told}. A row has one entry in each.")
        rows = np.arange(1, max(lengths.values(), default=0) + 1)
        return polars.DataFrame({_ROW: rows, **columns})

    def _numbers(self, column: polars.Series, rows: NDArray[np.int64], *, truth: bool) -> Vector:
        if column.dtype == polars.String and self.text:
            words = _words(column)
            if truth:
                words = words.str.to_lowercase().replace({"true": "1", "false": "0"})
            found = words.cast(polars.Float64, strict=False)
        elif column.dtype.is_numeric() or column.dtype in (polars.Boolean, polars.Null):
            found = column.cast(polars.Float64)
        else:
            raise UsageError(
                f"The column `{column.name}` of {self.path} is of {column.dtype}, not of real numbers. Save it as floats."
            )
        if found.null_count():
            at = int(found.is_null().arg_max() or 0)
            raise UsageError(_no_number(f"Row {rows[at]}, column `{column.name}` of {self.path}", column[at]))
        return found.to_numpy().astype(float, copy=False)

    def _value(self, formula: str, names: Mapping[str, str], rows: Rows) -> Vector:
        letters = {name: rows.columns[column] for name, column in names.items()}
        try:
            found = formula_value(parse_formula(formula), {**CONSTANTS, **letters})
        except NoValue as error:
            where = f"Row {rows.numbers[error.entry]} of {self.path}" if names else f"`{formula}`"
            raise UsageError(
                f"{where}: `{error.part}` has no finite value. Correct the formula, or remove the row."
            ) from None
        return found if isinstance(found, np.ndarray) else np.full(len(rows.numbers), float(found))

    def _refuse_ragged(self) -> None:
        """Refuse the first row with another number of fields than row 1, read once more to find it."""
        with _text(self.path) as file:
            try:
                next(file)
                for row, line in enumerate(file, 2):
                    fields = _split(line.rstrip("\n"), self.delimiter)
                    if line.strip() and len(fields) != len(self.names):
                        raise UsageError(_ragged(self, row, fields))
            except (UnicodeDecodeError, csv.Error):
                raise _no_text(self.path) from None


def open_table(path: Path) -> DataTable:
    """The table in a file, its names read and nothing else.

    **Raises:** UsageError for what is no file, neither CSV nor Parquet nor NPZ, or has no names.
    """
    start = _first_bytes(path)
    if start.startswith(b"PAR1"):
        return _parquet(path)
    if start.startswith(b"PK") or path.suffix.lower() == ".npz":
        return _archive(path)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UsageError(f"{path} is text in UTF-16. Save it as UTF-8 (in a spreadsheet: “CSV UTF-8”).")
    if b"\0" in start:
        raise _no_text(path)
    return _comma_separated(path, lines_end_oddly=b"\r" in start and b"\n" not in start)


def _first_bytes(path: Path) -> bytes:
    """The first bytes of a file, unpacked where it is packed by gzip."""
    if path.is_dir():
        raise UsageError(f"`{path}` is a folder. Name a CSV, Parquet or NPZ file in it.")
    if path.exists() and not path.is_file():
        raise UsageError(f"`{path}` is not a regular file, and a table is read more than once. Write it to a file.")
    if not path.is_file():
        near = did_you_mean(path.name, [found.name for found in path.parent.glob("*")] if path.parent.is_dir() else [])
        raise UsageError(f"There is no file `{path}`{near}")
    try:
        with _opened(path) as file:
            return file.read(4096)
    except (EOFError, gzip.BadGzipFile):
        raise UsageError(f"{path} is a damaged gzip file. Write it again.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path) if packed else path.open("rb")


def _text(path: Path) -> io.TextIOWrapper:
    return io.TextIOWrapper(_opened(path), encoding="utf-8-sig", newline=None)


def _parquet(path: Path) -> DataTable:
    try:
        frame = polars.scan_parquet(path)
        names = tuple(frame.collect_schema().names())
    except polars.exceptions.PolarsError:
        raise UsageError(f"{path} is a damaged Parquet file. Write it again.") from None
    if not names:
        raise UsageError(f"{path} has no columns. Nothing can be decided from it.")
    return DataTable(path, names, frame)


def _archive(path: Path) -> DataTable:
    try:
        # Opened here: NumPy leaves a file open that it finds to be no archive.
        with path.open("rb") as opened_file, np.load(opened_file, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    # Errors of memory and of zlib come from sizes and bytes that the file states wrongly.
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, KeyError, TypeError, NotImplementedError, MemoryError,
            zlib.error, RuntimeError):  # fmt: skip
        raise UsageError(
            f"{path} is no NPZ archive of plain arrays that can be read. Write it with numpy.savez(FILE, N=..., error=...)."
        ) from None
    if not arrays:
        raise UsageError(f"{path} holds no arrays. Write it with numpy.savez(FILE, N=..., error=...).")
    return DataTable(path, tuple(arrays), arrays=arrays)


def _comma_separated(path: Path, *, lines_end_oddly: bool) -> DataTable:
    with _text(path) as file:
        try:
            head = file.readline(_LONGEST)
            if len(head) == _LONGEST:
                raise UsageError(f"Row 1 of {path} has more than {_LONGEST} characters. It names no columns.")
            second = next((line for line in file if line.strip()), "")
        except (UnicodeDecodeError, EOFError, OSError):
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
    names = tuple(field.strip() for field in _split(head, delimiter))
    _check_names(path, names, delimiter)
    source: Path | io.BytesIO = path
    if delimiter is None or lines_end_oddly:  # polars does not read these: they are rewritten in memory
        with _text(path) as file:
            file.readline()
            lines = (" ".join(line.split()) if delimiter is None else line.rstrip("\n") for line in file)
            source = io.BytesIO("\n".join([(delimiter or " ").join(["-"] * len(names)), *lines]).encode())
    # Row 1 is read like the others, so that every row has as many fields as it; `read` leaves it out.
    schema = {name: polars.String() for name in names}
    frame = polars.scan_csv(source, has_header=False, separator=delimiter or " ", schema=schema)
    return DataTable(path, names, frame, delimiter=delimiter, text=True)


def _check_names(path: Path, names: tuple[str, ...], delimiter: str | None) -> None:
    if any(_is_number(name) for name in names):
        raise UsageError(
            f"Row 1 of {path} holds the number {next(filter(_is_number, names))}, so its columns have no names. "
            f"Write a first row that names them, such as `{(delimiter or ' ').join(('N', 'error'))}`."
        )
    places: dict[str, int] = {}
    for at, name in enumerate(names):
        if not name:
            raise UsageError(f"Column {at + 1} of {path} has no name. Name it in row 1.")
        if (first := places.setdefault(name, at)) != at:
            raise UsageError(f"Two columns of {path} are named `{name}` ({first + 1} and {at + 1}). Rename one.")


def _no_text(path: Path) -> UsageError:
    return UsageError(
        f"{path} is no text: it holds bytes that are no UTF-8. Write a CSV file, Parquet, or NPZ with numpy.savez."
    )


def _split(line: str, delimiter: str | None) -> list[str]:
    return line.split() if delimiter is None else next(csv.reader([line], delimiter=delimiter), [])


def _ragged(table: DataTable, row: int, fields: list[str]) -> str:
    told = f"Row {row} of {table.path} has {many(len(fields), 'field')}, row 1 names {len(table.names)}."
    if table.delimiter == "," and len(fields) > len(table.names):
        return (
            f"{told} If decimals are written with a comma, write them with a point, or separate fields by semicolons."
        )
    if len(fields) == 1 and table.delimiter is not None:
        other = next((name for sign, name in _DELIMITERS.items() if sign in fields[0]), None)
        if other:
            return f"{told} It is separated by {other}, row 1 by {_DELIMITERS[table.delimiter]}. Use one of them throughout."
    return f"{told} Every row has one field for each name: complete it, or remove it."


def _words(column: polars.Series) -> polars.Series:
    return column.cast(polars.String).fill_null("").str.strip_chars()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _no_number(where: str, found: str | None) -> str:
    shown = (found or "").strip()
    if not shown:
        return f"{where} is empty. A missing value is not a number: complete the row, or remove it."
    if "_" not in shown and _is_number(shown.replace(",", ".", 1)):
        return f"{where} is `{shown}`: a decimal comma. Write `{shown.replace(',', '.', 1)}`, in every row."
    short = shown if len(shown) <= 40 else f"{shown[:37]}..."
    return f"{where} is `{short}`, which is no number. Correct it, or remove the row."
