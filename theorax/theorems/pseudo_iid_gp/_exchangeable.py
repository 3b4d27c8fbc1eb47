"""Exchangeable arrays: mixtures that go on for ever, signs from an urn, and arrays that break one condition each."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp._ensembles import width

COPIES = 64
MENU = (
    "signs", "random scale", "common part", "rare and large", "urn emptied", "urn of n^2", "scale that settles", "skewed part",
)


class Arrays(eqx.Module):
    """Independent exchangeable arrays of n variables."""

    variables: Float[Array, "copies N"]

    def __call__(self, n: Extent) -> Float[Array, " copies"]:
        """The sums over sqrt n."""
        return jnp.where(n.mask, self.variables, 0).sum(1) / jnp.sqrt(width(n))


def scaled_signs(key: Array, n: Extent, v: Scalar, shared: Scalar) -> Float[Array, "copies N"]:
    """Independent signs times s, s^2 = 1 + sqrt v or 1 - sqrt v: one s for an array where ``shared``, or one for each sign."""
    shape = (COPIES, n.padded)
    signs = jax.random.rademacher(named(key, "signs"), shape)
    up = jax.random.bernoulli(named(key, "scale"), 0.5, shape)
    up = jnp.where(shared > 0, up[:, :1], up)
    return signs * jnp.sqrt(jnp.where(up, 1 + jnp.sqrt(v), 1 - jnp.sqrt(v)))


def urn_signs(key: Array, n: Extent, N: Scalar, returned: Scalar) -> Float[Array, "copies N"]:
    """The first n of N signs with sum sqrt N in random order, times a common sign; each put back where ``returned``."""

    def take(state: Array, place_and_u: tuple[Array, Array]) -> tuple[Array, Array]:
        place, u = place_and_u
        there = jnp.where(returned > 0, N, N - place)
        plus = u * there < state
        return jnp.where(returned > 0, state, state - plus), jnp.where(plus, 1.0, -1.0)

    u = jax.random.uniform(named(key, "order"), (n.padded, COPIES))
    start = jnp.full((COPIES,), (N + jnp.sqrt(N)) / 2)
    drawn = jax.lax.scan(take, start, (jnp.arange(n.padded, dtype=u.dtype), u))[1]
    return drawn.T * jax.random.rademacher(named(key, "common"), (COPIES, 1))


def drawn_arrays(key: Array, n: Extent, law: Array) -> Arrays:
    """Arrays of the law at this place of the menu."""
    shape, one = (COPIES, n.padded), (COPIES, 1)
    signs = jax.random.rademacher(named(key, "signs"), shape).astype(jnp.zeros(()).dtype)
    common, size = jax.random.rademacher(named(key, "common"), one), width(n)
    makers = (
        lambda: signs,
        lambda: scaled_signs(key, n, jnp.asarray(0.25), jnp.ones(())),
        lambda: jnp.sqrt(0.9) * signs + jnp.sqrt(0.1) * common,
        lambda: signs * jnp.sqrt(size) * jax.random.bernoulli(named(key, "rare"), 1 / size, shape),
        lambda: urn_signs(key, n, size, jnp.zeros(())),
        lambda: urn_signs(key, n, size**2, jnp.zeros(())),
        lambda: scaled_signs(key, n, 1 / size, jnp.ones(())),
        lambda: signs + (jax.random.exponential(named(key, "part"), one) - 1) / jnp.sqrt(size),
    )
    return Arrays(jax.lax.switch(law, makers))
