"""Regions of an arrangement of hyperplanes through the origin, counted exactly: sign patterns in whole numbers.

Every region has an extreme ray, on which k - 1 independent rows vanish. Around a ray the regions are those of the rows that
vanish on it, one dimension lower, and the signs of the other rows are known. Degenerate rows need no care of their own.
"""

from itertools import combinations

import numpy as np

LARGEST = 10_000  # five columns of this size have minors and products below 2^63


def determinants(squares: np.ndarray) -> np.ndarray:
    """Laplace's expansion along the first row of each of these square matrices."""
    size = squares.shape[-1]
    if size == 0:
        return np.ones(len(squares), np.int64)
    minors = (determinants(np.delete(squares[:, 1:], j, axis=2)) for j in range(size))
    return sum(
        ((-1) ** j * squares[:, 0, j] * minor for j, minor in enumerate(minors)), np.zeros(len(squares), np.int64)
    )


def rays_of(rows: np.ndarray) -> np.ndarray:
    """Vectors on which k - 1 rows vanish, for every choice of rows: their minors, zero where the rows are dependent."""
    n, k = rows.shape
    chosen = rows[list(combinations(range(n), k - 1))]
    return np.stack([(-1) ** j * determinants(np.delete(chosen, j, axis=2)) for j in range(k)], axis=1)


def sign_patterns(rows: np.ndarray) -> set[int]:
    """The patterns of signs of rows z without a zero, of all vectors z, as binary numbers; no row is zero.

    **Raises:** ValueError for k columns and a rank below k - 1, or for entries too large to be exact.
    """
    n, k = rows.shape
    if k > 5 or np.abs(rows).max(initial=0) > LARGEST:
        raise ValueError(
            f"Dimension {k} or entries above {LARGEST} overflow. Write dimension 5 at most, and smaller entries."
        )
    bits = 2 ** np.arange(n, dtype=np.int64)
    distinct, place = np.unique(rows, axis=0, return_inverse=True)
    if len(distinct) < n:  # rows that are equal have one sign
        return {sum(int(bit) for bit, at in zip(bits, place.ravel(), strict=True) if pattern >> int(at) & 1)
                for pattern in sign_patterns(distinct)}
    if k == 1:
        one = int((rows[:, 0] > 0) @ bits)
        return {one, int(bits.sum()) - one}
    rays = rays_of(rows)
    rays = rays[rays.any(1)]
    if not len(rays):
        raise ValueError(f"The rows span less than dimension {k - 1} of {k}. No ray is left: give fewer columns.")
    values = rays @ rows.T
    zero = values == 0
    sides = np.stack([(values > 0) @ bits, (values < 0) @ bits])
    generic = zero.sum(1) == k - 1
    # Around a generic ray the k - 1 rows that vanish on it have every pattern of signs.
    subsets = np.arange(2 ** (k - 1))[:, None] >> np.arange(k - 1) & 1
    around = bits[np.nonzero(zero[generic])[1].reshape(-1, k - 1)] @ subsets.T
    found = set(np.unique(sides[:, generic, None] + around).tolist())
    for at in np.flatnonzero(~generic):
        places = np.flatnonzero(zero[at])
        # A coordinate in which the ray is not zero is left out: the other ones tell the vectors across the ray apart.
        local = sign_patterns(np.delete(rows[places], int(np.flatnonzero(rays[at])[0]), axis=1))
        parts = [sum(int(bits[i]) for j, i in enumerate(places) if pattern >> j & 1) for pattern in local]
        found |= {int(side) + part for side in sides[:, at] for part in parts}
    return found
