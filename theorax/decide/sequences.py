"""Sequences without randomness: the order of a method, or a limit, from one value per size with a bounded error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from theorax.decide.corrections import Corrections
from theorax.decide.limits import LimitPlan, limit_verdict
from theorax.decide.plans import Seeds, per_size, sweep_sizes
from theorax.decide.rates import RatePlan, rate_verdict
from theorax.decide.samples import Columns, float_array
from theorax.decide.status import DEFAULT_LEVELS, Levels, Reading
from theorax.decide.verdict import Point, Verdict
from theorax.errors import DesignError, ObservationError
from theorax.names import many

__all__ = ["SequencePlan", "plan_sequence", "sequence"]

SequencePlan = LimitPlan | RatePlan
"""A plan with ``seeds="none"``."""


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
    floor: float = 0.0,
    levels: Levels = DEFAULT_LEVELS,
    reading: str = Reading.MARGIN,
    name: str = "sequence",
    letter: str = "n",
    of: str = "q",
) -> SequencePlan:
    """Plan to decide the order ``n**exponent`` (or ``exp(exponent*n)``) or the limit ``to`` of a deterministic sequence.

    ``errors`` bound the error of each value: absolute ones for a limit, relative ones for an order (its logarithm is
    what is used). ``floor``: an absolute numerical floor of the values of an order; sizes that come near it are left out.
    Calling this says that nothing is random. One run at each size with noise of unknown size is planned with
    ``plan_rate(..., draws=1)`` or ``plan_limit(..., draws=1)``: its noise is read off the residuals.

    **Raises:** `DesignError` or `StatementError` for what cannot be planned, saying what to write instead.
    """
    if (exponent is None) is (to is None):
        raise DesignError(
            f"plan_sequence(exponent={exponent!r}, to={to!r}) claims {'both' if to is not None else 'neither'}. "
            "A sequence is held against its order or against its limit. Write one of them."
        )
    if not math.isfinite(to if to is not None else exponent or 0.0):
        raise DesignError("A claimed exponent or limit is not finite. Write a finite number.")
    given: dict[str, Any] = {
        "sizes": sweep_sizes(sizes),
        "margin": margin,
        "draws": 1,
        "seeds": Seeds.NONE,
        "errors": per_size("errors", errors),
        "side": side,
        "corrections": Corrections() if corrections is None else corrections,
        "levels": levels,
        "reading": cast("Reading", reading),
        "name": name,
        "letter": letter,
        "of": of,
    }
    if exponent is None:
        return LimitPlan(to=float(to or 0.0), **given)
    return RatePlan(exponent=float(exponent), form=form, floor=float(floor), **given)


def sequence(plan: SequencePlan, values: Any) -> Verdict:
    """Decide on one value per size.

    **Raises:** `ObservationError` for another number of values, values that are not finite, or, where an order is
    claimed, not positive.
    """
    data = float_array(values)
    if data.shape != (len(plan.sizes),):
        raise ObservationError(
            f"Values of shape {data.shape} were given where the plan has {many(len(plan.sizes), 'size')}. A sequence has one "
            "value at each. Write them in the order of the sizes."
        )
    of_limit = isinstance(plan, LimitPlan)
    for at in np.flatnonzero(~np.isfinite(data) | (False if of_limit else ~(data > 0))):
        need = "Observe a finite value." if of_limit else "An order is read off logarithms: observe a positive value."
        raise ObservationError(
            f"The value at {plan.letter} = {plan.sizes[at]:g} (size {at + 1}) is {data[at]:g}. Nothing can be read off "
            f"it. {need}"
        )
    points = tuple(
        Point(float(size), float(value), float(error if of_limit else error * value) or None, 1)
        for size, value, error in zip(plan.sizes, data, plan.core.given_errors, strict=True)
    )
    observed = Columns(tuple(data[:, None]), points=points)
    return limit_verdict(plan, observed) if isinstance(plan, LimitPlan) else rate_verdict(plan, observed)
