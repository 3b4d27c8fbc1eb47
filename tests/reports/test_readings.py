"""A claim off its value and inside its margin, in every rendering: the word, the first sentence, the reading."""

from __future__ import annotations

import json
from dataclasses import replace

import fakes
import pytest
from test_document import report

from theorax.decide.findings import Finding, Found
from theorax.decide.status import Reading
from theorax.reports import build_findings, last_screen, markdown
from theorax.reports.default_report import default_report
from theorax.reports.document import Document
from theorax.reports.json import text
from theorax.reports.reading import current
from theorax.reports.renderings import render
from theorax.reports.theorem_text import theorem_blocks
from theorax.runs.store import Store
from theorax.text import plain
from theorax.verifiers.outcome import TheoremOutcome

NEAR = "Not exactly 2 (found 1.950(4)), but within your margin of 0.1."
INSIDE = "Within 0.1 of 2; not exactly 2 (found 1.950(4))."


def outcome(reading: Reading, within: bool = True) -> TheoremOutcome:
    """A theorem of which one claim is off its value."""
    exact = reading is Reading.EXACT
    base = fakes.outcome("gap", "REFUTED" if exact else "SUPPORTED", "gap: it is off" if exact else None)
    off = Found(
        Finding.TEST_REFUTED if exact else Finding.TEST_SUPPORTED,
        "The data exclude the claimed value (risk 1.5 %)." if exact else "The data exclude an error of 0.1 or more.",
        within=(NEAR if exact else INSIDE) if within else "",
    )
    first, *others = base.claims
    return replace(base, claims=(replace(first, reading=reading).settled_by([off]), *others))


def document(reading: Reading, within: bool = True) -> Document:
    return report(outcome(reading, within))


@pytest.mark.parametrize("reading", Reading)
def test_the_document_says_how_a_claim_was_read(reading: Reading) -> None:
    found = document(reading)
    kept = json.loads(text(found))
    told = kept["theorems"][0]["claims"][0]
    assert (told["reading"], told["within_margin"]) == (reading.value, True)
    assert told["sentence"].startswith(NEAR if reading is Reading.EXACT else INSIDE)
    assert found.summary.exit_code == (1 if reading is Reading.EXACT else 0)
    assert current(kept) == found


def test_a_document_that_says_otherwise_is_refused() -> None:
    kept = json.loads(text(document(Reading.EXACT)))
    kept["theorems"][0]["claims"][0]["within_margin"] = False
    with pytest.raises(Exception, match="does not follow from the findings"):
        current(kept)


def test_the_word_says_that_it_is_within_the_margin() -> None:
    found = document(Reading.EXACT)
    (part,) = found.theorems
    word = "✗ REFUTED (within margin)"
    assert plain.render(default_report(found, part)).startswith(f"{word}  gap")
    assert NEAR in plain.render(default_report(found, part)).replace("\n          ", " ")
    for told in (
        plain.render(theorem_blocks(part)),
        markdown.brief(part),
        render("html", found),
        "\n".join(last_screen.last_screen(found)),
    ):
        assert "REFUTED (within margin)" in told
    assert {row.title for row in build_findings.findings_of_build(found)} & {f"{word} gap.gap", f"{word} gap"}
    beyond = document(Reading.EXACT, within=False)
    assert "within margin" not in plain.render(default_report(beyond, beyond.theorems[0]))


def test_one_claim_beyond_its_margin_speaks_for_the_theorem() -> None:
    near = outcome(Reading.EXACT)
    far = replace(near.claims[0].settled_by([Found(Finding.TEST_REFUTED, "It is off.")]), id="other")
    (part,) = report(replace(near, claims=(near.claims[0], far))).theorems
    assert not part.within_margin
    assert report(near).theorems[0].within_margin


def test_a_claim_read_with_its_margin() -> None:
    found = document(Reading.MARGIN)
    (part,) = found.theorems
    told = plain.render(default_report(found, part))
    assert told.startswith("✓ SUPPORTED  gap")
    assert INSIDE in told and ", within 0." in told
    assert "the claim is read with its margin" in plain.render(theorem_blocks(part)).replace("\n  ", " ")
    exactly = document(Reading.EXACT)
    assert "the claim is read exactly" in plain.render(theorem_blocks(exactly.theorems[0])).replace("\n  ", " ")


def test_the_store_finds_what_lies_within_its_margin(tmp_path) -> None:
    manifest = {"setting seed": "0", "setting at": "()", "setting sizes": "()", "setting model": "None"}
    store = Store(tmp_path)
    for reading in Reading:
        kept = replace(outcome(reading), id=f"near_{reading}")
        store.put({**manifest, "theorem": kept.id}, kept, "2026-01-02T03:04:05Z")
    store.put({**manifest, "theorem": "gap"}, fakes.outcome("gap", "REFUTED", "off"), "2026-01-02T03:04:05Z")
    assert store.within_margin() == {"near_exact", "near_margin"}
