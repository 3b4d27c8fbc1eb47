"""The search for counterexamples: what it finds where violations are planted, and what its silence supports."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import binom

from theorax import exact
from theorax.errors import UsageError
from theorax.exact.counterexamples import FAMILIES, Search, search_box, structured
from theorax.exact.enclosures import Box, Enclosure


def found(function: Callable[[Any], Any], dimension: int, rng: np.random.Generator, **options: Any) -> Search:
    box = Box.of([(0, 1)] * dimension)
    return search_box(Enclosure(function, dimension), function, box, rng, draws=0, **options)


@pytest.mark.parametrize(
    ("dimension", "radius", "family", "rate"),
    [(2, 0.02, "uniform", 0.995), (2, 0.02, "Sobol", 1.0), (8, 0.1, "ascent", 1.0), (8, 0.1, "uniform", 0.0)],
)
def test_planted_violations_are_found_as_often_as_measured(
    dimension: int, radius: float, family: str, rate: float, rng: np.random.Generator
) -> None:
    hits, runs = 0, 8
    for _ in range(runs):
        centre = radius + (1 - 2 * radius) * rng.random(dimension)
        answer = found(lambda x, c=centre: jnp.sum((x - c) ** 2) - radius**2, dimension, rng, families=(family,))
        hits += answer.refuted is not None
        if answer.refuted is not None:
            assert answer.refuted.point is not None
            far = sum((x - Fraction(float(c))) ** 2 for x, c in zip(answer.refuted.point, centre, strict=True))
            assert far < Fraction(radius) ** 2
    assert binom.ppf(0.0005, runs, rate) <= hits <= binom.ppf(0.9995, runs, rate)


def test_structured_points_find_what_lies_on_a_corner_or_a_diagonal(rng: np.random.Generator) -> None:
    corner = found(lambda x: jnp.sum(1 - x) - 1e-9, 6, rng, families=("structured",))
    diagonal = found(lambda x: jnp.sum((x - x[0]) ** 2) - 1e-9, 3, rng, families=("structured",))
    nothing = found(lambda x: jnp.sum(1 - x) - 1e-9, 6, rng, families=("uniform",))
    assert corner.refuted is not None and diagonal.refuted is not None and nothing.refuted is None
    points = structured(3, 400, rng)
    assert ((points >= 0) & (points <= 1)).all()


def test_an_ascent_of_the_ratio_finds_what_the_difference_hides(rng: np.random.Generator) -> None:
    # The sides span forty orders of magnitude; the left exceeds the right where both are tiny.
    def left(x: Any) -> Any:
        return jnp.exp(-90 * x[0]) * (1 + 0.5 * jnp.exp(-(((x[0] - 0.9) / 0.01) ** 2) - ((x[1] - 0.3) / 0.05) ** 2))

    def right(x: Any) -> Any:
        return jnp.exp(-90 * x[0]) * 1.1

    box = Box.of([(0, 1)] * 2)
    program = lambda x: right(x) - left(x)  # noqa: E731
    enclosure = Enclosure(program, 2)
    answer = search_box(enclosure, program, box, rng, draws=0, sides=(left, right), families=FAMILIES)
    assert answer.refuted is not None


def test_silence_supports_a_share_of_the_box_and_no_more() -> None:
    verdict = exact.search(lambda x: jnp.sum(x**2), [(-1, 1)] * 2, draws=300)
    assert verdict.status == "SUPPORTED" and not verdict.rigorous
    assert "at most a share 0.012" in verdict.sentence  # 1 - 0.025^(1/300)
    assert "uniform measure" in verdict.scope
    few = exact.search(lambda x: jnp.sum(x**2), [(-1, 1)] * 2, draws=50)
    assert (few.status, few.reason) == ("INCONCLUSIVE", "underpowered")


def test_floats_that_object_where_no_ball_does_refute_nothing() -> None:
    # Zero in real arithmetic; in floats the smaller number loses its last digits, in either direction.
    verdict = exact.search(lambda x, y: (x + 1e8 * y) - 1e8 * y - x, {"x": (0, 1), "y": (0, 1)})
    assert (verdict.status, verdict.reason) == ("INCONCLUSIVE", "numeric_floor")


def test_a_rounded_constant_is_the_number_that_the_program_holds() -> None:
    third = (
        1 / 3
    )  # a double below a third: three times it, in Python's floats, is one; the double itself is not a third
    verdict = exact.certify(lambda x: third * x, {"x": (1, 2)}, at_most=lambda x: (3 * third) * x / 3)
    assert verdict.status == "CERTIFIED"
    assert exact.certify(lambda x: x / 3, {"x": (1, 2)}, at_most=lambda x: third * x).status == "REFUTED"


def test_a_refutation_shows_exact_rationals() -> None:
    verdict = exact.search(lambda x, y: x * y, {"x": (0, 1), "y": (0, 1)}, at_most=lambda x, y: (x**2 + y**2) / 3)
    assert verdict.status == "REFUTED" and verdict.rigorous
    point = dict(part.split(" = ") for part in verdict.sentence.split(" at ")[1].split(":")[0].split(", "))
    x, y = (Fraction(point[name]) for name in "xy")
    assert x * y > (x**2 + y**2) / 3
    assert verdict.tightness is not None and verdict.tightness[2] > 1


def test_the_same_call_gives_the_same_verdict_and_another_seed_other_points() -> None:
    first, again = (exact.search(lambda x: jnp.cos(x[0]) + 2, [(0, 9)]) for _ in range(2))
    assert first == again
    assert exact.search(lambda x: jnp.cos(x[0]) + 2, [(0, 9)], seed=1).tightness == first.tightness is None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: exact.certify(lambda x: x, {}), "no side"),
        (lambda: exact.certify(lambda x: x, {"y": (0, 1)}), "numbers named y"),
        (lambda: exact.certify(lambda x: x, {"x": (1, 0)}), r"is empty.*Write \(0, 1\)"),
        (lambda: exact.certify(lambda x: x, {"x": (0, float("inf"))}), "not finite"),
        (lambda: exact.certify(lambda x: x, {"x": (float("nan"), 1)}), "not finite"),
        (lambda: exact.certify(lambda x: x, (0, 1)), "is no pair"),
        (lambda: exact.certify(lambda x: x, [(0, "a")]), "no real number"),
        (lambda: exact.certify(lambda x: x, "ab"), "has no sides"),
        (lambda: exact.certify(lambda x: x, [(0, 1)] * 2), "shapes"),
        (lambda: exact.certify(lambda x, y: x, [(0, 1)] * 2), r"takes \(x, y\)"),
        (lambda: exact.certify(3, [(0, 1)]), "no function"),
        (lambda: exact.certify(lambda x: np.sin(x[0]), [(0, 1)]), "cannot be called"),
        (lambda: exact.certify(lambda x: x[0], [(0, 1)], budget=0), "is no count"),
        (lambda: exact.certify(lambda x: x[0], [(0, 1)], slack=-1), "negative"),
        (lambda: exact.search(lambda x: x[0], [(0, 1)], content=2), "no share"),
        (lambda: exact.search(lambda x: x[0], [(0, 1)], draws=1.5), "is no count"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        call()


def test_a_program_without_an_enclosure_is_inconclusive_with_its_name() -> None:
    for decided in (exact.certify, exact.search):
        verdict = decided(lambda x: jnp.linalg.norm(x.reshape(2, 1), 2), [(0, 1)] * 2)
        assert (verdict.status, verdict.reason) == ("INCONCLUSIVE", "budget")
        assert "`svd`" in verdict.sentence


def test_functions_that_take_their_numbers_by_place_take_those_of_the_box_in_its_order() -> None:
    assert exact.certify(jnp.arctan2, {"y": (1, 2), "x": (-1, 1)}).status == "CERTIFIED"
    assert exact.certify(jnp.arctan2, {"x": (-2, -1), "y": (1, 2)}).status == "REFUTED"


def single(x: Any) -> Any:
    return x.astype(jnp.float32).astype(jnp.float64)


def test_a_cast_to_a_narrower_float_rounds_in_every_claim_on_a_box() -> None:
    box = {"x": (0, 1)}
    exactly = exact.certify(lambda x: jnp.abs(single(x) - x), box, at_most=lambda x: 1e-12, budget=20)
    assert exactly.status == "INCONCLUSIVE"
    assert any("a cast to float32" in part.text for part in exactly.ledger)
    assert exact.certify(lambda x: single(x) - x, box, at_most=lambda x: 0.1).status == "CERTIFIED"
    assert exact.search(lambda x: jnp.abs(single(x) - x), box, at_most=lambda x: 1e-12).status == "INCONCLUSIVE"
    assert exact.minimum(lambda v: (single(v[0]) - 0.25) ** 2, [0.25]).status == "INCONCLUSIVE"
    # A cast that may overflow gives no number at all.
    assert (
        exact.certify(lambda x: 1 / (1 + x.astype(jnp.float16)), {"x": (0, 10**6)}, budget=20).status == "INCONCLUSIVE"
    )
    # A product that is accumulated in fewer bits is rounded too.
    product = exact.certify(
        lambda x: jnp.matmul(jnp.stack([x, x]), jnp.ones(2), preferred_element_type=jnp.float32) - 2 * x + 1e-12, box,
        budget=20,
    )  # fmt: skip
    assert product.status == "INCONCLUSIVE"
    # Widening loses nothing.
    wide = exact.certify(lambda x: x.astype(jnp.float64) - jnp.float32(0.1) * x, box)
    assert wide.status == "CERTIFIED"
    assert not any("cast" in part.text for part in wide.ledger)


def test_in_an_identity_a_cast_is_read_as_exact_and_the_scope_says_so() -> None:
    at = (np.ones(2), np.full(2, 0.5))
    found = exact.identity(lambda x, y: single(x + y), lambda x, y: single(x) + single(y), at)
    assert found.status == "CERTIFIED"
    assert found.scope.endswith("; the cast to float32 is read as exact")
    assert "read as exact" not in exact.identity(lambda x, y: (x + y) ** 2, lambda x, y: (y + x) ** 2, at).scope
