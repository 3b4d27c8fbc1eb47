"""Fresh seeds spend a budget that a log keeps; kept observations are decided again without drawing."""

from __future__ import annotations

import json
import math
import sqlite3

import numpy as np
import pytest
from scipy import stats
from test_theorem_files import CHECK, CLAIM, page

from theorax.decide.spending import charged, level_of
from theorax.errors import ObservationError
from theorax.runs.checking import observe
from theorax.verifiers.settings import Settings

OBSERVE = "theorax.runs.checking:stage"


@pytest.fixture
def write(root: Path):
    """Put a theorem file into the library."""

    def put(name: str, **changed: str) -> None:
        (root / "spectra" / f"{name}.py").write_text(page(**changed), encoding="utf-8")

    return put


@pytest.fixture
def claim(verify, tmp_path):
    """The claim of the theorem `means`, checked with these words."""

    def checked(*words: str) -> dict:
        answer = verify("theorem", "means", *words, "--output", "json=run.json", check=OBSERVE)
        assert answer.code == 0, answer.out + answer.err
        report = json.loads((tmp_path / "project" / "run.json").read_text())
        return report["theorems"][0]["claims"][0]

    return checked


def test_the_levels_of_all_attempts_sum_to_the_budget():
    # The tail beyond K is between 6/(pi^2 (K+1)) and 6/(pi^2 K).
    total = sum(level_of(0.05, k) for k in range(1, 1001))
    assert 0.05 * (1 - 6 / (math.pi**2 * 1000)) <= total <= 0.05 * (1 - 6 / (math.pi**2 * 1001))
    for k in (1, 2, 7):
        assert charged(level_of(0.05, k), k) == pytest.approx(0.05, rel=2**-50)


def test_a_true_claim_tried_a_hundred_times_keeps_its_level(rng):
    levels = np.array([level_of(0.05, k) for k in range(1, 101)])
    runs = 2000
    ever = (rng.random((runs, 100)) <= levels).any(axis=1).sum()
    assert ever <= stats.binom.ppf(0.999, runs, 0.05)
    uncorrected = (rng.random((runs, 100)) <= 0.05).any(axis=1).mean()
    assert uncorrected > 0.98


def test_the_same_seed_spends_nothing_and_a_fresh_one_does(verify, write, claim):
    write("means")
    first = claim()
    assert (first["attempt"], first["level"]) == (1, level_of(0.025, 1))
    second = claim("--seed", "1")
    assert (second["attempt"], second["level"]) == (2, level_of(0.025, 2))
    again = claim("--fresh")
    assert again["attempt"] == 1
    assert again["cases"] == first["cases"]
    told = verify("plan", "means", "--seed", "2", check=CHECK).out
    assert "This is your try 3. Its risk is 0.17 %; all tries together 2.5 %." in " ".join(told.split())
    assert claim("--seed", "1", "--fresh")["attempt"] == 2  # a plan logs nothing


@pytest.mark.parametrize("words", [("--sizes", "n=16..128"), ("--level", "0.01")])
def test_another_design_is_the_next_attempt(write, claim, words):
    write("means")
    assert claim()["attempt"] == 1
    assert claim(*words)["attempt"] == 2
    assert claim(*words, "--fresh")["attempt"] == 2


@pytest.mark.parametrize(
    "changed",
    [
        dict(draws="50"),
        dict(claim=CLAIM.format(to=1, margin=5)),
        dict(claim=CLAIM.format(to=1, margin=10).replace("spread=0.01", "spread=0.02")),
    ],
)
def test_another_design_in_the_file_is_the_next_attempt(write, claim, changed):
    write("means")
    claim()
    write("means", **changed)
    found = claim()
    assert (found["attempt"], found["level"]) == (2, level_of(0.025, 2))
    write("means")
    assert claim("--fresh")["attempt"] == 1  # logged before: it keeps its number


def test_another_effort_or_parameter_has_a_count_of_its_own(write, claim):
    write("means")
    claim()
    assert claim("--effort", "quick")["attempt"] == 1
    assert claim("--at", "c=2")["attempt"] == 1
    assert claim("--at", "c=2/1", "--fresh")["attempt"] == 1
    assert claim("--at", "c=2", "--seed", "1")["attempt"] == 2


