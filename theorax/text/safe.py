"""Text that others wrote, made harmless: what nobody could see is shown, and nothing commands a terminal or a build's log."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from theorax.text.blocks import Block, Heading, Lines, Paragraph, Table

UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f"  # control characters but tab and newline; escape codes begin with one
    "\x7f-\x9f"  # delete, and the control characters of eight bits
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufeff\uffa0"  # what draws nothing
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u061c"  # joiners, line breaks that are none, what turns a text's direction
    "\ufe00-\ufe0f\ufff0-\ufffb\ufffe\uffff"  # what chooses a drawing or marks up a text, and what is no character
    "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"  # what is drawn only around other signs
    "\ud800-\udfff"  # halves of characters: bytes of a file's name that are no text
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # the same in scripts and scores
    "\U000e0000-\U000e0fff"  # letters that are never drawn
    "]"
)
_COMMAND = re.compile(r"^([^\S\n]*)::|##\[", re.MULTILINE)


def visible(text: str) -> str:
    """The text with an escape in the place of every character that is not seen or not allowed; tab and newline stay.

    >>> visible("red \\x1b[31m, turned \\u202e")
    'red \\\\x1b[31m, turned \\\\u202e'
    """
    return text if text.isprintable() and text.isascii() else UNSEEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str) -> str:
    """The visible text on one line.

    >>> one_line("two\\n  lines")
    'two lines'
    """
    return " ".join(visible(text).split())


def shortened(text: str, size: int) -> str:
    """The text, or its beginning and an ellipsis where it is longer than ``size`` characters.

    >>> shortened("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= size else f"{text[: size - 1]}…"


def uncommanded(text: str) -> str:
    """The text such that a build on GitHub reads no line of it as a command of a workflow.

    >>> uncommanded("  ::stop-commands::x")
    '  \\\\::stop-commands::x'
    """
    return _COMMAND.sub(lambda found: "#\\#[" if found[1] is None else f"{found[1]}\\::", text)


def harmless(value: Any) -> Any:
    """JSON values with every text in them, names of fields included, made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible(name): harmless(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [harmless(part) for part in value]
    return value


def safe_block(given: Block) -> Block:
    """A block of a report with its texts made visible."""
    match given:
        case Heading():
            return replace(given, text=_flat(given.text))
        case Paragraph():
            return replace(given, text=visible(given.text))
        case Lines():
            return replace(given, lines=tuple(part for line in given.lines for part in visible(line).split("\n")))
        case Table():
            rows = tuple(tuple(map(_flat, row)) for row in given.rows)
            return replace(given, head=tuple(map(_flat, given.head)), rows=rows)
        case _:
            return given


def _flat(text: str) -> str:
    return visible(text).replace("\n", " ").replace("\t", " ")


def address(url: str) -> str:
    """The address where a link may lead to a page of the web, and nothing where it might do something else.

    >>> address("https://arxiv.org/abs/2205.14612"), address("javascript:alert(1)")
    ('https://arxiv.org/abs/2205.14612', '')
    """
    return url if re.fullmatch(r"https?://[\w.~:/?#@!$&*+,;=%()-]+", url, re.ASCII) else ""
