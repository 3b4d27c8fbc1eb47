"""Variates of the library's theorems: a wrong mean is found on real draws, and a control is averaged as it is drawn."""

from __future__ import annotations

import re
from pathlib import Path

from theorax.runs.checking import observe
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.settings import Settings

ID = "relu_depth_kurtosis"
TOLD = "KnownMean(variance, 1,"
USES = re.compile(r"    uses=\(.*\),\n")


def checked(folder: Path, mean: str):
    """The outcome for a copy of the theorem with this known mean, at two hidden layers, which rests on no other theorem."""
    text = Catalogue().path(ID).read_text(encoding="utf-8")
    assert text.count(TOLD) == 1
    text = text.replace(TOLD, f"KnownMean(variance, {mean},")
    text, found = USES.subn("", text)
    assert found == 1
    (folder / "papers").mkdir()
    (folder / "papers" / f"{ID}.py").write_text(text, encoding="utf-8")
    settings = Settings(
        effort="quick", roots=(str(folder / "papers"),), state=str(folder / "state"), fresh=True, at=(("l", "2"),)
    )
    return observe(ID, settings).outcome


def test_a_mean_that_is_off_by_one_in_n_is_an_error(tmp_path):
    (claim,) = checked(tmp_path, "1 + 1 / n").claims
    assert claim.status == "ERROR"
    assert "known mean of variance is wrong" in claim.sentence


def test_evidence_gains_and_the_control_stays_as_it_was_drawn(tmp_path):
    outcome = checked(tmp_path, "1")
    (claim,) = outcome.claims
    gains = [case.gain for case in claim.cases]
    assert gains and all(gain.measured > 2 for gain in gains)
    assert outcome.controls and all(control.fired for control in outcome.controls)
