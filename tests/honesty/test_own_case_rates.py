"""Cases of the engine's own refute what is true of skewed draws no more often than a tenth of a claim's level says."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from theorax import decide
from theorax.decide.status import Levels, Status

LEVEL = 0.025 / 10 / 2  # of one of two cases
RUNS = 1500


def refuted(rng: np.random.Generator, draws: int) -> bool:
    plan = decide.plan_mean(to=1.0, margin=0.5, draws=draws, sd=1.0, levels=Levels(0.025, LEVEL), reading="exact")
    return decide.mean(plan, rng.exponential(size=draws)).status is Status.REFUTED


def test_two_tests_in_a_row_keep_the_level_that_thirty_draws_do_not() -> None:
    rng = np.random.default_rng(44)
    first = sum(refuted(rng, 30) for _ in range(RUNS))
    both = sum(refuted(rng, 240) for _ in range(first))
    assert first > binom.ppf(0.999, RUNS, LEVEL)  # Student's interval of thirty exponential draws errs more often
    assert both <= binom.ppf(0.999, RUNS, LEVEL)
