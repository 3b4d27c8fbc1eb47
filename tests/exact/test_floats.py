"""Bare arrays: a difference beyond the rounding account refutes, one inside it supports a declared margin alone."""

from __future__ import annotations

import numpy as np
import pytest

from theorax import exact
from theorax.errors import ObservationError, UsageError

ROUNDINGS = 70  # 64 terms, their squares and products, the sums of three


def sides(rng, dtype, level=1.0, delta=0.0):
    """|A + B|^2 and its expansion, row by row, with the sum of the moduli of all terms."""
    A = rng.normal(size=(6, 64))
    A, B = A.astype(dtype), (-A + level * rng.normal(size=(6, 64))).astype(dtype)
    left = ((A + B) ** 2).sum(1)
    right = ((A**2).sum(1) + 2 * (A * B).sum(1) + (B**2).sum(1)) * dtype(1 + delta)
    return left, right, 2 * ((np.abs(A.astype(float)) + np.abs(B.astype(float))) ** 2).sum(1)


@pytest.mark.parametrize("level", [1.0, 1e-2, 1e-3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_true_identity_is_never_refuted_and_never_supported_without_a_margin(dtype, level, rng):
    for _ in range(100):
        left, right, magnitude = sides(rng, dtype, level)
        verdict = exact.arrays(left, right, magnitude=magnitude, length=ROUNDINGS)
        assert (verdict.status, verdict.reason) == ("INCONCLUSIVE", "numeric_floor")
        assert "Consistent" in verdict.sentence
        assert verdict.cases[0].at == {"dtype": np.dtype(dtype).name}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_margin_above_the_account_is_supported_and_one_below_it_is_not(dtype, rng):
    left, right, magnitude = sides(rng, dtype)
    account = exact.arrays(left, right, magnitude, ROUNDINGS).cases[0].bias / np.abs(left).min()
    assert exact.arrays(left, right, magnitude, ROUNDINGS, margin=3 * account).status == "SUPPORTED"
    assert exact.arrays(left, right, magnitude, ROUNDINGS, margin=account / 10).status == "INCONCLUSIVE"


def test_a_difference_beyond_rounding_is_refuted_on_the_float_model(rng):
    left, right, magnitude = sides(rng, np.float64, delta=1e-9)
    verdict = exact.arrays(left, right, magnitude, ROUNDINGS, margin=1e-6)
    assert verdict.status == "REFUTED"
    assert not verdict.rigorous
    assert {part.kind for part in verdict.ledger} == {"float model"}
    assert "within the margin" in verdict.sentence
    one = right.copy()
    one[:] = left
    one[3] *= 1 + 1e-9
    assert exact.arrays(left, one, magnitude, ROUNDINGS).status == "REFUTED"


def test_the_finest_dtype_decides(rng):
    coarse, fine = sides(rng, np.float32, 1e-3), sides(rng, np.float64, 1e-3, delta=1e-6)
    pair = {"float32": coarse[0], "float64": fine[0]}, {"float32": coarse[1], "float64": fine[1]}
    verdict = exact.arrays(*pair, fine[2], ROUNDINGS)
    assert verdict.status == "REFUTED"
    assert verdict.cases[0].at == {"dtype": "float64"}
    # float32 alone sees nothing: its rounding is larger than the numbers themselves.
    assert exact.arrays(*(side["float32"] for side in pair), fine[2], ROUNDINGS, margin=0.5).status == "INCONCLUSIVE"


def test_a_format_too_coarse_is_refused(rng):
    left, right, magnitude = sides(rng, np.float32)
    verdict = exact.arrays(left, 2 * right, 2 * magnitude, ROUNDINGS, dtype="bfloat16")
    assert (verdict.status, verdict.reason) == ("INCONCLUSIVE", "numeric_floor")
    assert "2^-22" in verdict.sentence


BAD = {
    "no magnitude": (dict(magnitude=1e-9), ObservationError, "sum of the absolute values"),
    "shapes": (dict(right=np.ones(5)), ObservationError, "shape"),
    "a NaN": (dict(right=np.array([1, 2, np.nan, 1, 1, 1.0])), ObservationError, r"entry \(2,\)"),
    "text": (dict(right=["a"] * 6), ObservationError, "real numbers"),
    "no roundings": (dict(length=0), UsageError, "positive integer"),
    "no margin": (dict(margin=0), UsageError, "smallest relative difference"),
    "a dtype": (dict(dtype="float46"), UsageError, "float64"),
    "one mapping": (dict(right={"float64": np.ones(6)}), UsageError, "mappings on both"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_meant_is_said_in_three_parts(name, rng):
    changed, error, words = BAD[name]
    left, right, magnitude = sides(rng, np.float64)
    with pytest.raises(error, match=words):
        exact.arrays(**{"left": left, "right": right, "magnitude": magnitude, "length": ROUNDINGS, **changed})
