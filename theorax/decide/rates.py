"""Rates of own numbers: the exponent of a power, or the constant of an exponential, exact or one-sided."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast, final

from theorax.decide.bias_aware import Weights
from theorax.decide.corrections import Corrections
from theorax.decide.designs import Plan, Target
from theorax.decide.one_case import ledger, sweep_verdict, undecided
from theorax.decide.planning import CONTRADICTED, plateau
from theorax.decide.plans import Seeds, SweepPlan, chosen, counted, spread, sweep
from theorax.decide.rate_estimators import (
    Average,
    RateData,
    RateDesign,
    Reading,
    Summarised,
    decide_reading,
    design_rate,
)
from theorax.decide.samples import Gathered, above_zero, by_size, gather, gather_logs
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Refusal, Side
from theorax.decide.streams import Stream
from theorax.decide.verdict import Assumption, Verdict
from theorax.errors import DesignError, ObservationError

__all__ = ["SIDES", "RatePlan", "order", "plan_rate", "rate"]

# What is estimated is a decay exponent, minus the exponent that a reader sees: growth of at most n^a is decay of at
# least -a.
SIDES = {"exact": Side.EQUAL, "at most": Side.AT_LEAST, "at least": Side.AT_MOST}
FORMS = {"power": Target.EXPONENT, "exponential": Target.DECAY_RATE}


@final
@dataclass(frozen=True, kw_only=True)
class RatePlan(SweepPlan):
    """The order of growth of a random quantity: ``n**exponent``, or ``exp(exponent*n)``, decided before any draw."""

    exponent: float
    side: str = "exact"
    form: str = "power"
    floor: float = 0.0
    average: Average = Average.MEAN_OF_LOG
    rival: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "average", Average(chosen("average", self.average, list(Average))))
        chosen("side", self.side, SIDES)
        chosen("form", self.form, FORMS)
        super().__post_init__()

    @property
    def statement(self) -> str:
        return order(self.of, self.letter, self.exponent, self.side, self.form)

    @cached_property
    def core(self) -> Plan:
        return Plan(
            sizes=self.sizes,
            corrections=self.corrections.anchored(self.sizes[0]),
            target=FORMS[self.form],
            sd=self.sd,
            draws=self.draws,
            policy=self.seeds.policy,
            side=SIDES[self.side],
            levels=self.levels,
        )

    @cached_property
    def rates(self) -> RateDesign:
        """The weights for every number of sizes that the floor may leave, and those of the rival form."""
        rival = None
        if self.rival is not None:
            low, high = self.rival
            other = FORMS["exponential" if self.form == "power" else "power"]
            rival = (replace(self.core, target=other, corrections=Corrections()), -high, -low)
        return design_rate(self.core, self.average, self.floor, rival)

    @property
    def weights(self) -> Weights:
        return self.rates.weights


def plan_rate(
    sizes: Iterable[float],
    *,
    exponent: float,
    margin: float,
    draws: int | Sequence[int] = 32,
    sd: float | Sequence[float] = 0.2,
    seeds: str = "undeclared",
    side: str = "exact",
    form: str = "power",
    corrections: Corrections | None = None,
    floor: float = 0.0,
    average: str = "mean of log",
    rival: tuple[float, float] | None = None,
    levels: Levels = DEFAULT_LEVELS,
    name: str = "rate",
    letter: str = "n",
    of: str = "q",
) -> RatePlan:
    """Plan to decide that a positive random quantity is of the order ``n**exponent`` (or ``exp(exponent*n)``).

    ``side``: "exact" (of that order), "at most" (O), "at least" (Ω). ``sd`` is that of the logarithm of one draw;
    ``floor`` an absolute numerical floor of the quantity: sizes at which its mean is below fifty floors are left out.
    ``rival``: a range of exponents of the other form (exponential for a power), which support must rule out as well.

    **Raises:** `DesignError` or `StatementError` for what cannot be planned, saying what to write instead.
    """
    if not math.isfinite(exponent):
        raise DesignError(f"exponent={exponent!r} is no order of growth. Write that of n, such as -1 for decay as 1/n.")
    if not 0 <= floor < math.inf:
        raise DesignError(f"floor={floor!r} is no numerical floor. Write a bound of the rounding, 0 for none.")
    return RatePlan(
        sizes=sweep(sizes),
        exponent=float(exponent),
        margin=margin,
        draws=counted(draws),
        sd=spread("sd", sd),
        seeds=cast("Seeds", seeds),
        side=side,
        form=form,
        corrections=Corrections() if corrections is None else corrections,
        floor=float(floor),
        average=cast("Average", average),
        rival=None if rival is None else (float(rival[0]), float(rival[1])),
        levels=levels,
        name=name,
        letter=letter,
        of=of,
    )


def rate(plan: RatePlan, values: Any) -> Verdict:
    """Decide the rate on draws: a table ``draws x sizes``, one array per size, or a `Stream`.

    **Raises:** `ObservationError` for draws that are not those planned, not finite, or not positive.
    """
    gathered = values if isinstance(values, Gathered) else _gathered(plan, values)
    claimed, side, detail = -plan.exponent, SIDES[plan.side], ""
    assumptions = ledger(plan, *_moments(plan))
    unseen: list[str] = []
    try:
        decision, weights, alarm = decide_reading(plan.rates, _reading(plan, gathered), claimed, plan.margin, side)
    except Refusal as refusal:
        decision = Decision.undecided(refusal.reason, claimed, plan.margin, side, plan.rates.levels)
        detail = undecided(refusal)
    else:
        detail = CONTRADICTED if alarm else ""
        unseen.append(f"an exponent that differs from the claimed one by less than {weights.mde(0.9):.2g}")
        flat = plateau(weights, claimed) if claimed > 0 else 0.0
        if 0 < flat < math.inf:
            unseen.append(f"a plateau of up to {flat:.0%} of the last value")
        unseen.append("corrections that are larger than declared, or fade more slowly")
        kept = len(weights.plan.sizes)
        if kept < len(plan.sizes):
            text = (
                f"from {plan.letter} = {plan.sizes[kept]:g} on the values are within fifty floors of {plan.floor:.2g}"
            )
            read = f"{text}: {kept} of {len(plan.sizes)} sizes are read"
            assumptions = (*assumptions, Assumption("float model", read, "tested"))
    return sweep_verdict(
        plan,
        decision,
        kind="rate",
        predicted=plan.exponent,
        points=gathered.points,
        unseen=unseen,
        assumptions=assumptions,
        sign=-1,
        detail=detail,
    )


def _gathered(plan: RatePlan, values: Any) -> Gathered:
    if isinstance(values, Stream):
        return values.for_plan(plan)
    columns = by_size(plan, values)
    if plan.floor:
        return gather(plan, columns)  # what lies at the floor need not be positive
    return gather_logs(plan, above_zero(plan, columns))


def _reading(plan: RatePlan, gathered: Gathered) -> Reading:
    if plan.average is Average.MEAN_OF_LOG and not plan.floor:
        return Summarised(gathered.summary)
    if not gathered.columns:
        raise ObservationError(
            "Summarised draws were given where a floor or the logarithm of a mean is asked for. Both need every draw. "
            "Write Stream(logs=..., keep=True)."
        )
    return RateData.of(plan.rates, gathered.columns)


def _moments(plan: RatePlan) -> Iterator[Assumption]:
    if plan.average is Average.MEAN_OF_LOG:
        text = "weighted means of the logarithms are near normal (Student's t)"
    else:
        text = "the delete-one jackknife of the log of the mean is near normal (Student's t)"
    yield Assumption("moment", text, "declared")
    if plan.rates.levels != plan.levels:
        text = "at this planned sd the jackknife exceeds its level: half of it is spent"
        yield Assumption("moment", text, "declared")
    if plan.rival is not None:
        low, high = plan.rival
        other = "exponentials" if plan.form == "power" else "powers"
        yield Assumption("class", f"the rival form is one of {other} with exponents {low:g} to {high:g}", "declared")


def order(of: str, letter: str, exponent: float, side: str, form: str) -> str:
    """A rate as Unicode mathematics.

    >>> order("error", "N", -1, "exact", "power")
    'error = Θ(N^-1)  as N → ∞'
    """
    sign = {"exact": "Θ", "at most": "O", "at least": "Ω"}[side]
    like = f"{letter}^{exponent:g}" if form == "power" else f"exp({exponent:g} {letter})"
    return f"{of} = {sign}({like})  as {letter} → ∞"
