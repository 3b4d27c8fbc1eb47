r"""Laws of samples: how often the scatter of the empirical law over draws is called vanishing, where it does and where not.

Draws hold k values each. Values of one draw that are independent, or nearly uncorrelated like eigenvalues, scatter less as
their number grows; copies of one number, a common factor, or a random scale scatter at every size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from theorax.decide.designs import Policy
from theorax.decide.law_features import features_of_samples, gauss_hermite
from theorax.decide.self_averaging import scatter_of

__all__ = ["SAMPLES", "Sampled", "rate"]

SIZES = (16, 32, 64)
LEVEL = 0.025
FREQUENCIES = gauss_hermite()


@dataclass(frozen=True)
class Sampled:
    """A law of the values of one draw; ``left``: the root mean square scatter that stays as sizes grow, over the margin."""

    name: str
    draw: Callable[[Generator, int, int], np.ndarray]  # draws x values, at a size
    margin: float
    draws: int
    left: float


def _common(share: float) -> Callable[[Generator, int, int], np.ndarray]:
    """Normal numbers with a common part of this variance."""

    def draw(rng: Generator, size: int, draws: int) -> np.ndarray:
        own, common = rng.standard_normal((draws, 2 * size)), rng.standard_normal((draws, 1))
        return math.sqrt(1 - share) * own + math.sqrt(share) * common

    return draw


def _limit_of_scatter(share: float) -> float:
    """Root mean square scatter in D of the law N(sqrt(s) Z, 1 - s) over Z, by the characteristic function."""
    t2 = np.asarray(FREQUENCIES.table)[:, 0] ** 2
    left = np.exp(-(1 - share) * t2) - np.exp(-t2)
    return math.sqrt(float(np.asarray(FREQUENCIES.weights) @ left))


def _share_at(margin: float) -> float:
    """The common variance whose scatter is just the margin."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _limit_of_scatter(middle) < margin else (low, middle)
    return high


def _independent(rng: Generator, size: int, draws: int) -> np.ndarray:
    return rng.standard_normal((draws, 2 * size))


def _spectrum(rng: Generator, size: int, draws: int) -> np.ndarray:
    """Eigenvalues of symmetric Gaussian matrices: the semicircle, whose linear statistics scatter by 1/n."""
    matrices = rng.standard_normal((draws, size, size))
    return np.linalg.eigvalsh((matrices + np.swapaxes(matrices, 1, 2)) / math.sqrt(2 * size))


def _covariance(rng: Generator, size: int, draws: int) -> np.ndarray:
    """Eigenvalues of sample covariances with twice as many points as features (Marchenko and Pastur)."""
    points = rng.standard_normal((draws, 2 * size, size))
    return np.linalg.eigvalsh(np.swapaxes(points, 1, 2) @ points / (2 * size))


def _scaled(rng: Generator, size: int, draws: int) -> np.ndarray:
    """A random scale in every draw."""
    return rng.standard_normal((draws, 2 * size)) * np.sqrt(rng.gamma(4, 1 / 4, (draws, 1)))


def _copies(rng: Generator, size: int, draws: int) -> np.ndarray:
    return np.repeat(rng.standard_normal((draws, 1)), 8, axis=1)


def _named(margin: float, draws: int) -> tuple[Sampled, ...]:
    return (
        Sampled("independent values", _independent, margin, draws, 0.0),
        Sampled("semicircle", _spectrum, margin, draws, 0.0),
        Sampled("Marchenko-Pastur", _covariance, margin, draws, 0.0),
        Sampled("common part, just at the margin", _common(_share_at(margin)), margin, draws, 1.0),
        Sampled("common part, 1.5 margins", _common(_share_at(1.5 * margin)), margin, draws, 1.5),
        Sampled("common part, half a margin", _common(_share_at(margin / 2)), margin, draws, 0.5),
        Sampled("random scale", _scaled, margin, draws, math.inf),
        Sampled("copies of one number", _copies, margin, draws, math.inf),
    )


SAMPLES = tuple(row for draws in (100, 300) for row in _named(0.09, draws))


def rate(row: Sampled, replicates: int, seed: int = 0) -> float:
    """How often the scatter is called vanishing."""
    called = 0
    for replicate in range(replicates):
        rng = np.random.default_rng((seed, replicate, row.draws))
        tables = [features_of_samples(row.draw(rng, size, row.draws), FREQUENCIES) for size in SIZES]
        called += scatter_of(tables, SIZES, Policy.INDEPENDENT, LEVEL).vanishes_within(row.margin)
    return called / replicates


def main(replicates: int = 200) -> None:
    """Print the table that `benchmarks/results/calibration_sample_laws.txt` holds."""
    print("The scatter of the law of one draw is called vanishing; sizes 16, 32, 64, level 0.025.")
    print(f"python -m benchmarks.calibration.sample_laws: {replicates} replicates of each row.")
    print(f"{'values of one draw':34}{'margin':>8}{'draws':>7}{'stays':>7}{'called vanishing':>18}")
    for row in SAMPLES:
        stays = "all" if math.isinf(row.left) else f"{row.left:g}"
        print(f"{row.name:34}{row.margin:8g}{row.draws:7d}{stays:>7}{rate(row, replicates):18.3f}", flush=True)


if __name__ == "__main__":
    main()
