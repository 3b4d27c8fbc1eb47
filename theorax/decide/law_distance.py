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

from theorax.decide.bias_aware import Weights, bias_of, spare_directions
from theorax.decide.designs import Plan, Policy, Target
from theorax.decide.equivalence import outcome, stands
from theorax.decide.gaussian_norm import NoiseNorm
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Side
from theorax.errors import DesignError, ObservationError

__all__ = [
    "Frequencies",
    "decide_law",
    "distance",
    "features_of_characteristic",
    "features_of_conditional_variance",
    "features_of_density",
    "features_of_samples",
    "gauss_hermite",
    "is_robust_law",
    "joint",
    "margin_of_panel",
    "misfit_law",
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
    reference: Matrix | None = None,
) -> Decision:
    r"""Decide "the law tends to the target" against "its limit is at least ``margin`` away".

    $d = \sum_i k_i \bar f_i - f_Q$; with $q$ the quantile of the norm of Gaussian noise of covariance
    $\sum_i k_i^2 \mathrm{Cov}_i / N_i$ (paired draws: that of the scores), supported iff $\|d\| + q + b <
    \text{margin}$ and refuted iff $\|d\| - q - b > 0$. By the triangle inequality both errors are at most their level,
    and far below it. ``reference``: features of independent draws from the target, where it has no closed form; their
    mean takes its place and their covariance is added.

    **Errors:** the noise is taken as Gaussian with the sample's covariance, whose estimate needs many draws. Its tail is
    bounded from above (`NoiseNorm`), so a p-value of any size means what it says.
    """
    return _decided(_Extrapolated.of(features, target, weights, reference), weights.bias.total, margin, levels)


def is_robust_law(
    decision: Decision, features: Sequence[Matrix], target: Vector, plan: Plan, reference: Matrix | None = None
) -> bool:
    """Whether the status stands under the larger classes of `Corrections.redesigns`, each with weights of its own."""
    return stands(
        decision,
        plan,
        lambda weights: decide_law(features, target, weights, decision.margin, decision.levels, reference),
    )


def misfit_law(features: Sequence[Matrix], plan: Plan, level: float = 0.01) -> bool:
    """Whether the features contradict the declared class, whatever the limit: the gross-error alarm of `misfit`."""
    directions = spare_directions(plan)
    for direction in directions:
        weights = Weights(plan, tuple(map(float, direction)), bias_of(plan, direction))
        found = _Extrapolated.of(features, np.zeros(features[0].shape[1]), weights, None)
        radius, each = found.distance - weights.bias.total, level / len(directions)
        # Paley and Zygmund: E Q^2 <= 3 (E Q)^2, so P(Q >= 0.8 E Q) >= 0.2^2 / 3, above any level in use: no tail needed.
        if radius <= math.sqrt(0.8) * found.se and each < 0.04 / 3:
            continue
        if found.noise.p(radius) <= each:
            return True
    return False


@dataclass(frozen=True)
class _Extrapolated:
    """The distance of the extrapolated features from the target, and the law of the noise in it."""

    distance: float
    noise: NoiseNorm
    se: float

    @classmethod
    def of(
        cls, features: Sequence[Matrix], target: Vector, weights: Weights, reference: Matrix | None
    ) -> _Extrapolated:
        plan = weights.plan
        if plan.target is not Target.LIMIT or len(features) != len(plan.sizes):
            raise DesignError(
                f"{len(features)} sizes of features met weights for the {plan.target} over {len(plan.sizes)} sizes. "
                "A law is extrapolated as a limit. Write target=Target.LIMIT and one table of features per size."
            )
        k = weights.vector
        if reference is not None:
            target = reference.mean(axis=0)
        gap = k @ np.stack([table.mean(axis=0) for table in features]) - np.asarray(target, float)
        if plan.policy is Policy.DETERMINISTIC:
            covariance = np.zeros((gap.size, gap.size))
        elif plan.policy is Policy.PAIRED:
            combined = sum(weight * table for weight, table in zip(k, features, strict=True))
            covariance = _covariance_of_mean(np.asarray(combined))
        else:
            parts = zip(k, features, strict=True)
            covariance = sum((weight**2 * _covariance_of_mean(table) for weight, table in parts), np.zeros(()))
        if reference is not None:
            covariance = covariance + _covariance_of_mean(reference)
        return cls(
            float(np.linalg.norm(gap)), NoiseNorm.of(covariance), math.sqrt(max(0.0, float(np.trace(covariance))))
        )


def _decided(found: _Extrapolated, bias: float, margin: float, levels: Levels) -> Decision:
    size = found.distance
    q_support = found.noise.quantile(levels.support)  # by bisection: once, where the levels are equal
    q_refute = q_support if levels.refute == levels.support else found.noise.quantile(levels.refute)
    return outcome(
        supporting=margin - size - q_support,
        refuting=size - q_refute,
        p_support=found.noise.p(margin - bias - size),
        p_refute=found.noise.p(size - bias),
        radius=q_support,
        estimate=size,
        se=found.se,
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
    return np.atleast_2d(np.cov(table, rowvar=False)) / len(table)
