"""One program in several domains: the ball holds the exact value, the error domain bounds every float execution."""

import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import equinox as eqx
import flint
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from flint import arb, fmpq

from theorax.errors import UsageError
from theorax.numerics.arithmetics import (
    Ball,
    FiniteField,
    Running,
    RunningError,
    Symbolic,
    UndecidedComparison,
    UnsupportedPrimitive,
    evaluate,
    fingerprint,
)
from theorax.numerics.arithmetics.custom_rules import entered
from theorax.numerics.arithmetics.domain import BINARY, UNARY
from theorax.numerics.arithmetics.flat_program import KnownPrograms
from theorax.numerics.arithmetics.primitives import RULES
from theorax.numerics.arithmetics.replayed_draws import program_name

jax.config.update("jax_enable_x64", True)


def attention(x, query, key, value):
    scores = (x @ query) @ (x @ key).T / jnp.sqrt(3.0)
    return jax.nn.softmax(scores, axis=-1) @ (x @ value)


def residual(x, weights):
    def layer(state, weight):
        return state + jnp.tanh(weight @ state) / 4, jnp.linalg.norm(state)

    return jax.lax.scan(layer, x, weights)


def layer_norm(x):
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    return centred / jnp.sqrt(jnp.var(x, axis=-1, keepdims=True) + 1e-5)


def entropy(x):
    logits = jax.nn.log_softmax(x)
    return -jnp.sum(jnp.exp(logits) * logits)


def normal(*shape):
    return lambda draws: draws.normal(size=shape)


def positive(*shape):
    return lambda draws: draws.uniform(0.25, 4.0, size=shape)


def increments(*shape):
    return lambda draws: np.cumsum(draws.uniform(0.25, 1.0, size=shape))


MLP = eqx.nn.MLP(3, 2, 8, 2, activation=jax.nn.gelu, dtype=jnp.float32, key=jax.random.key(3))
HEADS = eqx.nn.MultiheadAttention(2, 4, dtype=jnp.float32, key=jax.random.key(4))
SQUARES = (normal(4, 3), normal(3, 3), normal(3, 3), normal(3, 3))


class Layer(eqx.Module):
    """Normalised tokens, softmax attention and a perceptron, each added to what it reads."""

    norm: eqx.nn.LayerNorm
    query: jax.Array
    key: jax.Array
    perceptron: eqx.nn.MLP

    def __init__(self, width, seed):
        keys = jax.random.split(jax.random.key(seed), 3)
        self.norm = eqx.nn.LayerNorm(width, dtype=jnp.float32)
        self.query, self.key = (jax.random.normal(k, (width, width), jnp.float32) / width for k in keys[:2])
        self.perceptron = eqx.nn.MLP(width, width, 4, 1, activation=jnp.tanh, dtype=jnp.float32, key=keys[2])

    def __call__(self, tokens):
        normed = jax.vmap(self.norm)(tokens)
        tokens = tokens + jax.nn.softmax(normed @ self.query @ (normed @ self.key).T, axis=-1) @ normed
        return tokens + jax.vmap(self.perceptron)(tokens)


LAYERS = Layer(3, 5), Layer(3, 6)


def network(tokens):
    return LAYERS[1](LAYERS[0](tokens))


def energy(tokens):
    return jnp.sum(network(tokens) ** 2) / 10


def definite(m):
    return m @ m.T + jnp.eye(len(m), dtype=m.dtype)


