"""The decision on everything that is read along growing sizes: limits, orders of growth, sequences, rates of laws."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from theorax.decide.bias_aware import Bias, Weights, solve_weights
from theorax.decide.control_variates import (
    NO_VARIATES,
    MeanTest,
    Variates,
    fewest_draws_with,
    gain_of,
    look_at_means,
    mean_tests,
    measured_gain,
    with_more,
)
from theorax.decide.correction_words import beyond
from theorax.decide.designs import ASSURED, Plan, Policy, Target
from theorax.decide.draw_guards import Spreads, look_at_draws
from theorax.decide.equivalence import against, decide, is_robust, withheld, withheld_by
from theorax.decide.form_fits import Averages
from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked, all_looked
from theorax.decide.interval import Interval
from theorax.decide.planning import CONTRADICTED, misfit
from theorax.decide.plans import Planned, SweepPlan, Tested, refused
from theorax.decide.rivals import ClaimedForm, better_rival, explanation, named_rivals, rescue
from theorax.decide.samples import Columns
from theorax.decide.skewness import told_of_tails
from theorax.decide.status import ClassBasis, Decision, Levels, Reading, Reason, Refusal, Side, Status
from theorax.decide.verdict import Point, VarianceGain
from theorax.decide.wide_margins import NO_MEANING, passes_anything
from theorax.errors import StatementError
from theorax.names import many

__all__ = ["Rival", "SweepDesign", "WeightedMeans", "WeightedPlan", "decide_sweep", "first_sizes"]

Vector = NDArray[np.float64]


class WeightedMeans(ABC):
    """Observations along the sizes, as a decision reads them: an interval under any weights; abstract."""

    @property
    @abstractmethod
    def kept(self) -> int:
        """Number of sizes that may be read, the smallest first."""

    @abstractmethod
    def interval(self, weights: Weights) -> Interval:
        """The interval of the weighted mean over the sizes that were kept."""

    @abstractmethod
    def averages(self, plan: Plan) -> Averages:
        """The averages at the sizes that were kept, with the covariance of their noise."""


@dataclass(frozen=True)
class Rival:
    """The other form (power against exponential) at every exponent from ``low`` to ``high``, which support excludes.

    Exponents are those of decay, as for the claim itself. ``weights`` are for all sizes; truncations are derived.
    """

    weights: Weights
    low: float
    high: float

    def __post_init__(self) -> None:
        if not -math.inf < self.low <= self.high < math.inf:
            raise StatementError(
                f"A rival form with exponents from {self.low:g} to {self.high:g} was declared. Some member of an "
                "unbounded family fits any finite sweep. Write a finite range, the smaller number first."
            )


@dataclass(frozen=True)
class SweepDesign:
    """Weights for every number of sizes that a floor may leave, and the rival: solved before a draw."""

    family: tuple[Weights, ...]  # all sizes first
    rival: Rival | None = None
    share: float = 1.0  # of the levels of the claim that the decision spends

    @property
    def weights(self) -> Weights:
        """The weights of all sizes."""
        return self.family[0]

    @property
    def levels(self) -> Levels:
        """The levels of the claim; the weights are planned, and the decision made, at their share."""
        spent = self.weights.plan.levels
        return Levels(spent.support / self.share, spent.refute / self.share)

    def of_first(self, kept: int) -> Weights:
        """The weights of the first sizes alone.

        **Raises:** `Refusal` where none were solved for so few.
        """
        for weights in self.family:
            if len(weights.plan.sizes) == kept:
                return weights
        raise Refusal(
            Reason.NUMERIC_FLOOR,
            f"The numerical floor lies below {many(kept, 'size')} only, too few for weights. "
            "Write smaller sizes, or a finer dtype.",
        )


@dataclass(frozen=True, kw_only=True)
class WeightedPlan(SweepPlan):
    """A plan decided from a weighted mean over the sizes: a limit, or an order of growth; abstract.

    ``sd`` is that of a draw as it comes; with ``variates`` the numbers that are averaged scatter less, by their gain.
    """

    variates: Variates = NO_VARIATES

    @property
    @abstractmethod
    def claimed(self) -> float:
        """The claimed value of what is decided: a limit, or an exponent of decay."""

    @property
    def solved(self) -> SweepDesign:
        """Every weight that the data may call for."""
        return SweepDesign((solve_weights(self.core),))

    @property
    def weights(self) -> Weights:
        return self.solved.weights

    @property
    def no_meaning(self) -> str:
        return NO_MEANING if passes_anything(self.claimed, self.margin, self.core.side) else ""

    def apart(self, other: Planned) -> float | None:
        return abs(self.claimed - other.claimed) if isinstance(other, WeightedPlan) else None

    @property
    @abstractmethod
    def is_spread_stated(self) -> bool:
        """True if the planned spread is not the one that follows from a declaration, or the default."""

    @abstractmethod
    def scatter(self, observed: Columns) -> tuple[float, ...]:
        """The standard deviation of one draw at every size, in the units of the planned one."""

    @property
    def planned_spreads(self) -> tuple[float, ...]:
        return self.variates.planned_sd(self._drawn_spreads, self._counts)

    @property
    def _drawn_spreads(self) -> tuple[float, ...]:
        """The planned standard deviation of a draw as it comes, at every size."""
        return self.sd if isinstance(self.sd, tuple) else (self.sd,) * len(self.sizes)

    @property
    def _counts(self) -> tuple[int, ...]:
        return self.draws if isinstance(self.draws, tuple) else (self.draws,) * len(self.sizes)

    @property
    def planned_gain(self) -> VarianceGain | None:
        raw = self.variates.why_raw(self._counts)
        if not (self.variates.known or raw):
            return None
        parts = [
            sum(k**2 * sd**2 / draws for k, sd, draws in zip(self.weights.values, spreads, self._counts, strict=True))
            for spreads in (self._drawn_spreads, self.planned_spreads)
        ]
        return gain_of(self.variates, parts[0] / parts[1] if parts[1] else None, None, raw)

    def _declared(self) -> Iterable[str]:
        return (*super()._declared(), *self.variates.described())

    def cheapest(
        self,
        power: float = ASSURED,
        cost: Callable[[float], float] = float,
        doublings: int = 10,
        most_draws: int = 2**17,
    ) -> Self | None:
        if not self.variates.known:
            return super().cheapest(power, cost, doublings, most_draws)
        enough = self._with_enough_draws()
        # A mean that is known at these sizes only says nothing at larger ones.
        fixed = any(isinstance(part.mean, tuple) for part in self.variates.known)
        return super(WeightedPlan, enough).cheapest(power, cost, 0 if fixed else doublings, most_draws)

    def _with_enough_draws(self) -> Self:
        """The plan with draws enough for its variates."""
        least = fewest_draws_with(len(self.variates.known))
        return replace(self, draws=max(least, *self._counts))

    def _extended(self, found: Plan) -> dict[str, Any]:
        if not self.variates.known:
            return super()._extended(found)
        more = len(found.sizes) - len(self.sizes)
        return {
            "sizes": found.sizes,
            "sd": self._drawn_spreads + self._drawn_spreads[-1:] * more,
            "draws": max(fewest_draws_with(len(self.variates.known)), *found.planned_draws),
            "variates": with_more(self.variates, len(found.sizes)),
        }

    def looked_at(self, observed: Columns) -> Looked:
        """Look at numbers of one's own for more than their means; nothing is random in a sequence."""
        if not self.random or self.policy is Policy.SINGLE:
            return NOTHING_LOOKED_AT
        spreads = Spreads(self.scatter(observed), self.planned_spreads, self.is_spread_stated)
        means = look_at_means(self.mean_tests(observed)) if self.variates.known else NOTHING_LOOKED_AT
        return all_looked([look_at_draws(observed, spreads, self.of), means])

    def mean_tests(self, observed: Columns, share: float = 1.0) -> tuple[MeanTest, ...]:
        """The tests of the known means of the variates, at a share of their level."""
        return mean_tests(self.variates, observed, observed.values, self.sizes, share)

    def _tested(self, read: Callable[[], WeightedMeans], points: tuple[Point, ...]) -> Tested:
        """The decision on what was observed; ``read`` may refuse the data."""
        try:
            means = read()
            decision, weights, alarm = decide_sweep(
                self.solved, means, self.claimed, self.margin, self.core.side, self.reading
            )
            decision = self._against_other_forms(decision, weights.plan, means)
        except Refusal as refusal:
            return refused(refusal, self, self.claimed, self.core.side, points)
        in_limit = self.core.target is Target.LIMIT
        unseen = (*self._unseen(weights), beyond(self.core.corrections, self.letter, self.sizes[0], in_limit=in_limit))
        return Tested(decision, points, unseen, CONTRADICTED if alarm else told_of_tails(decision))

    def _against_other_forms(self, decision: Decision, plan: Plan, means: WeightedMeans) -> Decision:
        """The decision after the forms that the class leaves out were held against the data.

        | class | word | status |
        |---|---|---|
        | default | refuted, and a slow correction rescues the claim | inconclusive, class |
        | default | supported, and a form outside the margin explains the data, the claim alone does not | inconclusive, class |
        | with a reason | supported, and a rival outside the margin fits better by more than chance | inconclusive, class |
        | any | otherwise | as it was; rivals that fit as well as a supported claim are named |

        One value a size that leaves a claim open lacks a statement about its error before anything else.
        """
        decision = replace(decision, basis=self.basis)
        if decision.status is Status.INCONCLUSIVE:
            undeclared = plan.policy is Policy.SINGLE
            return replace(decision, reason=Reason.NOISE_UNDECLARED) if undeclared else decision
        claimed = ClaimedForm(plan, self.claimed, self.margin, self.reading.forgives(self.margin, self.claimed))
        averages = means.averages(plan)
        by_default = self.basis is ClassBasis.DEFAULT
        if decision.status is Status.REFUTED:
            outside = rescue(claimed, averages) if by_default else None
            return withheld_by(decision, outside) if outside else decision
        if by_default and (outside := explanation(claimed, averages)):
            return withheld_by(decision, outside)
        rivals = named_rivals(claimed, averages)
        better = better_rival(rivals)
        return withheld_by(decision, better) if better else replace(decision, rivals=rivals)

    def _gain(self, raw: WeightedMeans, used: WeightedMeans, why: str) -> VarianceGain | None:
        """The gain of variates, measured by the weights that decided; None where there are none."""
        planned = self.planned_gain
        if planned is None:
            return None
        weights = self.solved.of_first(used.kept)
        found = None if why else measured_gain(raw.interval(weights), used.interval(weights))
        return gain_of(self.variates, planned.planned, found, why)

    @abstractmethod
    def _unseen(self, weights: Weights) -> Iterable[str]:
        """Deviations that a decision by these weights could not have seen, the class of corrections aside."""


