"""Intervals agree with their literal formulas and keep the laws they state."""

import math

import numpy as np
import pytest
from scipy.special import betaincinv, binom, ndtri, stdtr

from theorax.decide.estimators import (
    above_floor,
    betting,
    catoni,
    deterministic,
    independent,
    log_of_mean,
    log_of_mean_independent,
    paired,
    proportion,
    score_range,
    score_variance,
    scores,
)
from theorax.decide.status import Reason, Refusal
from theorax.errors import DesignError, ObservationError

K = np.array([-0.5, 0.2, 1.3])


def samples(rng):
    return {
        "paired": paired(rng.standard_normal((40, 3)), K),
        "independent": independent([rng.standard_normal(m) for m in (10, 20, 60)], K),
        "log of mean": log_of_mean(rng.lognormal(size=(40, 3)), K),
        "log of mean, independent": log_of_mean_independent([rng.lognormal(size=m) for m in (10, 20, 60)], K),
        "proportion": proportion((rng.random(50) < 0.3).astype(float)),
        "betting": betting(rng.random(80), -0.5, 1.5),
        "catoni": catoni(rng.standard_t(3, 80), 3.0),
        "deterministic": deterministic([1.0, 2.0, 3.0], K),
    }


LEVELS = (0.4, 0.1, 0.025, 1e-3, 1e-6)


@pytest.mark.parametrize("name", list(samples(np.random.default_rng(0))))
def test_laws_of_an_interval(name, rng):
    interval = samples(rng)[name]
    lower, upper = [interval.lower(a) for a in LEVELS], [interval.upper(a) for a in LEVELS]
    assert lower == sorted(lower, reverse=True)
    assert upper == sorted(upper)
    for level, bottom, top in zip(LEVELS, lower, upper, strict=True):
        if bottom == top:
            continue
        # Limits are inversions to the spacing of floats: a thousandth of the width beyond them p is on the other side.
        step = 1e-3 * (top - bottom)
        assert interval.p_above(bottom - step) <= level <= interval.p_above(bottom + step)
        assert interval.p_below(top + step) <= level <= interval.p_below(top - step)
        assert interval.p(interval.radius(level) + step) <= level


def literal_jackknife(table, k):
    """Leave every draw out in turn, recompute the whole estimator."""
    m = len(table)
    whole = k @ np.log(table.mean(axis=0))
    pseudo = [m * whole - (m - 1) * (k @ np.log(np.delete(table, s, axis=0).mean(axis=0))) for s in range(m)]
    return np.mean(pseudo), np.std(pseudo, ddof=1) / math.sqrt(m)


def test_jackknife_is_the_literal_one(rng):
    table = rng.lognormal(size=(25, 3))
    interval = log_of_mean(table, K)
    estimate, se = literal_jackknife(table, K)
    # Pseudo-values multiply logarithms by m: their rounding is m roundoffs of numbers below ten, and m are summed.
    rounding = 25 * 25 * 10 * 2.0**-52
    assert abs(interval.estimate - estimate) < rounding
    assert abs(interval.se - se) < rounding
    assert interval.df == 24


def test_welch_by_hand():
    interval = independent([[1.0, 3.0], [0.0, 1.0, 2.0]], [1.0, 2.0])
    a, b = 2.0 / 2, 4 * 1.0 / 3
    assert interval.estimate == 2 + 2 * 1.0
    assert math.isclose(interval.se, math.sqrt(a + b), rel_tol=4 * 2.0**-52)  # a handful of roundings
    assert math.isclose(interval.df, (a + b) ** 2 / (a**2 / 1 + b**2 / 2), rel_tol=8 * 2.0**-52)


@pytest.mark.parametrize("exponent", [-500, -300, 0, 300, 480])
def test_welch_knows_no_unit(exponent):
    unit = 2.0**exponent
    draws, weights = [[1.0, 3.0], [0.0, 1.0, 2.0]], [1.0, 2.0]
    interval = independent([[unit * x for x in column] for column in draws], weights)
    of_one = independent(draws, weights)
    assert (interval.df, interval.se) == (of_one.df, unit * of_one.se)  # a power of two rounds nothing


def test_student_is_the_scores_t_test(rng):
    table = rng.standard_normal((12, 3))
    z = scores(table, K)
    interval = paired(table, K, bias=0.25)
    t = z.mean() / (z.std(ddof=1) / math.sqrt(12))
    assert math.isclose(interval.p_above(0.0), float(stdtr(11, -t)), rel_tol=1e3 * 2.0**-52)  # condition of the t tail
    assert interval.bias == 0.25


def test_clopper_pearson_by_the_binomial_sum():
    interval = proportion(np.array([1.0] * 3 + [0.0] * 17))
    tail = sum(binom(20, j) * 0.05**j * 0.95 ** (20 - j) for j in range(3, 21))
    # Eighteen positive terms, each within about thirty roundings.
    assert math.isclose(interval.p_above(0.05), tail, rel_tol=1e3 * 2.0**-52)
    assert interval.lower(0.025) == float(betaincinv(3, 18, 0.025))
    assert interval.p_above(1.0) == 1.0
    assert interval.p_above(0.0) == 0.0


