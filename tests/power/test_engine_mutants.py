"""Faults planted in the engine break the calibration's gate, and only planted ones do.

Each mutant rewrites one line of the engine and runs the case that must notice; `benchmarks/calibration/mutants.py` says
how far the case's rate then lies from what chance allows. Each guard of `benchmarks/calibration/removed_guards.py` is
taken out in the same way: a planted falsehood must then be greener than its word, or no longer refused.
"""

import sys
from importlib import import_module
from pathlib import Path

import pytest
from tabled import found, rows, told

from benchmarks.calibration import find
from benchmarks.calibration.mutants import MUTANTS, Mutant, gate
from benchmarks.calibration.removed_guards import REMOVED
from theorax import exact
from theorax.decide.status import Status
from theorax.exact import box_problems

PLANTED = Path(__file__).parent / "planted"
ROWS = {row.name: row for row in rows(PLANTED)}
GREEN = {status.value for status in Status if status.holds}
REFUSED = {"ERROR", "StatementError", "ObservationError"}


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_the_gate_fails(mutant):
    with mutant.planted():
        assert gate(mutant)


# The dearest would cost as much again; their cases pass, at fewer replicates, among the known answers.
@pytest.mark.parametrize("mutant", [m for m in MUTANTS if m.replicates <= 1000], ids=lambda mutant: mutant.name)
def test_the_same_gate_passes_without_the_fault(mutant):
    assert not gate(mutant)


def test_a_mutant_leaves_nothing_behind():
    mutant = next(m for m in MUTANTS if m.name == "no bias term")
    before = find(mutant.family, mutant.case).procedures[0].decide(find(mutant.family, mutant.case).data(0))
    with mutant.planted():
        changed = find(mutant.family, mutant.case).procedures[0].decide(find(mutant.family, mutant.case).data(0))
    after = find(mutant.family, mutant.case).procedures[0].decide(find(mutant.family, mutant.case).data(0))
    assert before == after != changed


def test_a_module_first_imported_under_a_fault_does_not_keep_it():
    guard = next(guard for guard in REMOVED if guard.name == "slack beyond the range")
    before, kept = box_problems.least_at, import_module("theorax.exact.minima")
    del sys.modules[kept.__name__]
    try:
        with guard.planted():
            late = import_module(kept.__name__)
            assert late.least_at is box_problems.least_at is not before
        assert late.least_at is box_problems.least_at is before
    finally:
        sys.modules[kept.__name__] = kept
        exact.minima = kept


def test_a_mutant_whose_line_is_gone_is_an_error():
    stale = Mutant("stale", "theorax.decide.equivalence:outcome", (("no such line", ""),), "rates", "", 1, "")
    with pytest.raises(LookupError, match="Write the present text"), stale.planted():
        pass


@pytest.mark.parametrize("guard", REMOVED, ids=lambda guard: guard.name)
def test_without_its_guard_a_falsehood_is_greener(guard, tmp_path):
    row = ROWS[guard.row]
    with guard.planted():
        verdict = found(PLANTED, row, guard.seed, tmp_path)
    assert verdict.status == guard.now, verdict.sentence
    assert guard.now not in row.word.split("|") or row.told not in told(verdict)


def test_every_class_has_a_guard_whose_removal_is_seen():
    folders = {guard.row.partition("_")[0] for guard in REMOVED}
    assert {f"s{number:02}" for number in range(1, 21)} <= folders
    for guard in REMOVED:
        assert guard.now in GREEN or set(ROWS[guard.row].word.split("|")) & REFUSED, guard.name
    assert len({guard.name for guard in REMOVED}) == len(REMOVED)
