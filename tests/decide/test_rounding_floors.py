"""Values that decay into rounding: those that reach a floor are told from those that go on falling as claimed."""

import numpy as np
import pytest

from theorax.decide.rounding_floors import rounding_floor

T = np.array([30.0, 60.0, 120.0, 240.0])
CLAIMED = -T * np.log(2)
FALLING = {"as claimed": 2.0**-T, "with a power beside it": T**6 * 2.0**-T / 720}
ENDING = {
    "a floor": np.array([2.0**-30, 1e-16, 2e-17, 1e-17]),
    "a floor of squares": np.array([2.0**-30, 1e-33, 2e-33, 1e-33]),
    "zero": np.array([2.0**-30, 2.0**-60, 0.0, 0.0]),
}


@pytest.mark.parametrize("values", FALLING.values(), ids=FALLING)
def test_values_that_fall_as_claimed_are_no_rounding(values):
    assert rounding_floor(list(values), CLAIMED) is None


@pytest.mark.parametrize("values", ENDING.values(), ids=ENDING)
def test_values_that_stop_falling_are_rounding(values):
    found = rounding_floor(list(values), CLAIMED)
    assert found is not None
    assert found.kept == 1
