"""Means of own numbers whose tails are heavy; each claim is false by its margin and more."""

import numpy as np

from theorax import decide

N = np.array([16.0, 32, 64, 129, 256, 512, 1024])
EXACT = decide.Corrections(size=0, rest=0, reason="every size has the same mean")


def cauchy(seed):
    """No mean exists, whatever the average of these draws is."""
    plan = decide.plan_mean(to=0.0, margin=40.0, draws=4000, sd=1.0)
    return decide.mean(plan, np.random.default_rng(seed).standard_cauchy(4000))


def _mean(values, to, margin, side="exact"):
    plan = decide.plan_mean(to=to, margin=margin, draws=len(values), sd=1.0, side=side)
    return decide.mean(plan, values)


def wide_lognormal(seed):
    """The mean is e^4.5 = 90; most samples fall short of half of it."""
    return _mean(np.random.default_rng([1, seed]).lognormal(sigma=3.0, size=2000), 40.0, 33.0)


def falling_gains(seed):
    """The same on the other side: the mean of minus a log-normal."""
    return _mean(-np.random.default_rng([2, seed]).lognormal(sigma=3.0, size=2000), -40.0, 33.0)


def pareto(seed):
    """Infinite variance, mean 11: by what the samples show the mean is nearer to 7."""
    return _mean(1 + np.random.default_rng([3, seed]).pareto(1.1, 4000), 6.5, 3.0)


def average_of_squares(seed):
    """Squares of t with 2.2 degrees of freedom have the mean 11, and no variance."""
    return _mean(np.random.default_rng([4, seed]).standard_t(2.2, 4000) ** 2, 6.5, 3.0)


def at_most(seed):
    """One-sided, where the missing large draws all help."""
    return _mean(np.random.default_rng([5, seed]).lognormal(sigma=3.0, size=2000), 40.0, 33.0, "at most")


def diverging_runs(seed):
    """One run in a hundred diverges: the mean loss is 0.6, of which the usual runs show 0.1."""
    rng = np.random.default_rng([6, seed])
    losses = 0.1 + 0.02 * rng.standard_normal(400) + 50.0 * (rng.random(400) < 0.01)
    return _mean(losses, 0.25, 0.23)


def mean_of_a_ratio(seed):
    """A ratio whose denominator seldom comes near zero has no mean, and its samples need not show it."""
    rng = np.random.default_rng([7, seed])
    return _mean((1 + 0.3 * rng.standard_normal(4000)) / (1 + 0.5 * rng.standard_normal(4000)), 1.0, 0.9)


def limit_of_heavy_means(seed):
    """E x = 1 at every size; a claimed limit that lies 1.6 margins below."""
    x = (1 + np.random.default_rng([8, seed]).pareto(1.1, (2000, len(N)))) / 11
    plan = decide.plan_limit(N, to=0.55, margin=0.28, draws=2000, sd=0.5, seeds="independent", corrections=EXACT)
    return decide.limit(plan, x)


def paired_heavy_means(seed):
    """One heavy draw enters every size at once."""
    x = np.random.default_rng([9, seed]).lognormal(3 * -1.5, 3.0, (2000, 1)) * (1 + 1 / N)
    plan = decide.plan_limit(N, to=0.45, margin=0.36, draws=2000, sd=1.0, seeds="paired")
    return decide.limit(plan, x)


def exponent_of_heavy_logs(seed):
    """log q = -X log n / 50 with E X = 1, and X log-normal: the exponent of exp E log q is -1/50."""
    x = np.random.default_rng([10, seed]).lognormal(3 * -1.5, 3.0, (2000, 1)) / 50
    plan = decide.plan_rate(N, exponent=-0.009, margin=0.0072, draws=2000, sd=0.01, seeds="paired",
                            corrections=EXACT)  # fmt: skip
    return decide.rate(plan, N**-x)


def log_of_heavy_means(seed):
    """log q is normal with variance log n around -log n: E q = n^-1/2, and rare draws carry what grows."""
    rng = np.random.default_rng([11, seed])
    q = N**-1.0 * np.exp(np.sqrt(np.log(N)) * rng.standard_normal((2000, len(N))))
    plan = decide.plan_rate(N, exponent=-0.8, margin=0.2, draws=2000, sd=1.0, seeds="independent",
                            average="log of mean", corrections=EXACT)  # fmt: skip
    return decide.rate(plan, list(q.T))
