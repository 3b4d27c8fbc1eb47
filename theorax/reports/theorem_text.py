"""The report of one theorem from its part of the document: its claims, its checks, its results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from theorax.decide.facts import FactKey, Level, by_key
from theorax.decide.kill_evidence import Basis
from theorax.decide.meanings import reached
from theorax.decide.phrases import case_name
from theorax.decide.promise import GROUPS, grouped
from theorax.decide.verdict import Standing
from theorax.decide.verdict_text import fact_rows, sweep_blocks
from theorax.names import many
from theorax.reports.claim_facts import report_facts
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
    VectorisedPrograms,
)

LABELS = {
    "read": "Read: the statement below is the source's own.",
    "reconstructed": "Reconstructed: the statement below was rebuilt from the readable parts of the source and derived "
    "anew. Its wording and constants may differ from the source's.",
    "derived": "Derived: the statement below is not in the source; it was derived here.",
    "own": "Own: stated by its author in this file.",
}
STEP_SIGNS = {StepStatus.PROVED: "✓", StepStatus.CITED: "”", StepStatus.UNDECIDED: "?", StepStatus.REFUTED: "✗"}
NOT_LOOKED_AT = dict(GROUPS)[Standing.NOT_LOOKED_AT]


class Part(StrEnum):
    """Parts of a theorem's report that are folded by default."""

    CASES = "cases"
    PROOF = "proof"
    CONTROLS = "controls"
    PLOT = "plot"
    ASSUMPTIONS = "assumptions"


EVERYTHING = frozenset(Part)


def details(part: TheoremReport, shown: frozenset[Part], beside: Iterable[Block] = ()) -> Iterator[Block]:
    """The parts asked for; ``beside`` stands among the assumptions."""
    assumed = Part.ASSUMPTIONS in shown
    if assumed:
        yield Heading("Source")
        yield from sourced(TheoremHead(part.id, part.title, part.place, part.source, part.label, part.model))
        yield from in_words(part.statement, part.idea)
        yield from letter_blocks(part.letters)
        yield from hypothesis_blocks(part.hypotheses)
    if shown & {Part.CASES, Part.PLOT, Part.ASSUMPTIONS}:
        for claim in part.claims:
            yield from claimed(claim, part, shown)
    if Part.PROOF in shown:
        yield from _proof(part.proof)
    if Part.CONTROLS in shown:
        yield from _controls(part.controls)
        yield from _mutants(part.mutants)
    if assumed:
        yield from _not_looked_at(part.claims)
        yield from _caveats(part.issues)
        yield from beside
        yield from cost(part)


def _caveats(issues: Sequence[str]) -> Iterator[Block]:
    if issues:
        yield Heading("Caveats")
    for sentence in issues:
        yield Paragraph(sentence, hang=2)


