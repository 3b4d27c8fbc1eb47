"""Programs that build models: copies of one number in a model remain copies."""

import jax
import jax.numpy as jnp
import numpy as np

from theorax.numerics.model_programs import ModelProgram

jax.config.update("jax_enable_x64", True)


def test_numbers_that_are_exactly_related_in_a_build_are_so_in_its_model():
    """The compiler may round a product and a sum at once, and compute a number twice; then both times alike."""

    def build(key, _):
        x, y, z = jax.random.normal(key, (3, 100))
        w = jnp.exp(x * y + z) * jnp.sin(x + y * z) + x * z
        return w, jnp.flip(-jnp.concatenate([w, w])[100:] / 2), {"square": w * w, "rows": (w * w).reshape(4, 25).T}

    program = ModelProgram(build, jax.random.key(0), ())
    for draw in range(20):
        w, halves, squares = program(jax.random.key(draw), ())
        assert np.array_equal(w, -2 * np.flip(halves))
        assert np.array_equal(squares["square"], squares["rows"].T.ravel())
