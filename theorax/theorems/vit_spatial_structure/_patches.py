r"""Patches in hidden sets, and the layer of positional attention that classifies them: what the theorems of this paper share.

$D = CL$ patches in $\mathbb{R}^d$ fall into $L$ sets of $C$. Patch j is $x_j w^*$ plus noise: $x_j = y$ on one set, drawn
uniformly, and elsewhere $\pm 1$ with probability $q/2$ each, or zero. Under $y \to -y$ the law of $X$ changes its sign and F
its own, as p is odd: means over $y = 1$ are means over both labels.
"""

from __future__ import annotations

from itertools import product
from math import factorial
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from sympy import Rational

from theorax.language import Efforts, Hypothesis, Parameter, Size
from theorax.numerics.annotations import Entries, Scalar

L = Size("L", "number of sets")
C = Size("C", "patches in a set")
q = Parameter("q", "probability that a patch outside of the signal is not zero", positive=True)
sigma_A = Parameter("sigma_A", "diagonal entry of A")

# Logarithms and comparisons are no rational identity: draws alone decide, and leave this share of their law open.
CONTENT = Rational(1, 10)
MANY = Efforts(96, 96, 300)

ORTHOGONAL = Hypothesis("the noise of every patch is orthogonal to w*")


class PositionalAttention(eqx.Module):
    """F(X) = sum_i h_i^p + nu h_i, h_i = sum_j S_ij <v, X_j>, where S is the softmax of the rows of A."""

    A: Entries[Any, "D D"]
    v: Entries[Any, " d"]
    p: int = eqx.field(static=True)
    nu: Scalar = 0.0

    @property
    def weights(self) -> Array:
        """S."""
        raised = jnp.exp(self.A)
        return raised / raised.sum(1, keepdims=True)

    def activated(self, X: Any) -> Any:
        """h^p + nu h, patch by patch."""
        return activated(self.weights, X @ self.v, self.p, self.nu)

    def __call__(self, X: Any) -> Any:
        """F, for every image."""
        return self.activated(X).sum(-1)


def activated(S: Any, values: Any, p: int, nu: Any = 0.0) -> Any:
    """h^p + nu h, h = S values, patch by patch for every image."""
    h = values @ S.T
    return h**p + nu * h


def logistic(margin: Any) -> Array:
    """log(1 + e^(-y F)) at these values of y F."""
    return jnp.log(1 + jnp.exp(-margin))


class Images:
    """All values of x given y = 1, each as often as ``count``, and how many entries outside of the signal are not zero."""

    def __init__(self, x: np.ndarray, count: np.ndarray, filled: np.ndarray, room: int, shares: int) -> None:
        self.x, self.count, self.filled, self.room, self.shares = x, count, filled, room, shares

    def probabilities(self, q: Any) -> Array:
        """The probability of each, at any q."""
        half, none = powers(q / 2, self.room), powers(1 - q, self.room)
        rows = jnp.stack([half[k] * none[self.room - k] for k in range(self.room + 1)])
        return rows[self.filled] * self.count / self.shares


def every_image(C: int, L: int) -> Images:
    """Each value of x for each set that carries the signal."""
    room = C * (L - 1)
    decoys = np.array(list(product((-1, 0, 1), repeat=room)), dtype=float).reshape(-1, room)
    rows = [np.insert(decoys, [C * place] * C, 1.0, axis=1) for place in range(L)]
    filled = np.tile((decoys != 0).sum(1), L)
    return Images(np.concatenate(rows), np.ones(len(filled)), filled, room, L)


def every_type(C: int, L: int) -> Images:
    """One image for each way to fill the sets, the first of which carries the signal: order within a set does not count."""
    types = [(a, b) for a in range(C + 1) for b in range(C + 1 - a)]
    ways = [factorial(C) // (factorial(a) * factorial(b) * factorial(C - a - b)) for a, b in types]
    rows, count, filled = [], [], []
    for chosen in product(range(len(types)), repeat=L - 1):
        sets = [np.repeat((1.0, -1.0, 0.0), (a, b, C - a - b)) for a, b in (types[k] for k in chosen)]
        rows.append(np.concatenate([np.ones(C), *sets]))
        count.append(float(np.prod([ways[k] for k in chosen])))
        filled.append(sum(sum(types[k]) for k in chosen))
    return Images(np.array(rows), np.array(count), np.array(filled, dtype=int), C * (L - 1), 1)


def powers(x: Any, most: int) -> Array:
    """x to the powers 0 to ``most``, by multiplication: x may be a symbol."""
    out = [jnp.ones(())]
    for _ in range(most):
        out.append(out[-1] * x)
    return jnp.stack(out)


def same_set(C: int, L: int) -> np.ndarray:
    """One where two patches are of one set; sets are runs of patches."""
    return np.kron(np.eye(L), np.ones((C, C)))


def mistakes(margin: Any, least: float) -> Any:
    """One where y F is negative, a half where it is zero; values of size below ``least`` are zeros that were rounded."""
    return jnp.where(margin < -least, 1.0, jnp.where(margin > least, 0.0, 0.5))


def trinomial(C: int, L: int, q: Any) -> list[tuple[int, int, Array]]:
    """Numbers of sets, of L - 1, that are all 1 and all -1, with their probability."""
    r = powers(q / 2, C)[C]
    some, none = powers(r, L - 1), powers(1 - 2 * r, L - 1)
    out = []
    for a, b in product(range(L), repeat=2):
        if (rest := L - 1 - a - b) >= 0:
            out.append((a, b, ways(L - 1, a, b) * some[a + b] * none[rest]))
    return out


def bayes_error(C: int, L: int, q: Any) -> Array:
    """P(1 + n_+ < n_-) + P(1 + n_+ = n_-)/2, n the numbers of complete sets besides the signal's."""
    rows = trinomial(C, L, q)
    return sum((chance for a, b, chance in rows if 1 + a < b), jnp.zeros(())) + sum(
        (chance / 2 for a, b, chance in rows if 1 + a == b), jnp.zeros(())
    )


def tie(C: int, L: int, q: Any) -> Array:
    """P(1 + n_+ = n_-)."""
    return sum((chance for a, b, chance in trinomial(C, L, q) if 1 + a == b), jnp.zeros(()))


def ways(room: int, a: int, b: int) -> int:
    """Orders in which a entries of ``room`` are 1 and b are -1."""
    return factorial(room) // (factorial(a) * factorial(b) * factorial(room - a - b))


def sum_error(C: int, room: int, q: Any) -> Array:
    """P(C + N < 0) + P(C + N = 0)/2, N the sum of ``room`` entries outside of the signal."""
    half, none = powers(q / 2, room), powers(1 - q, room)
    out = jnp.zeros(())
    for a, b in product(range(room + 1), repeat=2):
        if a + b <= room and C + a <= b:
            out = out + ways(room, a, b) * half[a + b] * none[room - a - b] * (1.0 if C + a < b else 0.5)
    return out


def uniform_error(C: int, L: int, q: Any) -> Array:
    """The error of the sign of the sum of all patches."""
    return sum_error(C, C * (L - 1), q)