def theorem_blocks(part: TheoremReport, beside: Iterable[Block] = ()) -> list[Block]:
    """The whole report of one theorem; ``beside`` stands before its verdict."""
    return [
        *theorem_heading(TheoremHead(part.id, part.title, part.place, part.source, part.label, part.model)),
        *in_words(part.statement, part.idea),
        *letter_blocks(part.letters),
        *hypothesis_blocks(part.hypotheses),
        *(block for claim in part.claims for block in claimed(claim, part)),
        *_proof(part.proof),
        *_controls(part.controls),
        *_mutants(part.mutants),
        *_not_looked_at(part.claims),
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


def theorem_heading(part: TheoremHead) -> Iterator[Block]:
    """Title, source and honesty label."""
    yield Heading(part.title or part.id, level=1)
    yield Lines((part.id,), indent=0, quiet=True)
    yield Gap()
    yield from sourced(part)


def sourced(part: TheoremHead) -> Iterator[Block]:
    """Source, place and honesty label."""
    place = f"{part.place[0].upper()}{part.place[1:]}. " if part.place else ""
    if place or part.source:
        yield Paragraph(f"{place}{part.source}", indent=0)
    if part.label in LABELS:
        yield Paragraph(LABELS[part.label], indent=0)
    if part.model:
        yield Paragraph(f"Judged on a model of yours: {part.model}.", indent=0)


def in_words(statement: str, idea: str) -> Iterator[Block]:
    """The theorem in words, and the idea of its proof, where its file gives them."""
    if statement:
        yield Heading("Statement")
        yield Paragraph(statement)
    if idea:
        yield Heading("Idea of the proof")
        yield Paragraph(idea)


def letter_blocks(rows: Sequence[LetterOutcome]) -> Iterator[Block]:
    """Meanings of the letters of the statements."""
    if not rows:
        return
    yield Heading("Letters")
    for row in rows:
        yield Paragraph(f"{row.letter}: {row.meaning}", hang=2)


def hypothesis_blocks(rows: Sequence[HypothesisOutcome]) -> Iterator[Block]:
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


def claimed(claim: ClaimReport, part: TheoremReport, shown: frozenset[Part] = EVERYTHING) -> Iterator[Block]:
    """One claim of a theorem: statement, cases, plot, verdict and the facts about it, as far as they are ``shown``."""
    assumed, found = Part.ASSUMPTIONS in shown, report_facts(claim, part)
    head = by_key(found)
    kind = f"{claim.kind} as {claim.as_} → ∞" if claim.as_ else claim.kind
    yield Heading(
        f"Claim {claim.id} ({kind})",
        status=claim.status,
        within=claim.within_margin,
        reached=reached(claim),
        alone=claim.alone,
    )
    if assumed and (first := head.get(FactKey.PROMISE)):
        yield Paragraph(first.value, hang=2)
    yield Lines(tuple(claim.statement.split("\n")))
    if printed := head.get(FactKey.PRINTED):
        yield Paragraph(printed.value)
    worst = claim.deciding
    if Part.CASES in shown and (len(claim.cases) > 1 or (worst and worst.estimate is not None)):
        yield from _cases(claim)
    if Part.PLOT in shown and worst and worst.points:
        if len(claim.cases) > 1:
            yield Gap()
            yield Paragraph(f"Along the sweep, in the case that decides, {case_name(claim, worst)}:", quiet=True)
        yield from sweep_blocks(claim, worst)
        yield Gap()
    if not assumed:
        return
    yield Paragraph(claim.sentence)
    if uncontrolled := head.get(FactKey.UNCONTROLLED):
        yield Paragraph(uncontrolled.line)
    yield from fact_rows(fact for fact in found if fact.level is Level.BODY)
    # Hypotheses have their own section above; what nobody looked at is told once for all claims.
    for heading, lines in grouped(claim.ledger, left_out=("hypothesis",)):
        if heading != NOT_LOOKED_AT:
            yield Paragraph(f"{heading}: {'; '.join(lines)}.", hang=2, quiet=True)
    if claim.unseen:
        yield Paragraph(f"{NOT_LOOKED_AT}: {'; '.join(claim.unseen)}.", hang=2, quiet=True)


def _cases(claim: ClaimReport) -> Iterator[Block]:
    # The worst case is the one that decides, so it leads.
    order = sorted(range(len(claim.cases)), key=lambda index: index != claim.worst)
    rows = tuple(
        (case_name(claim, case, "="), number(case.predicted), with_uncertainty(case.estimate, case.standard_error),
         interval(case.interval), signed(case.status))
        for case in (claim.cases[index] for index in order)
    )  # fmt: skip
    yield Table(("case", "predicted", "measured", "interval", "verdict"), rows, right=(1, 2))


def _not_looked_at(claims: Sequence[ClaimReport]) -> Iterator[Block]:
    """Everything that no check of these claims looked at, each line once with the claims that it is about."""
    found: dict[str, list[str]] = {}
    for claim in claims:
        for heading, lines in grouped(claim.ledger):
            for line in lines if heading == NOT_LOOKED_AT else ():
                found.setdefault(line, []).append(claim.id)
    if found:
        yield Heading(NOT_LOOKED_AT)
    for line, ids in found.items():
        about = "" if len(ids) == len(claims) else f" ({', '.join(ids)})"
        yield Paragraph(f"{line}{about}", hang=2, quiet=True)


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
        if step.computed_by:
            yield Paragraph(how_computed(step), indent=8, quiet=True)


def how_computed(step: StepOutcome) -> str:
    """Sentence that says by what the check computed a step, and by what it looked again."""
    again = f"; second route: {step.re_checked_by}" if step.re_checked_by else ""
    return f"Computed by {step.computed_by}{again}".rstrip(".") + "."


def _controls(rows: Sequence[ControlOutcome]) -> Iterator[Block]:
    if not rows:
        return
    fired = sum(row.fired for row in rows)
    yield Heading(f"Controls: {fired} of {len(rows)} noticed")
    yield Paragraph("Models that break a hypothesis, on which the claim must fail.", quiet=True)
    for row in rows:
        breaks = f", breaking {', '.join(row.breaks)}" if row.breaks else ""
        word = "noticed" if row.fired else "NOT NOTICED"
        outcome = f"{row.claim} is {row.status} there"
        detail = f": {row.detail}" if row.detail else ""
        yield Paragraph(f"{'✓' if row.fired else '✗'} {word}  {row.subject}{breaks}: {outcome}{detail}", hang=2)
        if told := _how_often(row):
            yield Paragraph(told, indent=4, quiet=True)


def _how_often(row: ControlOutcome) -> str:
    """The sentence that says how surely a control is noticed, and from what; empty where that is not known."""
    if row.bounded_by is None or row.kill_probability is None:
        return ""
    each = "" if row.run_draws is None else f" {many(row.run_draws, 'draw')} per size"
    least = f"at least {math.floor(100 * row.kill_probability)} % of the time (95 % confidence)"
    match row.bounded_by:
        case Basis.REPETITIONS:
            of = f", each on{each}" if each else ""
            return f"Noticed {row.kills} of {row.replicates} times{of}; so {least}."
        case Basis.STATISTIC:
            return f"Noticed once, on{each}. By its distance from the claim in standard errors: noticed {least}."
        case Basis.COUNT:
            return f"Noticed once, on{each}. By the number of draws against the claim: noticed {least}."


def _mutants(rows: Sequence[MutantOutcome]) -> Iterator[Block]:
    if not rows:
        return
    wrong = [row for row in rows if row.expected is Expected.KILLED]
    killed = sum(row.killed for row in wrong)
    yield Heading(f"Mutants: {killed} of {len(wrong)} rejected")
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
            one = len(group) == 1
            yield Paragraph(f"{many(len(group), 'variant')} {_NOT_COUNTED[expected][one]}: {names}", hang=2, quiet=True)


_NOT_COUNTED = {
    Expected.STAYS: (
        "are weaker than their claims and stay true, as they should",
        "is weaker than its claim and stays true, as it should",
    ),
    Expected.WITHIN: (
        "lie within the margin and cannot be told apart",
        "lies within the margin and cannot be told apart",
    ),
}


def _verdict(part: TheoremReport) -> Iterator[Block]:
    yield Heading("Verdict", status=part.status, within=part.within_margin, alone=part.alone)
    yield Paragraph(part.reason or f"{part.status.capitalize()}: {part.status.meaning}.")
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


def _vectorised(programs: VectorisedPrograms) -> str:
    drawn = f"{many(programs.batch, 'draw')} at a time on the {programs.device}"
    waits = f", for the host takes its steps {', '.join(programs.host_steps)}" if programs.host_steps else ""
    return f"{many(programs.programs, 'program')} with {drawn}{waits}"


def cost(part: TheoremReport) -> Iterator[Block]:
    """Cost of the check, and the command that repeats it."""
    work = part.work
    told = [f"Took {duration(part.seconds)}"]
    if work.draws:
        told.append(f"{work.draws} draws")
    if work.programs:
        share = min(1.0, work.compile_seconds / work.cpu_seconds) if work.cpu_seconds > 0 else None
        compiling = f", compiling {share:.0%} of the CPU time" if share is not None else ""
        told.append(f"{many(work.programs, 'compiled program')}{compiling}")
    told += [_vectorised(each) for each in work.vectorised]
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
