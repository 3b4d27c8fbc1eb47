"""The fixture `claim`: a test's own numbers, decided as a theorem's claims are, and all of a session together."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml

import pytest

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
    assert "REFUTED: The data exclude the claimed value and all within 0.1 of it (risk 2.5 %)" in text
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
    claim.mean(p, np.random.default_rng(0).permutation(np.linspace(-1.5, 1.5, 50)))
"""


def test_what_holds_alone_and_not_among_all_is_told_and_is_no_success(session, pytester):
    pytester.makepyfile(WEAK)
    found = session("--verify-lenient")
    found.assert_outcomes(passed=12)
    assert found.ret == 0
    text = found.stdout.str()
    assert "12 claims tested: risk that any green is wrong 5 %, any red 1 % (Holm)" in text
    assert "Adjusting changed 12 verdicts" in text
    assert (
        "test_mean[11]: mean: alone SUPPORTED (p = 0.018); among 12 claims its p is 0.22, above 0.05. Plan it" in text
    )
    found = session("--verify-strict")
    found.assert_outcomes(passed=12)
    assert found.ret == 1
    assert "12 claims undecided: fails here (--verify-strict)." in found.stdout.str()
    session("--verify-strict", "-k", "11").assert_outcomes(passed=1, deselected=11)
    assert session("--verify-strict", "-k", "11").ret == 0


def test_the_account_is_one_over_all_workers(session, pytester):
    pytest.importorskip("xdist")
    pytester.makepyfile(WEAK)
    found = session("--verify-strict", "-n", "2")
    found.assert_outcomes(passed=12)
    assert found.ret == 1
    assert "12 claims tested" in found.stdout.str() and "Adjusting changed 12 verdicts" in found.stdout.str()


def test_theorems_and_own_claims_are_one_family(session, pytester):
    pytester.makepyfile(WEAK)
    text = session("--verify", "paper:spectra", "-k", "gap or 11").stdout.str()
    assert "4 claims tested" in text


def stated(name, status, p_refute=None, p_support=None, **more):
    return Stated(name, status, p_refute, p_support, rigorous=False, **more)


def test_a_claim_that_is_stated_again_replaces_the_earlier():
    family = Family()
    family.hear([("other", 1), stated("a", "SUPPORTED", 0.5, 0.04).property])
    family.hear([stated("a", "SUPPORTED", 0.5, 0.03).property, stated("b", "REFUTED", 0.009, 1.0).property])
    assert set(family.claims) == {"a", "b"}
    after, suite = family.adjusted()
    assert after == {"a": "INCONCLUSIVE", "b": "INCONCLUSIVE"} and suite.supports == 2
    assert family.fallen() == 1
    assert "Its test failed; more draws tell whether rightly." in "\n".join(family.told())


def test_rigorous_claims_and_single_ones_need_no_account():
    family = Family()
    family.hear([stated("a", "SUPPORTED", 0.5, 1e-9).property])
    family.hear([Stated("b", "PROVED", None, None, rigorous=True).property])
    assert list(family.told()) == ["2 claims: 1 PROVED, 1 SUPPORTED."] and family.fallen() == 0
