"""Two runs of one quantity are seldom said to differ, and those apart by the zone seldom said to agree."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.comparison import CASES, rates, suites
from theorax.decide.comparison import MOVED, SAME

REPLICATES = 300


def most(level, count):
    """The largest rate that an error of this level shows in so many replicates, once in a thousand tests at most."""
    return binom.ppf(0.999, count, level) / count


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_levels_of_one_claim(case, rng):
    found = rates(case, REPLICATES, rng)
    assert found.false_moved <= most(MOVED, REPLICATES)
    # Skewed draws, compared as normal ones, err a little more often (METHOD, section 4.3).
    assert found.false_same <= most(SAME * (1.6 if "exponentials" in case.name else 1), REPLICATES)
    assert found.moved >= 0.5  # a shift that matters is not overlooked


def test_the_levels_of_a_suite():
    found = suites(120, np.random.default_rng(3))
    assert found.any_moved <= most(MOVED, 120)
    assert found.any_same <= most(SAME, 60)
    assert found.same > 0.9 and found.moved > 0.9
