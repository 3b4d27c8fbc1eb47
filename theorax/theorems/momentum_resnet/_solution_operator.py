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


def half_flow(theta: Float[Array, "d d"], eps: Scalar) -> Float[Array, "states states"]:
    """The flow of positions and velocities over half a unit of time: 32 equal steps of a Taylor series.

    **Errors:** a step of a generator of norm G is cut at (G/64)^24/24!, below 1e-16 for G up to 128.
    """
    identity, zero = jnp.eye(theta.shape[0]), jnp.zeros_like(theta)
    step = jnp.block([[zero, identity], [theta / eps, -identity / eps]]) / 64
    whole = jnp.eye(step.shape[0])

    def horner(k: Any, total: Array) -> Array:
        return whole + step @ total / (24 - k)

    flow = jax.lax.fori_loop(0, 24, horner, whole)
    return jax.lax.fori_loop(0, 5, lambda _, flow: flow @ flow, flow)


def time_one(first: Float[Array, "d d"], second: Float[Array, "d d"], eps: Scalar, push: Scalar) -> Float[Array, "d d"]:
    """The map x(0) -> x(1) with these weights in the halves of time, from the velocity ``push`` x(0)."""
    d = first.shape[0]
    flow = half_flow(second, eps) @ half_flow(first, eps)
    return flow[:d, :d] + push * flow[:d, d:]


def bend(omega: Any, sin: Any = sympy.sin, cos: Any = sympy.cos) -> Any:
    """The a = 1/(2 eps) at which cos(omega) + a sin(omega)/omega has its least value at omega, pi < omega < 4.4934."""
    return omega**2 * sin(omega) / (omega * cos(omega) - sin(omega))


def threshold(omega: Any, a: Any = None) -> Expr:
    """The symbol of that least value times e^(-a): what real weights bring Psi down to."""
    a = bend(omega) if a is None else a
    return sympy.exp(-a) * (sympy.cos(omega) + a * sympy.sin(omega) / omega)


def preimage(mu: Any, eps: Scalar) -> Array:
    """A complex number theta with Psi(theta) = mu, by Newton's method for w from three branches of arcosh(e^a mu)."""
    a = 1 / (2 * eps)
    target = jnp.exp(a) * mu

    def excess(w: Array) -> Array:
        return jnp.cosh(w) + a * jnp.sinh(w) / w - target

    def newton(_: Any, w: Array) -> Array:
        slope = jnp.sinh(w) + a * (jnp.cosh(w) / w - jnp.sinh(w) / w**2)
        return w - excess(w) / slope

    starts = jnp.arccosh(target + 0j) + 2j * jnp.pi * jnp.arange(-1, 2)
    w = jax.lax.fori_loop(0, 40, newton, starts)
    missed = jnp.abs(excess(w))
    best = w[jnp.argmin(jnp.where(jnp.isfinite(missed), missed, jnp.inf))]
    return eps * best**2 - 1 / (4 * eps)


def real_preimage(mu: Scalar, omega: Scalar) -> Array:
    """The theta beyond the minimiser with Psi(theta) = mu, by bisection: Psi increases there."""
    a = bend(omega, jnp.sin, jnp.cos)

    def value(square: Any) -> Array:
        x = jnp.sqrt(jnp.abs(square))
        safe = jnp.where(x > 0, x, 1.0)
        above = jnp.cosh(x) + a * jnp.where(x > 0, jnp.sinh(safe) / safe, 1.0)
        below = jnp.cos(x) + a * jnp.where(x > 0, jnp.sin(safe) / safe, 1.0)
        return jnp.exp(-a) * jnp.where(square > 0, above, below)

    def halve(_: Any, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        middle = (low + high) / 2
        larger = value(middle) > mu
        return jnp.where(larger, low, middle), jnp.where(larger, middle, high)

    low, high = jax.lax.fori_loop(0, 60, halve, (-(omega**2) * jnp.ones(()), 100.0 * jnp.ones(())))
    return (low + high - 2 * a**2) / (4 * a)
