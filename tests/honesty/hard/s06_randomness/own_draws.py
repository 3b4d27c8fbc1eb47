"""Numbers of one's own of which many are equal, for a reason."""

import numpy as np

from theorax import decide

DRAWS = 4000


def clipped_at_both_ends(seed):
    values = np.clip(2 * np.random.default_rng(seed).standard_normal(DRAWS), -1, 1)
    return decide.mean(decide.plan_mean(to=0.0, margin=0.1, draws=DRAWS, sd=1.0, reading="exact"), values)


def rectified(seed):
    values = np.maximum(np.random.default_rng(seed).standard_normal(DRAWS), 0)
    return decide.mean(
        decide.plan_mean(to=1 / np.sqrt(2 * np.pi), margin=0.06, draws=DRAWS, sd=0.6, reading="exact"), values
    )


def shares_of_ten(seed):
    """Accuracies on ten examples."""
    values = np.random.default_rng(seed).binomial(10, 0.3, DRAWS) / 10
    return decide.mean(decide.plan_mean(to=0.3, margin=0.02, draws=DRAWS, sd=0.15, reading="exact"), values)


def single_precision(seed):
    values = np.random.default_rng(seed).random(DRAWS, dtype=np.float32)
    return decide.law(decide.plan_law(to=decide.Uniform(), draws=DRAWS, margin=0.2, reading="exact"), values)
