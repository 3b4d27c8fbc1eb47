"""A sweep of sizes and data over it, for the tests of a user's own numbers."""

from __future__ import annotations

import numpy as np

from theorax import decide
from theorax.decide.plans import SweepPlan

SIZES = tuple(2.0**i for i in range(5, 14))
SMOOTH = decide.Expansion(rest=0.6, order=2, reason="a smooth expansion in the step size")


def rate_plan():
    """A plan for a decay like 1/n that 64 draws decide."""
    return decide.plan_rate(SIZES, exponent=-1, margin=0.1, draws=64)


def power_law(rng, plan: SweepPlan, exponent=-1.0, sd=0.2, constant=1.0):
    """Draws that decay with this exponent, and a correction that decays like a square root."""
    n = np.array(plan.sizes)
    draws = plan.core.planned_draws[0]
    return constant * n**exponent * (1 + 0.5 * (n / n[0]) ** -0.5) * rng.lognormal(0, sd, (draws, len(n)))
