"""Witnesses: the search refutes false bounds and no true one, and what confirms a violation."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sympy import Rational

from benchmarks import falsifier
from benchmarks.falsifier import FALSE, TRUE, Bound, Uncounted, normal
from theorax.decide.findings import Finding
from theorax.decide.status import Status
from theorax.exact.ascents_of_noise import Height, NoisePoint, search_noise, structured_starts
from theorax.language import (
    Absolute,
    Experiment,
    Hypothesis,
    Identity,
    Inequality,
    Measured,
    Size,
    Subject,
    Theorem,
    hypotheses,
)
from theorax.numerics.arithmetics.flat_program import doubles
from theorax.numerics.arithmetics.largest_value import coarsest_epsilon, largest_value
from theorax.numerics.arithmetics.noise_inputs import FARTHEST
from theorax.verifiers.attacks.compared_sides import ComparedSides
from theorax.verifiers.cases.kept_draws import unpacked
from theorax.verifiers.cases.sweep_lines import Cell, SweepLine
from theorax.verifiers.settings import Settings
from theorax.verifiers.theorem_check import observe_theorem

NOT_FOUND = "Swish of a mean is at most the mean"
"""It fails where two of sixteen numbers lie beyond five deviations and all others are equal: a search may miss that."""

n = Size("n", "size")


def checked(theorem, tmp_path):
    found = observe_theorem("searched", Settings(effort="quick", state=str(tmp_path)), Uncounted(), value=theorem)
    (claim,) = found.outcome.claims
    return claim, found


def of(bound):
    return bound.name


@pytest.mark.parametrize("bound", [bound for bound in FALSE if bound.name != NOT_FOUND], ids=of)
def test_a_false_bound_is_refuted_by_a_witness(bound: Bound, tmp_path) -> None:
    claim, found = checked(bound.theorem, tmp_path)
    assert claim.status is Status.REFUTED
    witness = claim.searched.witness
    assert witness is not None
    assert witness.excess > 0
    assert witness.by_ball or witness.excess > witness.floor
    assert claim.level is None
    # It is kept with the draws: letters at the witness, and floats in [1, 2).
    kept = {column.letter: column.values for column in unpacked(found.observations) if column.kind == "witness"}
    assert {"bound.left", "bound.right", "bound.e1"} <= kept.keys()
    assert float(np.max(kept["bound.left"])) == pytest.approx(witness.left) or bound.identity
    assert ((kept["bound.e1"] >= 1) & (kept["bound.e1"] < 2)).all()


@pytest.mark.parametrize("bound", TRUE, ids=of)
def test_a_true_bound_is_never_refuted(bound: Bound, tmp_path) -> None:
    claim, _ = checked(bound.theorem, tmp_path)
    assert claim.status is not Status.REFUTED
    if claim.status is Status.SUPPORTED:
        assert claim.searched.evaluations > 0
        assert claim.searched.share is None or 0 <= claim.searched.share <= 1


def test_there_are_enough_true_bounds() -> None:
    assert len(TRUE) >= 25
    assert len(FALSE) >= 12


def _theorem(observe, letters, claim, hypothesis=None, seeds="independent"):
    return Theorem(
        label="own",
        claims={"bound": claim},
        hypotheses=hypothesis or hypotheses(),
        experiments={
            "e": Experiment(
                observe, letters, {n: (4,)}, draws=300, platform="cpu", seeds=seeds, subjects={"drawn": Subject(_build)}
            )
        },
    )


def _build(key, n):
    return jax.random.normal(key, (n,))


left, right = Measured("left", "left side"), Measured("right", "right side")


def _false(x):
    return {"left": jnp.max(jnp.abs(x)), "right": 0.9 * jnp.linalg.norm(x) + 0.3}


def test_a_bound_with_its_authors_content_is_not_searched_and_says_so(tmp_path) -> None:
    claim, _ = checked(
        _theorem(_false, (left, right), Inequality(left, at_most=right, content=Rational(1, 20))), tmp_path
    )
    assert claim.searched is None
    assert "in all but 1/20 of the draws" in f"{claim.statement} {claim.regime}"


def test_a_relation_of_a_hypothesis_is_true_at_a_witness(tmp_path) -> None:
    most = Measured("most", "largest entry")

    def observe(x):
        return {**_false(x), "most": jnp.max(jnp.abs(x))}

    free, _ = checked(_theorem(observe, (left, right, most), Inequality(left, at_most=right)), tmp_path)
    assert free.status is Status.REFUTED
    # The bound fails only where an entry is larger than three; draws as large do not satisfy the hypothesis.
    small = hypotheses(
        small=Hypothesis("no entry is large", holds=most < 2.9, unbroken="a control is not what is tested here")
    )
    claim = Inequality(left, at_most=right, under=small.small)

    def cut(key, n):
        return jnp.clip(jax.random.normal(key, (n,)), -2.89, 2.89)

    theorem = _theorem(observe, (left, right, most), claim, small)
    experiment = theorem.experiments["e"]
    from dataclasses import replace

    held = replace(theorem, experiments={"e": replace(experiment, subjects={"drawn": Subject(cut)})})
    kept, _ = checked(held, tmp_path)
    assert kept.status is not Status.REFUTED


def test_a_sentence_is_named_as_not_tested_at_the_witness(tmp_path) -> None:
    told = hypotheses(
        usual=Hypothesis("the vector is an ordinary one", unbroken="a control is not what is tested here")
    )
    claim, _ = checked(
        _theorem(_false, (left, right), Inequality(left, at_most=right, under=told.usual), told), tmp_path
    )
    assert claim.status is Status.REFUTED
    assert claim.searched.untested == ("usual",)
    assert "Not tested at the witness: usual; write holds=." in claim.sentence


def test_a_search_of_the_same_design_finds_the_same(tmp_path) -> None:
    theorem = FALSE[0].theorem
    first, second = (checked(theorem, tmp_path)[0].searched for _ in range(2))
    assert first == second


def test_a_simple_bound_is_refuted_in_rigorous_arithmetic(tmp_path) -> None:
    def observe(x):
        return {"left": jnp.sum(x**2), "right": 30.0 + 0 * x[0]}

    claim, _ = checked(_theorem(observe, (left, right), Inequality(left, at_most=right)), tmp_path)
    assert claim.searched.witness.by_ball
    assert Finding.COUNTEREXAMPLE in {part.finding for part in claim.findings}
    assert claim.rigorous


def test_code_that_fails_at_other_noise_leaves_the_claim_as_it_was(tmp_path, monkeypatch) -> None:
    from theorax.verifiers.attacks import witnesses

    def fails(*_, **__):
        raise RuntimeError("no")

    monkeypatch.setattr(witnesses, "search_noise", fails)
    claim, _ = checked(TRUE[1].theorem, tmp_path)
    assert claim.status is Status.SUPPORTED
    assert "RuntimeError" in claim.searched.why_not


def test_a_program_that_waits_for_the_host_is_searched_without_a_derivative(tmp_path) -> None:
    def observe(x):
        top = jax.pure_callback(lambda x: np.max(np.abs(x)), jax.ShapeDtypeStruct((), x.dtype), x)
        return {"left": top, "right": 100.0 + 0 * x[0]}

    claim, _ = checked(_theorem(observe, (left, right), Inequality(left, at_most=right)), tmp_path)
    assert claim.status is Status.SUPPORTED
    assert claim.searched.why_not == ""
    assert claim.searched.evaluations > 0


# The parts.


def _compared(claim):
    line = SweepLine("e", "drawn", Subject(_build), {}, n, {}, {}, (4,), 8)
    return ComparedSides(claim, Cell(line), 4)


def test_weights_are_the_derivative_of_the_largest_relative_excess() -> None:
    compared = _compared(Inequality(left**2 + 1, at_most=3 * right))
    seen = {"left": np.array(2.0), "right": np.array(5.0)}

    def height(a, b):
        return (a**2 + 1 - 3 * b) / (a**2 + 1 + 3 * b)

    weights = compared.weights(seen, 0.0)
    expected = jax.grad(height, (0, 1))(2.0, 5.0)
    assert weights["left"] == pytest.approx(float(expected[0]), rel=1e-4)
    assert weights["right"] == pytest.approx(float(expected[1]), rel=1e-4)


def test_weights_of_an_array_are_those_of_its_worst_entry() -> None:
    a, b = Measured("a", "a", array=True), Measured("b", "b", array=True)
    compared = _compared(Identity(a, b, margin=Absolute(1, 100, "a reason")))
    seen = {"a": np.array([1.0, 4.0, 2.0]), "b": np.array([1.0, 1.0, 1.5])}
    weights = compared.weights(seen, 0.0)
    assert np.flatnonzero(weights["a"]).tolist() == [1]
    assert weights["a"][1] > 0 > weights["b"][1]


def test_a_declared_error_is_taken_off_the_excess() -> None:
    compared = _compared(Inequality(left, at_most=right))
    seen = {"left": np.array(1.5), "right": np.array(1.0)}
    assert compared.excesses(seen).excess == pytest.approx(0.5)
    assert compared.excesses({**seen, "left_error": np.array(0.25)}).excess == pytest.approx(0.25)


def test_a_search_makes_as_many_evaluations_as_it_may() -> None:
    counted = [0]

    def height(place: NoisePoint, with_slope: bool) -> Height:
        counted[0] += 1
        assert np.abs(place.scores).max() <= FARTHEST
        slope = -2 * (place.scores - 3) if with_slope else None
        return Height(-float(np.sum((place.scores - 3) ** 2)), slope)

    rng = np.random.default_rng(0)
    worst = [NoisePoint(rng.standard_normal(5), number) for number in range(3)]
    found = search_noise(height, worst, [np.arange(5)], 200, rng, 1.0)
    assert counted[0] <= 200
    assert found[0][0] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("slope", [None, np.zeros(5), np.full(5, np.nan)], ids=["none", "zero", "no number"])
def test_without_a_derivative_an_evolution_climbs(slope) -> None:
    def height(place: NoisePoint, with_slope: bool) -> Height:
        return Height(-float(np.abs(place.scores - 1).max()), slope)

    rng = np.random.default_rng(0)
    worst = [NoisePoint(rng.standard_normal(5), 0)]
    best, _ = search_noise(height, worst, [np.arange(5)], 600, rng, 1.0)[0]
    assert best > -0.1


def test_starts_stay_in_the_range_of_the_law() -> None:
    rng = np.random.default_rng(0)
    worst = [NoisePoint(rng.standard_normal(12), 7)]
    starts = list(structured_starts(worst, [np.arange(12).reshape(3, 4)], 60, rng))
    assert len(starts) == 60
    assert all(np.abs(start.scores).max() <= FARTHEST and start.draw == 7 for start in starts)


def test_the_largest_value_is_found_in_every_body() -> None:
    def inside(x):
        def turn(carry, row):
            return carry + 0.0 * (100 * row), row

        total = jax.lax.scan(turn, x, jnp.ones(3))[0]
        total = jax.lax.while_loop(lambda c: jnp.sum(c) < 0, lambda c: 1e5 * c, total)
        return jax.lax.cond(x > 0, lambda y: 1e3 * y - 999 * y, lambda y: 1e9 * y, total)

    with doubles():
        closed = jax.make_jaxpr(inside)(2.0)
        assert float(largest_value(closed, [2.0])) == pytest.approx(2000)
        assert coarsest_epsilon(closed) == np.finfo(np.float64).eps
        narrow = jax.make_jaxpr(lambda x: x.astype(jnp.bfloat16).astype(x.dtype))(2.0)
        assert coarsest_epsilon(narrow) == 2.0**-7


def test_the_benchmark_prints_a_row_for_each_bound(capsys) -> None:
    assert falsifier.main([TRUE[1].name]) == 0
    assert "refuted: 0 of 1" in capsys.readouterr().out


def test_normal_numbers_have_the_size_that_is_asked_for() -> None:
    assert normal(2, "n")(jax.random.key(0), 3).shape == (2, 3)
