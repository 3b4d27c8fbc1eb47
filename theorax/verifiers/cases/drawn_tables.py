"""Tables of draws: cut and joined by number, taken apart into columns to be kept, and put together again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from theorax.verifiers.cases.crew import Tables
from theorax.verifiers.cases.kept_draws import KeptColumn
from theorax.verifiers.planned_checks import Place

__all__ = ["columns_of", "cut", "joined", "length", "tables_of"]


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


def columns_of(
    drawn: Mapping[Place, tuple[Tables, Tables]], sizes: Mapping[Place, Sequence[int]]
) -> Iterator[KeptColumn]:
    """The columns of all tables and of the bounds of their errors, each with its size."""
    for place, (tables, errors) in drawn.items():
        for kind, columns in (("table", tables), ("error", errors)):
            for at, (size, table) in enumerate(zip(sizes[place], columns, strict=False)):
                for letter, column in table.items():
                    yield KeptColumn(*place, at, kind, letter, column, float(size))


def tables_of(columns: Iterable[KeptColumn]) -> dict[Place, tuple[Tables, Tables]]:
    """Tables and the bounds of their errors, by their lines."""
    found: dict[Place, dict[str, dict[int, dict[str, np.ndarray]]]] = {}
    for column in columns:
        if column.kind == "witness":  # found again by the same search
            continue
        kinds = found.setdefault((column.experiment, column.line, column.at), {"table": {}, "error": {}})
        kinds[column.kind].setdefault(column.place, {})[column.letter] = column.values
    return {place: (_in_order(kinds["table"]), _in_order(kinds["error"])) for place, kinds in found.items()}


def _in_order(columns: Mapping[int, Mapping[str, np.ndarray]]) -> Tables:
    return tuple(columns[at] for at in sorted(columns))
