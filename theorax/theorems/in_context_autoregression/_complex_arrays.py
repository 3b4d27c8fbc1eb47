"""Complex arrays as pairs of real ones: their programs add and multiply, so that they run in every arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorax.language import generic_entries


class ComplexArray(eqx.Module):
    """real + i imag."""

    real: Array
    imag: Array

    def __add__(self, other: ComplexArray) -> ComplexArray:
        return ComplexArray(self.real + other.real, self.imag + other.imag)

    def __sub__(self, other: ComplexArray) -> ComplexArray:
        return ComplexArray(self.real - other.real, self.imag - other.imag)

    def __mul__(self, other: ComplexArray) -> ComplexArray:
        """The product entry by entry."""
        return ComplexArray(
            self.real * other.real - self.imag * other.imag, self.real * other.imag + self.imag * other.real
        )

    def __matmul__(self, other: ComplexArray) -> ComplexArray:
        return ComplexArray(
            self.real @ other.real - self.imag @ other.imag, self.real @ other.imag + self.imag @ other.real
        )

    def __getitem__(self, place: Any) -> ComplexArray:
        return self.each(lambda part: part[place])

    def each(self, change: Callable[[Array], Array]) -> ComplexArray:
        """A real linear map of both parts: a reshaping, a product with a real array, a sum."""
        return ComplexArray(change(self.real), change(self.imag))

    @property
    def conj(self) -> ComplexArray:
        """The complex conjugate."""
        return ComplexArray(self.real, -self.imag)

    @property
    def adjoint(self) -> ComplexArray:
        """The conjugate transpose of a matrix."""
        return self.conj.each(lambda part: part.T)

    @property
    def squares(self) -> Array:
        """The squared moduli, entry by entry."""
        return self.real * self.real + self.imag * self.imag

    @property
    def stacked(self) -> Array:
        """One real array: the real parts, then the imaginary parts."""
        return jnp.stack([self.real, self.imag])


def unstacked(pair: Any) -> ComplexArray:
    """The complex array whose parts are the two entries of ``pair``."""
    return ComplexArray(pair[0], pair[1])


def on_circle(angles: Array) -> ComplexArray:
    """e^(i angle)."""
    return ComplexArray(jnp.cos(angles), jnp.sin(angles))


def generic_pair(name: str, *shape: int) -> np.ndarray:
    """Real symbols for the parts of a complex array of this shape."""
    return generic_entries(name, 2, *shape)