PROGRAMS = {
    "determinant": (jnp.linalg.det, (normal(5, 5),)),
    "determinants": (jnp.linalg.det, (normal(2, 4, 4),)),
    "log determinant": (jnp.linalg.slogdet, (normal(4, 4),)),
    "log determinant gradient": (jax.grad(lambda a: jnp.linalg.slogdet(a)[1]), (normal(4, 4),)),
    "inverse": (jnp.linalg.inv, (normal(3, 3),)),
    "inverses": (jax.vmap(jnp.linalg.inv), (normal(2, 3, 3),)),
    "solution": (jnp.linalg.solve, (normal(3, 3), normal(3))),
    "solutions": (jnp.linalg.solve, (normal(3, 3), normal(3, 2))),
    "solution gradient": (jax.grad(lambda a, b: jnp.linalg.solve(a, b)[0]), (normal(3, 3), normal(3))),
    "cholesky": (lambda m: jnp.linalg.cholesky(definite(m)), (normal(4, 4),)),
    "cholesky gradient": (jax.grad(lambda m: jnp.linalg.cholesky(definite(m))[2, 0]), (normal(3, 3),)),
    "cholesky solve": (
        lambda m, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(definite(m)), b),
        (normal(3, 3), normal(3, 2)),
    ),
    "triangular solve on the right": (
        lambda m, b: jax.lax.linalg.triangular_solve(definite(m), b, lower=True, transpose_a=True),
        (normal(3, 3), normal(2, 3)),
    ),
    "factors": (lambda m: jax.scipy.linalg.lu(m, permute_l=True), (normal(3, 3),)),
    "roots and arcs": (lambda x: jnp.arcsin(jnp.tanh(jnp.cbrt(x))), (normal(5),)),
    "network": (network, (normal(2, 3),)),
    "network gradient": (jax.grad(energy), (normal(2, 3),)),
    "network hessian": (jax.hessian(energy), (normal(2, 3),)),
    "attention": (attention, SQUARES),
    "attention gradient": (jax.grad(lambda *a: jnp.sum(attention(*a) ** 2), argnums=(0, 1)), SQUARES),
    "attention jacobian": (jax.jacobian(attention, argnums=3), SQUARES),
    "heads": (lambda x: HEADS(x, x, x), (normal(3, 4),)),
    "linear": (eqx.nn.Linear(3, 2, dtype=jnp.float32, key=jax.random.key(0)), (normal(3),)),
    "masked softmax": (
        lambda x: jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((3, 3), bool)), x, -jnp.inf)),
        (normal(3, 3),),
    ),
    "mlp": (jax.vmap(MLP), (normal(2, 3),)),
    "mlp gradient": (jax.grad(lambda x: MLP(x)[0]), (normal(3),)),
    "residual scan": (residual, (normal(3), normal(5, 3, 3))),
    "residual gradient": (
        jax.grad(lambda x, w: jnp.sum(residual(x, w)[0] ** 2), argnums=1),
        (normal(3), normal(2, 3, 3)),
    ),
    "reverse scan": (
        lambda x: jax.lax.scan(lambda c, r: (c * r + 1, c), 1.0, x, reverse=True),
        (positive(6),),
    ),
    "layer norm": (layer_norm, (normal(2, 5),)),
    "layer norm jacobian": (jax.jacfwd(layer_norm), (normal(1, 4),)),
    "hessian": (jax.hessian(lambda x: jnp.log(jnp.sum(jnp.exp(x) + x**4))), (normal(3),)),
    "entropy": (entropy, (normal(5),)),
    "logsumexp": (jax.nn.logsumexp, (normal(5),)),
    "activations": (
        lambda x: jax.nn.silu(x) + jax.nn.softplus(x) + jax.nn.gelu(x, approximate=False) + jax.nn.relu(x),
        (normal(6),),
    ),
    "powers": (lambda x: x**3 + x**-2 + x**2.5 + jnp.sqrt(x) * jax.lax.rsqrt(x) + jnp.square(x) + 2**x, (positive(5),)),
    "logarithms": (lambda x: jnp.log1p(x) * jnp.expm1(x) + jnp.exp2(x) - jnp.log(x) * jnp.log2(x), (positive(5),)),
    "circle": (lambda x: jnp.sin(x) + jnp.cos(x), (normal(5),)),
    "clips": (lambda x: jnp.clip(x, -0.5, 0.5) + jnp.abs(x) * jnp.sign(x) + jnp.minimum(x, 0.1), (normal(6),)),
    "sums": (lambda x: jnp.cumsum(x) - jnp.cumsum(x[::-1])[::-1] + jnp.mean(x) + jnp.prod(x), (normal(5),)),
    "reductions": (lambda x: jnp.max(x, axis=0) - jnp.min(x, axis=1) + jnp.sum(x), (normal(3, 3),)),
    "gather": (
        lambda x: x[jnp.array([2, 0, 2])] @ jnp.ones(3) + jnp.take(x, 1, axis=0, mode="clip").sum(),
        (normal(4, 3),),
    ),
    "scatter": (lambda x: jnp.zeros(5).at[1:4].set(x).at[0].add(x[2]), (normal(3),)),
    "gather gradient": (jax.grad(lambda x: jnp.sum(x[jnp.array([2, 0, 2])] ** 3)), (normal(4),)),
    "dynamic": (
        lambda x: jax.lax.dynamic_update_slice(x, jax.lax.dynamic_slice(x, (jnp.argmax(jnp.arange(3)),), (2,)), (0,)),
        (normal(5),),
    ),
    "loop": (lambda x: jax.lax.fori_loop(0, 4, lambda i, c: c + x[i] * c, 1.0), (normal(4),)),
    "while, each member as long as it asks": (
        jax.vmap(lambda x: jax.lax.while_loop(lambda c: c[0] < 4 * x[0], lambda c: (c[0] + 1, c[1] * x), (0, x))[1]),
        (normal(5, 3),),
    ),
    "while": (lambda x: jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, x)), (normal(2),)),
    "whiles of a batch": (
        lambda x: jax.vmap(lambda n, y: jax.lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * y), (0, y)))(
            jnp.array([1, 3, 2]), x
        ),
        (normal(3, 2),),
    ),
    "cond": (lambda x: jax.lax.cond(x.shape[0] > 2, lambda y: 2 * y, lambda y: y, x), (normal(3),)),
    "triangle": (lambda x: jnp.sum(jnp.where(jnp.tril(jnp.ones((3, 3), bool)), x, 0.0), axis=1), (normal(3, 3),)),
    "remat": (jax.grad(lambda x: jnp.sum(jax.checkpoint(lambda y: jnp.tanh(y) ** 2)(x))), (normal(3),)),
    "einsum": (lambda x, y: jnp.einsum("bij,bkj->ibk", x, y), (normal(2, 3, 4), normal(2, 2, 4))),
    "padding": (lambda x: jax.lax.pad(x, jnp.asarray(1.5, x.dtype), [(1, 2, 1), (-1, 0, 0)]), (normal(3, 3),)),
    "stacks": (
        lambda x: jnp.stack(jnp.unstack(x, axis=1), axis=0) @ jnp.tile(jnp.stack([x, 2 * x], axis=1).sum(1), (1, 2)),
        (normal(3, 3),),
    ),
    "sorts": (
        lambda x: (jnp.sort(x, axis=0), jnp.argsort(x, axis=1), jnp.argmax(x), jnp.argmin(x, axis=1)),
        (normal(3, 4),),
    ),
    "sort gradient": (jax.grad(lambda x: jnp.sum(jnp.sort(x) * jnp.arange(4.0))), (normal(4),)),
    "increments": (lambda x: jnp.searchsorted(jnp.arange(4), 2) * jnp.diff(x), (increments(4),)),
}


