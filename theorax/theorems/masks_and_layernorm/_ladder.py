"""Tokens that stand still under LayerNorm: the ladder of tokens of one value matrix, further tokens, and multipliers."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from theorax.numerics.annotations import Entries
from theorax.numerics.keys import named
from theorax.theorems.masks_and_layernorm._masked_attention import CAUSAL, COMPLETE, MaskedLayer, mask_of, unit_rows

TOKENS = 6


class Ladder(eqx.Module):
    """A causal layer with values I + w S, signs of the c_k, and what a control does to the tokens."""

    layer: MaskedLayer
    signs: Entries[Any, " d"]
    right: Any = 0  # one shifts tokens to the right
    other: Any = 0  # one takes other tokens for the further ones

    def tokens(self, w, c):
        """x_1, x_2, ..., one for each sign."""
        d = len(self.signs)
        last, left, right = np.eye(d, dtype=int)[d - 1], np.eye(d, k=-1, dtype=int), np.eye(d, k=1, dtype=int)
        rows = [self.signs[0] * self.signs[0] * last]
        for sign in self.signs[1:]:
            rows.append(-(rows[-1] @ (left * (1 - self.right) + right * self.right)) / w + sign * c * last)
        return jnp.stack(rows)


def ladder(key, d, w, N, signs, controls):
    mask, scores, layernorm, transposed, right, other = controls
    masks = jnp.stack([jnp.asarray(mask_of(kind, N)) for kind in (CAUSAL, COMPLETE)])
    W = jnp.eye(d) + w * jnp.eye(d, k=1)
    W = jnp.where(transposed == 1, W.T, W)
    layer = MaskedLayer(scores * jnp.eye(d), jnp.eye(d), W, masks[mask], layernorm)
    return Ladder(layer, signs, right, other)


def whole(key, d, w, mask, scores, layernorm, transposed, right, other):
    signs = jax.random.rademacher(named(key, "signs"), (d,)).astype(float)
    return ladder(key, d, w, d, signs, (mask, scores, layernorm, transposed, right, other))


def with_signs(key, d, w, e_2, e_3, mask, scores, layernorm, transposed, right, other):
    signs = jnp.stack([jnp.ones(()), jnp.asarray(e_2, float), jnp.asarray(e_3, float)])
    return ladder(key, d, w, d, signs, (mask, scores, layernorm, transposed, right, other))


def alternating(key, d, w, mask, scores, layernorm, transposed, right, other):
    signs = (-1.0) ** jnp.arange(d)
    return ladder(key, d, w, TOKENS, signs, (mask, scores, layernorm, transposed, right, other))


def stand(model, w):
    X, careless = model.tokens(w, jnp.sqrt(1 - 1 / w**2)), model.tokens(w, jnp.sqrt(1 - 1 / w))
    d = len(model.signs)
    place = np.add.outer(np.arange(d), np.arange(d))
    power = jnp.stack([(-1 / w) ** row * np.ones(d, dtype=int) for row in range(d)])
    further = jnp.stack([w ** (-row - 1) * np.ones(d, dtype=int) for row in range(d)])
    at, upto = (place == d - 1).astype(int), (place <= d - 1).astype(int)
    return dict(
        after=model.layer(X),
        before=X,
        sums=model.layer.weights(X) @ X @ model.layer.W_V,
        scaled=X / np.maximum(np.arange(1, d + 1), 1)[:, None],
        lengths=(X * X).sum(1),
        careless=(careless * careless).sum(1),
        ones=(X * 0).sum(1) + 1,
        leading=X * upto,
        powers=power * at,
        reciprocal=further * at,
    )


def beyond(model, w, k):
    X, W, rows, total = model.tokens(w, jnp.sqrt(1 - 1 / w**2)), model.layer.W_V, [], jnp.zeros(4)
    for place in range(TOKENS):
        token = lambda m, total=total: jnp.linalg.solve((m + 1) * jnp.eye(4) - W.T, total @ W)  # noqa: E731

        def halve(_, ends, token=token):
            middle = (ends[0] + ends[1]) / 2
            long = (token(middle) ** 2).sum() > 1
            return jnp.where(long, middle, ends[0]), jnp.where(long, ends[1], middle)

        m = jax.lax.fori_loop(0, 60, halve, (jnp.asarray(0.01), jnp.asarray(100.0)))[0]
        apart = unit_rows(jnp.cos((place + 1.0) * jnp.arange(1.0, 5.0))[None])[0]
        further = jnp.where(model.other == 1, apart, token(m))
        rows.append(jnp.where(place < k, X[min(place, 3)], further))
        total = total + rows[-1]
    X = jnp.stack(rows)
    # Sixty halvings leave 10^(-16), conditions of the systems stay below 10^4.
    return dict(
        moved=jnp.abs(model.layer(X) - X).max(),
        moved_error=1e-9,
        rank=(jnp.linalg.svd(X, compute_uv=False) > 1e-8).sum().astype(float),
    )


def multipliers(model, w):
    X = model.tokens(w, jnp.sqrt(1 - 1 / w**2))
    M = jax.jacfwd(lambda x: model.layer(jnp.stack([X[0], X[1], x]))[2])(X[2])
    P = jnp.eye(3) - jnp.outer(X[2], X[2])
    M = P @ M @ P
    found = dict(trace=jnp.trace(M), product=(jnp.trace(M) ** 2 - jnp.trace(M @ M)) / 2)
    # A few hundred operations on numbers below ten.
    return found | {f"{name}_error": 2.0**-39 for name in found}