def test_clean_draws_support_the_content_that_is_theirs():
    interval = proportion(np.ones(368))
    assert abs(interval.lower(0.025) - 0.99) < 1e-4  # 1 - 0.025^(1/368) is 0.00997
    assert interval.upper(0.025) == 1.0


def test_betting_is_the_literal_product(rng):
    x = rng.random(30)
    mean, wealth, best = 0.3, 1.0, 1.0
    seen: list[float] = []
    running_mean, spread, variance = 0.5, 0.25, 0.25
    for i, value in enumerate(x, start=1):
        bet = min(math.sqrt(2 * math.log(40) / (variance * i * math.log(1 + i))), 0.5 / mean)
        wealth *= 1 + bet * (value - mean)
        best = max(best, wealth)
        seen.append(value)
        running_mean = (0.5 + sum(seen)) / (1 + i)
        spread += (value - running_mean) ** 2
        variance = spread / (1 + i)
    # Thirty factors with about twenty roundings each.
    assert math.isclose(betting(x, 0, 1).p_above(mean), 1 / best, rel_tol=600 * 2.0**-52)


def test_betting_wealth_falls_in_the_mean(rng):
    x = rng.random(50)
    p = [betting(x, 0, 1).p_above(mean) for mean in np.linspace(0, 1, 201)]
    assert p == sorted(p)


def test_bets_on_a_boundary():
    assert betting([0.0, 0.0, 1e-9], 0, 1).p_above(0.0) == 0.0
    assert betting([0.0, 0.0, 0.0], 0, 1).p_above(0.0) == 1.0
    assert betting([0.0, 0.5], 0, 1).p_above(-0.1) == 0.0
    assert betting([0.0, 0.5], 0, 1).p_below(1.1) == 0.0


def test_catoni_is_not_moved_by_one_wild_draw(rng):
    x = rng.standard_normal(200)
    wild = np.append(x, 1e6)
    # One draw adds at most log(1 + y + y^2/2) / scale: y = 1e6 * 0.19 gives 24 / (200 * 0.19) = 0.6.
    assert abs(catoni(wild, 1.0).estimate - catoni(x, 1.0).estimate) < 0.7
    assert wild.mean() > 4000


def test_range_and_variance_of_a_score(rng):
    low, high = score_range(K, -1, 2)
    z = scores(rng.uniform(-1, 2, (1000, 3)), K)
    assert low <= z.min() <= z.max() <= high
    assert math.isclose(high, 0.5 + 2 * 1.5, rel_tol=4 * 2.0**-52)  # three products and a sum
    assert score_variance(K, 2.0, independent=True) == 2 * float(K @ K)
    assert score_variance(K, 2.0, independent=False) == 2 * float(np.abs(K).sum() ** 2)


def test_equal_draws_have_no_spread_whatever_rounding_says():
    interval = paired(np.full((7, 1), 0.1))
    assert interval.se == 0
    assert interval.estimate == 0.1
    assert interval.p_above(0.05) == 0.0
    assert interval.p_above(0.1) == 1.0


def test_floor_drops_a_size_and_all_larger():
    assert above_floor([1e-3, 1e-6, 1e-9, 1e-12, 1e-9], 1e-13) == 3
    with pytest.raises(Refusal) as refusal:
        above_floor([1e-3, 1e-12, 1e-12], 1e-13)
    assert refusal.value.reason is Reason.NUMERIC_FLOOR


REFUSED = [
    (lambda: paired([1.0, math.nan]), ObservationError, "not finite"),
    (lambda: paired([]), ObservationError, "is empty"),
    (lambda: paired([1.0]), ObservationError, "no spread"),
    (lambda: independent([[1.0], [1.0, 2.0]], [1, 1]), ObservationError, "no spread"),
    (lambda: log_of_mean([1.0, -2.0]), ObservationError, "not positive"),
    (lambda: betting([0.5, 1.5], 0, 1), ObservationError, "declared to lie"),
    (lambda: proportion([0.0, 0.5, 1.0]), ObservationError, "no proportion"),
    (lambda: catoni([1.0] * 40, 0.0), DesignError, "positive bound"),
    (lambda: catoni([1.0] * 7, 1.0), Refusal, "at least 8 draws"),
]


@pytest.mark.parametrize(("make", "error", "because"), REFUSED)
def test_data_that_carry_no_interval(make, error, because):
    with pytest.raises(error, match=because):
        make()


def test_infinite_degrees_of_freedom_are_normal():
    interval = independent([np.tile([-1.0, 1.0], 50_000)], [1.0])
    # The t quantile with f degrees of freedom exceeds the normal one by about (z^3 + z)/(4 f), here 2.4e-5.
    assert abs(interval.upper(0.025) / interval.se - ndtri(0.975)) < 3e-5
