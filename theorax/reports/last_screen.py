"""The last screen of a run over many theorems: a row per paper, then what needs a person, then the counts."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from theorax.decide.findings import ShownBy
from theorax.decide.phrases import factor_text
from theorax.decide.status import Status
from theorax.decide.strength import Reach
from theorax.names import many
from theorax.reports.claim_lines import claim_numbers, fitted, left_and_right, wrap
from theorax.reports.document import ClaimReport, Document, TheoremReport, urgency
from theorax.text.numbers import duration
from theorax.text.plain import WIDTH, padded, terminal_width
from theorax.text.signs import SIGNS, signed

NAMED = 2  # fragile claims that are named; the others are counted
LINES = 3  # lines of the sentence of what failed
UNCHECKED_LINES = 8  # lines of the sentence why a theorem could not be checked, which says what to write
TOGETHER = 4  # lines of the statement about the run
NEEDS = 12  # columns before the text of a row
COUNTED = {
    Status.REFUTED: "refuted",
    Status.ERROR: "in error",
    Status.INCONCLUSIVE: "undecided",
    Status.VACUOUS: "vacuous",
    Status.BLOCKED: "blocked",
}
"""The words of the last line for theorems that do not hold, in its order."""
HEADS = ("hold", "proved", "certified", "measured")
FOUND_AGAIN = (Status.REFUTED, Status.ERROR, Status.INCONCLUSIVE, Status.VACUOUS, Status.BLOCKED)
"""The statuses that ``--lf`` selects."""


def _reaches(parts: Sequence[TheoremReport]) -> list[Reach]:
    """The reach of every extrapolated claim of these theorems by its whole name, the weakest first."""
    found = ((part.id, claim.reach) for part in parts for claim in part.claims)
    return sorted(replace(reach, name=f"{id}.{reach.name}") for id, reach in found if reach is not None)


def last_screen(document: Document) -> tuple[str, ...]:
    """The lines of the last screen, none wider than the page."""
    return fitted([*_head(document), *_papers(document), *_needs(document), *_closing(document)])


def _asked(document: Document) -> list[str]:
    """The command of the run without its options."""
    try:
        words = shlex.split(document.command)
    except ValueError:  # a command that was edited
        words = document.command.split()
    first = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    return words[:first]


def _head(document: Document) -> list[str]:
    settings = document.settings
    counts = f"{many(len(document.theorems), 'theorem')}  {many(max(1, settings.jobs), 'core')}"
    kept = f"  {document.summary.kept} kept" if document.summary.kept else ""
    shard = f"shard {document.shard.number}/{document.shard.of} of " if document.shard is not None else ""
    return left_and_right(
        f"{shard}{' '.join(_asked(document)[:2])}  {settings.effort}  {counts}{kept}",
        duration(document.summary.seconds),
    )


def _papers(document: Document) -> Iterator[str]:
    """A row per paper: how many hold, by what its claims were shown, its weakest claim."""
    papers = list(dict.fromkeys(part.paper for part in document.theorems))
    if not papers:
        return
    width = min(max(terminal_width(paper) for paper in (*papers, "paper")), WIDTH - 50)
    yield f"  {padded('paper', width)}  {'hold':>6}  {'proved':>7}  {'certified':>9}  {'measured':>8}   weakest"
    for paper in papers:
        parts = [part for part in document.theorems if part.paper == paper]
        claims = [claim for part in parts for claim in part.claims if claim.status.holds]
        shown = [sum(claim.shown_by is by for claim in claims) for by in ShownBy]
        weakest = next(iter(_reaches(parts)), None)
        last = f"× {factor_text(weakest.factor)}{' FRAGILE' * weakest.fragile}" if weakest is not None else ""
        hold = f"{sum(part.status.holds for part in parts)}/{len(parts)}"
        proved, certified, measured = shown
        name = paper if terminal_width(paper) <= width else f"{paper[: width - 1]}…"
        yield f"  {padded(name, width)}  {hold:>6}  {proved:>7}  {certified:>9}  {measured:>8}   {last}".rstrip()


def _needs(document: Document) -> Iterator[str]:
    """Rows for what needs a person, the most urgent last; of what holds only the fragile is named."""
    fragile = [claim for claim in _reaches(document.theorems) if claim.fragile]
    if fragile:
        named = ", ".join(f"{claim.name} × {factor_text(claim.factor)}" for claim in fragile[:NAMED])
        more = f", {len(fragile) - NAMED} more (verify list)" if len(fragile) > NAMED else ""
        yield from _row("! FRAGILE", f"{named}{more}")
    yield from _blocked(document)
    failed = [part for part in document.theorems if not part.status.holds and part.status is not Status.BLOCKED]
    for part in sorted(failed, key=lambda part: urgency(part.status)):
        yield from _failed(part)


def _blocked(document: Document) -> Iterator[str]:
    """The theorems that wait, by what they wait for."""
    waiting: dict[tuple[str, ...], list[str]] = {}
    for part in document.theorems:
        if part.status is Status.BLOCKED:
            waiting.setdefault(part.blocked_by, []).append(part.id)
    for causes, ids in waiting.items():
        verb = "waits" if len(ids) == 1 else "wait"
        yield from _row(signed(Status.BLOCKED), f"{len(ids)} {verb} for {', '.join(causes)}: {', '.join(ids)}")


def _failed(part: TheoremReport) -> Iterator[str]:
    """One theorem that does not hold: its claims that fail, with the place of each statement."""
    claims = [claim for claim in part.claims if not claim.status.holds and claim.corrected is None]
    for claim in claims:
        yield from _row(
            signed(claim.status, claim.within_margin, alone=claim.alone),
            f"{part.id}.{claim.id}   {claimed_and_found(claim) or claim.sentence}",
        )
        if part.file:
            place = f"{part.file}:{claim.line}" if claim.line else part.file
            yield " " * max(0, min(NEEDS, WIDTH - terminal_width(place))) + place
    if not claims:
        yield from _row(signed(part.status), f"{part.id}   {part.why}", UNCHECKED_LINES)
    if part.log:
        yield from _row("", f"the full traceback: {part.log}")


def claimed_and_found(claim: ClaimReport) -> str:
    """Claimed and found of a refuted claim; empty for others."""
    case = claim.deciding
    if claim.status is not Status.REFUTED or case is None or case.estimate is None or claim.rigorous:
        return ""
    numbers = claim_numbers(claim)
    return ", ".join(part for part in (numbers.claimed, numbers.found) if part)


def _row(label: str, text: str, lines: int = LINES) -> Iterator[str]:
    column = max(NEEDS, terminal_width(label) + 2)
    for at, line in enumerate(wrap(text, WIDTH - column, 0, lines)):
        yield f"{padded(label if at == 0 else '', column)}{line}".rstrip()


def _closing(document: Document) -> Iterator[str]:
    """Counts, the statement about the run, and the commands for what to do next."""
    statuses = document.summary.statuses
    counts = [f"{statuses[name]} {word}" for name, word in COUNTED.items() if name in statuses]
    if document.summary.unfinished:
        counts.append(f"{len(document.summary.unfinished)} not finished")
    told = ", ".join([f"{document.hold} of {document.asked} hold", *counts]) + "."
    yield from wrap(told)
    if document.theorems:
        yield from wrap(document.together.sentence, lines=TOGETHER)
    base = " ".join(_asked(document)[:2])
    page = "Page: verify audit" if base != "verify audit" else ""
    again, *rest = wrap(f"Again: {_again(document)}", hang=2)
    yield from (again, *rest, *([page] if page else [])) if rest else left_and_right(again, page)


def _again(document: Document) -> str:
    """The command that repeats what did not hold, or the whole run where all holds."""
    failed = [part for part in document.theorems if not part.status.holds]
    words = _asked(document)
    if len(failed) == 1:
        return failed[0].replay
    whole = shlex.join(words) if words[:2] == ["verify", "theorem"] else "verify all"
    return f"{whole}{' --lf' if failed else ''} {document.settings.settings().options}"


def check_line(number: int, total: int, status: str, id: str, took: str) -> str:
    """One finished check of a build's log.

    >>> check_line(12, 73, "SUPPORTED", "rank_collapse_width", "3 s")
    '12/73 ✓ SUPPORTED rank_collapse_width (3 s)'
    """
    return f"{number:>{len(str(total))}}/{total} {SIGNS.get(status, '·')} {status} {id} ({took})"
