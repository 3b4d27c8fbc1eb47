"""What one box of a drawing shows: ring, fill, pattern, border, letter, flag, and a name on a few lines."""

from __future__ import annotations

from html import escape

from theorax.reports.html.graph_boxes import Node
from theorax.text.safe import one_line, shortened, visible

WIDTH, HEIGHT = 168, 44  # of a box
SMALL = (46, 24)  # of a box that has its name beside it; its outlines are drawn once a page and used from there
_PARTS = {-4: "inner", 0: "box", 4: "ring"}  # by how far an outline lies outside of the box
LETTERS, LINES = 19, 3  # of a label: signs on a line, lines in a box


def sample(node: Node, *, letter: bool = False, stub: bool = False) -> str:
    """One box for the legend, without a name."""
    drawn = marks(node, 8, 6, 48, 24, letter=letter, stub=stub)
    return f'<svg class="sample" aria-hidden="true" width="64" height="36" viewBox="0 0 64 36">{drawn}</svg>'


def box(node: Node, x: float, y: float, link: str | None, *, stub: bool = False) -> str:
    """A box with its name, at this corner."""
    lines = label(one_line(node.id))
    pitch = 15 if len(lines) < LINES else 13
    first = y + HEIGHT / 2 + 4 - pitch * (len(lines) - 1) / 2
    name = "".join(
        f'<text x="{x + 34:.0f}" y="{first + pitch * row:.1f}">{escape(line)}</text>' for row, line in enumerate(lines)
    )
    return linked(node, f"{marks(node, x, y, WIDTH, HEIGHT, stub=stub)}{name}", link, stub=stub)


def linked(node: Node, drawn: str, link: str | None, *, stub: bool = False, brief: bool = False) -> str:
    """What is drawn of a theorem, as a link to it, with its marks in words, or ``brief`` its verdict alone."""
    told = node.told
    if node.status is not None:
        told = f"{node.id}: {node.status}" if brief else f"{told}; drawn in full with its own paper" if stub else told
    inner = f"<title>{escape(visible(told))}</title>{drawn}"
    if link is None or node.status is None:
        return f'<g class="node ghost">{inner}</g>'
    return f'<a class="node" href="#{escape(link)}">{inner}</a>'


def marks(
    node: Node, x: float, y: float, width: float, height: float, *, letter: bool = True, stub: bool = False
) -> str:
    """Ring, fill, pattern, border, letter and flag of one box; a stub has its letter alone."""

    def path(given: str, out: int = 0) -> str:
        if (width, height) == SMALL:
            return f'<use {given} href="#{_named(node.shape, out)}" x="{x - out:.0f}" y="{y - out:.0f}"/>'
        d = _outline(node.shape, x - out, y - out, width + 2 * out, height + 2 * out)
        return f'<path {given} d="{d}"/>'

    border = "ghost" if node.status is None else "stub" if stub else node.symbolic
    drawn = [path(f'class="box {"none" if stub else node.numeric} b-{border}"')]
    if stub:
        return "".join([*drawn, *_letter(node, x, y + height / 2)])
    if node.numeric not in ("supported", "none"):
        drawn.append(path(f'fill="url(#pattern-{node.numeric})"'))
    if border == "whole":
        drawn.append(path('class="inner"', -4))
    if node.ring:
        drawn.insert(0, path('class="ring"', 4))
    if letter:
        drawn += _letter(node, x, y + height / 2)
    if node.controls != "none":
        at = x + width - 12
        drawn.append(f'<path class="flag {node.controls}" d="M{at:.0f} {y - 7:.0f}v14m0 -14l9 4l-9 4z"/>')
    return "".join(drawn)


def outlines() -> str:
    """The outlines of small boxes, of what lies within them and around them, for the definitions of a page."""
    width, height = SMALL
    return "".join(
        f'<path id="{_named(shape, out)}" d="{_outline(shape, 0, 0, width + 2 * out, height + 2 * out)}"/>'
        for shape in ("holds", "refuted", "open", "idle")
        for out in _PARTS
    )


def _named(shape: str, out: int) -> str:
    return f"{_PARTS[out]}-{shape}"


def _letter(node: Node, x: float, middle: float) -> list[str]:
    if node.status is None:
        return []
    return [
        f'<circle class="s-{node.shape}" cx="{x + 19:.0f}" cy="{middle:.0f}" r="10"/>',
        f'<text class="letter" x="{x + 19:.0f}" y="{middle + 4.5:.1f}">{node.status[0]}</text>',
    ]


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


def label(name: str, letters: int = LETTERS, room: int = LINES) -> list[str]:
    """A name on a few lines, broken at underscores where there are any, cut where it is longer."""
    lines: list[str] = []
    while len(name) > letters and len(lines) < room - 1:
        cut = max(name.rfind(sign, 0, letters) for sign in "_- ") + 1
        cut = cut if cut > 4 else letters
        lines.append(name[:cut])
        name = name[cut:]
    return [*lines, shortened(name, letters)]
