"""Noise as an input: where programs are cut, what stays as drawn, and the value at the noise that was drawn."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax, random

from theorax.numerics.arithmetics.flat_program import doubles
from theorax.numerics.arithmetics.noise_inputs import FARTHEST, NoiseProgram, mantissas, noise_scores, slopes, tied
from theorax.numerics.keys import named


def _scanned(key):
    return lax.scan(lambda c, k: (c + random.normal(k, (2,)), jnp.sum(c)), jnp.zeros(2), random.split(key, 3))


def _branched(key):
    def waits(key):
        return jnp.exp(random.uniform(key, (3,)))

    first, second = random.split(key)
    return lax.cond(random.bernoulli(first), lambda key: random.normal(key, (3,)), waits, second)


def _looped(key):
    def body(carry):
        at, x = carry
        return at + 1, x + random.normal(random.fold_in(key, at))

    return lax.while_loop(lambda carry: carry[0] < 3, body, (0, 0.0))[1]


def _by_hand(key, shift):
    bits = random.bits(key, (3,), jnp.uint64)
    one = np.uint64(0x3FF0000000000000)
    return lax.bitcast_convert_type((bits >> np.uint64(shift)) | one, jnp.float64) - 1


def _shared(key):
    bits = random.bits(key, (3,), jnp.uint64)
    one = np.uint64(0x3FF0000000000000)
    return bits % 2, lax.bitcast_convert_type((bits >> np.uint64(12)) | one, jnp.float64)


@jax.custom_vjp
def _ruled(key):
    return random.normal(key, (2,))


_ruled.defvjp(lambda key: (_ruled(key), None), lambda _, g: (None,))

FREE = {
    "normal": (lambda key: random.normal(key, (2, 3)), 6),
    "float32": (lambda key: random.normal(key, (2, 3), jnp.float32), 6),
    "float16": (lambda key: random.uniform(key, (2, 3), jnp.float16), 6),
    "bfloat16": (lambda key: random.normal(key, (2, 3), jnp.bfloat16), 6),
    "complex": (lambda key: jnp.abs(random.normal(key, (3,), jnp.complex128)), 6),
    "half normal": (lambda key: jnp.abs(random.normal(key, (3,))), 3),
    "truncated": (lambda key: random.truncated_normal(key, 0.0, 2.0, (3,)), 3),
    "exponential": (lambda key: random.exponential(key, (3,)), 3),
    "gumbel": (lambda key: random.gumbel(key, (3,)), 3),
    "cauchy": (lambda key: random.cauchy(key, (3,)), 3),
    "laplace": (lambda key: random.laplace(key, (3,)), 3),
    "bernoulli": (lambda key: random.bernoulli(key, 0.3, (3,)), 3),
    "categorical": (lambda key: random.categorical(key, jnp.zeros(3), shape=(2,)), 6),
    "orthogonal": (lambda key: random.orthogonal(key, 3), 9),
    "vmap": (lambda key: jax.vmap(lambda k: random.normal(k, (3,)))(random.split(key, 4)), 12),
    "scan": (_scanned, 6),
    "vmap of scan": (lambda key: jax.vmap(lambda k: _scanned(k)[0])(random.split(key, 2)), 12),
    "fori": (lambda key: lax.fori_loop(0, 3, lambda i, x: x + random.normal(random.fold_in(key, i)), 0.0), 3),
    "cond": (_branched, 7),
    # Both branches run there, and draw from one key: their numbers are the same.
    "vmap of cond": (lambda key: jax.vmap(_branched)(random.split(key, 2)), 8),
    "jit": (jax.jit(lambda key: random.normal(key, (2,))), 2),
    "remat": (jax.checkpoint(lambda key: jnp.sin(random.normal(key, (2,)))), 2),
    "custom rule": (_ruled, 2),
    "by hand, as JAX does": (lambda key: _by_hand(key, 12), 3),
    "raw words": (lambda key: random.normal(random.wrap_key_data(random.key_data(key)), (2,)), 2),
    "one name twice": (lambda key: [random.normal(named(key, "W"), (n,)) for n in (2, 3)], 3),
    "one name for all": (lambda key: jax.vmap(lambda _: random.normal(named(key, "W"), (2,)))(jnp.arange(4)), 2),
}
"""Programs whose real noise is free, and how many numbers it is."""

LEFT = {
    "gamma": (lambda key: random.gamma(key, 2.0, (3,)), "random_gamma (3,)"),
    "dirichlet": (lambda key: random.dirichlet(key, jnp.ones(3)), "random_gamma (3,)"),
    "Student": (lambda key: random.t(key, 3.0, (2,)), "random_gamma (2,)"),
    "permutation": (lambda key: random.permutation(key, 5), "whole numbers (5,)"),
    "whole numbers": (lambda key: random.randint(key, (3,), 0, 9), "whole numbers (3,)"),
    "without a length": (_looped, "while loop"),
    "Poisson": (lambda key: random.poisson(key, 3.0, (3,)), "while loop"),
    "bits used twice": (_shared, "whole numbers (3,)"),
    "too few bits": (lambda key: _by_hand(key, 30), "whole numbers (3,)"),
    "too many bits": (lambda key: _by_hand(key, 5), "whole numbers (3,)"),
    "divided": (lambda key: random.bits(key, (3,), jnp.uint32) / 2.0**32, "whole numbers (3,)"),
}
"""Programs that keep something as drawn, and its name."""


def _program(function):
    def of_words(words, number):
        return function(random.fold_in(random.wrap_key_data(words), number))

    words = random.key_data(random.key(3))
    return of_words, NoiseProgram(jax.make_jaxpr(of_words)(words, np.uint32(0))), words


@pytest.mark.parametrize("name", FREE)
def test_the_noise_is_free_and_gives_back_the_draw(name):
    function, count = FREE[name]
    with doubles():
        own, program, words = _program(function)
        assert program.left == ()
        assert "random_bits" not in str(program.replayed)
        draws = [program.draw(words, np.uint32(number)) for number in range(program.draws_to_tie)]
        for array, kind in zip(draws[0], program.noise, strict=True):
            assert (array.shape, array.dtype) == (kind.shape, kind.dtype)
            assert ((np.asarray(array, float) >= 1) & (np.asarray(array, float) < 2)).all()
        assert tied(draws).count == count
        for left, right in zip(
            jax.tree.leaves(own(words, np.uint32(1))), program.replay(draws[1], words, np.uint32(7)), strict=True
        ):
            # The noise of draw 1 gives draw 1 whatever number is handed over.
            assert np.array_equal(np.asarray(left), np.asarray(right))


@pytest.mark.parametrize("name", LEFT)
def test_what_stays_as_drawn_is_named(name):
    function, left = LEFT[name]
    with doubles():
        own, program, words = _program(function)
        assert left in program.left
        noise = program.draw(words, np.uint32(1))
        expected = jax.tree.leaves(own(words, np.uint32(1)))
        for mine, theirs in zip(expected, program.replay(noise, words, np.uint32(1)), strict=True):
            assert np.array_equal(np.asarray(mine), np.asarray(theirs))


def test_numbers_that_share_a_key_by_name_stay_one_number():
    with doubles():
        _, program, words = _program(FREE["one name twice"][0])
        ties = tied([program.draw(words, np.uint32(number)) for number in range(2)])
        short, long = ties.spread(np.arange(ties.count))
        assert np.array_equal(short, long[:2])
        values = [np.array([0.5, 1.5]), np.array([0.5, 1.5, 2.5])]
        assert np.array_equal(ties.gathered(values), [0.5, 1.5, 2.5])


def test_scores_are_those_of_a_normal_law_and_stay_in_the_range_of_every_sampler():
    with doubles():
        for dtype in (jnp.float64, jnp.float32, jnp.bfloat16, jnp.float16):
            found = np.asarray(mantissas(np.array([-99.0, -1.0, 0.0, 1.0, 99.0]), dtype), float)
            assert found.min() >= 1
            assert found.max() < 2
        assert np.allclose(noise_scores(mantissas(np.array([-3.0, 0.5]))), [-3.0, 0.5])
        assert noise_scores(np.array([1.0, 2 - 2**-52])).tolist() == [-FARTHEST, FARTHEST]
        # For JAX's own normal numbers the score is the number.
        _, program, words = _program(FREE["normal"][0])
        (noise,) = program.draw(words, np.uint32(0))
        (value,) = program.replay([noise], words, np.uint32(0))
        assert np.allclose(noise_scores(noise), value)


def test_the_value_is_a_differentiable_function_of_the_scores():
    with doubles():
        _, program, words = _program(lambda key: jnp.sum(random.normal(key, (3,)) ** 2))

        def value(noise):
            return program.replay([noise], words, np.uint32(0))[0]

        at = np.array([0.5, -1.0, 2.0])
        assert np.allclose(jax.grad(value)(mantissas(at)) * slopes(at), 2 * at)
