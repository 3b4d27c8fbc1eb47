"""Tables of numbers in CSV, Parquet or NPZ files, read whole, and arithmetic of columns; an error names row and column.

Polars reads the texts and Parquet, NumPy the archives. Arithmetic is that of `formulas`, so every part is checked.
"""

from __future__ import annotations

import csv
import gzip
import io
import operator
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import polars
from numpy.typing import NDArray

from theorax.cli.formulas import CONSTANTS, LARGEST, NoValue, formula_value, names_in, parse_formula
from theorax.cli.statements import RowCondition
from theorax.errors import UsageError
from theorax.names import did_you_mean, many

__all__ = ["DataTable", "Rows", "open_table"]

Vector = NDArray[np.float64]
LARGEST_OF_LOGARITHMS = 1e300
"""Largest magnitude of a value whose logarithm is taken: sums over 1e8 rows are doubles."""
_COMPARED = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_LONGEST = 2**20  # of a row of names
_NOT_FINITE = (
    "Nothing can be averaged with it. A run that failed is not a number: remove the row, and say so where you report the "
    "result"
)
_TOO_LARGE = (
    "Powers of such a number leave the range of doubles. Write it in another unit, of magnitudes up to {:g}, or its "
    "logarithm"
)


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
    columns: Mapping[str, polars.Series | NDArray[Any]]  # arrays of an NPZ file may have any shape
    lines: NDArray[np.int64] | None = None  # of a text: the number of the line of each row, the names being line 1
    kept: NDArray[np.int64] | None = None  # of a filtered table: the number of each row in the file

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

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
        formulas: Iterable[str | None],
        texts: Iterable[str | None] = (),
        *,
        truths: Sequence[str] = (),
        largest: float = LARGEST,
    ) -> Rows:
        """Values of these formulas row by row; every number finite, none of a magnitude above ``largest``.

        ``texts`` are columns of any kind; those in ``truths`` may say true and false. None is left out.

        **Raises:** UsageError for the first field that cannot be read, naming its row and column.
        """
        needed = {formula: self.columns_of(formula) for formula in formulas if formula is not None}
        wanted = list(dict.fromkeys(name for columns in needed.values() for name in columns.values()))
        named = [self.named(name) for name in texts if name is not None]
        columns: dict[str, Vector] = {}  # filled below, in the order in which what is wrong is told
        rows = Rows(self, self._row_numbers([*wanted, *named]), columns, {name: self._words(name) for name in named})
        for name in wanted:
            columns[name] = self._numbers(name, rows.numbers, truth=name in truths)
            rows.refuse(name, ~np.isfinite(columns[name]), _NOT_FINITE)
        for formula, names in needed.items():
            if formula not in columns:
                columns[formula] = self._value(formula, names, rows)
        for formula in needed:
            rows.refuse(formula, np.abs(rows.columns[formula]) > largest, _TOO_LARGE.format(largest))
        return rows

    def where(self, conditions: Sequence[RowCondition]) -> DataTable:
        """The rows that satisfy all conditions.

        **Raises:** UsageError for a name that is no column, a field that is no number, or if no row is left.
        """
        if not conditions:
            return self
        held: NDArray[np.bool_] | None = None
        for one in conditions:
            rows, holds = self._holds(one)
            held = holds if held is None else held & holds
        assert held is not None
        if not held.any():
            told = " and ".join(f"`{one.text}`" for one in conditions)
            raise UsageError(f"No row of {self.path} satisfies {told}. Nothing is left to decide from.")
        length = len(held)
        columns: dict[str, polars.Series | NDArray[Any]] = {}
        for name in self.names:
            column = self._column(name)
            if len(column) != length:  # of an archive whose arrays differ in length
                continue
            columns[name] = column[held] if isinstance(column, np.ndarray) else column.filter(polars.Series(held))
        return DataTable(self.path, columns, None if self.lines is None else self.lines[held], rows.numbers[held])

    def _holds(self, one: RowCondition) -> tuple[Rows, NDArray[np.bool_]]:
        if one.value is None:
            rows = self.read([], [one.column])
            same = np.array([text == one.typed for text in rows.texts[one.column]])
            return rows, same if one.sign == "=" else ~same
        rows = self.read([one.column])
        return rows, np.asarray(_COMPARED[one.sign](rows.columns[one.column], one.value), bool)

    def refuse_groups(self, named: Iterable[str], size: str | None) -> None:
        """Refuse a column of which several rows share each value and that no option names: rows may be pooled over it.

        ``size``: a column within each value of which rows are compared.

        **Raises:** UsageError with the column and the options to choose from.
        """
        known = dict.fromkeys([*([self.named(size)] if size is not None else []), *named])
        if not known or any(self.wide(name) is not None for name in known):
            return
        length = len(self._column(next(iter(known))))
        groups = self._words(size) if size is not None else [""] * length
        for name in self.names:
            if name in known or self.wide(name) is not None or len(self._column(name)) != length:
                continue
            words = self._words(name)
            pairs, alone = len({*zip(groups, words, strict=True)}), len({*groups})
            if not alone < pairs < length:
                continue
            values = list(dict.fromkeys(words))
            again = "differ within one " + size if size is not None else "differ"
            raise UsageError(
                f"Rows of {self.path} {again} in the column `{name}` ({many(len(values), 'value')}: "
                f"{', '.join(values[:4])}{', ...' if len(values) > 4 else ''}), which no option names. Rows of one {name} may "
                f'depend on each other, or be of another law. Write `--where "{name} = {values[0]}"` for these rows alone, or '
                f"`--ignore {name}` if rows are independent draws of one law whatever their {name}."
            )

    def wide(self, name: str) -> NDArray[Any] | None:
        """An array of two dimensions of an NPZ file; None for anything else."""
        found = self.columns.get(name)
        return found if isinstance(found, np.ndarray) and found.ndim > 1 else None

    def _row_numbers(self, wanted: Sequence[str]) -> NDArray[np.int64]:
        for name in wanted:
            if (wide := self.wide(name)) is not None:
                raise UsageError(
                    f"The array `{name}` in {self.path} has the shape {wide.shape}. A column has one dimension."
                )
        lengths = {name: len(self._column(name)) for name in wanted or self.names[:1]}
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise UsageError(f"The arrays in {self.path} differ in length: {found}. A row has one entry in each.")
        count = max(lengths.values())
        if not count:
            raise UsageError(f"{self.path} has names but no rows. Nothing can be decided from it. Write some data.")
        numbers = self.lines if self.kept is None else self.kept
        return np.arange(1, count + 1) if numbers is None else numbers

    def _column(self, name: str) -> polars.Series | NDArray[Any]:
        found = self.columns[name]
        return np.atleast_1d(found) if isinstance(found, np.ndarray) else found

    def _words(self, name: str) -> list[str]:
        column = polars.Series(self._column(name))
        return column.cast(polars.String).fill_null("").str.strip_chars().to_list()

    def _numbers(self, name: str, rows: NDArray[np.int64], *, truth: bool) -> Vector:
        column = self._column(name)
        if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
            return column.astype(float)
        if isinstance(column, np.ndarray) or not (self.lines is not None or _is_numeric(column.dtype)):
            raise UsageError(
                f"The column `{name}` of {self.path} is of {column.dtype}, not of real numbers. Save it as floats."
            )
        found = column
        if self.lines is not None:
            found = column.str.strip_chars()
            found = found.str.to_lowercase().replace({"true": "1", "false": "0"}) if truth else found
        found = found.cast(polars.Float64, strict=False)
        if found.null_count():
            at = int(found.is_null().arg_max() or 0)
            raise UsageError(_no_number(f"Row {rows[at]}, column `{name}` of {self.path}", column[at]))
        return found.to_numpy()

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


