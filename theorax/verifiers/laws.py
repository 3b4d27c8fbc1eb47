r"""Convergence of a law: features at fixed frequencies, extrapolated over the sizes, their distance from the target.

With frequencies $t_j$ and weights $w_j$, $\sum_j w_j = 1$, the features of a law are $\sqrt{w_j} E\cos(t_j X)$ and
$\sqrt{w_j} E\sin(t_j X)$. Their Euclidean distance $D$ is a kernel distance of laws, and they are linear in the law: an
expansion of the law in 1/n is one of the features, so the weights of `bias` for a limit extrapolate the law itself.
Whether a law *is* the limit at some finite size is never asked.

**Source:** Epps and Pulley 1983; Baringhaus and Henze 1988; Gretton et al. 2012.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theorax.errors import DesignError, ObservationError
from theorax.verifiers.bias import Policy, Target, Weights
from theorax.verifiers.decide import outcome
from theorax.verifiers.decision import DEFAULT_LEVELS, Decision, Levels, Side

__all__ = [
    "Frequencies",
    "decide_law",
    "distance",
    "features_of_characteristic",
    "features_of_density",
    "features_of_samples",
    "gauss_hermite",
    "joint",
    "margin_of_panel",
    "planned_sd",
]

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Frequencies:
    """Where characteristic functions are looked at: one row per frequency, weights that sum to one."""

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


def features_of_density(nodes: ArrayLike, weights: ArrayLike, frequencies: Frequencies) -> Vector:
    """Features of a law from quadrature nodes and weights (density times quadrature weight) that integrate it to one.

    **Errors:** those of the quadrature; its total mass is made one, and must be near it.
    """
    points, mass = np.asarray(nodes, float), np.asarray(weights, float)
    total = float(mass.sum())
    # A rule that loses a thousandth of the mass moves D by as much: a tenth of the smallest margin in use.
    if not math.isfinite(total) or abs(total - 1) > 1e-3:
        raise DesignError(
            f"The quadrature gives the law the mass {total:g}. Features of such a law are those of another. "
            "Write more nodes, or a substitution without singular ends."
        )
    points = points[:, None] if points.ndim == 1 else points
    angles = points @ frequencies.table.T
    return features_of_characteristic((mass / total) @ np.exp(1j * angles), frequencies)


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


def planned_sd(target: Vector) -> float:
    """The root mean square of the noise of one draw's features under the claimed law, one value a draw."""
    return math.sqrt(max(0.0, 1.0 - float(np.asarray(target) @ np.asarray(target))))


def decide_law(
    features: Sequence[Matrix],
    target: Vector,
    weights: Weights,
    margin: float,
    levels: Levels = DEFAULT_LEVELS,
    noise_draws: int = 2000,
) -> Decision:
    r"""Decide "the law tends to the target" against "its limit is at least ``margin`` away".

    $d = \sum_i k_i \bar f_i - f_Q$; with $q$ the quantile of the norm of Gaussian noise of covariance
    $\sum_i k_i^2 \mathrm{Cov}_i / N_i$ (paired draws: that of the scores), supported iff $\|d\| + q + b <
    \text{margin}$ and refuted iff $\|d\| - q - b > 0$. By the triangle inequality both errors are at most their level,
    and far below it.

    **Errors:** the noise is taken as Gaussian with the sample's covariance, whose estimate needs many draws. The
    quantile is the order statistic that belongs to p = (1 + count)/(1 + draws): ask for 1e5 draws where a p below 1e-3
    matters.
    """
    plan = weights.plan
    if plan.target is not Target.LIMIT or len(features) != len(plan.sizes):
        raise DesignError(
            f"{len(features)} sizes of features met weights for the {plan.target} over {len(plan.sizes)} sizes. "
            "A law is extrapolated as a limit. Write target=Target.LIMIT and one table of features per size."
        )
    target = np.asarray(target, float)
    k = weights.vector
    means = np.stack([table.mean(axis=0) for table in features])
    if plan.policy is Policy.PAIRED:
        combined = sum(weight * table for weight, table in zip(k, features, strict=True))
        covariance = _covariance_of_mean(np.asarray(combined))
    else:
        parts = zip(k, features, strict=True)
        covariance = sum((weight**2 * _covariance_of_mean(table) for weight, table in parts), np.zeros(()))
    size = distance(k @ means, target)
    noise = _noise_norms(covariance, noise_draws)
    bias = weights.bias.total
    q_support, q_refute = _quantile(noise, levels.support), _quantile(noise, levels.refute)
    return outcome(
        supporting=margin - size - q_support,
        refuting=size - q_refute,
        p_support=_exceedance(noise, margin - bias - size),
        p_refute=_exceedance(noise, size - bias),
        radius=q_support,
        estimate=size,
        se=math.sqrt(float(np.trace(covariance))),
        df=math.inf,
        bias=bias,
        lower=max(0.0, size - q_support - bias),
        upper=size + q_support + bias,
        claimed=0.0,
        margin=margin,
        side=Side.EQUAL,
        levels=levels,
    )


def _covariance_of_mean(table: Matrix) -> Matrix:
    if len(table) < 2:
        raise ObservationError("One draw of a law has no spread. Write at least two draws at every size.")
    return np.cov(table, rowvar=False) / len(table)


def _noise_norms(covariance: Matrix, draws: int) -> Vector:
    """Norms of Gaussian vectors of this covariance, sorted: roots of weighted sums of chi-squares."""
    values = np.linalg.eigvalsh(covariance)
    # Eigenvalues below the rounding of the largest carry no noise that could be told from rounding.
    values = values[values > values[-1] * len(values) * 2.0**-52]
    if not values.size:
        return np.zeros(draws)
    generator = np.random.default_rng(20)
    squares = np.concatenate(
        [
            generator.standard_normal((min(4096, draws - start), len(values))) ** 2 @ values
            for start in range(0, draws, 4096)
        ]
    )
    return np.sort(np.sqrt(squares))


def _quantile(norms: Vector, level: float) -> float:
    """The smallest radius whose exceedance p-value is at most the level."""
    rank = math.ceil((1 - level) * (len(norms) + 1) - 2.0**-30)  # a whole number stays whole under rounding
    if rank > len(norms):
        raise DesignError(
            f"{len(norms)} draws of noise cannot reach the level {level:g}. Their smallest p-value is 1/(1 + draws). "
            f"Write noise_draws={math.ceil(4 / level)}."
        )
    return float(norms[rank - 1])


def _exceedance(norms: Vector, radius: float) -> float:
    """The probability of a norm of at least this radius, never zero."""
    return (1 + len(norms) - int(np.searchsorted(norms, radius, side="left"))) / (1 + len(norms))
