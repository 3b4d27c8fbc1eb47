"""True statements about own numbers that keep their word whatever is asked of tails, margins and sizes."""

import numpy as np

from theorax import decide

N = np.array([16.0, 33, 64, 130, 257, 512, 1030, 2049, 4096])
EVEN = 2 * N


def rare_event_with_two_values(seed):
    """One draw in fifty: the average is skewed, and its law is known."""
    plan = decide.plan_mean(to=0.02, margin=0.012, draws=4000, moments=decide.TwoValues(), reading="exact")
    return decide.mean(plan, (np.random.default_rng([1, seed]).random(4000) < 0.02).astype(float))


def rare_event_in_a_range(seed):
    """A bounded quantity that is mostly zero."""
    rng = np.random.default_rng([2, seed])
    plan = decide.plan_mean(to=0.05, margin=0.04, draws=8000, moments=decide.Bounded(0, 1), sd=0.2, reading="exact")
    return decide.mean(plan, (rng.random(8000) < 0.1) * rng.random(8000))


def heavy_tails_with_a_variance(seed):
    """Pareto of index 2.2 with its variance declared."""
    plan = decide.plan_mean(
        to=1 / 1.2, margin=0.6, draws=4000, moments=decide.BoundedVariance(2.2 / (1.44 * 0.2)), reading="exact"
    )
    return decide.mean(plan, np.random.default_rng([3, seed]).pareto(2.2, 4000))


def exponential_draws(seed):
    """Skewed draws, and enough of them."""
    plan = decide.plan_mean(to=1.0, margin=0.15, draws=4000, sd=1.0, reading="exact")
    return decide.mean(plan, np.random.default_rng([4, seed]).standard_exponential(4000))


def median_of_cauchy(seed):
    """No mean, and a median of zero."""
    plan = decide.plan_quantile(to=0.0, margin=0.2, draws=2000, reading="exact")
    return decide.quantile(plan, np.random.default_rng([5, seed]).standard_cauchy(2000))


def limit_of_zero(seed):
    """An exact zero, with an absolute margin that no value can be doubled in."""
    plan = decide.plan_limit(N, to=0.0, margin=0.2, draws=400, sd=1.0, seeds="independent", reading="exact")
    return decide.limit(plan, np.random.default_rng([6, seed]).standard_normal((400, len(N))))


def slow_correction(seed):
    """1 + 0.3 n^-1/2: a correction at the edge of the default class."""
    return decide.sequence(decide.plan_sequence(N, to=1.0, margin=0.1, reading="exact"), 1 + 0.3 * (N / 16) ** -0.5)


def true_along_even_sizes(seed):
    """A limit that holds along all sizes, seen at even ones: the word stays, the ledger says which were not seen."""
    return decide.sequence(decide.plan_sequence(EVEN, to=1.0, margin=0.1, reading="exact"), 1 + 0.3 / EVEN)


def at_most_a_wide_bound(seed):
    """One-sided: that twice the bound would pass as well says nothing against it."""
    plan = decide.plan_mean(to=0.1, margin=0.5, draws=400, sd=1.0, side="at most", reading="exact")
    return decide.mean(plan, -0.2 + np.random.default_rng([7, seed]).standard_normal(400))


def inside_the_margin(seed):
    """Half a margin off the claimed value, read with the margin: supported, and said not to be exactly so."""
    plan = decide.plan_mean(to=2, margin=0.2, draws=4000, sd=1.0)
    return decide.mean(plan, 2.1 + np.random.default_rng(seed).standard_normal(4000))
