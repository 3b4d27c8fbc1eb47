"""Few numbers that rounding or a small noise tells apart, and draws that are not drawn again."""

import numpy as np

from theorax import decide

SIZES = [16, 33, 64, 129]


def few(rng, count, shape):
    """So many standard numbers, one of them in each place, with the rounding of another order of addition."""
    return rng.choice(1 + rng.standard_normal(count), shape) * (1 + 2.0**-52 * rng.integers(-8, 9, shape))


def rounded_seeds(seed):
    """Five networks, each evaluated two hundred times with sums in another order."""
    values = few(np.random.default_rng([31, seed]), 5, 1000)
    return decide.mean(decide.plan_mean(to=float(values.mean()), margin=0.15, draws=1000, sd=1.0), values)


def rounded_law(seed):
    """The law of forty numbers is that of the forty."""
    values = few(np.random.default_rng([32, seed]), 40, 4000)
    plan = decide.plan_law(to=decide.Normal(float(values.mean()), float(values.std())), draws=4000, margin=0.25)
    return decide.law(plan, values)


def rounded_single(seed):
    """Five networks in single precision, whose rounding is the larger one."""
    rng = np.random.default_rng([33, seed])
    values = rng.choice(1 + rng.standard_normal(5), 1000) * (1 + 2.0**-23 * rng.integers(-8, 9, 1000))
    return decide.mean(decide.plan_mean(to=float(values.mean()), margin=0.15, draws=1000, sd=1.0), values)


def rounded_limit(seed):
    """The same twelve networks at each size."""
    rng = np.random.default_rng([34, seed])
    table = few(rng, 12, (1000, 1)) + 0.1 / np.array(SIZES)
    plan = decide.plan_limit(SIZES, to=float(table.mean()), margin=0.4, draws=1000, sd=1.0, seeds="paired")
    return decide.limit(plan, table)


def rounded_event(seed):
    """Eight networks of which some exceed their bound, a thousand times."""
    rng = np.random.default_rng([35, seed])
    left = few(rng, 8, 1000)
    return decide.inequality(decide.plan_inequality(draws=1000), left, np.full(1000, 3.0))


def chain(seed):
    """Steps of a Markov chain that forgets after two thousand of them."""
    rng = np.random.default_rng([36, seed])
    x, values = 1.0, []
    for z in rng.standard_normal(2000):
        x = 0.9995 * x + 0.0316 * z
        values.append(x)
    values = np.array(values)
    plan = decide.plan_mean(to=float(values.mean()), margin=0.15, draws=2000, sd=1.0)
    return decide.mean(plan, values)


def chain_law(seed):
    """The law that a short chain happened to visit."""
    rng = np.random.default_rng([37, seed])
    x, values = 0.0, []
    for z in rng.standard_normal(4000):
        x = 0.98 * x + 0.199 * z
        values.append(x)
    values = np.array(values)
    plan = decide.plan_law(to=decide.Normal(float(values.mean()), float(values.std())), draws=4000, margin=0.3)
    return decide.law(plan, values)
