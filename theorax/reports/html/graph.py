"""The dependency graph as SVG: one box per theorem, its border the symbolic side, its fill the numeric one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from theorax.reports.html.layers import Drawing, draw
from theorax.reports.html.sides import Node
from theorax.text.safe import one_line, shortened, visible

WIDTH, HEIGHT = 168, 44  # of a box
ACROSS, DOWN = WIDTH + 38, HEIGHT + 20  # from box to box
MARGIN = 14
LETTERS, LINES = 19, 3  # of a label: signs on a line, lines in a box
COLUMNS = 5  # boxes side by side before a new shelf begins


@dataclass(frozen=True)
class Graph:
    """A drawn graph, or the sentence why there is none; ``crossings`` of its edges."""

    svg: str
    crossings: int = 0
    problem: str = ""


def graph(nodes: Mapping[str, Node], uses: Mapping[str, Sequence[str]], links: Mapping[str, str], title: str) -> Graph:
    """All the theorems of ``uses`` and what they rest on; ``links`` says where a click on each leads."""
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
            boxes.append(_box(nodes[id], *_corner(left + x, top + y), links.get(id)))
    svg = (
        f'<svg class="graph" role="group" aria-label="{escape(visible(title))}" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">'
        f'<g class="edges">{"".join(edges)}</g>{"".join(boxes)}</svg>'
    )
    return Graph(svg, sum(part.crossings for part in drawings))


def sample(node: Node, *, letter: bool = False) -> str:
    """One box for the legend, without a name."""
    marks = _marks(node, 8, 6, 48, 24, letter=letter)
    return f'<svg class="sample" aria-hidden="true" width="64" height="36" viewBox="0 0 64 36">{marks}</svg>'


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
    return f'<path d="{d}" marker-end="url(#arrow)"/>'


def _box(node: Node, x: float, y: float, link: str | None) -> str:
    lines = _label(one_line(node.id))
    pitch = 15 if len(lines) < LINES else 13
    first = y + HEIGHT / 2 + 4 - pitch * (len(lines) - 1) / 2
    label = "".join(
        f'<text x="{x + 34:.0f}" y="{first + pitch * row:.1f}">{escape(line)}</text>' for row, line in enumerate(lines)
    )
    inner = f"<title>{escape(visible(node.told))}</title>{_marks(node, x, y, WIDTH, HEIGHT)}{label}"
    if link is None or node.status is None:
        return f'<g class="node ghost">{inner}</g>'
    return f'<a class="node" href="#{escape(link)}">{inner}</a>'


def _marks(node: Node, x: float, y: float, width: float, height: float, *, letter: bool = True) -> str:
    """Ring, fill, pattern, border, letter and flag of one box."""
    outline = _outline(node.shape, x, y, width, height)
    border = "ghost" if node.status is None else node.symbolic
    drawn = [f'<path class="box {node.numeric} b-{border}" d="{outline}"/>']
    if node.numeric not in ("supported", "none"):
        drawn.append(f'<path fill="url(#pattern-{node.numeric})" d="{outline}"/>')
    if border == "whole":
        drawn.append(f'<path class="inner" d="{_outline(node.shape, x + 4, y + 4, width - 8, height - 8)}"/>')
    if node.ring:
        drawn.insert(0, f'<path class="ring" d="{_outline(node.shape, x - 4, y - 4, width + 8, height + 8)}"/>')
    if letter and node.status is not None:
        middle = y + height / 2
        drawn.append(f'<circle class="s-{node.shape}" cx="{x + 19:.0f}" cy="{middle:.0f}" r="10"/>')
        drawn.append(f'<text class="letter" x="{x + 19:.0f}" y="{middle + 4.5:.1f}">{node.status[0]}</text>')
    if node.controls != "none":
        at = x + width - 12
        drawn.append(f'<path class="flag {node.controls}" d="M{at:.0f} {y - 7:.0f}v14m0 -14l9 4l-9 4z"/>')
    return "".join(drawn)


def _outline(shape: str, x: float, y: float, w: float, h: float) -> str:
    """Rounded where it holds, eight corners where refuted, pointed where open, square where there is no verdict."""
    if shape == "holds":
        r = min(9, round(h / 3))
        return (
            f"M{x + r:.0f} {y:.0f}h{w - 2 * r:.0f}a{r} {r} 0 0 1 {r} {r}v{h - 2 * r:.0f}a{r} {r} 0 0 1 -{r} {r}"
            f"h-{w - 2 * r:.0f}a{r} {r} 0 0 1 -{r} -{r}v-{h - 2 * r:.0f}a{r} {r} 0 0 1 {r} -{r}z"
        )
    if shape == "refuted":
        c = h * 0.3
        return (
            f"M{x + c:.0f} {y:.0f}h{w - 2 * c:.0f}l{c:.0f} {c:.0f}v{h - 2 * c:.0f}l-{c:.0f} {c:.0f}"
            f"h-{w - 2 * c:.0f}l-{c:.0f} -{c:.0f}v-{h - 2 * c:.0f}z"
        )
    if shape == "open":
        c = h * 0.28
        half = h / 2
        return (
            f"M{x + c:.0f} {y:.0f}h{w - 2 * c:.0f}l{c:.0f} {half:.0f}l-{c:.0f} {half:.0f}"
            f"h-{w - 2 * c:.0f}l-{c:.0f} -{half:.0f}z"
        )
    return f"M{x:.0f} {y:.0f}h{w:.0f}v{h:.0f}h-{w:.0f}z"


def _label(name: str) -> list[str]:
    """A name on a few lines, broken at underscores where there are any, cut where it is longer."""
    lines: list[str] = []
    while len(name) > LETTERS and len(lines) < LINES - 1:
        cut = max(name.rfind(sign, 0, LETTERS) for sign in "_- ") + 1
        cut = cut if cut > 4 else LETTERS
        lines.append(name[:cut])
        name = name[cut:]
    return [*lines, shortened(name, LETTERS)]
