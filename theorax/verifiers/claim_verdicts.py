"""From what was planned, proved and decided of a claim to its verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sympy import Expr

from theorax.decide.case_results import CaseResult
from theorax.decide.conclusions import conclude, deciding
from theorax.decide.findings import Finding, Found, ShownBy, decisive, settle, shown_by
from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked
from theorax.decide.promise import DERIVATION
from theorax.decide.status import Decision, Direction, Reason, Status
from theorax.decide.verdict import AssumedNoise, Assumption, Searched, Seen, Standing, Statement, Verdict
from theorax.decide.wording import REMEDIES, found_by, inside, witnessed
from theorax.exact.held_fixed import held_fixed_text
from theorax.language import Claim, Index, Letter, Theorem
from theorax.language.notation import displayed, inline, meanings
from theorax.verifiers import assumptions
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.claim_versions import DELETED_FIELDS
from theorax.verifiers.kinds.lowering import CellCase, CellResult
from theorax.verifiers.outcome import LetterOutcome
from theorax.verifiers.planned_claim import PlannedClaim
from theorax.verifiers.proof_check import CheckedProofs


def letters_of_claims(theorem: Theorem) -> tuple[LetterOutcome, ...]:
    """Every letter of the claims, what tends to infinity first, what is measured last."""
    symbols = {symbol for claim in theorem.claims.values() for symbol in claim.letters}
    return tuple(LetterOutcome(letter, meaning) for letter, meaning in meanings(symbols))


# A proof and a refutation of one statement: the program measured is not the one proved, or one of the two is wrong.
_DISPROVED = Found(Finding.DISPROVED, "Its proof and its measurement contradict each other.")
_SCOPED = (Status.CERTIFIED, Status.SUPPORTED)


def proved(scope: str) -> Found:
    """The finding that the claim's own proof settles it, for what its instances speak."""
    return Found(
        Finding.PROOF, f"Proved {f'for {scope}' if scope else 'within its scope'}: computer algebra closed every step."
    )


def undecided(reason: Reason, sentence: str = "") -> Found:
    """The finding that nothing was decided, for this reason."""
    return Found(Finding.UNDECIDED, sentence or REMEDIES[reason], reason)


def no_case(theorem: Theorem, claim: Claim) -> str:
    """The sentence why a measured claim has no case: its condition holds nowhere; empty where that is not the reason."""
    if not (claim.observed and claim.condition):
        return ""
    experiment = theorem.experiments[theorem.experiment_of(claim) or ""]
    cases = experiment.cases
    held = sorted(claim.where.free_symbols, key=str)
    fixed = {letter for case in cases for letter in case} | {letter for letter in held if isinstance(letter, Index)}
    fixed |= {experiment.swept, *experiment.derived}
    if strange := [letter for letter in held if letter not in fixed]:
        return (
            f"The condition {claim.condition} holds {displayed(strange[0])}, which is not fixed in a case, so it chooses no "
            "case. A condition speaks of sizes, of letters of at=(...), of what subjects know and of indices."
        )
    return (
        f"No case of the experiment satisfies the condition {claim.condition}, so nothing was drawn. Add one to at=(...) or "
        "along={...}, or correct where=..."
    )


def decided_findings(
    judged: Sequence[CellResult], decision: Decision, *, settled: bool, letter: str = "n"
) -> Iterator[Found]:
    """Findings of the decided cases of a claim together, beside its proof where it has one."""
    shown = deciding(judged, decision)
    # The reason that is told is that of the case; its numbers are those of all cases together.
    told = replace(decision, reason=shown.decision.reason)
    level = decision.levels.of(decision.status) if all(case.statistical for case in judged) else None
    where = cell_name(shown.cell)
    within = _inside(judged, shown) if decision.equivalent_within_margin else ""
    # What is proved is the claim itself, however it is read.
    if settled and (decision.status is Status.REFUTED or decision.equivalent_within_margin):
        yield _DISPROVED
    for finding in _brought_to_light(judged, decision):
        found = found_by(
            told,
            finding,
            level=level,
            detail=shown.detail,
            where=where,
            cases=len(judged),
            within=within,
            letter=letter,
        )
        yield replace(found, reason=decision.reason) if finding is Finding.UNDECIDED else found


def _inside(judged: Sequence[CellResult], shown: CellResult) -> str:
    """The sentence of the case that is off the claim but inside the margin: the deciding one, if it is such a case."""
    off = [case for case in (shown, *judged) if case.decision.equivalent_within_margin]
    return inside(off[0].decision, off[0].sign, off[0].plan.words)


