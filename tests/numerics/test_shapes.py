"""What annotations say of shapes and dtypes is checked at every call, in modules that state them."""

from __future__ import annotations

import inspect

import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import TypeCheckError

from theorax.numerics import kernel_attention, keys
from theorax.theorems.causal_kernel_descent import _descent
from theorax.theorems.mind_the_gap._literal_networks import Weighted


def test_points_of_two_dimensions_have_no_kernel():
    with pytest.raises(TypeCheckError, match="'Y'"):
        kernel_attention.Softmax().kernel(jnp.ones((4, 3)), jnp.ones((4, 2)))


def test_whole_numbers_are_no_floats():
    with pytest.raises(TypeCheckError, match="'products'"):
        _descent.kernel(jnp.ones((2, 2), int), 1)


def test_a_vector_is_no_number():
    for number in (1, 0.5, True, jnp.ones(()), np.ones((), np.int32)):
        _descent.kernel(jnp.ones((2, 2)), number)
    with pytest.raises(TypeCheckError, match="'exponential'"):
        _descent.kernel(jnp.ones((2, 2)), jnp.ones(2))


def test_a_module_of_a_theorem_is_checked_when_built():
    with pytest.raises(TypeCheckError, match="'weights'"):
        Weighted(jnp.ones((2, 3)))


def test_a_checked_function_keeps_its_signature():
    """Experiments read the names of a model's letters off its builder."""
    assert list(inspect.signature(keys.named).parameters) == ["key", "name", "indices"]
