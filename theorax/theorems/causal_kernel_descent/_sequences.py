"""The sequences that the theorems of this paper measure: orbits of orthogonal maps, and tokens on a torus."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorax.language import Subject
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.causal_kernel_descent._descent import kernel, orbit, reflected
from theorax.theorems.causal_kernel_descent._tokens import EXPONENTIAL, LINEAR


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

    def turned(self, length: int) -> Float[Array, "length D"]:
        """The first tokens at the scale one."""
        return Orbit(self.vectors, self.start, 1.0, self.exponential).tokens(length)

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


def orbit_and_number(key: Array, d: Extent, scale: Any, exponential: Any, number: Any) -> tuple[Orbit, Any]:
    """An orbit, and a number for what is observed of it: a length, a time, a step."""
    return orbits(key, d, scale, exponential), number


def planes_and_number(
    key: Array, part: Any, exponential: Any, repeated: Any, scrambled: Any, number: Any
) -> tuple[Torus, Any]:
    """Tokens in two planes, and a number for what is observed of them."""
    return two_planes(key, part, exponential, repeated, scrambled), number


ORBIT = Subject(orbit_and_number, scale=1.0, exponential=LINEAR, number=1.0)
PLANES = Subject(two_planes, part=0.6, exponential=LINEAR, repeated=0, scrambled=0)
ONE_PLANE = Subject(planes_and_number, part=1.0, exponential=EXPONENTIAL, repeated=0, scrambled=0, number=0)


def mean_of_last_quarter(squares: Float[Array, " N"], T: Extent) -> Float[Array, ""]:
    """Mean of the squares over the last quarter of the context."""
    quarter = T.mask & (4 * jnp.arange(T.padded) >= 3 * T.value)
    return jnp.where(quarter, squares, 0).sum() / quarter.sum()
