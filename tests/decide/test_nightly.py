"""The process over nights: its literal formula, and the two rates it is for."""

from __future__ import annotations

import math
from dataclasses import replace

import fakes
import numpy as np
import pytest
from scipy import integrate, stats

from theorax.decide.nightly import SCALE, log_process, monitored, night, process
from theorax.errors import ObservationError
from theorax.runs.attempt_log import AttemptFile
from theorax.verifiers.attempts import ClaimVersion

VERSION = ClaimVersion("t", "c", "s", "d")


def literal(total, nights):
    """The half-normal mixture of exp(lambda S - lambda^2 t / 2), by quadrature."""

    def integrand(drift):
        return math.exp(drift * total - drift**2 * nights / 2) * stats.halfnorm.pdf(drift, scale=SCALE)

    return integrate.quad(integrand, 0, 12 * SCALE, limit=200)


@pytest.mark.parametrize(("total", "nights"), [(0.0, 1), (2.5, 3), (-4.0, 9), (14.0, 40), (30.0, 100)])
def test_the_closed_form_is_the_mixture(total, nights):
    value, error = literal(total, nights)
    # Quadrature's own error, and the half-normal's mass beyond twelve scales, below 1e-32 of it.
    assert abs(math.exp(log_process(total, nights)) - value) <= error + 64 * 2.0**-52 * value


def test_two_ways_without_bias_are_the_two_sided_normal_mixture():
    z = np.array([0.3, -1.2, 2.0])
    p = [(stats.norm.sf(x), stats.norm.cdf(x)) for x in z]
    total, variance = z.sum(), 1 + 3 * SCALE**2
    expected = math.exp(SCALE**2 * total**2 / (2 * variance)) / math.sqrt(variance)
    assert process(p)[-1] == pytest.approx(expected, rel=1e-9)


def nights_of(rng, drift, runs, df=20, bias=0.3):
    """Ever refuted at 0.05 within 100 nights: a Student estimate inside, or ``drift`` beyond, its bias bound."""
    # The mean of the estimate stands at the edge of the bias bound: the least favourable true claim.
    score = rng.standard_normal((runs, 100)) + bias + drift
    scale = np.sqrt(rng.chisquare(df, (runs, 100)) / df)
    over, under = stats.t.sf((score - bias) / scale, df), stats.t.sf((-score - bias) / scale, df)
    return sum(process(np.stack([o, u], axis=1).tolist()).max() >= 20 for o, u in zip(over, under, strict=True))


def test_a_true_claim_is_rarely_ever_refuted(rng):
    assert nights_of(rng, 0.0, 600) <= stats.binom.ppf(0.999, 600, 0.05)


def test_a_persistent_defect_of_half_a_standard_deviation_is_found(rng):
    # Measured 0.986 for a normal score of known scale; Student's with 20 degrees of freedom loses little.
    assert nights_of(rng, 0.5, 300) >= stats.binom.ppf(0.001, 300, 0.95)


def test_every_night_by_itself_would_refute_the_truth(rng):
    assert (rng.random((300, 100)) <= 0.05).any(axis=1).mean() > 0.95


def test_p_values_at_their_ends_are_finite():
    assert np.isfinite(process([[0.0, 1.0]] * 50)).all()
    assert process([[1.0]] * 50)[-1] < 1
    assert process([]).size == 0


@pytest.mark.parametrize("nights", [[[0.1], [0.1, 0.2]], [[]], [[1.5]], [[math.nan]]])
def test_nights_that_are_none_are_refused(nights):
    with pytest.raises(ObservationError):
        process(nights)


def tonight(p_over, status="SUPPORTED"):
    tails = (p_over, 1 - p_over)
    p = min(1.0, 2 * min(tails))
    return fakes.verdict(status, p_refute=p, cases=(replace(fakes.CASE, p_refute=p, tails=tails),))


def told(verdict, store, number):
    """The verdict of one night among those before it, and the log keeps its p-values."""
    found = monitored(verdict, [*store.nights_before(VERSION, number), night(verdict)], 0.025)
    store.keep_night(VERSION, number, night(verdict))
    return found


def test_nights_add_up_in_the_store(tmp_path):
    store = AttemptFile(tmp_path)
    for number in range(1, 16):
        found = told(tonight(0.2), store, 20260100 + number)
        assert found.nights == number
    assert found.status == "SUPPORTED"
    for number in range(16, 60):
        found = told(tonight(0.05), store, 20260100 + number)
        if found.status == "REFUTED":
            break
    assert found.status == "REFUTED"
    assert found.p_refute <= 0.025
    assert f"Over {found.nights} nights" in found.sentence
    # One that has crossed stays refuted, and the same night adds nothing.
    assert told(tonight(0.5), store, 20260100 + number + 1).status == "REFUTED"
    again = told(tonight(0.5), store, 20260100 + number + 1)
    assert again.nights == found.nights + 1


def test_one_bad_night_is_no_refutation(tmp_path):
    found = told(tonight(0.005, "REFUTED"), AttemptFile(tmp_path), 1)
    assert (found.status, found.nights) == ("INCONCLUSIVE", 1)
    assert "some night does by chance" in found.sentence


def test_what_is_rigorous_has_no_nights():
    exact = fakes.verdict("CERTIFIED")
    assert night(exact) is None
