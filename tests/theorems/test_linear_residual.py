"""Linear residual networks: gradients from scans beside those of automatic differentiation, and training."""

# ruff: noqa: E402  (the precision is set before anything is traced)
import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics.extents import Extent, literal
from theorax.theorems.resnet_discretizes_ode import _linear_residual as linear

D = 3
ROUNDED = 2.0**-45  # a few hundred roundings of numbers of order one


@pytest.fixture
def network(rng):
    return jnp.asarray(rng.normal(size=(5, D, D))), jnp.asarray(rng.normal(size=(D, D)))


def test_gradients_are_those_of_the_loss(network):
    theta, B = network
    expected = jax.grad(lambda theta: linear.loss(theta, B, literal(5)))(theta)
    assert np.max(np.abs(linear.gradients(theta, B, literal(5)) - expected)) < 100 * ROUNDED  # of order a hundred


def test_padding_changes_nothing_and_stays_zero(network):
    theta, B = network
    padded, depth = jnp.concatenate([theta, jnp.zeros((3, D, D))]), Extent(jnp.int32(5), 8)
    found = linear.gradients(padded, B, depth)
    assert np.max(np.abs(found[:5] - linear.gradients(theta, B, literal(5)))) < 100 * ROUNDED
    assert not np.any(found[5:])
    assert not np.any(linear.steps_in_depth(padded, depth)[4:])


def test_surroundings_multiply_to_the_whole(network):
    theta, _ = network
    after, before, product = linear.surroundings(theta, literal(5))
    W = linear.layers(theta, literal(5))
    for n in range(5):
        assert np.max(np.abs(after[n] @ W[n] @ before[n] - product)) < 10 * ROUNDED


def test_flow_and_descent_follow_the_gradient():
    """One layer: theta' = -2 (I + theta - B), a linear equation; descent multiplies by 1 - 2 eta."""
    B = jnp.eye(D) + 0.1 * jnp.ones((D, D))
    shown, error = linear.trained(jnp.zeros((1, D, D)), B, literal(1), 4, 2.0, 2)
    exact = (1 - np.exp(-2 * np.linspace(0, 2, 5)))[:, None, None, None] * np.asarray(B - jnp.eye(D))
    assert np.max(linear.norms(shown - exact)) <= error < 1e-6
    assert np.max(np.abs(linear.losses(shown, B, literal(1)) - 0.09 * np.exp(-4 * np.linspace(0, 2, 5)))) <= error
    found = linear.descended(jnp.zeros((1, D, D)), B, literal(1), 0.1, 3)
    assert np.max(np.abs(found[0] - (1 - 0.8**3) * (B - jnp.eye(D)))) < ROUNDED
