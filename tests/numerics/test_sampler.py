"""The sampler: one program per structure, the same bits however draws are cut into chunks, sentences for wrong use."""

import math
import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

from theorax import memory
from theorax.errors import ObservationError, UsageError
from theorax.numerics import distributions, keys, platform
from theorax.numerics.ensembles import haar_rows
from theorax.numerics.extents import Extent
from theorax.numerics.meter import Meter
from theorax.numerics.sampler import Sampler, check_measured
from theorax.theorems.mind_the_gap._attention import markov_products

jax.config.update("jax_enable_x64", True)

SEED = keys.seed_of(__name__)
ROOT = Path(__file__).parents[2]


def spectrum(key, law, T, d, depth):
    """Everything whose rounding might depend on vectorisation: logarithms, products, singular values, frames."""
    M = markov_products(key, law, T, d, depth)
    return {
        "M": M,
        "s": jnp.linalg.svd(M[-1], compute_uv=False),
        "Q": haar_rows(key, T, d),
        "softmax": jax.nn.softmax(M[0]),
    }


def noise(key, shift):
    return {"x": shift + jax.random.normal(key, (3,))}


LETTERS = {"law": distributions.Dirichlet(Fraction(3, 2)), "T": Extent(7, 11), "d": Extent(12, 13), "depth": 2}


def _same(left, right):
    return left.keys() == right.keys() and all(np.array_equal(left[name], right[name]) for name in left)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_chunks_do_not_change_a_bit(dtype):
    """Budgets from a chunk of one draw to all of them; parts of the table; and one draw at a time."""
    tables, capacities = [], set()
    for budget in (48_000, 120_000, 2**24):
        sampler = Sampler(memory=budget)
        tables.append(sampler.draw(spectrum, SEED, 40, LETTERS, dtype))
        capacities |= {program.capacity for program in sampler._programs.values()}
    assert len(capacities) == 3
    assert min(capacities) < 40  # fewer than the draws: several chunks
    assert max(capacities) > 40
    assert all(_same(table, tables[0]) for table in tables)
    assert tables[0]["M"].dtype == dtype
    part = sampler.draw(spectrum, SEED, 5, LETTERS, dtype, first=17)
    assert _same(part, {name: values[17:22] for name, values in tables[0].items()})
    single = [sampler.draw(spectrum, SEED, 1, LETTERS, dtype, first=i) for i in (0, 3)]
    assert all(
        _same(one, {n: v[i : i + 1] for n, v in tables[0].items()}) for one, i in zip(single, (0, 3), strict=True)
    )
    assert sampler.meter.programs == 1


def test_batches_are_aligned():
    """With a batch the bits are the batch's own, and still no matter where a table starts or ends."""
    sampler = Sampler(batch=4)
    table = sampler.draw(noise, SEED, 21, {"shift": 1.0})
    part = sampler.draw(noise, SEED, 6, {"shift": 1.0}, first=7)
    assert np.array_equal(part["x"], table["x"][7:13])
    assert sampler.meter.programs == 1


def test_one_program_for_all_sizes_and_parameters():
    sampler = Sampler()
    for size, alpha in ((2, 1.0), (5, Fraction(1, 2)), (11, 2.5)):
        letters = LETTERS | {"T": Extent(size, 11), "law": distributions.Dirichlet(alpha)}
        M = sampler.draw(spectrum, SEED, 2, letters)["M"]
        assert np.linalg.matrix_rank(M[0, 0]) == size
    assert sampler.meter.programs == 1
    assert sampler.meter.draws == 6
    sampler.draw(noise, SEED, 1, {"shift": 2.0})
    sampler.draw(noise, SEED, 1, {"shift": 2.0}, "float32")
    assert sampler.meter.programs == 3


