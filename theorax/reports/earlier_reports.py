"""Reports of the previous version, in which a claim names its kind without the words of that kind."""

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
"""Words of the kinds of the previous version."""


def brought_up(document: type, found: Mapping[str, Any], version: int) -> dict[str, Any]:
    """JSON values of the previous version, as those of ``version``: claims get the words of their kind."""
    rows = {row.kind: plain(row) for row in ROWS}
    whole: dict[str, Any] = {**completed(document, found), "schema_version": version}
    for theorem in whole.get("theorems", ()):
        for claim in theorem.get("claims", ()):
            if "words" in claim:
                claim["words"] = rows.get(str(claim.get("kind")), plain(KindWords(str(claim.get("kind", "")))))
    return whole
