"""Laws and events whose margin holds what nobody means, in both readings."""

from functools import partial

import numpy as np

from theorax import decide

N = np.array([16.0, 33, 64, 130, 257])


def uniform_for_normal(seed, reading="margin"):
    """Uniform numbers of variance four, with a margin that laws of any scale keep."""
    values = np.random.default_rng([41, seed]).uniform(-3.5, 3.5, 2000)
    return decide.law(decide.plan_law(to=decide.Normal(0, 1), draws=2000, margin=1.5, reading=reading), values)


def far_rival(seed, reading="margin"):
    """Only a hundred times the variance is excluded; the draws have three times it."""
    values = np.sqrt(3) * np.random.default_rng([42, seed]).standard_normal(2000)
    plan = decide.plan_law(to=decide.Normal(0, 1), excludes=[decide.Normal(0, 10)], draws=2000, reading=reading)
    return decide.law(plan, values)


def far_mean(seed, reading="margin"):
    """An exponential law of mean 1 for one of mean 2."""
    values = 2 * np.random.default_rng([43, seed]).standard_exponential(2000)
    return decide.law(decide.plan_law(to=decide.Exponential(1), draws=2000, margin=0.9, reading=reading), values)


def law_of_limits(seed, reading="margin"):
    """A margin of one along all sizes."""
    rng = np.random.default_rng([44, seed])
    plan = decide.plan_law(
        N,
        to=decide.Normal(0, 1),
        draws=2000,
        margin=1.0,
        seeds="independent",
        corrections=decide.Corrections(size=0.05, slowest=1.0, reason="a law in D"),
        reading=reading,
    )
    return decide.law(plan, [1.8 * rng.standard_normal(2000) for _ in N])


def any_event(seed, reading="margin"):
    """At least a half, false below nothing."""
    plan = decide.plan_probability(at_least=0.5, margin=0.5, draws=500, reading=reading)
    return decide.probability(plan, np.random.default_rng([45, seed]).random(500) < 0.1)


def nearly_any_event(seed, reading="margin"):
    plan = decide.plan_probability(at_least=0.9, margin=0.85, draws=500, reading=reading)
    return decide.probability(plan, np.random.default_rng([46, seed]).random(500) < 0.3)


def any_decay(seed, reading="margin"):
    """A decay of exp(-n/100) with a margin of a hundred times it."""
    values = np.exp(-0.02 * N) * np.exp(0.1 * np.random.default_rng([47, seed]).standard_normal((64, len(N))))
    plan = decide.plan_rate(
        N, exponent=-0.01, margin=0.02, draws=64, seeds="paired", form="exponential", reading=reading
    )
    return decide.rate(plan, values)


uniform_for_normal_exactly = partial(uniform_for_normal, reading="exact")
far_rival_exactly = partial(far_rival, reading="exact")
far_mean_exactly = partial(far_mean, reading="exact")
law_of_limits_exactly = partial(law_of_limits, reading="exact")
nearly_any_event_exactly = partial(nearly_any_event, reading="exact")
any_decay_exactly = partial(any_decay, reading="exact")
