"""False claims built on what a naive certifier does not see are never certified; their true twins may be.

Every program speaks of x in [0, 1] and is claimed to be nowhere negative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flint import arb, fmpq

from theorax.decide.status import Status
from theorax.exact.branch_and_bound import certify_on_box
from theorax.exact.enclosures import Box, Enclosure, ball_of_interval
from theorax.numerics.arithmetics import Ball, UndecidedComparison, UnsupportedPrimitive, evaluate
from theorax.numerics.arithmetics.custom_rules import entered
from theorax.numerics.arithmetics.slopes import Slope

Program = Callable[[Any], Any]
DOMAIN = Box.of([(0, 1)])
BUDGET = 300
ROOT_OF_TWO = np.sqrt(2.0)  # the double above the root of two


def declared(slope: float) -> Program:
    """x -> x squared, with this derivative declared by a custom JVP rule."""

    @jax.custom_jvp
    def square(x: Any) -> Any:
        return x * x

    square.defjvp(lambda primals, tangents: (square(*primals), slope * tangents[0]))
    return square


def declared_backward(slope: float) -> Program:
    """x -> x squared, with this derivative declared by a custom VJP rule."""

    @jax.custom_vjp
    def square(x: Any) -> Any:
        return x * x

    square.defvjp(lambda x: (x * x, None), lambda _, cotangent: (slope * cotangent,))
    return square


def turned(x: Any) -> Any:
    """One round of a loop if x is below 0.9, none else."""
    return jax.lax.while_loop(lambda c: c[0] < 0.9, lambda c: (c[0] + 1.0, -1.0), (x, 1.0))[1]


# The claim that the program is at least minus its constant: (what is added in the false claim, in the true twin).
PANEL: dict[str, tuple[Program, float, float]] = {
    "where": (lambda x: jnp.where(x > 0.9, -1.0, 1.0), 0.0, 2.0),
    "select of slopes": (lambda x: jnp.where(x > 0.9, x - 1.5, x), 0.0, 1.0),
    "sign": (lambda x: jnp.sign(0.95 - x), 0.0, 1.5),
    "floor": (lambda x: -jnp.floor(x + 0.05), 0.5, 1.5),
    "ceil": (lambda x: -jnp.ceil(x - 0.95), 0.5, 1.5),
    "round": (lambda x: -jnp.round(x), 0.5, 1.5),
    "remainder": (lambda x: jax.lax.rem(x + 0.2, 1.0), -0.1, 0.1),
    "modulo": (lambda x: jnp.mod(x + 0.2, 1.0), -0.1, 0.1),
    "stop_gradient": (lambda x: -(jax.lax.stop_gradient(x) ** 2), 0.3, 1.5),
    "stop_gradient under jit": (lambda x: -jax.jit(jax.lax.stop_gradient)(x), 0.3, 1.5),
    "a wrong custom_jvp": (lambda x: -declared(0.0)(x), 0.3, 1.5),
    "a wrong custom_jvp in a scan": (
        lambda x: -jax.lax.scan(lambda c, _: (declared(0.0)(c), None), x, None, length=2)[0], 0.3, 1.5,
    ),
    "a wrong custom_vjp": (lambda x: -declared_backward(0.0)(x), 0.3, 1.5),
    "a frozen constant": (lambda x: 2.0 - ROOT_OF_TWO * ROOT_OF_TWO + 0.0 * x, 0.0, 1e-15),
    "a constant that floats absorb": (lambda x: (x + 1e17) - 1e17 - x - 1e-9, 0.0, 1e-8),
    "a comparison as a number": (lambda x: (x < 0.95).astype(float), -0.5, 0.5),
    "an integer cast": (lambda x: -(x + 0.05).astype(int).astype(float), 0.5, 1.5),
    "argmax and gather": (
        lambda x: jnp.asarray([1.0, -1.0])[jnp.argmax(jnp.stack([jnp.full_like(x, 0.9), x]))], 0.0, 1.5,
    ),
    "a dynamic index": (
        lambda x: jax.lax.dynamic_index_in_dim(jnp.asarray([1.0, -1.0]), (x > 0.9).astype(int), 0, False), 0.0, 1.5,
    ),
    "cond": (lambda x: jax.lax.cond(x > 0.9, lambda y: -y, lambda y: y, x), 0.0, 1.5),
    "a while loop": (lambda x: -turned(x), 0.0, 1.5),
    "a tie of reduce_max": (lambda x: -jnp.max(jnp.stack([x, 1 - x, jnp.full_like(x, 0.5)])), 0.9, 1.5),
    "relu": (lambda x: -jax.nn.relu(x - 0.9), 0.05, 0.5),
    "clip": (lambda x: -jnp.clip(x, 0.1, 0.97), 0.95, 1.0),
    "heaviside": (lambda x: -jnp.heaviside(x - 0.9, 0.5), 0.4, 1.5),
    "atan2 on its cut": (lambda x: jnp.arctan2(x - 0.5, -1.0), 0.0, 4.0),
    "a sorted entry": (lambda x: -jnp.sort(jnp.stack([x, 1 - x]))[1], 0.9, 1.5),
    "is finite": (lambda x: -jnp.isfinite(x).astype(float), 0.5, 1.5),
}  # fmt: skip

# No value at all in a part of the box: a bound of it is no bound everywhere.
UNDEFINED: dict[str, Program] = {
    "logarithm of a negative number": lambda x: jnp.log(x - 0.3) + 1e3,
    "root of a negative number": lambda x: jnp.sqrt(x - 0.3),
    "zero over zero": lambda x: (x - 0.3) / (x - 0.3),
    "zero over zero at the midpoint": lambda x: (x - 0.5) / (x - 0.5),
    "zero times infinity": lambda x: 0.0 * (1 / (x - 0.25)) + 1,
    "a number that is none": lambda x: jnp.where(x > 0.9, jnp.nan, 1.0),
    "the larger of one and no number": lambda x: jnp.maximum(jnp.log(x - 0.3), 1.0),
    "the bounded function of a pole": lambda x: jnp.tanh(1 / (x - 0.25)) + 2,
    "no number times zero": lambda x: 1.0 + 0.0 * jnp.log(x - 0.3),
    "a power of a negative number": lambda x: (x - 0.3) ** 0.5 + 1,
}

# What must be certified: a panel on which nothing is ever certified shows nothing.
CERTIFIED = {
    "where", "select of slopes", "sign", "floor", "ceil", "stop_gradient", "stop_gradient under jit",
    "a wrong custom_jvp", "a wrong custom_jvp in a scan", "a wrong custom_vjp", "a frozen constant",
    "a comparison as a number", "a tie of reduce_max", "relu", "clip", "a dynamic index", "cond", "is finite",
    "a constant that floats absorb",
}  # fmt: skip


def claimed(program: Program, added: float) -> Program:
    return lambda v: program(v[0]) + added


@pytest.mark.parametrize("name", PANEL)
def test_a_false_claim_is_never_certified(name: str) -> None:
    program, false, _ = PANEL[name]
    at = np.linspace(0.0, 1.0, 4001)
    floats = jax.vmap(lambda x: claimed(program, false)(x[None]))(jnp.asarray(at))
    exact_only = name in ("a frozen constant", "a constant that floats absorb")
    assert float(floats.min()) < 0 or exact_only, "the claim is not false"
    assert verdict(claimed(program, false)) is not Status.CERTIFIED


@pytest.mark.parametrize("name", PANEL)
def test_its_true_twin_is_certified_or_honestly_open(name: str) -> None:
    program, _, true = PANEL[name]
    expected = {Status.CERTIFIED} if name in CERTIFIED else {Status.CERTIFIED, Status.INCONCLUSIVE}
    assert verdict(claimed(program, true)) in expected


@pytest.mark.parametrize("name", UNDEFINED)
def test_a_program_without_a_value_somewhere_is_never_certified(name: str) -> None:
    assert verdict(claimed(UNDEFINED[name], 0.0)) is not Status.CERTIFIED


def verdict(program: Program, enclosure: type[Enclosure] = Enclosure) -> Status:
    try:
        function = enclosure(program, 1)
    except UnsupportedPrimitive:
        return Status.INCONCLUSIVE
    return certify_on_box(function, DOMAIN, budget=BUDGET).status


class Declared(Enclosure):
    """Without guard (i): the slopes are those of ``jax.grad`` of the author's function."""

    def __init__(self, function: Program, dimension: int):
        super().__init__(function, dimension)
        self.gradient = jax.grad(function)

    def over(self, sides: Any, precision: int) -> Slope:
        whole = super().over(sides, precision)
        return Slope(whole.value, slopes_of(self.gradient, sides, precision))


