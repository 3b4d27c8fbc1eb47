"""Proofs as `verify explain` tells them, and observations as the command keeps them: on a theorem of the library."""

from __future__ import annotations

from pathlib import Path

import pytest

from theorax.cli.main import exit_code_of
from theorax.cli.workspace import Workspace
from theorax.runs.checking import observe
from theorax.runs.sources import Sources
from theorax.runs.store import Store
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.settings import Settings

pytestmark = pytest.mark.usefixtures("here")

HARD = Path(__file__).parents[1] / "honesty" / "hard"


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """An empty project."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def verify(*words: str) -> int:
    return exit_code_of(Workspace(arguments=words))


def sections(text: str) -> dict[str, str]:
    """The blocks under each heading."""
    found, heading = {}, ""
    for line in text.splitlines():
        if line and not line.startswith(" "):
            heading = line
            found[heading] = ""
        else:
            found[heading] = f"{found.get(heading, '')} {line.strip()}"
    return found


def test_what_is_proved_here_is_what_a_check_calls_proved(alone, capsys):
    assert verify("explain", "outlier_identity") == 0
    told = sections(capsys.readouterr().out)
    outcome = observe("outlier_identity", Settings(effort="quick", state=str(alone / "state"))).outcome
    proved = [claim for claim in outcome.claims if claim.status == "PROVED"]
    assert proved
    for claim in outcome.claims:
        assert (f"{claim.id}: for" in told["Proved here"]) == (claim in proved)
        assert claim not in proved or "T = 2, 3, 4" in told["Proved here"]


def test_a_derivation_stands_under_what_it_is_given(alone, capsys):
    assert verify("explain", "outlier_removal_threshold") == 0
    told = sections(capsys.readouterr().out)
    assert "Proved here" not in told
    (derived,) = (heading for heading in told if heading.startswith("Derived, given"))
    assert "Benaych-Georges and Nadakuditi 2011" in derived
    assert "outlier: Every theta above the threshold" in told[derived]
    assert "Benaych-Georges and Nadakuditi 2011" in told["Cited"]


def test_a_verdict_that_the_command_kept_is_decided_again_from_its_draws(alone, capsys):
    words = ("theorem", "thresholds", "--effort", "quick", "--jobs", "1")
    assert exit_code_of(Workspace(library=HARD, arguments=words)) == 0
    capsys.readouterr()
    settings = Settings(effort="quick", state=str(alone / ".theorax"), roots=(str(HARD),))
    manifest = Sources().manifest(Catalogue.of([HARD]).path("thresholds"), settings)
    kept = Store(Path(".theorax")).get(manifest)
    observations = Store(Path(".theorax")).observations(manifest)
    assert kept is not None and observations
    again = observe("thresholds", settings, kept=observations).outcome
    assert [claim.status for claim in again.claims] == [claim.status for claim in kept.outcome.claims]


def test_a_look_at_other_parameters_says_which_claims_it_drops(alone, capsys):
    words = ("thresholds", "--effort", "quick", "--jobs", "1", "--at", "theta=3/2")
    assert exit_code_of(Workspace(library=HARD, arguments=("plan", *words))) == 0
    planned = " ".join(capsys.readouterr().out.split())
    assert exit_code_of(Workspace(library=HARD, arguments=("theorem", *words))) == 0
    told = " ".join(capsys.readouterr().out.split())
    for text in (planned, told):
        assert "needs θ ≤ 1; here θ = 3/2" in text
        assert "needs θ > 1" not in text
    assert "Not asked" in planned and "Not asked" in told
