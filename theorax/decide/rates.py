"""Orders of growth: the exponent of a power, or the constant of an exponential, exact or one-sided."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, cast, final

import numpy as np

from theorax.decide.bias_aware import Weights
from theorax.decide.control_variates import (
    NO_VARIATES,
    MeanTest,
    Variate,
    Variates,
    declared_line,
    mean_tests,
    planned,
    with_draws,
)
from theorax.decide.corrections import Corrections
from theorax.decide.designs import FEWEST_SIZES, Plan, Target, Vector, least_sizes
from theorax.decide.draw_guards import scatter
from theorax.decide.equivalence import withheld
from theorax.decide.kinds import DecidedQuantity, KindWords, QuantityForm
from theorax.decide.own_verdicts import sweep_assumptions, sweep_verdict
from theorax.decide.planning import plateau
from theorax.decide.plans import Seeds, Tested, chosen, draw_counts, per_size, sweep_sizes
from theorax.decide.rate_estimators import Average, MeansOfLogs, design_rate
from theorax.decide.rounding_floors import RoundingFloor, rounding_floor
from theorax.decide.samples import Columns, above_zero, by_size, geometric_point, mean_point
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reading, Reason, Side, Status
from theorax.decide.streams import Stream
from theorax.decide.sweep_decisions import SweepDesign, WeightedPlan, decide_sweep, first_sizes
from theorax.decide.verdict import Assumption, Point, Standing, Verdict
from theorax.errors import DesignError
from theorax.text.numbers import as_power, as_typed, number

__all__ = ["RATE_SIDES", "RatePlan", "plan_rate", "rate"]

WORDS = KindWords(
    "rate",
    DecidedQuantity("exponent", form=QuantityForm.EXPONENT, verb="exponent", has_margin=True),
    deviation="an exponent off by {}",
    noise_of=" of the logarithm",
)
"""Words of this kind in every report."""

# What is estimated is a decay exponent, minus the exponent that a reader sees: growth of at most n^a is decay of at
# least -a.
RATE_SIDES = {"exact": Side.EQUAL, "at most": Side.AT_LEAST, "at least": Side.AT_MOST}
_FORMS = {"power": Target.EXPONENT, "exponential": Target.DECAY_RATE}


@final
@dataclass(frozen=True, kw_only=True)
class RatePlan(WeightedPlan):
    """The order of growth of a positive quantity: ``n**exponent``, or ``exp(exponent*n)``, decided before any draw.

    ``rival``: the exponents of the other form that support must exclude, under the class ``rival_corrections``.
    """

    kind_words: ClassVar[KindWords] = WORDS
    hashed_as: ClassVar[str] = "RatePlan"
    sign: ClassVar[int] = -1

    exponent: float
    side: str = "exact"
    form: str = "power"
    floor: float = 0.0
    average: Average = Average.MEAN_OF_LOG
    rival: tuple[float, float] | None = None
    rival_corrections: Corrections = field(default_factory=Corrections)

    def __post_init__(self) -> None:
        object.__setattr__(self, "average", Average(chosen("average", self.average, list(Average))))
        chosen("side", self.side, RATE_SIDES)
        chosen("form", self.form, _FORMS)
        super().__post_init__()

    @property
    def statement(self) -> str:
        return _order(self.of, self.letter, self.exponent, self.side, self.form)

    @property
    def claimed(self) -> float:
        return -self.exponent

    @property
    def is_exponential(self) -> bool:
        return self.form == "exponential"

    @cached_property
    def core(self) -> Plan:
        return Plan(
            sizes=self.sizes,
            corrections=self.corrections.anchored(self.sizes[0]),
            target=_FORMS[self.form],
            sd=self.planned_spreads,
            draws=self.draws,
            policy=self.policy,
            errors=self.errors,
            side=RATE_SIDES[self.side],
            levels=self.levels,
        )

    @cached_property
    def solved(self) -> SweepDesign:
        """The weights for every number of sizes that the floor may leave, and those of the rival form."""
        rival = None
        if self.rival is not None:
            low, high = self.rival
            other = _FORMS["exponential" if self.form == "power" else "power"]
            corrections = self.rival_corrections.anchored(self.sizes[0])
            # Decay exponents, so the ends change places.
            rival = (replace(self.core, target=other, corrections=corrections), -high, -low)
        return design_rate(self.core, self.average, self.floor, rival)

    def power(self) -> float:
        return super().power() * self._rival_excluded

    @property
    def worst_power(self) -> float:
        return super().worst_power * self._rival_excluded

    @property
    def _rival_excluded(self) -> float:
        """The probability that the interval of the rival's exponent is clear of its range, if the claim holds exactly."""
        rival = self.solved.rival
        if rival is None:
            return 1.0
        steps = np.asarray(self.sizes) if self.is_exponential else np.log(self.sizes)
        exponent = float(rival.weights.vector @ (-self.claimed * steps))
        away = max(rival.low - exponent, exponent - rival.high)
        if away <= 0:
            return 0.0
        plan = replace(rival.weights.plan, side=Side.AT_MOST, levels=Levels(self.core.levels.support / 2))
        return replace(rival.weights, plan=plan).power(away)

    def tested(self, observed: Columns) -> Tested:
        """Decide the rate on the positive values of every size.

        **Raises:** `ObservationError` for values that are not positive where no floor explains them.
        """
        found = self._tested(lambda: self._means(observed, self.variates), self._points(observed))
        found = self._clear_of_rounding(found, observed)
        unseen = (*found.unseen, *self._order_of_mean(observed, found.decision))
        if self.planned_gain is None or math.isnan(found.decision.estimate):
            return replace(found, unseen=unseen)
        raw, used = self._means(observed, NO_VARIATES), self._means(observed, self.variates)
        gain = self._gain(raw, used, used.raw or self.variates.why_raw(observed.counts))
        return replace(found, unseen=unseen, gain=gain)

    def _clear_of_rounding(self, found: Tested, observed: Columns) -> Tested:
        """The test, withheld where the values of the largest sizes are rounding.

        A word stands if the sizes above rounding give it on their own. With declared errors, or a floor, rounding is in
        them.
        """
        decision = found.decision
        says = decision.status is not Status.INCONCLUSIVE or decision.reason is Reason.CLASS_REFUTED
        declared_errors = self.floor or any(self.core.given_errors) or any(bound.any() for bound in observed.bounds)
        if not says or declared_errors or self.exponent >= 0 or observed.logs:
            return found
        sizes = np.asarray(self.sizes)
        decay = self.exponent * (sizes if self.is_exponential else np.log(sizes))
        rounding = rounding_floor([float(column.mean()) for column in observed.values], decay)
        if rounding is None:
            return found
        if decision.status is self._without_rounding(observed, rounding) is not Status.INCONCLUSIVE:
            return found
        dropped = ", ".join(number(size) for size in self.sizes[rounding.kept :])
        detail = (
            f"at {self.letter} = {dropped} the values are as small as the rounding of numbers of order one, so they show "
            "rounding. Leave these sizes out, or declare the floor of the values"
        )
        return replace(found, decision=withheld(decision, Reason.NUMERIC_FLOOR, refutation=True), detail=detail)

    def _without_rounding(self, observed: Columns, rounding: RoundingFloor) -> Status:
        """The word of the sizes clear of rounding alone, each value off by up to the floor."""
        kept = rounding.kept
        if kept < max(FEWEST_SIZES, least_sizes(self.core)):
            return Status.INCONCLUSIVE
        design = design_rate(first_sizes(self.core, kept), self.average)
        plan, values = design.weights.plan, observed.first(kept)
        means = MeansOfLogs.of(plan, values, self.average, rounding.floor, self.variates)
        found, _, _ = decide_sweep(design, means, self.claimed, self.margin, self.core.side, self.reading)
        return found.status

    def mean_tests(self, observed: Columns, share: float = 1.0) -> tuple[MeanTest, ...]:
        values: Sequence[Vector] = observed.values
        if self.average is Average.MEAN_OF_LOG:
            with np.errstate(all="ignore"):  # what has no logarithm is refused where it is decided on
                logs = [np.log(column) for column in values]
            values = logs if all(np.isfinite(column).all() for column in logs) else values
        return mean_tests(self.variates, observed, values, self.sizes, share)

    def _means(self, observed: Columns, variates: Variates) -> MeansOfLogs:
        return MeansOfLogs.of(self.core, observed, self.average, self.floor, variates)

    def _points(self, observed: Columns) -> tuple[Point, ...]:
        """Points of a table: the geometric means, or the means, less what variates explain of them."""
        if observed.points or not self.variates.corrects(observed):
            return observed.points or tuple(map(geometric_point, self.sizes, observed.values))
        if self.average is not Average.MEAN_OF_LOG:
            return tuple(map(mean_point, self.sizes, self.variates.corrected(observed).values))
        if not all((column > 0).all() for column in observed.values):
            return tuple(map(geometric_point, self.sizes, observed.values))
        logs, _ = self.variates.averaged(observed, [np.log(column) for column in observed.values])
        return tuple(geometric_point(size, np.exp(column)) for size, column in zip(self.sizes, logs, strict=True))

    def _order_of_mean(self, observed: Columns, decision: Decision) -> Iterator[str]:
        """The exponent of the mean, where it lies outside the interval for that of exp E log q."""
        if self.average is not Average.MEAN_OF_LOG or not self.random or observed.logs or observed.batched:
            return
        means = [float(column.mean()) for column in observed.values]
        if min(means) <= 0 or self.floor:
            return
        other = float(self.weights.vector @ np.log(means))
        if not decision.lower <= other <= decision.upper:
            yield f"the order of E[{self.of}]: decided is that of exp E log, and the means grow with exponent {-other:.2g}"

    @property
    def is_spread_stated(self) -> bool:
        return self.sd != RatePlan.sd

    def scatter(self, observed: Columns) -> tuple[float, ...]:
        if self.average is not Average.MEAN_OF_LOG and not observed.batched:
            values = self.variates.corrected(observed).values
            return tuple(float(column.std()) / (abs(float(column.mean())) or 1.0) for column in values)
        return scatter(self._points(observed), relative=True)

    def _unseen(self, weights: Weights) -> Iterator[str]:
        flat = plateau(weights, self.claimed) if self.claimed > 0 else 0.0
        if 0 < flat < math.inf:
            yield f"a plateau of up to {flat:.3g} times the last value"
        if (dropped := len(self.sizes) - len(weights.plan.sizes)) > 0:
            yield f"the {dropped} largest sizes, where the quantity is within fifty floors of {self.floor:.1e}"


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
    reading: str = Reading.MARGIN,
    variates: Sequence[Variate] = (),
    name: str = "rate",
    letter: str = "n",
    of: str = "q",
) -> RatePlan:
    """Plan to decide that a positive random quantity is of the order ``n**exponent`` (or ``exp(exponent*n)``).

    ``side``: "exact" (of that order), "at most" (O), "at least" (Ω). ``sd`` is that of the logarithm of one draw;
    ``floor`` an absolute numerical floor of the quantity: sizes at which its mean is below fifty floors are left out.
    ``rival``: a range of exponents of the other form (exponential for a power), which support must rule out as well.
    ``variates``: quantities drawn with every value, whose means are known, taken from what is averaged: the logarithm, or
    the value. ``sd`` stays that of a value as it is drawn.

    **Raises:** `DesignError` or `StatementError` for what cannot be planned, saying what to write instead.
    """
    if not math.isfinite(exponent):
        raise DesignError(f"exponent={exponent!r} is no order of growth. Write that of n, such as -1 for decay as 1/n.")
    if not 0 <= floor < math.inf:
        raise DesignError(f"floor={floor!r} is no numerical floor. Write a bound of the rounding, 0 for none.")
    sizes = sweep_sizes(sizes)
    return RatePlan(
        sizes=sizes,
        exponent=float(exponent),
        margin=margin,
        draws=draw_counts(draws),
        sd=per_size("sd", sd),
        seeds=cast("Seeds", seeds),
        side=side,
        form=form,
        corrections=Corrections() if corrections is None else corrections,
        floor=float(floor),
        average=cast("Average", average),
        rival=None if rival is None else (float(rival[0]), float(rival[1])),
        levels=levels,
        reading=cast("Reading", reading),
        variates=planned(variates, len(sizes)),
        name=name,
        letter=letter,
        of=of,
    )


