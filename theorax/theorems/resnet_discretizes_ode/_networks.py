"""The setting that the theorems of this paper share: depth, the constants of a field, and the networks measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.language import Corrections, Parameter, Size
from theorax.numerics.keys import named

N = Size("N", "depth")
L = Parameter("L", "Lipschitz constant of the residual functions in x", positive=True)


def in_powers(size: float, reference: int, reason: str) -> Corrections:
    """The class of the logarithm of an expansion in 1/N whose relative corrections are at most ``size`` at a depth."""
    return Corrections(size=size, slowest=1, rest=0, reference=reference, reason=reason)


class Smooth(eqx.Module):
    """V(s) tanh(W(s) x), both matrices turning smoothly with s."""

    V: Float[Array, "2 d width"]
    W: Float[Array, "2 width d"]

    def __call__(self, s: Any, x: Float[Array, " d"]) -> Float[Array, " d"]:
        c, d = jnp.cos(s), jnp.sin(s)
        return (c * self.V[0] + d * self.V[1]) @ jnp.tanh((c * self.W[0] + d * self.W[1]) @ x)

    @property
    def lipschitz(self) -> Float[Array, ""]:
        """A Lipschitz constant in x at every s: the norm of cos(s) A + sin(s) B is at most that of the two norms."""
        return _root_of_squares(self.V) * _root_of_squares(self.W)


def _root_of_squares(pair: Float[Array, "2 rows columns"]) -> Float[Array, ""]:
    return jnp.sqrt(jnp.sum(jnp.linalg.norm(pair, 2, axis=(1, 2)) ** 2))


def smooth(key: Array, d: int, width: int, scale: float) -> Smooth:
    """Gaussian matrices; their product has entries of standard deviation about scale^2/sqrt(d)."""
    V = jax.random.normal(named(key, "V"), (2, d, width)) * (scale / width**0.5)
    W = jax.random.normal(named(key, "W"), (2, width, d)) * (scale / d**0.5)
    return Smooth(V, W)


def along_the_flow(g: Callable[[Any, Array], Array], phi: Callable[[Any, Array], Array], s: Any, x: Array) -> Array:
    """d/ds of g(s, x(s)) for x' = phi(s, x): the acceleration if g is phi, its change if g is the acceleration."""
    return jax.jvp(g, (s, x), (jnp.ones_like(s), phi(s, x)))[1]
