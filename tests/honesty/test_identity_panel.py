"""Manufactured identities, true, false and vacuous: fields and balls accept exactly the true ones."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy

from theorax import decide, exact
from theorax.errors import UsageError

jax.config.update("jax_enable_x64", True)


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


def cancelling(level):
    """Two matrices whose sum is smaller than either by this factor."""

    def build(rng):
        A = rng.normal(size=(4, 3))
        return A, -A + level * rng.normal(size=(4, 3))

    return build


def square(M):
    return jnp.sum(M**2)


def of_sum(A, B):
    return square(A + B)


def expanded(A, B):
    return square(A) + 2 * jnp.sum(A * B) + square(B)


def attention(x, query, key):
    return jax.nn.softmax(x @ query @ (x @ key).T, axis=-1) @ x


def normalised(W):
    return W / W.sum(axis=1, keepdims=True)


W = normal(3, 3)
TRUE = {
    # left, right, inputs, the status that the ladder reaches
    "square of a sum": (of_sum, expanded, (normal(4, 3), normal(4, 3)), "CERTIFIED"),
    "trace": (lambda A, B: jnp.trace(A @ B), lambda A, B: jnp.trace(B @ A), (W, W), "CERTIFIED"),
    "gradient": (
        jax.grad(lambda x: x @ x * x[0]),
        lambda x: 2 * x[0] * x + jnp.eye(3)[0] * (x @ x),
        (normal(3),),
        "CERTIFIED",
    ),
    "hessian": (
        jax.hessian(lambda x: (x @ x) ** 2),
        lambda x: 8 * jnp.outer(x, x) + 4 * (x @ x) * jnp.eye(3),
        (normal(3),),
        "CERTIFIED",
    ),
    "rows sum to one": (lambda A: normalised(A) @ jnp.ones(3), 1.0, (W,), "CERTIFIED"),
    "a scan": (
        lambda M: jax.lax.scan(lambda c, A: (A @ c, None), jnp.eye(2), M)[0],
        lambda M: M[2] @ M[1] @ M[0],
        (normal(3, 2, 2),),
        "CERTIFIED",
    ),
    "softmax forgets a shift": (jax.nn.softmax, lambda x: jax.nn.softmax(x - 0.1), (normal(4),), "SUPPORTED"),
    "attention forgets an order": (
        lambda x, q, k: attention(x[::-1], q, k),
        lambda x, q, k: attention(x, q, k)[::-1],
        (normal(3, 2), normal(2, 2), normal(2, 2)),
        "SUPPORTED",
    ),
    "a root squared": (lambda x: jnp.linalg.norm(x) ** 2, square, (normal(3),), "SUPPORTED"),
    "sines": (lambda x: jnp.sin(x) ** 2 + jnp.cos(x) ** 2, 1.0, (normal(3),), "SUPPORTED"),
    "a sort": (jnp.sort, lambda x: jnp.sort(x[::-1]), (normal(4),), "SUPPORTED"),
    "a branch": (lambda x: jnp.where(x > 0, x, -x), jnp.abs, (normal(3),), "SUPPORTED"),
}
FALSE = {
    "a sign": (of_sum, lambda A, B: square(A) - 2 * jnp.sum(A * B) + square(B), (normal(4, 3), normal(4, 3))),
    "a transpose": (lambda A, B: jnp.trace(A @ B), lambda A, B: jnp.trace(B @ A.T), (W, W)),
    "an index": (
        lambda M: M[1] @ M[0],
        lambda M: jax.lax.scan(lambda c, k: (M[k] @ c, None), jnp.eye(2), jnp.array([0, 0]))[0],
        (normal(2, 2, 2),),
    ),
    "the last bit": (lambda A, B: jnp.trace(A @ B), lambda A, B: jnp.trace(B @ A) * (1 + 2**-52), (W, W)),
    "a factor": (jax.grad(lambda x: x @ x), lambda x: x, (normal(3),)),
    "columns sum to one": (lambda A: jnp.ones(3) @ normalised(A), 1.0, (W,)),
    "one row of many": (normalised, lambda A: normalised(A).at[2, 2].add(2.0**-60), (W,)),
    "softmax forgets a factor": (jax.nn.softmax, lambda x: jax.nn.softmax(x * (1 + 2**-40)), (normal(4),)),
    "tanh is even": (jnp.tanh, lambda x: jnp.tanh(-x), (normal(3),)),
    "a sort": (jnp.sort, lambda x: jnp.sort(x)[::-1], (normal(4),)),
    "attention without values": (
        attention,
        lambda x, q, k: attention(x, k, q),
        (normal(3, 2), normal(2, 2), normal(2, 2)),
    ),
}
VACUOUS = {
    "one program": (jnp.tanh, jnp.tanh, (normal(3),)),
    "zero by its form": (lambda x: 0 * x, lambda x: x * 0 * x, (normal(3),)),
    "nowhere defined": (lambda x: jnp.log(-(x**2)), lambda x: jnp.log(-(x**2)) + 1, (normal(3),)),
}


def given(makers, rng):
    return tuple(maker(rng) for maker in makers)


@pytest.mark.parametrize("name", TRUE)
def test_a_true_identity_is_accepted_on_every_draw(name, rng):
    left, right, makers, status = TRUE[name]
    for _ in range(3):
        verdict = exact.identity(left, right, at=given(makers, rng))
        assert verdict.status == status
        assert verdict.rigorous == (status == "CERTIFIED")
        assert verdict.ledger and verdict.scope


@pytest.mark.parametrize("name", FALSE)
def test_a_false_identity_is_refuted_on_every_draw(name, rng):
    left, right, makers = FALSE[name]
    for _ in range(3):
        verdict = exact.identity(left, right, at=given(makers, rng), margin=1e-2)
        assert verdict.status == "REFUTED"
        assert verdict.rigorous


@pytest.mark.parametrize("name", VACUOUS)
def test_a_check_that_could_not_have_failed_is_vacuous(name, rng):
    left, right, makers = VACUOUS[name]
    assert exact.identity(left, right, at=given(makers, rng)).status == "VACUOUS"


@pytest.mark.parametrize("level", [1.0, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("bits", [None, 13, 23, 30, 40, 52])
def test_a_relative_error_is_seen_down_to_the_last_bit_at_every_cancellation(level, bits, rng):
    delta = 0.0 if bits is None else 2.0**-bits
    scaled = expanded if bits is None else lambda A, B: expanded(A, B) * (1 + delta)
    verdict = exact.identity(of_sum, scaled, at=cancelling(level)(rng))
    assert verdict.status == ("CERTIFIED" if bits is None else "REFUTED")


@pytest.mark.parametrize("change", ["sign", "transpose", "index", "last bit"])
@pytest.mark.parametrize("level", [1.0, 1e-6, 1e-12])
def test_a_wrong_program_is_refuted_at_every_cancellation(change, level, rng):
    A, B = cancelling(level)(rng)
    wrong = {
        "sign": lambda A, B: square(A) + 2 * jnp.sum(A * B) - square(B),
        "transpose": lambda A, B: square(A) + 2 * jnp.trace(A[:3].T @ B[:3].T) + square(B),
        "index": lambda A, B: square(A) + 2 * jnp.sum(A * jnp.roll(B, 1, axis=0)) + square(B),
        "last bit": lambda A, B: square(A) + (2 + 2**-51) * jnp.sum(A * B) + square(B),
    }
    assert exact.identity(of_sum, wrong[change], at=(A, B)).status == "REFUTED"


@jax.custom_jvp
def misleading(x):
    return x**3


misleading.defjvp(lambda primals, tangents: (misleading(*primals), 5.0 * tangents[0]))

SOUNDNESS = {
    # programs that are wrong where a careless reading would not look
    "where": (lambda x: jnp.where(x > 0.9, -x, x), lambda x: x),
    "sign": (lambda x: jnp.sign(x - 50.0), lambda x: -jnp.ones(3) + 0 * x),
    "floor": (lambda x: jnp.floor(x / 1e3 + 0.5), lambda x: 0 * x),
    "round": (lambda x: jnp.round(x * 1e-3), lambda x: 0 * x),
    "stop_gradient": (jax.grad(lambda x: jnp.sum(jax.lax.stop_gradient(x) * x)), lambda x: 2 * x),
    "custom_jvp": (jax.grad(lambda x: jnp.sum(misleading(x))), lambda x: 3 * x**2),
    "frozen constant": (lambda x: x * (1 / 3), lambda x: x / 3),
    "frozen root": (lambda x: (x * np.sqrt(2.0)) ** 2, lambda x: 2 * x**2),
    "clip": (lambda x: jnp.clip(x, -40.0, 40.0), lambda x: x),
    "a cast": (lambda x: x.astype(int).astype(float), lambda x: x),
    "integers": (lambda x: x * jnp.asarray(2**31 - 1, jnp.int32) + x, lambda x: x * 2**31 + 2.0**-40 * x),
}


@pytest.mark.parametrize("name", SOUNDNESS)
def test_a_false_claim_built_to_deceive_is_never_certified(name, rng):
    left, right = SOUNDNESS[name]
    for _ in range(3):
        assert exact.identity(left, right, at=rng.uniform(-2, 2, size=3)).status != "CERTIFIED"


def test_the_true_twins_of_programs_built_to_deceive(rng):
    x = rng.normal(size=3)
    assert exact.identity(jax.grad(lambda x: jnp.sum(misleading(x))), lambda x: 5.0 + 0 * x, at=x).status == "CERTIFIED"
    assert exact.identity(SOUNDNESS["stop_gradient"][0], lambda x: x, at=x).status == "CERTIFIED"


def test_a_constant_frozen_to_a_float_is_explained_and_an_exact_one_is_accepted(rng):
    x = rng.normal(size=3)
    frozen = exact.identity(lambda x: x * (1 / 3), lambda x: x / 3, at=x)
    assert frozen.status == "REFUTED"
    assert "Fraction(1, 3)" in frozen.sentence
    kept = exact.identity(lambda x, third: x * third, lambda x, third: x / 3, at=(x, Fraction(1, 3)))
    assert kept.status == "CERTIFIED"
    root = exact.identity(lambda x, r: (x * r) ** 2, lambda x, r: 2 * x**2, at=(x, sympy.sqrt(2)))
    assert root.status == "SUPPORTED"
    wrong = exact.identity(lambda x: x * 0.3, lambda x: x / 3, at=x)
    assert wrong.status == "REFUTED"
    assert "Fraction" not in wrong.sentence


def test_modules_and_shapes_are_inputs():
    layer = eqx.nn.Linear(3, 2, key=jax.random.key(0))
    x = jax.ShapeDtypeStruct((3,), jnp.float32)
    verdict = exact.identity(lambda f, x: f(x) - f(0 * x), lambda f, x: f.weight @ x, at=(layer, x))
    assert verdict.status == "CERTIFIED"
    assert "[2, 3]" in verdict.scope


def test_a_false_identity_of_a_field_needs_more_than_its_fields():
    # tanh(x) - x is not zero, and no function of the hash: three functions equal at no point of the field.
    wrong = exact.identity(lambda x: jnp.tanh(x) * 0 + x, jnp.tanh, at=np.zeros(2) + 1e-3)
    assert wrong.status == "REFUTED"


def test_what_no_arithmetic_follows_is_inconclusive_with_its_name(rng):
    verdict = exact.identity(jax.scipy.special.erfinv, lambda x: x, at=rng.uniform(size=3), margin=1e-3)
    assert (verdict.status, verdict.reason) == ("INCONCLUSIVE", "budget")
    assert "`erf_inv`" in verdict.sentence


REFUSED = {
    "shapes": (lambda x: x, lambda x: x[:2], np.ones(3), {}, r"shape \[3\].*shape \[2\]"),
    "nothing to vary": (lambda x: x, lambda x: 2 * x, np.arange(3), {}, "0 varied numbers"),
    "nothing to compare": (lambda x: x[:0], lambda x: 2 * x[:0], np.ones(3), {}, "at least one entry"),
    "a margin": (lambda x: x, lambda x: 2 * x, np.ones(3), {"margin": -1.0}, "positive number"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_compared_is_said_in_three_parts(name):
    left, right, at, more, words = REFUSED[name]
    with pytest.raises(UsageError, match=words):
        exact.identity(left, right, at=at, **more)


@pytest.mark.parametrize("table", [TRUE, FALSE, VACUOUS], ids=["true", "false", "vacuous"])
def test_a_verdict_shows_itself_and_is_plain_data(table, rng):
    name, (left, right, makers, *_) = next(iter(table.items()))
    verdict = exact.identity(left, right, at=given(makers, rng), name=name)
    assert verdict.status in str(verdict)
    json.dumps(dataclasses.asdict(verdict), allow_nan=False)
    assert set(decide.together([verdict]).green) == ({name} if verdict.status.holds else set())
