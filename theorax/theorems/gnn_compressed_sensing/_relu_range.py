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


def zeros_within(rows: np.ndarray, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Arcs and angles between their start and end at which one of their rows vanishes, in order; zero rows are left out."""
    first = start[:, None] + (np.arctan2(-rows[:, :, 0], rows[:, :, 1]) - start[:, None]) % np.pi
    every = np.concatenate([first, first + np.pi], axis=1)
    kept = np.tile(np.abs(rows).sum(2) > 0, 2) & (every > start[:, None] + APART) & (every < end[:, None] - APART)
    arcs, angles = np.nonzero(kept)[0], every[kept]
    order = np.lexsort((angles, arcs))
    arcs, angles = arcs[order], angles[order]
    new = np.append(True, (np.diff(arcs) > 0) | (np.diff(angles) > 0))[: len(arcs)]
    return arcs[new], angles[new]


def pieces(weights: Sequence[np.ndarray]) -> Pieces:
    """Linear pieces of the network of these weights, whose first layer has two columns.

    **Errors:** cuts nearer to each other than 1e-9 may count once.
    """
    first = weights[0][0]
    start = float(np.arctan2(-first[0], first[1]))  # a cut of the first layer, so that none is artificial
    cuts, maps = np.array([start, start + FULL]), np.eye(2)[None]
    for W in weights:
        rows = W @ maps
        arcs, angles = zeros_within(rows, cuts[:-1], cuts[1:])
        parent = np.insert(np.arange(len(maps)), arcs + 1, arcs)
        cuts = np.insert(cuts, arcs + 1, angles)
        active = np.einsum("pi,pni->pn", directions((cuts[:-1] + cuts[1:]) / 2), rows[parent]) > 0
        maps = active[:, :, None] * rows[parent]
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
    ], axis=1)
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


def collisions(parts: Pieces, M: np.ndarray) -> np.ndarray:
    """Pairs of pieces that hold two different points with the same image under the three rows of M.

    The kernel of (M L_p, -M L_q) is spanned by its minors; it counts where both halves lie in the cones of their pieces. Where
    a map is of rank one, or two maps share their range, the minors are what rounding left, and their images differ.
    """
    rays, Q = parts.rays, M @ parts.maps
    first, second = np.triu_indices(len(parts), 1)
    joined = np.concatenate([Q[first], -Q[second]], axis=2)
    kernel = np.stack([(-1) ** j * np.linalg.det(np.delete(joined, j, axis=2)) for j in range(4)], axis=1)
    found = np.zeros(len(first), bool)
    for z in (kernel, -kernel):
        one, other = z[:, :2], z[:, 2:]
        inside = within(rays, first, one) & within(rays, second, other)
        x, t = (np.einsum("pij,pj->pi", parts.maps[place], half) for place, half in ((first, one), (second, other)))
        # Of a kernel vector the images differ by rounding, 1e-16 times the condition; of any other by their own size.
        gap, image = (x - t) @ M.T, x @ M.T
        same = (gap**2).sum(1) < APART * (image**2).sum(1)
        # Neighbours share a ray, on which the two points are one.
        found |= inside & same & (((x - t) ** 2).sum(1) > APART * (x**2).sum(1))
    return np.stack([first[found], second[found]], axis=1)


def within(rays: np.ndarray, piece: np.ndarray, z: np.ndarray) -> np.ndarray:
    """True where z lies inside of the cone of its piece."""
    return (cross(rays[piece], z) > 0) & (cross(z, rays[piece + 1]) > 0)


def largest_projections(parts: Pieces, g: np.ndarray) -> np.ndarray:
    """Largest length of every row of g on a sum V_p + V_q. V_p is the range of the map of piece p.

    **Errors:** directions of V_p + V_q shorter than 1e-5 of the longest are left out, which makes the length smaller.
    """
    first, second = np.triu_indices(len(parts))
    L = parts.maps
    gram = np.einsum("pni,qnj->pqij", L, L, optimize=True)
    corners = gram[first, first], gram[first, second], gram[second, first], gram[second, second]
    joined = np.block([[corners[0], corners[1]], [corners[2], corners[3]]])
    values, vectors = np.linalg.eigh(joined)
    inverse = np.where(values > APART / 10 * values[:, -1:], 1 / np.where(values > 0, values, 1), 0)
    image = np.einsum("pni,gn->pig", L, g)
    both = np.concatenate([image[first], image[second]], axis=1)
    squares = (inverse[:, :, None] * (np.swapaxes(vectors, 1, 2) @ both) ** 2).sum(1)
    return np.sqrt(squares.max(0))
