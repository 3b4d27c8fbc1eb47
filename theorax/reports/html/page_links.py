"""Places of a report's theorems and claims: their anchors and files, what each rests on, and the links that lead there."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from theorax.reports.document import TheoremReport

INDEX = "index.html"
NAME = re.compile(r"[A-Za-z0-9_]{1,80}")
"""Ids that are anchors as they are. Those of the page's own parts hold a hyphen, so no theorem has one of them."""


@dataclass(frozen=True)
class Places:
    """Anchors of a report's theorems, and the links between them as one page sees them."""

    order: tuple[str, ...]  # the anchor of each theorem, in the order of the report
    anchors: Mapping[str, str]  # by id
    claims: Mapping[str, tuple[str, ...]]  # the anchors of a theorem's claims, by its own
    uses: Mapping[str, tuple[str, ...]]
    users: Mapping[str, tuple[str, ...]]
    papers: Mapping[str, str]  # the anchor of each paper's graph
    files: bool = False  # each theorem has a file of its own
    index: bool = True  # these are links of the index, or of the one file

    @classmethod
    def of(cls, theorems: Sequence[TheoremReport], *, files: bool = False) -> Places:
        """The places of these theorems; an id that makes no good anchor, or comes again, is numbered."""
        order: list[str] = []
        anchors: dict[str, str] = {}
        claims: dict[str, tuple[str, ...]] = {}
        taken = {"index"}  # files whose names differ in capitals alone are one file on some machines
        for at, part in enumerate(theorems):
            plain = NAME.fullmatch(part.id) is not None and part.id.lower() not in taken
            place = part.id if plain else f"theorem-{at}"
            taken.add(place.lower())
            order.append(place)
            anchors.setdefault(part.id, place)
            claims[place] = _claims(part, place)
        uses = {part.id: tuple(dict.fromkeys(part.uses)) for part in theorems}
        users: dict[str, tuple[str, ...]] = dict.fromkeys(uses, ())
        for other, names in uses.items():
            for name in names:
                if name in users:
                    users[name] += (other,)
        papers = {key: f"paper-{at}" for at, key in enumerate(dict.fromkeys(part.paper for part in theorems), 1)}
        return cls(tuple(order), anchors, claims, uses, users, papers, files)

    @property
    def on_theorem_page(self) -> Places:
        """The same places as the page of one theorem links to them."""
        return replace(self, index=False)

    def at(self, place: str) -> str:
        """The link to a theorem by its anchor."""
        return f"{place}.html" if self.files else f"#{place}"

    @cached_property
    def links(self) -> dict[str, str]:
        """The links to all theorems by id."""
        return {id: self.at(place) for id, place in self.anchors.items()}

    def claim(self, part: TheoremReport, number: int) -> str:
        """The link to a claim of a theorem."""
        place = self.anchors[part.id]
        return self.inside(place, self.claims[place][number])

    def inside(self, place: str, anchor: str) -> str:
        """The link to an anchor within a theorem's section."""
        return f"{place}.html#{anchor}" if self.files else f"#{anchor}"

    def part(self, anchor: str) -> str:
        """The link to a part of the index that is no theorem."""
        return f"#{anchor}" if self.index else f"{INDEX}#{anchor}"

    def old(self, place: str, claim: int | None = None) -> str:
        """The anchor that earlier pages had for a theorem or a claim; empty where it had none."""
        if "-" in place:
            return ""
        return f"t-{place}" if claim is None else f"t-{place}--{claim + 1}"

    def above(self, id: str, most: int) -> dict[str, tuple[str, ...]]:
        """The nearest theorems that one rests on, itself included, and what each of these rests on among them."""
        near = {id: None}
        waiting = deque([id])
        while waiting and len(near) < most:
            new = [name for name in self.uses.get(waiting.popleft(), ()) if name not in near]
            near |= dict.fromkeys(new[: most - len(near)])
            waiting += new
        return {one: tuple(name for name in self.uses.get(one, ()) if name in near) for one in near}


def _claims(part: TheoremReport, place: str) -> tuple[str, ...]:
    """The anchors of a theorem's claims: its own, a dot and the claim's id, or a number where that is no good anchor."""
    found: list[str] = []
    for at, claim in enumerate(part.claims):
        plain = NAME.fullmatch(claim.id) is not None and f"{place}.{claim.id}" not in found
        found.append(f"{place}.{claim.id}" if plain else f"{place}.claim-{at + 1}")
    return tuple(found)