def exactly(entry):
    return fmpq(*float(entry).as_integer_ratio())


def distances(balls, floats):
    """How far each float is at least, and at most, from the number in its ball."""
    with flint.ctx.workprec(256):
        gaps = [abs(one - exactly(other)) for one, other in zip(balls.reshape(-1), floats.reshape(-1), strict=True)]
        return [gap.abs_lower() for gap in gaps], [gap.abs_upper() for gap in gaps]


# Networks take seconds to compile in both formats, whatever their inputs: one draw of each.
DRAWN = [(name, seed) for name in PROGRAMS for seed in range(1 if name.startswith("network") else 3)]


@pytest.mark.parametrize(("name", "seed"), DRAWN)
def test_no_float_execution_leaves_the_error_bound_around_the_ball(name, seed):
    program, makers = PROGRAMS[name]
    arguments = [make(np.random.default_rng([seed, *name.encode()])) for make in makers]
    for dtype in ("float64", "float32"):
        stored = [argument.astype(dtype).astype(np.float64) for argument in arguments]
        balls = jax.tree_util.tree_leaves(evaluate(program, stored, Ball(256)))
        bounds = jax.tree_util.tree_leaves(evaluate(program, stored, RunningError(dtype)))
        inputs = [jnp.asarray(argument, dtype) for argument in stored]
        with jax.default_matmul_precision("highest"):
            floats = jax.tree_util.tree_leaves(jax.jit(lambda *given, run=program: run(*given))(*inputs))
        assert len(balls) == len(bounds) == len(floats)
        for ball, bound, array in zip(balls, bounds, floats, strict=True):
            if ball.dtype != object:
                np.testing.assert_array_equal(ball, array)
                continue
            assert ball.shape == bound.value.shape == array.shape
            assert np.all(np.isfinite(bound.error))
            for values in (np.asarray(array), bound.value):
                _, most = distances(ball, values)
                assert all(gap <= exactly(limit) for gap, limit in zip(most, bound.error.reshape(-1), strict=True))


