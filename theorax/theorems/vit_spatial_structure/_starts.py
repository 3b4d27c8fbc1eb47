"""Layers before they are trained, and the gradient of A there: at a small v, and at any v."""

from __future__ import annotations

from itertools import combinations, product

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from theorax.numerics.keys import named
from theorax.theorems.vit_spatial_structure import _patches as setting
from theorax.theorems.vit_spatial_structure._patches import PositionalAttention


def images_of(C, L, mixed):
    """Images of fixed sets; ``mixed``: of any C patches, each choice as likely."""
    fixed = setting.every_image(C, L)
    if not mixed:
        return fixed
    count = len(fixed.x) // L
    decoys, chosen = fixed.x[:count, C:], list(combinations(range(C * L), C))
    x = np.ones((len(chosen), count, C * L))
    for place, signal in enumerate(chosen):
        x[place][:, [j for j in range(C * L) if j not in signal]] = decoys
    filled = np.tile(fixed.filled[:count], len(chosen))
    return setting.Images(x.reshape(-1, C * L), np.ones(len(filled)), filled, fixed.room, len(chosen))


def gap_of(slopes, C):
    """Of the gradient: a pair in two sets less a pair in one."""
    return slopes[0, C] - slopes[0, 1]


def draw(key, name, low, high, *shape):
    return jax.random.uniform(named(key, name), shape, minval=low, maxval=high)


def loss_slopes(layer, images, q):
    chance = images.probabilities(q)

    def loss(A):
        F = lambda y: PositionalAttention(A, layer.v, layer.p, layer.nu)(y * images.x[..., None])
        return (chance * (setting.logistic(F(1)) + setting.logistic(-F(-1)))).sum() / 2

    return jax.grad(loss)(layer.A)


class SmallStart(eqx.Module):
    """A, and how much of the layer has p = 5 for 3, and of the images signals on any patches."""

    A: jax.Array
    quintic: jax.Array
    mixed: jax.Array


def small_start(key, C, L, sigma_A, quintic, off, mixed):
    D = C.padded * L.padded
    return SmallStart(sigma_A * jnp.eye(D) + jnp.zeros((D, D)).at[0, 1].set(off), quintic, mixed)


def observe_small(start, k, C, L, q):
    """k^3 times the gap of the loss's slopes in A, D x D, at the step 1/k."""
    C, L = C.padded, L.padded
    parts = {3: 1 - start.quintic, 5: start.quintic}, {False: 1 - start.mixed, True: start.mixed}
    slopes = jnp.zeros_like(start.A)
    for (p, part), (mixed, of_images) in product(parts[0].items(), parts[1].items()):
        layer = PositionalAttention(start.A, jnp.ones(1) / k.value, p, 0.03)
        slopes = slopes + part * of_images * loss_slopes(layer, images_of(C, L, mixed), q)
    return dict(gap=gap_of(slopes, C) * k.value**3)


def any_start(key, C, L, p, uneven, dim):
    """A circulant S, which ``uneven`` spoils; ``dim``: how much the signal of the first set is weakened."""
    row, other = draw(key, "row", -2.0, 2.0, C * L), draw(key, "A", -2.0, 2.0, C * L, C * L)
    A = jnp.stack([jnp.roll(row, i) for i in range(C * L)]) + uneven * other
    return PositionalAttention(A, draw(key, "alpha", 0.2, 3.0, 1), int(p), 0.5), draw(key, "q", 0.1, 0.9), dim


def observe_any(model, C, L):
    """Slopes of the loss in A, D x D, of the layer and of the same with p = 3."""
    layer, rate, dim = model
    images = setting.every_image(C, L)
    images.x = images.x * (1 - dim * (jnp.arange(C * L) < C))
    cubed = PositionalAttention(layer.A, layer.v, 3, layer.nu)
    return dict(slopes=loss_slopes(layer, images, rate), cubed=loss_slopes(cubed, images, rate))
