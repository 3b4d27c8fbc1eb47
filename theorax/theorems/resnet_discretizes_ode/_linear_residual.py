r"""Linear residual networks $\Pi(\theta) = (I + \theta_N/N) \cdots (I + \theta_1/N)$ in training towards a matrix B.

The loss is $\|\Pi - B\|_F^2$ and its gradient $\nabla_n = \tfrac2N \Pi_{>n}^T (\Pi - B) \Pi_{<n}^T$. Layers beyond the
depth are zero, and stay zero.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics import flows
from theorax.numerics.extents import Extent


def times(a: Float[Array, "*#stack d d"], b: Float[Array, "*#stack d d"]) -> Float[Array, "*#stack d d"]:
    """Products of small matrices, entry by entry: quicker in stacks than a matrix product each."""
    return jnp.sum(a[..., :, :, None] * b[..., None, :, :], axis=-2)


def transposed(a: Float[Array, "*stack d d"]) -> Float[Array, "*stack d d"]:
    """The transposes."""
    return jnp.swapaxes(a, -1, -2)


def layers(theta: Float[Array, "*stack N d d"], N: Extent) -> Float[Array, "*stack N d d"]:
    """W_n = I + theta_n/N; the identity beyond the depth."""
    return jnp.eye(theta.shape[-1], dtype=theta.dtype) + theta / N.value


def loss(theta: Float[Array, "N d d"], B: Float[Array, "d d"], N: Extent) -> Float[Array, ""]:
    """The squared distance of the product from B, layer by layer."""
    product = jnp.eye(B.shape[-1], dtype=B.dtype)
    for W in layers(theta, N):
        product = W @ product
    return jnp.sum((product - B) ** 2)


def surroundings(
    theta: Float[Array, "N d d"], N: Extent
) -> tuple[Float[Array, "N d d"], Float[Array, "N d d"], Float[Array, "d d"]]:
    """For every n the product of the layers after it and that of those before it, and the product of all."""
    W = layers(theta, N)
    first = jnp.eye(theta.shape[-1], dtype=theta.dtype)[None]
    before = jax.lax.associative_scan(lambda early, late: times(late, early), W)
    after = jax.lax.associative_scan(times, W, reverse=True)  # from the last one on
    return (
        jnp.concatenate([after[1:], first]),
        jnp.concatenate([first, before[:-1]]),
        before[-1],
    )


def gradients(theta: Float[Array, "N d d"], B: Float[Array, "d d"], N: Extent) -> Float[Array, "N d d"]:
    """The gradient of the loss by every layer, all from two scans of products; zero beyond the depth."""
    after, before, product = surroundings(theta, N)
    found = 2 * times(times(transposed(after), product - B), transposed(before)) / N.value
    return jnp.where(N.mask[:, None, None], found, 0)


def trained(
    theta: Float[Array, "N d d"],
    B: Float[Array, "d d"],
    N: Extent,
    times_shown: int,
    horizon: Any,
    steps: int,
    speed: Any = None,
) -> tuple[Float[Array, "shown N d d"], Float[Array, ""]]:
    """Gradient flow d theta/dt = -N grad at equal times up to the horizon, from zero on, with the solver's error.

    ``speed`` takes the place of the factor N. The error bounds the Frobenius norm of the whole stack at every time.
    """
    factor = N.value if speed is None else speed
    shown = Extent(times_shown, times_shown)
    return flows.flow(lambda n, s, x: -factor * gradients(x, B, N), theta, shown, steps, horizon)


def descended(
    theta: Float[Array, "N d d"], B: Float[Array, "d d"], N: Extent, rate: Any, steps: Any
) -> Float[Array, "N d d"]:
    """Gradient descent with the rate eta N."""
    return jax.lax.fori_loop(0, steps, lambda _, theta: theta - rate * N.value * gradients(theta, B, N), theta)


def losses(theta: Float[Array, "shown N d d"], B: Float[Array, "d d"], N: Extent) -> Float[Array, " shown"]:
    """The loss at every time shown."""
    return jax.lax.map(lambda stack: jnp.sum((surroundings(stack, N)[2] - B) ** 2), theta)


def norms(stack: Float[Array, "*shape d d"]) -> Float[Array, "*shape"]:
    """Frobenius norms."""
    return jnp.sqrt(jnp.sum(stack**2, axis=(-2, -1)))


def steps_in_depth(theta: Float[Array, "*shape N d d"], N: Extent) -> Float[Array, "*shape N"]:
    """N times the norm of theta_(n+1) - theta_n; zero where n + 1 lies beyond the depth."""
    following = jnp.concatenate([theta[..., 1:, :, :], theta[..., :1, :, :]], axis=-3)
    inside = jnp.arange(N.padded) + 1 < N.value
    return jnp.where(inside, N.value * norms(following - theta), 0)
