"""Error control over a suite: Holm's method against its literal procedure, and the rate it keeps."""

from __future__ import annotations

import math
import subprocess
import sys

import fakes
import pytest
from scipy import stats

from theorax.decide.error_budget import apply_budget, holm, short_of
from theorax.decide.findings import Finding
from theorax.errors import DesignError


def verdict(status, p_refute=0.5, p_support=0.5, **more):
    return fakes.verdict(status, p_refute=p_refute, p_support=p_support, **more)


def literal_holm(p, level):
    """Step down: reject while p_(k) <= level / (number - k + 1)."""
    rejected, ordered = set(), sorted(p, key=lambda name: p[name])
    for rank, name in enumerate(ordered):
        if p[name] > level / (len(p) - rank):
            break
        rejected.add(name)
    return rejected


def test_holm_is_the_step_down_procedure(rng):
    for _ in range(200):
        p = {str(i): float(value) for i, value in enumerate(rng.random(8) ** 4)}
        adjusted = holm(p)
        for level in (0.01, 0.05, 0.3):
            assert {name for name in p if adjusted[name] <= level} == literal_holm(p, level)


def test_adjustment_takes_away_and_never_gives():
    verdicts = {
        "clear": verdict("SUPPORTED", 0.5, 1e-9),
        "weak support": verdict("SUPPORTED", 0.5, 0.02),
        "weak refutation": verdict("REFUTED", 0.02, 0.9),
        "false": verdict("REFUTED", 1e-9, 1.0),
        "open": verdict("INCONCLUSIVE", 0.3, 0.0001),
        "proved": verdict("PROVED", None, None),
        "counterexample": verdict("REFUTED", None, None, finding=Finding.COUNTEREXAMPLE),
    }
    suite = apply_budget(verdicts)
    assert [suite.after(name, part).status for name, part in verdicts.items()] == [
        "SUPPORTED", "INCONCLUSIVE", "INCONCLUSIVE", "REFUTED", "INCONCLUSIVE", "PROVED", "REFUTED",
    ]  # fmt: skip
    assert suite.changed == ("weak support", "weak refutation")
    assert (suite.refutations, suite.supports) == (5, 5)
    assert set(suite.members) == set(verdicts) - {"proved", "counterexample"}
    assert "changed 2 verdicts" in suite.sentence


def test_rates_over_a_suite_of_true_and_false_claims(rng):
    """20 claims at level .05, 8 of them false, correlated: wrong refutations stay within Holm's promise."""
    rounds, wrong, power = 400, 0, 0.0
    for _ in range(rounds):
        shared = rng.standard_normal()
        z = math.sqrt(0.3) * shared + math.sqrt(0.7) * rng.standard_normal(20)
        z[12:] += 4.5
        verdicts = {str(i): verdict("REFUTED", float(p), 1.0) for i, p in enumerate(stats.norm.sf(z))}
        fallen = apply_budget(verdicts, refute=0.05).changed
        refuted = [int(name) for name in verdicts if name not in fallen]
        wrong += any(i < 12 for i in refuted)
        power += sum(i >= 12 for i in refuted) / 8 / rounds
    assert wrong <= stats.binom.ppf(0.999, rounds, 0.05)
    assert power > 0.85


def test_what_is_no_probability_is_refused():
    for p in (-0.1, 1.1, math.nan):
        with pytest.raises(DesignError, match="no probability"):
            holm({"a": p})


def test_it_needs_neither_sympy_nor_jax():
    code = "import sys; import theorax.decide.error_budget; print('sympy' in sys.modules, 'jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_what_falls_short_is_told_what_it_needs(rng):
    assert short_of({"a": 1e-9, "b": 0.04}) == {}
    assert short_of({"a": 0.02, "b": 0.03}) == {}
    assert short_of({"a": 0.03, "b": 0.04}) == {"a": 0.025, "b": 0.05}
    for _ in range(50):
        p = {str(i): float(value) for i, value in enumerate(rng.random(6) ** 3)}
        assert set(short_of(p, 0.3)) == set(p) - literal_holm(p, 0.3)
