"""Identities of programs: true ones certified or supported, false ones refuted by a ball, those that nothing decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from sympy import Rational, sqrt

from theorax.decide.status import DEFAULT_LEVELS, Reason, Status
from theorax.errors import StatementError
from theorax.language import Absolute, Experiment, Identity, Index, Measured, Relative, Size, Subject
from theorax.numerics import platform
from theorax.numerics.extents import Extent
from theorax.numerics.sampler import Sampler
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.distinct_instances import Built, built_at
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.measure import measure
from theorax.verifiers.cases.sweep_lines import sweep_lines
from theorax.verifiers.kinds import CellResult
from theorax.verifiers.kinds.identity_lowering import IdentityJudge
from theorax.verifiers.settings import Settings

n = Size("n", "order of the matrix")
k = Index("k", "power")
trace = Measured("trace", "tr AB", array=True)
swapped = Measured("swapped", "tr BA", array=True)
turned = Measured("turned", "tr A^T B", array=True)
shifted = Measured("shifted", "the sum of A_ij B_(j+1)i", array=True)
last_bit = Measured("last_bit", "tr AB (1 + 2^-52)", array=True)
constrained = Measured("constrained", "|u|^2 of a unit vector that is drawn as one", array=True)
off = Measured("off", "tr AB (1 + 1e-9)", array=True)
zero = Measured("zero", "A - A", array=True)
nothing = Measured("nothing", "0/0 at every size but the smallest", array=True)
powers = Measured("powers", "A^k", over=(k,), array=True)
above = Measured("above", "A^(k-1) A", over=(k,), array=True)
spectral = Measured("spectral", "the largest singular value, by an algorithm balls cannot follow", array=True)
branched = Measured("branched", "A where exp tr AB = exp tr BA, else 0", array=True)
circle = Measured("circle", "the squares of the sine and the cosine of tr AB", array=True)
again = Measured("again", "tr AB by the same program, wrapped", array=True)

TINY = Relative(1, 10**12, "rounding stays below it")
FINEST = Relative(1, 10**20, "finer than floats can tell")


def build(key: Any, n: Extent) -> dict[str, jax.Array]:
    unit = jnp.array([0.0, 1.0])
    return dict(
        A=jax.random.normal(jax.random.fold_in(key, 1), (n.padded, n.padded)),
        B=jax.random.uniform(key, (n.padded, n.padded)),
        unit=unit,
        scale=jnp.asarray(1.0),
    )


def observe(model: dict[str, jax.Array], n: Extent) -> dict[str, jax.Array]:
    A, B = model["A"], model["B"]
    left, right = jnp.trace(A @ B), jnp.trace(B @ A)
    return dict(
        trace=left,
        swapped=right,
        off=left * (1 + 1e-9),
        turned=jnp.trace(A.T @ B),
        shifted=jnp.sum(A * jnp.roll(B, 1, axis=0).T),
        last_bit=left * (1 + 2**-52),
        constrained=jnp.sum(model["unit"] ** 2),
        zero=A - A,
        nothing=jnp.asarray(n.value - 2.0) * (0.0 if n.value == 2 else jnp.sum(A - A) / jnp.sum(A - A)),
        powers=jnp.stack([A, A @ A, A @ A @ A]),
        above=jnp.stack([A, A @ A, A @ (A @ A)]),
        spectral=jnp.linalg.svd(A, compute_uv=False)[0],
        branched=jnp.where(jnp.exp(left) == jnp.exp(right), A, 0 * A),
        circle=jnp.sin(left) ** 2 + jnp.cos(left) ** 2,
        again=jax.checkpoint(lambda A: jax.lax.stop_gradient(jnp.trace(A @ B)))(A),
    )


def judged(
    claim: Identity, sizes: tuple[int, ...] = (2, 5), build: Callable[..., Any] = build, draws: int = 3
) -> list[CellResult]:
    """The claim decided on three instances of each size, or on as many as are asked for."""
    experiment = Experiment(
        padded=True,
        subjects={"matrices": Subject(build)},
        observe=observe,
        measures=(
            trace,
            swapped,
            turned,
            shifted,
            last_bit,
            constrained,
            off,
            zero,
            nothing,
            powers,
            above,
            spectral,
            branched,
            circle,
            again,
        ),
        sweep={n: sizes},
        along={k: (1, 2, 3)},
        draws=draws,
    )
    platform.enable()
    (line,) = sweep_lines("matrices", experiment, Settings())
    observed = measure("a theorem", experiment, line, [line], 0, Sampler())
    judge = IdentityJudge()
    cells = list(judge.cells(claim, line))
    return [
        judge.judge(claim, judge.prepare(claim, cell, DEFAULT_LEVELS.shared(len(cells)), claim), observed)
        for cell in cells
    ]


def identity(left: Any, right: Any, margin: Any = TINY) -> Identity:
    return Identity(left, right, margin=margin)


CERTIFIED = {
    "two programs": (identity(trace, swapped), 2),
    "around zero": (identity(zero, 0, Absolute(1, 10**12, "rounding stays below it")), 2),
    "a case for every index": (identity(powers, above), 6),
    "numbers that no float holds": (identity(trace / 3 + swapped / 7, Rational(10, 21) * trace), 2),
    "a margin below rounding": (identity(trace, swapped, Relative(1, 10**20, "rounding stays below it")), 2),
    "no scale around zero": (identity(zero, 0 * trace, Relative(1, 10**12, "rounding stays below it")), 2),
}
SUPPORTED = {
    "roots": (identity(sqrt(2) * trace, 2 * swapped / sqrt(2)), 2),
    "roots, a margin below rounding": (
        identity(sqrt(2) * trace, 2 * swapped / sqrt(2), Relative(1, 10**20, "rounding stays below it")),
        2,
    ),
}
VACUOUS = {
    "a program wrapped": identity(trace, again),
    "in the same expression": identity(3 * trace + swapped, 3 * again + swapped),
    "an entry of an array": identity(powers + trace, powers + again),
}
FALSE = {
    "a sign": identity(trace, -1 * swapped),
    "a transpose": identity(trace, turned),
    "an index": identity(trace, shifted),
    "the last bit": identity(trace, last_bit, Relative(1, 100, "rounding stays below it")),
    "off by more than the margin": identity(trace, off),
    "off by less than the margin": identity(trace, off, Relative(1, 10**6, "rounding stays below it")),
    "a constant": identity(trace, swapped + Rational(1, 10**20)),
    "entry by entry": identity(powers, above + zero + Rational(1, 10**30)),
}
OPEN: dict[str, tuple[Identity, Reason]] = {
    "an algorithm that balls cannot follow": (identity(spectral, trace), Reason.BUDGET),
    "a comparison of equal numbers": (identity(branched, powers), Reason.UNDECIDED_COMPARISON),
    "a margin below rounding": (
        identity(circle, 1, FINEST),
        Reason.NUMERIC_FLOOR,
    ),
    "no number at the larger size": (
        identity(nothing, 0, Absolute(1, 1, "rounding stays below it")),
        Reason.NUMERIC_FLOOR,
    ),
}


@pytest.mark.parametrize("name", CERTIFIED)
def test_a_true_identity_of_rational_programs_is_certified_at_every_size(name: str) -> None:
    claim, cases = CERTIFIED[name]
    found = judged(claim)
    assert [case.decision.status for case in found] == [Status.SUPPORTED] * cases
    assert all(case.rigorous and not case.statistical for case in found)
    assert all("2^-1" in case.detail and "all real weights" in case.scope for case in found)


@pytest.mark.parametrize("name", SUPPORTED)
def test_a_true_identity_of_other_programs_is_supported_and_no_more(name: str) -> None:
    claim, cases = SUPPORTED[name]
    found = judged(claim)
    assert [case.decision.status for case in found] == [Status.SUPPORTED] * cases
    assert not any(case.rigorous or case.statistical or case.on_draws for case in found)
    assert all(case.scope.startswith("all real weights") for case in found)


@pytest.mark.parametrize("name", FALSE)
def test_a_ball_refutes_whatever_the_margin(name: str) -> None:
    found = judged(FALSE[name])
    assert found[0].decision.status is Status.REFUTED
    assert found[0].rigorous
    assert "ball" in found[0].detail


@pytest.mark.parametrize("name", OPEN)
def test_what_nothing_decides_stays_open_and_says_why(name: str) -> None:
    claim, reason = OPEN[name]
    found = [case.decision for case in judged(claim) if case.decision.status is not Status.SUPPORTED]
    assert found
    assert {(decision.status, decision.reason) for decision in found} == {(Status.INCONCLUSIVE, reason)}


@pytest.mark.parametrize("name", VACUOUS)
def test_a_program_against_itself_says_nothing(name: str) -> None:
    found = judged(VACUOUS[name])
    assert all(case.trivial for case in found)
    assert all("one and the same program" in case.detail for case in found)
    assert not any(case.trivial for case in judged(identity(trace, swapped)))


def test_sides_that_are_nowhere_numbers_are_no_instance() -> None:
    (found,) = judged(identity(nothing, 0, Absolute(1, 1, "any number")), sizes=(5,))
    assert found.undefined and found.decision.status is Status.INCONCLUSIVE


def test_what_holds_on_the_drawn_models_alone_is_no_certificate_and_no_refutation() -> None:
    # The vector has length one because it is drawn so: at random residues it has not, and nothing follows from that.
    found = judged(identity(constrained + 0 * zero, 1, Relative(1, 10**6, "rounding stays below it")))
    assert {(case.decision.status, case.rigorous) for case in found} == {(Status.SUPPORTED, False)}


def of_one_key(key: Any, n: Extent) -> dict[str, jax.Array]:
    with jax.ensure_compile_time_eval():  # numbers of the program, as of a data set that is kept
        return build(jax.random.key(0), n)


def of_signs(key: Any, n: Extent) -> dict[str, jax.Array]:
    sign = jax.random.rademacher(key, (), dtype=float)
    return of_one_key(key, n) | dict(A=sign * jnp.eye(n.padded), scale=sign**2)


def test_copies_of_one_model_are_one_instance_and_equal_draws_of_a_law_are_not() -> None:
    drawn_alone = identity(constrained, 1)
    for case in judged(drawn_alone, build=of_one_key, draws=30):
        assert (case.decision.status, case.decision.reason) == (Status.INCONCLUSIVE, Reason.INDISTINCT)
        assert case.decision.p_support == pytest.approx(0.98)
        assert "all 30 instances are equal and count as one" in case.detail
    for case in judged(drawn_alone, build=of_signs, draws=30):
        assert case.decision.status is Status.SUPPORTED and case.on_draws
        assert case.decision.p_support == pytest.approx(0.98**30)
        assert "30 instances, 2 of them distinct" in case.detail
    # What is shown for all weights of these shapes needs no law.
    assert all(case.rigorous for case in judged(identity(trace, swapped), build=of_one_key))


def holding(weight: float) -> Callable[[jax.Array], jax.Array]:
    return lambda x: jnp.asarray(weight) * x


BUILT = {
    "numbers": ([1.0, 1.0, 1.0], 1),
    "arrays of one value and two shapes": ([jnp.zeros(2), jnp.zeros((2, 1)), jnp.zeros(2)], 2),
    "keys": ([jax.random.key(draw) for draw in (1, 2, 2)], 2),
    "functions made anew": ([(lambda x: x, jnp.ones(2)) for _ in range(3)], 1),
    "functions that hold numbers": ([holding(weight) for weight in (1.0, 1.0, 2.0)], 2),
    "not a number": ([jnp.nan, jnp.nan, jnp.nan], 1),
}


@pytest.mark.parametrize("name", BUILT)
def test_instances_are_told_apart_by_every_number_that_they_hold(name: str) -> None:
    models, distinct = BUILT[name]
    line = sweep_lines("none", Experiment(observe, trace, {n: (2,)}, subjects={"x": Subject(build)}), Settings())[0]
    built = built_at(Observed(line, (), (), {2: tuple((model, {}) for model in models)}), 2)
    assert built == Built(3, distinct)
    assert (built.counted, bool(built.copies)) == ((1, True) if distinct == 1 else (3, False))


def test_a_letter_that_cannot_be_followed_leaves_the_others_decidable() -> None:
    assert judged(identity(trace, swapped))[0].decision.status is Status.SUPPORTED
    assert judged(identity(spectral, trace))[0].decision.status is Status.INCONCLUSIVE


def test_cases_share_the_level_of_refutation() -> None:
    levels: Callable[[CellResult], float] = lambda case: case.decision.levels.refute  # noqa: E731
    assert {levels(case) for case in judged(identity(powers, above))} == {DEFAULT_LEVELS.refute / 6}


def test_an_identity_of_measured_letters_needs_a_margin() -> None:
    with pytest.raises(StatementError, match="no margin"):
        Identity(trace, swapped)


def test_models_that_take_different_roads_are_not_asked_to_go_together_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    together = instances.letters_together

    def counted(wanted: Any, observed: Any, models: Any, domain: Any) -> Any:
        asked.append(len(models))
        return together(wanted, observed, models, domain)

    def ordered(key: Any, n: Extent) -> dict[str, jax.Array]:
        return dict(
            x=jax.random.normal(key, (n.padded,)), order=jax.random.permutation(jax.random.fold_in(key, 1), n.padded)
        )

    x = Measured("x", "a vector in another order, summed", array=True)
    y = Measured("y", "its sum", array=True)
    experiment = Experiment(
        lambda model: dict(x=jnp.sum(model["x"][model["order"]]), y=jnp.sum(model["x"])),
        (x, y), {n: (6,)}, subjects={"vectors": Subject(ordered)}, draws=9, padded=True,
    )  # fmt: skip
    platform.enable()
    (line,) = sweep_lines("vectors", experiment, Settings())
    observed = measure("a theorem", experiment, line, [line], 0, Sampler())
    judge, claim = IdentityJudge(), identity(x, y)
    (cell,) = judge.cells(claim, line)
    monkeypatch.setattr(instances, "letters_together", counted)
    case = judge.judge(claim, judge.prepare(claim, cell, DEFAULT_LEVELS, claim), observed)
    assert case.decision.status is not Status.REFUTED
    assert len(asked) == len(set(map(str, asked))) <= 2  # once in each arithmetic that can, of nine models
