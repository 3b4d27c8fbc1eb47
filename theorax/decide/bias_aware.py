r"""Weights over the sizes of a sweep that balance the worst bias of a declared class against noise.

The estimate is $\sum_i k_i y_i$. Its worst bias over the class of `Corrections` is

$$b(k) = B \max_w \Bigl|\sum_i k_i x_i^{-w}\Bigr| + \sum_i |k_i| (R x_i^{-w_2} + e_i)
       + P \Bigl|\sum_i k_i \log x_i\Bigr|, \qquad x_i = n_i/n_0,$$

and the weights minimise $b(k) + t_{1-\alpha_S} \|S^{1/2} k\|$ subject to reproducing the target exactly. The optimum is
the power analysis: the half-width is known before any data. $S$ is planned, never taken from the decisive data; a wrong
$S$ costs width, not validity, because the bias and the standard error are those of the weights as they are.

**Source:** Armstrong and Kolesar 2018 (bias-aware intervals of fixed length).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import clarabel
import numpy as np
from scipy import sparse
from scipy.special import chdtri, ndtr, ndtri, stdtrit

from theorax.decide.designs import LIKELY, Matrix, Plan, Policy, Tails, Vector, conditions
from theorax.decide.interval import TUNED_LEVEL
from theorax.decide.status import Reason, Side

_SOLVING_POINTS = 9
_REPORTING_POINTS = 61
_MIDDLES = (np.arange(256) + 0.5) / 256


@dataclass(frozen=True)
class Bias:
    """The worst bias of given weights, by origin; only ``given`` (bounded errors) is no part of the class."""

    corrections: float = 0.0
    rest: float = 0.0
    log: float = 0.0
    loglog: float = 0.0
    given: float = 0.0

    @property
    def total(self) -> float:
        """The bound of the absolute bias."""
        return self.corrections + self.rest + self.log + self.loglog + self.given


@dataclass(frozen=True)
class Weights:
    """The weights of a plan, their worst bias, and what they will be able to decide."""

    plan: Plan
    values: tuple[float, ...]
    bias: Bias

    @property
    def vector(self) -> Vector:
        """The weights as an array."""
        return np.asarray(self.values)

    @property
    def se(self) -> float:
        """The planned standard error; for paired draws of declared variance the largest one possible."""
        if self.plan.adds_up:
            return float(np.abs(self.vector) @ self.plan.sd_of_means)
        return float(np.linalg.norm(self.plan.root_covariance @ self.vector))

    @property
    def df(self) -> float:
        """The planned degrees of freedom: draws less one, Welch-Satterthwaite for independent draws."""
        if self.plan.policy is Policy.DETERMINISTIC:
            return math.inf
        if self.plan.policy is Policy.SINGLE:
            return float(self.plan.residual_df)
        draws = np.asarray(self.plan.planned_draws, float)
        if self.plan.policy is Policy.PAIRED:
            return float(draws[0] - 1)
        spreads = np.abs(self.vector * self.plan.noise)
        if not spreads.any():
            return float(draws.min() - 1)
        # In units of the largest: fourth powers of spreads near 1e-100 would be zero.
        parts = (spreads / math.ldexp(1.0, math.frexp(float(spreads.max()))[1])) ** 2 / draws
        return float(parts.sum() ** 2 / np.sum(parts**2 / (draws - 1)))

    @property
    def half_width(self) -> float:
        """Bias plus statistical radius at the level of support: margins below it cannot be supported."""
        return self.bias.total + critical_value(self.plan, self.df, self.plan.levels.support) * self.se

    def power(self, margin: float, shift: float = 0.0) -> float:
        r"""The probability of support where the estimate is centred ``shift`` off the claimed value.

        With $r$ the room that the worst bias leaves in the margin over the planned standard error $s$, and $U$ the ratio of
        the observed error to it, Student's limits lie within the margin iff $|Z + \text{shift}/s| \le r - tU$. The
        limits without the farthest draw, and Hall's, must lie there too (`theorax.decide.skewness`): the first are centred
        aside of the others by the weight of that draw, the second by what chance leaves of the skewness.

        **Errors:** the noise is taken as normal, the farthest draw as the median of the largest of so many. The alarm of the
        class is not counted. Measured in `benchmarks/results/calibration_plans.txt`.
        """
        room = margin - self.bias.total
        if self.se == 0:
            return float(shift < room)
        reach, off = room / self.se, shift / self.se
        quantile = critical_value(self.plan, self.df, self.plan.levels.support)
        weight, narrower, bent = self._farthest_draw(quantile)
        left = math.sqrt(1 - min(weight**2, 0.5))  # of the estimate, once that draw is known
        errors = self._observed_errors
        # Limits on the side of the farthest draw, which count it, and on the other, which leave it out.
        near, far = reach - quantile * errors - weight - bent, reach - quantile * errors * narrower
        over = ndtr((near - off) / left), ndtr((far - off) / left)
        if self.plan.side is not Side.EQUAL:
            return float(np.mean(over))
        under = ndtr((far + off) / left), ndtr((near + off) / left)
        inside = [np.maximum(above + below - 1, 0.0) for above, below in zip(over, under, strict=True)]
        return float(np.mean(inside))

    def _farthest_draw(self, quantile: float) -> tuple[float, float, float]:
        """The weight of the farthest draw in the estimate, the error without it, and Hall's shift: in standard errors."""
        plan = self.plan
        if plan.tails is not Tails.LIGHT:
            return 0.0, 1.0, 0.0
        counts = np.asarray(plan.planned_draws, float)
        parts = (self.vector * plan.sd_of_means) ** 2
        if plan.policy is Policy.PAIRED:  # one column of scores
            counts, parts = counts[:1], np.array([self.se**2])
        largest = ndtri((1 + 0.5 ** (1 / counts)) / 2)
        moved = np.sqrt(parts / counts) * largest / self.se
        at = int(np.argmax(moved))
        share = float(parts[at]) / self.se**2
        fewer = 1 - share * (float(largest[at]) ** 2 - 2) / float(counts[at])
        chance = math.sqrt(6 * float(np.sum(parts**3 / counts**2))) / self.se**3
        return float(moved[at]), math.sqrt(min(1.0, max(fewer, 0.1))), 0.8 * chance * (2 * quantile**2 + 1) / 6

    @property
    def _observed_errors(self) -> Vector:
        """Quantiles of the observed standard error over the planned one; one where the width does not use it."""
        if self.plan.tails is not Tails.LIGHT or math.isinf(self.df):
            return np.ones(1)
        return np.sqrt(chdtri(self.df, 1 - _MIDDLES) / self.df)

    def mde(self, power: float = 0.9) -> float:
        """The deviation that is refuted with this probability whatever member of the class is present."""
        levels, tails = self.plan.levels, 2 if self.plan.side is Side.EQUAL else 1
        quantiles = critical_value(self.plan, self.df, levels.refute / tails) + float(ndtri(power))
        return 2 * self.bias.total + (quantiles * self.se if self.se else 0.0)

    def why_not(self, margin: float, power: float = LIKELY) -> Reason | None:
        """The reason why this plan does not support a true claim with this probability; None where it does.

        It is the class where even draws without noise would not do at these sizes. A bias above half the margin alone
        does not say so: with more draws other weights are best, and their bias is smaller.
        """
        if self.decides(margin, power):
            return None
        noiseless = solve_weights(replace(self.plan, policy=Policy.DETERMINISTIC))
        return Reason.UNDERPOWERED if noiseless.decides(margin) else Reason.CLASS_BIAS

    def decides(self, margin: float, power: float = LIKELY) -> bool:
        """True if a true claim is supported with this probability at least."""
        return self.power(margin) >= power


