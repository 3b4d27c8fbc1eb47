"""Two tokens in the plane under LayerNorm: the map of the second one, its fixed points, and the course of the first one."""

from __future__ import annotations

from math import pi as PI
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from theorax.numerics.annotations import Entries
from theorax.numerics.keys import named
from theorax.theorems.masks_and_layernorm._masked_attention import CAUSAL, COMPLETE, MaskedLayer, masks_of, unit_rows


class TokenPair(eqx.Module):
    """A layer that all depths share, the first token, and angles of the second one."""

    layer: MaskedLayer
    start: Entries[Any, " 2"]  # the first token
    angles: Entries[Any, " *angles"]
    points: Entries[Any, "points 2"]  # vectors of the left half plane
    corner: Entries[Any, "2 2"]  # where the values hold b


def tokens(key, a, b, c, mask, scores, layernorm, transposed, moved, doubled):
    """``scores`` = 1 lets tokens attend to those near them; ``moved`` = 1 draws the first token, with |u| > 1/2."""
    masks = masks_of((CAUSAL, COMPLETE), 2)
    W = jnp.array([[a, b], [0 * a, doubled * c]])
    W = jnp.where(transposed == 1, W.T, W)
    layer = MaskedLayer(3 * scores * jnp.eye(2), jnp.eye(2), W, masks[mask], layernorm)
    angle = jax.random.uniform(named(key, "first"), minval=-PI / 3, maxval=PI / 3)
    start = jnp.where(moved == 1, jnp.stack([jnp.cos(angle), jnp.sin(angle)]), jnp.array([0.0, 1.0]))
    angles = jax.random.uniform(named(key, "angles"), (256,), maxval=2 * PI)
    points = jax.random.normal(named(key, "points"), (3, 2))
    corner = jnp.array([[0.0, 1.0], [0.0, 0.0]])
    return TokenPair(
        layer, start, angles, points.at[:, 0].set(-jnp.exp(points[:, 0])), jnp.where(transposed == 1, corner.T, corner)
    )


def on_circle(angle):
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)])


def circle(model, t):
    def follow(angle):
        X = jnp.stack([model.start, on_circle(angle)])
        X = jax.lax.fori_loop(0, t.value, lambda _, X: model.layer(X), X)
        return jnp.abs(X[0, 0] * X[1, 1] - X[0, 1] * X[1, 0])

    determinants = jax.vmap(follow)(model.angles)
    return dict(share=(determinants > 0.2).mean(dtype=float), largest=determinants.max())


def fixed_points(model, a, b, c):
    """Slopes of the map of the second token, the first one at the pole."""
    pole = jnp.array([0.0, 1.0])

    def slope(x):
        """The image of a step along the circle, along the circle again."""
        along = jnp.stack([-x[1], x[0]])
        return jnp.vdot(jax.jvp(lambda x: model.layer(jnp.stack([pole, x]))[1], (x,), (along,))[1], along)

    root = b * jnp.sqrt(b**2 - a * (2 * c - a))
    lower, upper = ((-c * (c - a) + sign * root) / ((c - a) ** 2 + b**2) for sign in (-1, 1))
    on_the_line = lambda v: jnp.stack([-(c + (c - a) * v) / b, v])
    found = dict(lower=slope(on_the_line(lower)), upper=slope(on_the_line(upper)), consensus=slope(pole))
    # Fewer than a hundred operations on numbers below eight, none of them near a cancellation of more than four bits.
    return found | {f"{name}_error": 2.0**-39 for name in found}


def on_line(model):
    """Unit vectors as second tokens, each with the entry b for which it lies on the line."""
    layer, points, after = model.layer, unit_rows(model.points), []
    a, c = layer.W_V[0, 0], layer.W_V[1, 1]
    for x in points:
        W = layer.W_V * np.eye(2, dtype=int) - (c + (c - a) * x[1]) / x[0] * model.corner
        tokens = jnp.stack([model.start, x])
        after.append(MaskedLayer(layer.W_Q, layer.W_K, W, layer.mask, layer.layernorm)(tokens)[1])
    return dict(before=points, after=jnp.stack(after))


def first_token(model, t):
    X = jnp.stack([model.start, on_circle(model.angles[0])])
    return dict(first=jnp.abs(jax.lax.fori_loop(0, t.value, lambda _, X: model.layer(X), X)[0, 0]))
