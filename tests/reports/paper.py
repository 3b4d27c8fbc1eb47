"""The text of a PDF that Chromium made: glyphs in their order, by the tables that say which letters they are."""

from __future__ import annotations

import re
import unicodedata
import zlib

OBJECT = re.compile(rb"(?m)^(\d+) 0 obj\b(.*?)^endobj", re.DOTALL)
SHOWN = re.compile(rb"/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)> Tj|\[(.*?)\] TJ", re.DOTALL)
RANGE = re.compile(r"<(\w+)> <(\w+)> <(\w+)>")
SINGLE = re.compile(r"<(\w+)> <(\w+)>")


def text(pdf: bytes) -> str:
    """All letters without white space, page by page in the order of drawing."""
    objects = {int(number): body for number, body in OBJECT.findall(pdf)}
    fonts = {name: int(number) for body in objects.values() for name, number in re.findall(rb"/(F\d+) (\d+) 0 R", body)}
    letters = {name: _letters(objects, number) for name, number in fonts.items()}
    return "".join(_drawn(_stream(body), letters) for body in objects.values() if b"stream" in body)


def _stream(body: bytes) -> bytes:
    head, _, content = body.partition(b"stream\n")
    # A compressed stream knows its own end, and its last byte may look like the end of a line.
    return zlib.decompressobj().decompress(content) if b"/FlateDecode" in head else content


def _letters(objects: dict[int, bytes], font: int) -> dict[int, str]:
    table = re.search(rb"/ToUnicode (\d+) 0 R", objects[font])
    if table is None:
        return {}
    told = _stream(objects[int(table[1])]).decode("latin-1")
    found: dict[int, str] = {}
    for block in re.findall(r"beginbfrange(.*?)endbfrange", told, re.DOTALL):
        for first, last, letter in RANGE.findall(block):
            for step in range(int(last, 16) - int(first, 16) + 1):
                found[int(first, 16) + step] = chr(int(letter[-4:], 16) + step)
    for block in re.findall(r"beginbfchar(.*?)endbfchar", told, re.DOTALL):
        for glyph, letter in SINGLE.findall(block):
            found[int(glyph, 16)] = bytes.fromhex(letter).decode("utf-16-be")
    return found


def _drawn(content: bytes, letters: dict[bytes, dict[int, str]]) -> str:
    font: dict[int, str] = {}
    drawn: list[str] = []
    for name, one, several in SHOWN.findall(content):
        if name:
            font = letters.get(name, {})
        for glyphs in [one] if one else re.findall(rb"<([0-9A-Fa-f]+)>", several):
            drawn += [font.get(int(glyphs[at : at + 4], 16), "") for at in range(0, len(glyphs), 4)]
    return unicodedata.normalize("NFKC", "".join("".join(drawn).split()))
