"""Tightness of a bound: quantiles of the smaller side over the larger one, and what is said of them."""

import numpy as np
import pytest

from theorax.decide.inequalities import tightness_of
from theorax.decide.verdict import remarks


@pytest.mark.parametrize(
    ("smaller", "larger", "told"),
    [
        ([1, 2, 3], [2, 4, 6], ""),
        ([1, 2, 3], [1, 2, 3], "EQUAL"),
        ([0, 0, 0], [0, 0, 0], "EQUAL"),
        ([1e-9, 2e-9, 0], [1, 1, 0], "LOOSE"),
        ([-1, 1, 1], [1, 1, 1], ""),
        ([1, 1, 0.5] + 97 * [1], 100 * [1], "EQUAL"),
    ],
)
def test_the_remark_follows_from_the_sides(smaller, larger, told):
    found = remarks(tightness_of(smaller, larger))
    assert "".join(part.split(":")[0] for part in found) == told


@pytest.mark.parametrize(("smaller", "larger"), [([1.0, -1.0], [0.0, 1.0]), ([], []), ([np.nan], [1.0])])
def test_where_there_is_no_share_nothing_is_said(smaller, larger):
    assert tightness_of(smaller, larger) is None and remarks(None) == ()
