"""Residual networks forth and back: literal loops beside the library's, gradients that need no storage."""

# ruff: noqa: E402  (the precision is set before anything is traced)
import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics.extents import Extent, literal
from theorax.theorems.resnet_discretizes_ode._residual import (
    Euler,
    Heun,
    activations,
    forth_and_back,
    last,
    last_without_storage,
)

D, N = 3, 6
ROUNDED = 2.0**-45  # a few hundred roundings of numbers of order one


def layer(W, x):
    return jnp.tanh(W @ x)


@pytest.fixture
def network(rng):
    return jnp.asarray(rng.normal(size=(N, D, D))), jnp.asarray(rng.normal(size=D))


def literal_loop(scheme, weights, x, h):
    """The schemes as they are printed."""
    nodes = [x]
    for n in range(N if isinstance(scheme, Euler) else N - 1):
        slope = layer(weights[n], x)
        if isinstance(scheme, Heun):
            slope = (slope + layer(weights[n + 1], x + h * slope)) / 2
        x = x + h * slope
        nodes.append(x)
    back = [x]
    for n in reversed(range(len(nodes) - 1)):
        slope = layer(weights[n if isinstance(scheme, Euler) else n + 1], x)
        if isinstance(scheme, Heun):
            slope = (slope + layer(weights[n], x - h * slope)) / 2
        x = x - h * slope
        back.append(x)
    return jnp.stack(nodes), jnp.stack(back[::-1])


@pytest.mark.parametrize("scheme", [Euler(layer), Heun(layer)])
def test_forth_and_back_is_the_literal_loop(network, scheme):
    weights, x = network
    nodes, back = forth_and_back(scheme, weights, x, literal(N), 1 / N)
    one, other = literal_loop(scheme, weights, x, 1 / N)
    assert np.max(np.abs(nodes - one)) < ROUNDED
    assert np.max(np.abs(back - other)) < ROUNDED
    assert np.max(np.abs(last(scheme, weights, x, literal(N), 1 / N) - one[-1])) < ROUNDED


def test_activations_are_those_of_eulers_scheme(network):
    weights, x = network
    nodes = activations(lambda n, x: layer(weights[n], x), x, literal(N))
    assert np.max(np.abs(nodes - literal_loop(Euler(layer), weights, x, 1 / N)[0])) < ROUNDED


@pytest.mark.parametrize("scheme", [Euler(layer), Heun(layer)])
def test_the_gradient_without_storage_is_that_at_the_recovered_activations(network, scheme):
    """Every layer's own vector-Jacobian product, at the activations that come back."""
    weights, x = network
    _, back = forth_and_back(scheme, weights, x, literal(N), 1 / N)
    p, expected = jnp.ones(D), jnp.zeros_like(weights)
    for n in reversed(range(len(back) - 1)):
        local = scheme.local(weights, n)
        by_weights, p = jax.vjp(lambda local, x: scheme.forwards(local, x, 1 / N), local, back[n])[1](p)
        for i, part in enumerate(by_weights):
            expected = expected.at[n + i].add(part)
    found = jax.grad(lambda w: jnp.sum(last_without_storage((w, x), scheme, literal(N), 1 / N)))(weights)
    assert np.max(np.abs(found - expected)) < ROUNDED


def test_the_gradient_without_storage_is_exact_where_recovery_is(rng):
    """Layers that ignore their input are recovered exactly."""
    weights, x = jnp.asarray(rng.normal(size=(N, D))), jnp.asarray(rng.normal(size=D))
    scheme = Euler(lambda W, x: jnp.sin(W))
    ways = (
        lambda w: last(scheme, w, x, literal(N), 1 / N),
        lambda w: last_without_storage((w, x), scheme, literal(N), 1 / N),
    )
    one, other = (jax.grad(lambda w, way=way: jnp.sum(way(w) ** 2))(weights) for way in ways)
    assert np.max(np.abs(one - other)) < ROUNDED


def test_tied_weights_collect_the_gradients_of_all_layers(network):
    weights, x = network
    tied = weights[:1]
    repeated = jnp.repeat(tied, N, axis=0)
    gradient = jax.grad(lambda w: jnp.sum(last_without_storage((w, x), Euler(layer), literal(N), 1 / N)))
    assert np.max(np.abs(gradient(tied)[0] - gradient(repeated).sum(0))) < ROUNDED


def test_padding_changes_nothing(network):
    weights, x = network
    padded = jnp.concatenate([weights, jnp.full((3, D, D), jnp.nan)])
    deep = Extent(jnp.int32(N), N + 3)
    assert (
        np.max(np.abs(last(Euler(layer), padded, x, deep, 1 / N) - last(Euler(layer), weights, x, literal(N), 1 / N)))
        < ROUNDED
    )
    nodes = forth_and_back(Euler(layer), padded, x, deep, 1 / N)[0]
    assert not np.any(nodes[N + 1 :])
