"""Error control over a suite: both methods against their literal procedures, and the rates they keep."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace

import fakes
import numpy as np
import pytest
from scipy import stats

from theorax.decide.error_budget import adjust, e_bh, e_value, holm, short_of
from theorax.decide.findings import Finding
from theorax.errors import DesignError, UsageError


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


def literal_e_bh(e, level):
    """The k* largest, k* the largest k with e_(k) >= number / (level k)."""
    ordered = sorted(e, key=lambda name: -e[name])
    passing = [k for k in range(1, len(e) + 1) if e[ordered[k - 1]] >= len(e) / (level * k)]
    return set(ordered[: max(passing, default=0)])


def test_holm_is_the_step_down_procedure(rng):
    for _ in range(200):
        p = {str(i): float(value) for i, value in enumerate(rng.random(8) ** 4)}
        adjusted = holm(p)
        for level in (0.01, 0.05, 0.3):
            assert {name for name in p if adjusted[name] <= level} == literal_holm(p, level)


def test_e_bh_is_the_step_up_procedure(rng):
    for _ in range(200):
        e = {str(i): float(value) for i, value in enumerate(np.exp(3 * rng.standard_normal(8)))}
        adjusted = e_bh(e)
        for level in (0.01, 0.05, 0.3):
            assert {name for name in e if adjusted[name] <= level} == literal_e_bh(e, level)


def test_the_mean_of_the_e_value_of_a_uniform_p_is_one():
    # The midpoint rule stays below the integral of a convex function, and tends to it.
    p = (np.arange(10**4) + 0.5) / 10**4
    assert 0.99 < np.mean([e_value(x) for x in p]) < 1
    assert e_value(0.0) == math.inf


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
    for method in ("holm", "e-bh"):
        suite = adjust(verdicts, method)
        assert [suite.after(name, part).status for name, part in verdicts.items()] == [
            "SUPPORTED", "INCONCLUSIVE", "INCONCLUSIVE", "REFUTED", "INCONCLUSIVE", "PROVED", "REFUTED",
        ]  # fmt: skip
        assert suite.changed == ("weak support", "weak refutation")
        assert (suite.refutations, suite.supports) == (5, 5)
        assert set(suite.members) == set(verdicts) - {"proved", "counterexample"}
        assert "changed 2 verdicts" in suite.sentence


def test_a_frozen_e_value_is_used_as_it_is():
    # Its p-value 1/e would lose most of it: 1/(2 sqrt(1/e)) = sqrt(e)/2.
    strong = verdict("REFUTED", 1 / 4000, 1.0, e_value=4000.0)
    others = {str(i): verdict("INCONCLUSIVE") for i in range(9)}
    assert not adjust({"e": strong, **others}, "e-bh").changed
    assert adjust({"e": replace(strong, e_value=None), **others}, "e-bh").changed == ("e",)


def test_rates_over_a_suite_of_true_and_false_claims(rng):
    """20 claims at level .05, 8 of them false, correlated: wrong refutations stay within each method's promise."""
    rounds, wrong, power, share = 400, {"holm": 0, "e-bh": 0}, {"holm": 0.0, "e-bh": 0.0}, {"holm": 0.0, "e-bh": 0.0}
    for _ in range(rounds):
        shared = rng.standard_normal()
        z = math.sqrt(0.3) * shared + math.sqrt(0.7) * rng.standard_normal(20)
        z[12:] += 4.5
        verdicts = {str(i): verdict("REFUTED", float(p), 1.0) for i, p in enumerate(stats.norm.sf(z))}
        for method in wrong:
            fallen = adjust(verdicts, method, refute=0.05).changed
            refuted = [int(name) for name in verdicts if name not in fallen]
            false = sum(i < 12 for i in refuted)
            wrong[method] += false > 0
            share[method] += false / max(1, len(refuted)) / rounds
            power[method] += sum(i >= 12 for i in refuted) / 8 / rounds
    band = stats.binom.ppf(0.999, rounds, 0.05)
    assert wrong["holm"] <= band
    assert share["e-bh"] <= band / rounds
    assert power["holm"] > 0.85 and power["e-bh"] > 0.7


def test_what_is_no_probability_and_no_method_is_refused():
    for p in (-0.1, 1.1, math.nan):
        with pytest.raises(DesignError, match="no probability"):
            holm({"a": p})
    with pytest.raises(DesignError, match="no e-value"):
        e_bh({"a": math.nan})
    with pytest.raises(UsageError, match="did you mean `holm`"):
        adjust({}, "hol")


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
