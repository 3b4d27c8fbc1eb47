"""A comparison with a baseline, in words: what broke and why, what waits for it, what moved, how much stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from theorax.decide.comparison import Outcome
from theorax.decide.phrases import claimed_value
from theorax.decide.status import Status
from theorax.names import many
from theorax.reports.claim_lines import left_and_right, wrap
from theorax.reports.compared_claims import Change, ComparedClaim, ComparedEstimate, ComparedPlace, Comparison
from theorax.text.blocks import Block, Gap, Heading, Lines, Paragraph
from theorax.text.numbers import interval, number, p_value, with_uncertainty
from theorax.text.plain import WIDTH, render

SIGNS = {
    Change.VANISHED: "✗",
    Change.REGRESSED: "✗",
    Change.LAPSED: "?",
    Change.RESTATED: "≠",
    Change.LESS_TESTED: "?",
    Change.APPEARED: "+",
    Change.IMPROVED: "✓",
    Change.KEPT: "→",
}
MEANING: Mapping[str, str] = {
    Change.RESTATED: "Restated: another claim under the same name, so there is nothing to compare it with",
    Change.LAPSED: "Lapsed: held in the baseline, open in this run, and no sign that it moved",
    Change.LESS_TESTED: "Less tested: the word stands, and a control or a variant that it was told apart from is gone",
    "moved": "Moved, and still as good as before",
    "incomparable": "Incomparable: the words agree, the numbers are of different things",
    "cannot tell": "Cannot tell: too little precision to say that the estimate stayed or moved",
    Change.IMPROVED: "Improved",
    Change.APPEARED: "Appeared: not in the baseline",
}
LISTED = 12  # rows of one part; beyond, a count
SOURCES = 8


def comparison_as_plain_text(comparison: Comparison) -> str:
    """The comparison as plain text."""
    return render(comparison_blocks(comparison))


def comparison_blocks(comparison: Comparison) -> list[Block]:
    """The whole comparison: the answer, each cause with its numbers and command, what waits, the rest, the counts."""
    groups = _groups(comparison)
    blocks: list[Block] = [Paragraph(comparison_headline(comparison), indent=0, hang=2), *_changes(comparison)]
    for cause in comparison.causes[:LISTED]:
        blocks += [Gap(), *_cause(comparison.by_name[cause.claim], comparison.share)]
    if (beyond := len(comparison.causes) - LISTED) > 0:
        blocks.append(Paragraph(f"and {beyond} more; `--output json=FILE` has them all", indent=0))
    blocks += _consequences(comparison)
    for name, meaning in MEANING.items():
        if rows := groups.get(name, []):
            blocks += [Heading(meaning), *_listed(rows, comparison.share)]
    return [*blocks, Gap(), *_closing(comparison, groups)]


def comparison_headline(comparison: Comparison) -> str:
    """The answer on one line: what broke, or that nothing did."""
    causes, code = comparison.causes, comparison.summary.exit_code
    if causes:
        rows = [comparison.by_name[cause.claim] for cause in causes]
        first, *others = comparison.broken
        verb = "vanished" if all(row.change is Change.VANISHED for row in rows) else "broke"
        more = f" and {len(others)} more" if others else ""
        waiting, them = len(_waiting(comparison)), "them" if others else "it"
        wait = f"; {many(waiting, 'claim')} wait{'s' * (waiting == 1)} for {them}" if waiting else ""
        return f"✗ {first}{more} {verb} ({many(len(causes), 'claim')}){wait}."
    if code == 1:
        moved = sum(row.exit == 1 for row in comparison.claims)
        return f"✗ {many(moved, 'claim')} moved, and --strict fails on a move."
    if code == 4:
        return (
            f"? Nothing broke. {many(sum(row.exit == 4 for row in comparison.claims), 'claim')} could not be confirmed."
        )
    if code == 5:
        return "? Nothing of the baseline was compared."
    return "✓ Nothing broke since the baseline."


def _changes(comparison: Comparison) -> Iterator[Block]:
    """Second line: what changed since the baseline, in what the causes read or, without one, in what any theorem reads."""
    if comparison.causes:
        changed = comparison.changed.of(comparison.broken)
        sources, versions = list(changed.sources), list(changed.versions)
    else:
        both = comparison.changed.sources, comparison.changed.versions
        sources, versions = ([f"{name} ({many(len(ids), 'theorem')})" for name, ids in one.items()] for one in both)
    if sources:
        yield Paragraph(f"changed since the baseline: {_first_of(sources)}", hang=2)
    if versions:
        yield Paragraph(f"versions changed: {_first_of(versions)}", hang=2)
    if comparison.causes and not sources and not versions:
        yield Paragraph("no file or version that it reads changed since the baseline")


def _first_of(names: Sequence[str]) -> str:
    more = f" and {len(names) - SOURCES} more" if len(names) > SOURCES else ""
    return ", ".join(names[:SOURCES]) + more


def _cause(row: ComparedClaim, share: float) -> Iterator[Block]:
    yield Lines((f"{row.name}   {words_of(row)}",), indent=0)
    typeset = row.statement.split("\n")  # several lines in reports of earlier versions, which stay as they are
    *before, last = typeset if len(typeset) > 1 else wrap(row.statement, WIDTH - 2, 2) or [""]
    yield Lines((*before, *left_and_right(last, _claimed(row), WIDTH - 4)), indent=2)
    for sentence in sentences(row, share) if row.where is None else (*_numbers(row, share), *row.notes):
        yield Paragraph(sentence, indent=2, hang=2)
    if row.replay:
        yield Lines((row.replay,), indent=2)


def words_of(row: ComparedClaim) -> str:
    """The verdict then and now."""
    return " → ".join(word if word else "gone" for word in dict.fromkeys((row.before, row.now)))


def statement_and_value(row: ComparedClaim) -> str:
    """The statement and the claimed value."""
    return f"{row.statement.strip()} {_claimed(row)}".strip()


def _claimed(row: ComparedClaim) -> str:
    return claimed_value(row.quantity, row.side, row.predicted, row.margin) if row.predicted is not None else ""


def _waiting(comparison: Comparison) -> list[str]:
    """The claims that are BLOCKED by a cause."""
    return list(dict.fromkeys(name for cause in comparison.causes for name in cause.consequences))


def _consequences(comparison: Comparison) -> Iterator[Block]:
    claims: dict[str, list[str]] = {}
    for name in _waiting(comparison):
        claims.setdefault(comparison.by_name[name].theorem, []).append(comparison.by_name[name].claim)
    if claims:
        listed = [f"{theorem}.{', .'.join(own)}" for theorem, own in claims.items()]
        yield Paragraph(f"waiting: {_first_of(listed)}", indent=0, hang=2)


def _groups(comparison: Comparison) -> dict[str, list[ComparedClaim]]:
    """Every claim that is neither a cause nor a consequence, under the worst that is to be said of it."""
    fell = {name for cause in comparison.causes for name in (cause.claim, *cause.consequences)}
    found: dict[str, list[ComparedClaim]] = {}
    for claim in comparison.claims:
        group: str = claim.change
        if claim.change in (Change.KEPT, Change.IMPROVED) and claim.outcome == Outcome.MOVED:
            group = "moved"
        elif claim.change is Change.KEPT and claim.outcome in (Outcome.INCOMPARABLE, Outcome.CANNOT_TELL):
            group = str(claim.outcome)
        if claim.name not in fell:
            found.setdefault(group, []).append(claim)
    return found


def _listed(rows: Sequence[ComparedClaim], share: float) -> Iterator[Block]:
    for row in rows[:LISTED]:
        yield Paragraph(f"{SIGNS[row.change]} {row.name}  {words_of(row) if row.before else row.now}", hang=2)
        for sentence in sentences(row, share):
            yield Paragraph(sentence, indent=6)
    if len(rows) > LISTED:
        yield Paragraph(f"and {len(rows) - LISTED} more; `--output json=FILE` has them all", indent=2)


def sentences(row: ComparedClaim, share: float) -> Iterator[str]:
    """Sentences on one claim."""
    if row.why:
        yield row.why
    yield from _numbers(row, share)
    yield from row.notes


def _numbers(row: ComparedClaim, share: float) -> Iterator[str]:
    if row.where is not None and row.old is not None and row.new is not None:
        yield _moved(row, row.where, (row.old, row.new), share)


def _moved(
    row: ComparedClaim, place: ComparedPlace, both: tuple[ComparedEstimate, ComparedEstimate], share: float
) -> str:
    at = [f"{place.display.get(letter, letter)} = {value}" for letter, value in place.at.items()]
    at += [f"size {number(size)}" for size in place.sizes]
    old, new = (with_uncertainty(one.estimate, one.standard_error) for one in both)
    if row.how == "exact":
        old, new = (f"{number(one.estimate, 3)} in {interval(one.interval)}" for one in both)
    told = f"{', '.join([place.subject, *at])}: {old} then, {new} now"
    zone = f"{number(row.zone, 2)}, {_of_margin(share)} of its margin"
    if row.outcome == Outcome.MOVED:
        if row.how == "exact":
            said = " (beyond what rounding explains)"
        elif row.how == "bound":
            said = f" (rigorous bounds of a value that is not known), apart by at least {zone}"
        elif row.p_moved is None:
            said = ""
        else:
            said = f" ({'chance excluded, ' * (row.p_moved < 1e-4)}{p_value(row.p_moved)})"
        return f"{told}{said}" + (f"; moved by {number(row.difference, 3)}, less than {zone}" if row.within else "")
    if row.outcome == Outcome.SAME:
        return f"{told}; apart by less than {zone}"
    seeds = " although the seeds are the same" if row.same_seeds else ""
    if row.now == Status.REFUTED and row.before is not None and row.before.holds:
        return told  # its word says that it broke; the numbers alone bound the two too loosely to say so
    return f"{told}; the numbers cannot tell whether it moved by {zone}{seeds}"


def _of_margin(share: float) -> str:
    return {0.5: "half", 1.0: "all"}.get(share, f"{share:.2g}")


def _day(date: str, now: str) -> str:
    """A moment as a person writes it, in UTC; the year only where it is another one."""
    then, today = (datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (date, now))
    return f"{then.day} {then:%b}{'' if then.year == today.year else f' {then.year}'} {then:%H:%M}"


def _closing(comparison: Comparison, groups: Mapping[str, Sequence[ComparedClaim]]) -> Iterator[Block]:
    same = [claim for claim in groups.get(Change.KEPT, []) if claim.outcome == Outcome.SAME]
    within = f"within {_of_margin(comparison.share)}"
    ways = {
        "identical": ("bit for bit",),
        "with nothing measured": ("form",),
        "within rounding": ("exact",),
        within: ("bound", "statistical"),
    }
    kinds = [
        f"{count} {text}" + (" its margin" if count == 1 else " their margins") * (text == within)
        for text, hows in ways.items()
        if (count := sum(row.how in hows for row in same))
    ]
    waiting = len(_waiting(comparison))
    counts = [f"{len(comparison.causes)} broke"] if comparison.causes else []
    counts += [f"{waiting} wait{'s' * (waiting == 1)}"] if waiting else []
    counts += [f"{len(groups[name])} {name}" for name in MEANING if groups.get(name)]
    counts.append(f"{len(same)} unchanged" + (f" ({', '.join(kinds)})" if kinds else ""))
    both = sum(claim.change is not Change.APPEARED for claim in comparison.claims)
    day = _day(comparison.baseline[-1], comparison.created)
    if comparison.claims or not comparison.standing:
        yield Paragraph(f"{', '.join(counts)}, of {both} in the baseline of {day}.", indent=0)
    if comparison.tested:
        levels = comparison.levels
        yield Paragraph(
            f"{many(comparison.tested, 'random estimate')} compared: risk that any is called moved and is not "
            f"{100 * levels.moved:g} %, that any is called unchanged and moved {100 * levels.same:g} % (Holm).",
            indent=0,
            quiet=True,
        )
    if shorter := [claim for claim in comparison.claims if claim.shorter_log]:
        yield Paragraph(
            f"The log of attempts is shorter than the baseline's at {many(len(shorter), 'claim')}: attempts were deleted, "
            "or this is another log. Their levels may be too large.",
            indent=0,
        )
    if comparison.not_run:
        yield Paragraph(f"Not in this report: {', '.join(comparison.not_run)}.", indent=0, hang=2)
    if standing := comparison.standing:
        verb = "reads" if len(standing) == 1 else "read"
        yield Paragraph(
            f"{many(len(standing), 'theorem')} {verb} nothing that changed, and stand{'s' * (len(standing) == 1)} as "
            "before (not run).",
            indent=0,
        )
    if comparison.accept:
        yield Paragraph(f"If you meant it: {comparison.accept}", indent=0, hang=2)
    elif comparison.summary.exit_code in (1, 4):
        yield Paragraph("If you meant it: verify baseline save", indent=0)
