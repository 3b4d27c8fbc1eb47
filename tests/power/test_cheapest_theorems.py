"""The two cheapest theorems of every folder, checked whole: no control is silent, no mutant lives, every claim holds.

The laws read the library without drawing, so a control that cannot fire would be seen in a whole run alone. Which
theorems are cheap is read from the recorded costs of such a run, so that the choice is nobody's and stays within a minute.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from theorax.decide.status import Status
from theorax.runs.checking import check
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.attacks.sensitivity import tally
from theorax.verifiers.outcome import ControlOutcome, MutantOutcome, TheoremOutcome
from theorax.verifiers.settings import Settings

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "benchmarks" / "results" / "library_quick_cpu.txt"
FOLDER = re.compile(r"^(\w+) +\d+ ")
COST = re.compile(r"^  (?:slowest: )?(\w+) .* of ([\d.]+) CPU-s;")
OF_EACH, CPU_SECONDS = 2, 60
CATALOGUE = Catalogue()


def recorded() -> dict[str, dict[str, float]]:
    """CPU seconds of every theorem at quick effort, by folder."""
    found: dict[str, dict[str, float]] = {}
    folder = ""
    for line in RECORD.read_text(encoding="utf-8").splitlines():
        if head := FOLDER.match(line):
            folder = head[1]
        elif cost := COST.match(line):
            found.setdefault(folder, {})[cost[1]] = float(cost[2])
    return found


COSTS = recorded()
CHOSEN = {name: costs[name] for costs in COSTS.values() for name in sorted(costs, key=costs.__getitem__)[:OF_EACH]}


def faults(outcome: TheoremOutcome) -> list[str]:
    """What a maintainer would have to mend."""
    found = [
        f"the control {control.subject!r} is silent on {control.claim}"
        for control in outcome.controls
        if not control.fired
    ]
    found += [
        f"the mutant {mutant.name!r} of {mutant.claim} lives"
        for mutant in outcome.mutants
        if mutant.expected == "killed" and not mutant.killed
    ]
    for claim in outcome.claims:
        holds = ("REFUTED",) if claim.corrected else ("PROVED", "CERTIFIED", "SUPPORTED")
        if claim.status not in holds:
            found.append(f"{claim.id} is {claim.status}: {claim.sentence}")
    return found


def test_the_record_names_every_folder_and_the_choice_is_cheap():
    assert set(COSTS) == {CATALOGUE.paper(name) for name in CATALOGUE.ids}
    assert set(CHOSEN) <= set(CATALOGUE.ids)
    assert len(CHOSEN) == OF_EACH * len(COSTS)
    assert sum(CHOSEN.values()) <= CPU_SECONDS


@pytest.mark.parametrize("name", CHOSEN)
def test_its_controls_fire_its_mutants_die_and_its_claims_hold(name, tmp_path):
    outcome = check(name, Settings(effort="quick", state=str(tmp_path)))
    assert faults(outcome) == []
    assert outcome.claims and outcome.controls
    killed, counted = tally(list(outcome.mutants))
    assert killed == counted > 0


def test_a_silent_control_and_a_living_mutant_are_faults(tmp_path):
    cheapest = min(CHOSEN, key=CHOSEN.__getitem__)
    outcome = check(cheapest, Settings(effort="quick", state=str(tmp_path)))
    silent = ControlOutcome("a subject", ("h",), "a claim", fired=False, status=Status.SUPPORTED, detail="")
    alive = MutantOutcome(
        "a claim", "a mutant", "", killed=False, status=Status.SUPPORTED, expected="killed", origin="file"
    )
    (fault,) = faults(replace(outcome, controls=(*outcome.controls, silent)))
    assert fault == "the control 'a subject' is silent on a claim"
    (fault,) = faults(replace(outcome, mutants=(*outcome.mutants, alive)))
    assert fault == "the mutant 'a mutant' of a claim lives"
    assert faults(replace(outcome, mutants=(replace(alive, expected="within the margin"),))) == []
    (fault,) = faults(replace(outcome, claims=(replace(outcome.claims[0], status=Status.VACUOUS), *outcome.claims[1:])))
    assert "is VACUOUS" in fault