def test_draws_are_named_by_seed_and_number():
    table = Sampler().draw(noise, SEED, 3, {"shift": 0.0})["x"]
    assert len(np.unique(table)) == 9
    key = jax.random.fold_in(keys.root(SEED), 2)
    # The same key, run outside of the sampler; another program, whose normals may differ in the last bits of erfinv.
    assert (
        np.max(np.abs(table[2] - np.asarray(jax.random.normal(key, (3,)))))
        <= 8 * np.finfo(float).eps * np.abs(table[2]).max()
    )
    other = Sampler(generator="rbg").draw(noise, SEED, 3, {"shift": 0.0})["x"]
    assert not np.isin(other, table).any()


class Shifted(eqx.Module):
    """A model, and a function that it may hold."""

    x: jax.Array
    move: Callable | None = eqx.field(static=True, default=None)


def shifted(key, shift, T):
    return Shifted(jnp.where(T.mask, shift + jax.random.normal(key, (T.padded,)), 0))


def moving(key, shift, T):
    return Shifted(jax.random.normal(key, (T.padded,)), partial(lambda by, x: x + by, shift))


def moving_inside(key, shift, T):
    return Shifted(jax.random.normal(key, (T.padded,)), eqx.Partial(lambda x, f: f(x), f=lambda x: x + shift))


def test_models_of_one_structure_are_built_by_one_program():
    traced = []

    def counted(key, shift, T):
        traced.append(shift)
        return shifted(key, shift, T)

    sampler = Sampler()
    for shift, size in ((1.0, 2), (2.0, 5), (-3.0, 4)):
        T = Extent(size, 5)
        build = sampler.builder(counted, SEED, {"shift": shift, "T": T})
        drawn = sampler.draw(lambda key, shift, T: {"x": shifted(key, shift, T).x}, SEED, 3, {"shift": shift, "T": T})
        for draw in range(3):
            model = build(draw).x
            assert not model[size:].any()
            # Another program than that of the draws, which may differ in the last bits of erfinv.
            assert np.allclose(model, drawn["x"][draw], rtol=0, atol=8 * np.finfo(float).eps * (3 + abs(shift)))
    assert len(traced) == 1


@pytest.mark.parametrize("build", [moving, moving_inside])
def test_a_model_that_holds_a_function_of_a_letter_holds_its_own_letter(build):
    sampler, zero = Sampler(), jnp.zeros(3)
    models = [sampler.builder(build, SEED, {"shift": shift, "T": Extent(3, 3)})(0) for shift in (1.0, 2.5)]
    inner = [model.move(zero) for model in models]
    assert [moved.tolist() for moved in inner] == [[1.0] * 3, [2.5] * 3]


def test_models_are_built_where_shapes_alone_are_asked_for():
    build = Sampler().builder(shifted, SEED, {"shift": 1.0, "T": Extent(3, 3)})
    assert eqx.filter_eval_shape(lambda: build(0)).x.shape == (3,)
    fresh = eqx.filter_eval_shape(lambda: Sampler().builder(shifted, SEED, {"shift": 1.0, "T": Extent(3, 3)})(0))
    assert fresh.x.shape == (3,)
    assert np.isfinite(build(0).x).all()


def test_progress_and_meter():
    seen = []
    sampler = Sampler()
    sampler.draw(noise, SEED, 50, {"shift": 0.0}, progress=lambda done, of: seen.append((done, of)))
    assert seen[-1] == (50, 50)
    assert sampler.meter.calls == len(seen)
    assert sampler.meter.compile_seconds > 0
    assert 0 < sampler.meter.compile_share <= 1
    assert "1 program compiled" in str(sampler.meter)
    assert Meter().compile_share == 0


def test_precision_is_left_as_it_was():
    Sampler().draw(noise, SEED, 1, {"shift": 0.0}, "float32")
    assert jnp.zeros(()).dtype == "float64"


def no_mapping(key):
    return jax.random.normal(key)


