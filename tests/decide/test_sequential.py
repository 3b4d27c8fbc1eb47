"""Looks at parts of the draws: their levels add up, the first that decides ends them, the errors stay below the whole."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import bdtrc

from theorax.decide.bias_aware import solve
from theorax.decide.corrections import Corrections
from theorax.decide.designs import Plan, Policy
from theorax.decide.equivalence import decide
from theorax.decide.estimators import paired
from theorax.decide.sequential import Look, Schedule, Stopped, plan_looks, sequentially
from theorax.decide.status import Levels, Status
from theorax.errors import DesignError

N = np.array([32 * 2.0**i for i in range(9)])
PLAN = Plan(tuple(N), Corrections(), draws=64, policy=Policy.PAIRED)
LOOKS = plan_looks(PLAN)


def stopped(table, looks=LOOKS, claimed=1.0, margin=0.1) -> Stopped:
    def at(number):
        look, weights = looks.looks[number], looks.weights[number]
        interval = paired(table[: look.draws], weights.vector, weights.bias.total)
        return decide(interval, claimed, margin, levels=look.levels)

    return sequentially(looks, at)


def draw(rng, mean):
    return mean + 0.2 * rng.standard_normal((64, len(N)))


def test_levels_of_the_looks_sum_to_the_whole():
    looks = Schedule().looks(64, Levels(0.02, 0.04))
    assert [look.draws for look in looks] == [16, 32, 64]
    assert math.isclose(sum(look.levels.support for look in looks), 0.02, rel_tol=4 * 2.0**-52)
    assert math.isclose(sum(look.levels.refute for look in looks), 0.04, rel_tol=4 * 2.0**-52)
    few = Schedule().looks(6, Levels(), least=4)
    assert [look.draws for look in few] == [6]  # looks with too few draws give their share to the next
    assert math.isclose(few[0].levels.support, 0.025, rel_tol=4 * 2.0**-52)


def test_weights_of_every_look_are_solved_in_advance_and_hashed():
    assert [w.plan.planned_draws[0] for w in LOOKS.weights] == [16, 32, 64]
    assert [w.plan.levels for w in LOOKS.weights] == [look.levels for look in LOOKS.looks]
    assert LOOKS.weights[-1].values == solve(replace(PLAN, levels=LOOKS.looks[-1].levels)).values
    assert LOOKS.hash == plan_looks(PLAN).hash
    assert LOOKS.hash != plan_looks(PLAN, Schedule((0.5, 1.0), (0.5, 0.5))).hash
    assert LOOKS.decides(0.1)
    assert not LOOKS.decides(0.04)


def test_the_first_decided_look_ends_the_draws(rng):
    asked = []
    easy = draw(rng, -0.5 * np.log(N))

    def at(number):
        asked.append(number)
        look, weights = LOOKS.looks[number], LOOKS.weights[number]
        return decide(paired(easy[: look.draws], weights.vector, weights.bias.total), 1.0, 0.1, levels=look.levels)

    found = sequentially(LOOKS, at)
    assert (found.decision.status, found.look, found.draws, asked) == (Status.REFUTED, 0, 16, [0])
    assert math.isclose(found.decision.levels.refute, 0.025, rel_tol=8 * 2.0**-52)


def test_p_values_reject_exactly_where_a_look_did(rng):
    for claimed in (1.0, 1.05, 0.95, 1.08):
        for _ in range(25):
            found = stopped(draw(rng, -np.log(N)), claimed=claimed).decision
            assert (found.p_refute <= found.levels.refute) == (found.status is Status.REFUTED)
            supported = found.status is Status.SUPPORTED or found.equivalent_within_margin
            assert (found.p_support <= found.levels.support) == supported


def most(replicates, level=0.025):
    """The smallest count that a binomial law at the level exceeds with probability at most 0.001."""
    return next(count for count in range(replicates) if bdtrc(count, replicates, level) <= 1e-3)


@pytest.mark.parametrize("name", ["bounded by nothing but chance", "worst member"])
def test_errors_of_all_looks_together_stay_below_the_level(name, rng):
    """A mean without bias is where the level is spent to the full; the worst member of the class is far below it."""
    correction = 0.5 * (N / N[0]) ** -0.5 if name == "worst member" else 0 * N
    allowed = Corrections() if name == "worst member" else Corrections(size=0, rest=0, reason="an exact power")
    looks = plan_looks(replace(PLAN, corrections=allowed))
    true = [stopped(draw(rng, correction - np.log(N)), looks, 1.0, 0.1).decision.status for _ in range(400)]
    false = [stopped(draw(rng, correction - 0.9 * np.log(N)), looks, 1.0, 0.1).decision.status for _ in range(400)]
    assert true.count(Status.REFUTED) <= most(400)
    assert false.count(Status.SUPPORTED) <= most(400)


def test_easy_claims_cost_less_and_hard_ones_little_more(rng):
    """Measured at 2000 replicates: ratios .45 (true) and .25 (false by 2.5 margins) of the draws of the fixed size."""
    true = [stopped(draw(rng, -np.log(N))) for _ in range(100)]
    false = [stopped(draw(rng, -0.75 * np.log(N))) for _ in range(100)]
    assert np.mean([s.draws for s in true]) / 64 < 0.55
    assert np.mean([s.draws for s in false]) / 64 < 0.3
    assert sum(s.decision.status is Status.SUPPORTED for s in true) >= 95
    assert sum(s.decision.status is Status.REFUTED for s in false) >= 95


def test_engine_mutant_that_spends_the_whole_level_at_every_look_is_caught(rng):
    exact = Corrections(size=0, rest=0, reason="an exact power")
    eighths = Schedule(tuple(i / 8 for i in range(1, 9)), (0.125,) * 8)
    honest = plan_looks(replace(PLAN, corrections=exact), eighths)
    greedy = replace(honest, looks=tuple(Look(look.draws, Levels()) for look in honest.looks))

    def refuted(looks):
        # A margin so narrow that support never ends the draws: every look is asked.
        found = [stopped(draw(rng, -np.log(N)), looks, margin=1e-3).decision.status for _ in range(400)]
        return found.count(Status.REFUTED)

    assert refuted(honest) <= most(400) < refuted(greedy)


def test_a_look_at_other_levels_than_its_own_is_refused(rng):
    table = draw(rng, -np.log(N))
    with pytest.raises(DesignError, match="Look 1 was decided at the levels"):
        sequentially(LOOKS, lambda number: decide(paired(table, LOOKS.weights[number].vector), 1.0, 0.1))


@pytest.mark.parametrize(
    ("fractions", "shares"),
    [
        ((0.5, 0.9), (0.5, 0.5)),
        ((0.5, 1.0), (0.5, 0.6)),
        ((1.0, 0.5), (0.5, 0.5)),
        ((0.5, 1.0), (1.0,)),
        ((0.5, 1.0), (0.0, 1.0)),
        ((), ()),
    ],
)
def test_schedules_that_cannot_be_meant(fractions, shares):
    with pytest.raises(DesignError, match="grow to 1"):
        Schedule(fractions, shares)


def test_nothing_to_stop():
    with pytest.raises(DesignError, match="without randomness"):
        plan_looks(replace(PLAN, policy=Policy.DETERMINISTIC))
    with pytest.raises(DesignError, match="No look"):
        sequentially((), lambda number: decide(paired([1.0, 2.0]), 0.0, 1.0))
