"""Evidence that a control is noticed."""

from enum import StrEnum


class Basis(StrEnum):
    """Source of the bound of the probability that a control is noticed."""

    STATISTIC = "statistic"  # the test's own, of one run
    COUNT = "count"  # draws against the claim, of one run
    REPETITIONS = "repetitions"  # runs on draws of their own
