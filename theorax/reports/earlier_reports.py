"""Reports of earlier versions, as values of the present one.

| version | differs from the next |
|---|---|
| 7 | a claim names its kind without the words of that kind |
| 8 | fields of what no longer exists (``DROPPED`` of their types); findings of nightly runs |
| 9 | a verdict is the one that all claims of its run supported, beside its own; a flag "with log n"; no search, nothing seen |

A verdict of version 9 becomes its own, at the level that it was decided at then. The statement about the run is made at
today's levels, from the p-values over the run that the report holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from theorax.decide import exact_kinds, inequalities, laws, limits, means, probabilities, rates
from theorax.decide.error_budget import Adjusted, by_adjusted, holds_over_run
from theorax.decide.findings import Finding, Found
from theorax.decide.kinds import KindWords
from theorax.decide.status import Status
from theorax.decide.verdict import settled_fields
from theorax.reports.document import RunStatement, exit_code
from theorax.text.codec import built, completed, json_values

ROWS = (
    limits.WORDS, rates.WORDS, laws.WORDS, inequalities.WORDS, probabilities.WORDS, means.WORDS, means.QUANTILES,
    exact_kinds.IDENTITY, exact_kinds.OPTIMUM, exact_kinds.IMPOSSIBILITY,
)  # fmt: skip
"""Words of the kinds of version 7."""

FELL = "not significant among all claims of the run"
"""The finding of version 9 by which a claim lost its word to the others."""

_GREEN = tuple(status for status in Status if status.holds)
NIGHTS_REFUTED = "its nights together exclude it"
NIGHT_ALONE = "tonight's data exclude it, its nights together do not"


def brought_up(document: type, found: Mapping[str, Any], version: int) -> dict[str, Any]:
    """JSON values of an earlier version, as those of ``version``: without deleted fields, with the words of each kind."""
    whole: dict[str, Any] = {**completed(document, found), "schema_version": version}
    for before, theorem in zip(_objects(found, "theorems"), _objects(whole, "theorems"), strict=True):
        for claim in _objects(theorem, "claims"):
            if findings := _objects(claim, "findings"):
                claim["findings"] = _without_nights(findings)
            if found["schema_version"] < 8:
                _add_words(claim)
        _take_own_words(before, theorem)
    if _objects(found, "theorems") and any(map(_fell, _objects(found, "theorems"))):
        _count_again(whole)
    whole["together"] = json_values(_statement(whole))
    return whole


def _fell(theorem: Mapping[str, Any]) -> bool:
    """True if the others of its run took a word from a theorem, or from one of its claims."""
    return any(map(_has_lost, (theorem, *_objects(theorem, "claims"))))


def _has_lost(part: Mapping[str, Any]) -> bool:
    """True if the word is one that the others of a run leave; any other that differs was edited, and is refused."""
    left = part.get("status") in (Status.INCONCLUSIVE, Status.BLOCKED)
    return left and part.get("status") != part.get("status_unadjusted")


def _take_own_words(before: Mapping[str, Any], theorem: dict[str, Any]) -> None:
    """Give a theorem and its claims their own words, where they had those of their run."""
    if not _fell(before):
        return
    worst = ""
    for was, claim in zip(_objects(before, "claims"), _objects(theorem, "claims"), strict=True):
        if _has_lost(was):
            own = [part for part in _objects(claim, "findings") if part.get("finding") != FELL]
            claim.update(json_values(settled_fields(built(tuple[Found, ...], own))))
        if not worst and claim.get("corrected") is None and claim.get("status") == before.get("status_unadjusted"):
            worst = f"{claim.get('id')}: {claim.get('sentence')}"
    if _has_lost(before):
        theorem["status"] = own_word = before.get("status_unadjusted")
        theorem["blocked_by"] = []
        theorem["reason"] = None if own_word in _GREEN else worst


def _count_again(whole: dict[str, Any]) -> None:
    """Count the words of the theorems again, where some have changed."""
    statuses = [theorem.get("status") for theorem in _objects(whole, "theorems")]
    if isinstance(summary := whole.get("summary"), dict) and all(status in tuple(Status) for status in statuses):
        words = [Status(str(status)) for status in statuses]
        refuted = any(
            word is Status.REFUTED and _holds_over_run(one)
            for word, one in zip(words, _objects(whole, "theorems"), strict=True)
        )
        summary["statuses"] = dict(Counter(statuses))
        summary["exit_code"] = exit_code(words, refuted=refuted, interrupted=summary.get("interrupted") is True)


def _holds_over_run(theorem: Mapping[str, Any]) -> bool:
    """True if a refutation of this theorem holds over the run."""
    refuting = [
        claim
        for claim in _objects(theorem, "claims")
        if claim.get("corrected") is None and claim.get("status") == Status.REFUTED
    ]
    return any(holds_over_run(Status.REFUTED, _adjusted(claim)) for claim in refuting)


def _statement(whole: Mapping[str, Any]) -> RunStatement:
    """The statement about the run of a report, from the words and the p-values over the run that it holds."""
    if whole.get("shard") is not None:
        return RunStatement.of_shard()
    words: dict[str, Status] = {}
    adjusted: dict[str, Adjusted] = {}
    for theorem in _objects(whole, "theorems"):
        for claim in _objects(theorem, "claims"):
            name, status = f"{theorem.get('id')}.{claim.get('id')}", claim.get("status")
            if status in tuple(Status):
                words[name] = Status(status)
            if (known := _adjusted(claim)) is not None:
                adjusted[name] = known
    return RunStatement.of(by_adjusted(words, adjusted))


def _adjusted(claim: Mapping[str, Any]) -> Adjusted | None:
    """The p-values of a claim over its run; None where it has none, or what was edited is none."""
    found = [claim.get(f"adjusted_{name}") for name in ("refute", "support")]
    numbers = [float(p) for p in found if isinstance(p, (int, float)) and not isinstance(p, bool)]
    return Adjusted(*numbers) if len(numbers) == 2 else None


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
