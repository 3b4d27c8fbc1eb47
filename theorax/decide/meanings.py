"""The word of a verdict in the terms of its claim: the values that the data exclude, or that they leave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from theorax.decide.phrases import LASTING, factor_text
from theorax.decide.status import Reading, Reason, Side, Status
from theorax.decide.verdict import Verdict
from theorax.text.numbers import as_typed, number

__all__ = ["meaning", "reached"]


class _Words(NamedTuple):
    """Words for the values that make a claim with value v and margin m true, and for those that make it false."""

    true: str
    near: str  # the same under the margin reading
    off: str
    shown: str  # distance shown under the margin reading
    beside: str  # values shown where the claimed one is excluded all the same


_SIDES: Mapping[Side, _Words] = {
    Side.EQUAL: _Words(
        "of {v}", "within {m} of {v}", "is {m} or more away from {v}", "within {m} of {v}", "not exactly {v}"
    ),
    Side.AT_MOST: _Words(
        "of {v} or less", "of {v} + {m} or less", "is {m} or more above {v}", "at most {m} above {v}", "above {v}"
    ),
    Side.AT_LEAST: _Words(
        "of {v} or more", "of {v} - {m} or more", "is {m} or more below {v}", "at most {m} below {v}", "below {v}"
    ),
}


def reached(claim: Verdict) -> str:
    """Distance from the claimed value that a supported claim was shown to keep, read with its margin; else empty.

    Cases that claim different values have no one distance.
    """
    if claim.status is not Status.SUPPORTED or claim.reading is not Reading.MARGIN:
        return ""
    values = {(case.predicted, case.margin) for case in claim.cases}
    if not claim.words.quantity.is_named or len(values) != 1:
        return ""
    ((value, margin),) = values
    if value is None or margin is None:
        return ""
    words = _SIDES[claim.side]
    parts = (words.shown, words.beside) if claim.within_margin else (words.shown,)
    return "; ".join(parts).format(v=as_typed(value), m=number(margin, 3))


def meaning(claim: Verdict) -> str:
    """The word in the terms of the claim: with its number where it has one, else in the words of its kind."""
    quantity, case = claim.words.quantity, claim.deciding
    if not quantity.is_named or case is None or case.predicted is None or case.margin is None:
        word = _word(claim)
        return f"{word[:1].upper()}{word[1:]}." if word else ""
    a, words = "an" if quantity.name[0] in "aeiou" else "a", _SIDES[claim.side]
    shown = {"v": as_typed(case.predicted), "m": number(case.margin, 3)}
    true = (words.near if claim.reading is Reading.MARGIN else words.true).format(**shown)
    off = words.off.format(**shown)
    sentences = {
        Status.SUPPORTED: f"The data exclude {a} {quantity.name} that {off}.",
        Status.REFUTED: f"The data exclude {a} {quantity.name} {true}.",
        Status.INCONCLUSIVE: f"The data fit {a} {quantity.name} {true}, and one that {off} too.",
    }
    if claim.reason is Reason.CLASS:
        return (
            "The data decide only if corrections at finite sizes are those declared, and a form outside them fits too."
        )
    return f"{_rests(claim)}{sentences.get(claim.status, '')}"


def _rests(claim: Verdict) -> str:
    """The class on which a refutation along sizes rests, and the factor at which it fails; else empty."""
    case = claim.deciding
    if claim.status is not Status.REFUTED or claim.as_ is None or case is None or not case.bias:
        return ""
    factor = case.breakdown
    fails = f"; undecided at {factor_text(factor)} times" if factor is not None and factor < LASTING else ""
    return f"REFUTED if corrections are at most those declared{fails}. "


def _word(claim: Verdict) -> str:
    """The word of a verdict in the words of its kind, else as of any claim; empty for what was not judged."""
    own, status = claim.words.meanings, claim.status
    if status in (Status.BLOCKED, Status.ERROR):
        return ""
    words = {
        Status.SUPPORTED: (claim.within_margin and own.within) or own.supported,
        Status.REFUTED: (claim.reading is Reading.MARGIN and own.beyond) or own.refuted,
        Status.INCONCLUSIVE: own.inconclusive,
    }
    return words.get(status) or status.meaning