def critical_value(plan: Plan, df: float, level: float) -> float:
    r"""Number of standard errors that an interval reaches at this one-sided level: $t$, Catoni's $\sqrt{2 \log 1/\alpha}$, or a
    bet's.

    **Errors:** for a range, that of steady growth, the draws spread evenly over it: within a tenth from 50 to 4000 draws,
    less than planned where the spread is small against the range and the draws are few.
    """
    if plan.tails is Tails.VARIANCE:
        return math.sqrt(2 * math.log(1 / level))
    if plan.tails is Tails.RANGE:
        return _bets(min(plan.planned_draws), level)
    return float(stdtrit(df, 1 - level))


@lru_cache(maxsize=1024)
def _bets(draws: int, level: float) -> float:
    """The deviation in standard errors at which the wealth of `Betting` passes 1/level: log(1 + l d) - l^2/2 added up.

    The cap of the bets, one half over the mean, is one half over half the range: 1/sqrt(12) of the even law's spread.
    """
    seen = np.arange(1, draws + 1)
    bets = np.minimum(np.sqrt(2 * math.log(1 / TUNED_LEVEL) / (seen * np.log1p(seen))), 1 / math.sqrt(12))
    low, high = 0.0, 64.0
    for _ in range(30):  # a millionth of a standard error
        middle = (low + high) / 2
        wealth = np.cumsum(np.log1p(bets * middle / math.sqrt(draws)) - bets**2 / 2)
        low, high = (low, middle) if wealth.max() > math.log(1 / level) else (middle, high)
    return high


