"""The use of keys in a program: what is refused, and what programs may do."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics.key_use import key_use, traced_otherwise, use_by
from theorax.numerics.keys import named

normal, split, fold = jax.random.normal, jax.random.split, jax.random.fold_in


def use(program):
    closed, out = jax.make_jaxpr(program, return_shape=True)(jax.random.key(0))
    return key_use(closed, [True], [str(at) for at in range(len(jax.tree.leaves(out)))])


def words(program):
    return lambda key: program(jax.random.key_data(key))


def walk(key):
    def step(key, _):
        key, own = split(key)
        return key, normal(own)

    return jax.lax.scan(step, key, length=3)[1]


def walked(key, steps):
    """A key after so many steps, each a number folded in."""
    return normal(jax.lax.fori_loop(0, steps, lambda _, key: fold(key, 0), key))


def counted(steps):
    return jax.lax.fori_loop(0, steps, lambda _, x: x + 1, 0)


@pytest.mark.parametrize(
    "program",
    [
        lambda key: normal(split(key)[0]) + normal(split(fold(key, 1))[1]),
        lambda key: jax.vmap(normal)(split(key, 4)),
        lambda key: jax.lax.fori_loop(0, 4, lambda i, x: x + normal(fold(key, i)), 0.0),
        lambda key: jax.lax.cond(True, lambda: normal(key), lambda: 1 + normal(key)),
        lambda key: jax.lax.scan(lambda x, own: (x + normal(own), 0.0), 0.0, split(key, 3))[0],
        lambda key: jax.random.poisson(key, 2.0),
        lambda key: jax.random.binomial(key, 5.0, 0.5),
        words(lambda key: normal(split(key)[0]) + normal(split(key, 2)[1] if False else fold(key, 3))),
        walk,
        lambda key: normal(fold(key, 1)) + normal(fold(key, 2)),
        lambda key: normal(named(key, "weights")) + 2 * normal(named(key, "weights")),
        lambda key: walked(key, 4) + walked(key, 5),
        lambda key: normal(fold(key, counted(4))) + normal(fold(key, counted(5))),
        lambda key: jax.vmap(lambda i: normal(fold(key, i)))(jnp.arange(3)).sum() + normal(fold(key, 3)),
        lambda key: jax.lax.fori_loop(0, 4, lambda i, x: x + normal(fold(fold(key, i), i + 1)), 0.0),
    ],
)
def test_each_key_is_used_once(program):
    assert use(program).twice is None and not use(program).foreign


@pytest.mark.parametrize(
    "program",
    [
        lambda key: normal(key) + normal(key),
        lambda key: normal(key) + normal(split(key)[0]),
        lambda key: jax.vmap(normal)(split(key, 5)).sum() + normal(split(fold(key, 1))[0]) * normal(key),
        lambda key: (lambda keys: jax.vmap(normal)(keys).sum() + normal(keys[2]))(split(key, 5)),
        lambda key: jax.lax.scan(lambda x, _: (x + normal(key), 0.0), 0.0, None, length=3)[0],
        words(lambda key: normal(key) + normal(key)),
        lambda key: normal(fold(key, 1)) + normal(fold(key, 1)),
        lambda key: jax.vmap(normal)(jnp.tile(split(key, 2), 2)),
        lambda key: normal(fold(key, 1)) + normal(fold(key, jnp.asarray(1, jnp.uint32))),
        lambda key: jax.vmap(lambda i: normal(fold(key, i)))(jnp.arange(3)).sum() + normal(fold(key, 2)),
        lambda key: jax.lax.fori_loop(0, 4, lambda i, x: x + normal(fold(key, i)) * normal(fold(key, i)), 0.0),
        lambda key: jax.lax.scan(lambda x, _: (x + normal(fold(key, 7)), 0.0), 0.0, None, length=3)[0],
        lambda key: (lambda own: jax.lax.fori_loop(0, 4, lambda i, x: x + normal(own[i]) * normal(own[i]), 0.0))(
            split(key, 4)
        ),
        lambda key: (lambda i: normal(fold(key, i + 1)) + normal(fold(key, i + 1)))(jax.random.bits(fold(key, 0))),
    ],
)
def test_a_key_that_is_used_twice_is_seen(program):
    assert use(program).twice is not None


@pytest.mark.parametrize(
    ("program", "chosen"),
    [
        (lambda key: (lambda own: normal(own[0]) + normal(own[2]))(split(key, 3)), False),
        (walk, False),
        (lambda key: jax.vmap(normal)(split(key, 4)), False),
        (lambda key: jax.vmap(normal)(jnp.stack(jnp.split(split(key, 2), 2))[:, 0]), False),
        (lambda key: (lambda own: normal(own[1]) + normal(own[jax.random.bits(own[0]) % 3]))(split(key, 3)), True),
        (lambda key: normal(jax.random.wrap_key_data(jax.random.key_data(key) + 1)), True),
    ],
)
def test_keys_that_only_a_run_can_tell_are_named(program, chosen):
    assert use(program).chosen is chosen


def test_keys_that_do_not_descend_from_the_argument_are_seen():
    assert use(lambda key: normal(key) + normal(jax.random.key(7), (3,))).foreign == ((3,),)
    assert use(lambda key: normal(fold(jax.random.key(7), jax.random.bits(key)))).foreign == ()


def test_results_that_the_key_does_not_reach_are_named():
    assert use(lambda key: (normal(key), jnp.ones(3), jax.lax.fori_loop(0, 3, lambda i, x: x + 1.0, 0.0))).constant == {
        "1",
        "2",
    }


def unkeyed(_, x):
    return x + np.random.standard_normal(), None  # noqa: NPY002


FROZEN = {
    "an array": lambda key: normal(key, (3,)) + np.random.standard_normal(3),  # noqa: NPY002
    "a large array": lambda key: normal(key) * np.random.standard_normal(5000),  # noqa: NPY002
    "a number": lambda key: normal(key) + np.random.default_rng().normal(),
    "inside of a loop": lambda key: jax.lax.scan(unkeyed, normal(key), jnp.arange(3.0))[0],
    "inside of what is compiled": jax.jit(lambda key: normal(key) + np.random.standard_normal(3)),  # noqa: NPY002
    "a key": lambda key: normal(key) + normal(jax.random.key(np.random.randint(2**31))),  # noqa: NPY002
}
HELD = {
    "an array": lambda key: normal(key, (3,)) + np.arange(3.0),
    "a seeded array": lambda key: normal(key) + np.random.default_rng(0).normal(size=5000),
    "NaN": lambda key: normal(key) + np.array([np.nan, 1.0]),
    "a product": lambda key: normal(key, (3, 3)) @ np.eye(3),
}


def twice(program):
    """The numbers of two traces, the second as the guard makes it."""

    def named(key):
        return {"x": program(key)}

    first = use_by(named)
    with traced_otherwise():
        return first.numbers, use_by(named).numbers


@pytest.mark.parametrize("name", FROZEN)
def test_numbers_that_are_drawn_without_the_key_differ_in_a_second_trace(name):
    first, second = twice(FROZEN[name])
    assert first != second


@pytest.mark.parametrize("name", HELD)
def test_numbers_that_a_program_holds_are_the_same_in_a_second_trace(name):
    first, second = twice(HELD[name])
    assert first == second


def test_what_is_drawn_for_nothing_is_left_out():
    def replaced(key, kept):
        layer = eqx.nn.Linear(2, 2, key=jax.random.key(0))
        return {"x": (layer.weight if kept else normal(key, (2, 2))) + 0.0}

    assert use_by(lambda key: replaced(key, False)).foreign == ()
    assert use_by(lambda key: replaced(key, True)).foreign != ()


def test_a_function_that_asks_for_numbers_is_not_followed():
    assert use_by(lambda key: {"x": float(normal(key))}) is None
