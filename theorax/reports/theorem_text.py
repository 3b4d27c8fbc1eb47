"""The report of one theorem from its part of the document: its claims, its checks, its results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from theorax.decide.status import Status
from theorax.decide.verdict import LOOSE, Case
from theorax.decide.verdict_text import sweep
from theorax.decide.wording import REMEDIES
from theorax.reports.document import CitedWork, ClaimReport, TheoremReport
from theorax.text.blocks import Block, Gap, Heading, Lines, Paragraph, Table
from theorax.text.numbers import duration, interval, number, with_uncertainty
from theorax.text.signs import signed
from theorax.verifiers.outcome import (
    ControlOutcome,
    Expected,
    HypothesisOutcome,
    LetterOutcome,
    MutantOutcome,
    StepOutcome,
    StepStatus,
)

LABELS = {
    "read": "Read: the statement below is the source's own.",
    "reconstructed": "Reconstructed: the statement below was rebuilt from what could be read of the source and derived "
    "anew; its wording and constants may differ from the source's.",
    "derived": "Derived: the statement below is not in the source; it was derived here.",
}
MEANING = {
    Status.PROVED: "an exact decision procedure closed it, for the symbols and shapes declared.",
    Status.CERTIFIED: "rigorous arithmetic covered its whole scope, "
    "with a probability of error of at most 2^-40 where it drew.",
    Status.SUPPORTED: "a test rejected that it is false by its margin or more.",
    Status.REFUTED: "it does not hold as stated.",
    Status.INCONCLUSIVE: "the data neither reject it nor reject that it is false by its margin.",
    Status.VACUOUS: "the check could not have failed, so passing it says nothing.",
    Status.BLOCKED: "what it rests on does not hold, so it was not judged.",
    Status.ERROR: "there is no verdict, because something went wrong.",
}
DEVIATIONS = {
    "inequality": "A violation in a share {} of the draws",
    "probability": "A probability {} below the claimed one",
    "law": "A law at distance {}",
}
STEP_SIGNS = {StepStatus.PROVED: "✓", StepStatus.CITED: "”", StepStatus.UNDECIDED: "?", StepStatus.REFUTED: "✗"}
CASES_SHOWN = 12


def theorem(part: TheoremReport, beside: Iterable[Block] = ()) -> list[Block]:
    """The whole report of one theorem; ``beside`` stands before its verdict."""
    return [
        *head(TheoremHead(part.id, part.title, part.place, part.source, part.label, part.model)),
        *letters(part.letters),
        *hypotheses(part.hypotheses),
        *(block for claim in part.claims for block in claimed(claim, wording(part))),
        *_proof(part.proof),
        *_controls(part.controls),
        *_mutants(part.mutants),
        *beside,
        *_verdict(part),
    ]


@dataclass(frozen=True)
class TheoremHead:
    """Head of a theorem's report: its name and its source."""

    id: str
    title: str
    place: str
    source: str
    label: str
    model: str | None = None  # of a user, where one stood in


def head(part: TheoremHead) -> Iterator[Block]:
    """Title, source and honesty label."""
    yield Heading(part.title or part.id, level=1)
    yield Lines((part.id,), indent=0, quiet=True)
    place = f"{part.place[0].upper()}{part.place[1:]}. " if part.place else ""
    yield Gap()
    yield Paragraph(f"{place}{part.source}", indent=0)
    if part.label in LABELS:
        yield Paragraph(LABELS[part.label], indent=0)
    if part.model:
        yield Paragraph(f"Judged on a model of yours: {part.model}.", indent=0)


def letters(rows: Sequence[LetterOutcome]) -> Iterator[Block]:
    """Meanings of the letters of the statements."""
    if not rows:
        return
    yield Heading("Letters")
    for row in rows:
        yield Paragraph(f"{row.letter}: {row.meaning}", hang=2)


def hypotheses(rows: Sequence[HypothesisOutcome]) -> Iterator[Block]:
    """Assumptions, and the evidence that each is needed."""
    if not rows:
        return
    yield Heading("Hypotheses")
    for row in rows:
        if row.broken_by:
            told = f"broken on purpose by: {', '.join(row.broken_by)}"
        else:
            told = f"not broken: {row.unbroken}" if row.unbroken else "not broken by any subject"
        tested = f"; tested in every draw: {row.tested}" if row.tested else ""
        yield Paragraph(f"{row.name}: {row.sentence}", hang=2)
        yield Paragraph(f"{told}{tested}", indent=4, quiet=True)


def wording(part: TheoremReport) -> str:
    """Attribute a corrected statement: only a source that was read is said to print it."""
    return "what the source prints" if part.label == "read" else "the statement as it was reconstructed here"


