"""Rules that are common instead: fits, intervals without bias, and tests whose silence is read as truth.

Every rule answers the same question on the same data; where it knows one answer only, not supported counts as refuted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import betaincinv, ndtri, stdtr, stdtrit

from benchmarks.calibration.cases import Outcome

Rule = Callable[[Any], Outcome]


def _says(supported: bool, refuted: bool | None = None) -> Outcome:
    """Where a rule can do both, refuted comes before supported, as everywhere."""
    against = not supported if refuted is None else refuted
    return Outcome(float(against), float(supported and not against), float(supported))


# --- exponents -----------------------------------------------------------------------------------------------------


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Slope, its standard error and R^2 of a least-squares line."""
    dx, dy = x - x.mean(), y - y.mean()
    slope = float(dx @ dy / (dx @ dx))
    rest = dy - slope * dx
    total = float(dy @ dy)
    error = math.sqrt(float(rest @ rest) / (len(x) - 2) / float(dx @ dx)) if len(x) > 2 else 0.0
    return slope, error, 1 - float(rest @ rest) / total


def r_squared(sizes: Sequence[float], exponent: float, margin: float, slope_too: bool = True) -> Rule:
    """R^2 above 0.99 in the log-log plot and, where asked, the slope within the margin."""
    x = np.log(sizes)

    def rule(table: np.ndarray) -> Outcome:
        slope, _, r2 = _line(x, np.log(np.atleast_2d(table).mean(axis=0)))
        return _says(r2 > 0.99 and (not slope_too or abs(slope - exponent) < margin))

    return rule


def least_squares(sizes: Sequence[float], exponent: float) -> Rule:
    """The 95 % interval of ordinary least squares on the log-log plot contains the exponent."""
    x = np.log(sizes)
    quantile = float(stdtrit(len(x) - 2, 0.975))

    def rule(table: np.ndarray) -> Outcome:
        slope, error, _ = _line(x, np.log(table.mean(axis=0)))
        return _says(abs(slope - exponent) <= quantile * error)

    return rule


def pooled(sizes: Sequence[float], exponent: float) -> Rule:
    """The same on all draws as if each point were independent of every other."""

    def rule(table: np.ndarray) -> Outcome:
        x, y = np.tile(np.log(sizes), len(table)), np.log(table).ravel()
        slope, error, _ = _line(x, y)
        return _says(abs(slope - exponent) <= float(stdtrit(len(x) - 2, 0.975)) * error)

    return rule


def bootstrap(sizes: Sequence[float], exponent: float, resamples: int = 200) -> Rule:
    """Weighted least squares on log means; the percentile interval over resampled seeds contains the exponent."""
    x = np.log(sizes)
    generator = np.random.default_rng(0)
    picks: dict[tuple[int, int], np.ndarray] = {}

    def rule(table: np.ndarray) -> Outcome:
        m, count = table.shape
        if (m, count) not in picks:  # one set of resamples for all replicates: only the data vary
            picks[m, count] = generator.integers(0, m, (resamples, m, count))
        means = np.take_along_axis(table[None], picks[m, count], axis=1).mean(axis=1)
        variances = table.var(axis=0, ddof=1) / m / table.mean(axis=0) ** 2
        w = 1 / np.maximum(variances, 1e-300)
        centred = x - w @ x / w.sum()
        slopes = np.log(means) @ (w * centred) / float(w @ centred**2)
        low, high = np.quantile(slopes, [0.025, 0.975])
        return _says(bool(low <= exponent <= high))

    return rule


def with_one_correction(sizes: Sequence[float], exponent: float, margin: float) -> Rule:
    """Weighted least squares with a term in 1/n, its t interval held inside the margin (two one-sided tests)."""
    n = np.asarray(sizes, float)
    design = np.stack([np.log(n), np.ones_like(n), n[0] / n], axis=1)

    def rule(table: np.ndarray) -> Outcome:
        m = len(table)
        sd = np.sqrt(table.var(axis=0, ddof=1) / m) / table.mean(axis=0)
        inverse = np.linalg.inv((design / sd[:, None] ** 2).T @ design)
        estimate = inverse @ (design / sd[:, None] ** 2).T @ np.log(table.mean(axis=0))
        off, error = abs(float(estimate[0]) - exponent), math.sqrt(inverse[0, 0])
        quantile = float(stdtrit(m - 1, 0.975))
        return _says(off + quantile * error < margin, off > float(stdtrit(m - 1, 0.9875)) * error)

    return rule


def independent_sizes(sizes: Sequence[float], exponent: float, margin: float) -> Rule:
    """Least-squares exponent with the variances of the sizes added as if their draws were not shared."""
    x = np.log(sizes)
    k = (x - x.mean()) / float((x - x.mean()) @ (x - x.mean()))

    def rule(table: np.ndarray) -> Outcome:
        logs, m = np.log(table), len(table)
        off = abs(float(k @ logs.mean(axis=0)) - exponent)
        error = math.sqrt(float(k**2 @ logs.var(axis=0, ddof=1)) / m)
        df = m - 1
        return _says(off + float(stdtrit(df, 0.975)) * error < margin, off > float(stdtrit(df, 0.9875)) * error)

    return rule


