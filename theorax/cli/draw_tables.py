"""``verify draws``: the observations that a kept result was decided from, as a table of one's own."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theorax.cli.listing import existing_id
from theorax.cli.selecting import complete, root_option, state_folder, state_option
from theorax.cli.workspace import workspace_of
from theorax.errors import UsageError
from theorax.names import did_you_mean
from theorax.text.safe import uncommanded, visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from theorax.verifiers.cases.kept_draws import KeptColumn

TABLE, WITNESS = "table", "witness"  # kinds of kept columns
FORMATS = ("csv", "npz")
COLUMNS = ("experiment", "subject", "at", "size", "draw", "letter", "value", "error")
Row = tuple[str, str, str, float | None, int, str, float, float | None]


@click.command("draws")
@click.argument("id", metavar="ID", shell_complete=complete)
@click.option("--output", "-o", default="csv", metavar="FORMAT[=FILE]", help="csv, npz; npz needs a file [csv].")
@click.option("--witness", is_flag=True, help="The draws at which claims were refuted by a search, with their noise.")
@root_option
@state_option
@click.pass_context
def draws(context: click.Context, id: str, output: str, witness: bool, state: str | None) -> int:
    """Write the draws that the last kept result of a theorem was decided from; nothing is run.

    One row for each number: experiment, subject, parameters, size, draw, letter, value, and the bound of its error
    where there is one. Controls are among the subjects. With --witness the rows are those of the draws that a search
    found: letters are named by their claim, as in bound.after, and bound.e1 is the first array of noise, floats in [1, 2).
    """
    from theorax.reports.json import writable, write_bytes

    format_, _, file = output.partition("=")
    if format_ not in FORMATS:
        raise UsageError(
            f"`--output {output}`: there is no format `{format_}`{did_you_mean(format_, FORMATS)} "
            "Write `--output csv=draws.csv` or `--output npz=draws.npz`."
        )
    if format_ == "npz" and not file:
        raise UsageError("`--output npz` is no text for a terminal. Write `--output npz=draws.npz`.")
    path = Path(file) if file else None
    if path is not None:
        writable(path)
    id = existing_id(workspace_of(context, (id,)).catalogue, id)
    kept = _kept(id, state)
    if witness and not any(column.kind == WITNESS for column in kept):
        raise UsageError(
            f"No witness is kept of `{id}`: no search found a draw at which a claim of it fails. "
            f"Write `verify draws {id}` for its draws."
        )
    content = _written(_rows(kept, WITNESS if witness else TABLE), format_)
    if path is None:
        click.echo(uncommanded(content.decode()), nl=False)
    else:
        write_bytes(content, path)
    return 0


def _kept(id: str, state: str | None) -> list[KeptColumn]:
    """Columns that the last result of this theorem was decided from.

    **Raises:** UsageError if no result is kept, or one without draws.
    """
    from theorax.runs.store import Store
    from theorax.verifiers.cases.kept_draws import unpacked

    store = Store(state_folder(state))
    last = store.last_manifest(id)
    if last is None or not last.usable:
        raise UsageError(f"No result of `{id}` is kept. Check it first: `verify theorem {id}`.")
    observations = store.observations(last.manifest)
    if observations is None:
        raise UsageError(
            f"The result of `{id}` is kept without draws: it needed none, or they fill more than 16 MiB. "
            f"A check at less effort may keep them: `verify theorem {id} --effort quick`."
        )
    return list(unpacked(observations))


def _rows(columns: list[KeptColumn], kind: str) -> Iterator[Row]:
    """One row for each number of these columns; an array's entries are letters with their indices."""
    bounds = {_of(column): column.values for column in columns if column.kind == "error"}
    for column in columns:
        if column.kind != kind:
            continue
        at = ", ".join(f"{name}={value}" for name, value in column.at)
        for letter, values, errors in _entries(column, bounds.get(_of(column))):
            for draw, (value, error) in enumerate(zip(values, errors, strict=True), 1):
                yield column.experiment, column.line, at, column.size, draw, letter, value, error


def _of(column: KeptColumn) -> tuple[object, ...]:
    return column.experiment, column.line, column.at, column.place, column.letter


def _entries(
    column: KeptColumn, bounds: NDArray[Any] | None
) -> Iterator[tuple[str, list[float], Sequence[float | None]]]:
    import numpy as np

    values = np.asarray(column.values, dtype=float)
    error = None if bounds is None else np.broadcast_to(np.asarray(bounds, dtype=float), values.shape)
    for place in np.ndindex(values.shape[1:]):
        name = column.letter + (f"[{','.join(map(str, place))}]" if place else "")
        at = (slice(None), *place)
        yield name, values[at].tolist(), [None] * len(values) if error is None else error[at].tolist()


def _written(rows: Iterator[Row], format_: str) -> bytes:
    import numpy as np

    if format_ == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        # A name is text that others wrote, and a terminal may show it.
        writer.writerows([visible(part) if isinstance(part, str) else part for part in row] for row in rows)
        return text.getvalue().encode()
    file = io.BytesIO()
    # None, where there is no number, becomes NaN.
    kinds = (str, str, str, float, int, str, float, float)
    arrays: dict[str, NDArray[Any]] = {}
    for name, kind, column in zip(COLUMNS, kinds, zip(*rows, strict=True), strict=True):
        arrays[name] = np.array(column, dtype=kind)
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()