@lru_cache(maxsize=4096)
def solve_weights(plan: Plan) -> Weights:
    """The weights of least worst bias plus noise; no design is solved twice.

    **Errors:** the solver's accuracy moves the width only; the conditions that make the target come out are restored by
    projection, and the bias is recomputed from the weights returned.
    """
    if plan.side is not Side.EQUAL:  # the side is no part of what the weights are solved for
        return replace(solve_weights(replace(plan, side=Side.EQUAL)), plan=plan)
    rows, values = conditions(plan)
    pseudo_inverse = np.linalg.pinv(rows)
    base = pseudo_inverse @ values
    directions = np.linalg.svd(rows)[2][len(rows) :].T
    weights = base + directions @ _minimise(plan, base, directions) if directions.size else base
    for _ in range(2):  # the second step removes the rounding that the first one leaves
        weights = weights - pseudo_inverse @ (rows @ weights - values)
    weights = weights / plan.unit
    return Weights(plan, tuple(map(float, weights)), bias_of(plan, weights))


def bias_of(plan: Plan, weights: Vector) -> Bias:
    r"""The worst bias over the class of any weights.

    **Errors:** none below. Between two points of the grid, $f(w) = \sum k_i x_i^{-w}$ exceeds the larger of its two
    ends by at most $h^2/8 \max|f''|$, and $|f''| \le \sum |k_i| \log^2 x_i\, x_i^{-w}$ falls with $w$; both are added.
    """
    allowed, x = plan.corrections, plan.relative_sizes
    magnitude, logs = np.abs(weights), np.log(x)
    powers = np.linspace(allowed.slowest, allowed.fastest, _REPORTING_POINTS)
    decays = x ** -powers[:, None]
    at_grid = np.abs(decays @ weights)
    curvature = decays[:-1] @ (magnitude * logs**2)
    between = np.maximum(at_grid[:-1], at_grid[1:]) + np.diff(powers) ** 2 / 8 * curvature
    return Bias(
        corrections=allowed.size * float(between.max()),
        rest=allowed.remainder * float(magnitude @ x**-allowed.remainder_order) if allowed.remainder else 0.0,
        log=allowed.log * abs(float(weights @ plan.log_term)) if 0 < allowed.log < math.inf else 0.0,
        loglog=allowed.loglog * abs(float(weights @ plan.loglog_term)) if 0 < allowed.loglog < math.inf else 0.0,
        given=float(magnitude @ plan.given_errors),
    )


