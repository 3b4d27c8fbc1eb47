"""From what was planned, proved and decided of a claim to its verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from theorax.decide.findings import Finding, Found, ShownBy, settle, shown_by
from theorax.decide.rates import RatePlan
from theorax.decide.status import Decision, Direction, Levels, Reason, Status
from theorax.decide.verdict import Case, ErrorRates, Grounds, Statement, Verdict, conclude
from theorax.decide.wording import REMEDIES, Shown, case_of, found_by
from theorax.language import Claim, Theorem
from theorax.language.notation import inline, meanings
from theorax.verifiers import assumptions
from theorax.verifiers.attempts import ClaimVersion
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import Judged, Prepared
from theorax.verifiers.outcome import LetterOutcome, StepOutcome


def letters(theorem: Theorem) -> tuple[LetterOutcome, ...]:
    """Every letter of the claims, what tends to infinity first, what is measured last."""
    return tuple(LetterOutcome(letter, meaning) for letter, meaning in meanings(theorem.claims.values()))


PROVED = Found(Finding.PROOF, "Proved within its scope: computer algebra closed every step.")
# A proof and a refutation of one statement: the program measured is not the one proved, or one of the two is wrong.
_DISPROVED = Found(Finding.DISPROVED, "Its proof and its measurement contradict each other.")
_SCOPED = (Status.CERTIFIED, Status.SUPPORTED)


@dataclass(frozen=True)
class PlannedClaim:
    """A claim with the prepared cases of its evidence; ``notes`` say of each why its design cannot decide, if so."""

    name: str
    claim: Claim
    cases: tuple[Prepared, ...]
    levels: Levels
    notes: tuple[str, ...]
    version: ClaimVersion
    attempt: int = 1
    logged: bool = True

    @property
    def refusal(self) -> str:
        """The sentence why the claim is not worth running; empty if it is."""
        return next((note for note in self.notes if note), "")


def undecided(reason: Reason, sentence: str = "") -> Found:
    """The finding that nothing was decided, for this reason."""
    return Found(Finding.UNDECIDED, sentence or REMEDIES[reason], reason)


def findings(judged: Sequence[Judged], decision: Decision, *, settled: bool) -> Iterator[Found]:
    """Findings of the decided cases of a claim together, beside its proof where it has one."""
    shown = judged[_worst(judged, decision)]
    # The reason that is told is that of the case; its numbers are those of all cases together.
    told = replace(decision, reason=shown.decision.reason)
    level = decision.levels.support if all(case.statistical for case in judged) else None
    where = place(shown.prepared.cell)
    if settled and decision.status is Status.REFUTED:
        yield _DISPROVED
    for finding in _brought_to_light(judged, decision):
        found = found_by(told, finding, level=level, detail=shown.detail, where=where, cases=len(judged))
        yield replace(found, reason=decision.reason) if finding is Finding.UNDECIDED else found


def _brought_to_light(judged: Sequence[Judged], decision: Decision) -> Iterator[Finding]:
    if all(case.trivial for case in judged):
        yield Finding.TRIVIAL_BOUND
    if all(case.undefined for case in judged):
        yield Finding.NO_INSTANCE
    if decision.status is Status.REFUTED:
        refuting = [case for case in judged if case.decision.status is Status.REFUTED]
        yield Finding.COUNTEREXAMPLE if any(case.rigorous for case in refuting) else Finding.TEST_REFUTED
    elif decision.status is not Status.SUPPORTED:
        yield Finding.UNDECIDED
    elif all(case.covered for case in judged):
        yield Finding.CERTIFICATE
    else:
        yield Finding.INSTANCES if all(case.rigorous for case in judged) else Finding.TEST_SUPPORTED


def verdict(
    theorem: Theorem,
    planned: PlannedClaim,
    steps: Sequence[StepOutcome],
    found: Sequence[Found],
    judged: Sequence[Judged] = (),
    decision: Decision | None = None,
) -> Verdict:
    """The verdict on one claim of a theorem, from everything that was found about it."""
    cases = judged or planned.cases
    worst = None if decision is None else _worst(judged, decision)
    certain = shown_by(found) in (ShownBy.PROVED, ShownBy.CERTIFIED)
    spends = decision is not None and not certain and all(case.statistical for case in judged)
    level = planned.levels.support if spends else None
    attempt = {"attempt": planned.attempt}
    return conclude(
        _statement(planned, cases),
        _grounds(theorem, planned, steps, settle(part.finding for part in found), judged, worst),
        found,
        [_case(case) for case in cases],
        worst=worst,
        rates=ErrorRates(**attempt) if decision is None else ErrorRates.of(decision, level, **attempt),
        robust=None if decision is None else decision.robust,
    )


def _statement(planned: PlannedClaim, cases: Sequence[Judged | Prepared]) -> Statement:
    claim = planned.claim
    orders = [part.sign * part.claimed for part in map(_prepared, cases)] if claim.predicts_an_exponent else []
    plans = [part.plan for part in map(_prepared, cases)]
    directions = {Direction.of(order) for order in orders}
    return Statement(
        id=planned.name,
        kind=claim.kind,
        statement=claim.typeset,
        latex=claim.latex,
        because=claim.margin.reason if claim.margin is not None else "",
        prediction=inline(claim.prediction) if claim.prediction is not None else None,
        as_=str(claim.tending) if claim.tending is not None else None,
        margin_given=str(claim.margin) if claim.margin is not None else None,
        corrected=claim.corrected,
        design_hash=design_hash(claim, cases),
        side=claim.sided,
        direction=directions.pop() if len(directions) == 1 else None,
        exponential=any(isinstance(plan, RatePlan) and plan.form == "exponential" for plan in plans),
    )


def _grounds(
    theorem: Theorem,
    planned: PlannedClaim,
    steps: Sequence[StepOutcome],
    status: Status,
    judged: Sequence[Judged],
    worst: int | None,
) -> Grounds:
    parts = (theorem, planned.name, planned.claim, planned.cases, steps)
    proved = status is Status.PROVED
    own = "; ".join(dict.fromkeys(case.scope for case in judged if case.scope)) if status in _SCOPED else ""
    return Grounds(
        draws=sum(point.draws for case in judged for point in case.points),
        sizes=tuple(sorted({float(size) for case in planned.cases for size in case.cell.line.sizes})),
        unseen=judged[worst].unseen if worst is not None else (),
        scope=own or assumptions.scope(*parts, settled=proved),
        ledger=assumptions.ledger(*parts, settled=proved, logged=planned.logged),
        tightness=judged[worst].tightness if worst is not None else None,
    )


def design_hash(claim: Claim, cases: Sequence[Judged | Prepared]) -> str:
    """A hash of everything that was fixed before the data: statement, margin, class, sizes, draws, weights, levels."""
    parts = [repr(claim)]
    for case in cases:
        prepared = _prepared(case)
        parts.append(
            repr((prepared.cell.line.name, sorted(prepared.cell.label.items()), prepared.claimed, prepared.margin))
        )
        parts.append(prepared.plan.hash if prepared.plan is not None else "")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def place(cell: Cell) -> str:
    """Name of the case, as a reader would say it."""
    at = ", ".join(f"{name} = {value}" for name, value in cell.label.items())
    return f"{cell.line.name}" + (f" at {at}" if at else "")


def _prepared(case: Judged | Prepared) -> Prepared:
    return case.prepared if isinstance(case, Judged) else case


def _case(judged: Judged | Prepared) -> Case:
    prepared = _prepared(judged)
    cell = prepared.cell
    predicted = prepared.sign * prepared.claimed
    shown = Shown(
        cell.line.name, cell.label, predicted, prepared.bias, prepared.margin, prepared.noticeable, prepared.sign
    )
    if isinstance(judged, Prepared):
        return case_of(None, shown)
    return case_of(judged.decision, shown, points=judged.points, detail=judged.detail)


def _worst(judged: Sequence[Judged], decision: Decision) -> int:
    """The case that decided: the clearest refutation, else the first open case, else the weakest support."""
    open_cases = [i for i, part in enumerate(judged) if part.decision.status is decision.status]
    if decision.status is Status.REFUTED:
        return min(open_cases, key=lambda i: judged[i].decision.p_refute)
    if decision.status is Status.SUPPORTED:
        return min(range(len(judged)), key=lambda i: judged[i].decision.breakdown_support)
    return open_cases[0] if open_cases else 0
