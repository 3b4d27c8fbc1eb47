"""The search for noise on which a bound fails: ascents from the worst draws and from structured starts.

What is climbed is the relative excess, left minus right over the size of both. The noise is a vector of scores, quantiles
of a normal law between -6 and 6, so every point that is looked at is a draw that the law can make.

Starts are the worst draws; the same scaled; sparse; with rows made alike; at the corners. The best of them are
climbed by the quasi-Newton method L-BFGS-B in rounds: after each round the lower half is given up. Where the
derivative is zero, no number or missing, an evolution strategy takes over: random steps, of all entries or of a few,
whose length follows the share of steps that climb. The number of evaluations is fixed beforehand, and so is every
random number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from theorax.numerics.arithmetics.noise_inputs import FARTHEST

__all__ = ["Climb", "Height", "NoisePoint", "search_noise", "structured_starts"]

Vector = NDArray[np.float64]
CLIMBERS = 8
"""Starts that are climbed, each of them for a round at least."""
EXPLORED = 6
"""One in so many evaluations looks at structured starts."""
CONVERGED = 0.01
"""The share of a clear excess that ends the search where a climber has used up its evaluations."""
SHORTEST = 1e-5
"""The step, as a share of the norm of the scores, below which an evolution is at its end."""


@final
@dataclass(frozen=True)
class NoisePoint:
    """Scores of the noise, and the number of the draw that everything left as drawn is taken from."""

    scores: Vector
    draw: int


@final
@dataclass(frozen=True)
class Height:
    """The relative excess at a place; minus infinity where the claim says nothing there. ``slope``: its gradient, if any."""

    excess: float
    slope: Vector | None = None


@final
@dataclass
class Climb:
    """A search so far: the best place of each climber, and the number of evaluations."""

    height: Callable[[NoisePoint, bool], Height]
    left: int
    enough: float
    best: dict[int, tuple[float, NoisePoint]] = field(default_factory=dict)

    def at(self, place: NoisePoint, climber: int, *, slope: bool = False) -> Height:
        """The height at a place, counted and remembered.

        **Raises:** StopIteration once there are no evaluations left, or a clear excess is found.
        """
        if self.left <= 0 or self.top >= self.enough:
            raise StopIteration
        self.left -= 1
        found = self.height(place, slope)
        if climber not in self.best or found.excess > self.best[climber][0]:
            self.best[climber] = (found.excess, place)
        return found

    @property
    def top(self) -> float:
        """The largest excess so far."""
        return max((excess for excess, _ in self.best.values()), default=-math.inf)

    @property
    def ranked(self) -> list[tuple[float, NoisePoint]]:
        """The best place of each climber, the highest first."""
        return sorted(self.best.values(), key=lambda each: -each[0])


def search_noise(
    height: Callable[[NoisePoint, bool], Height],
    worst: Sequence[NoisePoint],
    blocks: Sequence[NDArray[np.int64]],
    evaluations: int,
    rng: np.random.Generator,
    enough: float,
) -> list[tuple[float, NoisePoint]]:
    """The best places that so many evaluations of ``height(place, with_slope)`` find, the highest first.

    ``worst``: draws at which the claim is nearest to failing. ``blocks``: the arrays that the program draws, as positions
    in the scores; entries that are one number have one position. Without them the search starts from draws alone. It
    ends early at an excess of ``enough``, or at a smaller one that a climber has come to.
    """
    climb = Climb(height, evaluations, enough)
    starts = [*worst, *structured_starts(worst, blocks, evaluations // EXPLORED, rng)]
    heights: list[float] = []
    try:
        for number, start in enumerate(starts):
            heights.append(climb.at(start, -1 - number).excess)
        order = sorted(range(len(starts)), key=lambda number: -heights[number])
        # Half are the best; the others are spread over all, so that one basin does not take every start.
        half = order[: CLIMBERS // 2]
        others = order[len(half) :]
        rest = [others[at] for at in np.linspace(0, len(others) - 1, CLIMBERS - len(half)).astype(int) if others]
        running = [-1 - number for number in dict.fromkeys([*half, *rest])]
        while running and climb.left > 0:
            share = max(8, climb.left // (2 * len(running)))
            for climber in running:
                _ascend(climb, climber, share, rng)
                if climb.top > enough * CONVERGED:
                    return climb.ranked
            running.sort(key=lambda climber: -climb.best[climber][0])
            running = running[: max(1, len(running) // 2)]
    except StopIteration:
        pass
    return climb.ranked


def structured_starts(
    worst: Sequence[NoisePoint], blocks: Sequence[NDArray[np.int64]], count: int, rng: np.random.Generator
) -> Iterator[NoisePoint]:
    """Starts that draws never hit: scaled, sparse, aligned, at corners; of each kind in turn."""
    kinds = (_scaled, _aligned, _sparse, _cornered, _few_apart)
    for number in range(count if worst and blocks else 0):
        begun = worst[number // len(kinds) % len(worst)]
        turn = number // (len(kinds) * len(worst))
        scores = kinds[number % len(kinds)](begun.scores.copy(), blocks, turn, rng)
        yield NoisePoint(np.clip(scores, -FARTHEST, FARTHEST), begun.draw)


def _scaled(scores: Vector, blocks: Sequence[NDArray[np.int64]], turn: int, rng: np.random.Generator) -> Vector:
    scale: float = (0.1, 3.0, 0.01, 10.0, -1.0)[turn % 5]
    return scores * scale


def _aligned(scores: Vector, blocks: Sequence[NDArray[np.int64]], turn: int, rng: np.random.Generator) -> Vector:
    """Rows of one array, or arrays of one shape, made nearly alike: up to their sign in each second turn."""
    near = (0.01, 0.1, 1e-4)[turn // 2 % 3]
    sign = 1.0 if turn % 2 == 0 else -1.0
    first: dict[tuple[int, ...], Vector] = {}
    for block in blocks:
        rows = block if block.ndim > 1 else block[None]
        for row in rows:
            model = first.setdefault(row.shape, scores[row].copy())
            is_model = np.array_equal(model, scores[row])
            scores[row] = model if is_model else sign * model + near * (scores[row] - model)
    return scores


def _sparse(scores: Vector, blocks: Sequence[NDArray[np.int64]], turn: int, rng: np.random.Generator) -> Vector:
    """A few large entries of each array, the others nearly zero."""
    found = 1e-2 * scores
    for block in blocks:
        places = block.ravel()
        if places.size:
            kept = rng.choice(places, size=min(places.size, 1 + turn % 3), replace=False)
            found[kept] = np.sign(scores[kept]) * rng.uniform(1, 5, kept.size)
    return found


def _cornered(scores: Vector, blocks: Sequence[NDArray[np.int64]], turn: int, rng: np.random.Generator) -> Vector:
    """All entries equal in size: of the signs drawn, or of one sign in each second turn."""
    size: float = (1.0, 3.0, 5.0)[turn // 2 % 3]
    return size * np.sign(scores) if turn % 2 == 0 else np.full_like(scores, size) * np.sign(scores[0] or 1.0)


def _few_apart(scores: Vector, blocks: Sequence[NDArray[np.int64]], turn: int, rng: np.random.Generator) -> Vector:
    """The draw with a few entries elsewhere."""
    count = 1 + turn % 4
    moved = rng.choice(scores.size, size=min(count, scores.size), replace=False)
    scores[moved] = rng.uniform(-FARTHEST, FARTHEST, moved.size)
    return scores


def _ascend(climb: Climb, climber: int, share: int, rng: np.random.Generator) -> None:
    """Climb from the best place of this climber with so many evaluations."""
    end = climb.left - share
    _, begun = climb.best[climber]
    first = climb.at(begun, climber, slope=True)
    if first.slope is not None and _leads(first.slope):
        before = climb.best[climber][0]
        _quasi_newton(climb, climber, end, first.slope)
        if climb.best[climber][0] > before or climb.left <= end:
            return
    _evolve(climb, climber, end, rng)


def _leads(slope: Vector) -> bool:
    return bool(np.isfinite(slope).all()) and bool(np.any(slope))


class _Ended(Exception):
    """A share of evaluations is used up."""


def _quasi_newton(climb: Climb, climber: int, end: int, slope: Vector) -> None:
    _, begun = climb.best[climber]

    # The first step is as long as the slope: of a unit slope it neither stalls nor leaves the law.
    unit = float(np.linalg.norm(slope))

    def falls(scores: Vector) -> tuple[float, Vector]:
        if climb.left <= end:
            raise _Ended
        found = climb.at(NoisePoint(np.clip(scores, -FARTHEST, FARTHEST), begun.draw), climber, slope=True)
        # Where the claim says nothing, the line search turns back.
        if not math.isfinite(found.excess):
            return 2.0 / unit, np.zeros_like(scores)
        if found.slope is None or not _leads(found.slope):
            return -found.excess / unit, np.zeros_like(scores)
        return -found.excess / unit, -found.slope / unit

    bounds = [(-FARTHEST, FARTHEST)] * len(begun.scores)
    options = {"maxfun": climb.left - end, "maxiter": climb.left, "ftol": 0.0, "gtol": 0.0, "maxcor": 10}
    try:
        minimize(falls, begun.scores, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    except _Ended:
        return


def _evolve(climb: Climb, climber: int, end: int, rng: np.random.Generator) -> None:
    """Random steps that are taken where they climb: a fifth of them should."""
    length, count = 0.3, 0
    while climb.left > end and length > SHORTEST:
        height, here = climb.best[climber]
        step = rng.standard_normal(here.scores.size)
        if count % 2 and step.size > 3:  # a few entries alone
            step *= rng.random(step.size) < 3 / step.size
        scale = max(float(np.sqrt(np.mean(here.scores**2))), 0.1)
        there = NoisePoint(np.clip(here.scores + length * scale * step, -FARTHEST, FARTHEST), here.draw)
        climbs = climb.at(there, climber).excess > height
        length, count = length * (1.5 if climbs else 0.9), count + 1
