"""The share of hypotheses that controls show to be needed."""

from __future__ import annotations

import jax.numpy as jnp

from benchmarks.needed import lines, pairs, share
from theorax.language import Absolute, Expectation, Experiment, Hypothesis, Measured, Size, Subject, Theorem, hypotheses


def build(key, shifted, scaled):
    return jnp.zeros(())


def observe(net):
    return dict(x=net)


def stated() -> Theorem:
    x = Measured("x", "a number")
    H = hypotheses(
        centred="x has mean zero", unit="x has variance one", finite=Hypothesis("x is finite", unbroken="always")
    )
    mean = Expectation(x, 0, margin=Absolute(1, 10, "because"))
    square = Expectation(x**2, 1, margin=Absolute(1, 10, "because"), under=H.unit)
    right = Subject(build, shifted=0, scaled=0)
    subjects = {
        "right": right,
        "shifted": right(shifted=1).breaking(H.centred, fails=mean),
        "both": right(shifted=1, scaled=1).breaking(H.centred, H.unit, fails=(mean, square)),
    }
    experiment = Experiment(observe, x, {Size("n", "size"): (1,)}, draws=8, subjects=subjects)
    return Theorem(claims=dict(mean=mean, square=square), hypotheses=H, experiments=dict(one=experiment))


def test_a_control_shows_the_hypothesis_that_it_breaks_alone():
    found = {(pair.claim, pair.hypothesis): pair for pair in pairs("stated", stated())}
    assert found["mean", "centred"].shown
    assert found["mean", "unit"].told == "with another one"
    assert found["mean", "finite"].told == "declared unbroken"
    # "both" breaks two hypotheses, of which this claim needs one.
    assert found["square", "unit"].shown
    assert share(list(found.values())) == "50% (2 of 4)"


def test_papers_and_pairs_are_told():
    told = list(lines(("outlier_interlacing",), every=True))
    assert told == ["mind_the_gap                 100% (2 of 2)", "all                          100% (2 of 2)"]
