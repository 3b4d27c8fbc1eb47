"""Limits and orders along sizes of one arithmetic: each is true of these sizes, and false of all sizes."""

import numpy as np

from theorax import decide

TWOS = 2.0 ** np.arange(4, 13)
EVEN = np.array([24.0, 50, 96, 190, 386, 770, 1538, 3074, 6146])
TENS = 10.0 * np.array([2, 4, 7, 15, 30, 61, 120, 240, 480])
SMALL = decide.Corrections(size=0.1, rest=0.02, reason="a pilot")
MIXED = np.array([17.0, 33, 64, 130, 257, 512, 1030, 2049, 4096])


def powers_of_two(seed):
    """1 at powers of two, 0 elsewhere."""
    x = (np.log2(TWOS) % 1 == 0).astype(float)
    return decide.sequence(decide.plan_sequence(TWOS, to=1.0, margin=0.2), x)


def even_sizes(seed):
    """(-1)^n has no limit."""
    return decide.sequence(decide.plan_sequence(EVEN, to=1.0, margin=0.2), (-1.0) ** EVEN)


def whole_batches(seed):
    """A loss over whole batches of ten: any other number of examples leaves a rest that is dropped."""
    kept = 10 * np.floor(TENS / 10) / TENS
    lost = 1.0 + (kept < 1)
    return decide.sequence(decide.plan_sequence(TENS, to=1.0, margin=0.2), lost)


def heads_that_divide(seed):
    """Width over heads times heads is the width where eight heads divide it: multiples of eight."""
    n = 8.0 * np.array([3, 5, 11, 20, 41, 80, 161, 320])
    return decide.sequence(decide.plan_sequence(n, to=1.0, margin=0.2), 8 * np.floor(n / 8) / n)


def drawn_at_even_sizes(seed):
    """A mean that is 1 at even sizes and 2 at odd ones."""
    mean = 1.0 + EVEN % 2
    plan = decide.plan_limit(EVEN, to=1.0, margin=0.2, draws=200, sd=0.3, seeds="independent")
    return decide.limit(plan, mean + 0.3 * np.random.default_rng(seed).standard_normal((200, len(EVEN))))


def rate_at_powers_of_two(seed):
    """Cost n by a fast algorithm, and n^2 where the size is no power of two."""
    cost = np.where(np.log2(TWOS) % 1 == 0, TWOS, TWOS**2)
    noise = np.exp(0.1 * np.random.default_rng(seed).standard_normal((64, len(TWOS))))
    plan = decide.plan_rate(TWOS, exponent=1.0, margin=0.2, draws=64, seeds="paired")
    return decide.rate(plan, cost * noise)


def order_at_multiples_of_three(seed):
    """A rule whose error is n^-4 where three divides the number of steps, and n^-2 elsewhere."""
    n = 3.0 * np.array([2, 5, 9, 20, 41, 80, 161, 320])
    error = np.where(n % 3 == 0, n**-4, n**-2)
    return decide.sequence(decide.plan_sequence(n, exponent=-4, margin=0.2), error)


def slow_logarithm(seed):
    """1 + 1/(2 log n) tends to 1: extrapolated as a power it ends 0.05 above."""
    plan = decide.plan_sequence(
        MIXED, to=1.05, margin=0.04, corrections=decide.Corrections(size=0.1, rest=0.02, reason="a pilot")
    )
    return decide.sequence(plan, 1 + 0.5 / np.log(MIXED))


def factor_of_a_logarithm(seed):
    """n^-1 log n is no power: over these sizes it is nearest to n^-0.89."""
    plan = decide.plan_sequence(MIXED, exponent=-0.89, margin=0.08)
    return decide.sequence(plan, np.log(MIXED) / MIXED)


def law_along_even_sizes(seed):
    """Normal at even sizes, of twice the variance at odd ones."""
    n = np.array([16.0, 36, 64, 144, 256])
    plan = decide.plan_law(n, to=decide.Normal(0, 1), draws=4000, margin=0.2, seeds="independent",
                           corrections=decide.Corrections(size=0.05, slowest=1.0, reason="a law in D"))  # fmt: skip
    return decide.law(plan, [np.random.default_rng([int(k), seed]).standard_normal(4000) for k in n])