def _brought_to_light(judged: Sequence[CellResult], decision: Decision) -> Iterator[Finding]:
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
    proofs: CheckedProofs,
    found: Sequence[Found],
    judged: Sequence[CellResult] = (),
    decision: Decision | None = None,
    looked: Looked = NOTHING_LOOKED_AT,
    seen_at: Seen | None = None,
) -> Verdict:
    """The verdict on one claim of a theorem, from everything that was found about it; ``seen_at``: what it was looked at."""
    cases = judged or planned.cases
    status = settle(part.finding for part in (*found, *looked.findings))
    certain = shown_by((*found, *looked.findings)) in (ShownBy.PROVED, ShownBy.CERTIFIED)
    spends = decision is not None and not certain and all(case.statistical for case in judged)
    parts = (theorem, planned.name, planned.claim, planned.cases)
    is_proved = status is Status.PROVED
    own = "; ".join(dict.fromkeys(case.scope for case in judged if case.scope))
    seen = (own if is_proved or status in _SCOPED else "") or assumptions.scope(*parts)
    seen += assumptions.surrogates(theorem, planned.cases)
    beside = is_proved and _supported(decision, looked)
    return conclude(
        _statement(theorem, planned, cases, seen_at, decisive((*found, *looked.findings)).finding),
        cases,
        found,
        decision=decision,
        level=planned.levels.of(status) if spends else None,
        looked=looked,
        scope=(_proved_for(planned, proofs, decision, seen, looked) if is_proved else seen) + _held(judged, status),
        proved_for=_closed_for(planned, proofs) if is_proved else "",
        measured_for=(own or assumptions.seen(planned.claim, planned.cases)) if beside else "",
        ledger=(
            *assumptions.ledger(*parts, proofs.steps, settled=is_proved, logged=planned.logged),
            *_derivation(planned.name, proofs),
        ),
        sizes=sorted({float(size) for case in planned.cases for size in case.cell.line.sizes}),
        attempt=planned.attempt,
        log=planned.entry,
        seen=seen_at,
    )


def _derivation(claim: str, proofs: CheckedProofs) -> tuple[Assumption, ...]:
    """The line of the ledger on a proof that derives nothing of the claim."""
    why = proofs.underived.get(claim)
    return (Assumption(DERIVATION, why, Standing.NOT_LOOKED_AT),) if why else ()


def excluded_by_data(claim: str, proofs: CheckedProofs, decision: Decision) -> Iterator[Found]:
    """The finding that data exclude the very value at which a proof ends that derives nothing of the claim."""
    if (why := proofs.underived.get(claim)) and decision.equivalent_within_margin:
        told = f"{why} It ends in exactly the value claimed, which that excludes: the value is off, within the margin."
        yield Found(Finding.WITHHELD, told, Reason.NOT_DECIDABLE_YET)


def searched(verdict: Verdict, found: Searched, *, settled: bool) -> Verdict:
    """The verdict after a search for a witness: refuted by one, and otherwise what it was.

    A witness is no matter of chance: nothing of an error rate is spent. One against a proof contradicts it.
    """
    verdict = replace(verdict, searched=found)
    if found.witness is None:
        return verdict
    told = witnessed(found.witness, verdict.swept, found.untested)
    by = Finding.COUNTEREXAMPLE if found.witness.by_ball else Finding.WITNESS
    against = (_DISPROVED,) if settled else ()
    refuted = verdict.with_findings(Found(by, told), *against)
    return replace(refuted, level=None, p_refute=None, p_support=None)


def unlogged(verdict: Verdict) -> Verdict:
    """The verdict, where the log of attempts failed while its claim was decided."""
    if verdict.log is None:
        return verdict
    return replace(verdict, log=None, ledger=(*verdict.ledger, assumptions.UNLOGGED))


