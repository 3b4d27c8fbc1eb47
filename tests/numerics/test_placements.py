"""Draws vectorised together: equal to rounding draw by draw, as many as fit, and on the CPU where the host is waited for."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorax.errors import ObservationError, UsageError
from theorax.numerics import keys, platform
from theorax.numerics.arithmetics.running_error import library_ulps
from theorax.numerics.host import on_host
from theorax.numerics.nested_steps import every_step
from theorax.numerics.placements import AsManyAsFit, Placement, power_of_two_below, steps_of_host, widest_step
from theorax.numerics.rounding import gamma
from theorax.numerics.sampler import PROGRAMS_AT_ONCE, Sampler

jax.config.update("jax_enable_x64", True)

SEED = keys.seed_of(__name__)
SIZE = 24
MOST = AsManyAsFit(64)


def product(key, n):
    """The sum of all entries of a product of two exponential matrices, and its factors."""
    A, B = jax.random.exponential(key, (2, n, n))
    return {"A": A, "B": B, "sum": jnp.sum(A @ B)}


def square(key, n):
    """One number of a matrix that is large beside it."""
    return {"x": jnp.sum(jax.random.uniform(key, (n, n)) ** 2)}


def unsymmetric(key, n):
    """The largest modulus of an eigenvalue."""
    return {"radius": jnp.max(jnp.abs(jnp.linalg.eigvals(jax.random.uniform(key, (n, n)))))}


def in_a_loop(key, n):
    """Calls of the host inside a loop."""

    def step(x, _):
        return x + on_host(lambda y: (y + 1,), [()], x)[0], None

    return {"x": jax.lax.scan(step, jax.random.uniform(key), None, length=n)[0]}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_eight_draws_at_a_time_are_those_of_one_at_a_time_up_to_rounding(dtype):
    r"""Entries: the same bits of the generator through one logarithm, with twice the error on record on either side.

    The sum: $|AB - A'B'| \le |A - A'||B| + |A'||B - B'|$, entry by entry, and on either side one sum of $n$ products and
    one of $n^2$ terms, all positive.
    """
    one, eight = (Sampler(batch=batch).draw(product, SEED, 30, {"n": SIZE}, dtype) for batch in (1, 8))
    # A value is off by so many units in the last place, which is at most eps times its size.
    entry = 2 * 2 * library_ulps("log1p", dtype) * float(np.finfo(dtype).eps)
    for name in "AB":
        assert (np.abs(one[name] - eight[name]) <= entry * np.abs(one[name])).all()
    exact = np.sum(one["A"].astype(float) @ one["B"].astype(float), axis=(1, 2))
    allowed = (2 * entry + entry**2 + 2 * gamma(SIZE + SIZE**2, dtype)) * exact * (1 + 2 * entry)
    assert (np.abs(one["sum"] - eight["sum"]) <= allowed).all()
    # The bound tells draws apart: no other draw would pass for this one.
    assert (np.abs(np.subtract.outer(one["sum"], eight["sum"])) <= allowed[:, None]).sum() == len(one["sum"])


def test_the_memory_of_the_device_says_how_many_fit():
    """A power of two whose program fits by the compiler's account; below the cap there is no room for twice as many here."""
    batches = []
    for memory in (2**18, 2**20, 2**30):
        sampler = Sampler(memory=memory, batch=MOST)
        sampler.draw(square, SEED, 3, {"n": 64})
        (placement,) = sampler.placements
        assert sampler.meter.largest_program <= memory
        batches.append(placement.batch)
        if placement.batch < MOST.most:
            with pytest.raises(UsageError, match=f"{2 * placement.batch} draws at a time"):
                Sampler(memory=memory, batch=2 * placement.batch).draw(square, SEED, 3, {"n": 64})
    assert batches == sorted(batches)
    assert batches[0] < batches[1] < batches[-1] == MOST.most


def test_the_account_of_the_device_is_asked(monkeypatch):
    monkeypatch.setattr(platform, "memory", lambda device: PROGRAMS_AT_ONCE * 2**18)
    small = Sampler(batch=MOST)
    assert small.memory == 2**18
    small.draw(square, SEED, 3, {"n": 64})
    assert 1 < small.placements[0].batch < MOST.most
    monkeypatch.setattr(platform, "memory", lambda device: PROGRAMS_AT_ONCE * 2**10)
    with pytest.raises(ObservationError, match=r"One draw of `square` runs in \d+ bytes[^$]*--device cpu") as told:
        Sampler(batch=MOST).draw(square, SEED, 3, {"n": 64})
    assert "may use 1024" in str(told.value)


def test_what_was_chosen_depends_on_no_number_of_draws():
    sampler = Sampler(memory=2**18, batch=MOST)
    whole = sampler.draw(square, SEED, 40, {"n": 64})
    part = sampler.draw(square, SEED, 5, {"n": 64}, first=13)
    assert sampler.meter.programs == 1
    assert np.array_equal(part["x"], whole["x"][13:18])


@pytest.mark.parametrize(("program", "step"), [(unsymmetric, "eig"), (in_a_loop, "pure_callback")])
def test_what_waits_for_the_host_is_drawn_one_at_a_time_on_the_cpu(program, step):
    one, eight = Sampler(), Sampler(batch=8)
    tables = [sampler.draw(program, SEED, 9, {"n": 4}) for sampler in (one, eight)]
    assert one.placements == eight.placements == (Placement("cpu", 1, (step,)),)
    assert all(np.array_equal(tables[0][name], tables[1][name]) for name in tables[0])


def test_steps_are_found_at_any_depth():
    nested = jax.make_jaxpr(lambda x: jax.lax.cond(x > 0, lambda: in_a_loop(keys.root(0), 2)["x"], lambda: x))(1.0)
    assert steps_of_host(nested) == ("pure_callback",)
    assert {"cond", "scan"} <= {step.primitive.name for step in every_step(nested)}
    assert steps_of_host(jax.make_jaxpr(jnp.linalg.eigvalsh)(jnp.eye(3))) == ()


def test_the_widest_step_is_a_lower_bound():
    wide = jax.make_jaxpr(lambda x: jnp.sum(x @ x))(jnp.ones((8, 8)))
    assert widest_step(wide) == 2 * 8 * 8 * 8  # the product: one operand twice, and its result


@pytest.mark.parametrize(("number", "found"), [(-3, 1), (0, 1), (1, 1), (2, 2), (3, 2), (64, 64), (100, 64)])
def test_powers_of_two(number, found):
    assert power_of_two_below(number) == found


def test_no_draws_at_a_time_are_refused():
    with pytest.raises(UsageError, match="AsManyAsFit"):
        AsManyAsFit(0)
