"""From a decision on own numbers to the same `Verdict` that a theorem's claim has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from theorax.decide.plans import Planned, SweepPlan
from theorax.decide.status import Decision, Direction, Status
from theorax.decide.verdict import Assumption, ErrorRates, Grounds, Point, Statement, Verdict, conclude
from theorax.decide.wording import SEEDS, Shown, case_of, found_by

__all__ = ["allowed", "ledger", "sweep_verdict", "verdict"]


def verdict(
    plan: Planned,
    decision: Decision,
    *,
    kind: str,
    predicted: float | None,
    sign: int = 1,
    latex: str = "",
    letter: str | None = None,
    sizes: Sequence[float] = (),
    points: tuple[Point, ...] = (),
    scope: str = "",
    unseen: Iterable[str] = (),
    assumptions: Iterable[Assumption] = (),
    detail: str = "",
    random: bool = True,
    e_value: float | None = None,
    draws: int | None = None,
) -> Verdict:
    """The verdict on one claim with one case."""
    shown = Shown(plan.name, {}, predicted, plan.bias, plan.margin, plan.noticeable, sign)
    level = decision.levels.refute if decision.status is Status.REFUTED else decision.levels.support
    # Without randomness there is no error rate: what is left is the declared class.
    spent = level if random else None
    stated = Statement(
        id=plan.name,
        kind=kind,
        statement=plan.statement,
        latex=latex,
        prediction=None if predicted is None else f"{predicted:g}",
        as_=letter,
        margin_given=f"± {plan.margin:g}",
        design_hash=plan.hash,
        side=decision.side if sign > 0 else decision.side.mirrored,
        direction=Direction.of(predicted) if kind == "rate" and predicted is not None else None,
    )
    grounds = Grounds(
        draws=sum(point.draws for point in points) if draws is None else draws,
        sizes=tuple(map(float, sizes)),
        unseen=tuple(unseen),
        scope=scope,
        ledger=tuple(assumptions),
    )
    return conclude(
        stated,
        grounds,
        [found_by(decision, level=spent, detail=detail)],
        [case_of(decision, shown, points=points, detail=detail)],
        rates=ErrorRates.of(decision, spent, e_value=e_value),
        robust=decision.robust,
    )


def ledger(plan: SweepPlan, *moments: Assumption) -> tuple[Assumption, ...]:
    """Assumptions of a verdict over a sweep: class, moments, seeds, arithmetic."""
    reason = f"; because {plan.corrections.reason}" if plan.corrections.reason else ""
    found = [Assumption("class", f"{allowed(plan)}{reason}", "declared"), *moments]
    if plan.random:
        found.append(Assumption("independence", SEEDS[plan.seeds], "declared"))
    given = max(plan.core.given_errors)
    exact = f"each value errs by at most {given:.2g}" if given else "the values are taken as exact"
    found.append(Assumption("float model", f"{exact}; the rounding of their sums is bounded and added", "declared"))
    return tuple(found)


def allowed(plan: SweepPlan) -> str:
    """The declared class of corrections, for a reader who never heard of one."""
    found, n = plan.corrections, plan.letter
    unit = plan.unit
    terms: list[str] = []
    if found.size:
        fade = f"{n}^-{found.slowest:g} or faster" if found.fastest > found.slowest else f"{n}^-{found.slowest:g}"
        terms.append(f"a correction of up to {found.size:g}{unit}, fading like {fade}")
    if found.free:
        terms.append("any multiple of " + ", ".join(f"{n}^-{power:g}" for power in found.free))
    if found.remainder:
        terms.append(f"a rest of up to {found.remainder:g}{unit}, fading like {n}^-{found.remainder_order:g}")
    for name, bound in ((f"log {n}", found.log), (f"log log {n}", found.loglog)):
        if bound:
            terms.append(f"any multiple of {name}" if math.isinf(bound) else f"up to {bound:g} {name}")
    if not terms:
        return "no correction at any size"
    at = found.reference if found.reference is not None else plan.sizes[0]
    return f"at {n} = {at:g} the form may be off by {' and '.join(terms)}"


def sweep_verdict(
    plan: SweepPlan,
    decision: Decision,
    *,
    kind: str,
    predicted: float,
    points: tuple[Point, ...],
    unseen: Iterable[str],
    assumptions: tuple[Assumption, ...],
    sign: int = 1,
    latex: str = "",
    detail: str = "",
) -> Verdict:
    """The verdict on a claim about what happens as the size grows."""
    scope = (
        f"as {plan.letter} → ∞ under the declared class of corrections, seen at {plan.letter} = "
        f"{plan.sizes[0]:g} to {plan.sizes[-1]:g}"
    )
    return verdict(
        plan,
        decision,
        kind=kind,
        predicted=predicted,
        sign=sign,
        latex=latex,
        letter=plan.letter,
        sizes=plan.sizes,
        points=points,
        scope=scope,
        unseen=unseen,
        assumptions=assumptions,
        detail=detail,
        random=plan.random,
    )
