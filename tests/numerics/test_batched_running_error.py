"""Instances that are run together have the values and the error bounds, to the bit, that each has alone."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics.arithmetics import Running, RunningError, UndecidedComparison, evaluate
from theorax.numerics.arithmetics import batched_running_error as batched
from theorax.numerics.arithmetics.flat_program import KnownPrograms

COUNT = 7


def attention(x, w):
    scores = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((4, 4))) > 0, x @ w @ x.T, -jnp.inf))
    return {"out": scores @ x, "rows": scores.sum(1), "size": jnp.arange(4) * x.shape[1]}


def repeated(x, w):
    stream, kept = jax.lax.scan(lambda c, row: (jnp.tanh(c @ w) + row, c.sum()), x[0], x)
    return stream, kept, jax.lax.fori_loop(0, 3, lambda _, c: c * c / 2, x)


def linear(x, w):
    square = x @ x.T + 5 * jnp.eye(4)
    return jnp.linalg.solve(square, x), jnp.linalg.cholesky(square), jnp.linalg.inv(w + 9 * jnp.eye(3))


def moved(x, w):
    return (
        jnp.cumsum(x, 0)[::-1], jnp.cumsum(w, 1), jnp.maximum(x[:3], w), jnp.clip(x, -0.5, 0.5).max(0),
        x.at[1].set(w[0]), x.at[jnp.array([0, 0, 2])].add(w), jnp.abs(x).min(), jnp.abs(x) ** w[0, 0], x**3, x.size,
        0 * x @ w, jnp.zeros((0, 3)) @ w, jnp.prod(x), 1 / (2 + jnp.sin(x)), jax.scipy.special.erf(x), x[1, 2],
    )  # fmt: skip


PROGRAMS = {program.__name__: program for program in (attention, repeated, linear, moved)}


def instances(count: int = COUNT, sparse: bool = False) -> list[tuple[np.ndarray, np.ndarray]]:
    draws = np.random.default_rng(0)
    found = [(draws.normal(size=(4, 3)), draws.normal(size=(3, 3))) for _ in range(count)]
    if sparse:  # a whole operand that is zero makes a product exact, in this instance alone
        found[2] = np.zeros((4, 3)), found[2][1]
    return found


def same_bits(one, other) -> None:
    leaves, others = (jax.tree_util.tree_leaves(tree) for tree in (one, other))
    assert jax.tree_util.tree_structure(one) == jax.tree_util.tree_structure(other)
    for x, y in zip(leaves, others, strict=True):
        if isinstance(x, Running):
            assert x.value.shape == y.value.shape
            assert x.value.tobytes() == y.value.tobytes()
            assert x.error.tobytes() == y.error.tobytes()
            # The supply of names goes on; which numbers share one is what a program sees.
            assert pattern(x.names) == pattern(y.names)
        else:
            assert np.array_equal(x, y)
            assert np.asarray(x).dtype == np.asarray(y).dtype


def pattern(names: np.ndarray) -> list[int]:
    flat = names.reshape(-1).tolist()
    return [flat.index(name) for name in flat]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_instances_have_the_bits_that_they_have_alone(name, dtype):
    domain, sparse = RunningError(dtype), name in ("attention", "repeated")
    batch = instances(sparse=sparse)
    together = batched.evaluate_batch(PROGRAMS[name], batch, domain, KnownPrograms())
    assert len(together) == COUNT
    for found, arguments in zip(together, batch, strict=True):
        same_bits(found, evaluate(PROGRAMS[name], arguments, domain))


def test_branches_that_part_are_not_run_together():
    def relu(x, w):
        return jnp.where(x > 0, x, 0.0)

    batch = instances()
    assert batched.evaluate_batch(relu, batch, RunningError(), KnownPrograms()) == []
    alike = [(np.abs(x), w) for x, w in batch]
    assert len(batched.evaluate_batch(relu, alike, RunningError(), KnownPrograms())) == COUNT


def test_an_instance_that_cannot_be_followed_stops_the_batch_and_no_other_instance():
    def ordered(x, w):
        return jnp.sign(x[0, 0] - x[0, 0] * (1 + w[0, 0]))

    batch = [(np.ones((4, 3)), np.full((3, 3), size)) for size in (1.0, 2.0, 2.0**-60)]
    domain = RunningError()
    assert batched.evaluate_batch(ordered, batch, domain, KnownPrograms()) == []
    for arguments in batch[:2]:
        assert evaluate(ordered, arguments, domain).value == -1
    with pytest.raises(UndecidedComparison):
        evaluate(ordered, batch[2], domain)


def test_other_whole_numbers_and_other_programs_are_not_run_together():
    def power(x, count):
        return x * count

    x = np.ones(3)
    assert batched.evaluate_batch(power, [(x, np.array(2)), (x, np.array(3))], RunningError(), KnownPrograms()) == []
    assert batched.evaluate_batch(power, [(x, 2), (x, 3)], RunningError(), KnownPrograms()) == []
    assert batched.evaluate_batch(power, [(x, np.array(2))] * 2, RunningError(), KnownPrograms())


def test_no_more_instances_than_the_largest_array_allows():
    side = 40

    def square(x):
        return jax.lax.scan(lambda c, _: (c @ c, None), x[0], None, length=2)[0]

    batch = [(np.full((1, side, side), 1.0 / (side + number)),) for number in range(20)]
    found = batched.evaluate_batch(square, batch, RunningError(), KnownPrograms())
    assert len(found) == batched._ENTRIES // side**2 < len(batch)
    assert (
        batched.evaluate_batch(lambda x: jnp.outer(x, x), [(np.ones(200),)] * 2, RunningError(), KnownPrograms()) == []
    )
