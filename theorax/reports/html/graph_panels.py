"""The graph of a report in panels, one for a paper: what its theorems rest on elsewhere stands in them as a stub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from theorax.reports.document import TheoremReport
from theorax.reports.html.arc_diagram import arc_diagram
from theorax.reports.html.graph_boxes import GraphBox
from theorax.text.safe import visible

TOGETHER = 12  # theorems that are drawn as one, whatever papers they come from


@dataclass(frozen=True)
class GraphPanel:
    """One paper's drawing; ``title`` is empty where it is the only one."""

    title: str
    svg: str


@dataclass(frozen=True)
class GraphPanels:
    """All panels, or the sentence why there are none."""

    panels: tuple[GraphPanel, ...] = ()
    problem: str = ""

    @property
    def stubs(self) -> bool:
        """True if some theorem may stand in several panels."""
        return len(self.panels) > 1


def panels(theorems: Sequence[TheoremReport], boxes: Mapping[str, GraphBox], links: Mapping[str, str]) -> GraphPanels:
    """The drawings of a report's theorems; ``links`` says where a click on each leads."""
    if not theorems:
        return GraphPanels()
    uses = {part.id: tuple(part.uses) for part in theorems}
    paper = {part.id: part.paper for part in theorems}
    try:
        if len(set(paper.values())) < 2 or len(boxes) <= TOGETHER:
            return GraphPanels((GraphPanel("", arc_diagram(boxes, uses, links, "Which theorem rests on which")),))
        found = []
        for key in _in_order(uses, paper):
            own = {id: names for id, names in uses.items() if paper[id] == key}
            stubs = {name for names in own.values() for name in names if name not in own}
            found.append(GraphPanel(key, arc_diagram(boxes, own, links, f"Theorems of {key}", stubs)))
    except ValueError as error:
        return GraphPanels(problem=visible(str(error)))
    return GraphPanels(tuple(found))


def _in_order(uses: Mapping[str, Sequence[str]], paper: Mapping[str, str]) -> list[str]:
    """The papers, those first that most others rest on."""
    users: dict[str, set[str]] = {key: set() for key in paper.values()}
    for id, names in uses.items():
        for name in names:
            if name in paper and paper[name] != paper[id]:
                users[paper[name]].add(paper[id])
    return sorted(users, key=lambda key: -len(users[key]))
