"""Diagonal heads and positional weights trained from random ones, on the loss of all contexts in closed form."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from theorax.language import Size
from theorax.numerics.keys import named
from theorax.theorems.in_context_autoregression._diagonal_heads import DiagonalHeads, population_loss

H = Size("H", "number of heads")
LENGTHS = (3, 5)


class SharedHeads(eqx.Module):
    """Heads shared by all context lengths, and positional weights for each of them."""

    a: Float[Array, "*starts H d"]
    b: Float[Array, "*starts H d"]
    p: tuple[Array, ...]

    def at(self, place: int, heads: Any) -> DiagonalHeads:
        """The layer for one of the lengths; heads beyond the first ``heads`` are left out."""
        here = (jnp.arange(self.a.shape[0]) < heads)[:, None]
        return DiagonalHeads(jnp.where(here, self.a, 0), jnp.where(here, self.b, 0), self.p[place])

    def loss(self, heads: Any, paired: Any, late: Any) -> Array:
        """The expected squared error, mean over the lengths."""
        losses = [population_loss(self.at(place, heads), paired, late) for place in range(len(self.p))]
        return jnp.stack(losses).mean()


class TrainedHeads(eqx.Module):
    """Weights after training, and on what they were trained."""

    weights: SharedHeads
    heads: Any
    paired: Any
    late: Any

    @property
    def loss(self) -> Array:
        """The objective."""
        return self.weights.loss(self.heads, self.paired, self.late)


def adam(loss: Callable[[Array], Array], start: Array, steps: int = 300, rate: float = 0.1) -> Array:
    """The end of Adam's descent, with a step that falls to zero along a cosine."""

    def step(k: Any, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        x, mean, square = state
        slope = jax.grad(loss)(x)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        now = rate * (1 + jnp.cos(jnp.pi * k / steps)) / 2
        upward = mean / (1 - 0.9 ** (k + 1)) / (jnp.sqrt(square / (1 - 0.99 ** (k + 1))) + 1e-12)
        return x - now * upward, mean, square

    return jax.lax.fori_loop(0, steps, step, (start, jnp.zeros_like(start), jnp.zeros_like(start)))[0]


@partial(jax.jit, static_argnums=(1, 5))
def trained(key: Array, d: int, heads: Any, paired: Any, late: Any, starts: int) -> TrainedHeads:
    """The best of some trainings from normal starting points of standard deviation 1/4, with room for d + 1 heads."""
    normal = lambda name, *shape: 0.25 * jax.random.normal(named(key, name), (starts, *shape))
    p = tuple(normal(f"p_{length}", length) for length in LENGTHS)
    points = SharedHeads(normal("a", d + 1, d), normal("b", d + 1, d), p)
    _, unravel = ravel_pytree(jax.tree.map(lambda leaf: leaf[0], points))
    loss = lambda x: unravel(x).loss(heads, paired, late)
    ends = jax.vmap(lambda point: adam(loss, ravel_pytree(point)[0]))(points)
    return TrainedHeads(unravel(ends[jnp.argmin(jax.vmap(loss)(ends))]), heads, paired, late)


def scaled_products(model: TrainedHeads) -> tuple[list[Array], list[Array], list[Array]]:
    """For each length p_T B^T A, p_T A B^T, and the positional weights over p_T."""
    layers = [model.weights.at(place, model.heads) for place in range(len(model.weights.p))]
    return (
        [layer.p[-1] * layer.product for layer in layers],
        [layer.p[-1] * layer.a @ layer.b.T for layer in layers],
        [layer.p / layer.p[-1] for layer in layers],
    )


def furthest(found: list[Array], wanted: Array) -> Array:
    """The largest distance of an entry from what it should be, over all lengths."""
    return jnp.stack([jnp.abs(one - wanted).max() for one in found]).max()
