r"""The time-one map of $\epsilon x'' + x' = \theta x$ from rest, and the linear momentum networks that approach it.

With $a = 1/(2\epsilon)$ and $w^2 = \theta/\epsilon + a^2$ the map is $\Psi_\epsilon(\theta) = e^{-a}(\cosh w + a \sinh w/w)$,
an entire function of $\theta$; so it is defined for matrices too.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import sympy
from jaxtyping import Array, Float
from sympy import Expr, sqrt

from theorax.language import Parameter
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent
from theorax.theorems.momentum_resnet import _momentum as momentum
from theorax.theorems.momentum_resnet._momentum import MomentumNetwork

eps = Parameter("epsilon", "mass: the equation is epsilon x'' + x' = f(x)", positive=True)
theta = Parameter("theta", "slope of the residual function, f(x) = theta x", real=True)


def root(theta: Any = theta, eps: Any = eps) -> Expr:
    """The symbol w, the root of theta/eps + 1/(4 eps^2)."""
    return sqrt(theta / eps + 1 / (4 * eps**2))


def from_rest(time: Any = 1, theta: Any = theta, eps: Any = eps) -> Expr:
    """The position at a time of the scalar solution that starts at one, at rest."""
    w, a = root(theta, eps), 1 / (2 * eps)
    return sympy.exp(-a * time) * (sympy.cosh(w * time) + a * sympy.sinh(w * time) / w)


def from_push(time: Any = 1, theta: Any = theta, eps: Any = eps) -> Expr:
    """The position at a time of the scalar solution that starts at zero, with velocity one."""
    w = root(theta, eps)
    return sympy.exp(-time / (2 * eps)) * sympy.sinh(w * time) / w


def operator(
    theta: Float[Array, "d d"], eps: Scalar, terms: int = 40, square: Scalar = 4.0, push: Scalar = 1.0
) -> Float[Array, "d d"]:
    """The matrix Psi_eps(theta) by its series; other values of ``square`` and ``push`` are wrong formulas.

    **Errors:** terms fall like w^(2n)/(2n)!: with 40 of them the rest is below 1e-20 for ||w^2|| up to 200.
    """
    identity = jnp.eye(theta.shape[0])
    S = theta / eps + identity / (square * eps**2)

    def add(n: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        power, total = carry  # S^n/(2n)!
        total = total + power * (1 + push / (2 * eps * (2 * n + 1)))
        return power @ S / ((2 * n + 1) * (2 * n + 2)), total

    return jnp.exp(-1 / (2 * eps)) * jax.lax.fori_loop(0, terms, add, (identity, jnp.zeros_like(theta)))[1]


def linear_layer(W: Any, x: Any) -> Any:
    """The residual function W x."""
    return W @ x


def momentum_at(eps: Scalar, N: Extent) -> Scalar:
    """g = 1 - 1/(N eps), the momentum at which N steps of length 1/N follow eps x'' + x' = f(x)."""
    return 1 - 1 / (N.value * eps)


def network_map(
    weights: Float[Array, "layers d d"], eps: Scalar, N: Extent, momentum_of: Any = momentum_at
) -> Float[Array, "d d"]:
    """The matrix by which a linear network of depth N maps inputs to outputs, from rest."""
    identity = jnp.eye(weights.shape[-1])
    net = MomentumNetwork(linear_layer, weights, momentum_of(eps, N), 1 / N.value)
    return momentum.through(net, (identity, jnp.zeros_like(identity)), N)[0]
