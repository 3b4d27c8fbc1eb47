"""The dependency graph as an arc diagram: one theorem in a row, its title in its box, arcs from what it rests on above it.

It is as wide as a phone; a wide window has room for a list of the same rows beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape

from theorax.reports.html.box_drawing import BOX, label, linked, marks, tip
from theorax.reports.html.graph_boxes import GraphBox
from theorax.text.safe import one_line, visible

ACROSS = 360  # of the drawing: a phone shows it as it is
GUTTER = 62  # for the arcs
LETTERS, LINES = 37, 2  # of a title
PITCH = 54  # from row to row; the style sheet has it too, for the list beside
MARGIN = 4
PASSES = 8  # over all rows until the order is taken as it is


def arc_diagram(
    boxes: Mapping[str, GraphBox],
    uses: Mapping[str, Sequence[str]],
    links: Mapping[str, str],
    title: str,
    stubs: Collection[str] = (),
    *,
    brief: bool = False,
) -> str:
    """The theorems of ``uses`` and what they rest on, each below all that it rests on; ``stubs`` are drawn elsewhere.

    ``brief``: their marks are told in words elsewhere on the page.

    **Raises:** ValueError if they rest on each other in a circle.
    """
    known = _known(boxes, uses)
    order = ordered(known)
    height = {id: MARGIN + PITCH / 2 + PITCH * place for place, id in enumerate(order)}
    arcs = [_arc(height[name], height[id]) for id in order for name in known[id]]
    rows = [_row(boxes[id], height[id], links.get(id), stub=id in stubs, brief=brief) for id in order]
    tall = PITCH * len(order) + 2 * MARGIN
    return (
        f'<svg class="graph" role="group" aria-label="{escape(visible(title))}" '
        f'width="{ACROSS}" height="{tall}" viewBox="0 0 {ACROSS} {tall}">'
        f'<g class="edges">{"".join(arcs)}</g>{"".join(rows)}</svg>'
    )


def rows(boxes: Mapping[str, GraphBox], uses: Mapping[str, Sequence[str]]) -> list[GraphBox]:
    """The boxes of a diagram in the order of its rows."""
    return [boxes[id] for id in ordered(_known(boxes, uses))]


def _known(boxes: Mapping[str, GraphBox], uses: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The theorems of a diagram and what they rest on, each with what it rests on itself."""
    known = {id: [name for name in dict.fromkeys(found) if name in boxes] for id, found in uses.items()}
    for names in list(known.values()):
        for name in names:
            known.setdefault(name, [])
    return known


def ordered(uses: Mapping[str, Sequence[str]]) -> list[str]:
    """An order in which everything comes after what it rests on, with short arcs: no single row moves to shorten them.

    **Raises:** ValueError if there is a circle.
    """
    order: list[str] = []
    waiting = list(uses)
    while waiting:
        ready = next((id for id in waiting if all(name in order for name in uses[id])), None)
        if ready is None:
            raise ValueError(f"The theorems {', '.join(sorted(waiting)[:5])} rest on each other in a circle.")
        order.append(ready)
        waiting.remove(ready)
    users: dict[str, list[str]] = {id: [] for id in uses}
    for id, names in uses.items():
        for name in names:
            users[name].append(id)
    for _ in range(PASSES):
        moved = False
        for id in list(order):
            moved |= _moved(order, id, uses[id], users[id], uses)
        if not moved:
            break
    return order


def _moved(
    order: list[str], id: str, above: Sequence[str], below: Sequence[str], uses: Mapping[str, Sequence[str]]
) -> bool:
    """Put one theorem where the arcs are shortest, between what it rests on and what rests on it."""
    old = order.index(id)
    order.remove(id)
    first = max((order.index(name) + 1 for name in above), default=0)
    last = min((order.index(name) for name in below), default=len(order))
    lengths = {}
    for place in range(first, last + 1):
        order.insert(place, id)
        row = {name: index for index, name in enumerate(order)}
        lengths[place] = sum(row[user] - row[name] for user, names in uses.items() for name in names)
        order.pop(place)
    best = min(lengths.values())
    place = old if lengths[old] == best else next(place for place in lengths if lengths[place] == best)
    order.insert(place, id)
    return place != old


def _arc(start: float, end: float) -> str:
    """A curve at the left of the boxes, the wider the further its ends are apart."""
    out = GUTTER - min(GUTTER * 4 / 3 - 6, 12 + 0.28 * (end - start))
    first, last = f"{start + 3:.0f}", f"{end - 3:.0f}"
    d = f"M{GUTTER} {first}C{out:.0f} {first} {out:.0f} {last} {GUTTER} {last}"
    return f'<path d="{d}"/>'


def _row(box: GraphBox, middle: float, link: str | None, *, stub: bool, brief: bool) -> str:
    lines = label(one_line(box.name), LETTERS, LINES)
    first = middle + 4 - 7 * (len(lines) - 1)
    name = "".join(
        f'<text x="{GUTTER + 40}" y="{first + 14 * place:.0f}">{escape(line)}</text>'
        for place, line in enumerate(lines)
    )
    top = middle - BOX.height / 2
    told = "" if stub or brief else tip(box, GUTTER + 4, top - 6)
    drawn = f"{marks(box, GUTTER + 4, top, stub=stub)}{name}{told}"
    return linked(box, drawn, link, stub=stub, brief=brief)
