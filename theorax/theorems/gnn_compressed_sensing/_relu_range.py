"""Range of a ReLU network with two latents, G(z) = relu(W_d ... relu(W_1 z)): its linear pieces, and its nearest point.

Without biases G is positively homogeneous, so it is known on the circle. Layer by layer the circle is cut where a
pre-activation of a linear piece vanishes. On a piece ||M L z - y|| is convex: it is least where its gradient vanishes, if
that is inside of the piece, and on a boundary ray otherwise. The least of all pieces is the global minimum.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FULL = 2 * np.pi
APART = 1e-9  # a rank-one piece has its zeros at its own ends, where rounding must not count them again


@dataclass(frozen=True)
class Pieces:
    """Arcs between neighbouring cuts, the last cut being the first one a full turn later, and on each a map of two columns."""

    cuts: np.ndarray
    maps: np.ndarray

    def __len__(self) -> int:
        return len(self.maps)

    @property
    def rays(self) -> np.ndarray:
        """Unit vectors at the cuts."""
        return directions(self.cuts)


def directions(angles: np.ndarray) -> np.ndarray:
    """Unit vectors at these angles."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def zeros_within(rows: np.ndarray, start: float, end: float) -> np.ndarray:
    """Angles between start and end at which a row vanishes; rows that are zero are left out."""
    rows = rows[np.abs(rows).sum(1) > 0]
    first = start + (np.arctan2(-rows[:, 0], rows[:, 1]) - start) % np.pi
    every = np.concatenate([first, first + np.pi])
    return every[(every > start + APART) & (every < end - APART)]


def pieces(weights: Sequence[np.ndarray]) -> Pieces:
    """Linear pieces of the network of these weights, whose first layer has two columns.

    **Errors:** cuts nearer to each other than 1e-9 may count once.
    """
    first = weights[0][0]
    start = float(np.arctan2(-first[0], first[1]))  # a cut of the first layer, so that none is artificial
    cuts, maps = np.array([start, start + FULL]), np.eye(2)[None]
    for W in weights:
        found, active = [np.array([start])], []
        for begin, end, L in zip(cuts[:-1], cuts[1:], maps, strict=True):
            rows = W @ L
            inner = np.unique(zeros_within(rows, begin, end))
            bounds = np.concatenate([[begin], inner, [end]])
            middle = directions((bounds[:-1] + bounds[1:]) / 2)
            active.append((middle @ rows.T > 0)[:, :, None] * rows)
            found.append(bounds[1:])
        cuts, maps = np.concatenate(found), np.concatenate(active)
    return Pieces(cuts, maps)


def nearest(range_of: Pieces, M: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """A point of the range with the least ||M x - y||, and that distance.

    **Errors:** distances are compared in floats: of two pieces equally near up to rounding either may be taken.
    """
    Q = M @ range_of.maps
    rays, gram, right = range_of.rays, np.swapaxes(Q, 1, 2) @ Q, np.swapaxes(Q, 1, 2) @ y
    left, last = rays[:-1], rays[1:]
    det = gram[:, 0, 0] * gram[:, 1, 1] - gram[:, 0, 1] ** 2
    safe = np.where(det > 0, det, 1)
    inner = np.stack([
        (gram[:, 1, 1] * right[:, 0] - gram[:, 0, 1] * right[:, 1]) / safe,
        (gram[:, 0, 0] * right[:, 1] - gram[:, 0, 1] * right[:, 0]) / safe,
    ], axis=1)  # fmt: skip
    inside = (cross(left, inner) >= 0) & (cross(inner, last) >= 0) & (det > 0)
    candidates = [np.where(inside[:, None], inner, 0)]
    for ray in (left, last):
        image = (Q @ ray[:, :, None])[:, :, 0]
        square = (image**2).sum(1)
        length = np.maximum(0, image @ y) / np.where(square > 0, square, 1)
        candidates.append(length[:, None] * ray)
    z = np.stack(candidates, axis=1)
    distances = np.sqrt(((z @ np.swapaxes(Q, 1, 2) - y) ** 2).sum(2))
    piece, which = np.unravel_index(np.argmin(distances), distances.shape)
    return range_of.maps[piece] @ z[piece, which], float(distances[piece, which])


def cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Sine of the angle from the first to the second vector, times their lengths."""
    return first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
