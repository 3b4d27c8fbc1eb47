"""Exact tails of binomial laws with rare successes, where the number of trials has no place in memory."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp

from theorax.numerics.keys import named


def log_binomial(mean, p, terms):
    """Logarithms of the probabilities of 0, 1, ..., ``terms`` - 1, from the ratios of neighbours; m = mean/p trials."""
    k = jnp.arange(1.0 * terms)
    room = jnp.maximum(mean - k * p, 0)
    ratio = jnp.log(jnp.where(room > 0, room, 1) / ((k + 1) * (1 - p)))
    logs = jnp.concatenate([jnp.zeros(1), jnp.cumsum(jnp.where(room > 0, ratio, -jnp.inf))[:-1]])
    return logs + mean / p * jnp.log1p(-p)


class RareCount(eqx.Module):
    """A binomial count of this mean, its probability of success, and a relative deviation tau.

    ``copies``: of every entry of X, of which ``mean`` counts one; ``size``: what X^2 is multiplied by.
    """

    mean: jax.Array
    p: jax.Array
    tau: jax.Array
    copies: jax.Array
    size: jax.Array
    terms: int = eqx.field(static=True)

    @property
    def entries(self):
        """m, all copies counted."""
        return self.copies * self.mean / self.p

    def exponent(self):
        """-log(P/2), P the probability that |X^T X - m| is at least tau m; 10^5 where there is none."""
        logs, k = log_binomial(self.mean, self.p, self.terms), jnp.arange(1.0 * self.terms)
        outside = jnp.abs(self.size * k - self.mean) >= self.tau * self.mean * (1 - 2.0**-40)
        return jnp.log(2.0) - jnp.maximum(jax.nn.logsumexp(jnp.where(outside, logs, -jnp.inf)), -1e5)


def norm_squared(p):
    """K^2 of a sparse sign."""
    return 1 / (p * jnp.log1p(1 / p))


def order(p):
    """K^2 log K of a sparse sign."""
    return norm_squared(p) * jnp.log(norm_squared(p)) / 2


def random_count(key, N, copies, size):
    """p and tau at random, about N successes in all."""
    p = jnp.exp(-jax.random.uniform(named(key, "p"), minval=0.7, maxval=12.0))
    tau = jnp.exp(jax.random.uniform(named(key, "tau"), minval=-3.0, maxval=6.0))
    return RareCount(jnp.ceil(N / p / copies) * p, p, tau, copies * 1.0, size * 1.0, 500 * N)


def rare_counts(key, n, floored, copies, size):
    """m p = 64 n and tau = 1, then m p = 64 and tau = n/2. ``floored``: p stays at e^(-4)."""
    p, one = jnp.exp(-jnp.where(floored > 0, 4.0, 1.0 * n)), jnp.ones(())
    rest = copies * one, size * one
    return RareCount(64.0 * n * one, p, one, *rest, 256 * n), RareCount(64.0 * one, p, n / 2 * one, *rest, 64 * n + 128)
