r"""Test that draws are centred normal with the variances that stand beside them.

Given its variance S a centred normal x has x/sqrt(S), whitened where S is a matrix, with the law N(0, I). The features of
these values are held against those of N(0, I), without any correction: the statement is exact at every size.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from theorax.decide.gaussian_norm import NoiseNorm, Shape
from theorax.decide.law_features import (
    Frequencies,
    distance,
    features_of_characteristic,
    features_of_samples,
    gauss_hermite,
    joint,
    shape_of_characteristic,
)

__all__ = ["LEVEL", "p_of_variances", "whitened"]

Array = NDArray[np.float64]

LEVEL = 1e-4
"""The level of the test, over all sizes and cases of a claim: a claim that is well built is called wrong so seldom."""

# A direction with less than this share of the largest variance has no spread that rounding leaves visible.
_NO_SPREAD = 2.0**-30


def whitened(values: Array, given: Array) -> Array:
    """Draws over the roots of their variances; those without a variance to divide by are left out.

    ``values`` is ``draws``, ``draws x values``, or ``draws x dimensions`` where ``given`` is ``draws x dimensions x
    dimensions``; otherwise ``given`` has the shape of the values, or is one number for each draw. A value that is not
    zero where its variance is becomes infinite: nothing normal is.
    """
    if given.ndim == 3:
        spread, axes = np.linalg.eigh(given)
        kept = spread[:, 0] > _NO_SPREAD * spread[:, -1]
        along = np.einsum("nda,nd->na", axes[kept], values[kept])
        return np.asarray(along / np.sqrt(spread[kept]))
    given = given[:, None] if given.ndim < values.ndim else given
    z = np.divide(values, np.sqrt(given), out=np.where(values == 0, 0.0, np.inf), where=given > 0)
    return z if z.ndim > 1 else z[(given > 0) | (values != 0)]


def p_of_variances(values: Array, given: Array) -> float:
    """The p-value of: the values are centred normal with these variances; one where there are fewer than two."""
    z = whitened(values, given)
    if len(z) < 2:
        return 1.0
    if not np.isfinite(z).all():
        return 0.0
    dimensions = z.shape[1] if given.ndim == 3 else 1
    frequencies, target, shape = _standard(dimensions)
    features = features_of_samples(z, frequencies)
    gap = distance(features.mean(axis=0), target)
    if dimensions > 1 or z.ndim == 1:
        return shape.norm.p(gap * math.sqrt(len(z)) / shape.sd)
    # Values of one draw may depend on each other: their noise is read off the draws.
    return NoiseNorm.of(np.cov(features, rowvar=False) / len(z)).p(gap)


@lru_cache(maxsize=16)
def _standard(dimensions: int) -> tuple[Frequencies, Array, Shape]:
    """Frequencies, features and noise of N(0, I)."""

    def characteristic(points: Array) -> NDArray[np.complex128]:
        squares = points**2 if points.ndim == 1 else (points**2).sum(axis=1)
        return np.exp(-squares / 2).astype(complex)

    frequencies = gauss_hermite() if dimensions == 1 else joint(np.eye(dimensions))
    points = frequencies.table[:, 0] if dimensions == 1 else frequencies.table
    target = features_of_characteristic(characteristic(points), frequencies)
    return frequencies, target, shape_of_characteristic(characteristic, frequencies)