def rate(plan: RatePlan, values: Any, variates: Mapping[str, Any] | None = None) -> Verdict:
    """Decide the rate on draws: a table ``draws x sizes``, one array per size, or a `Stream`.

    ``variates``: the draws of the plan's variates by name, in the shape of the values and in their order.

    **Raises:** `ObservationError` for draws that are not those planned, not finite, or not positive.
    """
    if isinstance(values, Stream):
        observed = values.for_plan(plan)
    else:
        columns = by_size(plan, values)
        # What lies at a floor need not be positive.
        observed = Columns(columns if plan.floor else above_zero(plan, columns))
    return rate_verdict(plan, with_draws(plan.variates, observed, variates, partial(by_size, plan)))


def rate_verdict(plan: RatePlan, observed: Columns) -> Verdict:
    """The verdict on the rate of what was observed."""
    found = replace(plan.tested(observed), looked=plan.looked_at(observed))
    return sweep_verdict(
        plan,
        found,
        assumptions=sweep_assumptions(plan, *_moments(plan), *map(declared_line, plan.variates.known)),
    )


def _moments(plan: RatePlan) -> Iterator[Assumption]:
    if not plan.random:
        return
    if plan.average is Average.MEAN_OF_LOG:
        text = "weighted means of the logarithms are near normal (Student's t)"
    else:
        text = "the delete-one jackknife of the log of the mean is near normal (Student's t)"
    yield Assumption("moment", text, Standing.DECLARED)
    if plan.solved.share < 1:
        text = "at this planned sd the jackknife exceeds its level: half of it is spent"
        yield Assumption("moment", text, Standing.DECLARED)
    if plan.rival is not None:
        low, high = plan.rival
        other = "exponentials" if plan.form == "power" else "powers"
        yield Assumption(
            "class", f"the rival form is one of {other} with exponents {low:g} to {high:g}", Standing.DECLARED
        )


def _order(of: str, letter: str, exponent: float, side: str, form: str) -> str:
    """A rate as Unicode mathematics.

    >>> _order("error", "N", -1, "exact", "power")
    'error = Θ(N^-1)  as N → ∞'
    >>> _order("error", "N", -2 / 3, "at most", "power")
    'error = O(N^(-2/3))  as N → ∞'
    """
    sign = {"exact": "Θ", "at most": "O", "at least": "Ω"}[side]
    like = as_power(letter, exponent) if form == "power" else f"exp({as_typed(exponent)} {letter})"
    return f"{of} = {sign}({like})  as {letter} → ∞"
