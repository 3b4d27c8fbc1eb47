"""Output of a command: coloured on a terminal, plain elsewhere; and the files that it writes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theorax.errors import UsageError

if TYPE_CHECKING:
    from theorax.reports.document import Document
    from theorax.text.blocks import Block

Outputs = Sequence[tuple[str, Path | None]]  # a format, and its file; None is the standard output


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


def print_report(report: Document, selected: int) -> None:
    """Print a report; in a pipe it opens with a list where several theorems were selected, on a terminal the list ran by."""
    from theorax.reports import summary

    print_blocks(summary.report(report, listed=selected > 1 and not sys.stdout.isatty()))


def give_report(format_: str, path: Path | None, report: Document) -> None:
    """Write a report in this format to a file, or print it as a log or a program wants it.

    **Raises:** UsageError if the file cannot be written.
    """
    from theorax.reports.json import write_text
    from theorax.reports.renderings import RENDERINGS, render

    if path is not None:
        write_text(render(format_, report), path)
    else:
        click.echo(RENDERINGS[format_].say(report), nl=False)


def give_reports(outputs: Outputs, report: Document) -> None:
    """Give a report in several formats; where one file cannot be written, the others are written all the same.

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


def give_document(outputs: Outputs, document: Any, blocks: Sequence[Block]) -> None:
    """Give a document of its own: as JSON values, or the blocks that tell a reader the same.

    **Raises:** UsageError if a file cannot be written.
    """
    from theorax.reports import json
    from theorax.text.plain import render

    for format_, path in outputs:
        if format_ == "terminal" and path is None:
            print_blocks(blocks)
            continue
        content = json.text(document) if format_ == "json" else render(blocks)
        if path is None:
            click.echo(content, nl=False)
        else:
            json.write_text(content, path)
