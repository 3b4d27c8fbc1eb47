"""Looks at own numbers: they stop when decided, spend the level once, and take what was planned."""

import numpy as np
import pytest

from theorax import decide
from theorax.errors import DesignError, ObservationError

SIZES = tuple(32 * 2**i for i in range(9))
PLAN = decide.plan_rate(SIZES, exponent=-1, margin=0.1, draws=64, seeds="paired")


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
    assert "look 1 of 3, after 16 of 64" in verdict.sentence


def test_portions_continue_and_the_last_look_sees_every_draw(rng):
    asked = []
    plan = decide.plan_looks(decide.plan_rate(SIZES, exponent=-1, margin=0.06, draws=64, seeds="paired"))
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
        plan = decide.plan_limit(SIZES, to=1.0, margin=0.3, draws=120, sd=0.3, seeds="paired")
        verdict = decide.looks(decide.plan_looks(plan), lambda _, m: 1 + 0.3 * rng.standard_normal((m, len(SIZES))))
    else:
        plan = decide.plan_mean(to=0.0, margin=0.5, draws=120, sd=1.0)
        verdict = decide.looks(decide.plan_looks(plan), lambda _, m: rng.standard_normal(m))
    assert verdict.status == "SUPPORTED"


def test_what_is_no_plan_and_what_is_another_shape_are_told(rng):
    with pytest.raises(DesignError, match="monitor"):
        decide.plan_looks(decide.plan_probability(at_least=0.9, margin=0.05, draws=100))
    with pytest.raises(DesignError, match="spend"):
        decide.plan_looks(PLAN, (0.5, 1.0), (0.5, 0.6))
    with pytest.raises(ObservationError, match="16 draws at 9 sizes"):
        decide.looks(decide.plan_looks(PLAN), lambda first, count: np.ones((count + 1, len(SIZES))))


def test_a_true_rate_is_rarely_refuted_and_a_false_one_rarely_supported(rng):
    """The bands of a binomial count at the 99.9 % quantile: 18 of 300 at level 0.025."""
    plan = decide.plan_looks(PLAN)
    refuted = sum(decide.looks(plan, source(rng)).status == "REFUTED" for _ in range(300))
    supported = sum(decide.looks(plan, source(rng, -0.9)).status == "SUPPORTED" for _ in range(300))
    assert refuted <= 18
    assert supported <= 18


def test_public_names_are_no_modules():
    """A function that shares its name with a module of the package is hidden by it once that module is imported."""
    from types import ModuleType

    found = {name: getattr(decide, name) for name in decide.__all__}
    assert [name for name in found if isinstance(getattr(decide, name), ModuleType)] == []
