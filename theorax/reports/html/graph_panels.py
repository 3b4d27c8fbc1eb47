"""The graph of a report in panels, one for a paper: what its theorems rest on elsewhere stands in them as a stub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from theorax.reports.document import TheoremReport
from theorax.reports.html.arc_diagram import arc_diagram, diagram_rows
from theorax.reports.html.graph_boxes import GraphBox
from theorax.text.safe import visible


@dataclass(frozen=True)
class PanelRow:
    """Text beside one box: statement and result of a theorem of the paper; of a stub only where it belongs."""

    box: GraphBox
    stub: bool


@dataclass(frozen=True)
class GraphPanel:
    """One paper's drawing, or the sentence why there is none, with the number of its theorems and of those that hold.

    What did not run has a panel too, without key and theorems.
    """

    key: str
    svg: str
    rows: tuple[PanelRow, ...]
    hold: int = 0
    theorems: int = 0
    problem: str = ""


@dataclass(frozen=True)
class GraphPanels:
    """All panels of a report."""

    panels: tuple[GraphPanel, ...] = ()

    @property
    def stubs(self) -> bool:
        """True if some theorem may stand in several panels."""
        return len(self.panels) > 1

    @property
    def ghosts(self) -> bool:
        """True if some box has no verdict."""
        return any(row.box.status is None for panel in self.panels for row in panel.rows)


def panels(
    theorems: Sequence[TheoremReport],
    boxes: Mapping[str, GraphBox],
    links: Mapping[str, str],
    unfinished: Sequence[str] = (),
) -> GraphPanels:
    """The drawings of a report's theorems; ``links`` says where a click on each leads."""
    uses = {part.id: tuple(part.uses) for part in theorems}
    paper = {part.id: part.paper for part in theorems}
    held = {part.id: part.status.holds for part in theorems}
    found = []
    for key in _in_order(uses, paper):
        own = {id: names for id, names in uses.items() if paper[id] == key}
        empty = GraphPanel(key, "", (), sum(held[id] for id in own), len(own))
        stubs = {name for names in own.values() for name in names if name not in own}
        try:
            svg = arc_diagram(boxes, own, links, f"Theorems of {key}", stubs)
        except ValueError as error:
            found.append(replace(empty, problem=visible(str(error))))
            continue
        beside = tuple(PanelRow(box, box.id in stubs) for box in diagram_rows(boxes, own))
        found.append(replace(empty, svg=svg, rows=beside))
    if unfinished:
        waiting = dict.fromkeys(unfinished, ())
        beside = tuple(PanelRow(boxes[id], stub=False) for id in waiting)
        found.append(GraphPanel("", arc_diagram(boxes, waiting, links, "Theorems that did not run"), beside))
    return GraphPanels(tuple(found))


def _in_order(uses: Mapping[str, Sequence[str]], paper: Mapping[str, str]) -> list[str]:
    """The papers, those first that most others rest on."""
    users: dict[str, set[str]] = {key: set() for key in paper.values()}
    for id, names in uses.items():
        for name in names:
            if name in paper and paper[name] != paper[id]:
                users[paper[name]].add(paper[id])
    return sorted(users, key=lambda key: -len(users[key]))
