"""The statement about a run: Holm's method against its literal procedure, the table, and the rate it keeps."""

from __future__ import annotations

import math
import subprocess
import sys

import fakes
import pytest
from scipy import stats

from theorax.decide.error_budget import REFUTATIONS, Member, holm, member, said_together
from theorax.decide.findings import Finding
from theorax.decide.status import Status
from theorax.errors import DesignError

SUPPORTED, REFUTED, INCONCLUSIVE = Status.SUPPORTED, Status.REFUTED, Status.INCONCLUSIVE


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


def test_the_table():
    verdicts = {
        "clear": verdict("SUPPORTED", 0.5, 1e-9),
        "weak support": verdict("SUPPORTED", 0.5, 0.02),
        "weak refutation": verdict("REFUTED", 0.004, 0.9),
        "false": verdict("REFUTED", 1e-9, 1.0),
        "open": verdict("INCONCLUSIVE", 0.3, 0.0001),
        "proved": verdict("PROVED", None, None),
        "counterexample": verdict("REFUTED", None, None, finding=Finding.COUNTEREXAMPLE),
        "vacuous": verdict("VACUOUS", 0.5, 0.5),
    }
    found = said_together({name: member(part) for name, part in verdicts.items()})
    assert found.green == ("clear", "weak support", "proved")
    assert found.red == ("weak refutation", "false", "counterexample")
    assert (found.green_alone, found.red_alone) == (("weak support",), ("weak refutation",))
    assert set(found.members) == {"clear", "weak support", "weak refutation", "false", "open"}
    assert found.sentence == (
        "2 of 3 green verdicts hold jointly at 2.5 %; on their own only: weak support. "
        "2 of 3 refutations hold over the run at 1 %; on their own only: weak refutation."
    )


def test_the_statement_is_one_sentence_where_all_hold():
    assert said_together({}).sentence == "No verdict of this run is green or red."
    one = {"a": member(verdict("SUPPORTED", 0.5, 1e-9))}
    assert said_together(one).sentence == "The green verdict holds at 2.5 %."
    many = {str(n): member(verdict("SUPPORTED", 0.5, 1e-9)) for n in range(203)}
    assert said_together(many).sentence == "All 203 green verdicts hold jointly at 2.5 %."


def test_attempts_are_charged_where_they_share_a_budget():
    found = verdict("SUPPORTED", 0.5, 0.02)
    assert member(found).p_support == 0.02
    first, second = (member(found, attempt).p_support for attempt in (1, 2))
    assert (first, second) == (pytest.approx(0.02 * math.pi**2 / 6), pytest.approx(0.02 * 4 * math.pi**2 / 6))


def test_what_is_left_out_of_the_family_changes_only_the_others(rng):
    """The statement about a run depends on the set of its verdicts: neither on their order, nor on their names."""
    for _ in range(100):
        p = rng.random((2, 9)) ** 5
        members = {str(n): Member([SUPPORTED, REFUTED, INCONCLUSIVE][n % 3], *map(float, p[:, n])) for n in range(9)}
        found = said_together(members)
        shuffled = said_together({name: members[name] for name in rng.permutation(list(members))})
        assert (set(found.green_alone), set(found.red_alone)) == (set(shuffled.green_alone), set(shuffled.red_alone))
        assert found.members == shuffled.members
        fewer = said_together({name: one for name, one in members.items() if name != "8"})
        assert all(fewer.members[name].support <= found.members[name].support for name in fewer.members)


def test_rates_over_a_run_of_true_and_false_claims(rng):
    """20 claims, 8 of them false, correlated: any true one is refuted over the run within Holm's promise."""
    rounds, wrong, power = 400, 0, 0.0
    for _ in range(rounds):
        shared = rng.standard_normal()
        z = math.sqrt(0.3) * shared + math.sqrt(0.7) * rng.standard_normal(20)
        z[12:] += 5.0
        found = said_together({str(i): Member(REFUTED, float(p), 1.0) for i, p in enumerate(stats.norm.sf(z))})
        held = [int(name) for name in found.red if name not in found.red_alone]
        wrong += any(i < 12 for i in held)
        power += sum(i >= 12 for i in held) / 8 / rounds
    assert wrong <= stats.binom.ppf(0.999, rounds, REFUTATIONS)
    assert power > 0.85


def test_what_is_no_probability_is_refused():
    for p in (-0.1, 1.1, math.nan):
        with pytest.raises(DesignError, match="no probability"):
            holm({"a": p})


def test_it_needs_neither_sympy_nor_jax():
    code = "import sys; import theorax.decide.error_budget; print('sympy' in sys.modules, 'jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
