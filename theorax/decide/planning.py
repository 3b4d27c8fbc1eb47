"""Power of a design before any data: the cheapest one that decides, the plateau it misses, the misfit alarm."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from theorax.decide.bias_aware import Weights, bias_of, solve_weights, spare_directions
from theorax.decide.designs import ASSURED, LIKELY, Plan, Policy, Target, Vector
from theorax.decide.interval import Interval
from theorax.decide.status import Reason, Side
from theorax.errors import DesignError
from theorax.names import many

__all__ = ["CONTRADICTED", "Proposal", "cheapest", "misfit", "plateau", "require"]


CONTRADICTED = (
    "the data contradict the declared class of corrections, whatever the value claimed (misfit alarm, level 0.01)"
)


@dataclass(frozen=True)
class Proposal:
    """A design that would decide, and what it costs in units of the cost function."""

    weights: Weights
    cost: float
    half_width: float | None = None  # where it is not that of the weights alone

    def __str__(self) -> str:
        plan = self.weights.plan
        draws = "" if plan.policy is Policy.DETERMINISTIC else f" and {many(max(plan.planned_draws), 'draw')} at each"
        wide = self.weights.half_width if self.half_width is None else self.half_width
        return f"sizes {plan.sizes[0]:g} to {plan.sizes[-1]:g}{draws} (half-width {wide:.2g})"


def cheapest(
    plan: Plan,
    margin: float,
    power: float = ASSURED,
    doublings: int = 10,
    most_draws: int = 2**17,
    cost: Callable[[float], float] = float,
    decides: Callable[[Weights], bool] | None = None,
) -> Proposal | None:
    """The cheapest way to reach this power of support: the sweep extended by doubling, the same draws at every size.

    ``decides`` says when weights do (by default when they reach the power at this margin).

    ``cost`` is that of one draw at one size. None where no extension tried decides with the most draws allowed: then
    the class or the margin must change.
    """
    best: Proposal | None = None
    for extension in range(doublings + 1):
        extended = _extended(plan, extension)
        price = sum(map(cost, extended.sizes))
        if best is not None and 2 * price >= best.cost:
            break
        reached = decides if decides is not None else partial(Weights.decides, margin=margin, power=power)
        weights = _fewest_draws(extended, reached, most_draws)
        if weights is not None and (best is None or price * max(weights.plan.planned_draws) < best.cost):
            best = Proposal(weights, price * max(weights.plan.planned_draws))
    return best


def require(weights: Weights, margin: float, name: str = "The claim", power: float = LIKELY) -> None:
    """Let a design pass that can decide.

    **Raises:** `DesignError` naming what is too wide, and the cheapest design that would do.
    """
    if weights.decides(margin, power):
        return
    proposal = cheapest(weights.plan, margin)
    cause = f"Its half-width is {weights.half_width:.2g}, of which {weights.bias.total:.2g} is bias of the class"
    cause += ", and no draws at these sizes bring it down." if weights.why_not(margin) is Reason.CLASS_BIAS else "."
    remedy = f"Write {proposal}." if proposal else "Write a wider margin, or a sharper class with its reason."
    raise DesignError(f"{name} cannot be decided at margin {margin:g}. {cause} {remedy}")


@lru_cache(maxsize=1024)  # a property of the design: every verdict made on it shows the same number
def plateau(weights: Weights, claimed: float, power: float = 0.9) -> float:
    r"""The largest plateau, relative to the last decaying value, that may stay unseen under a claimed rate.

    A quantity $q(n) + \rho\, q(n_K)$ moves the estimate by $\sum_i k_i \log(1 + \rho\, q(n_K)/q(n_i))$; seen is what
    exceeds the detectable deviation. Infinite where even a constant would pass; zero for a limit, which has no plateau.
    """
    plan = weights.plan
    if plan.target is Target.LIMIT:
        return 0.0
    sizes = np.asarray(plan.sizes)
    last = sizes[-1]
    exponent = claimed * np.log(sizes / last) if plan.target is Target.EXPONENT else claimed * (sizes - last)
    threshold = weights.mde(power)

    def unseen(size: float) -> bool:
        shift = float(weights.vector @ np.log1p(size * np.exp(exponent)))
        return plan.side is Side.AT_MOST or abs(shift) < threshold

    # A grid from above, for weights have both signs and the shift need not be monotone; 32 points a decade locate the
    # crossing within 8 %, the digits in which a plateau is worth quoting.
    grid = np.logspace(6, -6, 12 * 32 + 1)
    if unseen(float(grid[0])):
        return math.inf
    return next((float(size) for size in grid if unseen(float(size))), 0.0)


def misfit(plan: Plan, estimate: Callable[[Vector, float], Interval], level: float = 0.01) -> bool:
    """True if the data contradict claimed form and class together, whatever the target's value.

    ``estimate`` turns weights and their bias into an interval. A gross-error alarm: it sees an exponential under a
    power, not a slow correction, and its silence is no evidence for the class.
    """
    directions = _alarms(plan)
    for direction, bias in directions:
        interval = estimate(direction, bias)
        # Two sides of J directions share the level: each has level / (2 J).
        each = level / (2 * len(directions))
        slack = bias + interval.rounding
        # The p-values are the limits held against zero, without their inversion.
        if interval.p_above(slack) <= each or interval.p_below(-slack) <= each:
            return True
    return False


@lru_cache(maxsize=4096)
def _alarms(plan: Plan) -> tuple[tuple[Vector, float], ...]:
    """The directions in which misfit shows, each with the worst value that the class alone gives it."""
    return tuple((direction, bias_of(plan, direction).total) for direction in spare_directions(plan))


def _extended(plan: Plan, extension: int) -> Plan:
    """The plan with its sweep doubled so many times; what was declared for the last size holds for the new ones."""
    sizes = plan.sizes + tuple(plan.sizes[-1] * 2.0 ** (i + 1) for i in range(extension))
    return replace(
        plan,
        sizes=sizes,
        sd=plan.noise + plan.noise[-1:] * extension,
        errors=plan.given_errors + plan.given_errors[-1:] * extension,
        draws=max(plan.planned_draws),
    )


def _fewest_draws(plan: Plan, decides: Callable[[Weights], bool], most: int) -> Weights | None:
    """Doubling, then halving of the bracket: the width falls as draws are added."""

    def tried(draws: int) -> Weights | None:
        weights = solve_weights(replace(plan, draws=draws))
        return weights if decides(weights) else None

    if plan.policy is Policy.DETERMINISTIC:
        only = solve_weights(plan)
        return only if decides(only) else None
    if tried(most) is None:
        return None
    low, high = 2, 4
    while (found := tried(high)) is None:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if (weights := tried(middle)) is None:
            low = middle
        else:
            high, found = middle, weights
    return found
