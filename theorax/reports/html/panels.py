"""The graph of a report in panels, one for a paper: what its theorems rest on elsewhere stands in them as a stub."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from theorax.reports.html.graph_boxes import Node
from theorax.reports.html.graph_drawing import graph
from theorax.reports.html.graph_rows import rows
from theorax.reports.html.layers import layered
from theorax.text.safe import visible

Part = Mapping[str, Any]

TOGETHER = 12  # theorems that are drawn as one, whatever papers they come from
ROOM = 1240  # pixels that a window of 1280 has for a drawing


@dataclass(frozen=True)
class Panel:
    """One paper's drawing for a wide window and for a narrow one; ``title`` is empty where it is the only one."""

    title: str
    wide: str
    narrow: str


@dataclass(frozen=True)
class Panels:
    """All panels, or the sentence why there are none; ``crossings`` of the wide drawings."""

    panels: tuple[Panel, ...] = ()
    crossings: int = 0
    problem: str = ""

    @property
    def stubs(self) -> bool:
        """Whether some theorem may stand in several panels."""
        return len(self.panels) > 1


def panels(theorems: Sequence[Part], nodes: Mapping[str, Node], links: Mapping[str, str]) -> Panels:
    """The drawings of a report's theorems; ``links`` says where a click on each leads."""
    uses = {part["id"]: tuple(part["uses"]) for part in theorems}
    paper = {part["id"]: part["paper"] for part in theorems}
    try:
        if len(set(paper.values())) < 2 or len(nodes) <= TOGETHER:
            whole = graph(nodes, uses, links, "Which theorem rests on which")
            if whole.problem or whole.width <= ROOM or len(set(paper.values())) < 2:
                narrow = "" if whole.problem else rows(nodes, uses, links, "Which theorem rests on which")
                panel = Panel("", whole.svg, narrow)
                return Panels((panel,) if whole.svg else (), whole.crossings, whole.problem)
        found, crossings = [], 0
        for key in _in_order(uses, paper):
            own = {id: names for id, names in uses.items() if paper[id] == key}
            stubs = {name for names in own.values() for name in names if name not in own}
            title = f"Theorems of {key}"
            near, copies = _copied(own, stubs)
            drawn = graph(
                {**nodes, **{copy: nodes[name] for copy, name in copies.items()}},
                near,
                {**links, **{copy: links[name] for copy, name in copies.items() if name in links}},
                title,
                copies,
            )
            if drawn.problem:
                return Panels(problem=drawn.problem)
            crossings += drawn.crossings
            found.append(Panel(key, drawn.svg, rows(nodes, own, links, title, stubs)))
    except ValueError as error:
        return Panels(problem=visible(str(error)))
    return Panels(tuple(found), crossings)


def _copied(own: Mapping[str, Sequence[str]], stubs: Collection[str]) -> tuple[dict[str, list[str]], dict[str, str]]:
    """What rests on what, with a copy of each stub right before every layer of its users, and what each copy stands for."""
    layer = layered({**dict.fromkeys(stubs, ()), **own})
    copies: dict[str, str] = {}
    near: dict[str, list[str]] = {}
    for id, names in own.items():
        near[id] = []
        for name in names:
            copy = f"{name}\0{layer[id]}" if name in stubs else name
            near[id].append(copy)
            if name in stubs:
                copies[copy] = name
    return near, copies


def _in_order(uses: Mapping[str, Sequence[str]], paper: Mapping[str, str]) -> list[str]:
    """The papers, those first that most others rest on."""
    users: dict[str, set[str]] = {key: set() for key in paper.values()}
    for id, names in uses.items():
        for name in names:
            if name in paper and paper[name] != paper[id]:
                users[paper[name]].add(paper[id])
    return sorted(users, key=lambda key: -len(users[key]))
