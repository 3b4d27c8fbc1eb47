"""The setting that the theorems of this paper share: tokens on a sphere that follow x_(t+1) = f(x_t), and two kernels.

Linear: k(x, y) = <x, y>; exponential: k(x, y) = exp(<x, y>). On the unit sphere k(x, x) = kappa is 1 and e. Short
sequences are made where they are measured, so that tokens lie on the sphere in every arithmetic.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sympy import Matrix, Symbol, eye, factor

from theorax.numerics.annotations import Scalar
from theorax.numerics.causal_descent import kernel, orbit, reflected
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.language import Hypothesis, Size

T = Size("T", "context length")
d = Size("d", "dimension of the tokens")
LINEAR, EXPONENTIAL = 0, 1

SPHERE = Hypothesis("all tokens have the same length, so that k(x_t, x_t) is one constant kappa")


class Orbit(eqx.Module):
    """Tokens x_(t+1) = s Omega x_t from a unit vector, Omega a product of d reflections; s is one unless a control."""

    vectors: Float[Array, "D D"]
    start: Float[Array, " D"]
    scale: Scalar
    exponential: Any

    @property
    def matrix(self) -> Float[Array, "D D"]:
        """Omega."""
        return reflected(self.vectors)

    def tokens(self, length: int) -> Float[Array, "length D"]:
        """The first tokens."""
        start = self.start / jnp.sqrt(self.start @ self.start)
        return orbit(self.scale * self.matrix, start, length)

    def gram(self, X: Float[Array, "T D"]) -> Float[Array, "T T"]:
        """The kernel values of these tokens."""
        return kernel(X @ X.T, self.exponential)


def orbits(key: Array, d: Extent, scale: Any, exponential: Any) -> Orbit:
    """A random orthogonal map and a random first token."""
    inside = d.mask[:, None] & d.mask[None, :]
    vectors = jnp.where(inside, jax.random.normal(named(key, "reflections"), (d.padded, d.padded)), 0)
    start = jnp.where(d.mask, jax.random.normal(named(key, "start"), (d.padded,)), 0)
    return Orbit(vectors, start, scale, exponential)


class Torus(eqx.Module):
    """Tokens sum of sqrt(p_i) (cos, sin)(t a_i + b_i) in the planes of an orthogonal map with the angles a_i.

    ``scrambled``: a control whose tokens do not follow from each other.
    """

    angles: Float[Array, " planes"]
    phases: Float[Array, " planes"]
    parts: Float[Array, " planes"]
    exponential: Any
    scrambled: Any

    def tokens(self, length: int) -> Float[Array, "length D"]:
        """The first tokens; their products depend on the distance in time alone, without an error that grows."""
        place = jnp.arange(length)[:, None]
        # The control's tokens: irrational multiples of t^2 are spread like independent ones.
        turned = jnp.where(self.scrambled == 1, (1.618 + self.phases) * place**2, place * self.angles)
        waves = [jnp.sqrt(self.parts) * wave(turned + self.phases) for wave in (jnp.cos, jnp.sin)]
        return jnp.concatenate(waves, axis=1)

    def gram(self, X: Float[Array, "T D"]) -> Float[Array, "T T"]:
        """The kernel values of these tokens."""
        return kernel(X @ X.T, self.exponential)


WINDOWS = np.array([[0.6, 1.0], [1.6, 2.1]])


def two_planes(key: Array, part: Any, exponential: Any, repeated: Any = 0, scrambled: Any = 0) -> Torus:
    """Angles in two windows away from each other and from multiples of pi; 1 - ``part`` of the square length in the second.

    ``repeated``: the same angle in both planes. ``scrambled``: tokens at unrelated places of their circles.
    """
    low, high = WINDOWS.T
    angles = low + (high - low) * jax.random.uniform(named(key, "angles"), (2,))
    angles = jnp.where(repeated == 1, angles[0], angles)
    phases = 2 * jnp.pi * jax.random.uniform(named(key, "phases"), (2,))
    return Torus(angles, phases, jnp.stack([part, 1 - part]), exponential, scrambled)


def generic(name: str, rows: int, columns: int) -> np.ndarray:
    """A matrix of independent real symbols."""
    return array([[Symbol(f"{name}_{i}{j}", real=True) for j in range(columns)] for i in range(rows)])


def cayley(skew: Matrix) -> np.ndarray:
    """A rational rotation: Cayley's transform of a skew matrix of symbols."""
    one = eye(skew.rows)
    return array(((one - skew).inv() * (one + skew)).applyfunc(factor).tolist())


def generic_gram(order: int) -> np.ndarray:
    """A symmetric matrix of symbols with the constant kappa on its diagonal."""
    kappa = Symbol("kappa", positive=True)
    entry = lambda i, j: kappa if i == j else Symbol(f"k_{max(i, j)}{min(i, j)}", real=True)  # noqa: E731
    return array(Matrix(order, order, entry).tolist())


def array(rows: Any) -> np.ndarray:
    """Rows of expressions as an array of carriers."""
    out = np.empty((len(rows), len(rows[0])), dtype=object)
    out[:] = rows
    return out