class Smooth(Enclosure):
    """Without guard (ii): where something may jump, the slopes of the pieces are believed."""

    def __init__(self, function: Program, dimension: int):
        super().__init__(function, dimension)
        self.gradient = jax.grad(entered(function))

    def over(self, sides: Any, precision: int) -> Slope:
        try:
            return super().over(sides, precision)
        except UndecidedComparison:
            unknown = arb(0, 1e9)  # finite, and no bound worth the name
            return Slope(unknown, slopes_of(self.gradient, sides, precision))


def slopes_of(gradient: Program, sides: tuple[tuple[fmpq, fmpq], ...], precision: int) -> tuple[arb, ...]:
    balls = np.empty(len(sides), dtype=object)
    balls[:] = [ball_of_interval(*side) for side in sides]
    return tuple(evaluate(gradient, (balls,), Ball(precision)))


@pytest.mark.parametrize(
    ("engine", "fooled"),
    [
        (Declared, {"stop_gradient", "a wrong custom_jvp", "a wrong custom_vjp"}),
        (Smooth, {"where", "sign", "floor", "a comparison as a number"}),
    ],
)
def test_an_engine_without_a_guard_certifies_false_claims(engine: type[Enclosure], fooled: set[str]) -> None:
    certified = {name for name in fooled if verdict(claimed(*PANEL[name][:2]), engine) is Status.CERTIFIED}
    assert certified == fooled
