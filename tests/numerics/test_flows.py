"""Flows of fields with known solutions stay within the declared error, padded or not."""

# ruff: noqa: E402  (the precision is set before anything is traced)
import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics import flows
from theorax.numerics.extents import Extent, literal


@pytest.mark.parametrize("method", [flows.METHOD, flows.CHEAP])
@pytest.mark.parametrize("count", [8, 16])
def test_a_linear_flow_is_off_by_less_than_declared(rng, method, count):
    a, x = rng.uniform(0.5, 2.0), rng.normal(size=3)
    nodes, error = flows.flow(lambda n, s, x: a * jnp.cos(s) * x, jnp.asarray(x), literal(count), method=method)
    exact = np.exp(a * np.sin(np.arange(count + 1) / count))[:, None] * x
    assert 0 < error < 1e-3
    assert np.max(np.linalg.norm(np.asarray(nodes) - exact, axis=1)) <= error


def test_a_field_may_jump_at_the_nodes():
    """x' = (-1)^n on the n-th interval: up and down by 1/N, exactly but for rounding."""
    nodes, error = flows.flow(lambda n, s, x: 1.0 - 2.0 * (n % 2) + 0 * x, jnp.zeros(1), literal(6))
    assert (
        np.max(np.abs(np.asarray(nodes)[:, 0] - np.arange(7) % 2 / 6)) <= error < 1e-13
    )  # forty steps of one rounding


def test_padding_changes_nothing_and_is_zero():
    field = lambda n, s, x: jnp.sin(x + s)  # noqa: E731
    plain, padded = (flows.crossed(field, jnp.ones(2), N, 1) for N in (literal(5), Extent(jnp.int32(5), 9)))
    assert np.array_equal(plain, padded[:6])
    assert not np.any(padded[6:])


def test_distances_are_those_of_the_worst_node():
    these, those = jnp.zeros((3, 2)), jnp.asarray([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]])
    assert flows.apart(these, those) == 5
    assert flows.largest(those) == 5
