"""Own programs against themselves, by the door of a user."""

import jax
import jax.numpy as jnp
import numpy as np

from theorax import exact

X = np.linspace(0.5, 2.0, 4)


def energy(x):
    return jnp.sum(jnp.tanh(x) ** 2)


def differentiated(seed):
    """A gradient against the gradient of the compiled program."""
    return exact.identity(jax.grad(energy), jax.grad(jax.jit(energy)), at=X, margin=1e-9)


def scanned(seed):
    def total(x):
        return jax.lax.scan(lambda carry, entry: (carry + jnp.sin(entry), None), 0.0, x)[0]

    return exact.identity(total, jax.checkpoint(total), at=X)


def mapped(seed):
    """A map over rows against the same map, its result copied."""
    rows = jax.vmap(energy)
    return exact.identity(rows, lambda x: jnp.array(rows(x), copy=True), at=np.outer(X, X))


def unused(seed):
    """The second program computes more and returns the same."""
    return exact.identity(energy, lambda x: (jnp.linalg.norm(x), energy(x))[1], at=X)


def against_zero(seed):
    return exact.identity(lambda x: 0 * energy(x), 0.0, at=X)
