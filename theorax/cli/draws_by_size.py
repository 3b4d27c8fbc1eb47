"""Rows of a table as draws by size: the numbers that are refused, and the rows that belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from theorax.cli.formulas import LARGEST
from theorax.cli.tables import DataTable, Rows
from theorax.decide.streams import MOST_SIZES
from theorax.errors import UsageError
from theorax.names import many

__all__ = ["RowsBySize", "error_bounds", "read_by_size", "wide_table"]

Vector = NDArray[np.float64]


@final
@dataclass(frozen=True)
class RowsBySize:
    """A quantity along sizes: row by row as in the file, and its draws at each size, the smallest first."""

    rows: Rows
    sizes: Vector  # those that grow: of step sizes the inverses
    values: Vector
    errors: Vector  # their bounds
    counts: dict[float, int]
    columns: list[Vector]

    def rows_at(self, size: float) -> NDArray[np.int64]:
        """The numbers of the rows at this size."""
        return self.rows.numbers[self.sizes == size]


def read_by_size(
    table: DataTable,
    letter: str,
    of: str,
    error: str | None,
    paired: str | None,
    shrinks: bool | None = None,
    largest: float = LARGEST,
) -> RowsBySize:
    """A quantity along a column of sizes, with a column of error bounds and one that pairs draws.

    **Raises:** UsageError for the first number that cannot be meant, naming its row and column.
    """
    table.named(letter)
    if letter == of:
        raise UsageError(
            f"`{of}` is claimed to depend on itself. Name one column for the size and one for the quantity."
        )
    rows = table.read([letter, of, error], [paired], largest=largest)
    sizes, values = rows.columns[letter], rows.columns[of]
    rows.refuse(letter, sizes <= 0, "Sizes are positive: powers of them are taken. Remove the row")
    unusable = (sizes < 1 / LARGEST) | (sizes > LARGEST)
    rows.refuse(letter, unusable, "Powers of such a size leave the range of doubles. Write it in another unit")
    errors = error_bounds(rows, error)
    _refuse_undirected(letter, shrinks, float(sizes.max()))
    sizes = 1 / sizes if shrinks else sizes
    distinct, counts = np.unique(sizes, return_counts=True)
    if len(distinct) > MOST_SIZES:
        raise UsageError(
            f"More than {MOST_SIZES} different sizes were met. A sweep has a few sizes with many draws at each. "
            "Name the column that holds the size."
        )
    if paired is None:
        columns = np.split(values[np.argsort(sizes, kind="stable")], np.cumsum(counts)[:-1])
    else:
        columns = _pairs(rows, paired, f"(1/{letter})" if shrinks else letter, sizes, values)
    found = dict(zip(distinct.tolist(), counts.tolist(), strict=True))
    return RowsBySize(rows, sizes, values, errors, found, columns)


def _pairs(rows: Rows, key: str, letter: str, sizes: Vector, values: Vector) -> list[Vector]:
    """One column per size, row by row the draws that share an entry of the column ``key``."""
    distinct, at = np.unique(sizes, return_inverse=True)
    places: dict[str, int] = {}
    draws = np.array([places.setdefault(text, len(places)) for text in rows.texts[key]])
    cells, first = np.unique(draws * len(distinct) + at, return_index=True)
    if len(first) < len(at):
        row = int(np.setdiff1d(np.arange(len(at)), first)[0])
        raise UsageError(
            f"Row {rows.numbers[row]} of {rows.table.path} is the second with {key} = {rows.texts[key][row]} at {letter} = "
            f"{sizes[row]:g}. A pair has one draw at every size. Remove one, or name the column that tells the draws apart."
        )
    if len(cells) < len(places) * len(distinct):
        missing = int(np.argmax(np.append(cells, -1) != np.arange(len(cells) + 1)))  # the first gap in 0, 1, 2, ...
        text, size = list(places)[missing // len(distinct)], distinct[missing % len(distinct)]
        raise UsageError(
            f"{rows.table.path} has no row with {key} = {text} at {letter} = {size:g}. A pair needs all its members. "
            f"Add the row, leave {key} = {text} out, or write `--seeds independent` in place of `--paired {key}`."
        )
    return list(values[first].reshape(-1, len(distinct)).T)


def _refuse_undirected(letter: str, shrinks: bool | None, largest: float) -> None:
    """Sizes that never exceed one are step sizes more often than not: then the claim must say where they tend."""
    if shrinks is None and largest <= 1:
        raise UsageError(
            f"No {letter} exceeds 1. A claim about growing {letter} would read such a table from its coarse end. "
            f"Write `as {letter} -> 0` after the claim if it is about small {letter}, `as {letter} -> oo` if it is not."
        )


def wide_table(table: DataTable, letter: str, of: str, shrinks: bool | None) -> tuple[list[float], NDArray[Any]] | None:
    """Sizes and table of an archive that holds a table ``draws x sizes``; None where it holds columns.

    **Raises:** UsageError for another shape.
    """
    table.named(letter)
    values = table.wide(of)
    if values is None:
        return None
    sizes = table.read([letter]).columns[letter]
    _refuse_undirected(letter, shrinks, float(sizes.max()))
    if shrinks:
        sizes = 1 / np.where(sizes > 0, sizes, np.nan)
    shape = f"The array `{of}` in {table.path} has the shape {values.shape}"
    if values.ndim != 2 or values.shape[1] != len(sizes):
        raise UsageError(
            f"{shape}, `{letter}` has {many(len(sizes), 'size')}. A table of draws has one row a draw and one column a "
            f"size: the shape (draws, {len(sizes)})."
        )
    if not values.size:
        raise UsageError(f"{shape}: it holds no draw. Nothing can be decided from it.")
    if values.dtype.kind in "iuf" and (bad := np.argwhere(np.abs(values) > LARGEST)).size:
        draw, column = bad[0]
        raise UsageError(
            f"Row {draw + 1}, column {column + 1} of `{of}` in {table.path} is {values[draw, column]:g}. Powers of such a "
            f"number leave the range of doubles. Write it in another unit, of magnitudes up to {LARGEST:g}."
        )
    return sizes.tolist(), values


def error_bounds(rows: Rows, name: str | None) -> Vector:
    """Bounds of the errors of each row, none of them negative; zero where no column has them."""
    if name is None:
        return np.zeros(len(rows.numbers))
    rows.refuse(name, rows.columns[name] < 0, "An error bound is not negative. Write its absolute value")
    return rows.columns[name]
