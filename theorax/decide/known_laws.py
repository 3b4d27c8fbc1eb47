"""Laws that draws are held against, by their characteristic functions where they are looked at."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from theorax.decide.gaussian_norm import Shape
from theorax.decide.law_features import (
    Frequencies,
    features_of_characteristic,
    gauss_hermite,
    shape_of_characteristic,
)
from theorax.decide.plans import draw_counts, positive

__all__ = ["STRETCHES", "Exponential", "KnownLaw", "Normal", "Sample", "TabulatedLaw", "Uniform"]

Vector = NDArray[np.float64]

STRETCHES = (2.0, 0.5)
"""Factors of the spread that a margin with a meaning tells from one."""


@dataclass(frozen=True)
class KnownLaw(ABC):
    """A law of one number or several; abstract."""

    @property
    @abstractmethod
    def frequencies(self) -> Frequencies:
        """Frequencies at which its characteristic function is compared with that of the draws."""

    @abstractmethod
    def features(self, frequencies: Frequencies) -> Vector:
        """Features: its characteristic function at these frequencies."""

    @abstractmethod
    def stretched(self, frequencies: Frequencies) -> tuple[Vector, ...]:
        """Features of the laws twice as wide and half as wide."""

    @abstractmethod
    def noise(self, frequencies: Frequencies) -> Shape:
        """The noise of the features of one value."""


@dataclass(frozen=True)
class RealLaw(KnownLaw):
    """A law on the real line whose characteristic function is known everywhere; abstract."""

    @abstractmethod
    def characteristic(self, t: Vector) -> NDArray[Any]:
        """E exp(i t X)."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """Spread of the law, which sets the frequencies."""

    @abstractmethod
    def wider(self, factor: float) -> RealLaw:
        """The law with its deviations from the centre stretched."""

    @property
    def frequencies(self) -> Frequencies:
        return _frequencies(self.scale)

    def features(self, frequencies: Frequencies) -> Vector:
        return features_of_characteristic(self.characteristic(frequencies.table[:, 0]), frequencies)

    def stretched(self, frequencies: Frequencies) -> tuple[Vector, ...]:
        return tuple(self.wider(factor).features(frequencies) for factor in STRETCHES)

    def noise(self, frequencies: Frequencies) -> Shape:
        return _noise(self, frequencies)


@lru_cache(maxsize=256)
def _frequencies(scale: float) -> Frequencies:
    return gauss_hermite(scale)


@lru_cache(maxsize=256)
def _noise(law: RealLaw, frequencies: Frequencies) -> Shape:
    return shape_of_characteristic(law.characteristic, frequencies)


@final
@dataclass(frozen=True)
class TabulatedLaw(KnownLaw):
    """A law that is known at these frequencies alone, with the noise of one value's features.

    ``stretched_values`` are those of the laws twice as wide and half as wide.
    """

    at: Frequencies
    values: tuple[complex, ...]
    stretched_values: tuple[tuple[complex, ...], ...]
    shape: Shape
    name: str = "the claimed law"

    @property
    def frequencies(self) -> Frequencies:
        return self.at

    def features(self, frequencies: Frequencies) -> Vector:
        assert frequencies == self.at
        return features_of_characteristic(self.values, frequencies)

    def stretched(self, frequencies: Frequencies) -> tuple[Vector, ...]:
        assert frequencies == self.at
        return tuple(features_of_characteristic(values, frequencies) for values in self.stretched_values)

    def noise(self, frequencies: Frequencies) -> Shape:
        return self.shape

    def __str__(self) -> str:
        return self.name


@final
@dataclass(frozen=True)
class Normal(RealLaw):
    """The normal law."""

    mean: float = 0.0
    sd: float = 1.0

    def __post_init__(self) -> None:
        positive("sd", self.sd, "the standard deviation of a normal law")

    def characteristic(self, t: Vector) -> NDArray[Any]:
        return np.exp(1j * self.mean * t - (self.sd * t) ** 2 / 2)

    @property
    def scale(self) -> float:
        return self.sd

    def wider(self, factor: float) -> RealLaw:
        return Normal(self.mean, factor * self.sd)

    def __str__(self) -> str:
        return f"normal({self.mean:g}, {self.sd:g})"


@final
@dataclass(frozen=True)
class Uniform(RealLaw):
    """The uniform law on an interval."""

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        positive("high - low", self.high - self.low, "the length of an interval")

    def characteristic(self, t: Vector) -> NDArray[Any]:
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        return np.exp(1j * middle * t) * np.sinc(half * t / math.pi)

    @property
    def scale(self) -> float:
        return (self.high - self.low) / math.sqrt(12)

    def wider(self, factor: float) -> RealLaw:
        middle, half = (self.low + self.high) / 2, factor * (self.high - self.low) / 2
        return Uniform(middle - half, middle + half)

    def __str__(self) -> str:
        return f"uniform({self.low:g}, {self.high:g})"


@final
@dataclass(frozen=True)
class Exponential(RealLaw):
    """The exponential law of this mean."""

    mean: float = 1.0

    def __post_init__(self) -> None:
        positive("mean", self.mean, "the mean of an exponential law")

    def characteristic(self, t: Vector) -> NDArray[Any]:
        return 1 / (1 - 1j * self.mean * t)

    @property
    def scale(self) -> float:
        return self.mean

    def wider(self, factor: float) -> RealLaw:
        return Exponential(factor * self.mean)

    def __str__(self) -> str:
        return f"exponential({self.mean:g})"


@final
@dataclass(frozen=True)
class Sample(RealLaw):
    """The unknown law of a second sample of so many draws, of about this scale: the two-sample question.

    Margin and width are planned as for a normal law of the scale.
    """

    draws: int
    spread: float

    def __post_init__(self) -> None:
        draw_counts(self.draws)
        positive("spread", self.spread, "the scale on which the two laws are compared")

    def characteristic(self, t: Vector) -> NDArray[Any]:
        return Normal(0.0, self.spread).characteristic(t)

    @property
    def scale(self) -> float:
        return self.spread

    def wider(self, factor: float) -> RealLaw:
        return Sample(self.draws, factor * self.spread)

    def __str__(self) -> str:
        return f"the law of {self.draws} reference draws"
