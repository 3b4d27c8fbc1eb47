"""A comparison with a baseline, in words: what failed first, then what moved, then how much stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from theorax.decide.comparison import Outcome
from theorax.reports.compared_claims import Change, ComparedClaim, ComparedEstimate, ComparedPlace, Comparison
from theorax.reports.regression import changed_sources
from theorax.text.blocks import Block, Gap, Heading, Lines, Paragraph
from theorax.text.numbers import interval, number, with_uncertainty

SIGNS = {
    Change.VANISHED: "✗",
    Change.REGRESSED: "✗",
    Change.LAPSED: "?",
    Change.RESTATED: "≠",
    Change.APPEARED: "+",
    Change.IMPROVED: "✓",
    Change.KEPT: "→",
}
MEANING: Mapping[str, str] = {
    Change.VANISHED: "Vanished: in the baseline, and no longer stated",
    Change.REGRESSED: "Regressed: the word is worse than in the baseline",
    Change.RESTATED: "Restated: another claim under the same name, so there is nothing to compare it with",
    Change.LAPSED: "Lapsed: held in the baseline, open in this run, and no sign that it moved",
    "moved": "Moved, and still as good as before",
    "incomparable": "Incomparable: the words agree, the numbers are of different things",
    "cannot tell": "Cannot tell: too little precision to say that the estimate stayed or moved",
    Change.IMPROVED: "Improved",
    Change.APPEARED: "Appeared: not in the baseline",
}
LISTED = 12  # rows of one part; beyond, a count
SOURCES = 8


def plain(comparison: Comparison) -> str:
    """The comparison as plain text."""
    from theorax.text.plain import render

    return render(told(comparison))


def told(comparison: Comparison) -> list[Block]:
    """The whole comparison."""
    groups = _groups(comparison.claims)
    blocks: list[Block] = []
    for name, meaning in MEANING.items():
        if rows := groups.get(name, []):
            blocks += [Heading(meaning), *_listed(rows, comparison.share)]
    return [*blocks, *([Gap()] if blocks else []), *_closing(comparison, groups)]


def _groups(claims: Sequence[ComparedClaim]) -> dict[str, list[ComparedClaim]]:
    """Every claim once, under the worst that is to be said of it."""
    found: dict[str, list[ComparedClaim]] = {}
    for claim in claims:
        group: str = claim.change
        if claim.change in (Change.KEPT, Change.IMPROVED) and claim.outcome == Outcome.MOVED:
            group = "moved"
        elif claim.change is Change.KEPT and claim.outcome in (Outcome.INCOMPARABLE, Outcome.CANNOT_TELL):
            group = str(claim.outcome)
        found.setdefault(group, []).append(claim)
    return found


def _listed(rows: Sequence[ComparedClaim], share: float) -> Iterator[Block]:
    for row in rows[:LISTED]:
        words: str | None = row.before or row.now
        if row.before and row.now and row.before != row.now:
            words = f"{row.before} -> {row.now}"
        yield Paragraph(f"{SIGNS[row.change]} {row.theorem}.{row.claim}  {words}", hang=2)
        for sentence in sentences(row, share):
            yield Paragraph(sentence, indent=6)
    if len(rows) > LISTED:
        yield Paragraph(f"and {len(rows) - LISTED} more; `--output json=FILE` has them all", indent=2)


def sentences(row: ComparedClaim, share: float) -> Iterator[str]:
    """Sentences on one claim."""
    if row.why:
        yield row.why
    if row.where is not None and row.old is not None and row.new is not None:
        yield _moved(row, row.where, (row.old, row.new), share)
    yield from row.notes


def _moved(
    row: ComparedClaim, place: ComparedPlace, both: tuple[ComparedEstimate, ComparedEstimate], share: float
) -> str:
    at = [f"{letter} = {value}" for letter, value in place.at.items()]
    at += [f"size {number(size)}" for size in place.sizes]
    old, new = (with_uncertainty(one.estimate, one.standard_error) for one in both)
    if row.how == "exact":
        old, new = (f"{number(one.estimate)} in {interval(one.interval)}" for one in both)
    told = f"{place.subject}{' at ' if at else ''}{', '.join(at)}: {old} then, {new} now"
    zone = f"{number(row.zone, 2)}, {_of_margin(share)} of its margin"
    if row.outcome == Outcome.MOVED:
        p = "" if row.how == "exact" else f", p = {number(row.p_moved, 2)} among all claims compared"
        return f"{told}; moved by {number(row.difference, 3)}{p}" + (f", less than {zone}" if row.within else "")
    if row.outcome == Outcome.SAME:
        return f"{told}; apart by less than {zone}"
    seeds = " although the seeds are the same" if row.same_seeds else ""
    return f"{told}; neither a move nor a distance of less than {zone} is shown{seeds}"


def _of_margin(share: float) -> str:
    return {0.5: "half", 1.0: "all"}.get(share, f"{share:.2g}")


def _closing(comparison: Comparison, groups: Mapping[str, Sequence[ComparedClaim]]) -> Iterator[Block]:
    from theorax.reports.theorem_text import moment

    summary, claims = comparison.summary, comparison.claims
    changes = changed_sources(comparison)
    if changes:
        yield Paragraph("What differs between the two runs:", indent=0)
        shown = list(changes.items())
        yield Lines(tuple(f"{change}  ({_many(len(ids), 'theorem')})" for change, ids in shown[:SOURCES]), indent=2)
        if len(shown) > SOURCES:
            yield Lines((f"and {len(shown) - SOURCES} more",), indent=2)
        yield Gap()
    same = [claim for claim in groups.get(Change.KEPT, []) if claim.outcome == Outcome.SAME]
    kinds = {
        "bit for bit": "bit for bit",
        "form": "by their statement, nothing is measured of them",
        "exact": "within what rounding explains",
        "statistical": f"within {_of_margin(comparison.share)} of their margins, as a test shows",
    }
    ways = [f"{count} {text}" for how, text in kinds.items() if (count := sum(row.how == how for row in same))]
    counts = [f"{len(groups[name])} {name}" for name in MEANING if groups.get(name)]
    counts += [f"{len(same)} same" + (f" ({'; '.join(ways)})" if ways else "")] if same else []
    both = sum(claim.change is not Change.APPEARED for claim in claims)
    day = moment(comparison.baseline[-1])
    if claims or not comparison.standing:
        yield Paragraph(
            f"{_many(both, 'claim')} of the baseline of {day}: {', '.join(counts) or 'none compared'}.", indent=0
        )
    if comparison.tested:
        levels = comparison.levels
        yield Paragraph(
            f"Holm over {_many(comparison.tested, 'claim')} with random estimates: the chance of calling any moved that "
            f"has not is at most {levels.moved:g}, of calling any the same that has moved that far at most "
            f"{levels.same:g}.",
            indent=0,
            quiet=True,
        )
    if comparison.not_run:
        yield Paragraph(
            f"Not in this report, so nothing is said of: {', '.join(comparison.not_run)}.", indent=0, hang=2
        )
    if standing := comparison.standing:
        verb = "reads" if len(standing) == 1 else "read"
        yield Paragraph(
            f"{_many(len(standing), 'theorem')} {verb} nothing that changed, and stand as they were.", indent=0
        )
    yield Paragraph(_verdict(summary.exit_code, groups), indent=0)


def _verdict(code: int, groups: Mapping[str, Sequence[ComparedClaim]]) -> str:
    accept = "If it is meant, accept it with `verify baseline save`."
    if code == 1:
        return f"✗ Something that the baseline promises no longer holds. {accept}"
    if code == 4:
        return f"? Nothing regressed, and not everything could be confirmed. {accept}"
    if code == 5:
        return "Nothing of the baseline was compared, and that is no success."
    return "✓ Nothing regressed."


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"
