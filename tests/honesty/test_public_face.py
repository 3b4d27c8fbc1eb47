"""The public face keeps its levels: true claims about own numbers are rarely refuted, false ones rarely supported.

Counts are held against the 99.9 % quantile of the binomial law at the level.
"""

import numpy as np
import pytest
from scipy.special import bdtrc

from theorax import decide
from theorax.decide.streams import Stream

LEVEL, REPLICATES = 0.025, 400
SIZES = 2.0 ** np.arange(5, 14)


def most(replicates):
    """The smallest count that a binomial law at the level exceeds with probability at most 0.001."""
    return next(count for count in range(replicates) if bdtrc(count, replicates, LEVEL) <= 1e-3)


MOST = most(REPLICATES)


def table(rng, draws, truth, shared):
    """Powers of n with a slow correction; ``shared``: each draw has a level and a slope of its own at every size."""
    x = np.log(SIZES / SIZES[0])
    log = truth * np.log(SIZES) + np.log1p(0.6 * np.exp(-0.5 * x)) + 0.2 * rng.standard_normal((draws, len(SIZES)))
    if shared:
        log += rng.standard_normal((draws, 1)) + 0.05 * x * rng.standard_normal((draws, 1))
    return np.exp(log)


@pytest.mark.parametrize(
    ("seeds", "shared"), [("paired", True), ("undeclared", True), ("undeclared", False), ("independent", False)]
)
def test_rates(seeds, shared, rng):
    plan = decide.plan_rate(SIZES, exponent=-1, margin=0.1, draws=64, seeds=seeds, reading="exact")
    true = [decide.rate(plan, table(rng, 64, -1.0, shared)).status for _ in range(REPLICATES)]
    false = [decide.rate(plan, table(rng, 64, -1.1, shared)).status for _ in range(REPLICATES)]
    assert true.count("REFUTED") <= MOST
    assert false.count("SUPPORTED") <= MOST
    if not shared:
        assert true.count("SUPPORTED") > 0.8 * REPLICATES  # METHOD, table 9.1: 0.92


def test_pairs_that_are_averaged_in_batches(rng, monkeypatch):
    """Draws that share their seeds, streamed: batches keep the pairs together, and levels hold."""
    monkeypatch.setattr("theorax.decide.streams.KEPT", 0)
    monkeypatch.setattr("theorax.decide.streams.BATCHES", 16)
    exact = decide.Corrections(size=0.0, rest=0.0, reason="an exact power law")
    plan = decide.plan_rate(SIZES, exponent=-1, margin=0.1, draws=70, corrections=exact, reading="exact")
    sizes, refuted = np.tile(SIZES, 70), 0
    for _ in range(REPLICATES):
        stream = Stream(logs=True)
        common = np.exp(rng.standard_normal((70, 1)) + 0.05 * np.log(SIZES) * rng.standard_normal((70, 1)))
        stream.add(sizes, (common * rng.lognormal(0, 0.2, (70, 9)) / SIZES).ravel())
        refuted += decide.rate(plan, stream).status == "REFUTED"
    assert 0 < refuted <= MOST


def test_laws(rng):
    plan = decide.plan_law(to=decide.Normal(), draws=2000, margin=0.06, reading="exact")
    true = [decide.law(plan, rng.standard_normal(2000)).status for _ in range(100)]
    assert true.count("REFUTED") <= most(100) and true.count("SUPPORTED") > 80
