"""Designs of sweeps: sizes, noise, the declared class, and the conditions that weights have to meet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from theorax.decide.corrections import Corrections
from theorax.decide.slow_terms import SlowTerm
from theorax.decide.status import DEFAULT_LEVELS, Levels, Side
from theorax.errors import DesignError, StatementError, TooFewSizes
from theorax.names import many

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

FEWEST_SIZES = 3  # two points fit every line

LIKELY = 0.5
"""The probability of a decision below which a design is not worth its draws."""

ASSURED = 0.9
"""The probability of a decision that an offered design reaches."""


class Target(StrEnum):
    """The quantity read off the sequence: its limit, a in C n^-a, or c in C e^(-cn) (the last two from logarithms)."""

    LIMIT = "limit"
    EXPONENT = "exponent"
    DECAY_RATE = "decay rate"


class Policy(StrEnum):
    """Relation between draws at different sizes."""

    PAIRED = "paired"  # draw s has the same seed at every size
    INDEPENDENT = "independent"
    DETERMINISTIC = "deterministic"  # no draws: the error of y_i is bounded, not random
    SINGLE = "single"  # one draw at each size: its noise shows in the residuals alone


class Tails(StrEnum):
    """Declared tails, as far as they set the width of the interval."""

    LIGHT = "light tails"  # Student's t
    RANGE = "range"  # betting
    VARIANCE = "variance"  # Catoni: the planned sd is the declared one


@dataclass(frozen=True)
class Plan:
    """Sizes, planned noise and declared class: all that the weights may depend on.

    ``sd`` is that of one draw, ``draws`` the number of draws, each for all sizes or one per size; ``correlation`` is
    that of paired draws at different sizes. ``errors`` bound the error of each y_i (rounding, an absolute floor).

    **Raises:** `DesignError` where the sizes cannot carry the target; `StatementError` where the class hides it.
    """

    sizes: tuple[float, ...]
    corrections: Corrections = field(default_factory=Corrections)
    target: Target = Target.EXPONENT
    sd: tuple[float, ...] | float = 0.2
    draws: tuple[int, ...] | int = 32
    policy: Policy = Policy.INDEPENDENT
    errors: tuple[float, ...] | float = 0.0
    correlation: float = 0.0
    side: Side = Side.EQUAL
    levels: Levels = DEFAULT_LEVELS
    tails: Tails = Tails.LIGHT

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(float(size) for size in self.sizes))
        for name, kind in (("target", Target), ("policy", Policy), ("side", Side), ("tails", Tails)):
            object.__setattr__(self, name, kind(getattr(self, name)))
        for name in ("sd", "draws", "errors"):
            value = getattr(self, name)
            if isinstance(value, Sequence | np.ndarray):
                object.__setattr__(self, name, tuple(value))
                if len(value) != len(self.sizes):
                    raise DesignError(
                        f"{name} has {many(len(value), 'entry', 'entries')} for {many(len(self.sizes), 'size')}. "
                        f"Each size has one. Write one number for all sizes, or {len(self.sizes)} of them."
                    )
        self._check()

    def _check(self) -> None:
        sizes, allowed = self.sizes, self.corrections
        if not sizes or min(sizes) <= 0 or any(b <= a for a, b in pairwise(sizes)):
            raise DesignError(
                f"The sizes {sizes} do not grow from a positive size. A limit is approached along growing sizes. "
                "Write them in increasing order, each once."
            )
        if self.policy in (Policy.PAIRED, Policy.INDEPENDENT) and min(self.planned_draws) < 2:
            raise DesignError(
                "A random quantity was planned with fewer than two draws. Its noise cannot be seen. "
                'Write draws=32, or policy="deterministic" for a quantity without randomness.'
            )
        if self.policy is Policy.PAIRED and len(set(self.planned_draws)) > 1:
            raise DesignError(
                "Paired draws were planned with different numbers of draws per size. A pair needs both its members. "
                'Write one number of draws, or policy="independent".'
            )
        if min(*self.noise, *self.given_errors, 0.0) < 0 or not -1 / max(1, len(sizes) - 1) <= self.correlation < 1:
            raise DesignError(
                "A planned sd or error bound is negative, or the correlation is none. The planned covariance must be "
                "one. "
                "Write non-negative numbers, and a correlation from 0 up to below 1."
            )
        if self.target is Target.EXPONENT and allowed.log > 0:
            raise StatementError(
                f"Corrections(log={allowed.log:g}) was declared for the {self.target} of a sequence. An unknown "
                "power of n "
                "cannot be told from what is asked. Write log=0; it belongs beside an exponential, or to a limit."
            )
        if (allowed.loglog > 0 or (allowed.log > 0 and self.target is Target.LIMIT)) and sizes[0] <= 1:
            raise DesignError(f"A logarithm of size {sizes[0]:g} cannot be divided by. Write sizes above 1.")
        if len(sizes) < (needed := least_sizes(self)):
            raise TooFewSizes(
                f"{many(len(sizes), 'size')} cannot carry {needed} conditions on the weights ({self.target}, {allowed}). "
                f"Each unknown coefficient needs a size. Write at least {many(needed + 1, 'size')}.",
                needed + 1,
            )

    @property
    def relative_sizes(self) -> Vector:
        """The sizes in units of the smallest."""
        return np.asarray(self.sizes) / self.sizes[0]

    @property
    def noise(self) -> tuple[float, ...]:
        """The planned sd of one draw at each size; zero where nothing is random."""
        if self.policy is Policy.DETERMINISTIC:
            return (0.0,) * len(self.sizes)
        return self.sd if isinstance(self.sd, tuple) else (self.sd,) * len(self.sizes)

    @property
    def planned_draws(self) -> tuple[int, ...]:
        """The number of draws at each size."""
        return self.draws if isinstance(self.draws, tuple) else (self.draws,) * len(self.sizes)

    @property
    def given_errors(self) -> tuple[float, ...]:
        """The bound of the error of each y_i."""
        return self.errors if isinstance(self.errors, tuple) else (self.errors,) * len(self.sizes)

    @property
    def log_term(self) -> Vector:
        """The term that ``Corrections.log`` bounds: log n, zero at the smallest size; in a limit log n0/log n."""
        if self.target is Target.LIMIT:
            return np.asarray(SlowTerm.LOG.at(self.sizes))
        return np.log(self.relative_sizes)

    @property
    def loglog_term(self) -> Vector:
        """The term that ``Corrections.loglog`` bounds: log log n, zero at the smallest size; in a limit log log n/log n."""
        if self.target is Target.LIMIT:
            return np.asarray(SlowTerm.LOGLOG.at(self.sizes))
        logs = np.log(np.asarray(self.sizes))
        return np.log(logs / logs[0])

    @property
    def residual_df(self) -> int:
        """Degrees of freedom that a weighted mean leaves of one value per size: one condition more than those of its
        weights; at least one, to plan with."""
        return max(1, len(self.sizes) - least_sizes(self) - 1)

    @property
    def unit(self) -> float:
        """A decay rate is of the order of one over the range of sizes: its weights are found in that unit."""
        return self.sizes[-1] - self.sizes[0] if self.target is Target.DECAY_RATE and len(self.sizes) > 1 else 1.0

    @property
    def adds_up(self) -> bool:
        """True if the noise of the sizes is bounded as if it were one: paired draws of which the variance alone is known."""
        return self.tails is Tails.VARIANCE and self.policy is Policy.PAIRED

    @property
    def sd_of_means(self) -> Vector:
        """The planned standard error of each y_i."""
        return np.asarray(self.noise) / np.sqrt(self.planned_draws)

    @property
    def root_covariance(self) -> Matrix:
        """A square root of the planned covariance of the y_i."""
        sd = self.sd_of_means
        if self.policy is not Policy.PAIRED or self.correlation == 0:
            return np.diag(sd)
        count = len(sd)
        correlations = np.full((count, count), self.correlation) + (1 - self.correlation) * np.eye(count)
        values, vectors = np.linalg.eigh(correlations)
        return (np.sqrt(np.maximum(values, 0))[:, None] * vectors.T) * sd


def conditions(plan: Plan) -> tuple[Matrix, Vector]:
    """Rows and right-hand sides: the target has coefficient one, other unbounded terms zero.

    Logarithms and sizes are shifted to zero at the smallest size, which changes nothing because the sum of the weights
    is prescribed to vanish, and sizes are scaled to end at one.
    """
    x, allowed = plan.relative_sizes, plan.corrections
    ones = np.ones_like(x)
    if plan.target is Target.LIMIT:
        rows, values = [ones], [1.0]
    elif plan.target is Target.EXPONENT:
        rows, values = [-np.log(x), ones], [1.0, 0.0]
    else:
        rows, values = [-(np.asarray(plan.sizes) - plan.sizes[0]) / plan.unit, ones], [1.0, 0.0]
    unbounded = [x**-power for power in allowed.free]
    if math.isinf(allowed.log):
        unbounded.append(plan.log_term)
    if math.isinf(allowed.loglog):
        unbounded.append(plan.loglog_term)
    return np.array([*rows, *unbounded]), np.array(values + [0.0] * len(unbounded))


def least_sizes(plan: Plan) -> int:
    """Smallest number of sizes that meets the conditions on the weights: one for each condition."""
    return len(conditions(plan)[0])
