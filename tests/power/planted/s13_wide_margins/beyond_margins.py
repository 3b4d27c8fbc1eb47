"""Claims about own numbers that are off by more than their margin: no reading forgives them."""

import numpy as np

from theorax import decide
from theorax.decide.verdict import Verdict


def _mean(seed: int, off: float, reading: str) -> Verdict:
    plan = decide.plan_mean(to=2, margin=0.1, draws=4000, sd=1.0, reading=reading)
    return decide.mean(plan, 2 + off + np.random.default_rng(seed).standard_normal(4000))


def beyond_read_with_the_margin(seed: int) -> Verdict:
    """Two and a half margins off."""
    return _mean(seed, 0.25, "margin")


def beyond_read_exactly(seed: int) -> Verdict:
    """The same numbers."""
    return _mean(seed, -0.25, "exact")


def at_the_margin(seed: int) -> Verdict:
    """Off by just the margin, which is false for support and true for refutation."""
    return _mean(seed, 0.1, "margin")


def rare_violations_beyond_the_share(seed: int) -> Verdict:
    """A tenth of the rows violates the bound, and a twentieth may."""
    plan = decide.plan_inequality(draws=4000, share=0.05)
    return decide.inequality(plan, np.random.default_rng(seed).random(4000), 0.9)
