"""Theorems checked whole at quick effort: their claims hold, their controls fire, their mutants die, their numbers stay.

All of them take minutes, so a run of the tests checks a few, always the same; ``--whole`` checks every theorem:

    python -m pytest tests/power/test_every_theorem.py --whole -n 2

What each found is held against ``every_theorem.json``, a baseline as users keep one. A theorem that is new, or decided
otherwise on purpose, is written into it:

    verify baseline save tests/power/every_theorem.json --only ID --effort quick
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from theorax.decide.status import Status
from theorax.reports import baselines
from theorax.reports.assembly import document
from theorax.reports.baselines import Baseline, BaselineCase, BaselineClaim
from theorax.reports.document import Document, TheoremReport
from theorax.reports.regression import Change, compared
from theorax.runs.runner import run
from theorax.runs.selectors import Selection
from theorax.runs.sources import Sources
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.outcome import Expected, StepStatus

KEPT = baselines.read_baseline(Path(__file__).with_name("every_theorem.json"))
CATALOGUE = Catalogue()
SOURCES = Sources()


def checked(theorem: str, state: Path) -> Document:
    """The report of a run of this theorem alone, with the settings of what is kept."""
    settings = KEPT.runs[-1].settings.settings(fresh=True, state=str(state))
    found = run(Selection((theorem,), (theorem,)), settings, CATALOGUE, sources=SOURCES)
    return document(found, settings, ["pytest"], KEPT.runs[-1].created)


def silent(part: TheoremReport) -> list[str]:
    """The controls that did not fire, the mutants that live, and what a check without any of them leaves untested."""
    found = [f"the control {row.subject!r} is silent on {row.claim}" for row in part.controls if not row.fired]
    killable = [row for row in part.mutants if row.expected is Expected.KILLED]
    found += [f"the mutant {row.name!r} of {row.claim} lives" for row in killable if not row.killed]
    empty = {"claims": part.claims, "controls": part.controls, "mutants to kill": killable}
    return found + [f"it has no {what}" for what, rows in empty.items() if not rows]


def left_open(part: TheoremReport) -> list[str]:
    """The steps of its proofs that are neither proved nor cited, whether or not a proof settles a claim."""
    return [
        f"{step.proof}: {step.reason}"
        for step in part.proof
        if step.status not in (StepStatus.PROVED, StepStatus.CITED)
    ]


def moved(report: Document, kept: Baseline = KEPT) -> list[str]:
    """The claims whose statement, word or estimate is another than what is kept.

    What balls decide has no error to hold a difference against, yet a solver's last bits differ between processors: such
    a number may move within the zone of the comparison.
    """
    comparison = compared(kept.of([part.id for part in report.theorems]), report, strict=True)
    return [
        f"{row.claim} {row.change}, {row.outcome}: {row.before} -> {row.now}; {row.why}"
        for row in comparison.claims
        if row.change is not Change.KEPT or (row.exit and not (row.how == "exact" and row.within))
    ]


@pytest.mark.parametrize("theorem", CATALOGUE.ids)
def test_the_words_of_its_claims_its_controls_mutants_and_numbers(theorem, tmp_path):
    report = checked(theorem, tmp_path)
    (part,) = report.theorems
    assert part.status.holds, part.reason
    assert silent(part) == []
    assert left_open(part) == []
    assert moved(report) == []


def test_every_theorem_is_kept_and_holds():
    assert [part.id for part in KEPT.theorems] == sorted(CATALOGUE.ids)
    for part in KEPT.theorems:
        assert part.status.holds, part.id
        for claim in part.claims:
            # What a source prints wrongly is refuted, and another claim says what is right.
            as_expected = claim.status is Status.REFUTED if claim.corrected else claim.status.holds
            assert as_expected, f"{part.id}.{claim.id}"
    assert {made.settings.effort for made in KEPT.runs} == {"quick"}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report of a theorem that is cheap and has claims, controls and mutants."""
    return checked("price_identity", tmp_path_factory.mktemp("state"))


def test_a_silent_control_and_a_living_mutant_are_faults(report):
    (part,) = report.theorems
    assert silent(part) == []
    control, *controls = part.controls
    (fault,) = silent(replace(part, controls=(replace(control, fired=False), *controls)))
    assert fault.startswith("the control ")
    at = next(at for at, row in enumerate(part.mutants) if row.expected is Expected.KILLED)
    alive = [replace(row, killed=row.killed and place != at) for place, row in enumerate(part.mutants)]
    (fault,) = silent(replace(part, mutants=tuple(alive)))
    assert fault.startswith("the mutant ")
    assert silent(replace(part, controls=())) == ["it has no controls"]


def test_a_step_that_stays_open_is_a_fault(report):
    (part,) = report.theorems
    assert left_open(part) == []
    step, *steps = part.proof
    opened = replace(step, status=StepStatus.UNDECIDED)
    assert left_open(replace(part, proof=(opened, *steps))) == [f"{step.proof}: {step.reason}"]


def kept_otherwise(report: Document, **changes: Any) -> Baseline:
    """What is kept, with the first claim of the report's theorem changed."""
    part = KEPT.by_id[report.theorems[0].id]
    claim, *others = part.claims
    changed = replace(part, claims=(replace(claim, **changes), *others))
    return replace(KEPT, theorems=tuple(changed if row.id == part.id else row for row in KEPT.theorems))


def first_claim(report: Document) -> BaselineClaim:
    """What is kept of the first claim of the report's theorem."""
    return KEPT.by_id[report.theorems[0].id].claims[0]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"status": Status.PROVED}, "regressed"),
        ({"status": Status.INCONCLUSIVE}, "improved"),
        ({"statement": "1 = 1"}, "restated"),
        ({"id": "another"}, "vanished"),
    ],
)
def test_another_word_statement_or_claim_is_a_fault(report, changes, told):
    assert moved(report) == []
    assert first_claim(report).status not in changes.values()
    assert told in " ".join(moved(report, kept_otherwise(report, **changes)))


def test_an_estimate_that_moved_by_two_margins_is_a_fault(report):
    claim = first_claim(report)

    def shifted(case: BaselineCase) -> BaselineCase:
        shift = 2 * case.margin
        ends = tuple(end + shift for end in case.interval)
        return replace(case, estimate=case.estimate + shift, interval=ends, numbers="others")

    (fault,) = moved(report, kept_otherwise(report, cases=tuple(map(shifted, claim.cases))))
    assert "kept, moved" in fault