def _statement(
    theorem: Theorem, planned: PlannedClaim, cases: Sequence[CellCase], seen: Seen | None, finding: Finding
) -> Statement:
    claim, general, alone = planned.claim, "", _alone(planned, seen)
    if alone:
        assert claim.prediction is not None  # which holds these letters
        claim, general = replace(claim, **{claim.predicted: claim.prediction.subs(alone)}), claim.formula
    # "At every size" is for what a proof or a domain covers.
    is_covered = finding in (Finding.PROOF, Finding.CERTIFICATE) or not planned.cases
    regime = claim.regime
    if not is_covered:
        results = [case for case in cases if isinstance(case, CaseResult)]
        holds = finding in (Finding.TEST_SUPPORTED, Finding.INSTANCES)
        regime = claim.seen_regime(sum(point.draws for case in results for point in case.points) if holds else 0)
    orders = [case.predicted for case in cases if case.predicted is not None] if claim.predicts_an_exponent else []
    directions = {Direction.of(order) for order in orders}
    return Statement(
        id=planned.name,
        kind=claim.kind,
        words=claim.words,
        statement=claim.typeset if is_covered else claim.typeset_as_seen,
        latex=claim.latex,
        because=claim.margin.reason if claim.margin is not None else "",
        prediction=inline(claim.prediction) if claim.prediction is not None else None,
        as_=str(claim.tending) if claim.tending is not None else None,
        margin_given=str(claim.margin) if claim.margin is not None else None,
        corrected=claim.corrected,
        design_hash=design_hash(planned),
        side=claim.sided,
        reading=claim.reading,
        direction=directions.pop() if len(directions) == 1 else None,
        exponential=any(case.plan.is_exponential for case in cases),
        formula=claim.formula,
        regime=regime,
        condition=", ".join(filter(None, (*(f"{inline(s)} = {inline(v)}" for s, v in alone.items()), claim.condition))),
        general=general,
        noise=_assumed_noise(claim, cases),
        swept=next((displayed(case.cell.line.swept) for case in planned.cases), ""),
        display={name: displayed(name) for case in planned.cases for name in case.cell.label},
        under=theorem.needed(claim),
    )


def _alone(planned: PlannedClaim, seen: Seen | None) -> dict[Letter, Expr]:
    """The letters of the predicted side of which all evidence has one value, with it: the statement is about that value."""
    alone = {row.letter for row in seen.letters if row.is_alone} if seen is not None else set()
    cases = planned.cases[0].cell.line.case if planned.cases else {}
    return {letter: value for letter, value in cases.items() if displayed(letter) in alone}


def _assumed_noise(claim: Claim, cases: Sequence[CellCase]) -> AssumedNoise | None:
    sd = [part for case in cases for part in case.noise]
    return AssumedNoise(min(sd), max(sd), claim.spread_text, claim.spread != Claim.spread) if sd else None


def _proved_for(
    planned: PlannedClaim, proofs: CheckedProofs, decision: Decision | None, seen: str, looked: Looked
) -> str:
    """For what the proof speaks, as the check saw it; what measuring found beside it; what the author says."""
    parts = [closed] if (closed := _closed_for(planned, proofs)) else []
    if decision is not None:
        word = decision.status if _supported(decision, looked) else "measuring left it open"
        parts.append(f"{word}: {seen}")
    elif planned.claim.observed:
        parts.append("too weak to measure" if planned.refusal else "not measured")
    if said := next((step.scope for step in proofs.steps if step.proof == planned.name and step.scope), ""):
        parts.append(f"the author says: {said.rstrip('.')}")
    return "; ".join(parts)


def _closed_for(planned: PlannedClaim, proofs: CheckedProofs) -> str:
    """Instances or values that the proof closed, as the check saw them."""
    if scope := proofs.scopes.get(planned.name):
        return f"for {scope}"
    if planned.claim.observed:
        return ""
    letters = ", ".join(sorted(map(inline, planned.claim.letters)))
    return f"for all values of {letters} that their declarations admit" if letters else "for these numbers"


def _supported(decision: Decision | None, looked: Looked) -> bool:
    """True if a test supports the claim and no guard holds that back."""
    return decision is not None and decision.status is Status.SUPPORTED and not looked.withholds


def _held(judged: Sequence[CellResult], status: Status) -> str:
    """The inputs that were held fixed, as the end of the scope of a green word that rests on what was built."""
    held = list(dict.fromkeys(part for case in judged for part in case.held)) if status in _SCOPED else []
    return f"; {held_fixed_text(held)}" if held else ""


def design_hash(planned: PlannedClaim) -> str:
    """A hash of everything that was fixed before the data: statement, margin, class, sizes, draws, weights, levels, looks."""
    planned = planned.whole or planned
    deleted = "".join(f", {field}" for field in DELETED_FIELDS.get(type(planned.claim).__name__, ()))
    parts = [f"{repr(planned.claim)[:-1]}{deleted})"]
    for case in planned.cases:
        parts.append(repr((case.cell.name, sorted(case.cell.label.items()), case.claimed, case.margin)))
    parts += planned.hashes
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def cell_name(cell: Cell) -> str:
    """Name of the case, as a reader would say it."""
    at = ", ".join(f"{displayed(name)} = {value}" for name, value in cell.label.items())
    return f"{cell.name}" + (f" at {at}" if at else "")
