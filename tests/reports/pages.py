"""An HTML page as the tests read it, and documents that try to break out of their places in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import fakes
from test_document import remade, report

from theorax.decide.status import Reason
from theorax.reports.document import Document, RunSummary
from theorax.text.codec import json_values

VOID = {"wbr", "meta", "link", "br", "input", "img", "hr"}
LAZY = {"tr", "td", "th", "li", "dt", "dd"}


class Parsed(HTMLParser):
    """The elements of a page with their attributes, its text, and whether every element is closed where it should be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.misplaced: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag in LAZY:
            while self.open and self.open[-1] in LAZY and not (tag != "tr" and self.open[-1] == "tr"):
                self.open.pop()
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open[-1] != tag and self.open[-1] in LAZY:
            self.open.pop()
        if not self.open or self.open[-1] != tag:
            self.misplaced.append(tag)
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        """All that a reader may read."""
        return " ".join("".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        """The attributes of every element of this name."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def names(self) -> Counter[str]:
        """How often each element comes."""
        return Counter(name for name, _ in self.elements)


HOSTILE = {
    "markup": '<script>alert(1)</script><img src=x onerror="alert(1)">',
    "quotes": "\"' onmouseover=alert(1) x='",
    "end of a comment or a style": "--></style></script></svg></math>]]><b>",
    "template": "{{ 7 * 7 }}{% raw %}{# #}",
    "terminal": "\x1b[31mred\x1b[0m\x07\x00",
    "direction": "\u202egnirts \u05e9\u05dc\u05d5\u05dd\u2066",
    "long": "n" * 10_000,
    "no text": "\ud800\ufffe",
    "link": "javascript:alert(1)",
    "latex": r"\href{javascript:alert(1)}{x}\style{color:red}{<b>}",
}


def hostile(word: str) -> Document:
    """A report in which everything that a file or a user names is this word."""

    def put(node: Any, name: str = "") -> Any:
        if isinstance(node, dict):
            named = name in ("at", "versions")
            return {(word if named else key): put(part, "" if named else key) for key, part in node.items()}
        if isinstance(node, list):
            return [put(part, name) for part in node]
        kept = {
            "status",
            "kind",
            "created",
            "kept_from",
            "expected",
            "basis",
            "form",
            "checked",
            "method",
            "url",
            "side",
            "direction",
            "shown_by",
            "finding",
            "reading",
            "within",
        }
        return word if isinstance(node, str) and name not in kept and node not in set(Reason) else node

    told = "gap: The limit is not 2."
    return remade(put(json_values(report(fakes.outcome("gap"), fakes.outcome("refuted_edge", "REFUTED", told)))))


def interrupted(document: Document, *unfinished: str) -> Document:
    """The report of a run that was interrupted before it came to these theorems."""
    summary = RunSummary.of(
        document.theorems, interrupted=True, unfinished=unfinished, seconds=1.0, troubles=document.summary.troubles
    )
    return replace(document, summary=summary)


def printed() -> Document:
    """A report with a statement that its source misprints."""
    outcome = fakes.outcome("gap")
    wrong = fakes.verdict(
        "REFUTED",
        id="as_printed",
        corrected="gap",
        sentence="The limit is not 1.",
        p_refute=1e-12,
        p_support=1.0,
    )
    return report(replace(outcome, claims=(*outcome.claims, wrong)), replace(fakes.outcome("bulk"), uses=()))