def claimed(claim: ClaimReport, words: str) -> Iterator[Block]:
    """One claim: what it says, in whose ``words``, what was measured, what was decided and how strongly."""
    kind = f"{claim.kind} as {claim.as_} → ∞" if claim.as_ else claim.kind
    yield Heading(f"Claim {claim.id} ({kind})", status=claim.status)
    yield Lines(tuple(claim.statement.split("\n")))
    if claim.corrected:
        yield Paragraph(f"This is {words}; what holds is the claim {claim.corrected}.")
    worst = claim.deciding
    if len(claim.cases) > 1 or (worst and worst.estimate is not None):
        yield from _cases(claim)
    if worst and worst.points:
        if len(claim.cases) > 1:
            yield Gap()
            yield Paragraph(f"Along the sweep, in the case that decides, {_named(worst)}:", quiet=True)
        yield from sweep(claim, worst)
        yield Gap()
    yield Paragraph(claim.sentence)
    yield from _strength(claim)


def _cases(claim: ClaimReport) -> Iterator[Block]:
    # The worst case is the one that decides, so it leads.
    order = sorted(range(len(claim.cases)), key=lambda index: index != claim.worst)
    rows = []
    for index in order[:CASES_SHOWN]:
        case = claim.cases[index]
        rows.append(
            (
                _named(case),
                number(case.predicted),
                with_uncertainty(case.estimate, case.standard_error),
                interval(case.interval),
                signed(case.status),
            )
        )
    yield Table(("case", "predicted", "measured", "interval", "verdict"), tuple(rows), right=(1, 2))
    hidden = len(order) - len(rows)
    if hidden > 0:
        yield Paragraph(f"and {hidden} more; the JSON report has them all", quiet=True)


def _named(case: Case) -> str:
    at = ", ".join(f"{letter}={value}" for letter, value in case.at.items())
    return f"{case.subject} ({at})" if at else str(case.subject)


def _strength(claim: ClaimReport) -> Iterator[Block]:
    """Strength of the verdict: level, margin, breakdown, power, and what could not be seen."""
    told = []
    if claim.status != claim.status_unadjusted:
        told.append(f"Alone it is {claim.status_unadjusted}.")
    if claim.reason:
        told.append(f"Undecided because of {claim.reason}: {REMEDIES[claim.reason]}.")
    if claim.rigorous:
        told.append("Rigorous: no error rate.")
    elif claim.nights:
        told.append(f"Night {claim.nights} of one process; evidence e = {number(claim.e_value, 2)}.")
    elif claim.level is not None:
        told.append(f"Level {number(claim.level, 3)}, the share of attempt {claim.attempt} with fresh seeds.")
    if claim.margin_given:
        because = f", because {claim.because}" if claim.because else ""
        told.append(f"Margin {claim.margin_given}{because}.")
    if claim.breakdown is not None:
        told.append(f"Breakdown factor {number(claim.breakdown, 3)}: {breakdown(claim.kind)}.")
    if claim.noticeable is not None:
        deviation = DEVIATIONS.get(claim.kind, "A deviation of {}").format(number(claim.noticeable, 2))
        told.append(f"{deviation} would have been noticed nine times in ten.")
    if claim.tightness is not None:
        told.append(_tightness(claim.tightness))
    if told:
        yield Paragraph(" ".join(told), quiet=True)
    for sentence in claim.unseen:
        yield Paragraph(f"Could not see: {sentence}", hang=2, quiet=True)
    if claim.scope:
        yield Paragraph(f"Scope: {claim.scope}.", hang=2, quiet=True)
    # Hypotheses have their own section above.
    for row in claim.ledger:
        if row.kind != "hypothesis":
            yield Paragraph(f"Conditional on {row.kind} ({row.checked}): {row.text}.", hang=2, quiet=True)


def breakdown(kind: str) -> str:
    """Meaning of the breakdown factor for a claim of this kind."""
    if kind == "identity":  # nothing is extrapolated: both sides are compared instance by instance
        return "so many times the largest difference, rounding included, would still lie within the margin"
    return "the verdict stands until corrections at finite size are that many times larger than declared"


def _tightness(quantiles: Sequence[float | None]) -> str:
    """Tightness of a bound, with a warning if the two sides are far apart."""
    shown = ", ".join(number(part, 2) for part in quantiles)
    middle = quantiles[1]
    loose = " LOOSE: mostly below a thousandth of the bound." if middle is not None and abs(middle) < LOOSE else ""
    return f"Left over right: {shown} at 5 %, 50 % and 95 % of the draws.{loose}"


def _proof(steps: Sequence[StepOutcome]) -> Iterator[Block]:
    last = None
    for step in steps:
        if last is None:
            yield Heading("Proof")
        if step.proof != last:
            yield Paragraph(f"{step.proof}: {step.scope}" if step.scope else step.proof)
            last = step.proof
        sign = STEP_SIGNS[step.status]
        method = f" ({step.method})" if step.method else ""
        yield Paragraph(f"{sign} {step.status} {step.reason}{method}", indent=4, hang=2)
        if step.statement:
            yield Lines(tuple(step.statement.split("\n")), indent=8)


