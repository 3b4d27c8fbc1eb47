"""The bibliography of a page: the works that its theorems come from or cite, and where a source names one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from theorax.reports.document import CitedWork, Document, TheoremReport
from theorax.text.safe import address
from theorax.theorems.bibliography import folded


@dataclass(frozen=True)
class ListedWork:
    """One work of the bibliography: its entry, where it can be read, and the theorems that come from it or cite it."""

    anchor: str
    entry: str
    url: str
    theorems: tuple[TheoremReport, ...]

    @property
    def arxiv(self) -> str:
        """Identifier at arXiv, to be the link, if the entry ends with it; else an empty text."""
        id = f"arXiv:{self.url.removeprefix('https://arxiv.org/abs/')}"
        return id if self.url and self.entry.removesuffix(".").endswith(f" {id}") else ""

    @property
    def before(self) -> str:
        """The entry up to its id at arXiv."""
        return self.entry.removesuffix(".").removesuffix(self.arxiv)


def bibliography(document: Document) -> dict[str, list[ListedWork]]:
    """The papers whose theorems were checked, and the works that these cite. A folder that no work names tells its line."""
    theorems, known = document.theorems, {work.key: work for work in document.bibliography}
    papers: dict[str, list[TheoremReport]] = {}
    for part in theorems:
        papers.setdefault(part.paper, []).append(part)
    found: dict[str, list[ListedWork]] = {"papers": [], "others": [], "works": []}
    for key, parts in papers.items():
        work = known.get(key)
        entry, url = (work.entry, work.url) if work is not None else (parts[0].source or key, "")
        found["papers" if work is not None else "others"].append(
            ListedWork(_anchor(key, known), entry, address(url), tuple(parts))
        )
    for key, work in known.items():
        by = tuple(part for part in theorems if key in part.works and part.paper != key)
        if key not in papers:
            found["works"].append(ListedWork(_anchor(key, known), work.entry, address(work.url), by))
    return found


def _anchor(key: str, known: Mapping[str, CitedWork]) -> str:
    return f"work-{list(known).index(key) + 1}" if key in known else ""


def cited(text: str, works: Sequence[CitedWork]) -> list[tuple[str, str]]:
    """A source in pieces, each with the anchor of the work that it names, if it names one."""
    labels: dict[str, str] = {}
    for place, work in enumerate(works, 1):
        labels |= dict.fromkeys((work.label, folded(work.label)), f"work-{place}")
    if not labels:
        return [(text, "")]
    longest = "|".join(map(re.escape, sorted(labels, key=len, reverse=True)))
    pieces = re.split(rf"(?<!\w)({longest})(?!\w)", text)
    return [(piece, labels.get(piece, "")) for piece in pieces if piece]
