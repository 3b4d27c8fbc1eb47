"""The setting that the theorems of this paper share: the p-norm regulariser, its conjugate, and exact solvers.

R(y) = (lam/p) sum |y_i|^p has the conjugate R*(z) = sum |z_i|^q/(q lam^(q-1)) with q = p/(p-1), and its gradient has the
entries sign(z_i) (|z_i|/lam)^e with e = q - 1 = 1/(p-1). After a sort, the relaxed operator is grad R*(s - v), v the least
point of R*(s - v) + sum w_i phi(v_i) among decreasing sequences. Pooling adjacent violators finds v on the host; what it
finds is judged by the values below, in every arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from sympy import Rational

from theorax.language import Efforts, Hypothesis, Parameter, Size
from theorax.numerics.host import on_host
from theorax.numerics.keys import named

n = Size("n", "number of scores")
k = Parameter("k", "number of scores to keep", integer=True, positive=True)
p = Parameter("p", "order of the norm in the regulariser", positive=True)
lam = Parameter("lam", "weight of the regulariser", positive=True)

CONVEX = Hypothesis("p > 1 and lam > 0", name="convex", unbroken="R is not strictly convex otherwise")
ORDERS = (Rational(4, 3), Rational(3, 2), Rational(2), Rational(3))
SIZES: dict[Size, Efforts[tuple[int, ...]]] = {n: Efforts((6,), (6, 9), (6, 9, 12))}
DRAWS = Efforts(3, 6, 16)


def exponent(p: Any) -> float:
    """e = 1/(p-1) of the orders above: a half or a whole number, so that roots and powers stay exact."""
    twice = 2 / (float(p) - 1)
    if twice <= 0 or abs(twice - round(twice)) > 1e-9 * twice:
        raise ValueError(f"1/(p-1) is neither a half nor a whole number at p = {p}")
    return round(twice) / 2


def raised(x: Any, e: float) -> Any:
    """x^e of what is at least zero."""
    if e == int(e):
        return x ** int(e)
    return raised(jnp.sqrt(x), 2 * e)  # a half or a quarter is reached in a step or two


def lowered(y: Any, e: float) -> Any:
    """y^(1/e) of what is at least zero."""
    return {0.5: lambda y: y**2, 1.0: lambda y: y, 2.0: jnp.sqrt, 3.0: jnp.cbrt}[e](y)


def conjugate(z: Any, lam: Any, e: float) -> Any:
    """R*(z), entry by entry."""
    size = jnp.abs(z)
    return size * raised(size / lam, e) / (e + 1)


def slope(z: Any, lam: Any, e: float) -> Any:
    """The gradient of R* at z."""
    return jnp.where(z < 0, -1.0, 1.0) * raised(jnp.abs(z) / lam, e)


def penalty(y: Any, lam: Any, e: float) -> Any:
    """R(y), entry by entry; p is 1 + 1/e."""
    size = jnp.abs(y)
    return lam * size * lowered(size, e) * e / (e + 1)


def scores(key: Array, n: int, name: str = "x") -> Array:
    """Normal scores in no order."""
    return jax.random.normal(named(key, name), (n,))


def top(x: Array, k: Any) -> Array:
    """The 0/1 mask of the k largest entries, by their ranks; of equal entries none is preferred by its place."""
    above = (x[None, :] > x[:, None]).sum(1)
    return jnp.where(above < k, 1.0, 0.0)


def leading(n: int, k: Any) -> Array:
    """w = (1, .., 1, 0, .., 0) with k ones."""
    return jnp.where(jnp.arange(n) < k, 1.0, 0.0)


def masked(x: Any, tau: Any, lam: Any, e: float) -> Any:
    """min(1, ((x - tau)_+/lam)^e): the relaxed mask where the sum of these is k."""
    return raised(jnp.minimum(jnp.maximum(x - tau, 0) / lam, 1), e)


def threshold(x: Array, k: Any, lam: Any, e: Any) -> tuple[Array, Array]:
    """Two numbers 2^-46 of the scores apart, between which lies the tau at which the entries of `masked` sum to k."""

    def bracket(x: np.ndarray, k: Any, lam: Any, e: Any) -> tuple[np.ndarray, np.ndarray]:
        low, high = x.min() - lam, x.max()
        for _ in range(80):
            middle = (low + high) / 2
            # Exactly summed: where the mask is hard, the first entry to come counts although its power is tiny.
            left = math.fsum([*np.clip((x - middle) / lam, 0, 1) ** e, -float(k)])
            low, high = (middle, high) if left > 0 else (low, middle)
        reach = 2.0**-46 * (np.abs(x).max() + lam)
        return np.asarray(low - reach), np.asarray(high + reach)

    low, high = on_host(bracket, [(), ()], x, k, lam, e)
    return low, high


def between(x: Array, k: Any, lam: Any, e: Any) -> Array:
    """The middle of both ends of `threshold`."""
    low, high = threshold(x, k, lam, e)
    return (low + high) / 2


def isotonic(s: Array, w: Array, lam: Any, e: float, quadratic: bool) -> Array:
    """The decreasing v that makes R*(s - v) + sum w_i phi(v_i) least, phi(v) = v^2/2 or v, by pooling violators."""
    return on_host(partial(_pooled, e=e, quadratic=quadratic), [s.shape], s, w, lam)[0]


def _pooled(s: np.ndarray, w: np.ndarray, lam: Any, e: float, quadratic: bool) -> tuple[np.ndarray]:
    blocks: list[tuple[list[int], float]] = []
    for i in range(len(s)):
        blocks.append(([i], _block(s[[i]], w[[i]], float(lam), e, quadratic)))
        while len(blocks) > 1 and blocks[-2][1] <= blocks[-1][1]:
            joined = blocks[-2][0] + blocks[-1][0]
            blocks[-2:] = [(joined, _block(s[joined], w[joined], float(lam), e, quadratic))]
    return (np.concatenate([np.full(len(places), value) for places, value in blocks]),)


def _block(s: np.ndarray, w: np.ndarray, lam: float, e: float, quadratic: bool) -> float:
    """The common value of a block: the one zero of an increasing function, between two numbers with signs apart."""

    def excess(v: float) -> float:
        return float(np.sum(np.sign(v - s) * np.abs(v - s) ** e) + lam**e * w.sum() * (v if quadratic else 1))

    reach = np.abs(s).max() + lam * (1 + np.abs(w).max()) ** max(1, 1 / e)
    return bisected(excess, -reach, reach)


def bisected(function: Callable[[float], float], low: float, high: float) -> float:
    """A zero of an increasing function, to the last bits."""
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) > 0 else (middle, high)
    return (low + high) / 2


def cases(*orders: Any, **fixed: Any) -> tuple[dict[Any, Any], ...]:
    """One case for each order of the norm, the other letters by name."""
    letters = dict(k=k, lam=lam)
    return tuple({p: order, **{letters[name]: value for name, value in fixed.items()}} for order in orders)


__all__: Sequence[str] = [
    "CONVEX", "DRAWS", "ORDERS", "SIZES", "between", "bisected", "cases", "conjugate", "exponent", "isotonic", "k", "lam",
    "leading", "lowered", "masked", "n", "p", "penalty", "raised", "scores", "slope", "threshold", "top",
]
