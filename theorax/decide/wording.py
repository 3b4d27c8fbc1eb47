"""A decision in words, as a finding and as a row of a report: the same for theorems and for own numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from theorax.decide.findings import Finding, Found, settle
from theorax.decide.status import Decision, Reason, Status
from theorax.decide.verdict import Case, Point

__all__ = ["REMEDIES", "SEEDS", "TESTED", "Shown", "case_of", "finite", "found_by", "numbers_of", "sentence"]

REMEDIES = {
    Reason.UNDERPOWERED: "the statistical width dominates: more draws would decide",
    Reason.CLASS_BIAS: "the bias that the declared class allows dominates: larger sizes would decide, not more draws",
    Reason.MOMENTS_UNDECLARED: "too few draws for means of undeclared tails",
    Reason.NUMERIC_FLOOR: "rounding is as large as what was to be seen",
    Reason.CLASS_REFUTED: "the data do not fit the declared class of corrections",
    Reason.HYPOTHESIS_UNSAMPLED: "no subject satisfies the hypotheses",
    Reason.NOT_DECIDABLE_YET: "nothing is measured of it, and no proof settles it",
    Reason.BUDGET: "the program holds an operation that cannot be followed in this arithmetic",
    Reason.UNDECIDED_COMPARISON: "a comparison could not be decided in ball arithmetic",
    Reason.OUT_OF_TIME: "the time ran out",
}

SEEDS: Mapping[str, str] = {
    "paired": "draws are independent of each other; draw s has the same seed at every size",
    "independent": "all draws are independent, within a size and across sizes",
    "undeclared": "draws are independent within a size; draw s belongs to draw s at every other size, or is independent "
    "of it",
    "none": "the sequence holds no randomness: one value at every size",
}
"""How the draws of a sweep belong together, by what was declared of their seeds."""


def sentence(
    status: Status, decision: Decision, level: float | None, *, detail: str = "", where: str = "", cases: int = 1
) -> str:
    """The sentence of a decision: the rejected hypothesis, the level, the declaration, and by how much that may fail.

    ``level``: None where nothing is random. ``detail`` is the deciding case's own sentence, which stands for the rest
    where there is one; ``where`` names it.
    """
    placed = f" for {where}" if where else ""
    rejected = "is excluded" if level is None else f"is rejected at level {level:.3g}"
    if detail:
        named = f" ({where})" if where and status is not Status.SUPPORTED else ""
        return f"{detail[0].upper()}{detail[1:]}{named}."
    if status is Status.SUPPORTED:
        factor = decision.breakdown_support
        inflated = f"; it would stand with corrections {factor:.2g} times as large as declared" if factor < 1e6 else ""
        everywhere = f" in each of {cases} cases" if cases > 1 else ""
        # None where no larger class was tried: nothing is extrapolated, or nothing can be enlarged.
        robust = {True: " Robust: a larger class supports it too.", None: ""}.get(
            decision.robust, " Not robust: a larger class leaves it open."
        )
        return f"That it is off by the margin or more {rejected}{everywhere}{inflated}.{robust}"
    if status is Status.REFUTED:
        exact = " (equal within the margin, not exactly)" if decision.equivalent_within_margin else ""
        robust = "" if decision.robust else "; not robust: it falls under a larger class of corrections"
        class_ = ", under the declared class" if decision.bias > 0 or decision.robust is not None else ""
        robust = robust if class_ else ""
        at = f",{placed}" if placed else ""
        return f"That it is true {rejected}{class_}{exact}{at}{robust}."
    if status is Status.INCONCLUSIVE and decision.reason is not None:
        return f"Undecided{placed}: {REMEDIES[decision.reason]}."
    return f"{status.capitalize()}{placed}."


def numbers_of(decision: Decision, sign: int = 1) -> str:
    """The numbers of a decision in a line; ``sign`` as in `Shown`."""
    return (
        f"estimate {sign * decision.estimate:.4g}, claimed {sign * decision.claimed:.4g}, "
        f"margin {decision.margin:.2g}, p(true) {decision.p_refute:.1g}"
    )


TESTED = {
    Status.CERTIFIED: Finding.CERTIFICATE,
    Status.SUPPORTED: Finding.TEST_SUPPORTED,
    Status.REFUTED: Finding.TEST_REFUTED,
    Status.INCONCLUSIVE: Finding.UNDECIDED,
}
"""What a decision brings to light, where nothing but its status is known."""


def found_by(
    decision: Decision,
    finding: Finding | None = None,
    *,
    level: float | None,
    detail: str = "",
    where: str = "",
    cases: int = 1,
) -> Found:
    """The finding of a decision, with its sentence; the other arguments as in `sentence`."""
    finding = finding or TESTED[decision.status]
    told = sentence(settle([finding]), decision, level, detail=detail, where=where, cases=cases)
    return Found(finding, told, decision.reason if finding is Finding.UNDECIDED else None)


@dataclass(frozen=True)
class Shown:
    """The part of a case that is known before its data; ``sign`` turns a decay exponent into the exponent that is shown."""

    subject: str
    at: Mapping[str, str]
    predicted: float | None
    bias: float | None = None
    margin: float | None = None
    noticeable: float | None = None
    sign: int = 1


def case_of(decision: Decision | None, shown: Shown, *, points: tuple[Point, ...] = (), detail: str = "") -> Case:
    """One case as a report shows it, decided or (without a decision) only planned."""
    seen: dict[str, Any] = {
        "subject": shown.subject,
        "at": dict(shown.at),
        "predicted": shown.predicted,
        "bias": shown.bias,
        "margin": shown.margin,
        "noticeable": shown.noticeable,
        "points": points,
        "detail": detail,
    }
    if decision is None:
        return Case(
            **seen,
            estimate=None,
            standard_error=None,
            interval=None,
            status=Status.INCONCLUSIVE,
            reason=None,
            p_refute=None,
            p_support=None,
            breakdown=None,
        )
    ends = sorted((shown.sign * decision.lower, shown.sign * decision.upper))
    factor = decision.breakdown_refute if decision.status is Status.REFUTED else decision.breakdown_support
    return Case(
        **seen,
        estimate=finite(shown.sign * decision.estimate),
        standard_error=finite(decision.se),
        interval=(ends[0], ends[1]) if all(map(math.isfinite, ends)) else None,
        status=decision.status,
        reason=decision.reason,
        p_refute=decision.p_refute,
        p_support=decision.p_support,
        breakdown=finite(factor),
        tails=decision.tails,
    )


def finite(value: float) -> float | None:
    """A number that a report can hold; None for what is not finite."""
    return value if math.isfinite(value) else None
