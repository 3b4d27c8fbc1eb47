"""The inputs that paths bring to the last token, against the network whose paths they are."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics import platform
from theorax.theorems.attention_paths_statmech import _hidden_markov as task
from theorax.theorems.attention_paths_statmech._layered_paths import DeepPaths, drawn_deep
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
