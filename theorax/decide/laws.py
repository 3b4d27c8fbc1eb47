r"""Laws of own numbers: of draws at one size, or in the limit of growing sizes; against a law or a second sample.

Held against each other are characteristic functions at forty fixed frequencies; their distance D is what margins and
classes of corrections are in. Support says that the law is nearer than the nearest law that was declared wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from theorax.decide.bias_aware import Weights
from theorax.decide.corrections import Corrections
from theorax.decide.designs import Plan, Policy, Target
from theorax.decide.equivalence import withheld
from theorax.decide.known_laws import Law, Sample
from theorax.decide.law_distance import (
    Frequencies,
    decide_law,
    distance,
    features_of_characteristic,
    features_of_conditional_variance,
    features_of_samples,
    gauss_hermite,
    is_robust_law,
    margin_of_panel,
    misfit_law,
)
from theorax.decide.law_power import LawPlan as Design
from theorax.decide.law_power import Shape, shape_of_characteristic
from theorax.decide.one_case import ledger, sweep_verdict, verdict
from theorax.decide.planning import CONTRADICTED, cheapest
from theorax.decide.plans import NOTICED, Seeds, SweepPlan, counted, positive, sweep
from theorax.decide.samples import by_size, numbers
from theorax.decide.status import DEFAULT_LEVELS, Levels, Reason
from theorax.decide.verdict import Assumption, Point, Verdict
from theorax.errors import DesignError, ObservationError

__all__ = ["LawPlan", "law", "plan_law"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

# A variance a tenth too large is what the default margin excludes (METHOD, section 4.5).
_WIDER = math.sqrt(1.1)
_EXACT = Corrections(size=0.0, rest=0.0, reason="nothing is extrapolated")


@final
@dataclass(frozen=True, kw_only=True)
class LawPlan(SweepPlan):
    """A law, or the limit of laws; the class of corrections is in units of the distance D, as the margin is.

    ``conditional``: what is observed are variances given which the quantity is a centred normal (Rao and Blackwell).
    """

    to: Law
    excludes: tuple[Law, ...]
    conditional: bool = False

    @property
    def statement(self) -> str:
        if len(self.sizes) > 1:
            return f"{self.of} ⇒ {self.to}  as {self.letter} → ∞"
        return f"{self.of} ~ {self.to}"

    @property
    def unit(self) -> str:
        return " in D"

    @cached_property
    def frequencies(self) -> Frequencies:
        """Where characteristic functions are compared."""
        return _frequencies(self.to.scale)

    @cached_property
    def target(self) -> Vector:
        """The features of the claimed law."""
        return _features(self.to, self.frequencies)

    @cached_property
    def shape(self) -> Shape:
        """The noise of one draw's features: that of the claimed law, or one direction of the planned sd."""
        assert isinstance(self.sd, float | int)
        found = Shape(float(self.sd)) if self.sd else _shape(self.to, self.frequencies)
        if isinstance(self.to, Sample):  # the reference's own noise
            more = math.sqrt(1 + max(_counts(self.draws, self.sizes)) / self.to.draws)
            return replace(found, sd=found.sd * more)
        return found

    @cached_property
    def core(self) -> Plan:
        return Plan(
            sizes=self.sizes,
            corrections=self.corrections.anchored(self.sizes[0]),
            target=Target.LIMIT,
            sd=self.shape.sd,
            draws=self.draws,
            policy=self.seeds.policy if len(self.sizes) > 1 else Policy.INDEPENDENT,
            levels=self.levels,
        )

    @cached_property
    def _design(self) -> Design:
        return Design(self.core, self.margin, self.shape)

    @property
    def half_width(self) -> float:
        return self._design.half_width

    @property
    def noticeable(self) -> float:
        return self._design.noticeable(NOTICED)

    def power(self) -> float:
        return self._design.power()

    def cheapest(
        self, power: float = 0.8, cost: Callable[[float], float] = float, doublings: int = 10, most_draws: int = 2**17
    ) -> Self | None:
        doublings = doublings if len(self.sizes) > 1 else 0

        def reached(weights: Weights) -> bool:
            return replace(self._design, plan=weights.plan).decides(power)

        found = cheapest(self.core, self.margin, power, doublings, most_draws, cost, reached)
        return None if found is None else replace(self, **self._extended(found.weights.plan))

    def _extended(self, found: Plan) -> dict[str, Any]:
        return {"sizes": found.sizes, "draws": found.draws}

    @property
    def design(self) -> str:
        return super().design if len(self.sizes) > 1 else f"{_counts(self.draws, self.sizes)[0]} draws"

    def _declared(self) -> Iterable[str]:
        nearest = f", the distance to {' or '.join(map(str, self.excludes))}" if self.excludes else ""
        yield f"margin      {self.margin:.3g} in D{nearest}"
        if len(self.sizes) > 1:
            yield f"class       corrections {self.corrections}, in D"


