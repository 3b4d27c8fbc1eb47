"""Layers of reversible networks: each half of the state is added to."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from theorax.numerics.annotations import Scalar


class ReversibleLayer(eqx.Module):
    """phi(y) = tanh(A (y - y*)) or A (y - y*), psi alike; ``kept`` multiplies each half before the addition."""

    A: jax.Array | np.ndarray
    B: jax.Array | np.ndarray
    point: jax.Array | np.ndarray
    bent: Scalar
    kept: Scalar

    def added(self, M: Any, x: Any) -> Any:
        """The term added to the other half."""
        z = M @ x
        return jax.lax.select_n(self.bent, z, jnp.tanh(z))

    def __call__(self, state: Any) -> Any:
        """Both halves after the layer."""
        x, y = state - self.point
        x = self.kept * x + self.added(self.A, y)
        y = self.kept * y + self.added(self.B, x)
        return jnp.stack([x, y]) + self.point