def decide_sweep(
    design: SweepDesign,
    means: WeightedMeans,
    claimed: float,
    margin: float,
    side: Side = Side.EQUAL,
    reading: Reading = Reading.EXACT,
) -> tuple[Decision, Weights, bool]:
    """The decision, the weights that a floor left, and if the misfit alarm rang.

    Where the design spends a share of the levels, p-values are over that share: held against the levels of the claim,
    or of a suite, they reject what the decision did.

    | finding | status |
    |---|---|
    | as `decide` | supported, refuted or inconclusive |
    | supported, but the rival's interval meets its declared range | inconclusive |
    | supported or inconclusive, and the misfit alarm fired | inconclusive, class refuted |
    | refuted, and the misfit alarm fired | refuted, not robust |

    **Raises:** `Refusal` where no interval can be made of the data.
    """
    weights = design.of_first(means.kept)
    plan = weights.plan
    decision = decide(means.interval(weights), claimed, margin, side, plan.levels, reading)
    decision = replace(decision, robust=is_robust(decision, plan, means.interval))
    if design.rival is not None:
        other = solve_weights(first_sizes(design.rival.weights.plan, means.kept))
        decision = against(decision, means.interval(other), design.rival.low, design.rival.high)
    # The residuals of one value a size show its noise: they cannot speak against the form as well.
    alarm = plan.policy is not Policy.SINGLE and misfit(plan, _along(means, plan))
    decision = withheld(decision, Reason.CLASS_REFUTED) if alarm else decision
    reported = replace(
        decision,
        under_twice=decision.robust,
        p_refute=min(1.0, decision.p_refute / design.share),
        p_support=min(1.0, decision.p_support / design.share),
        levels=design.levels,
    )
    return reported, weights, alarm


def first_sizes(plan: Plan, kept: int) -> Plan:
    """The plan of the first sizes alone."""
    return replace(
        plan,
        sizes=plan.sizes[:kept],
        sd=plan.noise[:kept],
        errors=plan.given_errors[:kept],
        draws=plan.planned_draws[:kept],
    )


def _along(means: WeightedMeans, plan: Plan) -> Callable[[Vector, float], Interval]:
    def interval(direction: Vector, bias: float) -> Interval:
        return means.interval(Weights(plan, tuple(map(float, direction)), Bias(given=bias)))

    return interval
