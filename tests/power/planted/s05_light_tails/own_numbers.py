"""Means of own numbers whose tails are heavy; each claim is false by its margin and more."""

import numpy as np

from theorax import decide


def cauchy(seed):
    """No mean exists, whatever the average of these draws is."""
    plan = decide.plan_mean(to=0.0, margin=40.0, draws=4000, sd=1.0)
    return decide.mean(plan, np.random.default_rng(seed).standard_cauchy(4000))