def test_a_changed_statement_begins_a_count_and_tells_of_the_earlier_ones(verify, write, claim, tmp_path):
    write("means", claim=CLAIM.format(to=2, margin=10), proofs="()")
    assert verify("theorem", "means", check=OBSERVE).code == 1
    write("means")
    found = claim()
    assert found["attempt"] == 1
    told = {name: found["log"][name] for name in ("number", "entries", "earlier", "inconclusive", "refuted")}
    assert told == dict(number=1, entries=2, earlier=1, inconclusive=0, refuted=1)
    assert "1 attempt at earlier forms or sources" in " ".join(verify("theorem", "means", check=OBSERVE).out.split())
    out = " ".join(verify("theorem", "means", "--fresh", "-v", check=OBSERVE).out.split())
    assert f"Attempt 1; log begun {found['log']['begun'][:10]}, 2 entries." in out
    assert "1 attempt at earlier forms or sources: 0 inconclusive, 1 refuted" in out
    assert "at all three efforts at most three times that" in out


def test_a_changed_program_keeps_its_number_and_is_told(write, claim):
    write("means")
    assert claim()["log"]["earlier"] == 0
    write("means", observe="return dict(x=net + 0.0)")
    found = claim()
    assert (found["attempt"], found["log"]["earlier"], found["log"]["entries"]) == (1, 1, 2)


def test_a_refused_design_spends_nothing(verify, write, claim, tmp_path):
    write("means", claim=CLAIM.format(to=1, margin=10).replace("spread=0.01", "spread=9"))
    assert verify("theorem", "means", check=OBSERVE).code == 4
    assert not (tmp_path / "project" / ".theorax" / "attempts.sqlite").exists()
    write("means")
    assert claim()["attempt"] == 1


def test_a_run_that_failed_while_drawing_has_been_looked_at(verify, write, claim):
    write("means", observe="return 1 / 0")
    assert verify("theorem", "means", check=OBSERVE).code == 3
    write("means")
    assert claim("--seed", "1")["attempt"] == 2


def test_a_baseline_knows_of_more_attempts_than_a_younger_log(verify, write, claim, tmp_path):
    write("means")
    claim()
    claim("--seed", "1")
    assert verify("baseline", "save", "--report", "run.json", check=OBSERVE).code == 0
    (tmp_path / "project" / ".theorax" / "attempts.sqlite").unlink()
    claim("--seed", "1", "--fresh")
    told = " ".join(verify("baseline", "compare", "--report", "run.json", check=OBSERVE).out.split())
    assert "The log of attempts is shorter than the baseline's at 1 claim" in told


def test_a_decision_is_made_again_from_what_was_kept(verify, write, root, tmp_path):
    write("means")
    answer = verify("theorem", "means", "--state", str(tmp_path / "s"), check=OBSERVE)
    assert answer.code == 0, answer.out
    connection = sqlite3.connect(tmp_path / "s" / "results.sqlite")
    ((kept,),) = connection.execute("SELECT observations FROM sealed_results").fetchall()
    connection.close()
    settings = Settings(state=str(tmp_path / "s"), roots=(str(root),))
    drawn, recalled = observe("means", settings), observe("means", settings, kept)
    assert recalled.outcome.claims == drawn.outcome.claims
    assert recalled.outcome.mutants == drawn.outcome.mutants
    assert recalled.outcome.controls == drawn.outcome.controls
    assert drawn.outcome.work.draws > 0
    assert recalled.outcome.work.draws == 0
    assert recalled.observations == drawn.observations == kept
    with pytest.raises(ObservationError, match="cannot be read"):
        observe("means", settings, kept[:100])


def test_words_do_not_depend_on_what_else_is_checked(verify, root):
    """By the engine itself: four files of a true claim and one of a false one, together, in parts and alone."""
    names = ("one", "two", "three", "four", "off")
    for name in names:
        text = page(claim=CLAIM.format(to=2, margin=10), proofs="()") if name == "off" else page()
        (root / "spectra" / f"{name}.py").write_text(text, encoding="utf-8")

    def checked(*chosen):
        answer = verify("theorem", *chosen, "-o", "json", "--fresh", "-j", "1", check=CHECK)
        found = json.loads(answer.out)
        words = {
            f"{part['id']}.{claim['id']}": (claim["status"], claim["sentence"], claim["p_support"], claim["p_refute"])
            for part in found["theorems"]
            for claim in part["claims"]
        }
        return words, found["together"], answer.code

    words, together, _ = checked(*names)
    assert [word for word, *_ in words.values()].count("REFUTED") == 1 and together["tested"] == len(names)
    for chosen in (names[::-1], names[1:3], *([name] for name in names)):
        own, _, _ = checked(*chosen)
        assert own == {name: word for name, word in words.items() if name in own}
