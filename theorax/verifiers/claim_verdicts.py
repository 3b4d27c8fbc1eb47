"""A decision in words: everything that a report says about one claim."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from theorax.decide.status import Decision, Status
from theorax.decide.verdict import Case, Verdict
from theorax.decide.wording import REMEDIES, case_of, sentence
from theorax.language import Claim, Theorem
from theorax.language.notation import inline, meanings
from theorax.verifiers.cases.lines import Cell
from theorax.verifiers.kinds.lowering import Judged, Prepared
from theorax.verifiers.outcome import LetterOutcome


def letters(theorem: Theorem) -> tuple[LetterOutcome, ...]:
    """Every letter of the claims, what tends to infinity first, what is measured last."""
    return tuple(LetterOutcome(letter, meaning) for letter, meaning in meanings(theorem.claims.values()))


_SCOPED = (Status.CERTIFIED, Status.SUPPORTED)


def claim_outcome(
    name: str,
    claim: Claim,
    status: Status,
    decision: Decision | None,
    cases: Sequence[Judged | Prepared],
    level: float,
    *,
    settled: bool = False,
    note: str = "",
) -> Verdict:
    """Everything a report says about one claim."""
    rows = tuple(_case(case, claim) for case in cases)
    judged = [case for case in cases if isinstance(case, Judged)]
    reason = (
        decision.reason.value if decision is not None and decision.reason and status is Status.INCONCLUSIVE else None
    )
    worst = _worst(judged, decision)
    unseen = judged[worst].unseen if worst is not None else ()
    rigorous = status in (Status.PROVED, Status.CERTIFIED, Status.REFUTED) and (
        settled or any(case.rigorous for case in judged)
    )
    spends = not rigorous and bool(judged) and all(case.statistical for case in judged)
    draws = sum(point.draws for case in judged for point in case.points)
    sizes = sorted({size for case in cases for size in _prepared(case).cell.line.sizes})
    return Verdict(
        id=name,
        kind=claim.kind,
        statement=claim.typeset,
        latex=claim.latex,
        status=status,
        reason=reason,
        sentence=_sentence(status, decision, judged, worst, level, settled, note),
        because=claim.because,
        prediction=inline(claim.prediction) if claim.prediction is not None else None,
        as_=str(claim.tending) if claim.tending is not None else None,
        level=level if spends else None,
        margin_given=str(claim.margin) if claim.margin is not None else None,
        corrected=claim.corrected,
        draws=draws,
        sizes=tuple(map(float, sizes)),
        design_hash=design_hash(claim, cases),
        cases=rows,
        worst=worst,
        unseen=unseen,
        p_refute=None if not spends or decision is None else decision.p_refute,
        p_support=None if not spends or decision is None else decision.p_support,
        rigorous=rigorous,
        covered=settled or (status is Status.CERTIFIED and all(case.covered for case in judged)),
        scope="; ".join(dict.fromkeys(case.scope for case in judged if case.scope)) if status in _SCOPED else "",
        tightness=judged[worst].tightness if worst is not None else None,
    )


def design_hash(claim: Claim, cases: Sequence[Judged | Prepared]) -> str:
    """A hash of everything that was fixed before the data: statement, margin, class, sizes, draws, weights, levels."""
    parts = [repr(claim)]
    for case in cases:
        prepared = _prepared(case)
        weights = prepared.weights
        parts.append(
            repr((prepared.cell.line.name, sorted(prepared.cell.label.items()), prepared.claimed, prepared.margin))
        )
        parts.append(repr((weights.plan, weights.values)) if weights is not None else "")
        parts += [repr(part) for part in (prepared.design, prepared.frequencies) if part is not None]
        parts.append(prepared.plan.hash if prepared.plan is not None else "")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def place(cell: Cell) -> str:
    """Which case this is, as a reader would say it."""
    at = ", ".join(f"{name} = {value}" for name, value in cell.label.items())
    return f"{cell.line.name}" + (f" at {at}" if at else "")


def _prepared(case: Judged | Prepared) -> Prepared:
    return case.prepared if isinstance(case, Judged) else case


def _case(judged: Judged | Prepared, claim: Claim) -> Case:
    prepared = _prepared(judged)
    shown = {
        "subject": prepared.cell.line.name,
        "at": prepared.cell.label,
        "predicted": prepared.sign * prepared.claimed,
        "bias": prepared.bias,
        "margin": prepared.margin,
        "noticeable": prepared.noticeable,
    }
    if isinstance(judged, Prepared):
        return Case(
            **shown,  # type: ignore[arg-type]
            estimate=None,
            standard_error=None,
            interval=None,
            status=Status.INCONCLUSIVE,
            reason=None,
            p_refute=None,
            p_support=None,
            breakdown=None,
        )
    return case_of(
        judged.decision,
        **shown,  # type: ignore[arg-type]
        sign=prepared.sign,
        points=judged.points,
        detail=judged.detail,
    )


def _worst(judged: Sequence[Judged], decision: Decision | None) -> int | None:
    """The case that decided: the clearest refutation, else the first open case, else the weakest support."""
    if not judged or decision is None:
        return None
    open_cases = [i for i, part in enumerate(judged) if part.decision.status is decision.status]
    if decision.status is Status.REFUTED:
        return min(open_cases, key=lambda i: judged[i].decision.p_refute)
    if decision.status is Status.SUPPORTED:
        return min(range(len(judged)), key=lambda i: judged[i].decision.breakdown_support)
    return open_cases[0] if open_cases else 0


def _sentence(
    status: Status,
    decision: Decision | None,
    judged: Sequence[Judged],
    worst: int | None,
    level: float,
    settled: bool,
    note: str,
) -> str:
    if status is Status.PROVED:
        return "Proved within its scope: computer algebra closed every step."
    if note:
        return note
    if worst is None or decision is None:
        return REMEDIES[decision.reason] if decision is not None and decision.reason else "Nothing was decided."
    shown = judged[worst]
    # The reason that is told is that of the case; its numbers are those of all cases together.
    told = replace(decision, reason=shown.decision.reason)
    where = place(shown.prepared.cell)
    return sentence(status, told, level, detail=shown.detail, where=where, cases=len(judged))
