"""Texts that a theorem's file, a path or a column may hold and no format may pass on: every format is run over them."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import fakes
from test_document import remade, report

from theorax.decide.findings import Finding
from theorax.decide.status import Reason, Status
from theorax.text.codec import json_values

TEXTS = {
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)>&amp;</details><!-- <b>",
    "quotes": '"double" \'single\' `back` ``` ~~~ \\" \\',
    "colour": "\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b[2J\x9b31m",
    "control": "a\x00b\x08\x7f\r\nnext\x0b\x0c\x85\x1f",
    "long": "n" + "a" * 10_240 + "me",
    "long words": "a very long name " * 640,
    "right to left": "משפט הגבול 42 نظرية",
    "turned": "user\u202egnp.exe\u202c \u2066isolated\u2069 \u200f\u061c",
    "unseen": "zero\u200bwidth\ufeff\u2060soft\xad\U000e0041\u2028line\u2029end",
    "end of data": "]]> <![CDATA[ ]]>",
    "command": "::error file=a.py,line=1::boo\n::stop-commands::x\n##[group]y\n  ::set-output name=a::b",
    "bars": "a | b || c \\| d \\\\| e",
    "Markdown": "# head\n- [x](javascript:alert(1)) ![i](u) **b** _i_ ~s~ $x$ @user #12 :b: 1. a\n\n    code\n> q",
    "table": "| a | b |\n|---|---|\n| c | d |",
    "invalid in XML": "\x01\x02\ufffe\uffff\x0e",
    "half a character": "file\udce9 \ud800 \udfff",
    "template": "{{ 7*7 }} {% raw %} ${x} %s %(a)s {0}",
    "path": "../../etc/passwd C:\\x\\y file:///x",
    "empty": "",
    "space": " \t\n ",
}
# What is one of a few words, or is computed with, and so is no text of a user.
FIXED = {
    "status", "created", "kept_from", "method", "checked", "label", "corrected", "log",
    "expected", "as", "url", "side", "direction", "shown_by", "finding", "reading", "within", "basis",
    "form",
}  # fmt: skip
LONG = 5000  # characters of a text that is put in the place of names alone
NAMES = {"id", "title", "subject", "name", "file", "command", "letter", "model", "replay", "unfinished"}


def whole():
    """A report with something of everything: verdicts of every word, an erratum, a kept result, a trouble."""
    found = json_values(report(*(fakes.outcome(f"of_{status.lower()}", status, "a reason") for status in STATUSES)))
    refuted = found["theorems"][3]["claims"][0]
    found["theorems"][2]["claims"].append({**deepcopy(refuted), "id": "as_printed", "corrected": "gap"})
    found["theorems"][0]["kept_from"] = "2026-01-01T00:00:00Z"
    for part in found["theorems"]:
        part["mutants"] = part["mutants"][-5:]
        part["file"] = f"theorems/spectra/{part['id']}.py"
        for line, claim in enumerate(part["claims"]):
            claim["line"] = 10 + line
    found["summary"] |= {"troubles": ["a trouble"], "unfinished": ["not_reached"], "interrupted": True}
    return remade(found)


STATUSES = ("PROVED", "CERTIFIED", "SUPPORTED", "REFUTED", "INCONCLUSIVE", "VACUOUS", "BLOCKED", "ERROR")


def spoiled(document, text, like=None):
    """The document with this text in the place of every text that is not one of a few words, or of those of ``like``."""
    named = len(text if like is None else like) >= LONG

    def walk(node, name=""):
        if isinstance(node, dict):
            if name in ("at", "versions"):
                return {text: text} if name == "versions" else {text: "1/2"}
            return {key: walk(part, key) for key, part in node.items()}
        if isinstance(node, list):
            return [walk(part, name) for part in node]
        if isinstance(node, str) and node not in set(Reason) and name not in FIXED and (not named or name in NAMES):
            # Names stay apart, as those of files do.
            return f"{text}{node}" if name == "id" else text
        return node

    return remade(walk(json_values(document)))


def spoiled_outcome(id, text):
    """An outcome whose texts are all this one."""
    found = fakes.outcome(id, Status.REFUTED, text)
    claim = fakes.settled(found.claims[0], Finding.TEST_REFUTED, sentence=text, statement=text, because=text)
    return replace(found, title=text, place=text, source=text, claims=(claim,), issues=(text,), replay=text)
