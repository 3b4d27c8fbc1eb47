"""Linear networks in training: targets near the identity or not, starts that are zero, smooth in depth, or rough."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped
from sympy import Symbol, exp

from theorax.language import Parameter, Subject
from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.resnet_discretizes_ode import _linear_residual as linear

D = 3
SHOWN, HORIZON = 8, 4.0  # times k/2
ZERO, SMOOTH, IID, PINCHED, ALTERNATING = range(5)
rho = Parameter("rho", "radius of the ball in which the weights stay, at most one", positive=True)
LARGEST = float(1 / (3 * exp(1)))  # of rho e^(-3 rho), at rho = 1/3


class Training(eqx.Module):
    """Weights to start from, the target, and what the gradient is multiplied by: N, or one without ``scaled``."""

    theta: Float[Array, "N d d"] | Shaped[np.ndarray, "N d d"]
    B: Float[Array, "d d"] | Shaped[np.ndarray, "d d"]
    scaled: Scalar

    def flow(self, N: Extent) -> tuple[Float[Array, "shown N d d"], Array]:
        """The weights at the times shown, and the error of their stack."""
        speed = jnp.where(self.scaled > 0, N.value * jnp.ones(()), 1)
        return linear.trained(jnp.asarray(self.theta), jnp.asarray(self.B), N, SHOWN, HORIZON, 3, speed)


def start(key: Array, N: Extent, kind: Scalar) -> Float[Array, "N d d"]:
    """Weights before training; "pinched" has one layer W_1 = I/10, "alternating" theta_n = (-1)^n theta."""
    n = jnp.arange(1, N.padded + 1)[:, None, None]
    G = jax.random.normal(named(key, "start"), (D, D))
    direction = G / jnp.linalg.norm(G) / 20
    smooth = jnp.sin(2 * n / N.value) * direction
    iid = jax.vmap(lambda n: jax.random.normal(named(key, "layer", n), (D, D)))(jnp.arange(N.padded)) / 50
    pinched = jnp.where(n == 1, -0.9 * N.value, 0) * jnp.eye(D)
    alternating = jnp.where(n % 2 == 0, 1, -1) * direction
    theta = jax.lax.select_n(kind, jnp.zeros_like(smooth), smooth, iid, pinched, alternating)
    return jnp.where(N.mask[:, None, None], theta, 0)


def training(key: Array, N: Extent, kind: Scalar, size: Scalar, reflected: Scalar, scaled: Scalar) -> Training:
    """B = I + size E with a random direction E, or the reflection of one coordinate."""
    E = jax.random.normal(named(key, "target"), (D, D))
    near = jnp.eye(D) + size * E / jnp.linalg.norm(E)
    far = jnp.diag(jnp.asarray([1.0, 1.0, -1.0]))
    return Training(start(key, N, kind), jnp.where(reflected > 0, far, near), scaled)


# From zero a target at the largest distance that is admitted; from elsewhere a nearer one.
TRAINING = Subject(training, kind=ZERO, size=LARGEST, reflected=0, scaled=1.0)
NEAR = 0.05  # with ||theta_n(0)|| <= 1/20: 1/20 + e (1/20 + e^(1/20) - 1) <= 1/3


def within(
    key: Array, N: Extent, rho: Scalar, kind: Scalar, share: Scalar, reflected: Scalar, scaled: Scalar
) -> Training:
    """A share of the largest admitted distance rho e^(-3 rho) of the target; weights at the start shrink with it."""
    largest = rho * jnp.exp(-3 * rho)
    found = training(key, N, kind, share * largest, reflected, scaled)
    theta = jnp.where((kind == SMOOTH) | (kind == IID), 20 * largest / 3, 1) * found.theta
    return Training(theta, found.B, scaled)


# From zero a target at the largest distance that is admitted. With ||theta_n(0)|| <= a = rho e^(-3 rho)/3 a quarter of it:
# a + e^(3 rho) (3 a/4 + e^a - 1) <= rho, for e^a - 1 <= 1.07 a.
WITHIN = Subject(within, kind=ZERO, share=1.0, reflected=0, scaled=1.0)
QUARTER = 0.25


def symbols(name: str, *shape: int) -> Any:
    """An array of symbols."""
    places = np.ndindex(*shape)
    return np.array([Symbol(name + "".join(map(str, place))) for place in places], dtype=object).reshape(shape)


class Deepened(eqx.Module):
    """Training at depths N, 2N and 4N, towards one target, from one function of depth unless the start is rough."""

    coarse: Training
    fine: Training
    finest: Training


def deepened(key: Array, N: Extent, kind: Scalar, size: Scalar, reflected: Scalar, scaled: Scalar) -> Deepened:
    """All three trainings."""
    depths = (N, N.doubled, N.doubled.doubled)
    return Deepened(*(training(key, depth, kind, size, reflected, scaled) for depth in depths))


DEEPENED = Subject(deepened, kind=ZERO, size=LARGEST, reflected=0, scaled=1.0)
