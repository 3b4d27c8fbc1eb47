r"""One layer of linear attention with diagonal heads and positional weights, on sequences of commuting matrices.

In a common eigenbasis $s_t = \lambda^{t-1}$, coordinate by coordinate, with the eigenvalues $\lambda$ on the unit circle.
Everything that the loss knows of the heads is $C = B^T A = \sum_h b_h a_h^T$.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorax.language import Hypothesis, Size
from theorax.theorems.in_context_autoregression._complex_arrays import ComplexArray, on_circle

T = Size("T", "context length")
d = Size("d", "dimension of the tokens")

QUERY = Hypothesis("the query is the token before the last, s_(T-1)")
CIRCLE = Hypothesis("the eigenvalues of the matrices lie on the unit circle")
INDEPENDENT = Hypothesis("the eigenvalues are independent and uniform on the unit circle")
PAIRED = Hypothesis("the eigenvalues are pairs (lambda, 1/lambda), independent and uniform on the unit circle")


class DiagonalHeads(eqx.Module):
    """Heads A_h = diag(a_h), B_h = diag(b_h) with positional weights p; ``late``: one lets the query be the last token."""

    a: Float[Array, "H d"]
    b: Float[Array, "H d"]
    p: Float[Array, " T"]
    late: Any = 0

    def __call__(self, S: ComplexArray) -> ComplexArray:
        """The prediction of s_(T+1): sum over heads and positions of p_t <s_(T-1), A_h s_t> B_h s_t."""
        late = jnp.asarray(self.late)
        query = S[-1:].each(lambda part: late * part) + S[-2:-1].each(lambda part: (1 - late) * part)
        scores = (S * query.conj).each(lambda part: self.p[:, None] * (part @ self.a.T))
        return (scores.each(lambda part: part @ self.b) * S).each(lambda part: part.sum(0))

    @property
    def product(self) -> Float[Array, "d d"]:
        """C = B^T A."""
        return self.b.T @ self.a


def error(heads: DiagonalHeads, S: ComplexArray) -> Array:
    """Squared error of the prediction of the last of these tokens from the ones before it."""
    return (heads(S[:-1]) - S[-1]).squares.sum()


def spread_over(angles: Array, d: int, paired: Any) -> Array:
    """The angles of d eigenvalues: as they are, or the first half of them and their negatives, pair by pair."""
    half = angles[: d // 2]
    pairs = jnp.stack([half, -half], axis=1).reshape(-1) if d % 2 == 0 else angles
    return jnp.where(jnp.asarray(paired) == 1, pairs, angles)


def sequence(angles: Array, length: int, size: Any = 1.0) -> ComplexArray:
    """s_1, ..., s_length for eigenvalues at these angles, of modulus ``size``."""
    steps = jnp.arange(length)[:, None]
    return on_circle(steps * angles).each(lambda part: part * jnp.asarray(size) ** steps)


def roots_of_unity(order: int) -> ComplexArray:
    """The roots of unity of an order 4, 8, 16, ..., one after another, from square roots alone: right in every arithmetic."""
    cosine, sine = jnp.zeros(()), jnp.ones(())
    for _ in range((order // 4).bit_length() - 1):
        cosine, sine = jnp.sqrt((1 + cosine) / 2), jnp.sqrt((1 - cosine) / 2)
    step, first = ComplexArray(cosine, sine), [ComplexArray(jnp.ones(()), jnp.zeros(()))]
    for _ in range(order // 4 - 1):
        first.append(first[-1] * step)
    turned = lambda root: ComplexArray(-root.imag, root.real)
    quarters = [first]
    for _ in range(3):
        quarters.append([turned(root) for root in quarters[-1]])
    every = [root for quarter in quarters for root in quarter]
    return ComplexArray(jnp.stack([root.real for root in every]), jnp.stack([root.imag for root in every]))


def root_places(d: int, length: int, paired: bool, span: int) -> tuple[np.ndarray, int]:
    """Contexts of ``length`` tokens and a target whose eigenvalues are roots of unity: their places, and the order.

    Where exponents of an eigenvalue in prediction and target differ by ``span`` at most, roots of an order above that have
    the mean of the circle on each squared error.
    """
    order = max(4, 1 << span.bit_length())
    count = d // 2 if paired else d
    free = np.indices((order,) * count).reshape(count, -1).T
    powers = np.stack([free, -free], axis=2).reshape(len(free), d) if paired else free
    return (powers[:, None, :] * np.arange(length + 1)[:, None]) % order, order


def powers_of(size: Any, count: int) -> Array:
    """1, size, size^2, ..., by products alone."""
    found = [jnp.ones(())]
    for _ in range(count - 1):
        found.append(found[-1] * size)
    return jnp.stack(found)[:, None]


def exact_mean(heads: DiagonalHeads, paired: bool, size: Any = 1) -> Array:
    """The mean of the squared error over all contexts, exactly; ``size``: the modulus of the eigenvalues."""
    length = heads.p.shape[0]
    places, order = root_places(heads.a.shape[1], length, paired, 2 * length - 2)
    contexts = roots_of_unity(order)[places].each(lambda part: part * powers_of(size, length + 1))
    return jax.vmap(lambda S: error(heads, S))(contexts).sum() / len(places)


def invariants(heads: DiagonalHeads) -> dict[str, Array]:
    """The numbers that the closed forms of the loss are made of."""
    C, p = heads.product, heads.p
    others = jnp.concatenate([p[:-2], p[-1:]])
    return dict(
        rest=(others * others).sum(), last=p[-1], previous=p[-2], frobenius=(C * C).sum(), rows=(C.sum(1) ** 2).sum(),
        trace=jnp.trace(C), entries=C.sum(),
    )


def partner_invariants(heads: DiagonalHeads) -> dict[str, Array]:
    """Letters that pairs of eigenvalues add: the entries of C between the partners of a pair."""
    C, p = heads.product, heads.p
    d = C.shape[0]
    partners = np.arange(d) ^ 1
    off = jnp.stack([C[i, j] for i, j in enumerate(partners)])
    return dict(total=p[:-2].sum() + p[-1], cross=(C.sum(1) * off).sum(), partner=(off * off).sum())


def population_loss(heads: DiagonalHeads, paired: Any, late: Any) -> Array:
    """The expected squared error in closed form; ``late`` counts for the query s_T, else for s_(T-1)."""
    of, d = invariants(heads), heads.a.shape[1]
    shared = of["rest"] * of["frobenius"] + of["previous"] ** 2 * of["rows"] - 2 * of["last"] * of["trace"] + d
    # The query s_T moves the row sums of C to t = T, and nothing meets the target.
    early = of["rest"] - of["last"] ** 2 + of["previous"] ** 2
    moved = early * of["frobenius"] + of["last"] ** 2 * of["rows"] + d
    found = jnp.where(jnp.asarray(late) == 1, moved, shared)
    if d % 2:
        return found
    more = partner_invariants(heads)

    def meeting(here: Array, total: Array, squares: Array) -> Array:
        """Terms that partners add: they answer at every position with what all k give at the query's."""
        return 2 * here * total * more["cross"] + (total**2 - squares) * more["partner"]

    before = more["total"] - of["last"] + of["previous"]
    met = jnp.where(
        jnp.asarray(late) == 1,
        meeting(of["last"], before, early),
        meeting(of["previous"], more["total"], of["rest"]),
    )
    return jnp.where(jnp.asarray(paired) == 1, found + met, found)
