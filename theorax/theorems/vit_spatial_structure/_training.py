"""Layers trained by gradient descent on a sample of images, and their errors on fresh ones."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from theorax.language import Size
from theorax.numerics.annotations import Entries, Scalar
from theorax.numerics.keys import named
from theorax.theorems.vit_spatial_structure import _family as family
from theorax.theorems.vit_spatial_structure import _patches as setting

N = Size("N", "number of images in the sample")
d = Size("d", "dimension of a patch; its noise has variance 1/d in every direction but w*")
TESTED = 8192


class SumOfPowers(eqx.Module):
    """F(X) = sum_i a_1 h_i + a_2 h_i^2 + a_3 h_i^3, h_i = sum_j S_ij <v, X_j>, S the softmax of the rows of A."""

    A: Entries[Any, "D D"]
    v: Entries[Any, " d"]
    parts: tuple[Any, Any, Any]

    def __call__(self, X: Any) -> Any:
        """F, for every image."""
        return self.of_values((X.reshape(-1, X.shape[-1]) @ self.v).reshape(X.shape[:-1]))

    def of_values(self, values: Any) -> Any:
        """F, from the values <v, X_j>."""
        h, (linear, square, cube) = values @ family.softmax(self.A).T, self.parts
        return (h * (linear + h * (square + h * cube))).sum(-1)


class LabelledImages(eqx.Module):
    """Labels, entries along w*, and standard normal numbers for the noise."""

    y: Entries[Any, " N"]
    x: Entries[Any, "N D"]
    noise: Array


class TrainingImages(eqx.Module):
    """Images to train on, of which a share is used, others to test on, and how much of the noise w* sees."""

    train: LabelledImages
    test: LabelledImages
    used: Scalar
    along: Scalar

    @property
    def X(self) -> Array:
        """Patches to train on; w* is the first direction."""
        noise = self.train.noise * self.train.noise.shape[-1] ** -0.5
        first = self.train.x + self.along * noise[..., 0]
        return jnp.concatenate([first[..., None], noise[..., 1:]], axis=-1)

    def loss(self, layer: SumOfPowers) -> Array:
        """Mean of log(1 + e^(-y F)) over the images used."""
        place = jnp.arange(len(self.train.y)) + 0.5
        weight = jnp.where(place < self.used * len(self.train.y), 1.0, 0.0)
        return (weight * jax.nn.softplus(-self.train.y * layer(self.X))).sum() / weight.sum()

    def error(self, layer: SumOfPowers) -> Array:
        """The share of images to test on whose label is wrong, a tie counting one half."""
        # Noise enters by <v, xi> alone, a normal number: one is drawn for each patch.
        v, spread = layer.v, jnp.sqrt((layer.v[1:] ** 2).sum() + (self.along * layer.v[0]) ** 2)
        values = self.test.x * v[0] + self.test.noise * spread * len(v) ** -0.5
        return setting.mistakes(self.test.y * layer.of_values(values), 0.0).mean()


def drawn(u: Array, noise: Array, C: int, L: int, q: Any, anywhere: Any) -> LabelledImages:
    """Images of the task from uniform numbers; ``anywhere``: their signal is on any C patches."""
    D = C * L
    y, carrier = jnp.where(u[:, 0] < 0.5, 1.0, -1.0), jnp.floor(L * u[:, 1])
    chance, mark = u[:, 2 : D + 2], u[:, D + 2 :]
    first = (mark[:, None, :] < mark[:, :, None]).sum(2) < C
    signal = jnp.where(anywhere == 1, first, jnp.arange(D) // C == carrier[:, None])
    decoys = jnp.where(chance < q / 2, 1.0, jnp.where(chance < q, -1.0, 0.0))
    return LabelledImages(y, jnp.where(signal, y[:, None], decoys), noise)


def sample(key: Array, C: int, L: int, N: int, d: int, q: Any, anywhere: Any, used: Any, along: Any) -> TrainingImages:
    """Images to train on and to test on."""
    D = C * L
    # One call for all: the generator of random numbers is most of what compiling costs.
    u = jax.random.uniform(named(key, "images"), (N + TESTED, 2 * D + 2))
    noise = jax.random.normal(named(key, "noise"), ((N * d + TESTED) * D,))
    train = drawn(u[:N], noise[: N * d * D].reshape(N, D, d), C, L, q, anywhere)
    return TrainingImages(train, drawn(u[N:], noise[N * d * D :].reshape(TESTED, D), C, L, q, anywhere), used, along)


def start(key: Array, C: int, L: int, d: int, spread: Any, diagonal: Any, parts: tuple[Any, Any, Any]) -> SumOfPowers:
    """A with this diagonal, its other entries normal of standard deviation ``spread``; v of standard deviation 0.001."""
    D, one = C * L, jnp.eye(C * L)
    noise = jax.random.normal(named(key, "start"), (D * D + d,))
    return SumOfPowers((1 - one) * spread * noise[d:].reshape(D, D) + diagonal * one, 1e-3 * noise[:d], parts)


def descended(layer: SumOfPowers, sample: TrainingImages, steps: Any, step: Any, step_of_A: Any) -> SumOfPowers:
    """Gradient descent on the loss of the sample, the diagonal of A fixed."""
    one = jnp.eye(len(layer.A))

    def loss(at: tuple[Array, Array]) -> Array:
        return sample.loss(SumOfPowers(at[0], at[1], layer.parts))

    def moved(_: Any, at: tuple[Array, Array]) -> tuple[Array, Array]:
        of_A, of_v = jax.grad(loss)(at)
        return at[0] - step_of_A * (1 - one) * of_A, at[1] - step * of_v

    A, v = jax.lax.fori_loop(0, steps, moved, (layer.A, layer.v))
    return SumOfPowers(A, v, layer.parts)


def associated(A: Array, C: int, L: int) -> Array:
    """The share of rows of A whose C largest entries are exactly those of their own set."""
    own = setting.same_set(C, L)
    least, largest = jnp.where(own == 1, A, jnp.inf).min(1), jnp.where(own == 1, -jnp.inf, A).max(1)
    return jnp.where(least > largest, 1.0, 0.0).mean()


def apart(A: Array, C: int, L: int) -> Array:
    """The mean entry of A within sets, but for the diagonal, less that between sets."""
    _, own, other = family.masks(C, L)
    return (A * own).sum() / own.sum() - (A * other).sum() / other.sum()
