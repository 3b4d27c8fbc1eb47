r"""The one place that turns an interval, its bias, a claimed value and a margin into a status.

Two nulls are tested from one interval. *False by the margin* rejected is support, *true* rejected is refutation; both
may stand, then nothing is decided. True is what the declared reading says: exactly as claimed, or off by at most the
margin. With $E$ the mean of what was averaged, $\theta$ the claimed quantity and
$|E - \theta| \le b$, every limit for $E$ is widened by $b$ before it is held against the claimed value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from theorax.decide.bias_aware import Weights, solve_weights
from theorax.decide.designs import Plan
from theorax.decide.interval import Interval, Proportion, Student
from theorax.decide.kill_bounds import Again, RefutingCount, standardised
from theorax.decide.skewness import Limits
from theorax.decide.slow_terms import Form
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reading, Reason, Side, Status
from theorax.errors import DesignError, ObservationError, StatementError
from theorax.names import many

__all__ = [
    "against",
    "combine",
    "decide",
    "is_robust",
    "outcome",
    "stands",
    "withheld",
    "withheld_by",
]


def decide(
    interval: Interval,
    claimed: float,
    margin: float,
    side: Side = Side.EQUAL,
    levels: Levels = DEFAULT_LEVELS,
    reading: Reading = Reading.EXACT,
) -> Decision:
    r"""Decide "the quantity equals (is at least, is at most) ``claimed``" against "it is off by ``margin`` or more".

    With $L(\alpha), U(\alpha)$ the one-sided limits for $E$:

    | side | refuted iff b is less than | supported iff b is less than |
    |---|---|---|
    | equal | max(L(aR/2) - claimed, claimed - U(aR/2)) | min(L(aS) - claimed + margin, claimed + margin - U(aS)) |
    | at least | claimed - U(aR) | L(aS) - claimed + margin |
    | at most | L(aR) - claimed | claimed + margin - U(aS) |

    The limits of support are those of ``interval.for_support``: a support that L and U alone would give is withheld for
    the tails. Those of refutation are those of ``interval.for_refutation``, L and U unless variates corrected the draws.
    These distances over b are the breakdown factors. Where both hold, the value is off the claim but inside the margin:
    refuted for the exact reading, and recorded as equivalent within the margin.

    Under the margin reading every distance of refutation is less the margin: off by at most the margin is rejected on
    either side, at half the level each, for a claim of equality. Limits then never pass the estimate, so that no data
    reject both nulls: an estimate inside the margin refutes nothing, one outside supports nothing.

    **Errors:** either wrong rejection happens with probability at most its level, if the declared class and the
    declaration behind the interval hold; under the margin reading that is so up to a value off by exactly the margin.
    """
    side = Side(side)
    if not margin > 0 or not math.isfinite(claimed):
        raise StatementError(
            f"A claim of {claimed:g} with margin {margin:g} cannot be supported: no data reject every other value. "
            "Write a positive margin: the smallest error that would matter."
        )
    if not (math.isfinite(interval.estimate) and math.isfinite(interval.bias) and interval.se >= 0):
        raise ObservationError(
            "An estimate or its error is not a finite number. Nothing can be decided from it. Observe a finite "
            "quantity."
        )
    reading = Reading(reading)
    forgiven = reading.forgives(margin, claimed)
    own: Limits = interval
    sure, firm = interval.for_support, interval.for_refutation
    if reading is Reading.MARGIN:
        own, sure, firm = (_Around(limits, interval.estimate) for limits in (own, sure, firm))
    tail = levels.refute / 2 if side is Side.EQUAL else levels.refute
    # Each limit once: those that invert an e-value cost sixty evaluations of it.
    low, high = own.lower(levels.support), own.upper(levels.support)
    is_own = interval.for_refutation is interval and tail == levels.support
    lowest, highest = (low, high) if is_own else (firm.lower(tail), firm.upper(tail))
    over, under = lowest - claimed, claimed - highest
    slack = interval.bias + interval.rounding
    p_over, p_under = firm.p_above(claimed + forgiven + slack), firm.p_below(claimed - forgiven - slack)
    if side is Side.EQUAL:
        refuting, p_refute = max(over, under), min(1.0, 2 * min(p_over, p_under))
    else:
        refuting, p_refute = (under, p_under) if side is Side.AT_LEAST else (over, p_over)
    plainly = _inside(low, high, claimed, margin, side)
    supporting = plainly
    if interval.for_support is not interval:
        supporting = _inside(sure.lower(levels.support), sure.upper(levels.support), claimed, margin, side)
    # The p-value of a side that cannot make the claim false is zero: the larger one counts.
    p_floor = 0.0 if side is Side.AT_MOST else sure.p_above(claimed - margin + slack)
    p_ceiling = 0.0 if side is Side.AT_LEAST else sure.p_below(claimed + margin - slack)
    p_support = max(p_floor, p_ceiling)
    found = outcome(
        supporting=supporting - interval.rounding,
        refuting=refuting - interval.rounding,
        p_support=p_support,
        p_refute=p_refute,
        radius=max(interval.estimate - low, high - interval.estimate),
        estimate=interval.estimate,
        se=interval.se,
        df=interval.df,
        bias=interval.bias,
        lower=low - slack,
        upper=high + slack,
        claimed=float(claimed),
        margin=float(margin),
        side=side,
        levels=levels,
        reading=reading,
    )
    skewed = interval.skewed if isinstance(interval, Student) else None
    if found.status is Status.INCONCLUSIVE and plainly - interval.rounding > interval.bias:
        found = replace(found, reason=Reason.TAILS)
    return replace(
        found,
        skewness=None if skewed is None else abs(skewed.gamma),
        again=_refuted_again(interval, claimed, margin, over=refuting == over, tail=tail)
        if found.status is Status.REFUTED
        else None,
    )


def _refuted_again(interval: Interval, claimed: float, margin: float, *, over: bool, tail: float) -> Again | None:
    """Evidence of a refutation, from above the claimed value or from below, on other draws; None where there is none.

    What is asked is a value beyond the margin, under either reading (`theorax.decide.kill_bounds`).
    """
    sign = 1.0 if over else -1.0
    beyond = claimed + sign * Reading.MARGIN.forgives(margin, claimed)
    if isinstance(interval, Proportion):
        count = interval.successes if over else interval.failures
        null = interval.share(beyond)
        return RefutingCount(count, interval.draws, null if over else 1 - null, tail)
    if not isinstance(interval, Student) or interval.skewed is None:
        return None
    excess = sign * (interval.estimate - beyond) - interval.bias - interval.rounding
    counts = [len(column) for column in interval.columns]
    return standardised(excess, interval.se, interval.df, tail, counts, interval.skewed.gamma, interval.kurtosis)


@dataclass(frozen=True)
class _Around:
    """Limits that hold the estimate, and p-values that go with them: no test speaks against the estimate itself.

    Those of a process that keeps its strongest evidence along the way may lie beyond it, or cross each other.
    """

    limits: Limits
    estimate: float

    def p_above(self, value: float) -> float:
        return self.limits.p_above(value) if value < self.estimate else 1.0

    def p_below(self, value: float) -> float:
        return self.limits.p_below(value) if value > self.estimate else 1.0

    def lower(self, level: float) -> float:
        return min(self.limits.lower(level), self.estimate)

    def upper(self, level: float) -> float:
        return max(self.limits.upper(level), self.estimate)


def _inside(low: float, high: float, claimed: float, margin: float, side: Side) -> float:
    """By how much the limits lie inside the margin, on the sides that can make the claim false."""
    floor, ceiling = low - (claimed - margin), (claimed + margin) - high
    return {Side.EQUAL: min(floor, ceiling), Side.AT_LEAST: floor, Side.AT_MOST: ceiling}[side]


def outcome(
    *,
    supporting: float,
    refuting: float,
    p_support: float,
    p_refute: float,
    radius: float,
    estimate: float,
    se: float,
    df: float,
    bias: float,
    lower: float,
    upper: float,
    claimed: float,
    margin: float,
    side: Side,
    levels: Levels,
    reading: Reading = Reading.EXACT,
) -> Decision:
    """The status that two distances have: each null is rejected iff its distance exceeds the bias.

    | off by the margin | exactly true | off by at most the margin | exact reading | margin reading |
    |---|---|---|---|---|
    | not rejected | not rejected | not rejected | inconclusive | inconclusive |
    | rejected | not rejected | not rejected | supported | supported |
    | not rejected | rejected | not rejected | refuted | inconclusive |
    | rejected | rejected | not rejected | refuted, equivalent within the margin | supported, the same |
    | not rejected | rejected | rejected | refuted | refuted |

    The reason is class bias if b > margin/2 or b > the statistical radius, else underpowered. ``refuting`` is the distance
    from what is exactly true; p_refute is that of the reading.
    """
    beyond = refuting - reading.forgives(margin, claimed)
    supported, off, refuted = supporting > bias, refuting > bias, beyond > bias
    reason = None
    if refuted:
        status = Status.REFUTED
    elif supported:
        status = Status.SUPPORTED
    else:
        status = Status.INCONCLUSIVE
        reason = Reason.CLASS_BIAS if bias > margin / 2 or bias > radius else Reason.UNDERPOWERED
    return Decision(
        status=status,
        reason=reason,
        p_refute=p_refute,
        p_support=p_support,
        breakdown_support=_breakdown(supporting, bias),
        breakdown_refute=_breakdown(beyond, bias),
        equivalent_within_margin=supported and off,
        estimate=estimate,
        se=se,
        df=df,
        bias=bias,
        lower=lower,
        upper=upper,
        claimed=claimed,
        margin=margin,
        side=side,
        levels=levels,
        reading=reading,
    )


def against(decision: Decision, rival: Interval, low: float, high: float) -> Decision:
    """Support of one form also needs the refutation of its rival, at every exponent from ``low`` to ``high``.

    | decision | the rival's interval, both tails at half the level of support | status |
    |---|---|---|
    | supported | clear of the range | supported |
    | supported | meets the range | inconclusive: tails where Student's interval is clear, class bias where it dominates |
    | otherwise | | as it was |

    Fitting better is no refutation. By intersection and union the level of support is kept.
    """
    tail, sure = decision.levels.support / 2, rival.for_support
    slack = rival.bias + rival.rounding
    plainly = max(rival.lower(tail) - high, low - rival.upper(tail)) - rival.rounding
    clear = max(sure.lower(tail) - high, low - sure.upper(tail)) - rival.rounding
    p = min(1.0, 2 * min(sure.p_above(high + slack), sure.p_below(low - slack)))
    tested = replace(
        decision,
        p_support=max(decision.p_support, p),
        breakdown_support=min(decision.breakdown_support, _breakdown(clear, rival.bias)),
        equivalent_within_margin=decision.equivalent_within_margin and clear > rival.bias,
    )
    if decision.status is not Status.SUPPORTED or clear > rival.bias:
        return tested
    reason = Reason.CLASS_BIAS if rival.bias > rival.radius(tail) else Reason.UNDERPOWERED
    reason = Reason.TAILS if plainly > rival.bias else reason
    return replace(tested, status=Status.INCONCLUSIVE, reason=reason, robust=False)


def withheld(decision: Decision, reason: Reason, refutation: bool = False) -> Decision:
    """The decision without its support (and, if asked, without its refutation): what it rests on has failed.

    A refutation of "claim and class" that stands although the class itself is contradicted is not robust.
    """
    if decision.status is Status.REFUTED and not refutation:
        return replace(decision, robust=False, equivalent_within_margin=False)
    return replace(
        decision,
        status=Status.INCONCLUSIVE,
        reason=reason,
        p_support=1.0,
        breakdown_support=-math.inf,
        p_refute=1.0 if refutation else decision.p_refute,
        breakdown_refute=-math.inf if refutation else decision.breakdown_refute,
        equivalent_within_margin=False,
        robust=False,
    )


def withheld_by(decision: Decision, form: Form) -> Decision:
    """The decision without its word, which rests on the class: this form outside it explains the data too."""
    left = withheld(replace(decision, robust=False), Reason.CLASS, refutation=True)
    return replace(left, under_twice=False, outside=form, believed=decision)


def combine(decisions: Sequence[Decision], levels: Levels = DEFAULT_LEVELS, of: int | None = None) -> Decision:
    """One claim over several cases, each decided at ``levels.shared(number of cases)``.

    ``of``: the number of cases, where one was refuted and the rest were left undecided; else all of them are given.

    | cases | status | p |
    |---|---|---|
    | any refuted | refuted | number of cases times the smallest p of refutation |
    | every one supported | supported | the largest p of support |
    | otherwise | inconclusive, with the reason of its most pressing case | |

    It is equivalent within the margin if no case lies outside, and some case is not exactly as claimed.

    Support of all cases needs no smaller level (intersection-union): the whole is falsely supported only if its worst
    case is. The numbers of the weakest case stand for the whole.

    **Raises:** `DesignError` where the cases were decided at levels that together exceed those of the claim.
    """
    if not decisions:
        raise DesignError(
            "A claim over no case was to be decided. Emptiness is never support. Write at least one case."
        )
    number = len(decisions) if of is None else of
    each = levels.shared(number)
    # Four units in the last place: the levels may have been divided and multiplied again.
    excess = 1 + 4 * 2.0**-52
    if any(d.levels.refute > each.refute * excess or d.levels.support > each.support * excess for d in decisions):
        raise DesignError(
            f"The levels of {many(number, 'case')} add up to more than {levels.refute:g}. One case in error "
            "refutes the whole. Decide each case at levels.shared(number of cases)."
        )
    refuted = [d for d in decisions if d.status is Status.REFUTED]
    if number > len(decisions) and not refuted:
        raise DesignError(
            f"{many(len(decisions), 'case')} of {number} were given, and none of them is refuted. Only decided cases "
            "support a claim. Decide all of them."
        )
    open_cases = [d for d in decisions if d.status is Status.INCONCLUSIVE]
    if any(d.status not in (Status.REFUTED, Status.SUPPORTED, Status.INCONCLUSIVE) for d in decisions):
        raise DesignError("Only outcomes of tests can be combined. Settle proofs and counterexamples by precedence.")
    if refuted:
        status, reason, shown = Status.REFUTED, None, max(refuted, key=lambda d: d.breakdown_refute)
        flags: dict[str, Any] = _together(_any, refuted)
    elif open_cases:
        shown = min(open_cases, key=lambda d: _URGENCY.index(d.reason) if d.reason in _URGENCY else -1)
        status, reason = Status.INCONCLUSIVE, shown.reason
        flags = {"robust": False, "under_twice": False}
    else:
        status, reason, shown = Status.SUPPORTED, None, min(decisions, key=lambda d: d.breakdown_support)
        flags = _together(_all, decisions)
    return replace(
        shown,
        status=status,
        reason=reason,
        p_refute=min(1.0, number * min(d.p_refute for d in decisions)),
        p_support=max(d.p_support for d in decisions),
        breakdown_support=min(d.breakdown_support for d in decisions),
        breakdown_refute=max(d.breakdown_refute for d in decisions),
        equivalent_within_margin=any(d.equivalent_within_margin for d in decisions)
        and all(d.status is Status.SUPPORTED or d.equivalent_within_margin for d in decisions),
        levels=levels,
        **flags,
        skewness=max((d.skewness for d in decisions if d.skewness is not None), default=None),
        cases=tuple(decisions),
    )


def is_robust(decision: Decision, plan: Plan, estimate: Callable[[Weights], Interval]) -> bool:
    """True if the status stands under the larger classes of `Corrections.redesigns`, each with weights of its own.

    ``estimate`` turns weights into an interval of the same data. False where nothing was decided, or nothing can be
    enlarged: an assumption that has no size cannot be shown to be generous.
    """
    return stands(decision, plan, _again(decision, estimate))


def _again(decision: Decision, estimate: Callable[[Weights], Interval]) -> Callable[[Weights], Decision]:
    def again(weights: Weights) -> Decision:
        return decide(
            estimate(weights), decision.claimed, decision.margin, decision.side, decision.levels, decision.reading
        )

    return again


def stands(decision: Decision, plan: Plan, again: Callable[[Weights], Decision]) -> bool:
    """`is_robust` for whatever is decided from weights: ``again`` decides the same data with other ones."""
    if decision.status not in (Status.SUPPORTED, Status.REFUTED):
        return False
    classes = plan.corrections.redesigns(decision.status is Status.REFUTED)
    return bool(classes) and all(
        again(solve_weights(replace(plan, corrections=larger))).status is decision.status for larger in classes
    )


# What the remedy of an undecided claim must address first: more draws are the last thing to ask for.
_URGENCY: tuple[Reason | None, ...] = (
    Reason.MOMENTS_UNDECLARED,
    Reason.NUMERIC_FLOOR,
    Reason.NOISE_UNDECLARED,
    Reason.CLASS,
    Reason.CLASS_REFUTED,
    Reason.CLASS_BIAS,
    Reason.TAILS,
    Reason.UNDERPOWERED,
)


def _breakdown(distance: float, bias: float) -> float:
    return distance / bias if bias > 0 else math.copysign(math.inf, distance if distance > 0 else -1.0)


def _together(
    rule: Callable[[Iterable[bool | None]], bool | None], decisions: Sequence[Decision]
) -> dict[str, bool | None]:
    """Flags of the cases about larger classes, as those of one decision."""
    each = [vars(decision.larger_classes) for decision in decisions]
    return {name: rule(flags[name] for flags in each) for name in each[0]}


def _all(flags: Iterable[bool | None]) -> bool | None:
    known = list(flags)
    return None if None in known else all(known)


def _any(flags: Iterable[bool | None]) -> bool | None:
    known = list(flags)
    return True if True in known else None if None in known else False
