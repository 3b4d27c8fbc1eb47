"""The factor by which corrections may grow, and which claims are fragile."""

import pytest

from theorax.decide.strength import Reach


@pytest.mark.parametrize(
    ("robust", "under_twice", "fragile"), [(True, True, False), (False, True, False), (False, False, True)]
)
def test_sizes_that_share_their_arithmetic_make_no_claim_fragile(robust, under_twice, fragile):
    found = Reach.of("bulk", "measured", 1.5, robust, under_twice)
    assert found == Reach(1.5, "bulk", fragile)


@pytest.mark.parametrize(
    ("shown_by", "factor", "robust"),
    [("proved", 1.5, True), (None, 1.5, True), ("measured", None, True), ("measured", float("inf"), True),
     ("measured", 1.5, None)],
)  # fmt: skip
def test_what_is_not_extrapolated_under_a_class_has_no_reach(shown_by, factor, robust):
    assert Reach.of("bulk", shown_by, factor, robust, robust) is None


def test_the_weakest_comes_first():
    assert min(Reach(2.0, "a", False), Reach(1.1, "b", False)).name == "b"
