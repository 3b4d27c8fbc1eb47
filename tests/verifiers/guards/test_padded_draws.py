"""Padding that is not masked is found at standard effort, and said not to be looked at at quick effort."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from theorax.runs.checking import check
from theorax.verifiers.guards.padding import same_law
from theorax.verifiers.settings import Settings

PLANTED = Path(__file__).parents[2] / "power" / "planted"


@pytest.mark.parametrize(
    ("effort", "word", "told"), [("quick", "SUPPORTED", "not looked at"), ("standard", "ERROR", "")]
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


def test_rounding_makes_ties() -> None:
    assert same_law(np.ones(30), np.ones(30) + 1e-12, 1e-8) == 1.0
    assert same_law(np.random.default_rng(1).normal(size=30) + 2, np.random.default_rng(2).normal(size=500), 0.0) < 1e-6