@pytest.mark.parametrize("name", ["residual scan", "attention"])
def test_the_bound_holds_over_many_seeds(name):
    program, makers = PROGRAMS[name]
    for seed in range(40):
        draws = np.random.default_rng([7, seed])
        stored = [make(draws).astype(np.float32).astype(np.float64) for make in makers]
        balls = jax.tree_util.tree_leaves(evaluate(program, stored, Ball(256)))
        bounds = jax.tree_util.tree_leaves(evaluate(program, stored, RunningError("float32")))
        floats = jax.tree_util.tree_leaves(
            jax.jit(lambda *given, run=program: run(*given))(*[jnp.asarray(entry, jnp.float32) for entry in stored])
        )
        for ball, bound, array in zip(balls, bounds, floats, strict=True):
            _, most = distances(ball, np.asarray(array))
            assert all(gap <= exactly(limit) for gap, limit in zip(most, bound.error.reshape(-1), strict=True))


def test_a_planted_rounding_error_is_not_covered():
    # The power of the test above: a program that rounds to half precision on the way leaves the bound of float32.
    draws = np.random.default_rng(0)
    stored = [make(draws).astype(np.float32).astype(np.float64) for make in SQUARES]
    balls = evaluate(attention, stored, Ball(256))
    bound = evaluate(attention, stored, RunningError("float32"))
    coarse = [jnp.asarray(entry, jnp.float16).astype(jnp.float32) for entry in stored]
    least, _ = distances(balls, np.asarray(attention(*coarse)))
    assert any(gap > exactly(limit) for gap, limit in zip(least, bound.error.reshape(-1), strict=True))


def test_a_number_the_dtype_cannot_hold_brings_its_rounding_error():
    lifted = RunningError("float32").lift(np.array([0.1, 0.5]))
    assert lifted.error[0] >= abs(0.1 - float(np.float32(0.1)))
    assert lifted.error[1] == 0


def test_the_error_domain_decides_no_comparison_inside_its_error():
    x = Running(np.array([1.0]), np.array([0.25]))
    with pytest.raises(UndecidedComparison):
        evaluate(lambda v: jnp.where(v > 1.25, v, 0.0), (x,), RunningError())
    with pytest.raises(UndecidedComparison):
        evaluate(lambda v: jnp.sign(v - 1), (x,), RunningError())
    assert evaluate(lambda v: jnp.where(v > 0.25, v, 0.0), (x,), RunningError()).value[0] == 1.0


