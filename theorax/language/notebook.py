"""A theorem as a notebook shows it: where it comes from, its letters, its hypotheses, and its claims as formulas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from theorax.language.notation import meanings
from theorax.text import hypertext, plain
from theorax.text.blocks import Block, Heading, Lines, Paragraph

if TYPE_CHECKING:
    from theorax.language.claims import Claim
    from theorax.language.theorem import Theorem


def shown(theorem: Theorem) -> dict[str, str]:
    """The theorem as text, as HTML with MathML, and its claims in LaTeX."""
    head, tail = list(_head(theorem)), list(_tail(theorem))
    claims = theorem.claims.items()
    text = [*head, *(block for name, claim in claims for block in _claim(name, claim)), *tail]
    typeset = "".join(
        hypertext.render(_claim(name, claim)[:1])
        + hypertext.statement(claim.latex, claim.typeset)
        + hypertext.render(_claim(name, claim)[2:])
        for name, claim in claims
    )
    latex = hypertext.latex_rows((name, claim.latex) for name, claim in claims)
    return hypertext.bundle(
        plain.render(text).rstrip("\n"), hypertext.render(head) + typeset + hypertext.render(tail), latex
    )


def _head(theorem: Theorem) -> Iterator[Block]:
    yield Heading(f"{theorem.place} ({theorem.label})")
    for letter, meaning in meanings(theorem.claims.values()):
        yield Paragraph(f"{letter}: {meaning}", hang=2)
    if theorem.hypotheses:
        yield Heading("Hypotheses")
    for part in theorem.hypotheses:
        yield Paragraph(f"{part.name}: {part.sentence}", hang=2)


def _claim(name: str, claim: Claim) -> list[Block]:
    found: list[Block] = [Heading(f"Claim {name} ({claim.kind})"), Lines(tuple(claim.typeset.split("\n")))]
    if claim.corrected is not None:
        found.append(Paragraph(f"This is what the source prints; what holds is the claim {claim.corrected}."))
    if claim.margin is not None:
        found.append(Paragraph(f"Margin {claim.margin}, because {claim.margin.reason}.", quiet=True))
    return found


def _tail(theorem: Theorem) -> Iterator[Block]:
    if theorem.uses:
        yield Heading("Rests on")
        yield Paragraph(", ".join(theorem.uses))
