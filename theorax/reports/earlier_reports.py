"""Reports of earlier versions, as values of the present one.

| version | differs from the next |
|---|---|
| 7 | a claim names its kind without the words of that kind |
| 8 | fields of what no longer exists (``DROPPED`` of their types); findings of nightly runs |
| 9 | nothing of what a claim was seen at |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from theorax.decide import exact_kinds, inequalities, laws, limits, means, probabilities, rates
from theorax.decide.findings import Finding
from theorax.decide.kinds import KindWords
from theorax.text.codec import completed, json_values

ROWS = (
    limits.WORDS, rates.WORDS, laws.WORDS, inequalities.WORDS, probabilities.WORDS, means.WORDS, means.QUANTILES,
    exact_kinds.IDENTITY, exact_kinds.OPTIMUM, exact_kinds.IMPOSSIBILITY,
)  # fmt: skip
"""Words of the kinds of version 7."""

NIGHTS_REFUTED = "its nights together exclude it"
NIGHT_ALONE = "tonight's data exclude it, its nights together do not"


def brought_up(document: type, found: Mapping[str, Any], version: int) -> dict[str, Any]:
    """JSON values of an earlier version, as those of ``version``: without deleted fields, with the words of each kind."""
    whole: dict[str, Any] = {**completed(document, found), "schema_version": version}
    for theorem in _objects(whole, "theorems"):
        for claim in _objects(theorem, "claims"):
            if findings := _objects(claim, "findings"):
                claim["findings"] = _without_nights(findings)
            if found["schema_version"] < 8:
                _add_words(claim)
    return whole


def _objects(whole: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects in a list; the codec refuses a document that was edited and has something else there."""
    found = whole.get(name)
    return found if isinstance(found, list) and all(isinstance(part, dict) for part in found) else []


def _without_nights(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings that give the status which nightly runs gave, with its sentence.

    A finding of the nights decided before that of the last night, so it goes first. Where the nights did not refute what
    the last night refuted, the refutation of that night goes.
    """
    for at, part in enumerate(findings):
        others = [*findings[:at], *findings[at + 1 :]]
        if part.get("finding") == NIGHTS_REFUTED:
            return [{**part, "finding": Finding.TEST_REFUTED.value}, *others]
        if part.get("finding") == NIGHT_ALONE:
            left = [other for other in others if other.get("finding") != Finding.TEST_REFUTED]
            return [{**part, "finding": Finding.UNDECIDED.value}, *left]
    return findings


def _add_words(claim: dict[str, Any]) -> None:
    rows = {row.kind: json_values(row) for row in ROWS}
    if "words" in claim:
        claim["words"] = rows.get(str(claim.get("kind")), json_values(KindWords(str(claim.get("kind", "")))))
