"""Variates of known mean in theorems: evidence takes them, controls do not, and a wrong mean is an error of the claim."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
from sympy import Integer, Rational

from theorax.decide.status import Status
from theorax.decide.verdict import Standing
from theorax.errors import StatementError
from theorax.language import *
from theorax.runs.checking import observe
from theorax.verifiers.settings import Settings

n = Size("n", "number of entries")
seen = numbers(square="mean of the squares", fourth="mean of the fourth powers")
H = hypotheses(normal="the entries are standard normal", whole="none is left out")


def build(key, n, shift, zeros):
    x = jax.random.normal(key, (n,)) + shift
    return jnp.where(jnp.arange(n) < zeros * n, 0, x)


def look(x):
    return dict(square=jnp.mean(x**2), fourth=jnp.mean(x**4))


def theorem(mean=Integer(1), **changed):
    """The fourth moment of normal numbers, less what the second one explains of its draws."""
    variate = KnownMean(seen.square, mean, gain=4, because="E x^2 = 1", under=H.normal)
    claim = replace(
        Expectation(
            seen.fourth, Integer(3), margin=Relative(1, 5, "a standard deviation a twentieth off is as far"),
            spread=Rational(1, 3), variates=(variate,), wrong={"that of the square": dict(of=seen.square)},
        ),
        **changed,
    )  # fmt: skip
    whole = Subject(build, shift=0.0, zeros=0.0)
    return Theorem(
        hypotheses=H,
        claims=dict(fourth=claim),
        experiments=dict(
            entries=Experiment(
                look, seen, {n: 64}, draws=256,
                subjects={
                    "normal": whole,
                    "shifted": whole(shift=1.0).breaking(H.normal, fails=claim),
                    "half of them zero": whole(zeros=0.5).breaking(H.whole, fails=claim),
                },
            )
        ),
    )  # fmt: skip


def checked(value):
    return observe("fourth_moment", Settings(effort="quick"), theorem=value).outcome


def test_evidence_takes_variates_and_controls_do_not():
    outcome = checked(theorem())
    (claim,) = outcome.claims
    assert claim.status is Status.SUPPORTED
    gain = claim.cases[0].gain
    assert gain.planned == pytest.approx(4) and gain.measured > 2 and not gain.raw
    assert [control.fired for control in outcome.controls] == [True, True]
    assert all(mutant.killed for mutant in outcome.mutants if mutant.expected == "rejected")
    standing = {line.kind: line.checked for line in claim.ledger}
    assert standing["known mean"] is Standing.DECLARED and standing["sample means"] is Standing.TESTED


def test_a_wrong_known_mean_is_an_error_of_the_claim():
    (claim,) = checked(theorem(mean=Rational(11, 10))).claims
    assert claim.status is Status.ERROR
    assert "The known mean of square is wrong for normal" in claim.sentence and "stated is 1.1" in claim.sentence


def test_a_subject_for_which_the_mean_is_not_derived_is_averaged_as_drawn():
    (claim,) = checked(theorem(under=H.whole)).claims
    gains = {case.subject: case.gain for case in claim.cases}
    assert not gains["normal"].raw and "no known mean is derived" in gains["shifted"].raw


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (dict(of=n, mean=1, because="x"), "holds no measured letter"),
        (dict(of=seen.square, mean=seen.fourth, because="x"), "which only a draw can tell"),
        (dict(of=seen.square, mean=1, because=" "), "has no reason"),
        (dict(of=seen.square, mean=1, because="x", gain=Rational(1, 2)), "adds noise"),
    ],
)
def test_what_is_no_known_mean_is_refused(wrong, why):
    with pytest.raises(StatementError, match=why):
        KnownMean(**wrong)


@pytest.mark.parametrize(
    "changed", [dict(moments=Bounded(0, 9)), dict(quantile=Rational(1, 2))], ids=["a range", "a quantile"]
)
def test_a_claim_that_variates_would_make_another_refuses_them(changed):
    with pytest.raises(StatementError, match="variates are given beside"):
        theorem(**changed)


def test_a_claim_that_averages_nothing_refuses_variates():
    known = KnownMean(seen.square, 1, because="E x^2 = 1")
    with pytest.raises(StatementError, match="averages none"):
        Probability(seen.square > 0, at_least=1, variates=(known,))
