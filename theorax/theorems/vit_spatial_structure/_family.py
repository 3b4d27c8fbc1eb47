"""Layers whose A has three numbers, sigma_A, gamma and rho, and whose v is alpha w*: their loss and its gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorax.language import Parameter
from theorax.theorems.vit_spatial_structure import _patches as setting
from theorax.theorems.vit_spatial_structure import _starts as starts

gamma = Parameter("gamma", "entry of A within a set")
rho = Parameter("rho", "entry of A between two sets")
nu = Parameter("nu", "slope of the activation at zero")

Activation = Callable[[Any], Any]


def masks(C: int, L: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One on the diagonal, within sets but for the diagonal, and between sets."""
    one, own = np.eye(C * L), setting.same_set(C, L)
    return one, own - one, 1 - own


def member(sigma: Any, gamma: Any, rho: Any, C: int, L: int) -> Array:
    """A with these entries."""
    one, own, other = masks(C, L)
    return sigma * one + gamma * own + rho * other


def softmax(A: Any) -> Array:
    """S."""
    raised = jnp.exp(A)
    return raised / raised.sum(1, keepdims=True)


class ThreeNumbers:
    """The mean loss as a function of alpha, gamma and rho: a sum over fillings of the sets, without order in a set."""

    def __init__(self, C: int, L: int, sigma: Any, q: Any, act: Activation) -> None:
        self.C, self.L, self.sigma, self.act = C, L, sigma, act
        self.images = setting.every_type(C, L)
        self.chance = self.images.probabilities(q)

    def loss(self, at: Any) -> Any:
        """L(alpha, gamma, rho)."""
        alpha, gamma, rho = at
        h = alpha * (self.images.x @ softmax(member(self.sigma, gamma, rho, self.C, self.L)).T)
        return (self.chance * setting.logistic(self.act(h).sum(1))).sum()

    def slopes(self, at: Any) -> tuple[Array, Array, Array]:
        """dL/dalpha, and dL/dA_ij within a set and between sets: shares of dL/dgamma and dL/drho, one for each entry."""
        of_alpha, of_gamma, of_rho = jax.grad(self.loss)(at)
        D = self.C * self.L
        return of_alpha, of_gamma / (D * (self.C - 1)), of_rho / (D * (D - self.C))

    def total_slopes(self, at: Any) -> tuple[Array, Array, Array]:
        """The same without the shares."""
        return jax.grad(self.loss)(at)


def descended(slopes: Callable[[Any], Any], at: tuple[Any, ...], steps: int) -> tuple[Any, ...]:
    """Gradient descent with steps of one."""
    for _ in range(steps):
        at = tuple(value - slope for value, slope in zip(at, slopes(at), strict=True))
    return at


def third_moment(self, own, other, q, C, L):
    """E h^3 of one patch: its set carries the signal, or another does."""
    whole, rest = self + (C - 1) * own, C * (L - 1)
    away = self**2 + (C - 1) * own**2 + (rest - C) * other**2
    return (whole**3 + 3 * whole * q * rest * other**2 + (L - 1) * ((C * other) ** 3 + 3 * C * other * q * away)) / L


def own_moment(self, own, other, q, C, L):
    """E h_i^2 x_j, j another patch of the set of i."""
    whole = self + (C - 1) * own
    return (whole**2 + q * C * (L - 1) * other**2 + 2 * (L - 1) * C * other * own * q) / L


def other_moment(self, own, other, q, C, L):
    """E h_i^2 x_j, j of another set."""
    whole, spread = self + (C - 1) * own, self**2 + (C - 1) * own**2 + C * (L - 2) * other**2
    return (C**2 * other**2 + q * spread + 2 * whole * other * q + 2 * (L - 2) * C * other**2 * q) / L


def mean_loss(entries, sigma, alpha, power, mixed, q, C, L):
    """L(gamma, rho); ``power``: shares of h^3 and of h^5 beside 0.03 h."""
    S = softmax(member(sigma, entries[0], entries[1], C, L))
    out = jnp.zeros(())
    for any_patches, share in ((False, 1 - mixed), (True, mixed)):
        images = starts.images_of(C, L, any_patches)
        h = alpha * (images.x @ S.T)
        F = (power[0] * h**3 + power[1] * h**5 + 0.03 * h).sum(1)
        out = out + share * (images.probabilities(q) * setting.logistic(F)).sum()
    return out


def shares(slopes, C, L):
    """For each entry of A."""
    return slopes[0] / (C * L * (C - 1)), slopes[1] / (C * L * C * (L - 1))
