"""The report of one theorem in about twenty lines: the answer first, then what was found, how strong, and what is blind.

Everything else is in `theorem_text`, by part.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from theorax.decide.facts import FactKey, by_key, facts
from theorax.decide.findings import ShownBy
from theorax.decide.kinds import KindWords
from theorax.decide.meanings import reached
from theorax.decide.phrases import factor_text, lasts, power_phrase, risk
from theorax.decide.promise import DERIVATION, EVERYWHERE, SPECIFIC, inputs_held_fixed, said_for
from theorax.decide.status import Reason, Status
from theorax.decide.verdict import Standing
from theorax.names import many
from theorax.reports.claim_facts import report_facts
from theorax.reports.claim_lines import claims_lines, fitted, left_and_right, wrap
from theorax.reports.document import CitedWork, ClaimReport, Document, TheoremReport
from theorax.reports.proof_rows import proof_rows
from theorax.text.blocks import Block, Gap, Lines
from theorax.text.numbers import duration
from theorax.text.plain import WIDTH, terminal_width
from theorax.text.signs import signed
from theorax.verifiers.outcome import Expected

LABEL = 11  # columns before the text of a row
LONGEST = 6  # lines of a row that holds a word wider than its column
HEAD = 3  # lines of title and source
GLUE = "\u00a0"  # a space at which no line ends
_OF_THE_MODEL = frozenset({Reason.INDISTINCT, Reason.UNREAD_SIZE})  # build has to change, and no design decides


@dataclass(frozen=True)
class Row:
    """One row below the claims: a label and its text; ``lines`` is how many it may take."""

    label: str
    text: str
    lines: int = 2

    def told(self) -> list[str]:
        """The row over as many lines as it may take; a command too long for its column has a line below the label."""
        room = WIDTH - LABEL
        if max(map(terminal_width, self.text.split(" "))) > room:
            parts = wrap(self.text, WIDTH - 2, 2, LONGEST)
            return [self.label, *(f"  {part}".replace(GLUE, " ") for part in parts)]
        parts = wrap(self.text, room, 0, self.lines)
        return [f"{self.label if at == 0 else '':<{LABEL}}{part}".replace(GLUE, " ") for at, part in enumerate(parts)]


def default_report(document: Document, part: TheoremReport) -> list[Block]:
    """The report of one theorem of a document."""
    works = {work.key: work for work in document.bibliography}
    head = _head(part, document.settings.effort, works.get(part.paper))
    blocks: list[Block] = [Lines(fitted(head), indent=0)]
    if part.claims:
        lines = claims_lines(part, scoped=_is_scoped(part))
        if any(len(claim.cases) > 1 and claim.worst is not None and not claim.rigorous for claim in part.claims):
            lines.append(f"{'the worst case of each; all cases: --show cases':>{WIDTH}}")
        blocks += [Gap(), Lines(fitted(lines), indent=0)]
    elif part.reason:
        blocks += [Gap(), Lines(fitted(wrap(part.reason, lines=8)), indent=0)]
    # The statement about several theorems stands below all of them.
    single = len(document.theorems) == 1 and document.together.tested > 1
    together = document.together.sentence if single else ""
    rows = [line for row in report_rows(part, document.settings.effort, together=together) for line in row.told()]
    return [*blocks, Gap(), Lines(fitted(rows), indent=0)]


def _head(part: TheoremReport, effort: str, work: CitedWork | None) -> Iterator[str]:
    """The word with its scope, the id, the time; then title and source."""
    took = f"kept {_day(part.kept_from)}" if part.kept_from is not None else duration(part.seconds)
    word, right = signed(part.status, part.within_margin, alone=part.alone), f"{took}, {effort}"
    if scope := _scope(part):
        yield from wrap(f"{word} {scope}", WIDTH, 2, 2)
        yield from left_and_right(part.id, right)
    else:
        yield from left_and_right(f"{word}  {part.id}", right)
    label = f" ({part.label})" if part.label else ""
    told = f"{part.title.rstrip('.')}." if part.title and part.title[-1] not in "?!" else part.title
    source = work.label if work is not None else ""
    full = ", ".join(text for text in (source, part.place) if text)
    for shown in (full, source):
        lines = wrap(f"{told}   {shown}{label}".strip(), WIDTH)
        if len(lines) <= HEAD:
            break
    yield from lines[: HEAD + 1]
    if part.model:
        yield from wrap(f"Judged on a model of yours: {part.model}.", WIDTH)


def _scopes(part: TheoremReport) -> set[tuple[str, str]]:
    """The scopes of what is proved or certified, each with that of what is measured beside."""
    return {(claim.proved_for or claim.scope, claim.measured_for) for claim in part.claims if claim.corrected is None}


def _is_scoped(part: TheoremReport) -> bool:
    """True if the word of the theorem carries the one scope of all its claims."""
    if part.status in (Status.PROVED, Status.CERTIFIED):
        return len(_scopes(part)) == 1
    return len(part.claims) == 1 and bool(reached(part.claims[0]))


def _scope(part: TheoremReport) -> str:
    """The scope of a proof, a certificate or a claim read with its margin, which belongs to the word; else empty."""
    if part.status is Status.SUPPORTED and _is_scoped(part):
        return f" {reached(part.claims[0])}"
    if part.status not in (Status.PROVED, Status.CERTIFIED) or not part.claims:
        return ""
    if not _is_scoped(part):
        return "for the scope on each claim's line"
    (proved, measured), *_ = _scopes(part)
    if not proved:
        return ""
    beside = f"; {Status.SUPPORTED}{said_for(measured)}" if measured else ""
    return f"{said_for(proved).lstrip()}{beside}"


def report_rows(part: TheoremReport, effort: str, *, more: str = "-v", together: str = "") -> list[Row]:
    """The rows below the claims; ``more`` says where a reader finds the rest, ``together`` is the statement about the run."""
    return [row for row in _rows(part, effort, more, together) if row.text]


def _rows(part: TheoremReport, effort: str, more: str, together: str) -> Iterator[Row]:
    claims = part.claims
    open_ = [claim for claim in claims if not claim.status.holds and claim.status is not Status.REFUTED]
    if part.claims and open_:
        yield Row("Why", _why(part, open_, more), 4)
        asking = [claim for claim in open_ if claim.status is Status.INCONCLUSIVE and claim.reason not in _OF_THE_MODEL]
        if part.selector and asking:
            yield Row("To decide", _command(f"{_asked('plan', part)} --effort {effort}"))
    if part.status is Status.BLOCKED and part.blocked_by:
        yield Row("Waits for", ", ".join(part.blocked_by), 4)
    yield Row("Strength", _strength(part), 3)
    yield Row(FactKey.SEARCHED.value, _searched(part), 3)
    yield Row("Risk", _risk(claims, more))
    yield Row("Together", together, 4)
    yield Row("Attacked", _attacked(part))
    yield Row("Power", _power(claims))
    yield Row("Variates", _variates(claims), 4)
    held = chain.from_iterable(claim.ledger for claim in claims if claim.status.holds)
    yield Row("Held fixed", inputs_held_fixed(held, f"listed: {more}"))
    conventions = (fact.value for claim in claims for fact in facts(claim) if fact.key is FactKey.CONVENTION)
    yield Row("Convention", "; ".join(dict.fromkeys(conventions)), 4)
    yield Row("Blind to", _blind(claims, more))
    settled = {claim.id: claim.proved_for for claim in claims if claim.shown_by is ShownBy.PROVED}
    beside = {claim.id: line.text for claim in claims for line in claim.ledger if line.kind == DERIVATION}
    rows = proof_rows(settled, part.proof, {})
    named = {claim.id for claim in claims} - beside.keys()
    yield Row("Derived", "; ".join(row.told for row in rows.derived if row.name in named))
    yield Row("Not derived", _first(list(beside.values()), more), 3)
    yield Row("Open step", _first(rows.open_steps, f"{more} --show proof"), 4)
    for one in part.not_asked:
        yield Row("Not asked", f"{one.claim}  needs {one.needs}; here {one.here}")
    if part.issues:
        short = len(part.issues) == 1 and len(part.issues[0]) <= WIDTH - LABEL
        yield Row("Caveats", part.issues[0] if short else f"{len(part.issues)}: {more}")
    if part.dependencies_unchecked:
        counted = many(len(part.dependencies_unchecked), "theorem")
        how = f": {_command(_asked('theorem', part, '+'))}" if part.selector else ""
        yield Row("Depends on", f"{counted} not checked here{how}")
    refuted = [claim for claim in claims if claim.status is Status.REFUTED and claim.corrected is None]
    if refuted and part.file:
        places = ", ".join(f"{claim.id} {part.file}:{claim.line}" for claim in refuted if claim.line)
        yield Row("Stated", places if len(refuted) > 1 else places.partition(" ")[2] or part.file, 4)
    if part.log:
        yield Row("Log", part.log, 4)
    yield Row("Again", _command(part.replay), 4)
    if part.selector and (narrow := next((claim for claim in refuted if claim.at), None)):
        at = ",".join(f"{letter}={value}" for letter, value in narrow.at.items())
        narrowed = _command(f"{_asked('theorem', part)} --at {at}")
        yield Row("Narrow", f"{narrowed}     {_command('(new draws, one case)')}", 4)


def _first(sentences: Sequence[str], more: str) -> str:
    """The first of these, and how many others there are."""
    if len(sentences) < 2:
        return "".join(sentences)
    return f"{sentences[0]} {len(sentences) - 1} more: {more}"


def _asked(command: str, part: TheoremReport, before: str = "") -> str:
    """A command about a theorem, by the words that select it; ``before`` stands before its id or path."""
    first, *rest = part.selector
    return shlex.join(["verify", command, before + first, *rest])


def _command(text: str) -> str:
    """A text that is not torn where it fits on a line."""
    return text.replace(" ", GLUE) if terminal_width(text) <= WIDTH - 2 else text


def _why(part: TheoremReport, claims: Sequence[ClaimReport], more: str) -> str:
    """The sentence that decided, and how many other claims are open."""
    told = part.reason if part.reason and part.status is not Status.REFUTED else f"{claims[0].id}: {claims[0].sentence}"
    return f"{told} {many(len(claims) - 1, 'more claim')}: {more}" if len(claims) > 1 else told


def _strength(part: TheoremReport) -> str:
    found = part.strength
    shown = {"proved": found.proved, "certified": found.certified, "measured": found.measured}
    asked = sum(claim.corrected is None for claim in part.claims)
    counts = ", ".join(f"{word} {count}" for word, count in shown.items() if count)
    if not counts:
        return ""
    parts = [f"{counts} of {asked}"]
    if found.robust is not None:
        reaches = [claim.reach for claim in part.claims if claim.reach is not None]
        fragile = [reach.name for reach in reaches if reach.fragile]
        some = f" ({', '.join(fragile)})" if len(fragile) < len(reaches) else ""
        parts += ["robust"] if found.robust else [f"FRAGILE{some}"] if fragile else []
    if found.weakest is not None:
        parts.append(f"weakest × {factor_text(found.weakest)} ({found.weakest_claim}): {lasts(found.weakest)}")
    return "; ".join(parts)


def _searched(part: TheoremReport) -> str:
    """The nearest that a search came to each bound that holds."""
    found: dict[str, list[str]] = {}
    for claim in part.claims:
        fact = by_key(report_facts(claim, part)).get(FactKey.SEARCHED) if claim.status.holds else None
        if fact is not None:
            found.setdefault(fact.short, []).append(claim.id)
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{', '.join(names)} {told}" for told, names in found.items())


def _risk(claims: Sequence[ClaimReport], more: str) -> str:
    levels = [claim.level for claim in claims if claim.status.holds and claim.level is not None]
    if not levels:
        return ""
    tries = max(claim.attempt for claim in claims)
    earlier = max((claim.log.earlier for claim in claims if claim.log is not None), default=0)
    told = [f"{'each ' if len(claims) > 1 else ''}{risk(max(levels))} ({more})"]
    told += [f"attempt {tries}"] if tries > 1 else []
    told += [f"{many(earlier, 'attempt')} at earlier forms or sources"] if earlier else []
    return "; ".join(told)


def _attacked(part: TheoremReport) -> str:
    told = []
    if part.controls:
        told.append(f"broken hypotheses noticed {sum(row.fired for row in part.controls)} of {len(part.controls)}")
    wrong = [row for row in part.mutants if row.expected is Expected.KILLED]
    if wrong:
        told.append(f"wrong variants rejected {sum(row.killed for row in wrong)} of {len(wrong)}")
    every = [(claim.id, fact) for claim in part.claims for fact in report_facts(claim, part)]
    if missing := {id: fact.short for id, fact in every if fact.key is FactKey.UNCONTROLLED}:
        which = f" for {', '.join(missing)}" if len(missing) < len(part.claims) else ""
        told.append(f"{next(iter(missing.values()))}{which}")
    return ", ".join(told)


def _power(claims: Sequence[ClaimReport]) -> str:
    found: dict[KindWords, dict[str, str]] = {}
    for claim in claims:
        for fact in facts(claim):
            if fact.key is FactKey.POWER and not claim.words.quantity.is_difference:
                found.setdefault(claim.words, {})[claim.id] = fact.short
    shown = [
        (words, ", ".join(f"{value} ({id})" if len(values) > 1 else value for id, value in values.items()))
        for words, values in found.items()
    ]
    return power_phrase(shown) if shown else ""


def _variates(claims: Sequence[ClaimReport]) -> str:
    """Gains of variates of known mean, claim by claim."""
    found = [(claim.id, fact) for claim in claims for fact in facts(claim) if fact.key is FactKey.VARIATES]
    return "; ".join(f"{id}: {fact.short}" for id, fact in found)


def _blind(claims: Sequence[ClaimReport], where: str) -> str:
    unseen = [row for claim in claims for row in claim.ledger if row.checked is Standing.NOT_LOOKED_AT]
    unseen = [row for row in unseen if row.kind != EVERYWHERE]
    lines = dict.fromkeys(row.text for row in unseen if row.kind in SPECIFIC)
    lines |= dict.fromkeys(line for claim in claims for line in claim.unseen)
    lines |= dict.fromkeys(row.text for row in unseen)
    if not lines:
        return ""
    more = f"; {len(lines) - 1} more: {where}" if len(lines) > 1 else ""
    first = next(iter(lines))
    room = 2 * (WIDTH - LABEL) - len(more) - 8
    if len(first) > room:
        first = first[:room].rpartition(" ")[0] + " …"
    return f"{first}{more}"


def _day(date: str) -> str:
    """A kept date in few signs: day, month and time."""
    from datetime import datetime

    return datetime.strptime(date, "%Y-%m-%dT%H:%M:%SZ").strftime("%-d %b %H:%M")
