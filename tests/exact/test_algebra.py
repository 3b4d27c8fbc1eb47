"""Exact algebra of polynomial claims: what is proved holds, what is false is never proved, a proof is checked."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import Any

import jax.numpy as jnp
import pytest
from flint import fmpq, fmpq_poly

from theorax import exact
from theorax.exact.algebra import Squares, Sturm, proof_of, value_at
from theorax.exact.enclosures import Box, Enclosure

BOX3 = [(-3, 5), (-4, 4), (-2, 7)]
TRUE: dict[str, tuple[Callable[[Any], Any], list[tuple[Any, Any]], type]] = {
    "a difference of three": (lambda v: v @ v - v[0] * v[1] - v[1] * v[2] - v[2] * v[0], BOX3, Squares),
    "with linear terms": (lambda v: (v[0] - 2 * v[1] + 3) ** 2 + (v[2] - 1) ** 2, BOX3, Squares),
    "a constant": (lambda v: 0 * v[0] + 1, BOX3, Squares),
    "zero": (lambda v: 0 * v[0], BOX3, Squares),
    "a quarter": (lambda v: 0.25 - v[0] * (1 - v[0]), [(0, 1)], Squares),
    "a tangent": (lambda v: v[0] ** 3 - 3 * v[0] + 2, [(-2, 5)], Sturm),
    "roots at both ends": (lambda v: v[0] * (1 - v[0]) * (v[0] - 0.5) ** 2, [(0, 1)], Sturm),
    "one letter of two": (lambda v: v[1] ** 4 - 2 * v[1] ** 2 + 1, [(0, 1), (-3, 3)], Sturm),
}
FALSE: dict[str, tuple[Callable[[Any], Any], list[tuple[Any, Any]]]] = {
    "nearly a difference of three": (
        lambda v: v @ v * (1 - 2.0**-40) - v[0] * v[1] - v[1] * v[2] - v[2] * v[0], BOX3,
    ),
    "a saddle": (lambda v: v[0] * v[1], BOX3),
    "nearly a quarter": (lambda v: 0.25 - 2.0**-50 - v[0] * (1 - v[0]), [(0, 1)]),
    "nearly a tangent": (lambda v: v[0] ** 3 - 3 * v[0] + 2 - 2.0**-50, [(-2, 5)]),
    "negative inside": (lambda v: (v[0] - 0.25) * (v[0] - 0.5) * (v[0] + 1), [(0, 1)]),
    "negative between two triple roots": (lambda v: (v[0] - 0.25) ** 3 * (v[0] - 0.5) ** 3, [(0, 1)]),
    "negative throughout": (lambda v: -1 - v[0] ** 4, [(0, 1)]),
}  # fmt: skip


def proof(function: Any, sides: Any, slack: Any = 0) -> Any:
    return proof_of(Enclosure(function, len(sides)), Box.of(sides), fmpq(slack))


@pytest.mark.parametrize("name", TRUE)
def test_what_holds_is_proved_and_checked(name: str) -> None:
    function, sides, kind = TRUE[name]
    found = proof(function, sides)
    assert isinstance(found, kind)
    assert found.holds()


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is_not_proved(name: str) -> None:
    assert proof(*FALSE[name]) is None


@pytest.mark.parametrize("name", [name for name, (_, _, kind) in TRUE.items() if kind is Squares])
def test_altered_squares_do_not_hold(name: str) -> None:
    found = proof(*TRUE[name][:2])
    matrix = [list(row) for row in found.matrix]
    matrix[0][0] -= fmpq(1, 10**30)
    assert not replace(found, matrix=matrix).holds()


@pytest.mark.parametrize("name", [name for name, (_, _, kind) in TRUE.items() if kind is Sturm])
def test_an_altered_chain_does_not_hold(name: str) -> None:
    found = proof(*TRUE[name][:2])
    assert not replace(found, polynomial=found.polynomial - fmpq(1, 10**30)).holds()
    assert not replace(found, chain=found.chain[:1]).holds() or found.chain[0].degree() == 0
    assert not replace(found, low=found.low + fmpq(1, 7)).holds() or not found.ends
    assert not replace(found, above=found.low).holds()
    assert not replace(found, ends=(fmpq(1, 3),)).holds()


def test_random_polynomials_of_one_variable_are_decided_as_their_roots_say() -> None:
    draws = random.Random(1)
    for _ in range(200):
        roots = [(Fraction(draws.randrange(-9, 10), 4), draws.randrange(1, 4)) for _ in range(draws.randrange(1, 5))]
        sign = draws.choice((-1, 1))
        polynomial = reduce(lambda p, part: p * fmpq_poly([-fmpq(part[0].numerator, part[0].denominator), 1]) ** part[1],
                            roots, fmpq_poly([sign]))  # fmt: skip
        coefficients = [float(Fraction(int(c.p), int(c.q))) for c in polynomial.coeffs()]  # dyadic, so exact
        points = [fmpq(k, 8) for k in range(-16, 17)]  # between any two roots, and at the ends
        wanted = all(polynomial(point) >= 0 for point in points)

        def function(v: Any, coefficients: list[float] = coefficients) -> Any:
            return sum((c * v[0] ** power for power, c in enumerate(coefficients)), 0.0 * v[0])

        assert (proof(function, [(-2, 2)]) is not None) == wanted


def test_a_value_of_a_polynomial_is_exact() -> None:
    enclosure = Enclosure(lambda v: v[0] ** 3 * v[1] + 0.5, 2)
    assert value_at(enclosure, [fmpq(1, 3), fmpq(2)]) == fmpq(31, 54)
    assert value_at(Enclosure(lambda v: jnp.tanh(v[0]), 1), [fmpq(1)]) is None


def test_equality_inside_the_box_is_certified_and_said() -> None:
    found = exact.certify(lambda t: t * (1 - t), {"t": (0, 1)}, at_most=lambda t: 0.25)
    assert found.status == "CERTIFIED"
    assert "squares" in found.sentence or "square" in found.sentence
    least = exact.minimum(lambda v: v[0] ** 4 - 2 * v[0] ** 2, [1], box=[(-2, 2)])
    assert least.status == "CERTIFIED"
    assert "Sturm" in least.sentence