def spare_directions(plan: Plan) -> Matrix:
    """Orthonormal weights, one a row, that see neither the claimed form nor any free power: what they see is misfit.

    Powers of log n beyond the conditions, in order: curvature comes first.
    """
    rows, _ = conditions(plan)
    if len(plan.sizes) == len(rows):
        return np.zeros((0, len(plan.sizes)))
    logs = np.log(plan.relative_sizes)
    degrees = np.polynomial.chebyshev.chebvander(2 * logs / logs[-1] - 1, len(logs) - 1)[:, len(rows) :]
    basis = np.linalg.qr(np.concatenate([rows.T, degrees], axis=1))[0].T
    return basis[len(rows) :]


def _minimise(plan: Plan, base: Vector, directions: Matrix) -> Vector:
    """Coordinates v of the weights ``base + directions v``: linear cones for the bias, one second-order cone for noise.

    The unknowns are v, one bound for each term of the objective, and |k_i|: every absolute value |g.k| <= u becomes the
    two rows g.k - u <= 0 and -g.k - u <= 0.
    """
    allowed, x, count = plan.corrections, plan.relative_sizes, len(base)
    groups: list[tuple[Matrix, Vector]] = []  # functionals of k, and the cost of a bound that they share or have each
    if allowed.size:
        powers = np.linspace(allowed.slowest, allowed.fastest, _SOLVING_POINTS)
        groups.append((x ** -powers[:, None], np.array([allowed.size])))
    each = np.asarray(plan.given_errors) + (allowed.remainder * x**-allowed.remainder_order if allowed.remainder else 0)
    fewest = plan.residual_df if plan.policy is Policy.SINGLE else min(plan.planned_draws) - 1
    if plan.adds_up:
        each = each + critical_value(plan, fewest, plan.levels.support) * plan.sd_of_means
    if each.any():
        groups.append((np.eye(count), each))
    if 0 < allowed.log < math.inf:
        groups.append((plan.log_term[None], np.array([allowed.log])))
    if 0 < allowed.loglog < math.inf:
        groups.append((plan.loglog_term[None], np.array([allowed.loglog])))
    root = plan.root_covariance
    noisy = bool(root.any()) and not plan.adds_up
    free = directions.shape[1]
    width = free + sum(len(cost) for _, cost in groups) + noisy
    if width == free:
        return np.zeros(free)
    objective, blocks, bounds, at = np.zeros(width), [], [], free
    for functionals, cost in groups:
        for sign in (1.0, -1.0):
            block = np.zeros((len(functionals), width))
            block[:, :free] = sign * functionals @ directions
            block[:, at : at + len(cost)] = -np.eye(len(cost)) if len(cost) > 1 else -1.0
            blocks.append(block)
            bounds.append(-sign * functionals @ base)
        objective[at : at + len(cost)] = cost
        at += len(cost)
    cones = [clarabel.NonnegativeConeT(sum(map(len, bounds)))] if bounds else []
    if noisy:
        # A design of several sizes with different draws is planned with the fewest: a larger quantile, never a smaller.
        quantile = critical_value(plan, fewest, plan.levels.support)
        block = np.zeros((1 + count, width))
        block[0, -1] = -1.0
        block[1:, :free] = -quantile * root @ directions
        blocks.append(block)
        bounds.append(np.concatenate([[0.0], quantile * root @ base]))
        objective[-1] = 1.0
        cones.append(clarabel.SecondOrderConeT(1 + count))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix((width, width)),
        objective,
        sparse.csc_matrix(np.concatenate(blocks)),
        np.concatenate(bounds),
        cones,
        settings,
    ).solve()
    found = np.asarray(solution.x)[:free]
    # Any v gives weights that meet the conditions: an unfinished solve is only wider. A solve without numbers is not.
    return found if np.isfinite(found).all() else np.zeros(free)
