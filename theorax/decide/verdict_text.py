"""The layout of a verdict as text: the result, the facts about it, the sweep, and the assumptions that it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from theorax.decide.facts import Fact, FactKey, Level, by_key, facts
from theorax.decide.meanings import reached
from theorax.decide.promise import grouped
from theorax.decide.verdict import Case, Verdict
from theorax.text.blocks import Block, Gap, Heading, Lines, Paragraph, Table
from theorax.text.numbers import number, with_uncertainty
from theorax.text.plot import AtInfinity, margin_band, plot, predicted_along

__all__ = ["fact_rows", "sweep_blocks", "verdict_blocks"]


def verdict_blocks(verdict: Verdict) -> Iterator[Block]:
    """The blocks of one verdict; `str` of it is their plain text."""
    statement = tuple(verdict.statement.split("\n"))
    yield Heading(
        statement[0] if len(statement) == 1 else verdict.id,
        status=verdict.status,
        within=verdict.within_margin,
        reached=reached(verdict),
    )
    yield Gap()
    if len(statement) > 1:
        yield Lines(statement)
    found = facts(verdict)
    yield from (Paragraph(fact.value) for fact in found if fact.level is Level.HEAD and fact.key is not FactKey.VERDICT)
    yield Gap()
    # The reason why it is undecided stands in the deciding sentence.
    yield from fact_rows(fact for fact in found if fact.level is not Level.HEAD and fact.key is not FactKey.REASON)
    yield Gap()
    yield Paragraph(by_key(found)[FactKey.VERDICT].value)
    if (case := verdict.deciding) is not None and len(case.points) > 1:
        yield from sweep_blocks(verdict, case)
    for heading, lines in (("Blind to", verdict.unseen), *grouped(verdict.ledger)):
        yield from (Gap(), Paragraph(f"{heading}:")) if lines else ()
        yield from (Paragraph(f"- {line}", indent=4, hang=2) for line in lines)


def fact_rows(found: Iterable[Fact]) -> Iterator[Paragraph]:
    """Facts below each other, the labels in a column."""
    listed = list(found)
    room = max((len(fact.key) for fact in listed), default=0) + 2
    for fact in listed:
        yield Paragraph(f"{f'{fact.key}:':<{room}}{fact.value}", hang=room, quiet=True)


def sweep_blocks(verdict: Verdict, case: Case) -> Iterator[Block]:
    """Observations along the sweep of a case, in a table and a plot."""
    letter, quantity = verdict.as_ or "size", verdict.words.quantity
    points = case.points
    line = predicted_along(points, case.predicted, slope=quantity.is_slope, exponential=verdict.exponential)
    along: Sequence[float | None] = line if line is not None else [None] * len(points)
    listed = tuple(
        (number(point.size), str(point.draws), with_uncertainty(point.estimate, point.standard_error), number(at, 4))
        for point, at in zip(points, along, strict=True)
    )
    yield Gap()
    head = "on the claimed slope" if quantity.is_slope else "claimed"
    yield Table((letter, "draws", quantity.short or "measured", head), listed, right=(0, 1, 2, 3))
    band = margin_band(case.predicted, case.margin) if quantity.is_value else None
    drawn = plot(points, line, letter, band=band, limit=_at_infinity(verdict, case))
    if drawn:
        yield Gap()
        yield Lines(tuple(drawn), indent=2)


def _at_infinity(verdict: Verdict, case: Case) -> AtInfinity | None:
    """The extrapolated limit with its interval, the allowed corrections included; None of other kinds."""
    if not verdict.words.quantity.is_extrapolated or case.estimate is None or case.interval is None:
        return None
    return AtInfinity(case.estimate, *case.interval)
