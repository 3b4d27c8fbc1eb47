"""Orbits whose tokens grow or shrink: residuals of the descent and of Kaczmarz, and what powers of Omega make of them."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.extents import Extent
from theorax.theorems.causal_kernel_descent._descent import fixed_point, kaczmarz
from theorax.theorems.causal_kernel_descent._sequences import Orbit


def scaled_orbit(model: Orbit, T: Extent) -> dict[str, Float[Array, "T D"]]:
    """Residuals on a scaled orbit, and what the powers of Omega on the first token make of them."""
    X, s = model.tokens(T.padded + 1), model.scale
    K, Y = model.gram(X[:-1]), model.turned(T.padded + 1)
    powers = [s]  # s^t
    for _ in range(1, T.padded):
        powers.append(powers[-1] * s)
    over = jnp.stack(powers)[:, None]
    products, gamma = Y @ Y[0], [jnp.ones(())]
    for t in range(1, T.padded):
        gamma.append(-sum((gamma[i] * products[t - i] for i in range(t)), jnp.zeros(())))
    terms = [[gamma[j] * Y[t - j] for j in range(t)] for t in range(1, T.padded + 1)]
    sums = [row[0] + sum(term / powers[j] ** 2 for j, term in enumerate(row[1:])) for row in terms]
    features = jnp.where(model.exponential == 1, X[:-1] * X[:-1], X[:-1])
    one, other = (kaczmarz(rows, targets)[0] - targets for rows, targets in ((features, X[1:]), (Y[:-1], Y[1:])))
    return dict(
        grown=(fixed_point(K, X[1:]) - X[1:]) / over,
        closed=jnp.stack(sums),
        unscaled=jnp.stack([sum(row) for row in terms]),
        relative=one / over,
        turned=other,
    )


def growing(model: Orbit, T: Extent) -> dict[str, Float[Array, ""]]:
    """Lengths of residuals over s^t, and the largest eigenvalue of P Omega."""
    X, t = model.tokens(T.padded + 1), jnp.arange(1, T.padded + 1)
    r = fixed_point(model.gram(X[:-1]), X[1:]) - X[1:]
    late = T.mask & (4 * t > 3 * T.value)
    logs = jnp.where(late, jnp.log((r**2).sum(1)) - 2 * t * jnp.log(model.scale), -jnp.inf)
    top, start = logs.max(), model.turned(1)[0]
    inside = jnp.diag((jnp.abs(model.vectors).sum(0) > 0).astype(X.dtype))  # eigenvalues of the padding are zero
    moduli = jnp.abs(jnp.linalg.eigvals((inside - jnp.outer(start, start)) @ model.matrix))
    speed = (top + jnp.log(jnp.exp(logs - top).sum() / late.sum())) / (2 * T.value)
    return dict(speed=speed, largest=jnp.log(moduli.max()))