def remembering(key):
    number = jax.random.normal(key)
    return {"x": io_callback(lambda x: x, jax.ShapeDtypeStruct((), number.dtype), number)}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: Sampler().draw(noise, SEED, 0, {"shift": 0.0}), "draws=1"),
        (lambda: Sampler().draw(noise, SEED, 1, {"shft": 0.0}), "names, after the key: shift"),
        (lambda: Sampler().draw(noise, SEED, 1, {"shift": 0.0}, "float16"), "float32, float64"),
        (lambda: Sampler().draw(noise, SEED, 1, {"shift": {1, 2}}), "no hash"),
        (lambda: Sampler().draw(no_mapping, SEED, 1, {}), "not named arrays"),
        (lambda: Sampler(memory=100).draw(noise, SEED, 1, {"shift": 0.0}), r"Sampler\(memory="),
        (lambda: Sampler(memory=0), "positive numbers"),
        (lambda: Sampler(device="abacus"), "no device `abacus`"),
        (lambda: platform.enable(device="abacus"), "no device `abacus`"),
    ],
)
def test_wrong_use_gives_sentences(wrong, says):
    with pytest.raises(UsageError, match=says):
        wrong()


def test_a_program_that_may_remember_draws_is_refused():
    with pytest.raises(ObservationError, match="remember one draw in the next"):
        Sampler().draw(remembering, SEED, 1, {})


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"s": np.ones((3, 2))}, "has shape"),
        ({"t": np.ones((3, 4))}, "was not returned"),
        ({"s": np.ones((0, 4))}, "no draw at all"),
        ({"s": np.array([[0.0] * 4, [np.nan] * 4])}, "Draw 11 of `s` is NaN"),
        ({"s": np.array([[0.0] * 4, [np.inf] * 4])}, "Draw 11 of `s` is infinite"),
    ],
)
def test_what_is_no_observation_is_refused(table, says):
    with pytest.raises(ObservationError, match=says):
        check_measured(table, {"s": (4,)}, first=10)
    check_measured({"s": np.ones((3, 4))}, {"s": (4,)})


def test_platform_describes_itself():
    described = platform.describe()
    assert described["device"]
    # Between an optimistic float32 and the line drawn for reduced precision.
    assert 2.0**-40 < described["matmul_unit_roundoff"] < 2.0**-22


def test_compiled_programs_are_kept_where_the_folder_was_named(tmp_path, monkeypatch):
    """A process that changes its folder afterwards writes to the same place; the environment's folder goes first."""
    before = jax.config.jax_compilation_cache_dir
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    try:
        platform.enable(cache_dir=Path("kept"))
        assert jax.config.jax_compilation_cache_dir == str(tmp_path / "kept")
        monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "shared"))
        platform.enable(cache_dir=Path("kept"))
        assert jax.config.jax_compilation_cache_dir == str(tmp_path / "shared")
    finally:
        jax.config.update("jax_compilation_cache_dir", before)


def test_programs_are_given_back_where_a_process_nears_its_limit(monkeypatch):
    """Linux ends a process that maps too many areas, as one that checks theorem after theorem would."""
    compiled = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda name, seconds, **_: compiled.append(name) if "backend_compile" in name else None
    )

    def compiles():
        before = len(compiled)
        doubled(ones)
        return len(compiled) - before

    doubled, ones = jax.jit(lambda x: 2 * x), jnp.ones(3)
    compiles()
    monkeypatch.setattr(memory, "GROWTH", math.inf)
    monkeypatch.setattr(platform, "SHARE_OF_MAPS", 1e-9)
    platform.forget_programs()
    assert compiles() == 0  # few are mapped: nothing is given back
    monkeypatch.setattr(platform, "SHARE_OF_MAPS", 1e9)
    platform.forget_programs()
    assert compiles() == (1 if Path("/proc/self/maps").exists() else 0)
    monkeypatch.setattr(platform, "SHARE_OF_MAPS", 1e-9)
    monkeypatch.setattr(memory, "GROWTH", -math.inf)
    platform.forget_programs()
    assert compiles() == 1  # the process has grown since


