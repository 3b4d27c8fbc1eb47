"""Numbers of one's own of which few are different: seeds that wrapped around, a resampled pilot, a cache."""

import numpy as np

from theorax import decide

SIZES = [16, 32, 64, 128]


def repeated(rng, count, draws):
    """So many numbers of mean two, repeated in another order."""
    return rng.permutation(np.resize(2 + rng.standard_normal(count), draws))


def three_seeds(seed):
    """The mean of three numbers stands for that of the law, which is two."""
    values = repeated(np.random.default_rng(seed), 3, 900)
    return decide.mean(decide.plan_mean(to=float(values.mean()), margin=0.2, draws=900, sd=1.0), values)


def bootstrapped_pilot(seed):
    """Forty draws, of which two thousand were made, and their median."""
    values = repeated(np.random.default_rng(seed), 40, 2000)
    plan = decide.plan_quantile(to=float(np.median(values)), margin=0.3, draws=2000, sd=1.0)
    return decide.quantile(plan, values)


def cached_sweep(seed):
    """Twenty draws at each size; the mean at the largest is said to be the limit."""
    rng = np.random.default_rng(seed)
    values = repeated(rng, 20, 2000)
    table = np.stack([rng.permutation(values) for _ in SIZES], axis=1)
    plan = decide.plan_limit(SIZES, to=float(values.mean()), margin=0.6, draws=2000, sd=1.0, seeds="independent")
    return decide.limit(plan, table)


def cached_law(seed):
    """Normal numbers with the mean and the spread of thirty that were drawn."""
    values = repeated(np.random.default_rng(seed), 30, 4000)
    law = decide.Normal(float(values.mean()), float(values.std()))
    return decide.law(decide.plan_law(to=law, draws=4000, margin=0.2), values)
