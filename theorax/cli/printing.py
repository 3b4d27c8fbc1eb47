"""Output of a command: coloured on a terminal, plain elsewhere; and the files that it writes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from theorax.errors import UsageError

if TYPE_CHECKING:
    from theorax.reports.command_answers import Answer
    from theorax.reports.document import Document
    from theorax.reports.theorem_text import Part
    from theorax.text.blocks import Block

Outputs = Sequence[tuple[str, Path | None]]  # a format, and its file; None is the standard output


def shown_path(path: Path) -> str:
    """The path from the present folder; whole where it lies outside."""
    shown = os.path.relpath(path)
    return str(path) if shown.startswith("..") else shown


def print_line(line: str) -> None:
    """Print a line of text that is harmless wherever it is read."""
    from theorax.text.safe import uncommanded, visible

    click.echo(uncommanded(visible(line)))


def print_blocks(blocks: Iterable[Block]) -> None:
    """Print blocks: laid out in colour where the standard output is a terminal, as plain text where it is not."""
    if sys.stdout.isatty():
        from theorax.reports.terminal import console, show

        show(blocks, console(sys.stdout))
    else:
        from theorax.text.plain import render

        click.echo(render(blocks), nl=False)


def print_report(report: Document, *, shown: frozenset[Part] = frozenset()) -> None:
    """Print a report with the parts asked for."""
    from theorax.reports import summary
    from theorax.reports.document import harmless_document

    print_blocks(summary.report_blocks(harmless_document(report), shown=shown))


def give_report(format_: str, path: Path | None, report: Document | Answer) -> None:
    """Write a report or another answer in this format to a file, or print it as a log or a program wants it.

    **Raises:** UsageError if the file cannot be written.
    """
    from theorax.reports.command_answers import Answer
    from theorax.reports.json import write_text
    from theorax.reports.renderings import RENDERINGS, render

    if path is not None:
        write_text(render(format_, report), path)
    elif format_ == "terminal" and isinstance(report, Answer):
        print_blocks(report.blocks)
    else:
        click.echo(RENDERINGS[format_].say(report), nl=False)


def give_reports(outputs: Outputs, report: Document | Answer) -> None:
    """Give a report or another answer in several formats; if one file cannot be written, the others are.

    **Raises:** UsageError for the first file that could not be written.
    """
    unwritten: list[UsageError] = []
    for format_, path in outputs:
        try:
            give_report(format_, path, report)
        except UsageError as error:  # a full disk
            unwritten.append(error)
    if unwritten:
        raise unwritten[0]


def give_pages(folder: Path, report: Document) -> None:
    """Write a report as an index and one page per theorem into a folder.

    **Raises:** UsageError if a page cannot be written.
    """
    from theorax.reports.html.page import theorem_pages
    from theorax.reports.json import write_text

    for name, text in theorem_pages(report).items():
        write_text(text, folder / name)


def ready(folder: Path, option: str) -> None:
    """Make a folder for reports and see that files can be written there, before anything is checked.

    **Raises:** UsageError if not.
    """
    from theorax.reports.json import writable

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"`{option} {folder}`: the reports need a folder, and it cannot be made: {error.strerror}. "
            f"Write `{option} audit`, or a folder that may be made."
        ) from None
    writable(folder / "report.json")
