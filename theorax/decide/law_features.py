r"""Features of a law: its characteristic function at fixed frequencies, from draws or in closed form.

With frequencies $t_j$ and weights $w_j$, $\sum_j w_j = 1$, the features of a law are $\sqrt{w_j} E\cos(t_j X)$ and
$\sqrt{w_j} E\sin(t_j X)$. Their Euclidean distance $D$ is a kernel distance of laws, and they are linear in the law.

**Source:** Epps and Pulley 1983; Baringhaus and Henze 1988; Gretton et al. 2012.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theorax.decide.gaussian_norm import Shape, shape_of_covariance
from theorax.errors import DesignError, ObservationError

__all__ = [
    "Frequencies",
    "distance",
    "features_of_characteristic",
    "features_of_conditional_variance",
    "features_of_samples",
    "gauss_hermite",
    "joint",
    "margin_of_panel",
    "shape_of_characteristic",
]

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Frequencies:
    """Frequencies at which characteristic functions are compared: one row per frequency, weights that sum to one."""

    points: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        # A sum of rounded weights of total one errs by at most one unit roundoff per term.
        allowed = len(self.weights) * 2.0**-52
        if not self.points or len(self.points) != len(self.weights) or min(self.weights) < 0:
            raise DesignError("Frequencies need one non-negative weight each. Write as many weights as frequencies.")
        if abs(math.fsum(self.weights) - 1) > allowed:
            raise DesignError(
                f"The weights of the frequencies sum to {math.fsum(self.weights):g}. Distances would be on another "
                "scale "
                "than their margins. Write weights that sum to one."
            )

    @property
    def table(self) -> Matrix:
        """The frequencies as an array ``frequencies x dimensions``."""
        return np.asarray(self.points)

    @property
    def amplitudes(self) -> Vector:
        """The factor of each feature."""
        return np.sqrt(self.weights)


def gauss_hermite(scale: float = 1.0, nodes: int = 40) -> Frequencies:
    """The positive nodes of a Gauss-Hermite rule, weights doubled, for laws whose spread is about ``scale``.

    Features at a negative frequency repeat those at the positive one. Ten nodes are too few.
    """
    if not 0 < scale < math.inf or nodes % 2:
        raise DesignError(
            f"A rule of {nodes} nodes on the scale {scale:g} was asked for. Its positive half must be half of it. "
            "Write an even number of nodes and a positive scale."
        )
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    upper = points > 0
    doubled = weights[upper] / weights[upper].sum()
    return Frequencies(tuple((float(t),) for t in points[upper] / scale), tuple(map(float, doubled)))


def joint(covariance: ArrayLike, count: int = 128, seed: int = 0) -> Frequencies:
    """Fixed random frequencies for vectors, whitened by the claimed covariance; one half is twice as low."""
    matrix = np.atleast_2d(np.asarray(covariance, float))
    values, vectors = np.linalg.eigh(matrix)
    # Directions in which the claimed law has no spread are left unscaled: any spread there is seen as it is.
    spread = np.where(values > values[-1] * len(values) * 2.0**-52, values, 1.0)
    draws = np.random.default_rng(seed).standard_normal((count, len(values)))
    draws[count // 2 :] /= 2
    points = (draws / np.sqrt(spread)) @ vectors.T
    return Frequencies(tuple(tuple(map(float, row)) for row in points), (1 / count,) * count)


def features_of_samples(samples: ArrayLike, frequencies: Frequencies) -> Matrix:
    """One row of features per draw; a draw of many dependent values is one unit, and its features are averaged within.

    ``samples`` is ``draws`` or ``draws x values`` for one-dimensional laws, and ``draws x dimensions`` or
    ``draws x values x dimensions`` for vectors.
    """
    data = np.asarray(samples, float)
    if data.size == 0 or not np.isfinite(data).all():
        raise ObservationError(
            f"An array of shape {data.shape} is empty or holds values that are not finite. It has no law. "
            "Observe finite values in every draw."
        )
    dimensions = frequencies.table.shape[1]
    if dimensions == 1 and (data.ndim < 3 or data.shape[-1] != 1):
        data = data[..., None]
    if data.shape[-1] != dimensions or data.ndim not in (2, 3):
        raise ObservationError(
            f"Samples of shape {np.shape(samples)} were given for a law in {dimensions} dimensions. "
            f"Write draws x {dimensions}, or draws x values x {dimensions}."
        )
    data = data[:, None, :] if data.ndim == 2 else data
    cosines, sines = np.empty((2, len(data), len(frequencies.weights)))
    for j, point in enumerate(frequencies.table):  # one frequency at a time: memory stays that of the samples
        angle = data[..., 0] * point[0] if dimensions == 1 else data @ point
        cosines[:, j] = np.cos(angle).mean(axis=1)
        sines[:, j] = np.sin(angle).mean(axis=1)
    return np.concatenate([frequencies.amplitudes * cosines, frequencies.amplitudes * sines], axis=1)


def features_of_conditional_variance(variances: ArrayLike, frequencies: Frequencies) -> Matrix:
    r"""Features of a centred Gaussian with this variance or covariance, one row per draw: $E[f \mid S] = e^{-t.St/2}$.

    Where a variable is Gaussian given what a draw holds, such as the last layer of a network given the one before, its
    features given that have the same mean and far less noise (Rao and Blackwell). ``variances`` is ``draws`` or ``draws x
    values`` in one dimension, ``draws x dimensions x dimensions`` otherwise.

    **Raises:** `ObservationError` for a negative variance, or another shape.
    """
    data, points = np.asarray(variances, float), frequencies.table
    dimensions = points.shape[1]
    if dimensions == 1 and data.ndim in (1, 2):
        data = data[:, None] if data.ndim == 1 else data
        exponents = lambda t: t[0] ** 2 * data  # noqa: E731
    elif data.ndim == 3 and data.shape[1:] == (dimensions, dimensions):
        exponents = lambda t: np.einsum("a,dab,b->d", t, data, t)[:, None]  # noqa: E731
    else:
        raise ObservationError(
            f"Conditional variances of shape {data.shape} were given for a law in {dimensions} dimensions. "
            f"Write draws (x values) in one dimension, draws x {dimensions} x {dimensions} here."
        )
    if not np.isfinite(data).all() or (dimensions == 1 and data.size and data.min() < 0) or not data.size:
        raise ObservationError(
            f"Conditional variances of shape {data.shape} are empty, negative or not finite. None is that of a law. "
            "Observe the variance given what the draw holds."
        )
    found = np.zeros((len(data), 2 * len(points)))
    for j, point in enumerate(points):
        exponent = exponents(point)
        if exponent.min() < -(2.0**-40) * max(1.0, float(np.abs(exponent).max())):
            raise ObservationError(
                "A conditional covariance is not positive: some direction has a negative variance. None is that of a "
                "law. Observe a symmetric, positive matrix."
            )
        found[:, j] = frequencies.amplitudes[j] * np.exp(-np.maximum(exponent, 0) / 2).mean(axis=1)
    return found


def features_of_characteristic(values: ArrayLike, frequencies: Frequencies) -> Vector:
    """Features of a law from its characteristic function E exp(i t.X) at the frequencies."""
    phi = np.asarray(values, complex)
    if phi.shape != (len(frequencies.weights),) or np.abs(phi).max() > 1 + 4 * 2.0**-52:
        raise DesignError(
            f"A characteristic function of shape {phi.shape} was given at {len(frequencies.weights)} frequencies, "
            f"largest modulus {np.abs(phi).max():g}. It has one value at each, none above one. Evaluate E exp(i t X) "
            "there."
        )
    return np.concatenate([frequencies.amplitudes * np.real(phi), frequencies.amplitudes * np.imag(phi)])


def shape_of_characteristic(
    characteristic: Callable[[Matrix], NDArray[np.complex128]], frequencies: Frequencies
) -> Shape:
    r"""The shape of single values of a law, from E exp(i t.X) at any t (rows of an array).

    $\cos a \cos b$, $\sin a \sin b$ and $\cos a \sin b$ are halves of sums of cosines and sines of $a \pm b$.
    """
    t, amplitudes = frequencies.table, frequencies.amplitudes
    count = len(t)

    def at(points: Matrix) -> NDArray[np.complex128]:
        flat = points.reshape(-1, t.shape[1])
        return np.asarray(characteristic(flat if t.shape[1] > 1 else flat[:, 0]), complex).reshape(count, count)

    plus, minus = at(t[:, None] + t[None]), at(t[:, None] - t[None])
    cosines, sines = np.real(minus + plus) / 2, np.real(minus - plus) / 2
    mixed = np.imag(plus - minus) / 2  # cos a sin b = (sin(a + b) - sin(a - b)) / 2
    second = np.block([[cosines, mixed], [mixed.T, sines]])
    phi = np.asarray(characteristic(t if t.shape[1] > 1 else t[:, 0]), complex)
    first = np.concatenate([np.real(phi), np.imag(phi)])
    scale = np.concatenate([amplitudes, amplitudes])
    return shape_of_covariance((second - np.outer(first, first)) * np.outer(scale, scale))


def distance(first: Vector, second: Vector) -> float:
    """D of two laws from their features."""
    return float(np.linalg.norm(np.asarray(first) - np.asarray(second)))


def margin_of_panel(target: Vector, panel: Mapping[str, Vector]) -> tuple[float, str]:
    """The distance to the nearest of the declared wrong laws, and its name; nothing nearer is excluded by support."""
    if not panel:
        raise DesignError("No wrong law was declared. Support must exclude something. Write at least one wrong limit.")
    nearest = min(panel, key=lambda name: distance(target, panel[name]))
    margin = distance(target, panel[nearest])
    if margin == 0:
        raise DesignError(f"`{nearest}` has the features of the claimed law. Leave it out of the panel.")
    return margin, nearest
