"""Linear momentum equations with weights built from a spectrum, held against the matrix that they should reach."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.annotations import Scalar
from theorax.theorems.momentum_resnet import _solution_operator as solution


class Halves(eqx.Module):
    """Weights of the two halves of time, the same where layers share them; the mass and the velocity at the start."""

    first: jax.Array
    second: jax.Array
    eps: Scalar
    push: Scalar

    def map(self) -> Float[Array, "d d"]:
        """The matrix that takes x(0) to x(1)."""
        return solution.time_one(self.first, self.second, self.eps, self.push)


class SpectralTarget(eqx.Module):
    """A matrix, and the equation that should reach it."""

    D: jax.Array
    equation: Halves


def mass_of(omega: Scalar) -> Scalar:
    """The mass that an angle stands for."""
    return 1 / (2 * solution.bend(omega, jnp.sin, jnp.cos))


def threshold_of(omega: Scalar) -> Array:
    """Psi at its minimiser on the real axis, in numbers."""
    a = solution.bend(omega, jnp.sin, jnp.cos)
    return jnp.exp(-a) * (jnp.cos(omega) + a * jnp.sin(omega) / omega)


def rotation(number: Any) -> Float[Array, "2 2"]:
    """The real matrix of order two with this complex eigenvalue and its conjugate."""
    return jnp.array([[jnp.real(number), -jnp.imag(number)], [jnp.imag(number), jnp.real(number)]])


def compare(target: SpectralTarget) -> dict[str, Any]:
    """The distance from the matrix, relative to it.

    **Errors:** sums of 12 terms, 24 orders, and five squarings that double errors: below 2^12 roundings, of norms below 2^7.
    """
    missed = jnp.linalg.norm(target.equation.map() - target.D, 2) / jnp.linalg.norm(target.D, 2)
    return dict(missed=missed, missed_error=2.0**-34)
