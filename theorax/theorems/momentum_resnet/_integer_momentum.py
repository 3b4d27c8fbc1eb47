"""Momentum layers on integers: the remainders of v n/D are kept in a buffer, so that every layer is undone exactly."""

from __future__ import annotations

from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from theorax.numerics.annotations import Scalar

BITS = 16
D = 2**BITS  # the denominator of the momentum, and the base of the buffer's limbs
UNIT = 2**24  # so many integers are one
WEIGHT = 2**8  # the unit of the weights

IntegerState: TypeAlias = tuple[Any, Any, Any]  # position, velocity and buffer


class IntegerMomentum(eqx.Module):
    """A network on integers, ``UNIT`` of which are one, with the residual function clip(W x, -1, 1).

    ``kept``: 0 loses the buffer; ``up``: what the way back adds before it rounds f; ``grain``: positions are multiples of
    it; ``late``: 1 evaluates f at x_(n+1) on the way back.
    """

    weights: Int[Array, "layers d d"]
    n: Scalar
    kept: Scalar
    up: Scalar
    grain: Scalar
    late: Scalar

    def residual(self, layer: Any, x: Any, up: Any) -> Any:
        """(1-g) f, rounded downwards."""
        return ((D - self.n) * jnp.clip(self.weights[layer] @ x // WEIGHT, -UNIT, UNIT) + up) // D

    def forwards(self, layer: Any, state: IntegerState) -> IntegerState:
        """The state after this layer."""
        x, v, buffer = state
        v, buffer = self.times(v, self.kept * buffer)
        v = v + self.residual(layer, x, 0)
        return self.coarse(x + v), v, buffer

    def backwards(self, layer: Any, state: IntegerState) -> IntegerState:
        """The state before it."""
        x, v, buffer = state
        before = self.coarse(x - v)
        v = v - self.residual(layer, before + self.late * v, self.up)
        v, buffer = self.over(v, self.kept * buffer)
        return before, v, buffer

    def coarse(self, x: Any) -> Any:
        """The multiple of ``grain`` below."""
        return x // self.grain * self.grain

    def times(self, v: Any, buffer: Any) -> tuple[Any, Any]:
        """The velocity times n/D, and the buffer: limbs of 16 bits, the highest first."""
        limbs = jnp.concatenate([buffer[1:], (v % D)[None]])  # b D + v mod D

        def divide(rest: Any, limb: Any) -> tuple[Any, Any]:
            held = rest * D + limb
            return held % self.n, held // self.n

        last, buffer = jax.lax.scan(divide, jnp.zeros_like(v), limbs)
        return v // D * self.n + last, buffer

    def over(self, v: Any, buffer: Any) -> tuple[Any, Any]:
        """Undo `times`."""

        def multiply(carry: Any, limb: Any) -> tuple[Any, Any]:
            held = limb * self.n + carry
            return held // D, held % D

        top, limbs = jax.lax.scan(multiply, v % self.n, buffer, reverse=True)
        return v // self.n * D + limbs[-1], jnp.concatenate([top[None], limbs[:-1]])
