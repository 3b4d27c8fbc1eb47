"""From a report document to its page: one file, an index with a page for each theorem, or the cell of a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from markupsafe import Markup

from theorax.decide.status import Status
from theorax.reports.command_answers import Answer
from theorax.reports.document import Document, TheoremReport, harmless_document
from theorax.reports.html import graph_boxes
from theorax.reports.html.arc_diagram import arc_diagram
from theorax.reports.html.box_drawing import outlines
from theorax.reports.html.first_screen import attacks
from theorax.reports.html.glossary_links import GlossaryLinks
from theorax.reports.html.graph_boxes import GraphBox
from theorax.reports.html.graph_panels import panels
from theorax.reports.html.legend import legend
from theorax.reports.html.page_links import INDEX, Places
from theorax.reports.html.templating import cell_of, rendered
from theorax.text import hypertext

DRAWN = 7  # theorems that a drawing of what a theorem rests on has at least; fewer are found in two clicks
MOST = 64  # and at most: the nearest of them. All drawings together grow no faster than the number of theorems.


def html(document: Document) -> str:
    """The report as one HTML file that asks nothing of any network."""
    return _Audit(document, Places.of(document.theorems)).index


def theorem_pages(document: Document) -> dict[str, str]:
    """The report as pages by the names of their files: the index, and one for each theorem; links are relative."""
    document = harmless_document(document)
    audit = _Audit(document, Places.of(document.theorems, files=True))
    own = {f"{place}.html": audit.theorem(at) for at, place in enumerate(audit.places.order)}
    return {INDEX: audit.index, **own}  # made last: its glossary holds the words of all pages


def answer_page(answer: Answer) -> str:
    """The answer of a command that is no report, as one HTML file that asks nothing of any network."""
    return rendered("answer.html", title=answer.title, body=Markup(hypertext.render(answer.body)))


def cell(document: Document) -> str:
    """The report as the output of a notebook's cell: verdicts, statements and plots, in a style of its own."""
    document = harmless_document(document)
    return cell_of(document=document, theorems=document.theorems, term=str)


@dataclass(frozen=True)
class Drawing:
    """Drawing of the theorems that one rests on: how many are shown, and whether there are more."""

    svg: Markup
    shown: int
    more: bool


@dataclass(frozen=True)
class _Audit:
    """The pages of one document, and what they have in common."""

    document: Document
    places: Places
    words: GlossaryLinks = field(default_factory=GlossaryLinks)

    @cached_property
    def boxes(self) -> Mapping[str, GraphBox]:
        """The boxes of the graph."""
        return graph_boxes.boxes(self.document.theorems, self.document.summary.unfinished)

    @property
    def index(self) -> str:
        """The page that begins with the first screen, with the theorems themselves unless they have files."""
        document, theorems = self.document, self.document.theorems
        drawn = panels(theorems, self.boxes, self.places.links, document.summary.unfinished)
        text: str = rendered(
            "page.html",
            scripted=True,
            graph=drawn,
            legend=legend(drawn),
            kinds=sorted({claim.kind for part in theorems for claim in part.claims}),
            sources={name: {p.source: None for p in theorems if p.paper == name} for name in self.places.papers},
            statuses=[name for name in Status if document.summary.statuses.get(name)],
            attacks=attacks(theorems),
            entries=self.words.entries,
            term=self.words.link,
            **self._common(self.places),
        )
        return text

    def theorem(self, at: int) -> str:
        """The page of one theorem."""
        inside = replace(self.words, page=INDEX)
        text: str = rendered("theorem_page.html", at=at, term=inside.link, **self._common(self.places.inside))
        return text

    def _common(self, places: Places) -> dict[str, Any]:
        document = self.document
        return {
            "document": document,
            "theorems": document.theorems,
            "places": places,
            "above": self._above,
            "outlines": Markup(outlines()),
            "labels": {work.key: work.label for work in document.bibliography},
        }

    def _above(self, part: TheoremReport) -> Drawing | None:
        """The drawing of what a theorem rests on; None where it is small."""
        above = self.places.above(part.id, MOST + 1)  # one more than are drawn tells whether these are all
        if len(above) < DRAWN:
            return None
        near = above if len(above) <= MOST else self.places.above(part.id, MOST)
        title = f"Dependencies of {part.id}"
        try:
            drawn = arc_diagram(self.boxes, near, self.places.links, title, brief=True)
        except ValueError:  # they rest on each other in a circle, which the whole graph tells
            return None
        return Drawing(Markup(drawn), len(near) - 1, len(above) > len(near))
