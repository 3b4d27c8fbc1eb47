"""Padding that is not masked is found at standard effort, and said not to be looked at at quick effort."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from theorax.runs.checking import check
from theorax.verifiers.guards.padding import rank_test, same_law
from theorax.verifiers.settings import Settings

PLANTED = Path(__file__).parents[2] / "power" / "planted"


@pytest.mark.parametrize(
    ("effort", "word", "told"), [("quick", "SUPPORTED", "asked from standard effort on"), ("standard", "ERROR", "")]
)
def test_a_mean_over_padding(effort: str, word: str, told: str, tmp_path: Path) -> None:
    settings = Settings(roots=(str(PLANTED),), state=str(tmp_path), effort=effort, fresh=True)
    (claim,) = check("padded_means", settings).claims
    assert claim.status == word, claim.sentence
    (line,) = (part for part in claim.ledger if part.kind == "padding")
    assert told in line.text


def test_rank_tests_keep_their_level_where_draws_are_skewed() -> None:
    """Welch's test rejects 0.7 % of such pairs at a level of 1e-4."""
    draws = np.random.default_rng(0)
    rejected = sum(same_law(draws.lognormal(size=30), draws.lognormal(size=500), 0.0) < 0.5e-3 for _ in range(2000))
    # Binomial with p = 1e-3: more than eight of 2000 has probability 2e-4.
    assert rejected <= 8


@pytest.mark.parametrize("unit", [1e-9, 0.3, 2.0])
def test_the_rank_test_is_that_of_scipy(unit: float, rng: np.random.Generator) -> None:
    from scipy.stats import mannwhitneyu  # slow to import: here alone

    for shift in (0.0, 0.2, 3.0):
        one, other = np.round(rng.normal(size=30) / unit), np.round((rng.normal(size=90) + shift) / unit)
        wanted = mannwhitneyu(one, other, method="asymptotic").pvalue
        # The score, below ten, is a few sums and quotients away: its p-value moves by ten times their rounding.
        assert rank_test(one, other) == pytest.approx(wanted, rel=1000 * np.finfo(float).eps, abs=0)
    assert rank_test(np.arange(3.0), np.arange(3.0)) == 1.0


def test_rounding_makes_ties() -> None:
    assert same_law(np.ones(30), np.ones(30) + 1e-12, 1e-8) == 1.0
    assert same_law(np.random.default_rng(1).normal(size=30) + 2, np.random.default_rng(2).normal(size=500), 0.0) < 1e-6


LOOPS = """'''A mean of squares, summed in a loop.'''

from collections.abc import Callable

import equinox as eqx
import jax
from sympy import Integer, Rational

from theorax.language import *

n = Size("n", "number of entries")
square = Measured("square", "the mean square of n normal numbers")
H = hypotheses(any=Hypothesis("entries are independent and normal", unbroken="nothing else is meant"))
one = Expectation(square, Integer(1), margin=Relative(1, 5, "it is one"), spread=Rational(7, 10))


class Drawn(eqx.Module):
    entries: jax.Array
    square: Callable  # a function of an option: no program hands it back


def build(key, n, scale):
    wide, narrow = lambda: jax.random.normal(key, (n.padded,)), lambda: -jax.random.normal(key, (n.padded,))
    return Drawn(jax.lax.cond(n.value > 8, wide, narrow) * n.mask, lambda x: scale * x**2)


def observe(model, n):
    x = model.entries
    return dict(square=jax.lax.scan(lambda total, part: (total + model.square(part), None), 0.0 * x[0], x)[0] / n.value)


theorem = Theorem(
    place="nowhere", label="derived", hypotheses=H, claims=dict(one=one),
    experiments=dict(
        entries=Experiment(
            observe, square, {n: (8, 16)}, draws=800, padded=True,
            subjects={"normal": Subject(build, scale=1.0)},
        )
    ),
)
"""


@pytest.mark.parametrize(
    ("kind", "module", "name", "few", "many"),
    [
        ("padding", "padding", "UNPADDED", 5, 40),
        ("float model", "replays", "DRAWS", {"standard": 2}, {"standard": 16}),
    ],
)
def test_no_draw_compiles_a_program_of_its_own(
    kind: str, module: str, name: str, few: Any, many: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop or branch outside any compiled program is compiled anew: memory grew with the draws until the process ended."""
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "loops.py").write_text(LOOPS)
    compiled: list[str] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda name, seconds, **_: compiled.append(name) if "backend_compile" in name else None
    )
    counts = [0]
    for place, number in enumerate((few, few, many)):
        monkeypatch.setattr(sys.modules[f"theorax.verifiers.guards.{module}"], name, number)
        settings = Settings(
            roots=(str(tmp_path),), state=str(tmp_path / f"state {place}"), effort="standard", fresh=True
        )
        (claim,) = check("loops", settings).claims
        assert claim.status == "SUPPORTED", claim.sentence
        (line,) = (part for part in claim.ledger if part.kind == kind)
        assert (
            f"{number if kind == 'padding' else 2 * number['standard']} draws" in line.text
        )  # replays are at two sizes
        counts.append(len(compiled))
    first, again, more = np.diff(counts)
    assert more <= again + 2, (first, again, more)  # what was compiled is forgotten between checks
