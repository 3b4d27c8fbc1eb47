"""The dependency graph as an arc diagram: one theorem in a row, its title in its box, arcs from what it rests on above it.

It is as wide as a phone; a wide window has room for a list of the same rows beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import heappop, heappush
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
REACH = 64  # places that a row may move at a time


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


def diagram_rows(boxes: Mapping[str, GraphBox], uses: Mapping[str, Sequence[str]]) -> list[GraphBox]:
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
    """An order in which everything comes after what it rests on, with short arcs.

    No row moves by at most ``REACH`` places to shorten them. The time is linear in the number of rows and arcs.

    **Raises:** ValueError if there is a circle.
    """
    users: dict[str, list[str]] = {id: [] for id in uses}
    for id, names in uses.items():
        for name in names:
            users[name].append(id)
    order = _sorted(uses, users)
    row = {id: place for place, id in enumerate(order)}
    # By so much all arcs together grow if a row moves up by one place.
    growth = {id: len(users[id]) - len(uses[id]) for id in uses}
    for _ in range(PASSES):
        moved = False
        for id in list(order):
            first = max((row[name] + 1 for name in uses[id]), default=0)
            last = min((row[name] for name in users[id]), default=len(order)) - 1
            moved |= _moved(order, row, id, growth, (first, last))
        if not moved:
            break
    return order


def _sorted(uses: Mapping[str, Sequence[str]], users: Mapping[str, Sequence[str]]) -> list[str]:
    """Everything after what it rests on; of those that may come next, the first in ``uses``."""
    names, place = list(uses), {id: at for at, id in enumerate(uses)}
    missing = {id: len(of) for id, of in uses.items()}
    ready = [at for at, id in enumerate(names) if not missing[id]]  # a heap, for it is sorted
    order: list[str] = []
    while ready:
        id = names[heappop(ready)]
        order.append(id)
        for user in users[id]:
            missing[user] -= 1
            if not missing[user]:
                heappush(ready, place[user])
    if len(order) < len(names):
        left = sorted(set(names) - set(order))
        raise ValueError(f"The theorems {', '.join(left[:5])} rest on each other in a circle.")
    return order


def _moved(order: list[str], row: dict[str, int], id: str, growth: Mapping[str, int], between: tuple[int, int]) -> bool:
    """Put one theorem where the arcs are shortest, between what it rests on and what rests on it."""
    old = row[id]
    best, length = old, 0
    # Whatever lies on its way moves by one place the other way.
    for way, end in ((-1, max(between[0], old - REACH)), (1, min(between[1], old + REACH))):
        grown = 0
        for place in range(old + way, end + way, way):
            grown += way * (growth[order[place]] - growth[id])
            # Of places that are as good, the first; it stays where none is better.
            if grown < length or (grown == length < 0 and place < best):
                best, length = place, grown
    if best == old:
        return False
    low, high = min(old, best), max(old, best)
    part = order[low : high + 1]
    order[low : high + 1] = [*part[1:], id] if best > old else [id, *part[:-1]]
    for place in range(low, high + 1):
        row[order[place]] = place
    return True


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
