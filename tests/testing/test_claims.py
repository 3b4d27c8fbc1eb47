"""The fixture `claim`: a test's own numbers, decided as a theorem's claims are, and all of a session together."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml

import pytest

from theorax.decide.error_budget import Member
from theorax.decide.status import Status
from theorax.testing.family import Family, Stated

pytest_plugins = ["pytester"]

MINE = """
import numpy as np
import pytest
from theorax import decide

SIZES = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]


def plan(**given):
    return decide.plan_rate(SIZES, **{"exponent": -1, "margin": 0.1, "draws": 64, **given})


def draws(claim, exponent=-1.0, count=64):
    return np.array(SIZES) ** exponent * claim.rng.lognormal(0, 0.2, (count, len(SIZES)))


def test_holds(claim):
    assert claim.rate(plan(), draws(claim)).status == "SUPPORTED"


def test_refuted(claim):
    claim.rate(plan(name="the error"), draws(claim, -0.5))


def test_open(claim):
    claim.rate(plan(draws=2), draws(claim, -1.05, 2))


def test_several(claim):
    claim(decide.rate(plan(name="first"), draws(claim)))
    claim.rate(plan(), draws(claim))
    claim.sequence(decide.plan_sequence(SIZES[:6], exponent=-2, margin=0.3), np.array(SIZES[:6]) ** -2.0)
    claim.rate(plan(), draws(claim))


def test_mistyped(claim):
    with pytest.raises(AttributeError, match="did you mean `rate`"):
        claim.rates


def test_own_generator(claim):
    first = claim.rng.random()
    assert first == np.random.default_rng(claim.seed).random()
    print("DRAWN", claim.seed)
"""


@pytest.fixture
def mine(session, pytester):
    """A session over a user's own tests."""
    pytester.makepyfile(test_mine=MINE)
    return session


def test_a_claim_that_holds_passes_and_returns_its_verdict(mine):
    mine("-k", "holds or several or mistyped").assert_outcomes(passed=3, deselected=3)


def test_a_claim_that_is_refuted_fails_with_its_sentence_and_the_replay(mine):
    found = mine("-k", "refuted", "--verify-seed", "3")
    found.assert_outcomes(failed=1, deselected=5)
    text = found.stdout.str()
    assert "REFUTED: The data exclude the claimed value and all within 0.1 of it (risk 0.1 %)" in text
    assert "Replay: pytest test_mine.py::test_refuted --verify-seed 3" in text
    assert "Measured:         exponent -0.5" in text
    assert "claims.py" not in text


def test_an_undecided_claim_is_skipped_or_fails_and_says_what_would_decide(mine):
    found = mine("-k", "open", "-rs")
    found.assert_outcomes(skipped=1, deselected=5)
    assert "undecided: " in found.stdout.str()
    assert "1 claim undecided: passes here, fails in CI (try --verify-strict)." in found.stdout.str()
    found = mine("-k", "open", "--verify-strict")
    found.assert_outcomes(failed=1, deselected=5)
    assert "To decide: n = 32 to 8192" in found.stdout.str()


def test_draws_belong_to_the_test_and_the_seed(mine):
    def drawn(*words):
        text = mine("-k", "own_generator", "-s", *words).stdout.str()
        return next(line for line in text.splitlines() if "DRAWN" in line)

    assert drawn() == drawn() != drawn("--verify-seed", "1")


def test_every_claim_of_a_test_is_in_the_account(mine, pytester):
    mine("-k", "several", "--junitxml=out.xml")
    (case,) = xml.parse(pytester.path / "out.xml").getroot().iter("testcase")
    names = [json.loads(part.get("value"))["name"] for part in case.iter("property")]
    assert names == [f"test_mine.py::test_several: {own}" for own in ("first", "rate", "sequence", "rate (2)")]


WEAK = """
import numpy as np
import pytest
from theorax import decide

@pytest.mark.parametrize("number", range(12))
def test_mean(claim, number):
    # Held alone with p just below its level; twelve of them are not.
    p = decide.plan_mean(to=0.0, margin=0.3, draws=50, sd=1.0)
    claim.mean(p, np.linspace(-1.5, 1.5, 50))
"""


def test_what_does_not_hold_jointly_is_named_and_changes_no_test(session, pytester):
    pytester.makepyfile(WEAK)
    for option in ("--verify-lenient", "--verify-strict"):
        found = session(option)
        found.assert_outcomes(passed=12)
        assert found.ret == 0
        told = found.stdout.str()
        assert "12 claims: 12 SUPPORTED." in told
        assert "0 of 12 green verdicts hold jointly at 2.5 %; on their own only: " in told
        assert "test_mean[11]: mean" in told and "undecided" not in told


def test_the_account_is_one_over_all_workers(session, pytester):
    pytest.importorskip("xdist")
    pytester.makepyfile(WEAK)
    found = session("--verify-strict", "-n", "2")
    found.assert_outcomes(passed=12)
    assert found.ret == 0
    assert "0 of 12 green verdicts hold jointly" in found.stdout.str()


def test_theorems_and_own_claims_are_one_family(session, pytester):
    pytester.makepyfile(WEAK)
    text = session("--verify", "paper:spectra", "-k", "gap or 11").stdout.str()
    assert "4 claims: 4 SUPPORTED." in text and "4 green verdicts hold jointly" in text


def stated(name, status, p_refute=None, p_support=None):
    return Stated(name, Member(Status(status), p_refute, p_support))


def test_a_claim_that_is_stated_again_replaces_the_earlier():
    family = Family()
    family.hear([("other", 1), stated("a", "SUPPORTED", 0.5, 0.04).property])
    family.hear([stated("a", "SUPPORTED", 0.5, 0.03).property, stated("b", "REFUTED", 0.009, 1.0).property])
    assert set(family.claims) == {"a", "b"} and family.undecided() == 0
    told = list(family.told())
    assert told[0] == "2 claims: 1 SUPPORTED, 1 REFUTED."
    assert "0 of 1 green verdicts hold jointly at 2.5 %; on their own only: a." in told[1]
    assert told[2].startswith("✗ REFUTED on its own, not over the run b: p = 0.018 among all.")


def test_rigorous_claims_and_single_ones_need_no_statement():
    family = Family()
    family.hear([stated("a", "SUPPORTED", 0.5, 1e-9).property, stated("b", "PROVED").property])
    assert list(family.told()) == ["2 claims: 1 PROVED, 1 SUPPORTED."]
