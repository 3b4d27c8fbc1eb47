"""Draw more until it is green: the levels of one count bound how often a false claim is ever supported."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benchmarks.attempts import CLAIMED, LEVEL, LEVELS, MARGIN, PROMISED, ever, p_values
from theorax import decide

REPLICATES = 4000


@pytest.mark.parametrize("nested", [False, True], ids=["fresh seeds", "more of the same"])
def test_a_claim_off_by_its_margin_is_rarely_ever_supported(rng, nested: bool) -> None:
    p = p_values(CLAIMED + MARGIN, nested=nested, replicates=REPLICATES, rng=rng)
    assert ever(p, LEVELS[PROMISED]) <= stats.binom.ppf(0.999, REPLICATES, LEVEL) / REPLICATES
    assert ever(p, LEVELS["a count for each design"]) > 2 * LEVEL


def test_a_true_claim_is_supported_at_last(rng) -> None:
    p = p_values(CLAIMED, nested=False, replicates=REPLICATES, rng=rng)
    assert ever(p, LEVELS[PROMISED]) > 0.999


def test_the_engine_supports_no_earlier(rng) -> None:
    """Its p-value of support is that of Student's test here, or larger where it asks more of the tails."""
    for _ in range(20):
        draws = rng.normal(CLAIMED, 0.2, 50)
        plan = decide.plan_mean(to=CLAIMED, margin=MARGIN, draws=50, sd=0.2, reading="exact")
        error = draws.std(ddof=1) / np.sqrt(50)
        student = stats.t.sf((MARGIN - abs(draws.mean() - CLAIMED)) / error, 49)
        found = decide.mean(plan, draws).p_support
        assert found is not None
        assert found >= student * (1 - 1e-9)
