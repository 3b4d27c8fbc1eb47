"""Problems whose order parameter is a scalar, letters and hypotheses that theorems on attention paths share."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float

from theorax.language import Parameter, Size
from theorax.numerics.keys import named
from theorax.theorems.attention_paths_statmech._saddle import STEPS, log_det, mixed, saddle

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

    def kernel(self, U):
        """S = K(U) + T I."""
        return mixed(U, self.paths) + self.noise * jnp.eye(len(self.labels))

    def energy(self, U):
        """log det S + y^T S^(-1) y, minus twice the log density of the labels up to a constant."""
        root = jnp.linalg.cholesky(self.kernel(U))
        return log_det(root) + (solve_triangular(root, self.labels, lower=True) ** 2).sum()

    def slopes(self, U):
        """Trace terms Tr S^(-1) C/Htot and label terms y^T S^(-1) C S^(-1) y/Htot of all pairs of paths."""
        inverse = jnp.linalg.inv(self.kernel(U))
        solved = inverse @ self.labels
        found = (jnp.einsum("pqij,ij->pq", self.paths, weights) for weights in (inverse, jnp.outer(solved, solved)))
        return tuple((part + part.T) / (2 * len(U)) for part in found)

    def predicted(self, U, across: Float[Array, "m m new P"]):
        """The means k^T S^(-1) y at new inputs, from path kernels of new inputs and examples."""
        return mixed(U, across) @ jnp.linalg.solve(self.kernel(U), self.labels)

    def saddle(self, steps=STEPS):
        return saddle(self.sizes, self.widths, self.energy, steps)


class Settled(eqx.Module):
    """A problem, and by what factor U_1 is taken away from the minimum."""

    order: Order
    away: Float[Array, ""]


def random_problem(depth, heads):
    """Random attended inputs and labels; the widths of the layers differ."""

    def build(key, P, N, T, away):
        paths = heads**depth
        drawn = jax.random.normal(named(key, "inputs and labels"), (paths * P * 4 + P,))
        attended, labels = drawn[P:].reshape(paths, P, 4), 2 * drawn[:P]
        kernels = jnp.einsum("pif,qjf->pqij", attended, attended) / 4
        widths = N * jnp.array([1.0, 1.5, 0.75])[: depth + 1]
        return Settled(Order(kernels, labels, T, widths, tuple(heads ** (layer + 1) for layer in range(depth))), away)

    return build


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
