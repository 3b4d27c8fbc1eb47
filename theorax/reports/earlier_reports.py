"""Reports of earlier versions, as values of the present one.

| version | differs from the next |
|---|---|
| 7 | a claim names its kind without the words of that kind |
| 8 | a theorem has `references`, a keyword that no longer exists |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from theorax.decide import exact_kinds, inequalities, laws, limits, means, probabilities, rates
from theorax.decide.kinds import KindWords
from theorax.text.codec import completed, plain

ROWS = (
    limits.WORDS, rates.WORDS, laws.WORDS, inequalities.WORDS, probabilities.WORDS, means.WORDS, means.QUANTILES,
    exact_kinds.IDENTITY, exact_kinds.OPTIMUM, exact_kinds.IMPOSSIBILITY,
)  # fmt: skip
"""Words of the kinds of version 7."""

DELETED_OF_THEOREM = ("references",)
"""Fields of a theorem that the present version does not have."""


def brought_up(document: type, found: Mapping[str, Any], version: int) -> dict[str, Any]:
    """JSON values of an earlier version, as those of ``version``: without deleted fields, with the words of each kind."""
    whole: dict[str, Any] = {**completed(document, found), "schema_version": version}
    for theorem in whole.get("theorems", ()):
        for name in DELETED_OF_THEOREM:
            theorem.pop(name, None)
        if found["schema_version"] < 8:
            _add_words(theorem)
    return whole


def _add_words(theorem: Mapping[str, Any]) -> None:
    rows = {row.kind: plain(row) for row in ROWS}
    for claim in theorem.get("claims", ()):
        if "words" in claim:
            claim["words"] = rows.get(str(claim.get("kind")), plain(KindWords(str(claim.get("kind", "")))))
