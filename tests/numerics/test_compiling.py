"""Light and full code: which programs get which, what an older compiler knows of it, and that both draw the same numbers."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorax.numerics import compiling, platform
from theorax.numerics.compiling import compiled, work_on_entries


class Lowered:
    """A lowered program that records the options it was compiled with."""

    def compile(self, options):
        self.options = options
        return self


def drawn(key):
    z = jax.random.normal(key, (6, 50))
    return jnp.tanh(z @ z.T / 50).sum(), jnp.exp(z).mean(), jnp.cbrt(z).sum(), jnp.linalg.svd(z, compute_uv=False)[0]


def test_both_codes_draw_the_same_numbers_up_to_rounding():
    with platform.precision("float64"):
        lowered = jax.jit(drawn).lower(jax.random.key(0))
        light, full = (compiled(lowered, "cpu", work) for work in (0.0, math.inf))
        for seed in range(20):
            key = jax.random.key(seed)
            np.testing.assert_allclose(light(key), full(key), rtol=2**-40, atol=2**-40)


@pytest.mark.parametrize(
    ("device", "work", "light"),
    [("cpu", 0.0, True), ("cpu", compiling.HEAVY, False), ("cpu", math.inf, False), ("gpu", 0.0, False)],
)
def test_only_light_draws_on_the_cpu_get_light_code(device, work, light):
    options = compiled(Lowered(), device, work).options or {}
    assert ("xla_backend_optimization_level" in options) is light


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_few_runs_get_the_least_code_on_the_cpu_whatever_their_work(device):
    options = compiled(Lowered(), device, math.inf, few=True).options
    assert (options or {}).get("xla_backend_optimization_level") == (0 if device == "cpu" else None)


@pytest.mark.parametrize("few", [False, True])
def test_an_accelerator_is_asked_for_the_same_bits_in_every_run(few):
    assert compiled(Lowered(), "gpu", 0.0, few=few).options == {"xla_gpu_deterministic_ops": True}


def test_an_option_that_the_compiler_does_not_know_is_left_out(monkeypatch):
    monkeypatch.setattr(compiling, "_LIGHT", {"xla_no_such_option": 1, "xla_backend_optimization_level": 1})
    assert compiled(Lowered(), "cpu", 0.0).options == {"xla_backend_optimization_level": 1}


def test_work_counts_the_rounds_of_loops_and_no_matrix_products():
    def looped(x, rounds):
        return jax.lax.scan(lambda total, _: (total + x, None), x, length=rounds)[0]

    x = jnp.ones(100)
    once, often = (work_on_entries(jax.make_jaxpr(looped, static_argnums=1)(x, rounds)) for rounds in (1, 50))
    assert often == pytest.approx(50 * once)
    product = jax.make_jaxpr(lambda a: a @ a)(jnp.ones((300, 300)))
    assert work_on_entries(product) < 300
    assert work_on_entries(jax.make_jaxpr(jnp.exp)(x)) > work_on_entries(jax.make_jaxpr(jnp.negative)(x)) > 0
