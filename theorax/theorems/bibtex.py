"""Entries of BibTeX as plain text: what stands outside of entries is a comment, names of accents become their letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from theorax.errors import UsageError

# What a sign after the backslash puts on a letter, as the combining character.
_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306", ".": "\u0307", '"': "\u0308",
    "r": "\u030a", "H": "\u030b", "v": "\u030c", "c": "\u0327", "k": "\u0328",
}  # fmt: skip
_LETTERS = {
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ss": "ß", "ae": "æ", "AE": "Æ", "aa": "å", "AA": "Å", "i": "ı", "j": "ȷ",
    "&": "&", "%": "%", "_": "_", "$": "$",
}  # fmt: skip
_ACCENT = re.compile(r"\\([`'^\"~=.]|[uvHckr](?=[\s{]))\s*(?:\{\s*\\?([A-Za-z])\s*\}|\\?([A-Za-z]))")
_LETTER = re.compile(r"\\(?:(ss|ae|AE|aa|AA|[oOlLij])(?![A-Za-z])\s*|([&%_$]))")


@dataclass(frozen=True)
class Place:
    """A line of a file, to be named in a message."""

    path: Path
    line: int

    def wrong(self, what: str, instead: str) -> UsageError:
        """The error that says what stands there and what to write instead."""
        return UsageError(f"{self.path.parent.name}/{self.path.name}, line {self.line}: {what} {instead}")


@dataclass(frozen=True)
class Entry:
    """One entry: its fields by name, as they were written."""

    kind: str
    key: str
    fields: dict[str, str]
    place: Place


def entries(text: str, path: Path) -> Iterator[Entry]:
    """Every ``@kind{key, name = value, ...}`` that begins a line.

    **Raises:** UsageError that names the line, if a brace stays open or something in an entry is no field.
    """
    at = 0
    for start in re.finditer(r"(?m)^[ \t]*@(\w+)\s*\{", text):
        if start.start() < at:
            continue
        place = Place(path, text.count("\n", 0, start.start(1)) + 1)
        kind = start[1].lower()
        if kind == "string":
            raise place.wrong("@string defines an abbreviation, and this reader knows none.", "Write the names out.")
        body, at = _braced(text, start.end() - 1, place)
        if kind in ("comment", "preamble"):
            continue
        key, comma, rest = body.partition(",")
        if not comma or not re.fullmatch(r"\s*[\w:./+-]+\s*", key):
            raise place.wrong(f"`@{kind}` has no key.", f"Write `@{kind}{{author_or_paper, author = ...}}`.")
        yield Entry(kind, key.strip(), _fields(rest, place), place)


def _fields(text: str, place: Place) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while match := re.compile(r"\s*(\w+)\s*=\s*").match(text, at):
        at = match.end()
        if text[at : at + 1] == "{":
            value, at = _braced(text, at, place)
        elif quoted := re.compile(r'"((?:[^"{}]|\{[^{}]*\})*)"').match(text, at):
            value, at = quoted[1], quoted.end()
        elif plain := re.compile(r"[\w-]+").match(text, at):
            value, at = plain[0], plain.end()
        else:
            break
        found[match[1].lower()] = " ".join(value.split())
        comma = re.compile(r"\s*,?").match(text, at)
        at = comma.end() if comma else at
    if text[at:].strip():
        shown = text[at:].strip().split("\n")[0][:60]
        raise place.wrong(
            f"the entry that begins here holds `{shown}`, which is no field.", "Write `name = {value},` for each field."
        )
    return found


def _braced(text: str, at: int, place: Place) -> tuple[str, int]:
    """What stands between the brace at this place and the one that closes it, and where it ends."""
    depth = 0
    for found in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, at):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return text[at + 1 : found.start()], found.end()
    raise place.wrong("a brace of the entry that begins here is never closed.", "Close it with `}`.")


def plain(text: str) -> str:
    r"""A value without its markup.

    >>> plain(r"{Cram{\'e}r} --- S. Nørsett \& {\L}o{\'\i}")
    'Cramér — S. Nørsett & Łoí'
    """
    text = _ACCENT.sub(_accented, text)
    text = _LETTER.sub(lambda found: _LETTERS[found[1] or found[2]], text)
    text = text.replace("---", "—").replace("--", "–").replace("~", " ").replace("{", "").replace("}", "")
    return " ".join(unicodedata.normalize("NFC", text).split())


def _accented(found: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", (found[2] or found[3]) + _ACCENTS[found[1]])
