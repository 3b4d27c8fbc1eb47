"""The dependency graph as SVG: one box per theorem, its border the symbolic side, its fill the numeric one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from theorax.reports.html.graph_boxes import Node
from theorax.reports.html.layers import Drawing, draw
from theorax.reports.html.marks import HEIGHT, WIDTH, box
from theorax.text.safe import visible

ACROSS, DOWN = WIDTH + 38, HEIGHT + 16  # from box to box
MARGIN = 14
LARGEST = 1650  # pixels: at a width of 1240 its labels of 12 pixels are still 9 high
COLUMNS = 3  # boxes side by side before a new shelf begins


@dataclass(frozen=True)
class Graph:
    """A drawn graph, or the sentence why there is none; ``crossings`` of its edges, ``width`` in pixels."""

    svg: str
    crossings: int = 0
    problem: str = ""
    width: float = 0.0


def graph(
    nodes: Mapping[str, Node],
    uses: Mapping[str, Sequence[str]],
    links: Mapping[str, str],
    title: str,
    stubs: Collection[str] = (),
) -> Graph:
    """All the theorems of ``uses`` and what they rest on; ``links`` says where a click on each leads.

    ``stubs`` are drawn in full elsewhere.
    """
    known = {id: tuple(name for name in dict.fromkeys(found) if name in nodes) for id, found in uses.items()}
    for names in list(known.values()):
        for name in names:
            known.setdefault(name, ())
    try:
        drawings = [draw({id: known[id] for id in part}) for part in _components(known)]
    except ValueError as error:
        return Graph("", problem=visible(str(error)))
    shelves = _shelves(drawings)
    width = max((left + part.width for left, _, part in shelves), default=0) * ACROSS - (ACROSS - WIDTH) + 2 * MARGIN
    height = max((top + part.height for _, top, part in shelves), default=0) * DOWN - (DOWN - HEIGHT) + 2 * MARGIN
    edges, boxes = [], []
    for left, top, part in shelves:
        edges += [_edge(path, left, top) for path in part.paths.values()]
        for id, (x, y) in sorted(part.places.items(), key=lambda item: (item[1], item[0])):
            boxes.append(box(nodes[id], *_corner(left + x, top + y), links.get(id), stub=id in stubs))
    svg = (
        f'<svg class="graph{" large" if width > LARGEST else ""}" role="group" aria-label="{escape(visible(title))}" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">'
        f'<g class="edges">{"".join(edges)}</g>{"".join(boxes)}</svg>'
    )
    return Graph(svg, sum(part.crossings for part in drawings), width=width)


def _components(uses: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """What hangs together, the largest first."""
    beside: dict[str, set[str]] = {id: set(names) for id, names in uses.items()}
    for id, names in uses.items():
        for name in names:
            beside[name].add(id)
    found: list[list[str]] = []
    seen: set[str] = set()
    for start in uses:
        if start in seen:
            continue
        part, waiting = set(), [start]
        while waiting:
            id = waiting.pop()
            if id not in part:
                part.add(id)
                waiting += beside[id]
        seen |= part
        found.append([id for id in uses if id in part])
    return sorted(found, key=lambda part: -len(part))


def _shelves(drawings: Iterable[Drawing]) -> list[tuple[float, float, Drawing]]:
    """Each drawing with its place, in layers from the left and rows from the top."""
    ranked = sorted(drawings, key=lambda part: (-part.height, -part.width))
    room = max([COLUMNS, *(part.width for part in ranked)])
    placed: list[tuple[float, float, Drawing]] = []
    left, top, tallest = 0.0, 0.0, 0.0
    for part in ranked:
        if left and left + part.width > room:
            left, top, tallest = 0.0, top + tallest + (0.3 if tallest > 1 else 0.0), 0.0
        placed.append((left, top, part))
        left, tallest = left + part.width, max(tallest, part.height)
    return placed


def _corner(x: float, y: float) -> tuple[float, float]:
    return MARGIN + x * ACROSS, MARGIN + y * DOWN


def _edge(path: Sequence[tuple[float, float]], left: float, top: float) -> str:
    """A curve that leaves and enters boxes horizontally and passes a layer on the way along a straight line."""
    points: list[tuple[float, float]] = []
    for index, (x, y) in enumerate(path):
        at, level = _corner(left + x, top + y)
        level += HEIGHT / 2
        if index > 0:
            points.append((at, level))
        if index < len(path) - 1:
            points.append((at + WIDTH, level))
    d = f"M{points[0][0]:.0f} {points[0][1]:.1f}"
    for index, (x, y) in enumerate(points[1:], 1):
        before, level = points[index - 1]
        if index % 2:
            bend = (before + x) / 2
            d += f"C{bend:.0f} {level:.1f} {bend:.0f} {y:.1f} {x:.0f} {y:.1f}"
        else:
            d += f"H{x:.0f}"
    return f'<path d="{d}"/>'