def test_a_maximum_is_the_argument_that_wins_and_nothing_else_in_the_error_domain():
    x = Running(np.array([1.0, 2.0, 2.0]), np.array([0.25, 0.25, 0.25]))
    program = lambda v: (v == jnp.maximum(v, jnp.array([0.0, 0.0, 5.0])), jnp.maximum(v, 1.5 + 0 * v))  # noqa: E731
    np.testing.assert_array_equal(evaluate(program, (x,), RunningError())[0], [True, True, False])
    with pytest.raises(UndecidedComparison):  # two maxima of one number with two others may differ
        evaluate(lambda v: jnp.maximum(v, 1.9) == jnp.maximum(v, 2.1), (x,), RunningError())
    with pytest.raises(UndecidedComparison):
        evaluate(lambda v: v == v + 0 * v, (x,), RunningError())
    gradient = evaluate(jax.grad(jnp.max), (Running(np.array([1.0, 3.0]), np.array([0.25, 0.25])),), RunningError())
    np.testing.assert_array_equal(gradient.value, [0.0, 1.0])


ORDERED = {"sort": jnp.sort, "argmax": jnp.argmax, "argmin": jnp.argmin, "argsort": jnp.argsort, "round": jnp.round}


@pytest.mark.parametrize("name", ORDERED)
def test_an_order_is_followed_where_it_is_decided_and_nowhere_else(name):
    program = ORDERED[name]
    apart = np.array([arb(2.25, 0.125), arb(-1), arb(0.25, 0.125)], dtype=object)
    found = evaluate(program, (apart,), Ball())
    wanted = np.asarray(program(jnp.array([2.25, -1.0, 0.25])))
    carried = found if found.dtype == object else Ball().lift(found)
    for one, other in zip(carried.reshape(-1), wanted.reshape(-1), strict=True):
        assert one.contains(arb(float(other)))
    close = np.array([arb(0.5, 0.25), arb(0.625, 0.25)], dtype=object)
    with pytest.raises(UndecidedComparison):
        evaluate(program, (close,), Ball())
    with pytest.raises(UndecidedComparison):
        evaluate(program, (FiniteField(101).random((3,), random.Random(0)),), FiniteField(101))


def test_equal_keys_keep_their_places():
    twice = np.array([2.0, 1.0, 2.0, 1.0])
    np.testing.assert_array_equal(evaluate(jnp.argsort, (twice,), Ball()), [1, 3, 0, 2])
    assert evaluate(jnp.argmax, (twice,), Ball()) == 0
    assert evaluate(jnp.argmin, (twice,), RunningError()) == 1


def test_remainders_are_those_of_the_program():
    x, y = np.array([5.5, -5.5, 5.5, -0.75]), np.array([2.0, 2.0, -2.0, 0.5])
    for program in (jnp.fmod, jnp.mod):
        found = evaluate(program, (x, y), Ball())
        assert [float(entry) for entry in found] == np.asarray(program(x, y)).tolist()


def test_a_value_that_may_leave_the_domain_of_a_function_has_no_bound():
    x = Running(np.array([0.25]), np.array([0.25]))
    for function in (jnp.log, jnp.sqrt, lambda v: 1 / v, jax.lax.rsqrt, lambda v: v**0.3):
        assert evaluate(function, (x,), RunningError()).error[0] == np.inf


def test_overflow_of_the_dtype_has_no_bound():
    assert evaluate(lambda v: v * v, (np.array([1e30]),), RunningError("float32")).error[0] == np.inf
    assert evaluate(lambda v: v * v, (np.array([1e30]),), RunningError("float64")).error[0] < 1e45


def test_an_unmeasured_dtype_is_refused():
    with pytest.raises(UsageError, match="float32, float64"):
        RunningError("bfloat16")


def test_symbols_run_through_a_program():
    a = np.array([[sympy.Symbol(f"a{i}{j}", real=True) for j in range(2)] for i in range(2)], dtype=object)
    trace = evaluate(
        lambda m: jnp.trace(m @ m) - jnp.trace(m) ** 2 + 2 * (m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]), (a,), Symbolic()
    )
    assert sympy.expand(trace.item()) == 0


def test_a_float_constant_is_never_folded():
    value = evaluate(lambda v: v * jnp.sqrt(2.0) + 0.1, (np.array(sympy.Symbol("t"), dtype=object),), Symbolic())
    assert value.item() == sympy.sqrt(2) * sympy.Symbol("t") + sympy.Rational(*(0.1).as_integer_ratio())


