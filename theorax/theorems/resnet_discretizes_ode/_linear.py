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
ZERO, SMOOTH, IID, PINCHED = range(4)
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
    """Weights before training; "pinched" has one layer W_1 = I/10."""
    n = jnp.arange(1, N.padded + 1)[:, None, None]
    G = jax.random.normal(named(key, "start"), (D, D))
    smooth = jnp.sin(2 * n / N.value) * G / jnp.linalg.norm(G) / 20
    iid = jax.vmap(lambda n: jax.random.normal(named(key, "layer", n), (D, D)))(jnp.arange(N.padded)) / 50
    pinched = jnp.where(n == 1, -0.9 * N.value, 0) * jnp.eye(D)
    theta = jax.lax.select_n(kind, jnp.zeros_like(smooth), smooth, iid, pinched)
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


def symbols(name: str, *shape: int) -> Any:
    """An array of symbols."""
    places = np.ndindex(*shape)
    return np.array([Symbol(name + "".join(map(str, place))) for place in places], dtype=object).reshape(shape)


class Doubled(eqx.Module):
    """Training at depth N and at depth 2N, towards one target, from one function of depth unless the start is rough."""

    coarse: Training
    fine: Training


def doubled(key: Array, N: Extent, kind: Scalar, size: Scalar, reflected: Scalar, scaled: Scalar) -> Doubled:
    """Both trainings."""
    return Doubled(*(training(key, depth, kind, size, reflected, scaled) for depth in (N, N.doubled)))


DOUBLED = Subject(doubled, kind=ZERO, size=LARGEST, reflected=0, scaled=1.0)
