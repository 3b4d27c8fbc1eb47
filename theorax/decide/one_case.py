"""From a decision on own numbers to the same `Verdict` that a theorem's claim has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from theorax.decide.correction_words import class_assumption
from theorax.decide.kinds import KindWords
from theorax.decide.plans import Planned, SweepPlan, Tested
from theorax.decide.size_arithmetic import over_sizes, sizes_of_ledger
from theorax.decide.skewness import with_tails
from theorax.decide.status import Direction, Status
from theorax.decide.verdict import Assumption, ErrorRates, Grounds, Standing, Statement, Verdict, conclude
from theorax.decide.wide_margins import says_nothing
from theorax.decide.wording import SEEDS, Shown, case_of, found_by, inside

__all__ = ["ledger", "sweep_verdict", "verdict"]


@dataclass(frozen=True)
class Claimed:
    """Claim of a plan, as a reader sees it; ``sign`` turns a decay exponent into the exponent that is shown."""

    words: KindWords
    predicted: float | None
    sign: int = 1
    exponential: bool = False


def verdict(
    plan: Planned,
    tested: Tested,
    claimed: Claimed,
    *,
    scope: str,
    assumptions: Iterable[Assumption],
    draws: int | None = None,
    random: bool = True,
) -> Verdict:
    """The verdict on one claim with one case, about the law that the draws come from."""
    count = sum(point.draws for point in tested.points) if draws is None else draws
    return _concluded(
        plan, tested, claimed, Grounds(draws=count, scope=scope, ledger=tuple(assumptions)), random=random
    )


def sweep_verdict(plan: SweepPlan, tested: Tested, claimed: Claimed, *, assumptions: tuple[Assumption, ...]) -> Verdict:
    """The verdict on a claim about what happens as the size grows."""
    grounds = Grounds(
        draws=sum(point.draws for point in tested.points),
        sizes=tuple(map(float, plan.sizes)),
        scope=f"as {plan.letter} → ∞ under the declared class of corrections, seen at {plan.letter} = "
        f"{plan.sizes[0]:g} to {plan.sizes[-1]:g}",
        ledger=(*assumptions, *sizes_of_ledger(plan.sizes)),
    )
    return _concluded(plan, tested, claimed, grounds, letter=plan.letter, random=plan.random)


def _concluded(
    plan: Planned,
    tested: Tested,
    claimed: Claimed,
    grounds: Grounds,
    *,
    letter: str | None = None,
    random: bool = True,
) -> Verdict:
    decision, predicted, sign = over_sizes(tested.decision, grounds.sizes), claimed.predicted, claimed.sign
    grounds = replace(grounds, ledger=tuple(with_tails(line, decision) for line in grounds.ledger))
    shown = Shown(plan.name, {}, predicted, plan.bias, plan.margin, plan.noticeable, sign)
    level = decision.levels.refute if decision.status is Status.REFUTED else decision.levels.support
    # Without randomness there is no error rate: what is left is the declared class.
    spent = level if random else None
    stated = Statement(
        id=plan.name,
        kind=claimed.words.kind,
        words=claimed.words,
        statement=plan.statement,
        prediction=None if predicted is None else f"{predicted:g}",
        as_=letter,
        margin_given=f"± {plan.margin:g}",
        design_hash=plan.hash,
        side=decision.side if sign > 0 else decision.side.mirrored,
        reading=plan.reading,
        direction=Direction.of(predicted) if claimed.words.quantity.is_slope and predicted is not None else None,
        exponential=claimed.exponential,
    )
    return conclude(
        stated,
        replace(grounds, unseen=tested.unseen, ledger=tested.looked.over(grounds.ledger)),
        [
            found_by(decision, level=spent, detail=tested.detail, within=inside(decision, sign, plan.words)),
            *tested.looked.findings,
            *says_nothing([plan.no_meaning]),
        ],
        [case_of(decision, shown, points=tested.points, detail=tested.detail, gain=tested.gain)],
        rates=ErrorRates.of(decision, spent),
        larger=decision.larger_classes,
    )


def ledger(plan: SweepPlan, *moments: Assumption) -> tuple[Assumption, ...]:
    """Assumptions of a verdict over a sweep: class, moments, seeds, arithmetic."""
    found = [class_assumption(plan.corrections, plan.letter, plan.sizes[0], plan.unit), *moments]
    if plan.random:
        found.append(Assumption("independence", SEEDS[plan.seeds], Standing.DECLARED))
    given = max(plan.core.given_errors)
    exact = f"each value errs by at most {given:.2g}" if given else "the values are taken as exact"
    found.append(
        Assumption("float model", f"{exact}; the rounding of their sums is bounded and added", Standing.DECLARED)
    )
    return tuple(found)
