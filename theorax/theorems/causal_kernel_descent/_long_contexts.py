"""Long contexts on a sphere: the depth limit of causal kernel descent beside Kaczmarz's predictions, for two kernels."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.extents import Extent
from theorax.theorems.causal_kernel_descent._descent import by_residuals, circle_spectrum, kaczmarz
from theorax.theorems.causal_kernel_descent._sequences import Orbit

HARMONICS = 24  # exp(cos a) = sum_n I_n(1) e^(ina), and I_25(1) = 2e-33


def on_a_sphere(model: Orbit, length: int) -> Float[Array, "length D"]:
    """Tokens of length s^t but for a rounding, where an orbit drifts."""
    X = model.tokens(length)
    return X / jnp.linalg.norm(X, axis=1, keepdims=True) * model.scale ** jnp.arange(length)[:, None]


def apart(
    K: Float[Array, "T T"], features: Float[Array, "T m"], targets: Float[Array, "T d"], T: Extent
) -> dict[str, Array]:
    """Root mean square distances of the two programs' predictions, and of predictions made after the target was seen.

    The largest distance would be a multiple of one rounding, and take few values.
    """
    guess, (limit, W) = by_residuals(K, targets), kaczmarz(features, targets)
    after = jnp.concatenate([jnp.einsum("tdm,tm->td", W[1:], features[:-1]), targets[-1:]])
    squares = (jnp.where(T.mask[:, None], (guess - other) ** 2, 0).sum() for other in (limit, after))
    gap, peek = (jnp.sqrt(part / T.value) for part in squares)
    return dict(gap=gap, peek=peek)


def linear(model: Orbit, T: Extent) -> dict[str, Array]:
    """The linear kernel, whose features are the tokens."""
    X = on_a_sphere(model, T.padded + 1)
    return apart(model.gram(X[:-1]), X[:-1], X[1:], T)


def fourier(model: Orbit, T: Extent) -> dict[str, Array]:
    """The exponential kernel on the circle has explicit features, its Fourier series."""
    X = on_a_sphere(model, T.padded + 1)
    z, n = X[:-1, :1] + 1j * X[:-1, 1:2], jnp.arange(HARMONICS + 1)
    waves = jnp.sqrt(circle_spectrum(HARMONICS)) * z**n
    return apart(model.gram(X[:-1]), jnp.concatenate([waves.real, waves.imag], axis=1), X[1:], T)
