"""Bounds in every draw: supported by enough draws, refuted by a ball at one, undecided where floats alone object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from sympy import Rational

from theorax.decide.status import DEFAULT_LEVELS, Reason, Status
from theorax.errors import StatementError
from theorax.language import Absolute, Experiment, Index, Inequality, Measured, Relative, Size, Subject
from theorax.numerics import platform
from theorax.numerics.extents import Extent
from theorax.numerics.sampler import Sampler
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.measure import measure
from theorax.verifiers.cases.sweep_lines import sweep_lines
from theorax.verifiers.kinds import CellResult
from theorax.verifiers.kinds.inequality_lowering import InequalityJudge
from theorax.verifiers.settings import Settings

n = Size("n", "length of the vectors")
i = Index("i", "which vector")
inner = Measured("inner", "the inner product, squared, of x with x + t y, t = 0, 1", over=(i,))
outer = Measured("outer", "the product of the squared norms", over=(i,))
loose = Measured("loose", "a number known up to a tenth")
top = Measured("top", "the largest singular value of the outer product of x and y")


def build(key: Any, n: Extent) -> jax.Array:
    return jnp.where(n.mask, jax.random.normal(key, (2, n.padded)), 0)


def observe(model: jax.Array, n: Extent) -> dict[str, jax.Array]:
    x, y = model
    seconds = jnp.stack([x, x + y])
    return dict(
        inner=(seconds @ x) ** 2,
        outer=jnp.sum(x * x) * jnp.sum(seconds * seconds, axis=1),
        loose=jnp.zeros(()) + 0.05,
        loose_error=jnp.zeros(()) + 0.1,
        top=jnp.linalg.svd(jnp.outer(x, y), compute_uv=False)[0],
    )


def judged(claim: Inequality, draws: int = 100) -> list[CellResult]:
    """The claim decided on this many draws at two sizes that share a padding."""
    return together([claim], draws)[0]


def together(claims: list[Inequality], draws: int = 100) -> list[list[CellResult]]:
    """The claims decided, one after another, on the same draws."""
    experiment = Experiment(
        padded=True,
        subjects={"vectors": Subject(build)},
        observe=observe,
        measures=(inner, outer, loose, top),
        sweep={n: (3, 5)},
        along={i: (1, 2)},
        draws=draws,
    )
    platform.enable()
    (line,) = sweep_lines("vectors", experiment, Settings())
    observed = measure("a theorem", experiment, line, [line], 0, Sampler())
    judge, found = InequalityJudge(), []
    for claim in claims:
        cells = list(judge.cells(claim, line))
        levels = DEFAULT_LEVELS.shared(len(cells))
        found.append([judge.judge(claim, judge.prepare(claim, cell, levels, claim), observed) for cell in cells])
    return found


def bound(margin: Any = None, **sides: Any) -> Inequality:
    return Inequality(**sides, margin=margin)


TRUE = {
    "Cauchy and Schwarz, parallel vectors among them": bound(
        of=inner, at_most=outer, margin=Absolute(1, 10**9, "rounding stays below it")
    ),
    "from below": bound(of=outer, at_least=inner, margin=Absolute(1, 10**9, "rounding stays below it")),
    "an error inside the slack": bound(of=loose, at_most=0, margin=Absolute(1, 5, "rounding stays below it")),
    "without a slack": bound(of=top, at_least=0),
}
OPEN = {
    "too few draws": (bound(of=top, at_least=0), 50, Reason.UNDERPOWERED),
    "floats alone object": (bound(of=top, at_most=0), 100, Reason.NUMERIC_FLOOR),
    "an error larger than the slack": (bound(of=loose, at_most=Rational(1, 10)), 100, Reason.NUMERIC_FLOOR),
}


@pytest.mark.parametrize("name", TRUE)
def test_a_true_bound_is_supported_by_enough_draws(name: str) -> None:
    found = judged(TRUE[name])
    assert {case.decision.status for case in found} == {Status.SUPPORTED}
    assert all(case.statistical and not case.rigorous for case in found)
    assert all(case.decision.p_support == pytest.approx(0.98**200) for case in found)


def test_a_false_bound_is_refuted_by_a_ball_at_one_draw() -> None:
    parallel, apart = judged(bound(of=outer, at_most=inner, margin=Absolute(1, 10**9, "rounding stays below it")))
    assert apart.decision.status is Status.REFUTED
    assert apart.rigorous
    assert "ball" in apart.detail
    # x against itself: the bound holds with equality, and no ball of a rounded difference is positive.
    assert parallel.decision.status is Status.SUPPORTED


def test_a_draw_followed_in_balls_settles_every_variant_that_it_violates(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[int] = []
    letters = instances.letters_in_domain

    def counted(*given: Any) -> Any:
        followed.append(1)
        return letters(*given)

    monkeypatch.setattr(instances, "letters_in_domain", counted)
    false = [bound(of=outer, at_most=factor * inner) for factor in (Rational(1, 2), Rational(1, 3), Rational(1, 100))]
    found = [case for cases in together(false) for case in cases]
    assert {case.decision.status for case in found} == {Status.REFUTED} and len(found) == 6
    assert len(followed) == 1  # half of the inner product is below the outer one in every draw
    followed.clear()
    small, large, larger = together(
        [bound(of=outer, at_least=1), bound(of=outer, at_most=100), bound(of=outer, at_most=200)]
    )
    assert {case.decision.status for case in (*small, *large, *larger)} == {Status.REFUTED}
    assert 2 <= len(followed) < 6  # no small draw is a large one


def test_a_violation_within_the_slack_refutes_the_exact_reading() -> None:
    _, apart = judged(bound(of=outer - inner, at_most=0, margin=Absolute(10**6, 1, "rounding stays below it")))
    assert apart.decision.status is Status.REFUTED


@pytest.mark.parametrize("name", OPEN)
def test_what_nothing_decides_stays_open_and_says_why(name: str) -> None:
    claim, draws, reason = OPEN[name]
    found = judged(claim, draws)
    assert {(case.decision.status, case.decision.reason) for case in found} == {(Status.INCONCLUSIVE, reason)}


def test_a_slack_is_absolute() -> None:
    with pytest.raises(StatementError, match="relative"):
        bound(of=inner, at_most=outer, margin=Relative(1, 10, "rounding stays below it"))


short = Measured("short", "the inner products, squared, of x with x, y and zero", array=True)
long = Measured("long", "the products of the squared norms", array=True)
kinked = Measured("kinked", "one or zero, by a comparison of equal numbers", array=True)


def entries(model: jax.Array, n: Extent) -> dict[str, jax.Array]:
    x, y = model
    many = jnp.stack([x, y, 0 * x])
    one = jnp.exp(jnp.log(3 + 0 * x[0])) / 3  # in balls not exactly
    inner = one * (many @ x) ** 2
    return dict(
        short=inner,
        long=jnp.sum(x * x) * jnp.sum(many * many, axis=1),
        kinked=jnp.where(one <= 1, 1.0, 0.0)[None],
    )


def certified(claim: Inequality, build: Callable[..., Any] = build) -> CellResult:
    """The claim decided on three instances at two sizes, entry by entry."""
    experiment = Experiment(
        padded=True,
        subjects={"vectors": Subject(build)},
        observe=entries,
        measures=(short, long, kinked),
        sweep={n: (3, 5)},
        draws=3,
    )
    platform.enable()
    (line,) = sweep_lines("vectors", experiment, Settings())
    judge = InequalityJudge()
    (cell,) = judge.cells(claim, line)
    observed = measure("a theorem", experiment, line, [line], 0, Sampler())
    return judge.judge(claim, judge.prepare(claim, cell, DEFAULT_LEVELS, claim), observed)


ENTRIES = {
    "strict but for equality, within a slack": (
        bound(of=short, at_most=long, margin=Absolute(1, 10**9, "rounding stays below it")),
        Status.SUPPORTED,
        None,
    ),
    "twice as much": (bound(of=short, at_most=2 * long + Rational(1, 10**9)), Status.SUPPORTED, None),
    "the other way": (bound(of=long, at_most=short), Status.REFUTED, None),
    "a hundredth less": (bound(of=Rational(101, 100) * short, at_most=long), Status.REFUTED, None),
    "equality without a slack": (bound(of=short, at_most=long), Status.INCONCLUSIVE, Reason.UNDECIDED_COMPARISON),
    "what balls cannot compare": (bound(of=kinked, at_most=2), Status.INCONCLUSIVE, Reason.UNDECIDED_COMPARISON),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_a_bound_of_arrays_is_decided_in_balls_on_every_instance(name: str) -> None:
    claim, status, reason = ENTRIES[name]
    found = certified(claim)
    assert (found.decision.status, found.decision.reason) == (status, reason)
    assert found.rigorous is (status is not Status.INCONCLUSIVE)
    assert found.statistical is (status is Status.SUPPORTED)  # instances leave a share of their law open
    assert not found.covered


def held(n: Extent) -> jax.Array:
    with jax.ensure_compile_time_eval():  # numbers of the program, as of a data set that is kept
        return build(jax.random.key(0), n)


BUILDS = {
    "a model for every key": (build, "the 6 instances built", "instances that were not built, up to 71 % of their law"),
    "one model": (
        lambda key, n: held(n),
        "the 2 distinct instances among the 6 built",
        "instances that were not built",
    ),
}


@pytest.mark.parametrize("name", BUILDS)
def test_instances_are_counted_once_where_the_build_ignores_its_key(name: str) -> None:
    builds, scope, unseen = BUILDS[name]
    found = certified(bound(of=short, at_most=2 * long + Rational(1, 10**9)), builds)
    assert (found.decision.status, found.scope) == (Status.SUPPORTED, scope)
    assert found.unseen[0].startswith(unseen)
    assert ("count as one" in found.detail) is (name == "one model")
