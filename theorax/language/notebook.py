"""A theorem as a notebook shows it: where it comes from, its letters, its hypotheses, and its claims as formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from theorax.language.claims import Claim
from theorax.language.hypothesis import Hypotheses
from theorax.language.notation import meanings
from theorax.text import hypertext, plain
from theorax.text.blocks import Block, Heading, Lines, Paragraph


def theorem_bundle(
    source: str, hypotheses: Hypotheses, claims: Mapping[str, Claim], uses: tuple[str, ...]
) -> dict[str, str]:
    """A theorem as text, as HTML with MathML, and its claims in LaTeX; ``source`` is its place and label."""
    head, tail = list(_head(source, hypotheses, claims)), list(_tail(uses))
    text = [*head, *(block for name, claim in claims.items() for block in _claim(name, claim)), *tail]
    typeset = "".join(
        hypertext.render(_claim(name, claim)[:1])
        + hypertext.statement(claim.latex, claim.typeset)
        + hypertext.render(_claim(name, claim)[2:])
        for name, claim in claims.items()
    )
    latex = hypertext.latex_rows((name, claim.latex) for name, claim in claims.items())
    return hypertext.bundle(
        plain.render(text).rstrip("\n"), hypertext.render(head) + typeset + hypertext.render(tail), latex
    )


def _head(source: str, hypotheses: Hypotheses, claims: Mapping[str, Claim]) -> Iterator[Block]:
    yield Heading(source)
    for letter, meaning in meanings({symbol for claim in claims.values() for symbol in claim.letters}):
        yield Paragraph(f"{letter}: {meaning}", hang=2)
    if hypotheses:
        yield Heading("Hypotheses")
    for part in hypotheses:
        yield Paragraph(f"{part.name}: {part.sentence}", hang=2)


def _claim(name: str, claim: Claim) -> list[Block]:
    found: list[Block] = [Heading(f"Claim {name} ({claim.kind})"), Lines(tuple(claim.typeset.split("\n")))]
    if claim.corrected is not None:
        found.append(Paragraph(f"This is what the source prints; what holds is the claim {claim.corrected}."))
    if claim.margin is not None:
        found.append(Paragraph(f"Margin {claim.margin}, because {claim.margin.reason}.", quiet=True))
    return found


def _tail(uses: tuple[str, ...]) -> Iterator[Block]:
    if uses:
        yield Heading("Rests on")
        yield Paragraph(", ".join(uses))
