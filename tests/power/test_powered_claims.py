"""What a plan promised is what happens: planned power, and the deviation that is said to be noticeable.

Published powers are held by the known answers (`tests/honesty/test_known_answers.py`), each less five points and the
99.9 % fluctuation of its replicates.
"""

import math

import numpy as np
import pytest

from theorax.decide.bias_aware import solve_weights
from theorax.decide.corrections import Corrections
from theorax.decide.designs import Plan, Policy, Target
from theorax.decide.equivalence import decide
from theorax.decide.estimators import paired
from theorax.decide.status import Side, Status

REPLICATES = 600
EXACT = Corrections(size=0, rest=0, reason="exact at every size")


def fluctuation(rate):
    """99.9 % on either side."""
    return 3.29 * math.sqrt(rate * (1 - rate) / REPLICATES)


def test_planned_power_is_what_happens(rng):
    plan = Plan((1,), EXACT, Target.LIMIT, sd=0.3, draws=117, policy=Policy.PAIRED)
    planned = solve_weights(plan).power(0.1)
    decisions = [decide(paired(0.3 * rng.standard_normal((117, 1))), 0.0, 0.1) for _ in range(REPLICATES)]
    held = sum(d.status is Status.SUPPORTED or d.equivalent_within_margin for d in decisions) / len(decisions)
    assert abs(planned - 0.90) < 0.01  # published: 117 draws for 0.90
    # Half a point because the plan takes the sd as known and the test estimates it.
    assert abs(held - planned) < 0.005 + fluctuation(planned)


@pytest.mark.parametrize("side", [Side.EQUAL, Side.AT_LEAST])
def test_what_is_called_noticeable_is_noticed(side, rng):
    """With the worst member of the class against it, a deviation of this size is refuted nine times of ten."""
    sizes = np.array([32 * 2.0**i for i in range(9)])
    plan = Plan(tuple(sizes), draws=64, policy=Policy.PAIRED, side=side)
    weights = solve_weights(plan)
    off, x = weights.mde(0.9), sizes / sizes[0]
    # The member of the class that moves the estimate most towards the claim.
    powers = np.linspace(0.5, 2, 301)
    shifts = np.array([weights.vector @ x**-w for w in powers])
    worst = int(np.argmax(np.abs(shifts)))
    correction = 0.5 * np.sign(shifts[worst]) * x ** -powers[worst]
    mean = -(1 - off) * np.log(sizes) + correction
    refuted = sum(
        decide(
            paired(mean + 0.2 * rng.standard_normal((64, len(sizes))), weights.vector, weights.bias.total),
            1.0,
            0.1,
            side,
        ).status
        is Status.REFUTED
        for _ in range(REPLICATES)
    )
    assert refuted / REPLICATES >= 0.9 - fluctuation(0.9)
