"""From a report document to its page: one file, an index with a page for each theorem, or the cell of a notebook."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from markupsafe import Markup

from theorax.decide.status import Status
from theorax.reports.command_answers import Answer
from theorax.reports.document import Document, harmless_document
from theorax.reports.html.dependency_graph import GraphRow, Key, rows_in_order, run_rows, theorem_rows
from theorax.reports.html.first_screen import attacks
from theorax.reports.html.glossary_links import GlossaryLinks
from theorax.reports.html.graph_drawing import drawing
from theorax.reports.html.page_links import INDEX, Places
from theorax.reports.html.templating import cell_of, rendered
from theorax.runs.dependencies import Graph
from theorax.text import hypertext

MOST = 64  # theorems in the picture of one. All pictures together grow no faster than the number of theorems.


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
class Picture:
    """The picture of a theorem; ``more``: it rests on more theorems than are shown."""

    svg: Markup
    more: bool


@dataclass(frozen=True)
class _Audit:
    """The pages of one document, and what they have in common."""

    document: Document
    places: Places
    words: GlossaryLinks = field(default_factory=GlossaryLinks)

    @cached_property
    def rows(self) -> dict[Key, GraphRow]:
        """The rows of the graph of the whole run."""
        return run_rows(self.document, self.places.links)

    @cached_property
    def headings(self) -> dict[str | None, tuple[str, str]]:
        """The text and the anchor of each part of the graph: a paper, or None for what did not run."""
        labels = {work.key: work.label for work in self.document.bibliography}
        asked = Counter(part.paper for part in self.document.theorems)
        hold = Counter(part.paper for part in self.document.theorems if part.status.holds)
        return {
            key: (f"{labels.get(key, key)}: {hold[key]} of {asked[key]} hold", self.places.papers[key])
            for key in dict.fromkeys(row.group for row in self.rows.values() if row.group is not None)
        } | {None: ("Not run", "graph-not-run")}

    @property
    def index(self) -> str:
        """The page that begins with the first screen, with the theorems themselves unless they have files."""
        document, theorems = self.document, self.document.theorems
        shown = {row.group for row in self.rows.values()}
        circles = Graph({part.id: tuple(part.uses) for part in theorems}).cycles()
        text: str = rendered(
            "page.html",
            scripted=True,
            picture=self._one(0).svg
            if self._alone
            else Markup(drawing(self.rows, "Dependencies of the theorems", self.headings)),
            headings=[] if self._alone else [found for key, found in self.headings.items() if key in shown],
            circles=list(dict.fromkeys(circles.values())),
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
        text: str = rendered("theorem_page.html", at=at, term=inside.link, **self._common(self.places.on_theorem_page))
        return text

    def _common(self, places: Places) -> dict[str, Any]:
        document = self.document
        return {
            "document": document,
            "theorems": document.theorems,
            "places": places,
            "picture_of": self._one,
            "labels": {work.key: work.label for work in document.bibliography},
        }

    @property
    def _alone(self) -> bool:
        """True if the report is about one theorem, whose parts the graph then shows."""
        return len(self.document.theorems) == 1 and not self.document.summary.unfinished

    def _one(self, at: int) -> Picture:
        """The picture of one theorem: its parts, and the nearest theorems that it rests on."""
        part, place = self.document.theorems[at], self.places.order[at]
        near = self.places.above(part.id, MOST)
        above: dict[Key, GraphRow] = {id: self.rows[id] for id in rows_in_order(near)}
        claims = [self.places.inside(place, anchor) for anchor in self.places.claims[place]]
        inside = {name: self.places.inside(place, f"{place}-{name}") for name in ("hypotheses", "proof")}
        headings = {"Theorem": self.headings[part.paper]} if self._alone else {}
        drawn = drawing(theorem_rows(part, above, claims, inside), f"Dependencies of {part.id}", headings)
        return Picture(Markup(drawn), any(use not in near for id in near for use in self.places.uses.get(id, ())))
