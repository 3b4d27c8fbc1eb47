"""Numbers that scatter little, lie dense or are clipped, and sizes that share nothing."""

import numpy as np

from theorax import decide

SIZES = np.array([16.0, 33, 65, 128, 257, 513])


def scatters_little(seed):
    """A mean over many coordinates: its draws differ in the fifth digit."""
    values = 1 + 1e-4 * np.random.default_rng([71, seed]).standard_normal(4000)
    return decide.mean(decide.plan_mean(to=1.0, margin=0.001, draws=4000, sd=1e-4, reading="exact"), values)


def scatters_least(seed):
    """Draws that differ in the eighth digit."""
    values = 1 + 1e-7 * np.random.default_rng([72, seed]).standard_normal(4000)
    return decide.mean(decide.plan_mean(to=1.0, margin=0.001, draws=4000, sd=1e-7, reading="exact"), values)


def dense_singles(seed):
    """A hundred thousand numbers in single precision."""
    values = np.random.default_rng([73, seed]).standard_normal(100000, dtype=np.float32)
    return decide.mean(decide.plan_mean(to=0.0, margin=0.05, draws=100000, sd=1.0, reading="exact"), values)


def mostly_zero(seed):
    """Rectified numbers against a bound."""
    left = np.maximum(np.random.default_rng([74, seed]).standard_normal(1000), 0)
    return decide.inequality(decide.plan_inequality(draws=1000, reading="exact"), left, np.full(1000, 6.0))


def sizes_of_both_kinds(seed):
    """Mostly sizes one above a power of two, and two that are not."""
    return decide.sequence(decide.plan_sequence(SIZES, to=1.0, margin=0.1, reading="exact"), 1 + 0.3 / SIZES)


def heavy_scales(seed):
    """Numbers over many powers of ten, of which none repeats another."""
    values = np.exp(5 * np.random.default_rng([75, seed]).standard_normal(4000))
    return decide.quantile(decide.plan_quantile(to=1.0, margin=0.45, draws=4000, sd=5.0, reading="exact"), values)
