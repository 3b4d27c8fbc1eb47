"""Gradient descent on the mean loss with three numbers: when alpha has grown, and how far gamma - rho is by then."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from theorax.numerics.annotations import Scalar
from theorax.theorems.vit_spatial_structure import _family as family
from theorax.theorems.vit_spatial_structure import _patches as setting
from theorax.theorems.vit_spatial_structure import _starts as starts

STEPS = 160


class TwoPhases(eqx.Module):
    """Sigma_A, q, and the step of A over that of v."""

    sigma: Scalar
    q: Scalar
    ratio: Scalar


def descent(key: Array, low: Any, ratio: Any) -> TwoPhases:
    """Sigma_A between ``low`` and ``low`` + 1, q between 0.1 and 0.4."""
    return TwoPhases(low + starts.draw(key, "sigma", 0.0, 1.0), starts.draw(key, "q", 0.1, 0.4), ratio)


def observe_descent(model: TwoPhases, C: int, L: int) -> dict[str, Array]:
    """Steps of one in v, from alpha = 0.001."""
    three = family.ThreeNumbers(C, L, model.sigma, model.q, lambda h: h**3 + 0.03 * h)

    def moved(at: Any, _: Any) -> tuple[Any, Any]:
        of_alpha, own, other = three.slopes(at)
        after = at[0] - of_alpha, at[1] - model.ratio * own, at[2] - model.ratio * other
        return after, jnp.stack([after[0], after[1] - after[2]])

    at = (jnp.asarray(1e-3), jnp.zeros(()), jnp.zeros(()))
    alpha, apart = jax.lax.scan(moved, at, None, length=STEPS)[1].T
    grown = jnp.argmax(alpha >= 0.9 * alpha.max())
    return dict(early=apart[grown], late=apart[-1])


class Flow(eqx.Module):
    """Coefficients of h, h^3 and h^5, the step of A over that of v, and the share of images with signals anywhere."""

    parts: Array
    ratio: Scalar
    mixed: Scalar


def flow(key: Array, nu: Any, quintic: Any, ratio: Any, mixed: Any) -> Flow:
    """Gradient flow, without random numbers."""
    return Flow(jnp.stack([nu, 1 - quintic, quintic]), ratio, mixed)


def observe_flow(model: Flow, k: Any, C: Any, L: Any, q: Any, sigma_A: Any) -> dict[str, Array]:
    """Gamma - rho over alpha^2, as alpha goes from 1/(2 k) to 1/k."""
    C, L = C.padded, L.padded
    parts = model.parts

    def loss(at: Any) -> Array:
        S, out = family.softmax(family.member(sigma_A, at[1], at[2], C, L)), jnp.zeros(())
        for anywhere, share in ((False, 1 - model.mixed), (True, model.mixed)):
            images = starts.images_of(C, L, anywhere)
            h = at[0] * (images.x @ S.T)
            F = (h * (parts[0] + h**2 * (parts[1] + h**2 * parts[2]))).sum(1)
            out = out + share * (images.probabilities(q) * setting.logistic(F)).sum()
        return out

    def slope(alpha: Array, entries: Array) -> Array:
        of_alpha, *of_entries = jax.grad(loss)((alpha, entries[0], entries[1]))
        return model.ratio * jnp.stack(family.shares(of_entries, C, L)) / of_alpha

    count = 8

    def moved(place: Any, at: Array) -> Array:
        h = 0.5 / k.value / count
        alpha = 0.5 / k.value + place * h
        one = slope(alpha, at)
        two = slope(alpha + h / 2, at + h / 2 * one)
        three = slope(alpha + h / 2, at + h / 2 * two)
        four = slope(alpha + h, at + h * three)
        return at + h / 6 * (one + 2 * two + 2 * three + four)

    end = jax.lax.fori_loop(0, count, moved, jnp.zeros(2))
    return dict(ahead=(end[0] - end[1]) * k.value**2)
