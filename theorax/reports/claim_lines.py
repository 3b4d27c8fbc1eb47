"""One claim of the default report: its statement on a line, its numbers on a line, its bar."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from theorax.decide.facts import FactKey, by_key, facts
from theorax.decide.findings import ShownBy
from theorax.decide.phrases import claimed_value
from theorax.decide.status import Reason, Side, Status
from theorax.reports.claim_facts import report_facts
from theorax.reports.document import ClaimReport, TheoremReport
from theorax.text import safe
from theorax.text.bar import Bar
from theorax.text.plain import NARROWEST, WIDTH, padded, terminal_width, wrapped
from theorax.text.signs import SIGNS

STATEMENT_LINES = 2
SEEN_LINES = 4
BARS = 2  # claims whose bar is drawn; those beyond have two lines each
LONGEST_NAME = 14  # columns of a claim's name that still stand beside its statement


@dataclass(frozen=True)
class ClaimNumbers:
    """The number line of a claim: what is claimed, what was found and from what, and how many cases hold."""

    verdict: str
    claimed: str = ""
    found: str = ""
    origin: str = ""


def left_and_right(left: str, right: str, width: int = WIDTH) -> list[str]:
    """A text at the left and one at the right of a line; where both do not fit, the right one has its own line."""
    if not right:
        return [left]
    if terminal_width(left) + 2 + terminal_width(right) <= width:
        return [padded(left, width - terminal_width(right)) + right]
    return [left, padded(right, width, right=True)] if terminal_width(right) <= width else [left, *wrap(right, width)]


def wrap(text: str, width: int = WIDTH, hang: int = 0, lines: int | None = None) -> list[str]:
    """A text over several lines of a width; beyond ``lines`` it is cut, which an ellipsis says.

    A line of the text stays a line. A word is broken only where it is wider than a line.
    """
    found = wrapped(text, width, hang=hang, break_words=True)
    if lines is None or len(found) <= lines:
        return found
    # Not `textwrap.shorten`, for which a space that must not end a line is a space like others.
    cut = textwrap.TextWrapper(
        width=max(NARROWEST, width),
        initial_indent=" " * hang * (lines > 1),
        break_on_hyphens=False,
        max_lines=1,
        placeholder=" …",
    )
    return [*found[: lines - 1], *cut.wrap(" ".join(line.strip(" ") for line in found[lines - 1 :]))]


def fitted(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines, each no wider than the page: what holds a text wider than that is broken where it must be."""
    return tuple(part for line in lines for part in _broken(line))


