"""The use of keys in a program: what is refused, and what programs may do."""

import jax
import jax.numpy as jnp
import pytest

from theorax.numerics.key_use import key_use

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
    ],
)
def test_a_key_that_is_used_twice_is_seen(program):
    assert use(program).twice is not None


def test_keys_that_do_not_descend_from_the_argument_are_seen():
    assert use(lambda key: normal(key) + normal(jax.random.key(7), (3,))).foreign == ((3,),)
    assert use(lambda key: normal(fold(jax.random.key(7), jax.random.bits(key)))).foreign == ()


def test_results_that_the_key_does_not_reach_are_named():
    assert use(lambda key: (normal(key), jnp.ones(3), jax.lax.fori_loop(0, 3, lambda i, x: x + 1.0, 0.0))).constant == {
        "1",
        "2",
    }
