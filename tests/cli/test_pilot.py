"""The assumed noise, a pilot for it, and a plan that cannot decide: the real check, through the command."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from test_theorem_files import CHECK

from theorax.cli import scaffold
from theorax.runs import checking
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.settings import Settings

pytestmark = pytest.mark.usefixtures("here")

LIMIT = (Path(scaffold.__file__).parent / "scaffolds" / "limit.txt").read_text("utf-8")
STATED = "spread=Rational(1, 5)"


@pytest.fixture
def claims(verify):
    """A folder with one limit."""
    folder = Path("claims")
    folder.mkdir()
    (folder / "tends.py").write_text(LIMIT, encoding="utf-8")
    return folder


def rewritten(folder: Path, spread: str) -> None:
    """State another noise."""
    (folder / "tends.py").write_text(LIMIT.replace(STATED, spread), encoding="utf-8")


def settings(folder: Path) -> Settings:
    """Settings of a quick run over the folder."""
    return Settings(effort="quick", roots=Catalogue.of((folder.resolve(),)).elsewhere)


def test_a_plan_names_the_noise_and_whether_it_is_the_default(verify, claims):
    said = " ".join(verify("plan", "claims/tends.py", "--effort", "quick").out.split())
    assert "noise tends: sd 0.2 to 0.4 per draw, assumed (spread=1/5 of the claimed value)" in said
    rewritten(claims, "implied={}")
    said = " ".join(verify("plan", "claims/tends.py", "--effort", "quick").out.split())
    assert "assumed (0.2 of the claimed value, the default; set spread=...)" in said


def test_a_plan_that_cannot_decide_ends_with_4(verify, claims):
    rewritten(claims, "spread=3")
    answer = verify("plan", "claims/tends.py", "--effort", "quick")
    assert answer.code == 4
    assert "NO" in answer.out
    assert "1 further case of it likewise." in " ".join(answer.out.split())


def test_a_pilot_finds_the_noise_and_plans_with_it(verify, claims):
    rewritten(claims, "spread=3")
    answer = verify("plan", "claims/tends.py", "--effort", "quick", "--pilot")
    assert answer.code == 4  # as it stands; the file was not changed
    assert "the largest sd of 16 draws, and a quarter more" in answer.out
    found = checking.pilot("tends", settings(claims))
    # The exact standard deviation of a norm over the root of its dimension: 1/sqrt(2 n), to first order.
    for case in found.cases:
        exact = np.sqrt(float(case.at["v"]) / (2 * np.array(case.sizes)))
        assert (np.array(case.seen) > 0.5 * exact).all()
        assert (np.array(case.seen) < 1.7 * exact).all()
    assert all(row.decides for row in found.plan.checks)


def test_no_decision_uses_a_pilot(verify, claims):
    options = settings(claims)
    before = checking.observe("tends", options)
    pilots = [checking.pilot("tends", options).cases for _ in range(2)]
    assert pilots[0] == pilots[1]
    again = checking.observe("tends", options)
    assert [claim.attempt for claim in again.outcome.claims] == [claim.attempt for claim in before.outcome.claims]
    assert again.observations == before.observations


def test_a_plan_counts_the_programs_that_a_check_compiles(verify, claims):
    first = " ".join(verify("plan", "claims/tends.py", "--effort", "quick").out.split())
    assert "4 programs; padded=True needs 2 (verify explain padding)" in first  # 16..32 and 64..128 share one each
    answer = verify("theorem", "claims/tends.py", "--effort", "quick", "-v", check=CHECK)
    assert answer.code == 0
    assert "Noise: sd 0.2 to 0.4 per draw, assumed (spread=1/5 of the claimed value)" in " ".join(answer.out.split())
    work = checking.check("tends", settings(claims)).work
    assert work.programs == checking.plan("tends", settings(claims)).programs == 4
    # What they cost is told once it was measured.
    assert re.search(r"4 programs, about [\d.]+ s;", verify("plan", "tends", "--root", "claims", "--fresh").out)


def test_a_padded_experiment_is_told_of_no_economy(verify):
    planned = checking.plan("price_identity", Settings(effort="quick"))
    assert planned.programs == planned.programs_if_padded == 1
    assert "padded=True" not in verify("plan", "price_identity", "--effort", "quick").out