def _controls(rows: Sequence[ControlOutcome]) -> Iterator[Block]:
    if not rows:
        return
    fired = sum(row.fired for row in rows)
    yield Heading(f"Controls: {fired} of {len(rows)} fired")
    yield Paragraph("Models that break a hypothesis, on which the claim must fail.", quiet=True)
    for row in rows:
        breaks = f", breaking {', '.join(row.breaks)}" if row.breaks else ""
        word = "fired" if row.fired else "DID NOT FIRE"
        outcome = f"{row.claim} is {row.status} there"
        detail = f": {row.detail}" if row.detail else ""
        yield Paragraph(f"{'✓' if row.fired else '✗'} {word}  {row.subject}{breaks}: {outcome}{detail}", hang=2)
        if row.replicates > 1 and row.kill_probability is not None:
            shown = f"kills with probability at least {math.floor(100 * row.kill_probability) / 100:.2f}"
            yield Paragraph(f"{shown} ({row.kills} of {row.replicates})", indent=4, quiet=True)


def _mutants(rows: Sequence[MutantOutcome]) -> Iterator[Block]:
    if not rows:
        return
    wrong = [row for row in rows if row.expected is Expected.KILLED]
    killed = sum(row.killed for row in wrong)
    yield Heading(f"Mutants: {killed} of {len(wrong)} killed")
    yield Paragraph("Wrong variants of the claims, decided on the same data; each must be rejected.", quiet=True)
    for row in wrong:
        if not row.killed:
            yield Paragraph(f"✗ survived  {row.claim}, {row.name}: {row.detail or row.status}", hang=2)
            yield Lines(tuple(row.statement.split("\n")), indent=8)
    others = [row for row in rows if row.expected is not Expected.KILLED]
    for expected in sorted({row.expected for row in others}):
        group = [row for row in others if row.expected == expected]
        # A variant inside the margin may be rejected or not: both are right.
        strange = [row for row in group if row.killed and expected is Expected.STAYS]
        names = ", ".join(f"{row.claim}/{row.name}" for row in strange or group)
        if expected is Expected.TIGHT:
            stood = [f"{row.claim}/{row.name}" for row in group if not row.killed]
            told = f"{len(group) - len(stood)} of {len(group)} sharper bounds are rejected"
            told += f"; the bounds are not tight, these stand too: {', '.join(stood)}" if stood else ""
            yield Paragraph(f"{told}.", hang=2, quiet=True)
        elif strange:
            yield Paragraph(f"✗ should be “{expected}” but were rejected: {names}", hang=2)
        else:
            yield Paragraph(
                f"{len(group)} not counted, since each {_NOT_COUNTED[expected]}: {names}", hang=2, quiet=True
            )


_NOT_COUNTED = {
    Expected.STAYS: "follows from its claim and must stay supported",
    Expected.WITHIN: "lies within the margin and cannot be told apart",
}


def _verdict(part: TheoremReport) -> Iterator[Block]:
    yield Heading("Verdict", status=part.status)
    yield Paragraph(f"{part.id} is {part.status}: {part.reason or MEANING[part.status]}")
    if part.status != part.status_unadjusted:
        yield Paragraph(f"Alone, without the other claims of this run, it is {part.status_unadjusted}.")
    if len(part.claims) > 1:
        counts = ", ".join(f"{claim.id} {claim.status}" for claim in part.claims)
        yield Paragraph(f"Claims: {counts}.", hang=2)
    for sentence in part.issues:
        yield Paragraph(f"Caveat: {sentence}", hang=2)
    yield from cost(part)


def references(part: TheoremReport, bibliography: Sequence[CitedWork]) -> Iterator[Block]:
    """The works that a theorem cites beside its paper, which its head names."""
    cited = [work for work in bibliography if work.key in part.works and work.key != part.paper]
    if not cited:
        return
    yield Heading("References")
    for work in cited:
        yield Paragraph(f"{work.entry} {work.url}".strip(), hang=2)


def cost(part: TheoremReport) -> Iterator[Block]:
    """Cost of the check, and the command that repeats it."""
    work = part.work
    told = [f"Took {duration(part.seconds)}"]
    if work.draws:
        told.append(f"{work.draws} draws")
    if work.programs:
        share = min(1.0, work.compile_seconds / work.cpu_seconds) if work.cpu_seconds > 0 else None
        compiling = f", compiling {share:.0%} of the CPU time" if share is not None else ""
        told.append(f"{work.programs} compiled program{'s' * (work.programs != 1)}{compiling}")
    sentence = "; ".join(told) + "."
    if part.kept_from is not None:
        sentence += f" Kept from {moment(part.kept_from)}: nothing that determines it changed since."
    yield Paragraph(sentence, quiet=True)
    if part.log:
        yield Paragraph(f"The full traceback is in {part.log}.")
    yield Lines((f"Replay: {part.replay}",), indent=2)


def moment(date: str) -> str:
    """A kept date as a reader wants it."""
    return date.replace("T", " ").removesuffix("Z")[:16] + " UTC"
