"""A verdict told to a reader: what was found first, then what it rests on, and what it could not have seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from theorax.decide.findings import decisive, inside_the_margin
from theorax.decide.kinds import KindWords
from theorax.decide.promise import grouped, promise
from theorax.decide.status import Reading, Side, Status
from theorax.decide.verdict import AssumedNoise, Case, VarianceGain, Verdict
from theorax.names import many
from theorax.text.blocks import Block, Gap, Heading, Lines, Paragraph, Table
from theorax.text.numbers import as_typed, interval, number, with_uncertainty
from theorax.text.plot import AtInfinity, margin_band, plot, predicted_along

__all__ = [
    "READINGS",
    "gain_text",
    "gains_text",
    "noise_assumed",
    "reached",
    "sweep",
    "told",
]

READINGS: Mapping[Reading, str] = {
    Reading.EXACT: "The claim is read exactly: refuted where it is not just as stated",
    Reading.MARGIN: "The claim is read with its margin: refuted only where it is off by more",
}


def noise_assumed(noise: AssumedNoise, words: KindWords) -> str:
    """The noise that a plan assumed, and where that comes from.

    >>> noise_assumed(AssumedNoise(0.4, 0.4, "1/5", False), KindWords("limit", spread_of=" of the claimed value"))
    'sd 0.4 per draw, assumed (1/5 of the claimed value, the default; set spread=...)'
    """
    ends = " to ".join(dict.fromkeys((number(noise.low, 2), number(noise.high, 2))))
    share = f"{noise.spread}{words.spread_of}"
    source = f"spread={share}" if noise.stated else f"{share}, the default; set spread=..."
    return f"sd {ends}{words.noise_of} per draw, assumed ({source})"


def gain_text(gain: VarianceGain) -> str:
    """The part of the variance of one case that variates of known mean took away.

    >>> gain_text(VarianceGain(("1/chi^2",), 20.0, 24.52, 5.66))
    'variance divided by 24.5(5.7), planned 20'
    >>> gain_text(VarianceGain((), None, raw="fewer than 64 draws at a size"))
    'as drawn: fewer than 64 draws at a size'
    """
    return f"as drawn: {gain.raw}" if gain.raw else gains_text([gain])


def gains_text(gains: Sequence[VarianceGain]) -> str:
    """The same of several cases together: the smallest and the largest gain, and the cases that stay as they were drawn."""
    used = [gain for gain in gains if not gain.raw]
    measured = sorted((gain for gain in used if gain.measured), key=lambda gain: gain.measured or 0.0)
    seen = " to ".join(
        dict.fromkeys(with_uncertainty(part.measured, part.error) for part in measured[:1] + measured[-1:])
    )
    expected = sorted(gain.planned for gain in used if gain.planned)
    planned = " to ".join(dict.fromkeys(number(part, 2) for part in expected[:1] + expected[-1:]))
    parts = []
    if seen or planned:
        parts.append(f"variance divided by {seen or planned}, planned" + (f" {planned}" if seen else ""))
    for reason in dict.fromkeys(gain.raw for gain in gains if gain.raw):
        parts.append(f"{many(sum(gain.raw == reason for gain in gains), 'case')} as drawn: {reason}")
    return "; ".join(parts)


class _Words(NamedTuple):
    """Words for the values that make a claim true and for those that make it false."""

    true: str
    near: str  # the same under the margin reading
    off: str
    claimed: str
    beyond: str
    kept: str  # distance shown under the margin reading
    beside: str  # values shown where the claimed one is excluded all the same


_SIDES: Mapping[Side, _Words] = {
    Side.EQUAL: _Words(
        "of {value}",
        "within {margin} of {value}",
        "is {margin} or more away from",
        "{value} ± {margin}",
        "off by more than the margin",
        "within {margin} of {value}",
        "not exactly {value}",
    ),
    Side.AT_MOST: _Words(
        "of {value} or less",
        "of {value} + {margin} or less",
        "is {margin} or more above",
        "≤ {value}",
        "{margin} or more above",
        "at most {margin} above {value}",
        "above {value}",
    ),
    Side.AT_LEAST: _Words(
        "of {value} or more",
        "of {value} - {margin} or more",
        "is {margin} or more below",
        "≥ {value}",
        "{margin} or more below",
        "at most {margin} below {value}",
        "below {value}",
    ),
}


def reached(verdict: Verdict) -> str:
    """Distance that a supported claim was shown to keep, if it was read with its margin; empty for any other.

    Cases that claim different values have no one distance.
    """
    if verdict.status is not Status.SUPPORTED or verdict.reading is not Reading.MARGIN:
        return ""
    values = {(case.predicted, case.margin) for case in verdict.cases}
    if not verdict.words.quantity.is_named or len(values) != 1:
        return ""
    ((value, margin),) = values
    if value is None or margin is None:
        return ""
    words, shown = _SIDES[verdict.side], {"value": as_typed(value), "margin": number(margin, 3)}
    return "; ".join(part.format(**shown) for part in (words.kept, *([words.beside] if verdict.within_margin else [])))


def told(verdict: Verdict) -> Iterator[Block]:
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
    case = verdict.cases[verdict.worst] if verdict.worst is not None else None
    if within := inside_the_margin(verdict.findings):
        yield Paragraph(within)
    if first := promise(verdict):
        yield Paragraph(first)
    yield from _meaning(verdict, case)
    if case is not None:
        yield from _found(verdict, case)
    yield Paragraph(decisive(verdict.findings).sentence)
    if case is not None and len(case.points) > 1:
        yield from sweep(verdict, case)
    yield from _conditions(verdict)


def _meaning_of(verdict: Verdict) -> str:
    """The word of a verdict in the words of its kind, else as of any claim; empty for what was not judged."""
    own, status = verdict.words.meanings, verdict.status
    if verdict.within_margin and status is Status.SUPPORTED and own.within:
        return own.within
    if status is Status.REFUTED and verdict.reading is Reading.MARGIN and own.beyond:
        return own.beyond
    if status in (Status.BLOCKED, Status.ERROR):
        return ""
    said = {Status.SUPPORTED: own.supported, Status.REFUTED: own.refuted, Status.INCONCLUSIVE: own.inconclusive}
    return said.get(status) or status.meaning


def _meaning(verdict: Verdict, case: Case | None) -> Iterator[Block]:
    """The verdict in one sentence, in the terms of the claim where it has a number."""
    quantity = verdict.words.quantity
    what = quantity.name
    if not quantity.is_named or case is None or case.predicted is None or case.margin is None:
        if meaning := _meaning_of(verdict):
            yield Paragraph(f"{meaning[0].upper()}{meaning[1:]}.")
        return
    a = "an" if what[0] in "aeiou" else "a"
    value, words = as_typed(case.predicted), _SIDES[verdict.side]
    margin = number(case.margin, 3)
    off = words.off.format(margin=margin)
    true = (words.near if verdict.reading is Reading.MARGIN else words.true).format(value=value, margin=margin)
    told = {
        Status.SUPPORTED: f"The data exclude {a} {what} that {off} {value}.",
        Status.REFUTED: f"The data exclude {a} {what} {true}.",
        Status.INCONCLUSIVE: f"The data fit {a} {what} {true}, and one that {off} {value} too.",
    }.get(verdict.status)
    if told:
        yield Paragraph(told)


def _found(verdict: Verdict, case: Case) -> Iterator[Block]:
    """Measured against claimed, with what is left open."""
    quantity = verdict.words.quantity
    what = quantity.name if quantity.is_named else ""
    rows = []
    if what and case.predicted is not None:
        words, margin = _SIDES[verdict.side], number(case.margin, 3)
        shown = words.claimed.format(value=as_typed(case.predicted), margin=margin)
        rows.append((f"claimed {what}", shown, f"{words.beyond.format(margin=margin)} is false"))
    if case.estimate is not None:
        shown = with_uncertainty(case.estimate, case.standard_error)
        open_ = f"somewhere in {interval(case.interval)}" if case.interval else ""
        rows.append((f"measured {what or quantity.short or 'difference'}", shown, open_))
    if case.gain is not None:
        rows.append(("variates", gain_text(case.gain), f"taken away: {', '.join(case.gain.variates)}"))
    if case.bias:
        label, hides = ("allowed bias", "corrections at finite size") if verdict.sizes else ("rounding", "rounding")
        rows.append((label, number(case.bias, 2), f"what {hides} may hide"))
    if case.breakdown is not None and 0 < case.breakdown < 1e6:
        stands = case.status.holds or case.status is Status.REFUTED
        meaning = (
            "so many times larger corrections overturn it" if stands else ("of the declared corrections would decide")
        )
        rows.append(("breakdown factor", number(case.breakdown, 3), meaning))
    if case.noticeable is not None and quantity.is_difference:
        rows.append(("power", number(case.noticeable, 2), "a difference that is refuted however rounding falls"))
    elif case.noticeable is not None:
        rows.append(("power", number(case.noticeable, 2), "a deviation that is refuted 9 times in 10"))
    if rows:
        yield Gap()
        width, second = (max(len(row[part]) for row in rows) for part in (0, 1))
        yield Lines(tuple(f"{a:<{width}}  {b:<{second}}  {c}".rstrip() for a, b, c in rows), indent=2)
        yield Gap()


def sweep(verdict: Verdict, case: Case) -> Iterator[Block]:
    """Observations along the sweep of a case, in a table and a plot."""
    letter, quantity = verdict.as_ or "size", verdict.words.quantity
    points = case.points
    line = predicted_along(points, case.predicted, slope=quantity.is_slope, exponential=verdict.exponential)
    along: Sequence[float | None] = line if line is not None else [None] * len(points)
    rows = tuple(
        (
            number(point.size),
            str(point.draws),
            with_uncertainty(point.estimate, point.standard_error),
            number(at, 4),
        )
        for point, at in zip(points, along, strict=True)
    )
    yield Gap()
    head = "on the claimed slope" if quantity.is_slope else "claimed"
    yield Table((letter, "draws", quantity.short or "measured", head), rows, right=(0, 1, 2, 3))
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


def _conditions(verdict: Verdict) -> Iterator[Block]:
    if verdict.unseen:
        yield Gap()
        yield Paragraph("Blind to:")
        for sentence in verdict.unseen:
            yield Paragraph(f"- {sentence}", indent=4, hang=2)
    for heading, lines in grouped(verdict.ledger):
        yield Gap()
        yield Paragraph(f"{heading}:")
        for line in lines:
            yield Paragraph(f"- {line}", indent=4, hang=2)
    yield Gap()
    if verdict.scope and not verdict.status.holds:  # a green word says it on its first line
        yield Paragraph(f"Scope: {verdict.scope}.", quiet=True)
    level = f"Level {number(verdict.level)}. " if verdict.level is not None else ""
    read = f"{READINGS[verdict.reading]}. " if verdict.words.quantity.has_margin else ""
    look = f"{verdict.look} " if verdict.look is not None else ""
    yield Paragraph(f"{read}{level}{look}Planned before the data; plan {verdict.design_hash}.", quiet=True)
