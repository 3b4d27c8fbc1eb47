"""A verdict told to a reader: what was found first, then what it rests on, and what it could not have seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from theorax.text.blocks import Block, Gap, Heading, Lines, Paragraph, Table
from theorax.text.numbers import interval, number, with_uncertainty
from theorax.text.plot import plot, predicted_along
from theorax.verifiers.outcome import Case, Verdict

__all__ = ["MEANING", "told"]

MEANING: Mapping[str, str] = {
    "SUPPORTED": "the numbers rule out that it is off by the margin or more",
    "REFUTED": "the numbers rule out that it is true as stated",
    "INCONCLUSIVE": "the numbers rule out neither that it is true nor that it is off by the margin",
    "VACUOUS": "the check could not have failed, so passing it says nothing",
    "PROVED": "exact algebra closed it",
    "CERTIFIED": "rigorous arithmetic enclosed every rounding",
}
BOUNDS: Mapping[str, str] = {
    "SUPPORTED": "no row violates it, and the numbers rule out that more than a small share of all rows would",
    "REFUTED": "it is violated",
    "INCONCLUSIVE": "the rows neither violate it for certain nor suffice to rule out rare violations",
}
QUANTITY = {"rate": "exponent", "limit": "limit", "expectation": "mean", "mean": "mean", "probability": "probability"}
HEADS = {"law": "distance"}


def told(verdict: Verdict) -> Iterator[Block]:
    """The blocks of one verdict; `str` of it is their plain text."""
    statement = tuple(verdict.statement.split("\n"))
    yield Heading(statement[0] if len(statement) == 1 else verdict.id, status=verdict.status)
    yield Gap()
    if len(statement) > 1:
        yield Lines(statement)
    case = verdict.cases[verdict.worst] if verdict.worst is not None else None
    meaning = (BOUNDS if verdict.kind == "inequality" else MEANING).get(verdict.status)
    if meaning:
        yield Paragraph(f"{meaning[0].upper()}{meaning[1:]}.")
    if case is not None:
        yield from _found(verdict, case)
    yield Paragraph(verdict.sentence)
    if case is not None and len(case.points) > 1:
        yield from _sweep(verdict, case)
    yield from _conditions(verdict)


def _found(verdict: Verdict, case: Case) -> Iterator[Block]:
    """Measured against claimed, with what is left open."""
    what = QUANTITY.get(verdict.kind)
    rows = []
    if what is not None and case.predicted is not None:
        margin = f" ± {number(case.margin, 3)}" if case.margin is not None else ""
        rows.append((f"claimed {what}", f"{number(case.predicted)}{margin}", "off by more than the margin is false"))
    if case.estimate is not None:
        shown = with_uncertainty(case.estimate, case.standard_error)
        open_ = f"between {interval(case.interval)}" if case.interval else ""
        rows.append((f"measured {what or 'distance'}", shown, open_.replace("between [", "somewhere in [")))
    if case.bias:
        rows.append(("allowed bias", number(case.bias, 2), "what corrections at finite size may hide"))
    if case.breakdown is not None and 0 < case.breakdown < 1e6:
        stands = case.status in ("SUPPORTED", "REFUTED")
        meaning = (
            "so many times larger corrections overturn it"
            if stands
            else ("of the declared corrections would leave a verdict")
        )
        rows.append(("breakdown factor", number(case.breakdown, 3), meaning))
    if case.noticeable is not None:
        rows.append(("noticeable", number(case.noticeable, 2), "a deviation that is refuted 9 times in 10"))
    if rows:
        yield Gap()
        width, second = (max(len(row[part]) for row in rows) for part in (0, 1))
        yield Lines(tuple(f"{a:<{width}}  {b:<{second}}  {c}".rstrip() for a, b, c in rows), indent=2)
        yield Gap()


def _sweep(verdict: Verdict, case: Case) -> Iterator[Block]:
    letter = verdict.as_ or "size"
    points: list[dict[str, Any]] = [asdict(point) for point in case.points]
    line = predicted_along(points, verdict.kind, case.predicted, case.estimate)
    along: Sequence[float | None] = line if line is not None else [None] * len(points)
    rows = tuple(
        (
            number(point["size"]),
            str(point["draws"]),
            with_uncertainty(point["estimate"], point["standard_error"]),
            number(at, 4),
        )
        for point, at in zip(points, along, strict=True)
    )
    yield Gap()
    head = "on the claimed slope" if verdict.kind == "rate" else "claimed"
    yield Table((letter, "draws", HEADS.get(verdict.kind, "measured"), head), rows, right=(0, 1, 2, 3))
    drawn = plot(points, line, letter)
    if drawn:
        yield Gap()
        yield Lines(tuple(drawn), indent=2)


def _conditions(verdict: Verdict) -> Iterator[Block]:
    if verdict.unseen:
        yield Gap()
        yield Paragraph("What these numbers cannot exclude:")
        for sentence in verdict.unseen:
            yield Paragraph(f"- {sentence}", indent=4, hang=2)
    if verdict.ledger:
        yield Gap()
        yield Paragraph("What the verdict is conditional on:")
        for part in verdict.ledger:
            yield Paragraph(f"- {part.kind}: {part.text} ({part.checked})", indent=4, hang=2)
    yield Gap()
    if verdict.scope:
        yield Paragraph(f"Scope: {verdict.scope}.", quiet=True)
    level = f"Level {number(verdict.level)}. " if verdict.level is not None else ""
    yield Paragraph(f"{level}Planned before the data; plan {verdict.design_hash}.", quiet=True)
