"""Every known answer of the calibration, a few replicates each: no procedure breaks what it promises.

Counts are held against 99.9 % quantiles of the binomial law, p-values against uniform ones, intervals against their
coverage, powers against the published ones. The full run is `python -m benchmarks.calibration`.
"""

import pytest
from scipy.stats import binom

from benchmarks.calibration import FAMILIES, find
from benchmarks.calibration.cases import excess, failures, least, most, tally

# As many as fit into the time of a test run; what they cannot see, the full run does.
REPLICATES = {
    "rates": 200,
    "deterministic": 50,
    "limits": 200,
    "slow": 30,
    "looks": 60,
    "means": 24,
    "tails": 40,
    "variates": 30,
    "events": 40,
    "laws": 12,
    "readings": 60,
    "suites": 60,
    "controls": 40,
}

CASES = [(family, case.key) for family in REPLICATES for case in FAMILIES[family]()]


@pytest.mark.parametrize(("family", "key"), CASES, ids=[f"{family}: {key}" for family, key in CASES])
def test_promises_hold(family, key):
    case = find(family, key)
    promised = [procedure for procedure in case.procedures if procedure.promised]
    replicates = 4 if case.replicates and family == "laws" else REPLICATES[family]
    counted = tally(case, range(replicates), [procedure.name for procedure in promised])
    assert not [text for procedure in promised for text in failures(case, procedure, counted[procedure.name])]


def test_keys_are_unique():
    """A case is found, and its data are seeded, by its key."""
    for family, cases in FAMILIES.items():
        keys = [case.key for case in cases()]
        assert len(set(keys)) == len(keys), family


def test_a_replicate_is_a_function_of_its_number():
    case = FAMILIES["rates"]()[0]
    assert (case.data(7) == case.data(7)).all()
    assert (case.data(7) != case.data(8)).any()


class TestTheGateItself:
    """The bands by which all else is judged, against the binomial law and against data of known kind."""

    def test_published_band(self):
        assert most(2000) == 73  # 0.0365: the 99.9 % quantile at 0.025

    def test_bands_leave_a_thousandth(self):
        for n in (50, 400, 2000):
            assert binom.sf(most(n), n, 0.025) <= 1e-3 < binom.sf(most(n) - 1, n, 0.025)
            assert binom.cdf(least(n, 0.9) - 1, n, 0.9) <= 1e-3

    def test_uniform_p_values_pass_and_smaller_ones_do_not(self, rng):
        p = rng.random(1000)
        assert excess(p) <= 1 < excess(p**1.5)
        assert excess(p**0.5) <= 1
