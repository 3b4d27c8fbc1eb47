"""The verdict on a user's own numbers, from their plan and its test: the same `Verdict` that a theorem's claim has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from theorax.decide.case_results import own_case
from theorax.decide.conclusions import conclude
from theorax.decide.correction_words import class_assumption
from theorax.decide.designs import Target
from theorax.decide.guard_findings import Looked, all_looked
from theorax.decide.plans import Planned, SweepPlan, Tested
from theorax.decide.size_arithmetic import over_sizes, sizes_of_ledger
from theorax.decide.skewness import with_tails
from theorax.decide.status import Direction
from theorax.decide.verdict import Assumption, Standing, Statement, Verdict
from theorax.decide.wide_margins import says_nothing
from theorax.decide.wording import SEEDS, found_by, inside

__all__ = ["one_law_verdict", "sweep_assumptions", "sweep_verdict"]


def one_law_verdict(
    plan: Planned, tested: Tested, *, scope: str, assumptions: Iterable[Assumption], draws: int | None = None
) -> Verdict:
    """The verdict on one claim with one case, about the law that the draws come from."""
    return _concluded(plan, tested, tuple(assumptions), scope=scope, draws=draws)


def sweep_verdict(plan: SweepPlan, tested: Tested, *, assumptions: tuple[Assumption, ...]) -> Verdict:
    """The verdict on a claim about what happens as the size grows."""
    return _concluded(
        plan,
        tested,
        (*assumptions, *sizes_of_ledger(plan.sizes)),
        sizes=plan.sizes,
        scope=f"as {plan.letter} → ∞ under the declared class of corrections, seen at {plan.letter} = "
        f"{plan.sizes[0]:g} to {plan.sizes[-1]:g}",
        letter=plan.letter,
    )


def _concluded(
    plan: Planned,
    tested: Tested,
    assumptions: tuple[Assumption, ...],
    *,
    scope: str,
    sizes: Sequence[float] = (),
    letter: str | None = None,
    draws: int | None = None,
) -> Verdict:
    sizes = tuple(map(float, sizes))
    decision = over_sizes(tested.decision, sizes)
    case, words = own_case(plan, replace(tested, decision=decision)), plan.kind_words
    level = decision.levels.of(decision.status)
    # Without randomness there is no error rate: what is left is the declared class.
    spent = level if plan.random else None
    stated = Statement(
        id=plan.name,
        kind=words.kind,
        words=words,
        statement=plan.statement,
        prediction=None if case.predicted is None else f"{case.predicted:g}",
        as_=letter,
        margin_given=f"± {plan.margin:g}",
        design_hash=plan.hash,
        side=decision.side if case.sign > 0 else decision.side.mirrored,
        reading=plan.reading,
        direction=Direction.of(case.predicted) if words.quantity.is_slope and case.predicted is not None else None,
        exponential=plan.is_exponential,
    )
    within = inside(decision, case.sign, plan.words)
    return conclude(
        stated,
        [case],
        [found_by(decision, level=spent, detail=tested.detail, within=within, letter=letter or "n")],
        decision=decision,
        level=spent,
        looked=all_looked([tested.looked, Looked(tuple(says_nothing([plan.no_meaning])))]),
        scope=scope,
        ledger=tuple(with_tails(line, decision) for line in assumptions),
        draws=draws,
        sizes=sizes,
    )


def sweep_assumptions(plan: SweepPlan, *moments: Assumption) -> tuple[Assumption, ...]:
    """Assumptions of a verdict over a sweep: class, moments, seeds, arithmetic."""
    found = [
        class_assumption(
            plan.corrections, plan.letter, plan.sizes[0], plan.unit, in_limit=plan.core.target is Target.LIMIT
        ),
        *moments,
    ]
    if plan.random:
        found.append(Assumption("independence", SEEDS[plan.seeds], Standing.DECLARED))
    given = max(plan.core.given_errors)
    exact = f"each value errs by at most {given:.2g}" if given else "the values are taken as exact"
    found.append(
        Assumption("float model", f"{exact}; the rounding of their sums is bounded and added", Standing.DECLARED)
    )
    return tuple(found)
