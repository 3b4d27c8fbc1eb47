"""The formats of a report by name; each is a function from the document alone to a text, imported when it is asked for.

A format is handed a document whose texts hold no character that is not seen: no escape code of a terminal, nothing that
turns the direction of a line, nothing that XML does not allow. What is markup in its own language it escapes itself.
JSON alone is handed the document as it is, and loses nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass

from theorax.reports.document import Document, harmless
from theorax.text.safe import uncommanded


@dataclass(frozen=True)
class Rendering:
    """One format: what it is for, how its files end, and where its function is."""

    about: str
    suffix: str
    place: str
    said: str = ""  # what the standard output gets instead, where it is not the same
    whole: bool = False  # is handed every character of the document

    def render(self, document: Document) -> str:
        """The text of the report."""
        return self._made(self.place, document)

    def say(self, document: Document) -> str:
        """Text for the standard output; a build on GitHub finds no command of a workflow in it."""
        return self._made(self.said, document) if self.said else uncommanded(self._made(self.place, document))

    def _made(self, place: str, document: Document) -> str:
        module, _, name = place.partition(":")
        text: str = getattr(importlib.import_module(module), name)(document if self.whole else harmless(document))
        return text


RENDERINGS: Mapping[str, Rendering] = {
    "terminal": Rendering("what the terminal shows, without colour", "txt", "theorax.reports.summary:plain"),
    "json": Rendering(
        "the report itself, from which all others are made", "json", "theorax.reports.json:text", whole=True
    ),
    "html": Rendering("an audit report for a browser, whole in one file", "html", "theorax.reports.html.page:html"),
    "markdown": Rendering("for pull requests and archives, details folded", "md", "theorax.reports.markdown:text"),
    "junit": Rendering("JUnit XML, one case per claim", "xml", "theorax.reports.junit:text"),
    "github": Rendering(
        "annotations on the standard output, the step's summary into $GITHUB_STEP_SUMMARY or the file",
        "md",
        "theorax.reports.github:summary",
        said="theorax.reports.github:say",
    ),
    "badge": Rendering("a badge by the endpoint of shields.io", "json", "theorax.reports.badge:text"),
}


def render(name: str, document: Document) -> str:
    """The report in this format."""
    return RENDERINGS[name].render(document)
