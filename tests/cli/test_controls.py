"""Controls are asked until their kill probability is shown, and one that kills by chance leaves a claim vacuous."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_theorem_files import page

from theorax.decide.kill_evidence import Basis
from theorax.runs.checking import check
from theorax.verifiers.settings import Settings


def with_control(shift: float, draws: int) -> str:
    """The smallest theorem, with a subject whose mean is off by so many standard errors of the claim's own design."""
    return (
        page(draws=str(draws), needs=", shift")
        .replace("1 + c / n.value +", "1 + shift + c / n.value +")
        .replace(
            '{"gaussian": Subject(build)}',
            '{"gaussian": Subject(build, shift=0.0), "shifted": '
            f"Subject(build, shift={shift}).breaking(H.noise, fails=mean)}}",
        )
        .replace(', unbroken="nothing to break"', "")
    )


@pytest.fixture
def checked(root: Path, tmp_path: Path):
    """The outcome of the theorem with this control."""

    def run(shift: float, draws: int, effort: str):
        (root / "spectra" / "means.py").write_text(with_control(shift, draws), encoding="utf-8")
        return check("means", Settings(effort=effort, state=str(tmp_path / "state"), roots=(str(root),)))

    return run


@pytest.mark.parametrize(("draws", "drawn"), [(200, 88), (40, 88)])
def test_a_clear_control_is_repeated_on_portions_until_its_kill_probability_is_shown(checked, draws, drawn):
    outcome = checked(1.0, draws, "standard")
    (control,) = outcome.controls
    assert (control.fired, control.replicates, control.kills) == (True, 22, 22)
    assert (control.basis, control.run_draws) == (Basis.REPETITIONS, 4)
    assert control.kill_probability >= 0.8
    assert outcome.status == "SUPPORTED"
    # Four sizes: the evidence up to the look that decides; of the control 22 portions of four draws, more than a quarter.
    assert outcome.work.draws == outcome.claims[0].draws + 4 * drawn


def test_a_control_of_many_draws_is_shown_by_the_run_that_noticed_it(checked):
    outcome = checked(1.0, 400, "standard")
    (control,) = outcome.controls
    assert (control.fired, control.replicates, control.kills) == (True, 1, 1)
    assert (control.basis, control.run_draws) == (Basis.STATISTIC, 100)
    assert control.kill_probability >= 0.8
    assert outcome.work.draws == outcome.claims[0].draws + 4 * 100


def test_at_quick_effort_the_run_itself_is_all(checked):
    (control,) = checked(1.0, 40, "quick").controls
    assert (control.fired, control.replicates, control.kills) == (True, 1, 1)
    assert (control.kill_probability, control.bounded_by) == (pytest.approx(0.05), None)


def test_a_control_that_passes_leaves_the_claim_vacuous(checked):
    outcome = checked(0.0, 40, "standard")
    assert outcome.status == "VACUOUS"
    assert not outcome.controls[0].fired


@pytest.mark.parametrize("effort", ["quick", "standard"])
def test_a_control_that_only_scatters_more_has_shown_nothing(root, tmp_path, effort):
    # The mean is the claimed one; what is broken is the precision, and the claim is left open, not refuted.
    text = with_control(0.0, 40).replace("1 + shift + c / n.value +", "1 + c / n.value + (1 + 1000 * shift) *")
    (root / "spectra" / "means.py").write_text(
        text.replace("shift=0.0).breaking", "shift=1.0).breaking"), encoding="utf-8"
    )
    outcome = check("means", Settings(effort=effort, state=str(tmp_path / "state"), roots=(str(root),)))
    (control,) = outcome.controls
    assert (control.status, control.fired) == ("INCONCLUSIVE", False)
    assert outcome.status == "VACUOUS"
    assert "left open there, not refuted" in outcome.claims[0].sentence


def test_a_control_that_kills_by_chance_leaves_the_claim_vacuous(checked):
    # Below the bias bound nothing refutes, far above it everything does; somewhere between it is chance.
    statuses = []
    for shift in np.linspace(0.002, 0.03, 15):
        outcome = checked(float(shift), 40, "standard")
        (control,) = outcome.controls
        if control.fired and 3 <= control.kills <= control.replicates - 3:
            statuses.append(outcome.claims[0].status)
            assert "repetitions only" in outcome.claims[0].sentence
    assert set(statuses) == {"VACUOUS"}
