"""Agreement of a report with itself: every status computed again from the findings of the claims that it stands for.

What follows from one claim's own findings its type holds (`Verdict`), the summary is held by the document. Here a
theorem's status is held against its claims, a claim's status alone against its findings, and what blocks against what
is blocked. A report that was edited to read better than its claims is refused by the field that does not follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from theorax.decide.findings import Finding, settle
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
            _follows(f"{place}.claims[{index}].status_unadjusted", claim.status_unadjusted, _alone(claim))
        for name, stated, right in _statuses(part):
            _follows(f"{place}.{name}", stated, right)
        _follows(f"{place}.blocked_by", bool(part.blocked_by), part.status is Status.BLOCKED)
        # A shard blocks nothing: that waits for the other shards.
        if document.shard is None and part.status.holds and (failed := sorted(_failed(part, document))):
            raise Malformed(f"{place}.status", f"it is {part.status}, but it rests on {', '.join(failed)}")
    fell = {
        f"{part.id}.{claim.id}"
        for part in document.theorems
        for claim in part.claims
        if claim.status is not claim.status_unadjusted
    }
    if unnamed := sorted(fell - set(document.suite.changed)):
        raise Malformed(".suite.changed", f"it does not name {', '.join(unnamed)}, which fell among all claims")
    return document


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


def _alone(claim: ClaimReport) -> Status:
    """The status of a claim without the other claims of its run."""
    return settle(part.finding for part in claim.findings if part.finding is not Finding.FELL_IN_SUITE)


def _statuses(part: TheoremReport) -> Iterator[tuple[str, Status, Status]]:
    """The statuses of a theorem by name: the one given, and the one that follows from its claims."""
    blocked = part.status is Status.BLOCKED
    if not part.claims:
        for name in ("status", "status_unadjusted"):
            given = getattr(part, name)
            yield name, given, given if given in UNFINISHED else Status.ERROR
        return
    yield "status", part.status, Status.BLOCKED if blocked else overall(part.claims)[0]
    standing = [claim.status_unadjusted for claim in part.claims if claim.corrected is None]
    alone = max(standing, key=lambda status: status.severity, default=Status.ERROR)
    # Blocked before the adjustment or by it: neither word says that it holds.
    given = part.status_unadjusted
    yield "status_unadjusted", given, given if blocked and given is Status.BLOCKED else alone


def _failed(part: TheoremReport, document: Document) -> Iterator[str]:
    """The theorems of this report that it rests on and that do not hold."""
    for name in part.uses:
        if name != part.id and name in document.by_id and not document.by_id[name].status.holds:
            yield f"{name} ({document.by_id[name].status})"


def _follows(place: str, given: Any, right: Any) -> None:
    if given is not right:
        raise Malformed(place, f"{given!r} does not follow from the claims, {right!r} does")