def test_a_symbolic_branch_needs_an_assumption():
    free, signed = sympy.Symbol("r", real=True), sympy.Symbol("s", positive=True)
    program = lambda v: jnp.where(v > 0, v, -v)  # noqa: E731
    with pytest.raises(UndecidedComparison):
        evaluate(program, (np.array(free, dtype=object),), Symbolic())
    assert evaluate(program, (np.array(signed, dtype=object),), Symbolic()).item() == signed


def test_truth_values_become_exact_numbers_and_integers_stay():
    masked = evaluate(lambda v: v * jnp.array([True, False]), (np.array([3.0, 5.0]),), Ball())
    assert masked[0] == 3
    assert masked[1].is_zero()
    index = evaluate(lambda v: (v, jnp.arange(3) + v.shape[0]), (np.ones(2),), Ball())[1]
    np.testing.assert_array_equal(index, [2, 3, 4])


def test_rationals_and_modules_are_arguments():
    third = np.array([Fraction(1, 3), Fraction(2, 3), Fraction(-1, 3)], dtype=object)
    layer = eqx.nn.Linear(3, 2, key=jax.random.key(0))
    balls = evaluate(lambda f, v: f(v), (layer, third), Ball(128))
    weight, bias = np.asarray(layer.weight), np.asarray(layer.bias)
    for row in range(2):
        exact = sum(
            exactly(w) * fmpq(int(v.numerator), int(v.denominator)) for w, v in zip(weight[row], third, strict=True)
        )
        with flint.ctx.workprec(256):
            assert (balls[row] - (exact + exactly(bias[row]))).contains(0)


def test_single_precision_leaves_are_read_exactly_and_casts_are_the_identity():
    stored = jnp.asarray([0.1], jnp.float32)
    value = evaluate(lambda v: v.astype(jnp.float16).astype(jnp.float64), (stored,), Ball(30))
    assert value[0].fmpq() == exactly(stored[0])


def test_dead_steps_are_not_asked():
    # A maximum beside itself: its tie count is compared and thrown away.
    sides = np.array([arb(0, 1), arb(0.5, 1)], dtype=object)
    assert (
        evaluate(lambda v: (jnp.where(v[0] > v[1], 1.0, 2.0), jnp.max(v))[1], (sides,), Ball()).item().contains(arb(1))
    )


UNKNOWN = {
    "svd": (lambda v: jnp.linalg.svd(v, compute_uv=False), (np.eye(2),)),
    "erf_inv": (jax.scipy.special.erfinv, (np.full(2, 0.5),)),
    "qr": (jnp.linalg.qr, (np.eye(2),)),
    "convert_element_type": (lambda v: v.astype(int), (np.ones(2),)),
    "complex": (lambda v: jnp.real(v * 1j), (np.ones(2),)),
    "scatter": (lambda v: 0 * v.at[jnp.array([0, 0])].set(v), (np.ones(2),)),
    "gather": (lambda v: jnp.take(v, jnp.array([7])), (np.ones(2),)),
}


@pytest.mark.parametrize("domain", [Ball(), Symbolic(), RunningError()], ids=lambda domain: domain.name)
@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unsupported_primitive_raises_and_never_falls_back(name, domain):
    function, arguments = UNKNOWN[name]
    with pytest.raises(UnsupportedPrimitive) as caught:
        evaluate(function, arguments, domain)
    assert caught.value.domain in (domain.name, "data movement")


@pytest.mark.parametrize("domain", [Ball(), Symbolic(), RunningError()], ids=lambda domain: domain.name)
def test_every_domain_keeps_the_laws_of_movement(domain):
    numbers = np.array([[0.5, -1.25], [3.0, 0.0]])
    carried = domain.lift(numbers)
    assert domain.shape(carried) == (2, 2)
    there = domain.take(carried, np.array([3, 2, 1, 0]))
    back = domain.take(domain.join([there]), np.array([[3, 2], [1, 0]]))
    assert np.all(domain.compare("eq", carried, back))
    assert np.all(domain.is_finite(carried))
    assert not np.any(domain.compare("lt", carried, domain.lift(numbers)))


