"""The dependency graph as one picture in SVG: a node in a row, and lines in the gutter from each node to those below it.

A node has one line, in a lane of its own, which branches at every node that rests on it. So two lines meet only at a node
that both lead to; elsewhere they cross at a right angle.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from html import escape
from typing import Any

from theorax.reports.html.dependency_graph import GraphRow, Key
from theorax.text.safe import one_line, shortened

ROW, HEADING = 24, 32  # heights; 24 is the least target that a finger meets (WCAG 2.2, 2.5.8)
GUTTER = 104  # for the lines; with a name beside it, it fits a phone
LANE = 8  # the distance of two lines, unless so many run side by side that they must be closer
SIDE = 16  # of the square with the sign of a verdict
BEND, PORT = 4, 4  # the radius of a bend; above and below the middle of a square lines arrive and leave
NAME, NOTE = 38, 80  # characters at most
NOTE_AT = 300  # from the square; the style sheet hides notes in a window that is too narrow for them


def drawing(rows: Mapping[Key, GraphRow], label: str, headings: Mapping[Any, tuple[str, str]]) -> str:
    """The picture of these rows; ``headings``: text and anchor of a group that shows more than its name."""
    middle: dict[Key, int] = {}
    drawn: list[str] = []
    weak: dict[Key, str] = {}  # the tone that a node hands down, from itself or from the nearest that does not hold
    anchors = dict(headings)
    height, group = 0, None
    for key, row in rows.items():
        if not middle or row.group != group:
            group = row.group
            text, anchor = anchors.get(group, (group or "", ""))
            anchors[group] = (text, "")  # papers that use each other have several headings, and one anchor
            drawn.append(_heading(text, anchor, height + HEADING - 10))
            height += HEADING
        inherited = next((weak[use] for use in row.uses if weak.get(use)), "")
        weak[key] = inherited if row.holds else row.tone
        drawn.append(_row(row, height, "; something it rests on does not hold" if inherited else ""))
        middle[key] = height + ROW // 2
        height += ROW
    edges = "".join(_edges(rows, middle, weak))
    return (
        f'<svg class="graph" role="group" aria-label="{_text(label)}" width="100%" height="{height + 4}">'
        "<desc>Lines lead down from a node to the nodes that rest on it.</desc>"
        f'<g class="edges">{edges}</g>{"".join(drawn)}</svg>'
    )


def _edges(rows: Mapping[Key, GraphRow], middle: Mapping[Key, int], weak: Mapping[Key, str]) -> list[str]:
    at = {key: place for place, key in enumerate(rows)}
    users: dict[Key, list[Key]] = {}
    for key, row in rows.items():
        for use in row.uses:
            users.setdefault(use, []).append(key)
    reach = {use: sorted(at[key] for key in (use, *found)) for use, found in users.items()}
    lane = lanes({use: (places[0], places[-1]) for use, places in reach.items()})
    pitch = min(LANE, (GUTTER - 2 * BEND - 2) / (1 + max(lane.values(), default=0)))
    return [
        _edge(middle[use], middle[key], GUTTER - 2 * BEND - pitch * (1 + lane[use]), weak[use])
        for use, found in users.items()
        for key in found
    ]


def lanes(spans: Mapping[Key, tuple[int, int]]) -> dict[Key, int]:
    """A lane for each span of rows, from the nodes outwards: spans in one lane have no row in common."""
    found: dict[Key, int] = {}
    inner = 0
    # Longer spans run outside of shorter ones, so that a branch crosses few of them.
    for size in sorted({(last - first).bit_length() for first, last in spans.values()}):
        ends: list[tuple[int, int]] = []  # of the spans that are open, with their lanes
        free: list[int] = []
        for key, (first, last) in sorted(spans.items(), key=lambda item: item[1]):
            if (last - first).bit_length() != size:
                continue
            while ends and ends[0][0] < first:
                heappush(free, heappop(ends)[1])
            if not free:
                free, inner = [inner], inner + 1
            found[key] = heappop(free)
            heappush(ends, (last, found[key]))
    return found


def _edge(start: int, end: int, x: float, tone: str) -> str:
    """From below the middle of one square out to the lane, along it, and in above the middle of the other."""
    turn = BEND if end > start else -BEND  # upwards on a circle alone
    out = f"M{GUTTER} {start + PORT}H{x + BEND:.4g}q{-BEND} 0 {-BEND} {turn}"
    back = f"V{end - PORT - turn}q0 {turn} {BEND} {turn}H{GUTTER - 2}"
    marked = f' class="{tone}"' if tone else ""
    return f'<path{marked} d="{out}{back}"/>'


def _heading(text: str, anchor: str, y: int) -> str:
    id = f' id="{anchor}"' if anchor else ""
    return f'<text class="group"{id} x="{GUTTER}" y="{y}">{_text(text)}</text>'


def _row(row: GraphRow, top: int, more: str) -> str:
    """The square with its sign, the name and the note, as one link."""
    place = f'class="node" transform="translate({GUTTER} {top})"'
    inner = (
        f"<title>{_text(row.text + more)}</title>"
        f'<rect class="row" width="100%" height="{ROW}"/>'
        f'<rect class="box {row.tone}" y="{(ROW - SIDE) // 2}" width="{SIDE}" height="{SIDE}" rx="4"/>'
        f'<text class="sign" x="{SIDE // 2}" y="16">{row.sign}</text>'
        f'<text x="{SIDE + 8}" y="16">{_text(shortened(row.name, NAME))}</text>'
        f'<text class="note" x="{NOTE_AT}" y="16">{_text(shortened(row.note, NOTE))}</text>'
    )
    return f"<g {place}>{inner}</g>" if row.link is None else f'<a {place} href="{escape(row.link)}">{inner}</a>'


def _text(text: str) -> str:
    return escape(one_line(text))
