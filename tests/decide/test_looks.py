"""Looks at parts of the draws: their levels add up, the first that decides ends them, the errors stay below the whole."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import bdtrc

from theorax import decide
from theorax.decide.bias_aware import solve_weights
from theorax.decide.samples import Columns
from theorax.decide.status import Status
from theorax.decide.stopping import Schedule
from theorax.decide.verdict import LookTaken
from theorax.errors import DesignError, ObservationError

SIZES = tuple(32 * 2**i for i in range(9))
PLAN = decide.plan_rate(SIZES, exponent=-1, margin=0.1, draws=64, seeds="paired", reading="exact")


def source(rng, exponent=-1.0, asked=None):
    def draw(first, count):
        if asked is not None:
            asked.append((first, count))
        return np.array(SIZES, float) ** exponent * rng.lognormal(0, 0.2, (count, len(SIZES)))

    return draw


def test_a_far_claim_is_refuted_with_the_first_look_alone(rng):
    asked = []
    verdict = decide.looks(decide.plan_looks(PLAN), source(rng, -0.7, asked))
    assert verdict.status == "REFUTED"
    assert asked == [(0, 16)]
    assert verdict.look == LookTaken(1, 3, 16, 64)
    assert "Stopped at look 1 of 3, after 16 of 64 draws" in str(verdict)


def test_portions_continue_and_the_last_look_sees_every_draw(rng):
    asked = []
    plan = decide.plan_looks(
        decide.plan_rate(SIZES, exponent=-1, margin=0.06, draws=64, seeds="paired", reading="exact")
    )
    verdict = decide.looks(plan, source(rng, -1.02, asked))
    assert asked == [(0, 16), (16, 16), (32, 32)] or verdict.status != "INCONCLUSIVE"
    assert verdict.design_hash == plan.hash


def test_levels_of_the_looks_add_up_and_every_part_is_hashed():
    plan = decide.plan_looks(PLAN)
    assert sum(stage.levels.support for stage in plan.stages) == pytest.approx(PLAN.levels.support, rel=1e-15)
    assert len({plan.hash, PLAN.hash, decide.plan_looks(PLAN, (0.5, 1.0), (0.3, 0.7)).hash}) == 3
    assert "16 at level 0.0037" in str(plan)


def test_p_values_are_charged_with_the_share_of_their_look(rng):
    plan = decide.plan_looks(PLAN, (0.5, 1.0), (0.2, 0.8))
    table = source(rng)(0, 64)
    verdict = decide.looks(plan, lambda first, count: table[first : first + count])
    first = decide.rate(plan.stages[0], table[:32])
    if verdict.draws == 32 * len(SIZES):
        assert verdict.p_support == pytest.approx(min(1.0, first.p_support / 0.2), rel=1e-12)
    assert verdict.level == PLAN.levels.support


@pytest.mark.parametrize("kind", ["limit", "mean"])
def test_limits_and_means(kind, rng):
    if kind == "limit":
        plan = decide.plan_limit(SIZES, to=1.0, margin=0.3, draws=120, sd=0.3, seeds="paired", reading="exact")
        verdict = decide.looks(decide.plan_looks(plan), lambda _, m: 1 + 0.3 * rng.standard_normal((m, len(SIZES))))
    else:
        plan = decide.plan_mean(to=0.0, margin=0.5, draws=120, sd=1.0, reading="exact")
        verdict = decide.looks(decide.plan_looks(plan), lambda _, m: rng.standard_normal(m))
    assert verdict.status == "SUPPORTED"


def test_what_is_no_plan_and_what_is_another_shape_are_told(rng):
    with pytest.raises(DesignError, match=r"plan_probability\(draws=\.\.\.\)"):
        decide.plan_looks(decide.plan_probability(at_least=0.9, margin=0.05, draws=100, reading="exact"))
    with pytest.raises(DesignError, match="spend"):
        decide.plan_looks(PLAN, (0.5, 1.0), (0.5, 0.6))
    with pytest.raises(ObservationError, match="16 draws at 9 sizes"):
        decide.looks(decide.plan_looks(PLAN), lambda first, count: np.ones((count + 1, len(SIZES))))


N = np.array(SIZES, float)
LOOKS = decide.plan_looks(PLAN)
EXACT = decide.Corrections(size=0, rest=0, reason="an exact power")


def table(rng, exponent=-1.0, correction=0.0):
    """As many draws as the plan has; ``correction`` is one of the logarithm."""
    return np.exp(exponent * np.log(N) + correction + 0.2 * rng.standard_normal((64, len(N))))


def stopped(values, plan=LOOKS):
    return decide.looks(plan, lambda first, count: values[first : first + count])


def test_levels_of_the_looks_sum_to_the_whole():
    looks, levels = Schedule().looks(64), decide.Levels(0.02, 0.04)
    assert [look.draws for look in looks] == [16, 32, 64]
    assert math.isclose(sum(look.of(levels).support for look in looks), 0.02, rel_tol=4 * 2.0**-52)
    assert math.isclose(sum(look.of(levels).refute for look in looks), 0.04, rel_tol=4 * 2.0**-52)
    half = Schedule().looks(64, lambda look: look.draws > 16)  # a look that does not serve gives its share to the next
    assert [(look.draws, look.share) for look in half] == [(32, 0.4), (64, 0.6)]
    (only,) = Schedule().looks(6, lambda look: False)
    assert (only.draws, only.of(levels)) == (6, levels)


def test_weights_of_every_look_are_solved_in_advance():
    assert [stage.weights.plan.planned_draws[0] for stage in LOOKS.stages] == [16, 32, 64]
    assert LOOKS.stages[-1].weights.values == solve_weights(replace(PLAN.core, levels=LOOKS.stages[-1].levels)).values
    assert LOOKS.decides
    assert not decide.plan_looks(replace(PLAN, margin=0.04)).decides


def test_p_values_reject_exactly_where_a_look_did(rng):
    for exponent in (-1.0, -1.05, -0.95, -1.08):
        plan = decide.plan_looks(replace(PLAN, exponent=exponent))
        for _ in range(25):
            found = stopped(table(rng), plan)
            assert (found.p_refute <= 0.001) == (found.status == "REFUTED")
            assert found.status != "SUPPORTED" or found.p_support <= 0.025


def most(replicates, level=0.025):
    """The smallest count that a binomial law at the level exceeds with probability at most 0.001."""
    return next(count for count in range(replicates) if bdtrc(count, replicates, level) <= 1e-3)


@pytest.mark.parametrize("name", ["bounded by nothing but chance", "worst member"])
def test_errors_of_all_looks_together_stay_below_the_level(name, rng):
    """A mean without bias is where the level is spent to the full; the worst member of the class is far below it."""
    correction = 0.5 * (N / N[0]) ** -0.5 if name == "worst member" else 0.0
    allowed = decide.Corrections() if name == "worst member" else EXACT
    plan = decide.plan_looks(replace(PLAN, corrections=allowed))
    true = [stopped(table(rng, -1.0, correction), plan).status for _ in range(400)]
    false = [stopped(table(rng, -0.9, correction), plan).status for _ in range(400)]
    assert true.count("REFUTED") <= most(400, 0.001)
    assert false.count("SUPPORTED") <= most(400)


def test_easy_claims_cost_less_and_hard_ones_little_more(rng):
    """Measured at 2000 replicates: ratios .45 (true) and .25 (false by 2.5 margins) of the draws of the fixed size."""
    true = [stopped(table(rng)) for _ in range(100)]
    false = [stopped(table(rng, -0.75)) for _ in range(100)]
    assert np.mean([found.draws for found in true]) / (64 * len(N)) < 0.55
    assert np.mean([found.draws for found in false]) / (64 * len(N)) < 0.3
    # The alarm of misfit, at level 0.01, is asked at every look.
    assert sum(found.status == "SUPPORTED" for found in true) >= 95
    assert sum(found.status == "REFUTED" for found in false) >= 95


def test_the_whole_level_at_every_look_is_too_much(rng):
    eighths = tuple(i / 8 for i in range(1, 9))
    # A margin so narrow that support never ends the draws: every look is asked.
    whole = replace(PLAN, corrections=EXACT, margin=1e-3, levels=decide.Levels(0.025, 0.025))
    plan = decide.plan_looks(whole, eighths, (0.125,) * 8)
    greedy = [replace(stage, levels=whole.levels) for stage in plan.stages]

    def refuted(stage, values):
        return stage.tested(Columns(tuple(values[: stage.draws].T))).decision.status is Status.REFUTED

    honest = often = 0
    for _ in range(400):
        values = table(rng)
        honest += stopped(values, plan).status == "REFUTED"
        often += any(refuted(stage, values) for stage in greedy)
    assert honest <= most(400) < often


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
        decide.plan_looks(decide.plan_sequence(SIZES, exponent=-1, margin=0.1, reading="exact"))


def test_public_names_are_no_modules():
    """A function that shares its name with a module of the package is hidden by it once that module is imported."""
    from types import ModuleType

    found = {name: getattr(decide, name) for name in decide.__all__}
    assert [name for name in found if isinstance(getattr(decide, name), ModuleType)] == []
