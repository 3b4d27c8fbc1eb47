"""True limits and orders with logarithms in their corrections, or with rivals near by."""

import numpy as np
from scipy.special import ndtri

from theorax import decide
from theorax.decide import Corrections, Expansion

SIZES = np.array([64.0, 256, 1024, 4096, 16384])
LOGS = np.log(SIZES)
EXTREMES = Corrections(size=0, rest=0.005, order=1, log=0.1, loglog=0.1, reason="extreme value theory")


def rng(seed):
    """Random numbers of this row at this seed."""
    return np.random.default_rng([111, seed])


def largest(seed, to, margin, draws=100, corrections=None):
    """The largest of n normal numbers over the root of 2 log n."""
    drawn = [ndtri(rng(seed + k).random(draws) ** (1 / n)) for k, n in enumerate(SIZES)]
    plan = decide.plan_limit(
        SIZES, to=to, margin=margin, draws=draws, sd=0.1, seeds="independent", corrections=corrections
    )
    return decide.limit(plan, [part / np.sqrt(2 * log) for part, log in zip(drawn, LOGS, strict=True)])


def limit(seed, mean, to=1.0, margin=0.05, draws=200, **others):
    """A limit from independent draws around these means."""
    plan = decide.plan_limit(SIZES, to=to, margin=margin, draws=draws, sd=0.1, seeds="independent", **others)
    return decide.limit(plan, [value + 0.1 * rng(seed + 7 * k).standard_normal(draws) for k, value in enumerate(mean)])


def largest_by_default(seed):
    """Its limit is 1; nobody declared logarithms."""
    return largest(seed, 1.0, 0.05)


def largest_declared(seed):
    """With its logarithms declared and a margin of a tenth it is supported."""
    return largest(seed, 1.0, 0.12, draws=400, corrections=EXTREMES)


def harmonic_numbers(seed):
    """H_n/log n tends to 1: the correction is 0.577/log n, and no value is random."""
    values = np.array([np.sum(1 / np.arange(1, int(n) + 1)) for n in SIZES]) / LOGS
    return decide.sequence(decide.plan_sequence(SIZES, to=1.0, margin=0.02), values)


def primes(seed):
    """n/log n over the logarithmic integral tends to 1 like 1 - 1/log n."""
    points = [np.linspace(2, n, 200_001) for n in SIZES]
    integral = np.array([np.trapezoid(1 / np.log(x), x) for x in points])
    return decide.sequence(decide.plan_sequence(SIZES, to=1.0, margin=0.02), SIZES / LOGS / integral)


def like_a_logarithm(seed):
    """1 + 0.4 log 64/log n."""
    return limit(seed, 1 + 0.4 * LOGS[0] / LOGS)


def like_a_fourth_root(seed):
    """1 - 0.5 (n/64)^-1/4, with draws that would refute 1 under the default class."""
    return limit(seed, 1 - 0.5 * (SIZES / 64) ** -0.25, draws=800)


def flat(seed):
    """Exactly 1 at every size: no rival is needed, so the default class does not withhold."""
    return limit(seed, np.ones(5))


def believed(seed):
    """1 + 0.3 (n/64)^-1/2 under a class with a reason."""
    return limit(seed, 1 + 0.3 * (SIZES / 64) ** -0.5, corrections=Corrections(reason="fluctuations of order n^-1/2"))


def root_with_an_inverse(seed):
    """n^-1/2 with a correction in 1/n: fitted with the class, no rival is better."""
    allowed = Expansion((1,), rest=0.1, order=2, reason="the delta method")
    plan = decide.plan_rate(SIZES, exponent=-0.5, margin=0.1, draws=200, seeds="independent", corrections=allowed)
    mean = SIZES**-0.5 * (1 + 0.4 * 64 / SIZES)
    noise = [np.exp(0.2 * rng(seed + 7 * k).standard_normal(200)) for k in range(5)]
    return decide.rate(plan, [value * part for value, part in zip(mean, noise, strict=True)])


def power_of_a_logarithm(seed):
    """n^-1 log n, with a power of log n declared."""
    sizes = 32 * 2.0 ** np.arange(9)
    plan = decide.plan_rate(sizes, exponent=-1.0, margin=0.4, draws=64, seeds="independent",
                            corrections=Corrections(loglog=1, reason="a logarithm from the union bound"))  # fmt: skip
    noise = [np.exp(0.2 * rng(seed + 7 * k).standard_normal(64)) for k in range(9)]
    return decide.rate(plan, [np.log(n) / n * part for n, part in zip(sizes, noise, strict=True)])
