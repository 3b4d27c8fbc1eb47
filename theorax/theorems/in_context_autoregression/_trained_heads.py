"""Diagonal heads and positional weights trained from random ones, on the loss of all contexts in closed form."""

from __future__ import annotations

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

    a: Float[Array, "H d"]
    b: Float[Array, "H d"]
    p: tuple[Array, ...]

    def at(self, place: int, heads: Any) -> DiagonalHeads:
        """The layer for one of the lengths; heads beyond the first ``heads`` are left out."""
        here = (jnp.arange(self.a.shape[0]) < heads)[:, None]
        return DiagonalHeads(jnp.where(here, self.a, 0), jnp.where(here, self.b, 0), self.p[place])

    def loss(self, heads: Any, paired: Any, late: Any) -> Array:
        """The expected squared error, mean over the lengths."""
        losses = [population_loss(self.at(place, heads), paired, late) for place in range(len(self.p))]
        return jnp.stack(losses).mean()


class Training(eqx.Module):
    """Starting points, one after another along the leading axis, and on what they are trained."""

    starts: SharedHeads
    heads: Any
    paired: Any
    late: Any

    def loss(self, weights: SharedHeads) -> Array:
        """What is minimised."""
        return weights.loss(self.heads, self.paired, self.late)

    def best(self) -> tuple[SharedHeads, Array]:
        """The trained weights of the start that comes lowest, and their loss; quasi-Newton steps (BFGS)."""
        one = jax.tree.map(lambda leaf: leaf[0], self.starts)
        _, unravel = ravel_pytree(one)
        flat = jax.vmap(lambda start: ravel_pytree(start)[0])(self.starts)

        def train(start: Array) -> tuple[Array, Array]:
            found = jax.scipy.optimize.minimize(
                lambda x: self.loss(unravel(x)), start, method="BFGS", options=dict(maxiter=1000, gtol=1e-7)
            )
            return found.x, found.fun

        ends, losses = jax.lax.map(train, flat)
        chosen = jnp.argmin(losses)
        return unravel(ends[chosen]), losses[chosen]

    def descended(self, steps: int, rate: float) -> tuple[SharedHeads, Array]:
        """The weights after plain gradient descent from the first start, and their loss."""
        first = jax.tree.map(lambda leaf: leaf[0], self.starts)

        def step(_: Any, weights: SharedHeads) -> SharedHeads:
            return jax.tree.map(lambda leaf, slope: leaf - rate * slope, weights, jax.grad(self.loss)(weights))

        ended = jax.lax.fori_loop(0, steps, step, first)
        return ended, self.loss(ended)


def trainings(key: Array, d: int, heads: Any, paired: Any, late: Any, starts: int) -> Training:
    """Normal starting points of standard deviation 1/2, with room for d + 1 heads."""
    normal = lambda name, *shape: 0.5 * jax.random.normal(named(key, name), (starts, *shape))  # noqa: E731
    p = tuple(normal(f"p_{length}", length) for length in LENGTHS)
    return Training(SharedHeads(normal("a", d + 1, d), normal("b", d + 1, d), p), heads, paired, late)


def scaled_products(weights: SharedHeads, heads: Any) -> tuple[list[Array], list[Array], list[Array]]:
    """For each length p_T B^T A, p_T A B^T, and the positional weights over p_T."""
    layers = [weights.at(place, heads) for place in range(len(weights.p))]
    return (
        [layer.p[-1] * layer.product for layer in layers],
        [layer.p[-1] * layer.a @ layer.b.T for layer in layers],
        [layer.p / layer.p[-1] for layer in layers],
    )


def furthest(found: list[Array], wanted: Array) -> Array:
    """The largest distance of an entry from what it should be, over all lengths."""
    return jnp.stack([jnp.abs(one - wanted).max() for one in found]).max()
