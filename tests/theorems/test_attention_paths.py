"""Attended inputs against the network whose paths they are; the minimum of the action and posterior means."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics import platform
from theorax.theorems.attention_paths_statmech import _hidden_markov as task
from theorax.theorems.attention_paths_statmech._layered_paths import DeepPaths, drawn_deep
from theorax.theorems.attention_paths_statmech._paths import Order
from theorax.theorems.attention_paths_statmech._posterior import posterior_means
from theorax.theorems.attention_paths_statmech._samplers import LabelledInputs, attended_by, outputs_by_paths

platform.enable()


@pytest.mark.parametrize("seed", [1, 2])
def test_attended_inputs_of_the_task_are_those_of_a_network(seed):
    # Scores of order one: weights are then far from zero and one, and every path sees every token.
    heads = [task.random_head(jax.random.key(10 * seed + head)) / task.SHARPNESS for head in range(4)]
    layers = jnp.stack(heads[:2]), jnp.stack(heads[2:])
    _, x = task.sequence(jax.random.key(seed))
    queries = tuple(task.SHARPNESS * scores for scores in layers)
    network = DeepPaths(jnp.zeros((1, task.INPUTS)), (), jnp.zeros(1), queries)
    # Sums of 31 products of weights in [0, 1] and of entries below twenty: rounding stays below 1e-12.
    assert np.allclose(task.attended_by(layers, x), network.attended(x), rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", [1, 2])
def test_outputs_by_paths_are_those_of_the_network(seed):
    key, other = jax.random.split(jax.random.key(seed))
    network = drawn_deep(key, (4, 5), 2, 3)
    problem = LabelledInputs(jax.random.normal(other, (5, 3, 3)), jnp.zeros(5), jnp.asarray(1.0))
    found = outputs_by_paths(network, attended_by(network, problem))
    # Sums of 120 products of normal numbers: rounding stays below 1e-12.
    assert np.allclose(found, problem.outputs(network), rtol=0, atol=1e-12)


def test_the_head_without_a_share_has_the_least_score():
    order = jnp.diag(jnp.array([3.0, 0.0, 1.0, 0.0]))
    assert task.head_scores(order).tolist() == [0.75, 0.25, 1.0, 0.0]
    assert task.pruned(order).tolist() == np.diag([2.0, 0.0, 2.0, 0.0]).tolist()


def posed(heads, depth, width):
    """Deterministic inputs of all paths, six examples and three new inputs, and their labels."""
    paths = heads**depth
    h, mu, i = (np.arange(k).reshape(shape) for k, shape in ((paths, (-1, 1, 1)), (9, (1, -1, 1)), (5, (1, 1, -1))))
    attended = np.sin(1.3 * (mu + 1) * (i + 1) + 0.7 * h) + 0.5 * np.cos(0.9 * (mu + 1) + (h + 1) * i)
    kernels = jnp.asarray(np.einsum("pui,qvi->pquv", attended, attended) / 5)
    labels, sizes = jnp.array([1.0, -1, 1, 1, -1, -1]), tuple(heads ** (layer + 1) for layer in range(depth))
    order = Order(kernels[:, :, :6, :6], labels, jnp.asarray(0.1), jnp.full(depth + 1, float(width)), sizes)
    return order, kernels[:, :, 6:, :6]


# Values of an independent minimisation by quasi-Newton steps, to eight places.
@pytest.mark.parametrize(
    ("depth", "u_a", "first", "means"),
    [
        (1, 1.08998341, (1.24093954, -0.05934570), (-0.94371887, 0.59608586, 1.39673481)),
        (2, 1.19668101, (1.43033218, 0.13148214), (-1.14558263, 0.08673726, 0.87715975)),
    ],
)
def test_the_minimum_of_the_action_is_that_of_another_minimiser(depth, u_a, first, means):
    order, across = posed(2, depth, 20)
    found, matrices, move = order.saddle()
    assert move < 1e-10
    assert np.allclose([found, *matrices[-1][0, :2]], [u_a, *first], rtol=0, atol=2e-8)
    assert np.allclose(order.predicted(matrices[-1], across), means, rtol=0, atol=2e-8)


# Averages of 2.4 million networks weighted by the labels' density; four standard errors are 0.012 and 0.0024 of U,
# 0.0024 and 0.0008 of the prediction. The rule adds 0.01 at width five and 0.0004 at width twenty.
@pytest.mark.parametrize(
    ("width", "U", "means", "tolerances"),
    [
        (5, (2.159, -0.469, 1.326), (-1.0816, 0.7378, 1.5694), (0.022, 0.004)),
        (20, (1.2539, -0.0595, 1.0531), (-0.9216, 0.5860, 1.3623), (0.003, 0.001)),
    ],
)
def test_posterior_means_are_those_of_weighted_networks(width, U, means, tolerances):
    order, across = posed(2, 1, width)
    found = posterior_means(lambda U: jnp.concatenate([U[jnp.triu_indices(2)], order.predicted(U, across)]), order)
    assert np.allclose(found[:3], U, rtol=0, atol=tolerances[0])
    assert np.allclose(found[3:], means, rtol=0, atol=tolerances[1])
