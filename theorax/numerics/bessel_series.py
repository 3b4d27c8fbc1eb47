"""Modified Bessel functions of whole order, and the number pi, by series, in steps that every arithmetic follows."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

TERMS = 40

__all__ = ["bessel_i", "circle_number"]


def bessel_i(orders: Sequence[int], x: Float[Array, ""]) -> Float[Array, " orders"]:
    r"""$I_n(x) = \sum_k (x/2)^{2k+n}/(k!\,(k+n)!)$ for every order n.

    **Errors:** for |x| <= 2 forty terms leave less than 2/(40!)^2 of the first one, 3e-96, and each rounds a few times.

    **Source:** Abramowitz and Stegun 1964, 9.6.10.
    """
    n, k = jnp.asarray(orders, x.dtype)[:, None], jnp.arange(1, TERMS, dtype=x.dtype)
    each = jnp.arange(1, max([*orders, 1]) + 1, dtype=x.dtype)
    first = jnp.prod(jnp.where(each <= n, x / (2 * each), 1), axis=1)
    ratios = jnp.cumprod((x / 2) ** 2 / (k * (k + n)), axis=1)
    return first * (1 + ratios.sum(1))


def circle_number() -> Float[Array, ""]:
    r"""$\pi = 16 \arctan(1/5) - 4 \arctan(1/239)$, to the precision of the arithmetic: a constant would be a float.

    **Errors:** sixty terms leave less than 16/5^121, 2^-277.

    **Source:** Jones 1706, where Machin's formula is printed.
    """
    k = np.arange(60)
    odd = (-1.0) ** k * (2 * k + 1)

    def arctan(n: float) -> Float[Array, ""]:
        return jnp.sum(jnp.cumprod(1 / jnp.asarray(np.where(k == 0, n, n * n))) / odd)

    return 16 * arctan(5.0) - 4 * arctan(239.0)