@jax.custom_jvp
def misleading(v):
    return v**3


misleading.defjvp(lambda primals, tangents: (misleading(*primals), 5.0 * tangents[0]))


@pytest.mark.parametrize(
    ("program", "true", "stated"),
    [
        (misleading, 12.0, 5.0),
        (lambda v: jax.lax.stop_gradient(v) * v, 4.0, 2.0),
        (lambda v: jax.lax.scan(lambda c, _: (misleading(c) / 4, c), v, None, length=2)[0], 9.0, 25 / 16),
        (lambda v: jax.lax.cond(True, misleading, jnp.sin, v), 12.0, 5.0),
        (jax.jit(misleading), 12.0, 5.0),
    ],
)
def test_the_derivative_of_the_entered_program_is_the_true_one(program, true, stated):
    assert float(jax.grad(program)(2.0)) == stated
    assert float(entered(program)(2.0)) == float(program(2.0))
    gradient = evaluate(jax.grad(entered(program)), (np.array(2.0),), Ball())
    assert gradient.item().contains(arb(true))
    assert float(gradient.item().mid()) == true


def test_a_name_is_in_one_table_only():
    assert not set(UNARY) & set(BINARY)
    assert not set(UNARY) & set(RULES)


def test_the_fingerprint_names_the_operations_and_the_constants():
    arguments = (np.ones((2, 3)), np.ones((3, 3)), np.ones((3, 3)), np.ones((3, 3)))
    one = fingerprint(attention, arguments)
    assert one == fingerprint(attention, [2 * entry for entry in arguments])
    assert one != fingerprint(attention, (np.ones((4, 3)), *arguments[1:]))
    assert fingerprint(lambda v: v * 2.0, (np.ones(1),)) != fingerprint(lambda v: v * 3.0, (np.ones(1),))
    table = np.array([1.0, 2.0])
    assert fingerprint(lambda v: v + table, (np.ones(2),)) != fingerprint(lambda v: v + 2 * table, (np.ones(2),))
    assert fingerprint(jax.nn.relu, (np.ones(2),)) == fingerprint(jax.nn.relu, (np.ones(2),))


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (0.0, -0.0), (1, True)])
def test_a_known_trace_is_not_that_of_another_number_that_python_calls_equal(one, other):
    known = KnownPrograms()
    seen = []

    def program(x, leaf):
        seen.append(leaf)
        return x * leaf

    for leaf in (one, other, one):
        evaluate(program, (np.ones(2), leaf), Ball(), known)
    assert [repr(leaf) for leaf in seen] == [repr(one), repr(other)]


@dataclass
class Table:
    """Numbers that do not compare as one truth value."""

    entries: np.ndarray


class Scaled(eqx.Module):
    """A number that is a part of the structure, not a leaf."""

    x: np.ndarray
    by: Any = eqx.field(static=True)


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (0.0, -0.0), (1, True), (Table(np.ones(2)), Table(np.ones(2)))])
def test_a_known_trace_is_not_that_of_another_number_in_a_field_of_a_structure(one, other):
    known, seen = KnownPrograms(), []

    def program(model):
        seen.append(model.by)
        return model.x * getattr(model.by, "entries", model.by)

    for field in (one, other, one):
        evaluate(program, (Scaled(np.ones(2), field),), Ball(), known)
    assert [repr(field) for field in seen] == [repr(one), repr(other)]


def test_programs_that_hold_other_numbers_have_other_names():
    model = (np.ones(3),)
    names = [program_name(model, {"gamma": gamma}) for gamma in (np.asarray(0.5), np.asarray(1.0), 1.0, 1, True)]
    assert len(set(names)) == len(names)
    assert program_name(model, {"gamma": 1.0}) == program_name(
        (jax.ShapeDtypeStruct((3,), np.float64),), {"gamma": 1.0}
    )
    assert program_name((np.ones(4),)) != program_name(model)
    assert program_name((np.ones(3, np.float32),)) != program_name(model)
