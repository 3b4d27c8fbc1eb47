"""The words of a claim's facts in each rendering of its report, and modules that would write such words themselves."""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from theorax.decide.facts import Fact, Level
from theorax.reports.claim_facts import report_facts
from theorax.reports.document import Document
from theorax.text.markdown_blocks import inline_text

FIELDS = frozenset(
    {"breakdown", "noticeable", "level", "tightness", "headroom", "margin_given", "because", "noise", "gain"}
)
FORMATTERS = frozenset(
    {"number", "percent", "interval", "with_uncertainty", "factor_text", "as_typed", "p_value", "str"}
)


def of_the_body(document: Document) -> Iterator[Fact]:
    """The facts of its claims that every full rendering shows."""
    for part in document.theorems:
        for claim in part.claims:
            yield from (fact for fact in report_facts(claim, part) if fact.level is Level.BODY)


def on_a_line(text: str) -> str:
    """A text with single spaces."""
    return " ".join(text.split())


def missing(found: Sequence[Fact], terminal: str, page: str, markdown: str) -> list[str]:
    """The facts whose value is in one of the renderings not word for word."""
    shown = on_a_line(html.unescape(re.sub(r"<[^>]+>", " ", page)))
    texts = {"terminal": on_a_line(terminal), "html": shown, "markdown": on_a_line(markdown)}
    told = {"terminal": str, "html": str, "markdown": inline_text}
    return [
        f"{name}: {fact.key}: {fact.value}"
        for fact in found
        for name, text in texts.items()
        if on_a_line(told[name](fact.value)) not in text
    ]


def formatted(path: Path) -> list[str]:
    """The places in a file that put a field of a claim into words: in an f-string, or in a call of a formatter."""

    def is_written(node: ast.AST) -> bool:
        called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        return isinstance(node, ast.FormattedValue) or called in FORMATTERS

    def fields(node: ast.AST) -> Iterator[str]:
        """The fields in an expression; what a call of another function makes of one is that function's own affair."""
        if isinstance(node, ast.Attribute) and node.attr in FIELDS:
            yield node.attr
        other = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in FORMATTERS
        for child in () if other else ast.iter_child_nodes(node):
            yield from fields(child)

    tree = ast.parse(path.read_text(encoding="utf-8"))
    return sorted(
        {f"{path.name}:{node.lineno} .{name}" for node in ast.walk(tree) if is_written(node) for name in fields(node)}  # type: ignore[attr-defined]
    )
