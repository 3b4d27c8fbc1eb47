r"""What a design about a law can see, before any data: half-width, power, smallest deviation noticed, cheapest draws.

The noise of the extrapolated features is a vector. How its norm spreads depends on the shape of its covariance: a few
strong directions, or many weak ones. The shape is that of the claimed law, in closed form from its characteristic
function, or that of a pilot on other seeds, or one direction alone, the widest there is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from theorax.decide.bias_aware import Weights, solve
from theorax.decide.designs import Plan, Policy, Target
from theorax.decide.gaussian_norm import NoiseNorm
from theorax.decide.law_distance import Frequencies
from theorax.decide.planning import Proposal, cheapest
from theorax.errors import DesignError

__all__ = ["LawPlan", "Shape", "require_law", "shape_of_characteristic", "shape_of_features"]

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """The noise of one draw's features: its root mean square, and the eigenvalues of its covariance over their sum."""

    sd: float
    eigenvalues: tuple[float, ...] = (1.0,)

    @cached_property
    def norm(self) -> NoiseNorm:
        """The norm of noise of this shape and root mean square one."""
        return NoiseNorm(np.asarray(self.eigenvalues))

    def quantile(self, level: float) -> float:
        """The quantile of that norm, found once for each level."""
        if level not in self._quantiles:
            self._quantiles[level] = self.norm.quantile(level)
        return self._quantiles[level]

    @cached_property
    def _quantiles(self) -> dict[float, float]:
        return {}


def shape_of_covariance(covariance: Matrix) -> Shape:
    """The shape of this covariance of one draw's features."""
    noise = NoiseNorm.of(covariance)
    total = float(noise.eigenvalues.sum())
    if total == 0:
        return Shape(0.0)
    return Shape(math.sqrt(total), tuple(float(value) for value in noise.eigenvalues / total))


def shape_of_features(features: Matrix) -> Shape:
    """The shape that a pilot shows; its draws are never among the decisive ones."""
    return shape_of_covariance(np.atleast_2d(np.cov(features, rowvar=False)))


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


@dataclass(frozen=True)
class LawPlan:
    """Sizes, class, draws and margin of a claim about a law; ``plan.sd`` is the shape's.

    **Raises:** `DesignError` for a plan of anything but a limit, or a margin that is not positive.
    """

    plan: Plan
    margin: float
    shape: Shape

    def __post_init__(self) -> None:
        if self.plan.target is not Target.LIMIT or not 0 < self.margin < math.inf:
            raise DesignError(
                f"A law was planned as the {self.plan.target} with a margin of {self.margin:g}. A law is extrapolated "
                "as a limit, and its margin is a distance. Write target=Target.LIMIT and a positive margin."
            )
        if self.plan.policy is not Policy.DETERMINISTIC and self.plan.sd != self.shape.sd:
            object.__setattr__(self, "plan", replace(self.plan, sd=self.shape.sd))

    @property
    def weights(self) -> Weights:
        """The weights of the sizes."""
        return solve(self.plan)

    @property
    def bias(self) -> float:
        """The worst bias of the distance."""
        return self.weights.bias.total

    @property
    def half_width(self) -> float:
        """Bias plus the quantile of the noise's norm: margins below it cannot be supported."""
        return self.bias + self.shape.quantile(self.plan.levels.support) * self.weights.se

    def noticeable(self, power: float = 0.9) -> float:
        """The distance that is refuted with this power, whatever member of the class is present.

        The distance seen is at least the true one less bias, plus the noise along the gap, whose standard deviation is
        at most that of the strongest direction.
        """
        along = float(ndtri(power)) * math.sqrt(self.shape.norm.largest)
        return 2 * self.bias + (self.shape.quantile(self.plan.levels.refute) + along) * self.weights.se

    def power(self) -> float:
        """The probability of support, at least, when the law holds exactly and no correction is present."""
        return _power(self.weights, self.shape, self.margin)

    def decides(self, power: float = 0.0) -> bool:
        """Whether support is within reach (with this power)."""
        return self.half_width < self.margin and self.power() >= power

    def cheapest(self, power: float = 0.8) -> Proposal | None:
        """The cheapest draws, and sizes beyond the last, that reach this power of support; None where none do."""
        found = cheapest(
            self.plan, self.margin, power, decides=lambda weights: _power(weights, self.shape, self.margin) >= power
        )
        if found is None:
            return None
        return replace(found, half_width=replace(self, plan=found.weights.plan).half_width)


def require_law(plan: LawPlan, name: str = "The claim", power: float = 0.8) -> None:
    """Let a design pass that can decide.

    **Raises:** `DesignError` naming what is too wide, and the cheapest design that would do.
    """
    if plan.decides():
        return
    proposal = plan.cheapest(power)
    remedy = f"Write {proposal}." if proposal else "Write a wider margin, or a sharper class of laws with its reason."
    raise DesignError(
        f"{name} cannot be decided at a distance of {plan.margin:.3g}. Its half-width is {plan.half_width:.3g}, of "
        f"which {plan.bias:.3g} is bias of the class. {remedy}"
    )


def _power(weights: Weights, shape: Shape, margin: float) -> float:
    room = margin - weights.bias.total - shape.quantile(weights.plan.levels.support) * weights.se
    if weights.se == 0:
        return float(room > 0)
    return 1.0 - shape.norm.p(room / weights.se)
