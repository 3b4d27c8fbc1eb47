"""A report as HTML for a notebook's cell: the same blocks as on a terminal, formulas in MathML, and LaTeX for print."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from theorax.text.blocks import Block, Heading, Lines, Paragraph, Table
from theorax.text.mathml import formula
from theorax.text.safe import visible
from theorax.text.signs import signed

Bundle = dict[str, str]  # what a notebook shows, by media type

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    sign: f"\\{sign}" for sign in "&%$#_{}"
}
_ESCAPED = re.compile(r"[\\~^&%$#_{}]")


def bundle(text: str, html: str, latex: str = "") -> Bundle:
    """The bundle that ``_repr_mimebundle_`` returns; a notebook shows the richest form that it can."""
    found = {"text/plain": text, "text/html": html}
    return {**found, "text/latex": latex} if latex else found


def render(blocks: Iterable[Block]) -> str:
    """The blocks as HTML without styles of its own: headings, paragraphs, tables, and lines kept as they are."""
    return "".join(map(_block, blocks))


def statement(latex: str, text: str) -> str:
    """A statement on a line of its own."""
    return f"<div>{formula(latex, text, block=True)}</div>"


def escaped(text: str) -> str:
    """A text that no markup comes out of."""
    return escape(visible(text))


def latex_text(text: str) -> str:
    r"""A text as LaTeX reads it.

    >>> latex_text("50 % of x_1")
    '\\text{50 \\% of x\\_1}'
    """
    escaped = _ESCAPED.sub(lambda found: _SPECIAL[found[0]], visible(text))
    return rf"\text{{{escaped}}}"


def latex_rows(rows: Iterable[tuple[str, str]]) -> str:
    r"""Names beside formulas, as a display of LaTeX; a row without a formula is left out.

    >>> latex_rows([("gap", r"s \to 2"), ("none", "")])
    '$$\\begin{array}{ll}\\text{gap} & \\displaystyle s \\to 2\\end{array}$$'
    """
    lines = [rf"{latex_text(name)} & \displaystyle {found}" for name, found in rows if found]
    body = r" \\ ".join(lines)
    return rf"$$\begin{{array}}{{ll}}{body}\end{{array}}$$" if lines else ""


def _block(block: Block) -> str:
    match block:
        case Heading():
            verdict = (
                f" <strong>{escaped(signed(block.status, block.within, block.reached, block.alone))}</strong>"
                if block.status
                else ""
            )
            return f"<h4>{escaped(block.text)}{verdict}</h4>"
        case Paragraph():
            return f"<p>{escaped(block.text)}</p>"
        case Lines():
            return f"<pre>{escaped(chr(10).join(block.lines))}</pre>"
        case Table():
            head = "".join(f"<th>{escaped(cell)}</th>" for cell in block.head)
            rows = "".join(f"<tr>{''.join(f'<td>{escaped(cell)}</td>' for cell in row)}</tr>" for row in block.rows)
            return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        case _:
            return ""
