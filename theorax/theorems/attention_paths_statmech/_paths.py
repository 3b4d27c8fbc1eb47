"""Problems whose order parameter is a scalar, letters and hypotheses that theorems on attention paths share."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.language import Parameter, Size
from theorax.numerics.keys import named
from theorax.theorems.attention_paths_statmech._saddle import STEPS, saddle

P = Size("P", "number of examples")
N = Size("N", "width of every layer")
L = Parameter("L", "number of attention layers", integer=True, positive=True)


class Order(eqx.Module):
    """A problem of the action: the kernels of pairs of paths, labels, the temperature and the widths."""

    paths: Float[Array, "m m P P"]
    labels: Float[Array, " P"]
    noise: Float[Array, ""]
    widths: Float[Array, " blocks"]
    sizes: tuple[int, ...] = eqx.field(static=True)

    def saddle(self, steps=STEPS):
        return saddle(self.sizes, self.widths, self.paths, self.labels, self.noise, steps)


def isotropic(depth, heads=1):
    """Problems of ``depth`` layers whose path kernels are kappa I, without pairs of different paths."""

    def build(key, P, alpha, middle, spread, noise, readout):
        kappa, s = jax.random.uniform(named(key, "numbers"), (2,), minval=-0.5, maxval=0.5) + jnp.array([1, middle])
        # Eigenvalues kappa exp(spread x) with x from -1 to 1: one geometric mean for every spread.
        kernel = kappa * jnp.diag(jnp.exp(spread * jnp.linspace(-1, 1, P)))
        labels = jax.random.normal(named(key, "labels"), (P,))
        labels = labels * jnp.sqrt(P * s * kappa / (labels**2).sum())
        widths = jnp.ones(depth + 1).at[0].set(readout) * P / alpha
        sizes = tuple(heads ** (layer + 1) for layer in range(depth))
        paths = jnp.eye(heads**depth)[:, :, None, None] * kernel
        return Order(paths, labels, noise * kappa, widths, sizes), s

    return build
