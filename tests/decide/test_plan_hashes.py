"""The hash of a plan is one of its contents, not of the names in the code: counts of attempts survive a renamed class."""

import inspect
import math

import pytest

from theorax import decide
from theorax.decide.case_results import NothingEstimated
from theorax.decide.inequalities import InstancesPlan
from theorax.decide.plans import Planned
from theorax.verifiers.claim_versions import LOGGED_LEVELS

SIZES = (64, 128, 256, 512)
# Digests of these plans as they were before any class or field was renamed: attempts are logged under them.
LOGGED = {
    "24dcaac456f0a1e0": lambda: decide.plan_limit(SIZES, to=2.0, margin=0.1, draws=32, sd=0.1, levels=LOGGED_LEVELS),
    "7b09e351b9495d1b": lambda: decide.plan_rate(SIZES, exponent=-1.0, margin=0.3, draws=32, levels=LOGGED_LEVELS),
    "5a9273a57a4b5f65": lambda: decide.plan_mean(to=0.5, margin=0.2, draws=64, sd=0.5, levels=LOGGED_LEVELS),
    "3a905264e1f7a156": lambda: decide.plan_quantile(to=0.0, margin=0.3, draws=200, levels=LOGGED_LEVELS),
    "a99c9605bc8a01ec": lambda: decide.plan_probability(at_least=0.9, margin=0.1, draws=200, levels=LOGGED_LEVELS),
    "e3fbb466b2b520b0": lambda: decide.plan_inequality(draws=200, levels=LOGGED_LEVELS),
    "c94cc1652907eb11": lambda: decide.plan_sequence(SIZES, to=2.0, margin=0.1, levels=LOGGED_LEVELS),
    "3d883ee04becb0bd": lambda: decide.plan_law(
        to=decide.Normal(0, 1), draws=400, excludes=[decide.Normal(0, math.sqrt(1.1))], levels=LOGGED_LEVELS
    ),
}


@pytest.mark.parametrize("digest", LOGGED)
def test_a_plan_keeps_the_hash_that_attempts_are_logged_under(digest):
    assert LOGGED[digest]().hash == digest


def test_instances_of_an_exact_claim_are_logged_as_those_of_a_bound():
    plan = InstancesPlan(margin=0.02, draws=200)
    assert plan.hash == decide.plan_inequality(draws=200, share=0.02, name="claim", reading="exact").hash


def concrete(cls):
    """The classes below this one that can be built."""
    for below in cls.__subclasses__():
        if not inspect.isabstract(below):
            yield below
        yield from concrete(below)


def test_every_plan_that_estimates_says_its_name_in_the_hash():
    named = {
        cls: cls.hashed_as
        for cls in concrete(Planned)
        if cls.__module__.startswith("theorax.") and cls is not NothingEstimated
    }
    assert all(named.values())
    assert set(named) >= {type(plan()) for plan in LOGGED.values()}


def test_another_content_has_another_hash():
    assert len({plan().hash for plan in LOGGED.values()}) == len(LOGGED)
    assert decide.plan_inequality(draws=201).hash != decide.plan_inequality(draws=200).hash
