r"""Means of analytic functions of a normal variable, by the trapezoidal rule with an error that is proved.

On the whole line the rule of step h errs only through the poles of the integrand: for functions that are analytic in a
strip it converges geometrically in 1/h, and faster than Gauss and Hermite's rule with as many nodes, whose error is
governed by the same strip but falls with the root of their number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.extents import Extent, literal

__all__ = ["PER_UNIT", "REACH", "mean", "mean_error", "nodes"]

PER_UNIT = 12
"""Nodes to a standard deviation, unless asked otherwise."""

REACH = 9
"""Standard deviations that the nodes reach to either side: 2e-19 of the mass lies beyond."""


def nodes(per_unit: int | Extent = PER_UNIT) -> tuple[Float[Array, " nodes"], Float[Array, " nodes"]]:
    """The nodes k h, |k| h <= REACH, h = 1/per_unit, and the weights h times the normal density there."""
    m = literal(per_unit) if isinstance(per_unit, int) else per_unit
    spacing = jnp.asarray(m.value, jnp.zeros(()).dtype)
    k = jnp.arange(-REACH * m.padded, REACH * m.padded + 1)
    places = k / spacing
    density = jnp.exp(-(places**2) / 2) / (spacing * math.sqrt(2 * math.pi))
    return places, jnp.where(jnp.abs(k) <= REACH * m.value, density, 0)


def mean(f: Callable[[Array], Array], variance: Any = 1.0, per_unit: int | Extent = PER_UNIT) -> Float[Array, ""]:
    r"""$E f(x)$ for x normal and centred, of this variance.

    **Errors:** at most `mean_error` for a function that is analytic in a strip around the real line.
    """
    places, weights = nodes(per_unit)
    return jnp.sum(weights * f(jnp.sqrt(jnp.asarray(variance, places.dtype)) * places))


def mean_error(
    strip: Any,
    bound: Any,
    variance: Any = 1.0,
    per_unit: int | Extent = PER_UNIT,
    largest: Any = 1.0,
    roundoff: float = 2.0**-53,
) -> Float[Array, ""]:
    r"""A bound on the error of `mean` for f analytic with $|f| \le$ ``bound`` on $|\mathrm{Im}\,x| <$ ``strip``.

    In units of the standard deviation the strip is $a = $ strip/$\sqrt q$ wide to either side, and there the normal
    density is at most $e^{a^2/2}$ times that of the real part. The rule on the whole line errs by at most
    $2Me^{b^2/2}/(e^{2\pi b/h} - 1)$ for every $b \le a$; $b = \min(a, 2\pi/h)$ is nearly the best. ``largest`` bounds
    $|f|$ on the line: the nodes beyond the reach R carry less than the normal tail beyond it, $2 e^{-R^2/2}/(R\sqrt{2\pi})$
    times that. A term errs by the roundoffs of f, of the density with its exponent up to $R^2/2$ and of two products; the
    sum of m terms by at most m more.

    **Errors:** of second order in the roundoff. Values of f are taken to be exact up to four roundoffs of ``largest``.

    **Source:** Trefethen and Weideman 2014, theorem 5.1.
    """
    one = jnp.asarray(bound, jnp.zeros(()).dtype)
    m = jnp.asarray(per_unit.value if isinstance(per_unit, Extent) else per_unit, one.dtype)
    b = jnp.minimum(strip / jnp.sqrt(jnp.asarray(variance, one.dtype)), 2 * math.pi * m)
    rule = 2 * jnp.exp(b**2 / 2) / jnp.expm1(2 * math.pi * m * b)
    tail = 2 * math.exp(-(REACH**2) / 2) / (REACH * math.sqrt(2 * math.pi))
    rounding = (2 * REACH * m + 1 + 8 + REACH**2) * roundoff
    return one * rule + largest * (tail + rounding)