def _broken(line: str) -> Iterator[str]:
    for whole in line.splitlines() or [""]:
        if terminal_width(safe.uncommanded(whole)) <= WIDTH:
            yield whole.rstrip()
            continue
        indent = min(len(whole) - len(whole.lstrip()) + 2, LONGEST_NAME)
        for part in wrap(whole, WIDTH // 2 if terminal_width(whole) > len(whole) else WIDTH - 2, indent):
            yield part.rstrip()


def claims_lines(part: TheoremReport, *, scoped: bool) -> list[str]:
    """The lines of all claims of a theorem; bars stand at the first two that have one.

    ``scoped``: the scope of what was proved, or the distance that was kept, stands with the word of the theorem.
    """
    claims = part.claims
    names = [terminal_width(claim.id) for claim in claims]
    indent = max(names) + 2 if max(names) <= LONGEST_NAME else 10
    told = [claim_numbers(claim) for claim in claims]
    width = max((terminal_width(part.claimed) for part in told if part.found), default=0)
    drawn = 0
    lines: list[str] = []
    for claim, numbers in zip(claims, told, strict=True):
        if claim.status in (Status.PROVED, Status.CERTIFIED):
            lines += _settled(claim, numbers.verdict, indent, scoped=scoped)
        else:
            lines += _statement(claim, indent)
            lines += _number_line(numbers, indent, width)
            bar = bar_line(claim) if drawn < BARS else ""
            drawn += bool(bar)
            lines += [bar] if bar else []
        lines += [" " * indent + line for line in _seen(claim, WIDTH - indent)]
        lines += [" " * indent + line for line in _told(claim, part, WIDTH - indent, scoped=scoped)]
    return lines


def _settled_word(claim: ClaimReport) -> str:
    """By what a claim is proved or certified, in how many cases, and if it was measured beside."""
    cases = claim.cases if claim.status is Status.CERTIFIED or claim.measured_for else ()
    held = f"{sum(part.status.holds for part in cases)}/{len(cases)} " if cases else ""
    return f"{claim.shown_by}{'; measured' if held and claim.measured_for else ''} {held}{SIGNS[claim.status]}"


def _settled(claim: ClaimReport, word: str, indent: int, *, scoped: bool) -> Iterator[str]:
    """A claim that is proved or certified: by what, for what, and what was measured beside."""
    *before, last = _statement(claim, indent)
    yield from before
    scope = claim.proved_for if claim.status is Status.PROVED else claim.scope
    if scoped or not scope:
        yield from left_and_right(last, word)
        return
    found = by_key(facts(claim))
    if claim.status is Status.CERTIFIED and claim.words.quantity.is_difference and FactKey.MEASURED in found:
        scope = ", ".join(found[key].short for key in (FactKey.MEASURED, FactKey.MARGIN) if key in found)
    yield last
    room = WIDTH - indent - terminal_width(word) - 2
    lines = wrap(scope, room, 0, 2)
    yield from left_and_right(" " * indent + lines[0], word)
    yield from (" " * indent + line for line in lines[1:])


def _statement(claim: ClaimReport, indent: int) -> Iterator[str]:
    """The statement with its condition and its regime; the name stands before it, or above if it is long."""
    opening = padded(claim.id, indent)
    if terminal_width(claim.id) > indent - 2:
        yield claim.id
        opening = " " * indent
    condition = f", if {claim.condition}" if claim.condition else ""
    if not claim.formula:  # a report of an earlier version: the statement as it was typeset
        for at, line in enumerate(claim.statement.split("\n")):
            yield f"{opening if at == 0 else ' ' * indent}{line}".rstrip()
        return
    around = terminal_width(condition) + (terminal_width(claim.regime) + 2 if claim.regime else 0)
    *before, last = wrap(claim.formula, WIDTH - indent, 2, STATEMENT_LINES) or [""]
    for line in before:
        yield f"{opening}{line}"
        opening = " " * indent
    if indent + terminal_width(last) + around <= WIDTH:
        yield from left_and_right(f"{opening}{last}{condition}", claim.regime)
        return
    yield f"{opening}{last}"
    if condition:
        yield from left_and_right(f"{' ' * indent}  {condition.removeprefix(', ')}", claim.regime)
    else:
        yield padded(claim.regime, WIDTH, right=True)


def one_statement(claim: ClaimReport) -> str:
    """The statement on one line with its condition and its regime; as it was typeset in a report of an earlier version."""
    condition = f", if {claim.condition}" if claim.condition else ""
    return f"{claim.formula}{condition}  {claim.regime}".rstrip() if claim.formula else claim.statement


def _number_line(numbers: ClaimNumbers, indent: int, width: int) -> list[str]:
    """The line of numbers, in columns where that fits, without the sweep where it has to be short."""
    whole = f"{numbers.found} {numbers.origin}".rstrip()
    short = ["  ".join(part for part in (numbers.claimed, found) if part) for found in (whole, numbers.found)]
    room = WIDTH - indent - terminal_width(numbers.verdict) - 2
    for line in (f"{padded(numbers.claimed, width)}  {whole}".rstrip(), *short):
        if terminal_width(line) <= room:
            return left_and_right(" " * indent + line, numbers.verdict)
    *before, last = wrap(short[-1], room, 2)
    return [*(" " * indent + line for line in before), *left_and_right(" " * indent + last, numbers.verdict)]


def claim_numbers(claim: ClaimReport) -> ClaimNumbers:
    """The numbers of a measured claim on a line; a claim that is proved or certified has only its word."""
    if claim.status in (Status.PROVED, Status.CERTIFIED):
        return ClaimNumbers(_settled_word(claim))
    case, sign = claim.deciding, SIGNS[claim.status]
    held = f"{sum(part.status.holds for part in claim.cases)}/{len(claim.cases)} " if claim.cases else ""
    shown = case or next(iter(claim.cases), None)
    if shown is None:
        return ClaimNumbers(sign, "too few sizes" if claim.reason is Reason.TOO_FEW_SIZES else "not measured")
    if case is None or case.estimate is None:
        claimed = claimed_value(claim.words.quantity, claim.side, shown.predicted, shown.margin, claim.reading)
        return ClaimNumbers(sign, claimed, "not run")
    short = {fact.key: fact.short for fact in facts(claim)}
    origin = short.get(FactKey.DRAWS) or short.get(FactKey.HEADROOM, "")
    return ClaimNumbers(f"{held}{sign}", short.get(FactKey.PREDICTED, ""), short[FactKey.MEASURED], origin)


def bar_line(claim: ClaimReport) -> str:
    """The bar of a measured claim whose interval meets its margin."""
    case = claim.deciding
    # An error is drawn from zero to its margin, and would be the middle of nothing.
    if case is None or claim.words.quantity.is_error or claim.shown_by in (ShownBy.PROVED, ShownBy.CERTIFIED):
        return ""
    ends = case.interval
    if case.predicted is None or not case.margin or ends is None or ends[0] is None or ends[1] is None:
        return ""
    open_below = claim.side is Side.AT_MOST
    open_above = claim.side is Side.AT_LEAST
    return Bar(case.predicted, case.margin, ends[0], ends[1], case.estimate, open_below, open_above).line()


def _seen(claim: ClaimReport, width: int) -> Iterator[str]:
    """At what the claim was looked at, and the general formula of one that was looked at for one value of a letter."""
    found = by_key(facts(claim))
    for key in (FactKey.GENERAL, FactKey.SEEN):
        if key in found:
            yield from wrap(f"{key}  {found[key].value}", width, 6, SEEN_LINES)


def _told(claim: ClaimReport, part: TheoremReport, width: int, *, scoped: bool) -> Iterator[str]:
    """Further lines of a claim that is refuted, corrected, or holds on its own only."""
    found = by_key(report_facts(claim, part))
    if printed := found.get(FactKey.PRINTED):
        yield from wrap(printed.value, width)
    if claim.status is Status.SUPPORTED and not scoped and (within := found.get(FactKey.WITHIN)):
        yield from wrap(within.value, width, lines=2)
    if claim.status is Status.REFUTED:
        yield from wrap(claim.sentence, width, lines=3)  # which names the case that breaks it
    if alone := found.get(FactKey.ALONE):
        yield from wrap(alone.line, width)
