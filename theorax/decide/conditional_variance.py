r"""Test that draws are centred normal with the variances that stand beside them.

Given its variance S a centred normal x has x/sqrt(S), whitened where S is a matrix, with the law N(0, I). The features of
these values are held against those of N(0, I), without any correction: the statement is exact at every size. It is asked
of all draws and of those whose variance is below and above its median: a scale that looks at the normal number it is
multiplied with leaves x/sqrt(S) normal and is not its deviation.
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

FEWEST = 100
"""Fewer draws than this are not tested by themselves: the noise of mean features is asked to be near normal."""

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
        # Back along the axes: in an order of theirs that changes among the draws, what is correlated would not look it.
        return np.einsum("nda,na->nd", axes[kept], along / np.sqrt(spread[kept]))
    given = given[:, None] if given.ndim < values.ndim else given
    z = np.divide(values, np.sqrt(given), out=np.where(values == 0, 0.0, np.inf), where=given > 0)
    return z if z.ndim > 1 else z[(given > 0) | (values != 0)]


def p_of_variances(values: Array, given: Array) -> float:
    """The p-value of: the values are centred normal given these variances; one where there are fewer than two.

    Of the tests on all draws and on those of small and of large variances the least, times their number.
    """
    sizes = np.trace(given, axis1=1, axis2=2) if given.ndim == 3 else given.reshape(len(given), -1).mean(axis=1)
    # Where many variances are equal, those at the median go to the side that leaves the parts more alike.
    small = min((sizes <= np.median(sizes), sizes < np.median(sizes)), key=lambda part: abs(part.mean() - 0.5))
    halves = (small, ~small) if min(small.sum(), (~small).sum()) >= FEWEST else ()
    found = [_p_of_all(values, given), *(_p_of_all(values[part], given[part]) for part in halves)]
    return min(1.0, len(found) * min(found))


def _p_of_all(values: Array, given: Array) -> float:
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
