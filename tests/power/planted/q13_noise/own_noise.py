"""One value at each size, of whose error nothing was said, and decays that end in rounding. Planted falsehoods."""

import numpy as np

from theorax import decide

SIZES = 8 * 2.0 ** np.arange(8)


def single(seed, truth, claimed, sd=0.3, sizes=SIZES, margin=0.1):
    """The order of one noisy value at each size."""
    plan = decide.plan_rate(sizes, exponent=claimed, margin=margin, draws=1)
    noise = np.exp(sd * np.random.default_rng([13, seed]).standard_normal(len(sizes)))
    return decide.rate(plan, [np.array([value]) for value in sizes**truth * noise])


def scattered(seed):
    """n^-1.3 with noise of 30 %, claimed to be n^-1."""
    return single(seed, -1.3, -1.0)


def scattered_few(seed):
    """n^-2 at four sizes with noise of 30 %, claimed to be n^-1."""
    return single(seed, -2.0, -1.0, sizes=SIZES[:4])


def far_off(seed):
    """n^-3 with noise of 10 %, claimed to be n^-1."""
    return single(seed, -3.0, -1.0, sd=0.1)


def three_sizes(seed):
    """Three values leave no residual."""
    plan = decide.plan_limit((8, 16, 64), to=1.0, margin=0.5, draws=1, sd=0.2)
    return decide.limit(plan, [np.array([value]) for value in (2.0, 2.1, 2.0)])


def scattered_limit(seed):
    """A limit of 1.2 from one noisy value at each size, claimed to be 1."""
    plan = decide.plan_limit(SIZES, to=1.0, margin=0.05, draws=1, sd=0.2)
    values = 1.2 + 0.2 * np.random.default_rng([13, seed]).standard_normal(8)
    return decide.limit(plan, [np.array([value]) for value in values])


def rounded(seed):
    """Errors of order three that fall into rounding, claimed to be of order four: the sizes above rounding refute."""
    n = 8 * 2.0 ** np.arange(8)
    rounding = 4e-16 * np.random.default_rng([13, seed]).uniform(-1, 1, 8)
    plan = decide.plan_sequence(n, exponent=-4.0, margin=0.25)
    return decide.sequence(plan, np.abs(1e-7 * (n / 8) ** -3.0 + rounding))


def rounded_single(seed):
    """Rounding of single precision that looks like order two from size 64 on, claimed as order two of the whole."""
    n = 8 * 2.0 ** np.arange(8)
    rounding = 2e-7 * np.random.default_rng([13, seed]).uniform(-1, 1, 8)
    plan = decide.plan_sequence(n, exponent=-2.0, margin=0.25)
    return decide.sequence(plan, np.abs(1e-2 * (n / 8) ** -5.0 + rounding))


def exact_wrong(seed):
    """Exact values of order one, declared as exact, claimed to be of order two."""
    plan = decide.plan_sequence(SIZES, exponent=-2.0, margin=0.25)
    return decide.sequence(plan, SIZES**-1 * (1 + 0.3 / SIZES))
