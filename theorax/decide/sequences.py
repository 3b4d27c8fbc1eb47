"""Deterministic sequences: one value per size, its error bounded; the order of a method, or a limit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from theorax.decide.bias_aware import Weights
from theorax.decide.corrections import Corrections
from theorax.decide.designs import Plan, Policy, Target
from theorax.decide.equivalence import decide, is_robust
from theorax.decide.estimators import deterministic
from theorax.decide.interval import Interval
from theorax.decide.limits import LIMIT_SIDES, in_units, tends
from theorax.decide.one_case import ledger, sweep_verdict
from theorax.decide.planning import alarmed, plateau
from theorax.decide.plans import SweepPlan, chosen, spread, sweep
from theorax.decide.rates import FORMS, SIDES, order
from theorax.decide.samples import numbers
from theorax.decide.status import DEFAULT_LEVELS, Levels, Side
from theorax.decide.verdict import Point, Verdict
from theorax.errors import DesignError, ObservationError

__all__ = ["SequencePlan", "plan_sequence", "sequence"]


@final
@dataclass(frozen=True, kw_only=True)
class SequencePlan(SweepPlan):
    """What a sequence without randomness does as the size grows; ``to`` is its limit, else ``exponent`` its order."""

    exponent: float | None = None
    to: float | None = None
    side: str = "exact"
    form: str = "power"
    errors: tuple[float, ...] | float = 0.0

    def __post_init__(self) -> None:
        chosen("side", self.side, SIDES)
        chosen("form", self.form, FORMS)
        super().__post_init__()

    @property
    def unit(self) -> str:
        return super().unit if self.to is None else f" times {abs(self.to):g}" if self.to else ""

    @property
    def statement(self) -> str:
        if self.to is not None:
            return tends(self.of, self.letter, self.to, self.side)
        assert self.exponent is not None
        return order(self.of, self.letter, self.exponent, self.side, self.form)

    @cached_property
    def core(self) -> Plan:
        of_limit = self.to is not None
        return Plan(
            sizes=self.sizes,
            corrections=in_units(self.corrections, self.to, self.sizes[0])
            if self.to is not None
            else self.corrections.anchored(self.sizes[0]),
            target=Target.LIMIT if of_limit else FORMS[self.form],
            policy=Policy.DETERMINISTIC,
            errors=self.errors,
            draws=1,
            side=LIMIT_SIDES[self.side] if of_limit else SIDES[self.side],
            levels=self.levels,
        )

    @property
    def sign(self) -> int:
        """+1 for a limit, -1 for an order: what is decided is the exponent of decay."""
        return 1 if self.to is not None else -1

    @property
    def claimed(self) -> float:
        """The claimed limit, or the exponent of n."""
        found = self.to if self.to is not None else self.exponent
        assert found is not None
        return found

    def _extended(self, found: Plan) -> dict[str, Any]:
        return {"sizes": found.sizes, "errors": found.errors}


def plan_sequence(
    sizes: Iterable[float],
    *,
    margin: float,
    exponent: float | None = None,
    to: float | None = None,
    errors: float | Sequence[float] = 0.0,
    side: str = "exact",
    form: str = "power",
    corrections: Corrections | None = None,
    levels: Levels = DEFAULT_LEVELS,
    name: str = "sequence",
    letter: str = "n",
    of: str = "q",
) -> SequencePlan:
    """Plan to decide the order ``n**exponent`` (or ``exp(exponent*n)``) or the limit ``to`` of a deterministic sequence.

    ``errors`` bound the error of each value: absolute ones for a limit, relative ones for an order (its logarithm is
    what is used).

    **Raises:** `DesignError` or `StatementError` for what cannot be planned, saying what to write instead.
    """
    if (exponent is None) is (to is None):
        raise DesignError(
            f"plan_sequence(exponent={exponent!r}, to={to!r}) claims {'both' if to is not None else 'neither'}. "
            "A sequence is held against its order or against its limit. Write one of them."
        )
    if not math.isfinite(to if to is not None else exponent or 0.0):
        raise DesignError("A claimed exponent or limit is not finite. Write a finite number.")
    return SequencePlan(
        sizes=sweep(sizes),
        exponent=None if exponent is None else float(exponent),
        to=None if to is None else float(to),
        margin=margin,
        errors=spread("errors", errors),
        side=side,
        form=form,
        corrections=Corrections() if corrections is None else corrections,
        levels=levels,
        name=name,
        letter=letter,
        of=of,
    )


def sequence(plan: SequencePlan, values: Any) -> Verdict:
    """Decide on one value per size.

    **Raises:** `ObservationError` for another number of values, values that are not finite, or, where an order is
    claimed, not positive.
    """
    data = numbers(values)
    if data.shape != (len(plan.sizes),):
        raise ObservationError(
            f"Values of shape {data.shape} were given where {len(plan.sizes)} sizes were planned. A sequence has one "
            "value at each. Write them in the order of the sizes."
        )
    of_limit = plan.to is not None
    for at in np.flatnonzero(~np.isfinite(data) | (False if of_limit else ~(data > 0))):
        need = "Observe a finite value." if of_limit else "An order is read off logarithms: observe a positive value."
        raise ObservationError(
            f"The value at {plan.letter} = {plan.sizes[at]:g} (size {at + 1}) is {data[at]:g}. Nothing can be read off "
            f"it. {need}"
        )
    y = data if of_limit else np.log(data)
    side: Side = plan.core.side

    def estimate(k: np.ndarray, bias: float) -> Interval:
        return deterministic(y, k, bias)

    def weighted(weights: Weights) -> Interval:
        return estimate(weights.vector, weights.bias.total)

    claimed = plan.sign * plan.claimed
    decision = decide(weighted(plan.weights), claimed, plan.margin, side, plan.levels)
    decision = replace(decision, robust=is_robust(decision, plan.core, weighted))
    decision, detail = alarmed(decision, plan.core, estimate)
    unseen = [
        f"{'a limit' if of_limit else 'an order'} that differs from the claimed one by less than {plan.noticeable:.2g}"
    ]
    flat = plateau(plan.weights, claimed) if not of_limit and claimed > 0 else 0.0
    if 0 < flat < math.inf:
        unseen.append(f"a plateau of up to {flat:.0%} of the last value")
    unseen.append("corrections that are larger than declared, or fade more slowly")
    errors = plan.core.given_errors
    points = tuple(
        Point(float(size), float(value), float(error if of_limit else error * value) or None, 1)
        for size, value, error in zip(plan.sizes, data, errors, strict=True)
    )
    return sweep_verdict(
        plan,
        decision,
        kind="limit" if of_limit else "rate",
        predicted=plan.claimed,
        points=points,
        unseen=unseen,
        assumptions=ledger(plan),
        sign=plan.sign,
        detail=detail,
    )
