"""Claims about own numbers with margins that nothing near the claimed value could fail at."""

import jax.numpy as jnp
import numpy as np

from theorax import decide, exact

N = np.array([16.0, 32, 64, 129, 256, 512, 1024])


def second_moment(seed):
    """E z^2 is 1; 10.5 on either side of 1.05 holds everything from -9 to 11."""
    plan = decide.plan_mean(to=1.05, margin=10.5, draws=400, sd=1.5)
    return decide.mean(plan, np.random.default_rng(seed).standard_normal(400) ** 2)


def small_error(seed):
    """The error is near 0.001, and the margin was chosen for the plot."""
    plan = decide.plan_mean(to=0.001, margin=0.05, draws=400, sd=0.01)
    return decide.mean(plan, 0.0012 + 0.01 * np.random.default_rng(seed).standard_normal(400))


def median(seed):
    """The median is log 2; the margin was meant in percent."""
    plan = decide.plan_quantile(to=0.7, margin=5.0, draws=400)
    return decide.quantile(plan, np.random.default_rng(seed).standard_exponential(400))


def limit(seed):
    """Twice the limit would pass."""
    plan = decide.plan_limit(N, to=1.5, margin=1.6, draws=200, sd=0.3, seeds="independent")
    return decide.limit(plan, 1.5 + 0.3 * np.random.default_rng(seed).standard_normal((200, len(N))))


def flat_rate(seed):
    """Growth like n^0.05, which could as well be none, or n^0.1."""
    plan = decide.plan_rate(N, exponent=0.05, margin=0.2, draws=64, seeds="paired")
    return decide.rate(plan, N**0.05 * np.exp(0.1 * np.random.default_rng(seed).standard_normal((64, len(N)))))


def sequence_limit(seed):
    """A loss that ends at 0.01, with a margin that fits a loss of one."""
    return decide.sequence(decide.plan_sequence(N, to=0.01, margin=0.09), 0.01 + 0.001 / N)


def sequence_order(seed):
    """An order of 0.1, with a margin that fits orders of one."""
    return decide.sequence(decide.plan_sequence(N, exponent=-0.1, margin=0.5), N**-0.1)


def looked_at_early(seed):
    """The same margin under looks at parts of the draws."""
    rng = np.random.default_rng(seed)
    plan = decide.plan_looks(decide.plan_mean(to=0.6, margin=0.9, draws=400, sd=1.0))
    return decide.looks(plan, lambda first, count: 0.6 + rng.standard_normal(count))


def least_of_a_square(seed):
    """t^2 is least at 0, not at 1; ten is more than all it varies by."""
    return exact.minimum(lambda t: (t**2).sum(), [1], box=[(-1, 1)], slack=10)


def least_of_a_wave(seed):
    """A sum of two sines between -2 and 2, claimed to be least where it is largest."""
    return exact.minimum(lambda t: jnp.sin(t).sum(), [1.5, 1.5], box=[(-2, 2), (-2, 2)], slack=5)
