"""Looks at a theorem's claims: the first that decides ends the draws, at its share of the level; guards and replays see it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from theorax.cli.plan import expected_draws
from theorax.decide.means import MeanPlan
from theorax.decide.samples import Columns
from theorax.decide.spending import level_of
from theorax.decide.status import Levels
from theorax.decide.stopping import ENDING
from theorax.decide.verdict import LookTaken
from theorax.runs.checking import observe, plan
from theorax.verifiers import theorem_check
from theorax.verifiers.cases.draws import Draws
from theorax.verifiers.settings import Settings

THEOREM = """'''Means of normal numbers.'''

import jax
import jax.numpy as jnp
from sympy import Integer

from theorax.language import *

n = Size("n", "number of entries")
mean = Measured("mean", "the mean of n normal numbers, plus a shift")
H = hypotheses(centred=Hypothesis("the numbers have mean zero"))


def zero(by, **wrong):
    return Expectation(
        mean, Integer(0), margin=Absolute(1, by, "so much would matter"), spread=Integer(1), under=(H.centred,), **wrong
    )


def build(key, n, shift):
    return jax.random.normal(key, (n,)) + shift


loose, tight = zero(1), zero(5)
near = zero(1, reading="margin", wrong={"nearly out": dict(equals=Rational(6, 5))})
theorem = Theorem(
    place="nowhere", label="derived", hypotheses=H, claims=dict(CLAIMS),
    experiments=dict(
        entries=Experiment(
            lambda x: dict(mean=jnp.mean(x)), mean, {n: (1, 4)}, draws=400,
            subjects={
                "normal": Subject(build, shift=0.0),
                "shifted": Subject(build, shift=3.0).breaking(H.centred, fails=NAMES),
            },
        )
    ),
)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    papers = tmp_path / "papers"
    papers.mkdir()
    return papers


def _observed(root: Path, *names: str, kept: bytes | None = None, **settings: object):
    claims = ", ".join(f"{name}={name}" for name in names)
    text = THEOREM.replace("CLAIMS", claims).replace(
        "NAMES", ", ".join(names) if len(names) == 1 else f"[{', '.join(names)}]"
    )
    (root / "means.py").write_text(text.replace("import Integer", "import Integer, Rational"))
    asked = Settings(roots=(str(root),), state=str(root.parent / "state"), fresh=True, **settings)
    return observe("means", asked, kept)


def _tables(root: Path):
    settings = Settings(roots=(str(root),), state=str(root.parent / "state"))
    theorem, table = theorem_check._prepare("means", settings, theorem_check._catalogue(settings))
    return Draws("means", theorem, table, settings).on(table["entries"][0]).tables


def test_a_claim_far_from_its_margin_stops_at_the_first_look(root):
    outcome = _observed(root, "loose").outcome
    (claim,) = outcome.claims
    assert (claim.status, claim.look) == ("SUPPORTED", LookTaken(1, 3, 100, 400))
    assert claim.draws == 2 * 100
    # Its control too: the first look refutes, by so much that no other draw is needed.
    assert outcome.work.draws == 2 * 100 + 2 * 100 + 400 // 8  # and the case of the engine
    assert outcome.controls[0].kill_probability >= 0.8


def test_p_values_are_those_of_the_draws_seen_charged_with_the_share_of_the_look(root):
    (claim,) = _observed(root, "loose").outcome.claims
    assert claim.level is not None
    shared = Levels(claim.level, claim.level).shared(2)
    for case, table in zip(claim.cases, _tables(root), strict=True):
        plan = MeanPlan(to=0.0, margin=1.0, draws=100, sd=1.0, levels=shared.part(0.15), reading=claim.reading)
        alone = plan.tested(Columns((np.asarray(table["mean"][:100], float),))).decision
        assert case.p_support == pytest.approx(min(1.0, alone.p_support / 0.15), rel=1e-12)
        assert claim.p_support <= ENDING.support
        assert case.p_refute == pytest.approx(min(1.0, alone.p_refute / 0.15), rel=1e-12)
    assert claim.level == level_of(0.025, 1)
    assert claim.p_support == max(case.p_support for case in claim.cases) <= claim.level


def test_a_look_that_could_not_support_is_not_taken(root):
    (claim,) = _observed(root, "tight").outcome.claims
    assert claim.look is None
    assert claim.draws == 2 * 400


def test_a_line_goes_on_until_the_wrong_variants_are_decided(root):
    (claim,) = (checked := _observed(root, "near").outcome).claims
    assert claim.status == "SUPPORTED"
    assert claim.look is not None and claim.look.number > 1
    (mutant,) = (row for row in checked.mutants if row.name == "nearly out")
    assert mutant.status in ("REFUTED", "SUPPORTED") or claim.look.number == claim.look.of


def test_claims_about_one_line_share_its_draws_in_any_order(root):
    words = []
    for order in (("loose", "tight"), ("tight", "loose")):
        outcome = _observed(root, *order).outcome
        words.append({claim.id: replace(claim, log=None) for claim in outcome.claims})
    assert words[0] == words[1]
    assert (words[0]["loose"].draws, words[0]["tight"].draws) == (2 * 100, 2 * 400)


def test_a_decision_made_again_from_what_is_kept_makes_the_same_looks(root):
    first = _observed(root, "loose", "near")
    again = _observed(root, "loose", "near", kept=first.observations)
    assert again.outcome.work.draws == 0
    for one, other in zip(first.outcome.claims, again.outcome.claims, strict=True):
        assert (other.look, other.status, other.p_support) == (one.look, one.status, one.p_support)


def test_a_plan_says_how_many_draws_it_expects(root):
    _observed(root, "loose", "tight")
    settings = Settings(roots=(str(root),), state=str(root.parent / "state"))
    rows = plan("means", settings).checks
    by_claim = {row.claim: row for row in rows}
    assert by_claim["loose"].draws == (400,)
    assert 100 <= by_claim["loose"].expected_draws[0] < 200
    assert by_claim["tight"].expected_draws == by_claim["tight"].draws


def test_a_plan_counts_the_draws_of_a_line_once(root):
    _observed(root, "loose", "tight")
    rows = plan("means", Settings(roots=(str(root),), state=str(root.parent / "state"))).checks
    loose = [row for row in rows if row.claim == "loose"]
    assert "at most 800" in expected_draws(loose)
    indexed = [replace(row, at={"l": str(value)}) for row in loose for value in (1, 2, 3)]
    assert expected_draws(indexed) == expected_draws(loose)
    elsewhere = [replace(row, line=("entries", "another", ())) for row in loose]
    assert "at most 1600" in expected_draws(loose + elsewhere)


def test_the_design_holds_every_look(root, monkeypatch):
    (claim,) = _observed(root, "loose").outcome.claims
    monkeypatch.setattr("theorax.verifiers.theorem_check.looks_of", lambda cases: ())
    (once,) = _observed(root, "loose").outcome.claims
    assert once.look is None and once.design_hash != claim.design_hash
    assert once.p_support < claim.p_support


def test_what_holds_given_a_variance_is_decided_on_all_draws():
    """Its guard sees too little in a part: a law that was given with noise was green at an early look."""
    settings = Settings(effort="standard")
    theorem, table = theorem_check._prepare("pseudo_iid_gp_fc", settings, theorem_check._catalogue(settings))
    plans = {
        name: theorem_check._plan("pseudo_iid_gp_fc", theorem, name, table, settings, 1) for name in theorem.claims
    }
    given = {name for name, claim in theorem.claims.items() if getattr(claim, "given", None) is not None}
    assert given
    assert not any(plans[name].looks for name in given)
    assert any(plan.looks for plan in plans.values())
