"""Manufactured theorems of the rigorous kinds: a true claim, false twins and a vacuous one, each with its fixed status."""

from __future__ import annotations

from pathlib import Path

import pytest

from theorax.runs.checking import check
from theorax.verifiers.settings import Settings

ROOT = Path(__file__).parent / "papers"
EXPECTED = {
    "bounds_on_a_box": {
        "true": "CERTIFIED", "false": "REFUTED", "vacuous": "VACUOUS", "touching": "CERTIFIED",
    },
    "least_values": {
        "true": "CERTIFIED", "false_bound": "REFUTED", "false_point": "REFUTED", "infeasible": "INCONCLUSIVE",
        "vacuous": "VACUOUS", "lower_well": "CERTIFIED", "upper_well": "REFUTED", "near_the_lower_well": "REFUTED",
    },
    "lines_cannot_turn": {
        "true": "SUPPORTED", "false": "REFUTED", "blind": "INCONCLUSIVE", "vacuous": "VACUOUS",
    },
}  # fmt: skip


@pytest.mark.parametrize("theorem", EXPECTED)
def test_every_manufactured_claim_has_its_status(theorem: str, tmp_path: Path) -> None:
    found = check(theorem, Settings(roots=(str(ROOT),), state=str(tmp_path)))
    assert {claim.id: claim.status for claim in found.claims} == EXPECTED[theorem]
    for claim in found.claims:
        if claim.status == "CERTIFIED":
            assert claim.rigorous and claim.scope and claim.ledger
        # A rigorous result spends nothing of the suite's error budget; a search has no error rate at all.
        assert claim.p_refute is None and claim.p_support is None
    assert all(control.fired for control in found.controls)
    wrong = [part for part in found.mutants if part.expected == "rejected"]
    assert wrong and all(part.killed for part in wrong)
