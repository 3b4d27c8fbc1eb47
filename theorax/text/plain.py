"""A report as plain text, for pipes, files and logs: no colour, no control characters, a fixed width."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable

from theorax.text import safe
from theorax.text.blocks import Block, Gap, Heading, Lines, Paragraph, Table
from theorax.text.signs import signed

WIDTH = 80
NARROWEST = 24  # columns that a paragraph has at least, whatever stands beside it


def render(blocks: Iterable[Block], width: int = WIDTH) -> str:
    """The blocks as lines of text, ending with a newline."""
    lines: list[str] = []
    for block in map(safe.safe_block, blocks):
        match block:
            case Heading():
                lines += _heading(block, width, first=not lines or not lines[-1])
            case Paragraph():
                lines += wrapped(block.text, width, block.indent, block.hang)
            case Lines():
                lines += [(" " * block.indent + line).rstrip() for line in block.lines]
            case Table():
                lines += text_table(block, width)
            case Gap():
                lines.append("")
    return safe.uncommanded("\n".join(lines) + "\n")


def terminal_width(text: str) -> int:
    """Number of terminal columns that a text takes: none for marks on letters, two for wide letters."""
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text
    )


def padded(text: str, width: int, *, right: bool = False) -> str:
    """A text filled up with spaces to a width in columns."""
    room = " " * (width - terminal_width(text))
    return room + text if right else text + room


def wrapped(text: str, width: int, indent: int = 0, hang: int = 0, *, break_words: bool = False) -> list[str]:
    """A paragraph as lines no wider than ``width``; commands and paths are not torn at hyphens.

    A line of the text stays a line: the next one begins below it. A word wider than a line is broken only on demand.
    """
    wrapper = textwrap.TextWrapper(
        width=max(NARROWEST, width),
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + hang),
        break_long_words=break_words,
        break_on_hyphens=False,
    )
    return [line for part in text.split("\n") for line in wrapper.wrap(part)]


def text_table(block: Table, width: int) -> list[str]:
    """A table as lines; where it is too wide, the column that gives way is wrapped."""
    widths = column_widths(block, width)
    rule = " " * block.indent + "─" * (sum(widths) + 2 * (len(widths) - 1))
    lines = [_row(block, block.head, widths), rule]
    for row in block.rows:
        parts = [textwrap.wrap(cell, size) or [""] for cell, size in zip(row, widths, strict=True)]
        for step in range(max(len(part) for part in parts)):
            lines.append(_row(block, [part[step] if step < len(part) else "" for part in parts], widths))
    return lines


def column_widths(block: Table, width: int) -> list[int]:
    """The width of every column, the one that gives way as narrow as the whole demands but never below a word."""
    widths = [
        max(terminal_width(row[column]) for row in (block.head, *block.rows)) for column in range(len(block.head))
    ]
    excess = block.indent + sum(widths) + 2 * (len(widths) - 1) - width
    if excess > 0:
        widths[block.wrapped] = max(10, widths[block.wrapped] - excess)
    return widths


def _row(block: Table, row: Iterable[str], widths: list[int]) -> str:
    filled = [
        padded(cell, size, right=column in block.right)
        for column, (cell, size) in enumerate(zip(row, widths, strict=True))
    ]
    return (" " * block.indent + "  ".join(filled)).rstrip()


def _heading(block: Heading, width: int, *, first: bool) -> list[str]:
    gap = [] if first else [""]
    if block.level == 1:
        lines = wrapped(block.text, width)
        return [*gap, *lines, "═" * max(terminal_width(line) for line in lines)]
    if block.status is None:
        return [*gap, block.text]
    verdict = signed(block.status, block.within, block.reached, block.alone)
    room = width - terminal_width(block.text) - terminal_width(verdict)
    if block.reached and room < 2:
        return [*gap, block.text, padded(verdict, width, right=True)]
    return [*gap, f"{block.text}{' ' * max(2, room)}{verdict}"]
