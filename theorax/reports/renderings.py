"""The formats by name, of a report and of any other answer; each is a function of the document alone, imported when used.

A format is handed a document whose texts hold no character that is not seen: no escape code of a terminal, nothing that
turns the direction of a line, nothing that XML does not allow. What is markup in its own language it escapes itself.
JSON alone is handed the document as it is, and loses nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from theorax.text.safe import uncommanded

if TYPE_CHECKING:  # the names of the formats are in the help of commands that render nothing
    from theorax.reports.command_answers import Answer
    from theorax.reports.document import Document


@dataclass(frozen=True)
class Rendering:
    """One format: what it is for, how its files end, and where its function is."""

    about: str
    suffix: str
    place: str
    said: str = ""  # what the standard output gets instead, where it is not the same
    whole: bool = False  # is handed every character of the document
    answer: str = ""  # where its function of an `Answer` is; a badge has none
    answer_said: str = ""

    def render(self, document: Document | Answer) -> str:
        """The text of the report or the answer."""
        from theorax.reports.command_answers import Answer

        return self._made(self.answer if isinstance(document, Answer) else self.place, document)

    def say(self, document: Document | Answer) -> str:
        """Text for the standard output; a build on GitHub finds no command of a workflow in it."""
        from theorax.reports.command_answers import Answer

        said = self.answer_said if isinstance(document, Answer) else self.said
        return self._made(said, document) if said else uncommanded(self.render(document))

    def _made(self, place: str, document: Document | Answer) -> str:
        from theorax.reports.command_answers import Answer, safe_answer
        from theorax.reports.document import harmless_document

        module, _, name = place.partition(":")
        given = (
            safe_answer(document)
            if isinstance(document, Answer)
            else document
            if self.whole
            else harmless_document(document)
        )
        text: str = getattr(importlib.import_module(module), name)(given)
        return text


RENDERINGS: Mapping[str, Rendering] = {
    "terminal": Rendering(
        "what the terminal shows, without colour",
        "txt",
        "theorax.reports.summary:report_as_plain_text",
        answer="theorax.reports.command_answers:plain_text",
    ),
    "json": Rendering(
        "the report itself, from which all others are made",
        "json",
        "theorax.reports.json:text",
        whole=True,
        answer="theorax.reports.command_answers:as_json",
    ),
    "html": Rendering(
        "an audit report for a browser, whole in one file",
        "html",
        "theorax.reports.html.page:html",
        answer="theorax.reports.html.page:answer_page",
    ),
    "markdown": Rendering(
        "for pull requests and archives, details folded",
        "md",
        "theorax.reports.markdown:text",
        answer="theorax.reports.command_answers:markdown",
    ),
    "junit": Rendering(
        "JUnit XML, one case per claim", "xml", "theorax.reports.junit:text", answer="theorax.reports.junit:answer_text"
    ),
    "github": Rendering(
        "annotations on the standard output, the step's summary into $GITHUB_STEP_SUMMARY or the file",
        "md",
        "theorax.reports.github:summary",
        said="theorax.reports.github:say",
        answer="theorax.reports.github:answer_summary",
        answer_said="theorax.reports.github:say_answer",
    ),
    "codequality": Rendering(
        "what GitLab shows beside a merge request: what does not hold, at the line of its statement",
        "json",
        "theorax.reports.codequality:text",
        answer="theorax.reports.codequality:answer_text",
    ),
    "badge": Rendering("a badge by the endpoint of shields.io", "json", "theorax.reports.badge:text"),
}


ANSWERS = tuple(name for name, rendering in RENDERINGS.items() if rendering.answer)
"""The formats of answers that are no report of theorems."""


def render_as(name: str, document: Document | Answer) -> str:
    """The report or the answer in this format."""
    return RENDERINGS[name].render(document)
