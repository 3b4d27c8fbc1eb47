"""Blocks of a report as GitHub-flavoured Markdown, every text escaped so that it shows as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from theorax.text import safe
from theorax.text.blocks import Block, Gap, Heading, Lines, Paragraph, Table
from theorax.text.signs import signed

CELL = 300  # characters of a cell; a table is for an overview

# Within a word an underscore means nothing.
_SPECIAL = re.compile(r"[\\`*{}\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_QUOTED = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_FIRST = re.compile(r"^([-+=#]|:(?=:)|\d+(?=[.)]))")
# What GitHub links or draws by itself: a person, an issue, the name of a sign.
_LINKED = re.compile(r"(?<!\w)[@#](?=[\w-])|:(?=[a-z0-9_+-]+:)")
NOTHING = "<!-- -->"


def inline_text(text: str) -> str:
    """A text within a line, shown as it is and never read as markup, as a mention or as the number of an issue.

    What stands between two backticks is code, as in the sentences of this package.

    >>> inline_text("a*b | <b>c</b>")
    'a\\\\*b \\\\| &lt;b&gt;c&lt;/b&gt;'
    """
    parts = _QUOTED.split(safe.one_line(text))
    return "".join(code_cell(part) if at % 2 else _escaped(part) for at, part in enumerate(parts))


def _escaped(text: str) -> str:
    escaped = re.sub(r"[&<>]", lambda found: _HTML[found[0]], text)
    return unlinked(_SPECIAL.sub(r"\\\g<0>", escaped))


def opening(text: str) -> str:
    """A text at the beginning of a line, where some signs make a list or a heading.

    >>> opening("1. first"), opening("-3")
    ('1\\\\. first', '\\\\-3')
    """
    return _FIRST.sub(lambda found: f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}", inline_text(text))


def unlinked(text: str) -> str:
    """Markup in which nothing is linked by itself."""
    return _LINKED.sub(lambda found: f"{found[0]}{NOTHING}", text)


def element(text: str) -> str:
    """A text inside an element of HTML, where Markdown is not read."""
    return unlinked(escape(safe.one_line(text), quote=False))


def code(text: str) -> str:
    """A text as code within a line.

    >>> code("a`b")
    '``a`b``'
    """
    shown = safe.one_line(text)
    if safe.uncommanded(shown) != shown:  # nothing can be escaped between backticks
        return f"<code>{_escaped(shown)}</code>"
    fence = "`" * (_longest(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def code_cell(text: str) -> str:
    """A text as code in a table, where a bar would end the cell."""
    return f"<code>{_escaped(safe.one_line(text))}</code>" if "|" in text else code(text)


def fenced(lines: Iterable[str], indent: str = "") -> list[str]:
    """Lines kept as they are, in a block of code."""
    shown = [part for line in lines for part in safe.visible(line).split("\n")]
    while shown and not shown[0].strip():
        shown.pop(0)
    fence = "`" * max(3, max((_longest(line) for line in shown), default=0) + 1)
    told = (safe.uncommanded(line.rstrip()) for line in shown)
    return [indent + line for line in (f"{fence}text", *told, fence)]


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    """A table of cells that are Markdown already."""
    flush = set(right)
    rule = ["---:" if column in flush else "---" for column in range(len(head))]
    return [f"| {' | '.join(row)} |" for row in (head, rule, *rows)]


def render(blocks: Iterable[Block], level: int = 3) -> str:
    """The blocks, their main heading at this level and the others one below."""
    lines: list[str] = []
    listed = False  # whether the last line belongs to a list
    for block in blocks:
        was, listed = listed, False
        match block:
            case Heading():
                verdict = f"{signed(block.status, block.within, block.reached, block.alone)} " if block.status else ""
                lines += ["", f"{'#' * (level + block.level - 1)} {verdict}{inline_text(block.text)}", ""]
            case Paragraph():
                # A paragraph that hangs is one of a list; one that is set in further belongs to the one before.
                text = opening(block.text)
                below = was and block.indent > 2 and not block.hang
                listed = below or block.hang > 0
                if below:
                    lines.append(f"  - {text}")
                elif listed:
                    lines += [*([] if was else [""]), f"- {text}"]
                else:
                    lines += ["", text, ""]
            case Lines():
                indent = "  " if was and block.indent > 2 else ""
                lines += ["", *fenced(block.lines, indent), ""]
            case Table():
                rows = [[inline_text(safe.shortened(part, CELL)) for part in row] for row in block.rows]
                lines += ["", *markdown_table([inline_text(part) for part in block.head], rows, block.right), ""]
            case Gap():
                lines.append("")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"


def _longest(text: str) -> int:
    """The longest run of backticks."""
    return max((len(run) for run in re.findall("`+", text)), default=0)
