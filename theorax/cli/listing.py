"""``verify list``: the theorems, read from the file tree alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from theorax.cli.options import exclude_option, selectors, state_option
from theorax.cli.workspace import workspace_of
from theorax.errors import UsageError
from theorax.names import did_you_mean
from theorax.text.safe import one_line, uncommanded

COLOURS = {"✓": "green", "✗": "red", "!": "red", "?": "yellow", "○": "yellow", "■": "magenta"}


@click.command("list")
@selectors()
@exclude_option
@state_option
@click.pass_context
def list_(context: click.Context, words: tuple[str, ...], exclude: tuple[str, ...], state: str | None) -> int:
    """Show the theorems paper by paper, each with its last kept verdict; nothing is run or imported."""
    catalogue = workspace_of(context).catalogue
    verdicts = last_verdicts(state)
    chosen = frozenset(catalogue.ids)
    if words or exclude:
        from theorax.runs.selectors import select

        chosen = frozenset(select(words or ("*",), catalogue, lambda: verdicts, exclude).ids)
    elif not chosen:
        raise UsageError(f"There is no theorem file under {', '.join(str(root) for root in catalogue.roots)}.")
    widest = max(len(one_line(id)) for id in chosen)
    # Written by hand, not by rich: this is the command that must answer at once.
    terminal = sys.stdout.isatty()
    width = _columns() if terminal else 0
    lines: list[str] = []
    for paper, ids in catalogue.papers.items():
        shown = [id for id in ids if id in chosen]
        if not shown:
            continue
        lines.append(("" if not lines else "\n") + _styled(one_line(paper), terminal, bold=True))
        heading = catalogue.heading(paper)
        if heading != paper:
            lines.append(_styled(_cut(f"  {one_line(heading)}", width), terminal, dim=True))
        for id in shown:
            sign = _sign(verdicts.get(id, ""))
            title = _cut(one_line(catalogue.title(id)), width - widest - 6 if width else 0)
            lines.append(
                f"  {_styled(sign, terminal, fg=COLOURS.get(sign))} {one_line(id):<{widest}}  {title}".rstrip()
            )
    click.echo(uncommanded("\n".join(lines)))
    return 0


def last_verdicts(state: str | None) -> dict[str, str]:
    """The last kept verdicts; none are read, nor SQLite imported, where no store is."""
    from theorax.cli.config import find_project

    folder = Path(state) if state is not None else find_project(Path.cwd()).state
    if not (folder / "results.sqlite").is_file():
        return {}
    from theorax.reports.library import statuses

    return statuses(folder)


def existing_id(context: click.Context, id: str) -> str:
    """An id that exists.

    **Raises:** UsageError with the nearest ids if it does not.
    """
    catalogue = workspace_of(context).catalogue
    if id not in catalogue.files:
        raise UsageError(f"There is no theorem `{id}`{did_you_mean(id, catalogue.ids)} `verify list` shows them all.")
    return id


def _columns() -> int:
    """The width of the terminal; what the user says in COLUMNS comes first."""
    said = os.environ.get("COLUMNS", "")
    return int(said) if said.isdecimal() and int(said) > 0 else os.get_terminal_size().columns


def _sign(status: str) -> str:
    from theorax.text.signs import SIGNS

    return SIGNS.get(status, "·")


def _cut(text: str, width: int) -> str:
    return text if width <= 0 or len(text) <= width else f"{text[: max(1, width - 1)].rstrip()}…"


def _styled(text: str, terminal: bool, *, fg: str | None = None, bold: bool = False, dim: bool = False) -> str:
    if not terminal or os.environ.get("NO_COLOR"):
        return text
    return click.style(text, fg=fg, bold=bold or None, dim=dim or None)
