"""Rows of a file as draws by size, in one pass: what is read, refused, paired."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from theorax.cli.formulas import LARGEST
from theorax.cli.tables import LARGEST_OF_LOGARITHMS, DataTable, Piece
from theorax.decide.streams import MOST_SIZES, Stream
from theorax.errors import UsageError
from theorax.names import many

__all__ = ["Rows", "error_bounds", "read_rows", "refuse_values", "wide_table"]

Vector = NDArray[np.float64]


@final
@dataclass(frozen=True)
class Rows:
    """Result of one pass over the rows of a sweep."""

    stream: Stream
    first: list[tuple[int, float, float, float]]  # row, size, value, error; as long as there may be one value per size
    columns: tuple[Vector, ...] | None  # by size, row by row one pair


def read_rows(
    table: DataTable,
    letter: str,
    of: str,
    *,
    error_column: str | None,
    paired: str | None,
    logs: bool,
    keep: bool,
    shrinks: bool | None = None,
) -> Rows:
    """One pass over the rows.

    **Raises:** UsageError for the first number that cannot be meant, naming its row and column.
    """
    numbers = [letter, of, *([error_column] if error_column not in (None, letter, of) else [])]
    table.named(letter)
    if letter == of:
        raise UsageError(
            f"`{of}` is claimed to depend on itself. Name one column for the size and one for the quantity."
        )
    texts = [paired] if paired else []
    stream = Stream(logs=logs, keep=keep)
    first: list[tuple[int, float, float, float]] = []
    parts: list[tuple[Piece, Vector, Vector]] = []
    seen, greatest = 0, 0.0
    # The logarithms themselves are small; where draws are kept, means of the values are taken too.
    largest = LARGEST_OF_LOGARITHMS if logs and not keep else LARGEST
    for piece in table.pieces(numbers, texts, largest=largest):
        sizes, values = piece.columns[letter], piece.columns[of]
        refuse_values(
            table, piece, letter, ~(sizes > 0), "Sizes are positive: powers of them are taken. Remove the row"
        )
        refuse_values(
            table,
            piece,
            letter,
            (sizes < 1 / LARGEST) | (sizes > LARGEST),
            "Powers of such a size leave the range of doubles. Write it in another unit",
        )
        if logs:
            refuse_values(
                table,
                piece,
                of,
                ~(values > 0),
                "A rate is read off logarithms, which only positive numbers have. Write an absolute value or a square",
            )
        greatest = max(greatest, float(sizes.max()))
        sizes = 1 / sizes if shrinks else sizes
        error = np.zeros(len(values)) if error_column is None else error_bounds(table, piece, error_column)
        stream.add(sizes, values)
        seen += len(values)
        if seen <= MOST_SIZES:
            rows = zip(piece.rows, sizes, values, error, strict=True)
            first.extend((int(r), float(n), float(v), float(e)) for r, n, v, e in rows)
        if texts:
            parts.append((piece, sizes, values))
    _directed(letter, shrinks, greatest)
    columns = _paired(table, letter, paired, parts) if paired is not None else None
    return Rows(stream, first, columns)


def _directed(letter: str, shrinks: bool | None, largest: float) -> None:
    """Sizes that never exceed one are step sizes more often than not: then the claim must say where they tend."""
    if shrinks is None and largest <= 1:
        raise UsageError(
            f"No {letter} exceeds 1. A claim about growing {letter} would read such a table from its coarse end. "
            f"Write `as {letter} -> 0` after the claim if it is about small {letter}, `as {letter} -> oo` if it is not."
        )


def _paired(table: DataTable, letter: str, key: str, parts: list[tuple[Piece, Vector, Vector]]) -> tuple[Vector, ...]:
    """One column per size, row by row the draws that share an entry of the column ``key``."""
    sizes = np.unique(np.concatenate([part for _, part, _ in parts]))
    places: dict[str, int] = {}
    for piece, _, _ in parts:
        for text in piece.texts[key]:
            places.setdefault(text, len(places))
    found = np.full((len(places), len(sizes)), np.nan)
    for piece, at_sizes, values in parts:
        columns = np.searchsorted(sizes, at_sizes)
        for row, text, column, value in zip(piece.rows, piece.texts[key], columns, values, strict=True):
            if not np.isnan(found[places[text], column]):
                raise UsageError(
                    f"Row {row} of {table.path} is the second with {key} = {text} at {letter} = {sizes[column]:g}. A pair "
                    "has one draw at every size. Remove one, or name the column that tells the draws apart."
                )
            found[places[text], column] = value
    missing = np.argwhere(np.isnan(found))
    if missing.size:
        draw, column = missing[0]
        text = next(name for name, place in places.items() if place == draw)
        raise UsageError(
            f"{table.path} has no row with {key} = {text} at {letter} = {sizes[column]:g}. A pair needs all its members. "
            f"Add the row, leave {key} = {text} out, or write `--seeds independent` in place of `--paired {key}`."
        )
    return tuple(found.T)


def wide_table(table: DataTable, letter: str, of: str, shrinks: bool | None) -> tuple[list[float], NDArray[Any]] | None:
    """Sizes and table of an archive that holds a table ``draws x sizes``; None where it holds columns.

    **Raises:** UsageError for another shape.
    """
    table.named(letter)
    values = table.wide(of)
    if values is None:
        return None
    sizes = next(iter(table.pieces([letter]))).columns[letter]
    _directed(letter, shrinks, float(sizes.max()))
    if shrinks:
        sizes = 1 / np.where(sizes > 0, sizes, np.nan)
    if values.ndim != 2 or values.shape[1] != len(sizes):
        raise UsageError(
            f"The array `{of}` in {table.path} has the shape {values.shape}, `{letter}` has {many(len(sizes), 'size')}. "
            f"A table of draws has one row a draw and one column a size: the shape (draws, {len(sizes)})."
        )
    if not values.size:
        raise UsageError(
            f"The array `{of}` in {table.path} has the shape {values.shape}: it holds no draw. Nothing can be decided from it."
        )
    if values.dtype.kind in "iuf" and (bad := np.argwhere(np.abs(values) > LARGEST)).size:
        draw, column = bad[0]
        raise UsageError(
            f"Row {draw + 1}, column {column + 1} of `{of}` in {table.path} is {values[draw, column]:g}. Powers of such a "
            f"number leave the range of doubles. Write it in another unit, of magnitudes up to {LARGEST:g}."
        )
    return [float(size) for size in sizes], values


def error_bounds(table: DataTable, piece: Piece, name: str) -> Vector:
    """Bounds of errors, none of them negative."""
    errors = piece.columns[name]
    refuse_values(table, piece, name, errors < 0, "An error bound is not negative. Write its absolute value")
    return errors


def refuse_values(table: DataTable, piece: Piece, name: str, bad: NDArray[np.bool_], why: str) -> None:
    """Refuse the first bad number of a column.

    **Raises:** UsageError naming its row.
    """
    found = np.flatnonzero(bad)
    if found.size:
        at = int(found[0])
        raise UsageError(
            f"Row {piece.rows[at]}, {'column ' * (name in table.names)}`{name}` of {table.path} is "
            f"{piece.columns[name][at]:g}. {why}."
        )
