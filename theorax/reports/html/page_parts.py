"""The parts of a report as its page shows them: one theorem, one claim, the runs' own numbers; no markup here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from theorax.decide.promise import GROUPS, grouped, promise
from theorax.decide.verdict_text import gains_text
from theorax.decide.wording import REMEDIES, attempted
from theorax.reports.document import ClaimReport, TheoremReport
from theorax.reports.theorem_text import breakdown
from theorax.text.numbers import interval, number, with_uncertainty
from theorax.verifiers.outcome import Expected, HypothesisOutcome, MutantOutcome

EXCESS = "largest excess over the bound"
SCREEN = 160  # columns of text that a wide screen holds
LONG = 120  # characters of a formula that a list of facts still takes


def parameters(claim: ClaimReport) -> list[dict[str, str]]:
    """The parameters of every case, with its size where cases differ in nothing else."""
    twins = Counter((case.subject, tuple(case.at.items())) for case in claim.cases)
    found = []
    for case in claim.cases:
        alone = twins[case.subject, tuple(case.at.items())] == 1
        size = {} if alone or len(case.points) != 1 else {"size": number(case.points[0].size)}
        found.append({**case.at, **size})
    return found


def case_names(claim: ClaimReport) -> list[str]:
    """Every case by its subject and parameters."""
    return [
        ", ".join([str(case.subject), *(f"{letter} = {value}" for letter, value in at.items())])
        for case, at in zip(claim.cases, parameters(claim), strict=True)
    ]


def as_text(claim: ClaimReport) -> str:
    """The statement as text, beside its formula; empty where there is no formula, or where no screen holds the text."""
    lines = [line.rstrip() for line in claim.statement.splitlines()]
    return "\n".join(lines) if claim.latex and max(map(len, lines), default=0) <= SCREEN else ""


def alike(claim: ClaimReport) -> str:
    """The verdict that all cases of a claim share; empty where they differ, or where one has a reason."""
    found = {(str(case.status), str(case.reason or "")) for case in claim.cases}
    status, reason = next(iter(found)) if len(found) == 1 else ("", "")
    return "" if reason else status


def facts(claim: ClaimReport) -> Iterator[tuple[str, str]]:
    """Result of the deciding case and strength of the verdict: name and value."""
    if claim.worst is not None and len(claim.cases) > 1:
        yield "Deciding case", case_names(claim)[claim.worst]
    quantity = claim.words.quantity
    is_error = quantity.is_error
    is_bound = is_error and quantity.is_share
    # Without an interval no draws were counted: the bound was evaluated at points.
    what = EXCESS if is_bound and claim.interval is None else quantity.name
    if is_error:
        if is_bound and claim.prediction and len(claim.prediction) < LONG:
            yield "Bound", claim.prediction
    elif claim.predicted is not None:
        form = claim.prediction if claim.prediction != number(claim.predicted) else None
        shown = f" = {form}" if form and len(form) < LONG else ""
        yield "Predicted", f"{what} {number(claim.predicted)}{shown}".lstrip()
    if claim.estimate is not None:
        yield "Measured", f"{what} {with_uncertainty(claim.estimate, claim.standard_error)}".lstrip()
    if claim.interval is not None:
        yield "Interval", f"{interval(claim.interval)}, everything that may bias it included"
    if claim.bias:
        yield "Bias", f"at most {number(claim.bias, 2)}, by what the declared class of corrections allows"
    if claim.margin_given:
        because = f", because {claim.because}" if claim.because else ""
        yield "Margin", f"{claim.margin_given}{because}"
    if claim.status != claim.status_unadjusted:
        yield "Alone", f"{claim.status_unadjusted}; the other claims of this run changed it"
    if claim.reason:
        yield "Undecided", f"{claim.reason}: {REMEDIES[claim.reason]}"
    if claim.rigorous:
        yield "Level", "rigorous: no error rate"
    elif claim.level is not None:
        yield (
            "Level",
            f"{number(claim.level, 3)}, what attempt {claim.attempt} may spend of the error rate of all at this claim",
        )
    if claim.log is not None and not claim.rigorous:
        yield "Attempt", attempted(claim.log)
    if claim.breakdown is not None:
        yield "Breakdown", breakdown(claim)
    if claim.headroom is not None:
        yield "Headroom", f"the largest difference fits {number(claim.headroom, 3)} times into the margin"
    if claim.noticeable is not None:
        deviation = claim.words.deviating(number(claim.noticeable, 2))
        yield "Power", f"{deviation[:1].upper()}{deviation[1:]} would have been noticed nine times in ten"
    if gains := [case.gain for case in claim.cases if case.gain is not None]:
        yield "Variates", gains_text(gains)
    if claim.tightness is not None:
        shown = ", ".join(number(part, 2) for part in claim.tightness)
        yield "Tightness", f"left over right is {shown} at 5 %, 50 % and 95 % of the draws"
    if claim.scope and claim.scope not in promise(claim):
        yield "Scope", claim.scope
    if claim.draws:
        yield "Draws", f"{claim.draws}" + (f" over sizes {_sizes(claim.sizes)}" if claim.sizes else "")
    if claim.look is not None:
        yield "Look", str(claim.look)
    if claim.design_hash:
        yield "Design", f"{claim.design_hash}, fixed before the data"


def _sizes(sizes: Sequence[float | None]) -> str:
    shown = [number(size) for size in sizes]
    return ", ".join(shown) if len(shown) <= 8 else f"{shown[0]} to {shown[-1]}"


@dataclass(frozen=True)
class LedgerLine:
    """A line of the ledger, and the claims that it is told of, where these are not all."""

    text: str
    claims: str


@dataclass(frozen=True)
class LedgerGroup:
    """Lines under one heading of the ledger."""

    heading: str
    lines: list[LedgerLine]


def ledger(claims: Sequence[ClaimReport], hypotheses: Sequence[HypothesisOutcome] = ()) -> list[LedgerGroup]:
    """The ledgers of the claims as one: every line once, with the claims it is told of; ``hypotheses`` by name alone."""
    names = {f"{row.name}: {row.sentence}": row.name for row in hypotheses}
    told: dict[str, dict[str, list[str]]] = {heading: {} for _, heading in GROUPS}
    for claim in claims:
        rows = [replace(row, text=names.get(row.text, row.text)) for row in claim.ledger]
        for heading, lines in grouped(rows, claim.unseen):
            for line in lines:
                told[heading].setdefault(line, []).append(claim.id)
    return [
        LedgerGroup(heading, [LedgerLine(text, _of(ids, claims)) for text, ids in lines.items()])
        for heading, lines in told.items()
        if lines
    ]


def _of(ids: Sequence[str], claims: Sequence[ClaimReport]) -> str:
    """The claims that a line is told of, named by the shorter of the two lists; empty for all of them."""
    others = [claim.id for claim in claims if claim.id not in ids]
    if not others:
        return ""
    return f"all but {', '.join(others)}" if len(others) < len(ids) else ", ".join(ids)


@dataclass(frozen=True)
class VariantRow:
    """Variants of a claim that one verdict fits: one of the file with what it says, or all that a rule made."""

    claim: str
    names: str
    statement: str
    verdict: str


def variants(rows: Sequence[MutantOutcome]) -> list[VariantRow]:
    """Variants of the file one by one; those that the machine made by their names alone, for these say what changed."""
    of_file = [row for row in rows if row.origin == "file"]
    found = [
        VariantRow(row.claim, row.name, row.statement, f"{row.status}: {row.detail}" if row.detail else str(row.status))
        for row in of_file
    ]
    made: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.origin != "file":
            made.setdefault((row.claim, str(row.status)), []).append(row.name)
    return found + [VariantRow(claim, "; ".join(names), "", status) for (claim, status), names in made.items()]


def sensitivity(part: TheoremReport) -> dict[str, Any]:
    """Deliberate changes of a claim, and if the check noticed each."""
    rows = part.mutants
    wrong = [row for row in rows if row.expected is Expected.KILLED]
    tight = [row for row in rows if row.expected is Expected.TIGHT]
    others = [row for row in rows if row.expected not in (Expected.KILLED, Expected.TIGHT)]
    strange = [row for row in others if row.expected is Expected.STAYS and row.killed]
    return {
        "controls": part.controls,
        "fired": sum(row.fired for row in part.controls),
        "wrong": wrong,
        "killed": [row for row in wrong if row.killed],
        "survivors": [row for row in wrong if not row.killed],
        "tight": tight,
        "sharper": sum(row.killed for row in tight),
        "strange": strange,
        "uncounted": [row for row in others if row not in strange],
    }


@dataclass(frozen=True)
class Erratum:
    """A claim as a source prints it, the one that holds instead, and the hypotheses that this needs beyond."""

    theorem: TheoremReport
    printed: ClaimReport
    holds: ClaimReport | None
    more: list[str]


@dataclass(frozen=True)
class PaperErrata:
    """The errata of one paper."""

    key: str
    source: str
    entries: list[Erratum]


def errata(theorems: Sequence[TheoremReport]) -> list[PaperErrata]:
    """Errata by paper: the printed claim and its correction."""
    found: dict[str, PaperErrata] = {}
    for part in theorems:
        for printed in part.claims:
            if not printed.corrected:
                continue
            holds = next((claim for claim in part.claims if claim.id == printed.corrected), None)
            paper = found.setdefault(part.paper, PaperErrata(part.paper, part.source, []))
            more = [text for text in _needs(holds) if text not in _needs(printed)]
            paper.entries.append(Erratum(part, printed, holds, more))
    return list(found.values())


def _needs(claim: ClaimReport | None) -> list[str]:
    """The hypotheses of a claim, as its ledger tells them."""
    return [row.text for row in claim.ledger if row.kind == "hypothesis"] if claim is not None else []


def adjusted(theorems: Sequence[TheoremReport]) -> list[tuple[TheoremReport, ClaimReport]]:
    """The claims that spend the run's error budget, with their theorems."""
    return [
        (part, claim)
        for part in theorems
        for claim in part.claims
        if claim.adjusted_refute is not None or claim.adjusted_support is not None
    ]
