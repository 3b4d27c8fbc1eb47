r"""Laws of own numbers: of draws at one size, or in the limit of growing sizes; against a law or a second sample.

Held against each other are characteristic functions at forty fixed frequencies; their distance D is what margins and
classes of corrections are in. Support says that the law is nearer than the nearest law that was declared wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from theorax.decide.bias_aware import Weights, solve_weights
from theorax.decide.correction_words import beyond
from theorax.decide.corrections import Corrections
from theorax.decide.designs import ASSURED, Plan, Policy, Target
from theorax.decide.draw_guards import Spreads, look_at_draws, noise_of
from theorax.decide.equivalence import withheld
from theorax.decide.gaussian_norm import Shape
from theorax.decide.kinds import DecidedQuantity, KindWords, Meanings, QuantityForm
from theorax.decide.known_laws import KnownLaw, RealLaw, Sample
from theorax.decide.law_distance import (
    averaged,
    decide_distance,
    is_robust_law,
    law_point,
    misfit_law,
)
from theorax.decide.law_features import (
    Frequencies,
    distance,
    features_of_conditional_variance,
    features_of_samples,
    margin_of_panel,
)
from theorax.decide.own_verdicts import one_law_verdict, sweep_assumptions, sweep_verdict
from theorax.decide.planning import CONTRADICTED, cheapest
from theorax.decide.plans import NOTICED, Planned, Seeds, SweepPlan, Tested, draw_counts, positive, sweep_sizes
from theorax.decide.samples import Columns, by_size, float_array
from theorax.decide.status import DEFAULT_LEVELS, Levels, Reading, Reason, Status
from theorax.decide.verdict import Assumption, Standing, Verdict
from theorax.decide.wide_margins import NO_MEANING_OF_LAW
from theorax.errors import DesignError, ObservationError

__all__ = ["WIDER", "LawPlan", "decide_law", "law", "plan_law", "with_default_excluded"]

WORDS = KindWords(
    "law",
    DecidedQuantity(
        "distance from the claimed law",
        "distance",
        QuantityForm.ERROR,
        verb="extrapolated",
        is_distance=True,
        has_margin=True,
    ),
    deviation="a law at distance {}",
    meanings=Meanings(
        supported="the data exclude every law as far from it as the margin, in the distance of characteristic functions",
        refuted="the data exclude this law",
        inconclusive="the data fit this law, and one as far from it as the margin too",
        beyond="the numbers rule out every law nearer to it than the margin",
    ),
    noise_of=" of a feature of the law",
)
"""Words of this kind in every report."""

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

WIDER = (Fraction(11, 10), Fraction(5, 4), Fraction(3, 2), Fraction(2))
"""Factors of the variance, of which support excludes by default the smallest that a design tells from one."""
_EXACT = Corrections(size=0.0, rest=0.0, reason="nothing is extrapolated")
# Of all noise of one root mean square, that in one direction reaches farthest at every level below 0.2
# (Székely and Bakirov 2003).
_ONE_DIRECTION = Shape(1.0)


@final
@dataclass(frozen=True, kw_only=True)
class LawPlan(SweepPlan):
    """A law, or the limit of laws; the class of corrections is in units of the distance D, as the margin is.

    ``sd``: the root mean square of the noise of one draw's features; that of a single value where it is zero.
    ``conditional``: what is observed are variances given which the quantity is a centred normal (Rao and Blackwell).

    The width is that of the test: bias plus the quantile of the norm of a Gaussian vector. How its covariance spreads over
    directions is taken from the claimed law. Conditional features move along one direction nearly, the widest there is.
    """

    kind_words: ClassVar[KindWords] = WORDS
    hashed_as: ClassVar[str] = "LawPlan"

    to: KnownLaw
    excludes: tuple[KnownLaw, ...]
    conditional: bool = False

    @property
    def claimed(self) -> float:
        return 0.0  # the distance of the law from the claimed one

    @property
    def statement(self) -> str:
        if len(self.sizes) > 1:
            return f"{self.of} ⇒ {self.to}  as {self.letter} → ∞"
        return f"{self.of} ~ {self.to}"

    @property
    def unit(self) -> str:
        return ", in the distance D,"

    @property
    def words(self) -> tuple[str, str]:
        return str(self.to), "a distance of "

    @property
    def planned_spreads(self) -> tuple[float, ...]:
        planned = self._spread
        return planned if isinstance(planned, tuple) else (planned,) * len(self.sizes)

    @property
    def frequencies(self) -> Frequencies:
        """Frequencies at which characteristic functions are compared."""
        return self.to.frequencies

    @cached_property
    def target(self) -> Vector:
        """The features of the claimed law."""
        return self.to.features(self.frequencies)

    @cached_property
    def core(self) -> Plan:
        return Plan(
            sizes=self.sizes,
            corrections=self.corrections.anchored(self.sizes[0], in_limit=True),
            target=Target.LIMIT,
            sd=self._spread,
            draws=self.draws,
            policy=self.seeds.policy if len(self.sizes) > 1 else Policy.INDEPENDENT,
            levels=self.levels,
        )

    @property
    def _spread(self) -> tuple[float, ...] | float:
        """The planned noise of one draw at each size; that of a sample in place of the law is added."""
        planned = self.sd or self.to.noise(self.frequencies).sd
        if not isinstance(self.to, Sample):
            return planned
        more = math.sqrt(1 + max(_counts(self.draws, self.sizes)) / self.to.draws)
        return tuple(more * sd for sd in planned) if isinstance(planned, tuple) else more * planned

    @cached_property
    def _noise(self) -> Shape:
        """Covariance of the noise over the features."""
        return _ONE_DIRECTION if self.conditional else self.to.noise(self.frequencies)

    @property
    def half_width(self) -> float:
        return self.bias + self._noise.quantile(self.levels.support) * self.weights.se

    @property
    def noticeable(self) -> float:
        # What is seen is at least the true distance less the bias, plus the noise along the gap, whose standard deviation
        # is at most that of the strongest direction.
        along = float(ndtri(NOTICED)) * math.sqrt(self._noise.norm.largest)
        return self.forgiven + 2 * self.bias + (self._noise.quantile(self.levels.refute) + along) * self.weights.se

    @property
    def no_meaning(self) -> str:
        wide = [distance(self.target, features) for features in self.to.stretched(self.frequencies)]
        return NO_MEANING_OF_LAW if max(wide) < self.margin else ""

    @property
    def why_not(self) -> Reason | None:
        if self.decides:
            return None
        noiseless = solve_weights(replace(self.core, policy=Policy.DETERMINISTIC))
        return Reason.UNDERPOWERED if noiseless.decides(self.margin) else Reason.CLASS_BIAS

    def power(self) -> float:
        return self._power(self.weights)

    @property
    def worst_power(self) -> float:
        return self._power(self.weights, self.bias)

    def _power(self, weights: Weights, shift: float = 0.0) -> float:
        # By the triangle inequality a bias adds at most itself to the distance.
        reach = self._noise.quantile(self.levels.support) * weights.se
        return 1.0 - self._exceeded(self.margin - weights.bias.total - reach - shift, weights)

    def _exceeded(self, radius: float, weights: Weights) -> float:
        """The probability that the noise reaches this far."""
        return self._noise.norm.p(radius / weights.se) if weights.se else float(radius <= 0)

    def apart(self, other: Planned) -> float | None:
        return distance(self.target, other.target) if isinstance(other, LawPlan) else None

    def cheapest(
        self,
        power: float = ASSURED,
        cost: Callable[[float], float] = float,
        doublings: int = 10,
        most_draws: int = 2**17,
    ) -> Self | None:
        doublings = doublings if len(self.sizes) > 1 else 0
        found = cheapest(
            self.core, self.margin, power, doublings, most_draws, cost, lambda weights: self._power(weights) >= power
        )
        return None if found is None else replace(self, **self._extended(found.weights.plan))

    def _extended(self, found: Plan) -> dict[str, Any]:
        spread = {"sd": found.sd} if isinstance(self.sd, tuple) else {}
        return {"sizes": found.sizes, "draws": found.draws, **spread}

    @property
    def design(self) -> str:
        return super().design if len(self.sizes) > 1 else f"{_counts(self.draws, self.sizes)[0]} draws"

    def _declared(self) -> Iterable[str]:
        nearest = f", the distance to {' or '.join(map(str, self.excludes))}" if self.excludes else ""
        yield f"margin      {self.margin:.3g} in D{nearest}"
        if len(self.sizes) > 1:
            yield f"class       corrections {self.corrections}, in D"


def with_default_excluded(planned: Callable[[Fraction], LawPlan]) -> LawPlan:
    """The plan whose margin is the distance to the law with the variance that many times larger.

    It is the smallest of `WIDER` that the design excludes with probability `ASSURED` if the claim holds; the largest where
    it excludes none. Sizes, draws, noise and class decide it, never a value.
    """
    plans = map(planned, WIDER)
    # At fixed levels, so that a further attempt does not change the claim.
    decides = (plan for plan in plans if replace(plan, levels=DEFAULT_LEVELS).power() >= ASSURED)
    return next(decides, None) or planned(WIDER[-1])


def plan_law(
    sizes: Iterable[float] | None = None,
    *,
    to: KnownLaw,
    draws: int | Sequence[int],
    excludes: Iterable[KnownLaw] | None = None,
    margin: float | None = None,
    sd: float | None = None,
    seeds: str = "undeclared",
    corrections: Corrections | None = None,
    conditional: bool = False,
    levels: Levels = DEFAULT_LEVELS,
    reading: str = Reading.MARGIN,
    name: str = "law",
    letter: str = "n",
    of: str = "x",
) -> LawPlan:
    """Plan to decide that draws have the law ``to``, or, with sizes, that their laws tend to it.

    ``excludes`` are wrong laws: the distance to the nearest is the margin unless one is given; by default the same law
    with a larger variance, by the smallest factor of `WIDER` that these draws tell from one.
    ``sd`` is that of one draw's features, for the width alone; by default that of raw draws.
    A limit needs a class of corrections in units of D.

    **Raises:** `DesignError` or `StatementError` for what cannot be planned, saying what to write instead.
    """
    if not isinstance(to, KnownLaw):
        raise DesignError(
            f"to={to!r} is no law. Write decide.Normal(0, 1), Uniform(0, 1), Exponential(1) or Sample(...)."
        )
    if margin is None and excludes is None and isinstance(to, RealLaw):
        others: dict[str, Any] = {
            "draws": draws,
            "sd": sd,
            "seeds": seeds,
            "corrections": corrections,
            "conditional": conditional,
            "levels": levels,
            "reading": reading,
            "name": name,
            "letter": letter,
            "of": of,
        }
        known = None if sizes is None else tuple(sizes)
        return with_default_excluded(
            lambda factor: plan_law(known, to=to, excludes=(to.wider(math.sqrt(factor)),), **others)
        )
    wrong = tuple(excludes or ())
    if margin is None:
        margin = margin_of_panel(
            to.features(to.frequencies), {str(law): law.features(to.frequencies) for law in wrong}
        )[0]
    else:
        wrong = ()
    if sizes is None:
        found: tuple[float, ...] = (1.0,)
        allowed = _EXACT
    else:
        found = sweep_sizes(sizes)
        if corrections is None:
            raise DesignError(
                "No class of corrections was declared for the limit of laws. The default, half of all distance at the "
                'smallest size, is above every margin. Write corrections=Corrections(size=0.05, slowest=1, reason="...").'
            )
        allowed = corrections
    return LawPlan(
        sizes=found,
        to=to,
        excludes=wrong,
        margin=margin,
        draws=draw_counts(draws),
        sd=0.0 if sd is None else positive("sd", sd, "the planned noise of one draw's features"),
        seeds=cast("Seeds", seeds),
        corrections=allowed,
        conditional=conditional,
        levels=levels,
        reading=cast("Reading", reading),
        name=name,
        letter=letter,
        of=of,
    )


def law(plan: LawPlan, samples: Any, reference: Any = None) -> Verdict:
    """Decide the law on draws: a list for one size; a table ``draws x sizes`` or one array per size for a limit.

    ``reference`` are the draws of a `Sample`.

    **Raises:** `ObservationError` for draws that are not those planned, or not finite.
    """
    columns = by_size(plan, samples if len(plan.sizes) > 1 else [float_array(samples).ravel()])
    features = features_of_conditional_variance if plan.conditional else features_of_samples
    tables = [features(column, plan.frequencies) for column in columns]
    tested = decide_law(plan, tables, _reference(plan, reference))
    spreads = Spreads(tuple(map(noise_of, tables)), plan.planned_spreads, bool(plan.sd))
    tested = replace(tested, looked=look_at_draws(Columns(columns), spreads, plan.of))
    noise = Assumption("moment", "mean features are near normal (bounded, many draws)", Standing.DECLARED)
    given = "the quantity is a centred normal, given the variances observed"
    normal = (Assumption("law", given, Standing.NOT_LOOKED_AT),) if plan.conditional else ()
    if len(plan.sizes) > 1:
        return sweep_verdict(plan, tested, assumptions=(*sweep_assumptions(plan, noise), *normal))
    drawn = Assumption("independence", "the draws are independent, of one law", Standing.DECLARED)
    scope = "for the law that the draws come from; nothing is extrapolated"
    return one_law_verdict(plan, tested, scope=scope, assumptions=(noise, drawn, *normal))


def decide_law(
    plan: LawPlan, features: Sequence[Matrix], reference: Matrix | None = None, *, looks_further: bool = True
) -> Tested:
    """Decide the law on the features of the draws, one table for each size.

    ``reference``: the features of the draws that stand for the claimed law. ``looks_further``: ask for larger classes of
    corrections too, and if the declared one is contradicted. A refutation stands without; support does not.
    """
    target, extrapolated = plan.target, len(plan.sizes) > 1
    features = averaged(features)
    decision = decide_distance(features, target, plan.weights, plan.margin, plan.levels, reference, plan.reading)
    shown = target if reference is None else reference.mean(axis=0)
    unseen = [
        f"a law nearer than {plan.margin:.2g} to the claimed one"
        + (", as far as the nearest excluded law lies" if plan.excludes else "")
    ]
    alarm = False
    if extrapolated and not looks_further and decision.status is Status.SUPPORTED:
        decision = withheld(decision, Reason.UNDERPOWERED)
    elif extrapolated and looks_further:
        decision = replace(decision, robust=is_robust_law(decision, features, target, plan.core, reference))
        decision = replace(decision, under_twice=decision.robust, basis=plan.basis)
        alarm = misfit_law(features, plan.core)
    if extrapolated:
        unseen.append(beyond(plan.core.corrections, plan.letter, plan.sizes[0], in_limit=True))
    if alarm:
        decision = withheld(decision, Reason.CLASS_REFUTED)
    points = tuple(law_point(size, table, shown) for size, table in zip(plan.sizes, features, strict=True))
    return Tested(decision, points, tuple(unseen), CONTRADICTED if alarm else "")


def _reference(plan: LawPlan, reference: Any) -> Matrix | None:
    if not isinstance(plan.to, Sample):
        if reference is not None:
            raise ObservationError(f"A reference sample was given, but the claimed law is {plan.to}. Leave it out.")
        return None
    data = float_array([] if reference is None else reference, "The reference draws").ravel()
    if len(data) != plan.to.draws:
        raise ObservationError(
            f"{len(data)} reference draws were given, {plan.to.draws} were planned. Hand over those."
        )
    return features_of_samples(data, plan.frequencies)


def _counts(draws: tuple[int, ...] | int, sizes: tuple[float, ...]) -> tuple[int, ...]:
    return draws if isinstance(draws, tuple) else (draws,) * len(sizes)
