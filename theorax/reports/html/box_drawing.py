"""One box of the graph as SVG: ring, fill, pattern, border, letter, flag, and a title on two lines."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from theorax.reports.html.graph_boxes import GraphBox
from theorax.text.mathml import formula
from theorax.text.safe import shortened, visible


class BoxForm(NamedTuple):
    """Size of a box; its outlines are drawn once a page and used from there."""

    width: int
    height: int
    name: str  # ends the ids of its outlines


BOX = BoxForm(288, 40, "")  # of the graph, with room for a title
SAMPLE = BoxForm(46, 24, "-sample")  # of the legend
PATTERNED = 30  # the width of the field with a pattern, left of the title
ABOVE, WIDE = 120, 620  # room for a statement above its box
_PARTS = {-4: "inner", 0: "box", 4: "ring"}  # by how far an outline lies outside of the box


def sample(box: GraphBox, *, letter: bool = False, stub: bool = False) -> str:
    """One box for the legend, without a name."""
    drawn = marks(box, 8, 6, SAMPLE, letter=letter, stub=stub)
    return f'<svg class="sample" aria-hidden="true" width="64" height="36" viewBox="0 0 64 36">{drawn}</svg>'


def linked(box: GraphBox, drawn: str, link: str | None, *, stub: bool = False, brief: bool = False) -> str:
    """Draw a theorem as a link to it, with its marks in words, or ``brief`` with its verdict alone."""
    told = box.told
    if box.status is not None:
        told = f"{box.id}: {box.status}" if brief else f"{told}; drawn in full with its own paper" if stub else told
    inner = f"<title>{escape(visible(told))}</title>{drawn}"
    if link is None or box.status is None:
        return f'<g class="node ghost">{inner}</g>'
    return f'<a class="node" href="{escape(link)}">{inner}</a>'


def tip(box: GraphBox, x: float, bottom: float) -> str:
    """The statement of its first claim, shown while a pointer is on the box; it lies above, over what is drawn before."""
    if not box.statement:
        return ""
    place = f'x="{x:.0f}" y="{bottom - ABOVE:.0f}" width="{WIDE}" height="{ABOVE}"'
    told = formula(box.latex, box.statement)
    return f'<foreignObject class="tip" aria-hidden="true" {place}><div><div>{told}</div></div></foreignObject>'


def marks(box: GraphBox, x: float, y: float, form: BoxForm = BOX, *, letter: bool = True, stub: bool = False) -> str:
    """Ring, fill, pattern, border, letter and flag of one box with this corner; a stub has its letter alone."""

    def outline(given: str, out: int = 0) -> str:
        return f'<use {given} href="#{_named(box.shape, out, form)}" x="{x - out:.0f}" y="{y - out:.0f}"/>'

    border = "ghost" if box.status is None else "stub" if stub else box.symbolic
    drawn = [outline(f'class="box {"none" if stub else box.numeric} b-{border}"')]
    if stub:
        return "".join([*drawn, *_letter(box, x, y + form.height / 2)])
    if box.numeric not in ("supported", "none"):
        inside = f'x="{x + 5:.0f}" y="{y + 3:.0f}" width="{PATTERNED}" height="{form.height - 6}"'
        drawn.append(f'<rect {inside} fill="url(#pattern-{box.numeric})"/>')
    if border == "whole":
        drawn.append(outline('class="inner"', -4))
    if box.ring:
        drawn.insert(0, outline('class="ring"', 4))
    if letter:
        drawn += _letter(box, x, y + form.height / 2)
    if box.controls != "none":
        at = x + form.width - 12
        drawn.append(f'<path class="flag {box.controls}" d="M{at:.0f} {y - 7:.0f}v14m0 -14l9 4l-9 4z"/>')
    return "".join(drawn)


def outlines() -> str:
    """The outlines of boxes, of what lies within them and around them, for the definitions of a page."""
    return "".join(
        f'<path id="{_named(shape, out, form)}" d="{_outline(shape, form.width + 2 * out, form.height + 2 * out)}"/>'
        for form in (BOX, SAMPLE)
        for shape in ("holds", "refuted", "open", "idle")
        for out in _PARTS
    )


def _named(shape: str, out: int, form: BoxForm) -> str:
    return f"{_PARTS[out]}-{shape}{form.name}"


def _letter(box: GraphBox, x: float, middle: float) -> list[str]:
    if box.status is None:
        return []
    return [
        f'<circle class="s-{box.shape}" cx="{x + 20:.0f}" cy="{middle:.0f}" r="10"/>',
        f'<text class="letter" x="{x + 20:.0f}" y="{middle + 4.5:.1f}">{box.status[0]}</text>',
    ]


def _outline(shape: str, w: int, h: int) -> str:
    """Rounded where it holds, eight corners where refuted, pointed where open, square where there is no verdict."""
    if shape == "holds":
        r = min(9, round(h / 3))
        return (
            f"M{r} 0h{w - 2 * r}a{r} {r} 0 0 1 {r} {r}v{h - 2 * r}a{r} {r} 0 0 1 -{r} {r}"
            f"h-{w - 2 * r}a{r} {r} 0 0 1 -{r} -{r}v-{h - 2 * r}a{r} {r} 0 0 1 {r} -{r}z"
        )
    if shape == "refuted":
        c = round(h * 0.3)
        return f"M{c} 0h{w - 2 * c}l{c} {c}v{h - 2 * c}l-{c} {c}h-{w - 2 * c}l-{c} -{c}v-{h - 2 * c}z"
    if shape == "open":
        c, half = round(h * 0.28), round(h / 2)
        return f"M{c} 0h{w - 2 * c}l{c} {half}l-{c} {half}h-{w - 2 * c}l-{c} -{half}z"
    return f"M0 0h{w}v{h}h-{w}z"


def label(name: str, letters: int, room: int) -> list[str]:
    """A name on a few lines, broken at spaces, hyphens and underscores where there are any, cut where it is longer."""
    lines: list[str] = []
    while len(name) > letters and len(lines) < room - 1:
        cut = max(name.rfind(sign, 0, letters) for sign in "_- ") + 1
        cut = cut if cut > 4 else letters
        lines.append(name[:cut].rstrip(" "))
        name = name[cut:]
    return [*lines, shortened(name, letters)]