def test_draws_that_are_few_are_those_of_many_up_to_rounding():
    few, many = (Sampler(few=few).draw(noise, SEED, 20, {"shift": 0.5})["x"] for few in (True, False))
    # As of models above: other code, which may differ in the last bits of erfinv.
    np.testing.assert_allclose(few, many, rtol=0, atol=8 * np.finfo(float).eps * 3.5)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_is_made_of_sizes_and_options_is_as_precise_as_the_draws(dtype):
    def shares(key, n, option):
        whole = n.value
        return {"x": jnp.stack([whole / 3, jnp.sqrt(whole), whole / jnp.sum(n.mask), jnp.log(option), 1 / option])}

    drawn = Sampler().draw(shares, SEED, 1, {"n": Extent(10, 16), "option": np.asarray(7)}, dtype)["x"]
    assert drawn.dtype == dtype
    unit = np.finfo(dtype).eps
    np.testing.assert_allclose(drawn[0], [10 / 3, 10**0.5, 1, np.log(7), 1 / 7], rtol=4 * unit)


TWO_DEVICES = """
import jax, numpy as np
from theorax.numerics import platform
from theorax.numerics.sampler import Sampler

host, other = jax.devices()
platform.processor = lambda device: other if device == "gpu" else host
platform.memory = lambda device: 2**30 if device == "gpu" else None
platform.enable()
weights = np.arange(3.0)


def build(key, shift):
    return jax.random.normal(key, (3,)) + shift


def drawn(key, shift):
    return {"x": build(key, shift) * jax.numpy.asarray(weights)}


tables = []
for device, where in (("cpu", host), ("gpu", other)):
    sampler = Sampler(device)
    tables.append(sampler.draw(drawn, 0, 20, {"shift": 0.5})["x"])
    (program,) = sampler._programs.values()
    assert program.call.runtime_executable().local_devices() == [where]
    model = sampler.builder(build, 0, {"shift": 0.5})(3)
    assert model.devices() == {host}
    # Other code, which may differ in the last bits of erfinv; the numbers are below nine.
    np.testing.assert_allclose(model * weights, tables[-1][3], rtol=0, atol=8 * np.finfo(float).eps * 9)
assert np.array_equal(*tables)
"""


def test_on_an_accelerator_draws_run_there_and_models_are_built_on_the_cpu():
    """The accelerator is a second device of the CPU: what is handed to the wrong one fails or stays where it was."""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", TWO_DEVICES], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


HELD = jax.random.key(7)


def one_size(key, n):
    return {"x": jax.random.normal(key, (4,)), "held": jax.random.normal(HELD), "n": jnp.ones(n)}


def in_a_loop(key, n):
    return {"x": jax.lax.fori_loop(0, n, lambda _, x: x / 2, jax.random.normal(key))}


def in_a_branch(key, n):
    return {"x": jax.lax.cond(jax.random.normal(key) > 0, lambda: 1.0 * n, lambda: 2.0)}


def as_a_number(key, n):
    return {"x": jax.random.normal(key) / n}


@pytest.mark.parametrize(
    ("program", "results", "same"),
    [
        (one_size, {"x", "held"}, True),
        (one_size, {"x", "n"}, False),
        (in_a_loop, {"x"}, False),
        (in_a_branch, {"x"}, False),
        (as_a_number, {"x"}, False),
    ],
)
def test_a_size_that_reaches_no_result_is_seen(program, results, same):
    assert Sampler().is_one_draw(program, [{"n": 4}, {"n": 8}], results, "float64") is same
    assert Sampler().is_one_draw(program, [{"n": 8}, {"n": 8}], results, "float64")


def padded(key, n):
    x = jax.random.normal(key, (n.padded,))
    return {"whole": x.sum(), "inside": jnp.where(n.mask, x, 0).sum()}


def test_the_extent_of_a_padded_size_is_a_number_of_the_program():
    given = [{"n": Extent(4, 8)}, {"n": Extent(7, 8)}]
    assert Sampler().is_one_draw(padded, given, {"whole"}, "float64")
    assert not Sampler().is_one_draw(padded, given, {"inside"}, "float64")
    assert not Sampler().is_one_draw(padded, [given[0], {"n": Extent(4, 16)}], {"whole"}, "float64")
