"""True orders and limits from one value at each size, scattered or rounded."""

import numpy as np

from theorax import decide

SIZES = 8 * 2.0 ** np.arange(8)


def rng(seed):
    """Random numbers of this row at this seed."""
    return np.random.default_rng([113, seed])


def single(seed, sd, sizes=SIZES, exponent=-1.0):
    """The order of one noisy value at each size."""
    plan = decide.plan_rate(sizes, exponent=exponent, margin=0.1, draws=1)
    return decide.rate(
        plan, [np.array([value]) for value in sizes**exponent * np.exp(sd * rng(seed).standard_normal(len(sizes)))]
    )


def scattered(seed):
    """n^-1 with noise of 30 %."""
    return single(seed, 0.3)


def scattered_few(seed):
    """n^-1 at four sizes with noise of 30 %."""
    return single(seed, 0.3, SIZES[:4])


def scattered_root(seed):
    """n^-1/2 at five sizes with noise of 10 %."""
    return single(seed, 0.1, SIZES[:5], -0.5)


def scattered_limit(seed):
    """A limit of 1 with noise of 20 %."""
    plan = decide.plan_limit(SIZES, to=1.0, margin=0.05, draws=1, sd=0.2)
    return decide.limit(plan, [np.array([value]) for value in 1 + 0.2 * rng(seed).standard_normal(8)])


def bounded(seed):
    """The same order with its errors bounded."""
    noise = 1 + 0.001 * rng(seed).uniform(-1, 1, 8)
    return decide.sequence(decide.plan_sequence(SIZES, exponent=-1.0, margin=0.2, errors=0.0011), noise / SIZES)


def rounded_double(seed):
    """Errors of order four that fall into rounding of doubles."""
    rounding = 8e-16 * rng(seed).uniform(-1, 1, 8)
    plan = decide.plan_sequence(SIZES, exponent=-4.0, margin=0.25)
    return decide.sequence(plan, np.abs(1e-7 * (SIZES / 8) ** -4.0 + rounding))


def rounded_with_a_floor(seed):
    """The same errors with their floor declared."""
    rounding = 4e-16 * rng(seed).uniform(-1, 1, 8)
    plan = decide.plan_sequence(SIZES, exponent=-4.0, margin=0.25, floor=4e-16)
    return decide.sequence(plan, np.abs(1e-7 * (SIZES / 8) ** -4.0 + rounding))


def rounded_single_precision(seed):
    """Errors of order five that fall into rounding of single precision."""
    rounding = 2e-7 * rng(seed).uniform(-1, 1, 8)
    plan = decide.plan_sequence(SIZES, exponent=-5.0, margin=0.25)
    return decide.sequence(plan, np.abs(0.5 * (SIZES / 8) ** -5.0 + rounding))


def small_and_exact(seed):
    """Probabilities below 1e-20, of order two: small values are no rounding where their errors are declared."""
    plan = decide.plan_sequence(SIZES, exponent=-2.0, margin=0.25, errors=1e-9)
    return decide.sequence(plan, 1e-20 * SIZES**-2.0)