def open_table(path: Path) -> DataTable:
    """The table in a file.

    **Raises:** UsageError for what is no file, neither CSV nor Parquet nor NPZ, or has no names.
    """
    content = _content(path)
    if content.startswith(b"PAR1"):
        return _parquet(path, content)
    if content.startswith(b"PK") or path.suffix.lower() == ".npz":
        return _archive(path, content)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UsageError(f"{path} is text in UTF-16. Save it as UTF-8 (in a spreadsheet: “CSV UTF-8”).")
    try:
        if b"\0" not in content:
            return _comma_separated(path, content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        pass
    raise UsageError(
        f"{path} is no text: it holds bytes that are no UTF-8. Write a CSV file, Parquet, or NPZ with numpy.savez."
    )


def _content(path: Path) -> bytes:
    """The bytes of a file, unpacked where it is packed by gzip."""
    if path.is_dir():
        raise UsageError(f"`{path}` is a folder. Name a CSV, Parquet or NPZ file in it.")
    if path.exists() and not path.is_file():
        raise UsageError(f"`{path}` is not a regular file. Write the table to a file.")
    if not path.is_file():
        near = did_you_mean(path.name, [found.name for found in path.parent.glob("*")] if path.parent.is_dir() else [])
        raise UsageError(f"There is no file `{path}`{near}")
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise UsageError(f"{path} is a damaged gzip file. Write it again.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None


def _parquet(path: Path, content: bytes) -> DataTable:
    try:
        frame = polars.read_parquet(io.BytesIO(content))
    except polars.exceptions.PolarsError:
        raise UsageError(f"{path} is a damaged Parquet file. Write it again.") from None
    if not frame.columns:
        raise UsageError(f"{path} has no columns. Nothing can be decided from it.")
    return DataTable(path, frame.to_dict())


def _archive(path: Path, content: bytes) -> DataTable:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    # Errors of memory and of zlib come from sizes and bytes that the file states wrongly.
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, KeyError, TypeError, NotImplementedError, MemoryError,
            zlib.error, RuntimeError):  # fmt: skip
        raise UsageError(
            f"{path} is no NPZ archive of plain arrays that can be read. Write it with numpy.savez(FILE, N=..., error=...)."
        ) from None
    if not arrays:
        raise UsageError(f"{path} holds no arrays. Write it with numpy.savez(FILE, N=..., error=...).")
    return DataTable(path, arrays)


def _comma_separated(path: Path, text: str) -> DataTable:
    head, _, body = text.replace("\r\n", "\n").replace("\r", "\n").partition("\n")
    if len(head) > _LONGEST:
        raise UsageError(f"Row 1 of {path} has more than {_LONGEST} characters. It names no columns.")
    head = head.removeprefix("#").strip()
    if not head:
        raise UsageError(f"{path} is empty, or begins with an empty line. Its first row must name the columns.")
    best = max(_DELIMITERS, key=head.count)
    delimiter = best if best in head else None
    if delimiter is None:  # polars knows no white space of several signs
        if len(head.split()) == 1 and any(sign in body.strip().partition("\n")[0] for sign in _DELIMITERS):
            raise UsageError(
                f"Row 1 of {path} names one column, `{head}`, but row 2 holds several fields. Name every column in row 1."
            )
        head, body = " ".join(head.split()), "\n".join(" ".join(line.split()) for line in body.split("\n"))
    names = tuple(name.strip() for name in _split(head, delimiter))
    _check_names(path, names, delimiter)
    schema = dict.fromkeys(names, polars.String())
    try:
        # Row 1 is read like the others, so that every row has as many fields as it.
        content = f"{head}\n{body}".encode()
        frame = polars.read_csv(content, has_header=False, separator=delimiter or " ", schema=schema)[1:]
    except polars.exceptions.PolarsError as error:
        _refuse_ragged(path, body, names, delimiter)
        found = str(error).strip().splitlines()[0][:200] if str(error).strip() else "it is damaged"
        raise UsageError(f"{path} cannot be read as a table: {found}.") from None
    blank = frame.select(polars.all_horizontal(polars.all().is_null())).to_series()
    frame = frame.filter(~blank)
    if frame[names[-1]].has_nulls():  # the last field of a row is empty, or it is missing
        _refuse_ragged(path, body, names, delimiter)
    return DataTable(path, frame.to_dict(), np.flatnonzero(~blank) + 2)


def _refuse_ragged(path: Path, body: str, names: Sequence[str], delimiter: str | None) -> None:
    """Refuse the first row with another number of fields than row 1."""
    for row, line in enumerate(body.split("\n"), 2):
        fields = _split(line, delimiter) if line.strip() else names
        if len(fields) == len(names):
            continue
        found = f"Row {row} of {path} has {many(len(fields), 'field')}, row 1 names {len(names)}."
        if delimiter == "," and len(fields) > len(names):
            raise UsageError(
                f"{found} If decimals are written with a comma, write them with a point, or separate fields by semicolons."
            )
        other = next((name for sign, name in _DELIMITERS.items() if sign in fields[0]), None)
        if len(fields) == 1 and delimiter is not None and other:
            raise UsageError(
                f"{found} It is separated by {other}, row 1 by {_DELIMITERS[delimiter]}. Use one of them throughout."
            )
        raise UsageError(f"{found} Every row has one field for each name: complete it, or remove it.")


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


def _split(line: str, delimiter: str | None) -> list[str]:
    try:
        return line.split() if delimiter is None else next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # a field of more than 131072 characters
        return line.split(delimiter)


def _is_numeric(dtype: polars.DataType) -> bool:
    return dtype.is_numeric() or dtype in (polars.Boolean, polars.Null)


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
    if "," in shown and "_" not in shown and _is_number(shown.replace(",", ".", 1)):
        return f"{where} is `{shown}`: a decimal comma. Write `{shown.replace(',', '.', 1)}`, in every row."
    short = shown if len(shown) <= 40 else f"{shown[:37]}..."
    return f"{where} is `{short}`, which is no number. Correct it, or remove the row."
