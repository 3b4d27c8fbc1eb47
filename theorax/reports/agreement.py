"""Agreement of a report with itself: every status computed again from the findings of the claims that it stands for.

What follows from one claim's own findings its type holds (`Verdict`), the summary is held by the document. Here a
theorem's status is held against its claims, what blocks against what is blocked, and the statement about the run against
the p-values of its claims. A report that was edited to read better than its claims is refused by the field that does
not follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from theorax.decide.error_budget import member
from theorax.decide.status import Status
from theorax.reports.document import ClaimReport, Document, TheoremReport
from theorax.text.codec import Malformed
from theorax.text.plot import LARGEST
from theorax.verifiers.outcome import overall

__all__ = ["held_together"]

UNFINISHED = (Status.INCONCLUSIVE, Status.BLOCKED, Status.ERROR)
"""Statuses of a theorem without claims: its check did not end, so it is neither established nor refuted."""


def held_together(document: Document) -> Document:
    """The document, if its statuses follow from its claims.

    **Raises:** Malformed with the first field that does not follow.
    """
    for at, part in enumerate(document.theorems):
        place = f".theorems[{at}]"
        for name, given, low, high in _bounded(part):
            if given is not None and not low <= given <= high:
                raise Malformed(f"{place}.{name}", f"it is {given:g}, and lies between {low:g} and {high:g}")
        for index, claim in enumerate(part.claims):
            _hold_adjusted(f"{place}.claims[{index}]", claim, is_shard=document.shard is not None)
        _follows(f"{place}.status", part.status, _status(part))
        _follows(f"{place}.blocked_by", bool(part.blocked_by), part.status is Status.BLOCKED)
        # A shard blocks nothing: that waits for the other shards.
        if document.shard is None and part.status.holds and (failed := sorted(_failed(part, document))):
            raise Malformed(f"{place}.status", f"it is {part.status}, but it rests on {', '.join(failed)}")
    _hold_statement(document)
    return document


def _hold_adjusted(place: str, claim: ClaimReport, *, is_shard: bool) -> None:
    """Refuse p-values over the run that are smaller than those of the claim, or where there are none."""
    own = member(claim, claim.attempt)
    for name in ("refute", "support"):
        adjusted, p = getattr(claim, f"adjusted_{name}"), getattr(own, f"p_{name}")
        if p is None or is_shard:
            _follows(f"{place}.adjusted_{name}", adjusted, None)
        elif adjusted is None or adjusted < p:
            raise Malformed(f"{place}.adjusted_{name}", f"{adjusted} is below the p-value of the claim, {p:g}")


def _hold_statement(document: Document) -> None:
    """Refuse a statement about the run that its claims contradict; a part of a report keeps the statement of the whole."""
    words = {(f"{part.id}.{claim.id}"): claim for part in document.theorems for claim in part.claims}
    for name, of_word in (("green_alone", _is_green), ("red_alone", _is_red)):
        stated = getattr(document.together, name)
        right = {id for id, claim in words.items() if of_word(claim.status) and claim.over_run is False}
        if wrong := sorted(right ^ (words.keys() & set(stated))):
            raise Malformed(f".together.{name}", f"it does not follow from the p-values of {', '.join(wrong)}")


def _is_green(status: Status) -> bool:
    return status.holds


def _is_red(status: Status) -> bool:
    return status is Status.REFUTED


def _bounded(part: TheoremReport) -> Iterator[tuple[str, float | None, float, float]]:
    """Numbers of a theorem by name that have bounds: what counts, what measures a spread, what is drawn."""
    for at, claim in enumerate(part.claims):
        yield f"claims[{at}].attempt", claim.attempt, 1, LARGEST
        for index, case in enumerate(claim.cases):
            yield f"claims[{at}].cases[{index}].estimate", case.estimate, -LARGEST, LARGEST
            for number, point in enumerate(case.points):
                place = f"claims[{at}].cases[{index}].points[{number}]"
                yield f"{place}.estimate", point.estimate, -LARGEST, LARGEST
                yield f"{place}.standard_error", point.standard_error, 0, LARGEST
    for at, control in enumerate(part.controls):
        yield f"controls[{at}].kill_probability", control.kill_probability, 0, 1


def _status(part: TheoremReport) -> Status:
    """The status of a theorem that follows from its claims."""
    if not part.claims:
        return part.status if part.status in UNFINISHED else Status.ERROR
    return Status.BLOCKED if part.status is Status.BLOCKED else overall(part.claims)[0]


def _failed(part: TheoremReport, document: Document) -> Iterator[str]:
    """The theorems of this report that it rests on and that do not hold."""
    for name in part.uses:
        if name != part.id and name in document.by_id and not document.by_id[name].status.holds:
            yield f"{name} ({document.by_id[name].status})"


def _follows(place: str, given: Any, right: Any) -> None:
    if given is not right:
        raise Malformed(place, f"{given!r} does not follow from the claims, {right!r} does")
