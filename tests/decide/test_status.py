"""What outweighs what is a printed table, and the code does what it prints."""

import itertools

import pytest

from theorax.decide.findings import Finding, settle
from theorax.decide.status import Levels, Status
from theorax.errors import DesignError

# Findings that take away what draws support, and say nothing of anything else.
AGAINST_DRAWS = {Finding.INSENSITIVE, Finding.CANNOT_FAIL, Finding.WITHHELD}


def printed_table():
    rows = [line.strip().strip("|").split("|") for line in settle.__doc__.splitlines() if line.strip().startswith("| ")]
    return [(Finding(finding.strip()), Status(status.strip())) for finding, status in rows[1:]]


def test_every_finding_is_printed_once():
    assert sorted(finding for finding, _ in printed_table()) == sorted(Finding)


def test_settle_reads_the_printed_table():
    table = printed_table()
    for count in (1, 2, 3):
        for found in itertools.combinations(table, count):
            if AGAINST_DRAWS & set(dict(found)) and Finding.TEST_SUPPORTED not in dict(found):
                continue
            assert settle(finding for finding, _ in found) is found[0][1]


@pytest.mark.parametrize("finding", sorted(AGAINST_DRAWS))
def test_what_speaks_against_draws_changes_nothing_without_support(finding):
    assert settle([finding, Finding.UNDECIDED]) is Status.INCONCLUSIVE
    assert settle([finding, Finding.TEST_REFUTED]) is Status.REFUTED
    assert settle([finding, Finding.PROOF]) is Status.PROVED
    assert not settle([finding, Finding.TEST_SUPPORTED]).holds


def test_no_finding_is_no_support():
    assert settle([]) is Status.INCONCLUSIVE


@pytest.mark.parametrize("level", [0, 0.5, 1, -0.1])
def test_levels_are_error_rates(level):
    with pytest.raises(DesignError, match="no error rates"):
        Levels(refute=level)
