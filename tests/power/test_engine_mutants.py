"""Faults planted in the engine break the calibration's gate, and only planted ones do.

Each mutant rewrites one line of the engine and runs the case that must notice; `benchmarks/calibration/mutants.py` says
how far the case's rate then lies from what chance allows.
"""

import pytest

from benchmarks.calibration import find
from benchmarks.calibration.mutants import MUTANTS, Mutant, gate


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_the_gate_fails(mutant):
    with mutant.planted():
        assert gate(mutant)


# The dearest three would cost as much again; their cases pass, at fewer replicates, among the known answers.
@pytest.mark.parametrize(
    "mutant", [m for m in MUTANTS if m.replicates <= 1000 and m.family != "events"], ids=lambda mutant: mutant.name
)
def test_the_same_gate_passes_without_the_fault(mutant):
    assert not gate(mutant)


def test_a_mutant_leaves_nothing_behind():
    mutant = next(m for m in MUTANTS if m.name == "no bias term")
    before = find(mutant.family, mutant.case).procedures[0].decide(find(mutant.family, mutant.case).data(0))
    with mutant.planted():
        changed = find(mutant.family, mutant.case).procedures[0].decide(find(mutant.family, mutant.case).data(0))
    after = find(mutant.family, mutant.case).procedures[0].decide(find(mutant.family, mutant.case).data(0))
    assert before == after != changed


def test_a_mutant_whose_line_is_gone_is_an_error():
    stale = Mutant("stale", "theorax.decide.equivalence:outcome", (("no such line", ""),), "rates", "", 1, "")
    with pytest.raises(LookupError, match="State it anew"), stale.planted():
        pass
