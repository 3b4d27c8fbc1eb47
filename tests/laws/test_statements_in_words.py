"""Every theorem file opens with the theorem in words and the idea of its proof."""

from __future__ import annotations

import ast

import pytest

from theorax.theorems.catalogue import IDEA, STATEMENT, Catalogue, paragraph

CATALOGUE = Catalogue()
LINES, WIDTH = 12, 100


def faults(docstring: str) -> list[str]:
    """What is wrong with the opening of a theorem file."""
    title, _, body = docstring.partition("\n\n")
    lines, parts = body.rstrip().split("\n"), body.rstrip().split("\n\n")
    wrong = [] if "\n" not in title else ["its title has more than one line"]
    if [part.startswith(head) for part, head in zip(parts, (STATEMENT, IDEA), strict=False)] != [True, True] or len(
        parts
    ) != 2:
        wrong.append(f"it is not a paragraph {STATEMENT} and a paragraph {IDEA}")
    if len(lines) > LINES:
        wrong.append(f"{len(lines)} lines")
    return wrong + [f"a line of {len(line)} characters" for line in lines if len(line) > WIDTH]


NOT_YET: set[str] = set()
"""Papers whose theorems are still to be stated in words."""


def test_every_theorem_is_stated_in_words() -> None:
    docstrings = {id: ast.get_docstring(ast.parse(CATALOGUE.path(id).read_bytes())) or "" for id in CATALOGUE.ids}
    wrong = {id: found for id, text in docstrings.items() if (found := faults(text))}
    assert {id: found for id, found in wrong.items() if CATALOGUE.paper(id) not in NOT_YET} == {}
    assert {CATALOGUE.paper(id) for id in wrong} == NOT_YET, "a paper that is done is not listed"


@pytest.mark.parametrize(
    "docstring",
    [
        "A title.\n\nWords that are neither.",
        "A title.\n\n**Theorem.** Let n be odd. Then it is.",
        "A title.\n\n**Idea.** Parity.\n\n**Theorem.** Let n be odd.",
        "A title.\n\n**Theorem.** Let n.\n\n**Idea.** Parity.\n\nMore.",
        "A title.\n\n**Theorem.** " + "n " * 60 + "\n\n**Idea.** Parity.",
        "A title.\n\n**Theorem.** " + "n\n" * 12 + "\n**Idea.** Parity.",
    ],
)
def test_another_opening_is_found(docstring: str) -> None:
    assert faults(docstring)


def test_a_paragraph_is_read_without_its_head_on_one_line() -> None:
    docstring = "A title.\n\n**Theorem.** Let n\nbe odd.\n\n**Idea.** Parity."
    assert (paragraph(docstring, STATEMENT), paragraph(docstring, IDEA)) == ("Let n be odd.", "Parity.")
    assert paragraph("A title.", STATEMENT) == ""
