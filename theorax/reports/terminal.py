"""A report on a terminal: the plain report's words, laid out by rich; colour is a third channel after word and sign."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from theorax.text import safe
from theorax.text.blocks import Block, Gap, Heading, Lines, Paragraph, Table
from theorax.text.plain import text_table, wrapped
from theorax.text.signs import signed

if TYPE_CHECKING:
    from typing import TextIO

MEASURE = 100  # columns beyond which a line of text is no longer easy to read
GREEN, RED, YELLOW = "bold green", "bold red", "bold yellow"
STYLES = {
    "PROVED": GREEN,
    "CERTIFIED": GREEN,
    "SUPPORTED": GREEN,
    "REFUTED": RED,
    "ERROR": RED,
    "INCONCLUSIVE": YELLOW,
    "VACUOUS": YELLOW,
    "BLOCKED": "bold magenta",
    "UNDECIDED": YELLOW,
    "CITED": "bold",
}
_SIGNS = (
    rf"(?P<good>✓(?: (?:noticed|{'|'.join(s for s, style in STYLES.items() if style == GREEN)}))?)",
    r"(?P<bad>✗(?: (?:NOT NOTICED|survived|REFUTED))?|! ERROR)",
    r"(?P<open>[?○] (?:INCONCLUSIVE|VACUOUS|UNDECIDED)|FRAGILE)",
    r"(?P<stop>■ BLOCKED)",
)
_THEME = Theme({"good": "bold green", "bad": "bold red", "open": "yellow", "stop": "magenta", "point": "bold cyan"})


def console(file: TextIO | None = None, width: int | None = None, *, record: bool = False) -> Console:
    """A console with the report's colours; rich itself respects NO_COLOR and the terminal's width."""
    return Console(file=file, width=width, theme=_THEME, highlight=False, soft_wrap=False, record=record)


def show(blocks: Iterable[Block], target: Console) -> None:
    """Print the blocks."""
    width = min(target.width, MEASURE)
    first = True
    for block in map(safe.safe_block, blocks):
        match block:
            case Heading():
                _heading(block, target, width, first=first)
            case Paragraph():
                for line in wrapped(block.text, width, block.indent, block.hang):
                    target.print(
                        _coloured(line, "dim" if block.quiet else ""), no_wrap=True, overflow="ignore", crop=False
                    )
            case Lines():
                for line in block.lines:
                    target.print(_drawn(" " * block.indent + line, quiet=block.quiet), no_wrap=True, crop=False)
            case Table():
                for step, line in enumerate(text_table(block, width)):
                    target.print(_coloured(line, "dim" if step < 2 else ""), no_wrap=True, crop=False)
            case Gap():
                target.print()
        first = False


def _heading(block: Heading, target: Console, width: int, *, first: bool) -> None:
    if not first:
        target.print()
    if block.level == 1:
        for words in wrapped(block.text, width):
            target.print(Text(words, style="bold"))
        target.print(Text("━" * width, style="dim"))
        return
    line = Text(block.text, style="bold")
    if block.status is not None:
        verdict = signed(block.status, block.within, block.reached, block.alone)
        if block.reached and line.cell_len + 2 + len(verdict) > width:
            target.print(line, no_wrap=True, crop=False)
            line = Text()
        line.append(" " * max(2, width - line.cell_len - len(verdict)))
        line.append(verdict, style=STYLES.get(block.status, ""))
    target.print(line, no_wrap=True, crop=False)


def _coloured(line: str, style: str = "") -> Text:
    text = Text(line, style=style)
    for pattern in _SIGNS:
        text.highlight_regex(pattern)
    return text


def _drawn(line: str, *, quiet: bool) -> Text:
    text = _coloured(line, "dim" if quiet else "")
    text.highlight_regex(r"(?P<point>●)")
    return text