def does_not_grow(sizes: Sequence[float], exponent: float) -> Rule:
    """O(n^a) read as "the last value over n^a exceeds the first by no more than a tenth"."""
    n = np.asarray(sizes, float)

    def rule(table: np.ndarray) -> Outcome:
        q = table.mean(axis=0) / n**exponent
        return _says(bool(q[-1] <= 1.1 * q[0]))

    return rule


# --- sequences without randomness ----------------------------------------------------------------------------------


def last_pair(exponent: float, margin: float) -> Rule:
    """The local exponent of the last two values lies within the margin."""
    return lambda row: _says(abs(math.log2(row[-1] / row[-2]) - exponent) < margin)


def three_grids(exponent: float, margin: float) -> Rule:
    """The observed order of the last three values lies within the margin."""

    def rule(row: np.ndarray) -> Outcome:
        ratio = (row[-3] - row[-2]) / (row[-2] - row[-1])
        return _says(ratio > 0 and abs(-math.log2(ratio) - exponent) < margin)

    return rule


def grid_convergence_index(limit: float = 0.0) -> Rule:
    """The band of the grid convergence index around the last value contains the limit."""

    def rule(row: np.ndarray) -> Outcome:
        ratio = (row[-3] - row[-2]) / (row[-2] - row[-1])
        if ratio <= 1:
            return _says(False)
        shift = (row[-1] - row[-2]) / (ratio - 1)
        # The extrapolated value with the safety factor 1.25 of three grids.
        return _says(abs(row[-1] + shift - limit) <= 1.25 * abs(shift))

    return rule


# --- means and limits ----------------------------------------------------------------------------------------------


def not_significant(to: float) -> Rule:
    """A t-test at the largest size does not reject, at 0.05."""

    def rule(table: np.ndarray) -> Outcome:
        last = table[:, -1] if table.ndim == 2 else table
        t = abs(last.mean() - to) / (last.std(ddof=1) / math.sqrt(len(last)))
        return _says(2 * float(stdtr(len(last) - 1, -t)) > 0.05)

    return rule


def equivalence_at_the_largest(to: float, margin: float) -> Rule:
    """Two one-sided tests at the largest size, which test the mean there and not the limit."""

    def rule(table: np.ndarray) -> Outcome:
        last = table[:, -1]
        off, error = abs(last.mean() - to), last.std(ddof=1) / math.sqrt(len(last))
        df = len(last) - 1
        return _says(off + float(stdtrit(df, 0.975)) * error < margin, off > float(stdtrit(df, 0.9875)) * error)

    return rule


def regression_on_the_inverse_size(sizes: Sequence[float], to: float, margin: float) -> Rule:
    """The intercept of a line in 1/n, with the interval of its residuals."""
    x = 1 / np.asarray(sizes, float)
    quantile, two_sided = float(stdtrit(len(x) - 2, 0.975)), float(stdtrit(len(x) - 2, 0.9875))

    def rule(table: np.ndarray) -> Outcome:
        y = table.mean(axis=0)
        slope, error, _ = _line(x, y)
        intercept = float(y.mean() - slope * x.mean())
        dx = x - x.mean()
        at_zero = error * math.sqrt(float(dx @ dx) / len(x) + x.mean() ** 2)
        return _says(abs(intercept - to) + quantile * at_zero < margin, abs(intercept - to) > two_sided * at_zero)

    return rule


# --- probabilities -------------------------------------------------------------------------------------------------


def point_estimate(p0: float) -> Rule:
    """The observed share is at least p0."""
    return lambda outcomes: _says(float(np.mean(outcomes)) >= p0)


def all_passed() -> Rule:
    """Every draw was a success."""
    return lambda outcomes: _says(bool(np.all(outcomes)))


def wald(p0: float, margin: float) -> Rule:
    """The normal interval of a share, at the levels of the engine's tests."""

    def rule(outcomes: np.ndarray) -> Outcome:
        share = float(np.mean(outcomes))
        half = float(ndtri(0.975)) * math.sqrt(share * (1 - share) / len(outcomes))
        return _says(share - half > p0 - margin, share + half < p0)

    return rule


def peeking(p0: float, margin: float, every: int = 10) -> Rule:
    """Clopper-Pearson asked after every tenth draw, the first answer kept."""

    def rule(outcomes: np.ndarray) -> Outcome:
        looks = np.arange(every, len(outcomes) + 1, every)
        successes = np.cumsum(outcomes)[looks - 1]
        with np.errstate(invalid="ignore"):
            upper = np.where(successes == looks, 1.0, betaincinv(successes + 1, looks - successes, 0.975))
            lower = np.where(successes == 0, 0.0, betaincinv(successes, looks - successes + 1, 0.025))
        against, for_ = np.flatnonzero(upper < p0), np.flatnonzero(lower > p0 - margin)
        first_against = against[0] if against.size else len(looks)
        first_for = for_[0] if for_.size else len(looks)
        return _says(bool(first_for < first_against), bool(first_against < first_for))

    return rule


# --- laws ----------------------------------------------------------------------------------------------------------


def kolmogorov_smirnov() -> Rule:
    """A Kolmogorov-Smirnov test against the claimed law does not reject at the largest size, at 0.05."""
    return lambda samples: _says(float(stats.kstest(samples[-1], "norm").pvalue) > 0.05)


def jarque_bera() -> Rule:
    """A test of skewness and kurtosis does not reject at the largest size, at 0.05."""
    return lambda samples: _says(float(stats.jarque_bera(samples[-1]).pvalue) > 0.05)
