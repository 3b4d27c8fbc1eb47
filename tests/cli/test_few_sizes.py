"""A claim about a sweep that is asked at fewer sizes than it needs is measured there and left open."""

import json
from pathlib import Path

import pytest

SMALL = Path(__file__).parents[1] / "reports" / "voice" / "papers" / "small_theorems"
CHECK = "theorax.runs.checking:stage"
ASKED = ("mean_square", "--root", str(SMALL), "--effort", "quick", "--at", "gamma=1")


@pytest.mark.parametrize("sizes", ["n=32", "n=32,64"])
def test_an_average_is_told_and_nothing_is_decided(verify, tmp_path, sizes):
    told = tmp_path / "report.json"
    answer = verify("theorem", *ASKED, "--sizes", sizes, "-o", "terminal", "-o", f"json={told}", check=CHECK)
    assert answer.code == 4, answer.err
    tends, fades = json.loads(told.read_text(encoding="utf-8"))["theorems"][0]["claims"]
    for claim in (tends, fades):
        assert (claim["status"], claim["reason"]) == ("INCONCLUSIVE", "too_few_sizes")
    assert tends["sentence"].startswith("Measured 0.99")
    assert " at n = 32" in tends["sentence"]
    assert ("at n = 64" in tends["sentence"]) is ("64" in sizes)
    assert tends["sentence"].endswith(". A limit needs at least 3 sizes here.")
    assert fades["sentence"].endswith(". A rate needs at least 3 sizes here.")
    assert "too few sizes" in answer.out


def test_a_plan_says_so_before_any_draw(verify):
    answer = verify("plan", *ASKED, "--sizes", "n=32", check=CHECK)
    assert answer.code == 4
    assert "A limit needs at least 3 sizes here." in " ".join(answer.out.split())


def test_other_claims_are_decided_at_one_size(verify):
    small = ("mean_square_of_two", "--root", str(SMALL), "--effort", "quick", "--sizes", "n=32")
    assert verify("theorem", *small, check=CHECK).code == 1
