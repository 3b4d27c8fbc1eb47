r"""Neural ODEs: the flow of a field beside the layers of a network, by diffrax, with a declared error.

The flow is asked for at the nodes $s_n = n/N$ only, and every interval $[s_n, s_{n+1}]$ is crossed by whole steps of a
Runge-Kutta method: a field that interpolates layers has its kinks at the nodes, and between them the method sees a
smooth field.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.annotations import Scalar
from theorax.numerics.extents import Extent

METHOD = diffrax.Dopri8()
"""Dormand and Prince's method of order eight."""
CHEAP = diffrax.Tsit5()
"""Tsitouras' method of order five, where an error of a millionth is far below what is measured."""


def crossed(
    field: Callable[[Any, Any, Array], Array],
    start: Float[Array, " *shape"],
    N: Extent,
    steps: int | Array,
    horizon: Scalar = 1.0,
    method: Any = METHOD,
) -> Float[Array, " nodes *shape"]:
    """The computed flow at the nodes s_0, ..., s_N, each interval crossed by ``steps`` equal steps; zero beyond s_N.

    ``field(n, s, x)`` is the field at s in the n-th interval, of length ``horizon``/N.

    **Errors:** see `flow`.
    """
    term = diffrax.ODETerm(lambda s, x, n: field(n, s, x))
    width = horizon / (N.value * jnp.ones((), start.dtype))
    nodes = jnp.zeros((N.padded + 1, *start.shape), start.dtype).at[0].set(start)

    def interval(n: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        x, nodes = carry

        def step(k: Any, x: Array) -> Array:
            here = (n + k / steps) * width
            there = here + width / steps
            # The field may jump at a node: no step takes its first stage from the step before.
            state = method.init(term, here, there, x, n)
            return method.step(term, here, there, x, n, state, False)[0]

        x = jax.lax.fori_loop(0, steps, step, x)
        return x, nodes.at[n + 1].set(x)

    return jax.lax.fori_loop(0, N.value, interval, (start, nodes))[1]


def flow(
    field: Callable[[Any, Any, Array], Array],
    start: Float[Array, " *shape"],
    N: Extent,
    steps: int = 1,
    horizon: Scalar = 1.0,
    method: Any = METHOD,
) -> tuple[Float[Array, " nodes *shape"], Float[Array, ""]]:
    r"""The flow at the nodes, and a bound on its error there in the Euclidean norm.

    **Errors:** the flow is computed with ``steps`` and with 2 ``steps`` per interval. Where a method of order p has
    reached its order, the finer result is off by the difference of the two over $2^p - 1$; the whole difference is
    declared, with $2^{-50}$ of the largest node for each of the 2 ``steps`` N steps, for rounding. What this is worth
    on fields whose flow is known is the instrument ``ode_solver``.

    **Source:** Hairer et al. 1993, sections II.4 and II.5.
    """
    both = jnp.asarray((steps, 2 * steps))  # one program for both
    coarse, fine = jax.lax.map(lambda count: crossed(field, start, N, count, horizon, method), both)
    return fine, apart(coarse, fine) + largest(fine) * (2 * steps * 2.0**-50) * N.value


def apart(these: Float[Array, " nodes *shape"], those: Float[Array, " nodes *shape"]) -> Float[Array, ""]:
    """The largest Euclidean distance of two nodes of equal number."""
    return largest(these - those)


def largest(nodes: Float[Array, " nodes *shape"]) -> Float[Array, ""]:
    """The largest Euclidean norm of a node."""
    return jnp.sqrt(jnp.max(jnp.sum(nodes**2, axis=tuple(range(1, nodes.ndim)))))