def plan_law(
    sizes: Iterable[float] | None = None,
    *,
    to: Law,
    draws: int | Sequence[int],
    excludes: Iterable[Law] | None = None,
    margin: float | None = None,
    sd: float | None = None,
    seeds: str = "undeclared",
    corrections: Corrections | None = None,
    conditional: bool = False,
    levels: Levels = DEFAULT_LEVELS,
    name: str = "law",
    letter: str = "n",
    of: str = "x",
) -> LawPlan:
    """Plan to decide that draws have the law ``to``, or, with sizes, that their laws tend to it.

    ``excludes`` are wrong laws: the distance to the nearest is the margin unless one is given; by default the same law
    with a variance a tenth larger. ``sd`` is that of one draw's features, for the width alone; by default that of raw
    draws. A limit needs a class of corrections in units of D.

    **Raises:** `DesignError` or `StatementError` for what cannot be planned, saying what to write instead.
    """
    if not isinstance(to, Law):
        raise DesignError(
            f"to={to!r} is no law. Write decide.Normal(0, 1), Uniform(0, 1), Exponential(1) or Sample(...)."
        )
    wrong = (to.wider(_WIDER),) if excludes is None else tuple(excludes)
    frequencies = _frequencies(to.scale)
    panel = {str(law): _features(law, frequencies) for law in wrong}
    if margin is None:
        margin, _ = margin_of_panel(_features(to, frequencies), panel)
    else:
        wrong = ()
    if sizes is None:
        found: tuple[float, ...] = (1.0,)
        allowed = _EXACT
    else:
        found = sweep(sizes)
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
        draws=counted(draws),
        sd=0.0 if sd is None else positive("sd", sd, "the planned noise of one draw's features"),
        seeds=cast("Seeds", seeds),
        corrections=allowed,
        conditional=conditional,
        levels=levels,
        name=name,
        letter=letter,
        of=of,
    )


def law(plan: LawPlan, samples: Any, reference: Any = None) -> Verdict:
    """Decide the law on draws: a list for one size; a table ``draws x sizes`` or one array per size for a limit.

    ``reference`` are the draws of a `Sample`.

    **Raises:** `ObservationError` for draws that are not those planned, or not finite.
    """
    many = len(plan.sizes) > 1
    columns = by_size(plan, samples if many else [numbers(samples).ravel()])
    features = features_of_conditional_variance if plan.conditional else features_of_samples
    tables = [features(column, plan.frequencies) for column in columns]
    target, other = plan.target, _reference(plan, reference)
    decision = decide_law(tables, target, plan.weights, plan.margin, plan.levels, other)
    shown = target if other is None else other.mean(axis=0)
    alarm = many and misfit_law(tables, plan.core)
    if many:
        decision = replace(decision, robust=is_robust_law(decision, tables, target, plan.core, other))
    if alarm:
        decision = withheld(decision, Reason.CLASS_REFUTED)
    given: dict[str, Any] = {
        "kind": "law",
        "predicted": 0.0,
        "points": tuple(_point(size, table, shown) for size, table in zip(plan.sizes, tables, strict=True)),
        "unseen": (
            f"a law nearer than {plan.margin:.2g} to the claimed one"
            + (f"; so far away is the nearest of {', '.join(map(str, plan.excludes))}" if plan.excludes else ""),
            *(("corrections that are larger than declared, or fade more slowly",) if many else ()),
        ),
        "detail": CONTRADICTED if alarm else "",
    }
    noise = Assumption("moment", "mean features are near normal (bounded, many draws)", "declared")
    if many:
        return sweep_verdict(plan, decision, assumptions=ledger(plan, noise), **given)
    drawn = Assumption("independence", "the draws are independent, of one law", "declared")
    scope = "for the law that the draws come from; nothing is extrapolated"
    return verdict(plan, decision, scope=scope, assumptions=(noise, drawn), **given)


@lru_cache(maxsize=256)
def _frequencies(scale: float) -> Frequencies:
    return gauss_hermite(scale)


@lru_cache(maxsize=256)
def _shape(law: Law, frequencies: Frequencies) -> Shape:
    return shape_of_characteristic(law.characteristic, frequencies)


def _features(law: Law, frequencies: Frequencies) -> Vector:
    return features_of_characteristic(law.characteristic(frequencies.table[:, 0]), frequencies)


def _reference(plan: LawPlan, reference: Any) -> Matrix | None:
    if not isinstance(plan.to, Sample):
        if reference is not None:
            raise ObservationError(f"A reference sample was given, but the claimed law is {plan.to}. Leave it out.")
        return None
    data = numbers([] if reference is None else reference, "The reference draws").ravel()
    if len(data) != plan.to.draws:
        raise ObservationError(
            f"{len(data)} reference draws were given, {plan.to.draws} were planned. Hand over those."
        )
    return features_of_samples(data, plan.frequencies)


def _counts(draws: tuple[int, ...] | int, sizes: tuple[float, ...]) -> tuple[int, ...]:
    return draws if isinstance(draws, tuple) else (draws,) * len(sizes)


def _point(size: float, table: Matrix, target: Vector) -> Point:
    """Distance of the mean features at one size; its standard error is that of the distance to first order."""
    gap = table.mean(axis=0) - target
    norm = distance(table.mean(axis=0), target)
    along = table @ (gap / norm) if norm else table[:, 0]
    return Point(float(size), norm, float(along.std(ddof=1) / math.sqrt(len(table))), len(table))
