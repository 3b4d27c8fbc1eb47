"""What support by Student's interval asks of the tails: Hall's cubic against its inverse, the steps, the words."""

import math

import numpy as np
import pytest
from scipy.stats import skew, t

from theorax import decide
from theorax.decide.estimators import independent, paired
from theorax.decide.interval import Student
from theorax.decide.skewness import DOUBTED, REFUSED, skewed_of
from theorax.decide.status import Reason


@pytest.fixture
def draws(rng):
    return rng.exponential(size=400)


class TestTheLimits:
    def test_gamma_is_the_skewness_over_the_root_of_the_count(self, draws):
        found = skewed_of((draws,), (1.0,))
        literal = skew(draws) * ((len(draws) - 1) / len(draws)) ** 1.5 / math.sqrt(len(draws))
        assert math.isclose(found.gamma, literal, rel_tol=1e-12)
        assert math.isclose(found.noise, math.sqrt(6) / len(draws), rel_tol=1e-12)

    def test_weights_of_two_columns_are_those_of_their_scores(self, rng):
        """Third cumulants of independent means add with the cubes of the weights, variances with the squares."""
        a, b = rng.exponential(size=300), rng.normal(size=200)
        found = skewed_of((a, b), (2.0, -0.5))
        variance = 4 * a.var(ddof=1) / 300 + b.var(ddof=1) / 200 / 4
        third = 8 * np.mean((a - a.mean()) ** 3) / 300**2 - np.mean((b - b.mean()) ** 3) / 200**2 / 8
        assert math.isclose(found.gamma, third / variance**1.5, rel_tol=1e-12)

    @pytest.mark.parametrize("scale", [1.0, -1.0])
    @pytest.mark.parametrize("level", [0.4, 0.025, 1e-4])
    def test_limits_and_p_values_agree(self, draws, scale, level):
        found = skewed_of((scale * draws,), (1.0,))
        assert math.isclose(found.p_above(found.lower(level)), level, rel_tol=1e-9)
        assert math.isclose(found.p_below(found.upper(level)), level, rel_tol=1e-9)

    def test_the_draw_farthest_from_the_median_is_left_out(self, rng):
        values = np.append(rng.normal(size=99), 30.0)
        found = skewed_of((values,), (1.0,))
        rest = paired(values[:-1])
        assert isinstance(rest, Student)
        assert found.without == pytest.approx((rest.estimate, rest.se, rest.df), rel=1e-12)
        assert abs(found.gamma) > REFUSED
        assert found.lower(0.025) == -math.inf and found.p_below(1e9) == 1.0

    def test_support_is_never_easier(self, rng):
        for values in (rng.normal(size=50), rng.exponential(size=50), -rng.exponential(size=5000)):
            plain = paired(values)
            assert plain.for_support.lower(0.025) <= plain.lower(0.025) < plain.upper(0.025)
            assert plain.for_support.upper(0.025) >= plain.upper(0.025)
            assert plain.for_support.p_above(0.1) >= plain.p_above(0.1)

    def test_between_the_steps_the_quantile_is_doubled(self):
        values = -np.log(1 - (np.arange(200) + 0.5) / 200)  # the quantiles of an exponential law
        found = skewed_of((values,), (1.0,))
        assert DOUBTED + 1.645 * found.noise < found.gamma < REFUSED
        quantile = 2 * t.isf(0.025, 199)
        ratio = (found.estimate - found.lower(0.025)) / found.se
        straight = ratio + found.gamma * ratio**2 / 3 + found.gamma**2 * ratio**3 / 27 + found.gamma / 6
        assert math.isclose(straight, quantile, rel_tol=1e-9)

    def test_what_is_not_random_or_has_no_spread_is_not_looked_at(self):
        assert paired(np.ones(40)).for_support.lower(0.025) == 1.0
        assert skewed_of((np.ones(40),), (1.0,)) is None

    def test_two_draws_at_a_size_show_no_tail(self, rng):
        found = independent([rng.normal(size=2), rng.normal(size=2)], (1.0, -1.0))
        assert found.for_support.lower(0.025) == -math.inf


class TestTheWord:
    def test_heavy_tails_are_named_with_a_remedy(self, rng):
        plan = decide.plan_mean(to=0.0, margin=40.0, draws=4000, sd=1.0)
        found = decide.mean(plan, np.append(rng.normal(size=3999), 1000.0))
        assert (found.status, found.reason) == ("INCONCLUSIVE", Reason.TAILS)
        assert "skewness" in found.sentence and "declare a range or a variance" in found.sentence

    def test_light_tails_are_tested(self, rng):
        found = decide.mean(decide.plan_mean(to=0.0, margin=0.3, draws=400, sd=1.0), rng.normal(size=400))
        assert found.status == "SUPPORTED"
        assert [part.checked for part in found.ledger if part.kind == "moment"] == ["tested"]

    def test_what_is_declared_is_not_asked(self, rng):
        """A range makes its own interval: rare large values are allowed for."""
        rare = rng.permutation((np.arange(4000) < 120).astype(float))
        plan = decide.plan_mean(to=0.03, margin=0.02, draws=4000, moments=decide.TwoValues())
        found = decide.mean(plan, rare)
        assert found.status == "SUPPORTED"
        assert [part.checked for part in found.ledger if part.kind == "moment"] == ["declared"]

    def test_a_refutation_stands(self, rng):
        plan = decide.plan_mean(to=0.0, margin=0.5, draws=1000, sd=1.0)
        assert decide.mean(plan, rng.lognormal(sigma=2.0, size=1000)).status == "REFUTED"

    def test_a_sweep_is_looked_at_by_its_scores(self, rng):
        n = np.array([16, 32, 64, 128, 256, 512])
        plan = decide.plan_limit(n, to=3.0, margin=2.0, draws=2000, sd=1.0, seeds="paired")
        light = decide.limit(plan, 3 + rng.normal(size=(2000, 6)))
        rare = np.where(np.arange(2000) == 7, 300.0, 0.0)[:, None]
        heavy = decide.limit(plan, 3 + rare + rng.normal(size=(2000, 6)))
        assert (light.status, heavy.reason) == ("SUPPORTED", Reason.TAILS)

    def test_cases_of_which_one_is_heavy(self, rng):
        from theorax.decide.equivalence import combine
        from theorax.decide.samples import Columns

        levels = decide.Levels().shared(2)
        plan = decide.plan_mean(to=0.0, margin=40.0, draws=4000, sd=1.0, levels=levels)
        light = rng.normal(size=4000)
        parts = [plan.tested(Columns((values,))).decision for values in (light, np.append(light[1:], 1000.0))]
        whole = combine(parts)
        assert whole.reason is Reason.TAILS and whole.skewness == max(part.skewness for part in parts)


@pytest.mark.parametrize("exponent", [-1000, -600, 0, 600])
def test_skewness_knows_no_unit(draws, exponent):
    columns, weights = [draws[:40], draws[40:]], [1.5, -0.5]
    whole = skewed_of(columns, weights)
    small = skewed_of([2.0**exponent * column for column in columns], weights)
    assert (small.gamma, small.noise, small.df) == (whole.gamma, whole.noise, whole.df)  # a power of two rounds nothing
    assert (small.estimate, small.se) == (2.0**exponent * whole.estimate, 2.0**exponent * whole.se)
