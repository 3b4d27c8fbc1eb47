r"""The search for a counterexample: floats propose points, balls decide at them.

A quarter of the evaluations each: uniform draws, Sobol points, structured points (corners, faces, ties, sparse points),
and ascents that start at the best of these. Uniform draws alone count towards what no violation excludes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from theorax.decide.inequalities import tightness_of
from theorax.decide.verdict import Tightness
from theorax.exact.branch_and_bound import Certificate, confirm, is_violated
from theorax.exact.enclosures import Box, Enclosure, fraction, rational
from theorax.exact.sobol_points import sobol_points
from theorax.numerics.arithmetics.custom_rules import entered
from theorax.numerics.arithmetics.failures import UnsupportedPrimitive
from theorax.numerics.arithmetics.flat_program import doubles

__all__ = ["FAMILIES", "Search", "ascents", "search_box", "structured", "tightness_at"]

Vector = NDArray[np.float64]
Program = Callable[[Any], Any]
FAMILIES = ("uniform", "Sobol", "structured", "ascent")
ROUNDS = 128
"""Steps of one ascent: 32 ascents of this length find a ball of radius 0.1 in eight dimensions (METHOD, section 4.1)."""
LONGEST, SHORTEST = 0.25, 2.0**-16
"""Lengths of the first and the last step of an ascent, as a share of the box."""
CANDIDATES = 16
"""Points handed to the balls, the worst first."""


@final
@dataclass(frozen=True)
class Search:
    """Result of a search: a confirmed counterexample, or the share of the box that its uniform draws speak for.

    ``worst``: the least value of the function in floats. ``family``: which points found it. ``violations``: of the
    ``draws`` uniform draws that balls looked at, those that violate the claim or are not known to satisfy it.
    """

    refuted: Certificate | None
    worst: float
    at: tuple[Fraction, ...]
    family: str
    evaluations: int
    draws: int
    violations: int
    undecided: int
    points: Vector


def search_box(
    function: Enclosure,
    program: Program,
    box: Box,
    rng: np.random.Generator,
    slack: Fraction = Fraction(0),
    evaluations: int = 4096,
    draws: int = 300,
    sides: tuple[Program, Program] | None = None,
    families: tuple[str, ...] = FAMILIES,
) -> Search:
    """Look for a point at which ``program``, which ``function`` encloses, is below minus the slack.

    ``sides``: the left and right side of which the program is the difference, right minus left; where both are
    positive, ascents also climb the logarithm of their ratio, which knows no scale. ``draws``: how many of the uniform
    draws, the first ones, are looked at in balls; the number is fixed beforehand.
    """
    share = max(1, evaluations // len(families))
    lower, upper = box.ends
    dimension = len(lower)
    unit = {"uniform": rng.random((max(share, draws), dimension))}
    unit["Sobol"] = sobol_points(dimension, share, rng)
    unit["structured"] = structured(dimension, share, rng)
    values = _batched(program, lower, upper)
    seen = {name: _finite(values(unit[name])) for name in families if name != "ascent"}
    climbers = 0
    if "ascent" in families:
        climbers = max(1, share // ROUNDS)
        pool = np.concatenate([unit[name] for name in seen] or [unit["uniform"][:climbers]])
        order = np.argsort(np.concatenate([seen[name] for name in seen] or [np.zeros(climbers)]), kind="stable")
        starts = _spread_out(pool[order], climbers, rng)
        unit["ascent"] = np.concatenate(
            [
                ascents(objective, lower, upper, starts[part::2] if len(starts) > 1 else starts, rng)
                for part, objective in enumerate(_objectives(program, sides)[: len(starts)])
            ]
        )
        seen["ascent"] = _finite(values(unit["ascent"]))
    every = np.concatenate([unit[name] for name in families])
    found = np.concatenate([seen[name] for name in families])
    names = np.concatenate([np.full(len(seen[name]), place) for place, name in enumerate(families)])
    order = np.argsort(found, kind="stable")[:CANDIDATES]
    exact = [box.exact(lower + (upper - lower) * every[place]) for place in order]
    suspects = [point for place, point in zip(order, exact, strict=True) if not found[place] > float(slack)]
    refuted = confirm(function, suspects, slack)
    below = undecided = 0
    for row in unit["uniform"][:draws] if refuted is None else ():
        answer = is_violated(function, box.exact(lower + (upper - lower) * row), rational(slack))[0]
        below += answer is True
        undecided += answer is None
    return Search(
        refuted=refuted,
        worst=float(found[order[0]]),
        at=tuple(map(fraction, exact[0])),
        family=families[int(names[order[0]])],
        evaluations=len(found) + climbers * ROUNDS,
        draws=draws,
        violations=below + undecided,
        undecided=undecided,
        points=lower + (upper - lower) * unit["uniform"],
    )


def structured(dimension: int, count: int, rng: np.random.Generator) -> Vector:
    """Points of the unit cube that random ones never hit: corners, faces, ties, points that are sparse or central."""
    points = rng.random((count, dimension))
    kind = np.arange(count) % 4
    ends = rng.integers(0, 2, (count, dimension)).astype(float)
    some = rng.random((count, dimension)) < 0.5
    points[kind == 0] = ends[kind == 0]
    points = np.where((kind == 1)[:, None] & some, ends, points)
    points = np.where((kind == 2)[:, None] & some, points[:, :1], points)
    return np.where((kind == 3)[:, None] & some, 0.5, points)


def ascents(
    objective: Program, lower: Vector, upper: Vector, starts: Vector, rng: np.random.Generator, rounds: int = ROUNDS
) -> Vector:
    """The best point of each of several projected ascents of ``objective`` from ``starts`` in the unit cube.

    The step has the direction of the gradient and a length that falls geometrically. Where the gradient vanishes or is
    no number, the direction is random and the step is taken if the objective grows: an ascent of the objective smoothed
    over the length of the step.
    """
    lengths = np.geomspace(LONGEST, SHORTEST, rounds)
    noise = rng.standard_normal((rounds, *starts.shape))
    try:
        climb = jax.jit(_climb(objective, lower, upper, entered(objective)))
        with doubles():
            best = np.asarray(climb(jnp.asarray(starts), jnp.asarray(noise), jnp.asarray(lengths)))
    except (UnsupportedPrimitive, TypeError, ValueError, NotImplementedError):
        # Without a derivative every step is a random one.
        with doubles():
            climb = jax.jit(_climb(objective, lower, upper, None))
            best = np.asarray(climb(jnp.asarray(starts), jnp.asarray(noise), jnp.asarray(lengths)))
    return np.clip(best, 0, 1)


def _climb(objective: Program, lower: Vector, upper: Vector, smooth: Program | None) -> Callable[..., Any]:
    def scaled(function: Program) -> Program:
        return lambda u: jnp.reshape(function(lower + (upper - lower) * u), ())

    def one(start: Any, noise: Any, lengths: Any) -> Any:
        value = scaled(objective)
        # Forward: a while loop has no reverse derivative, and there are few directions.
        slope = jax.jacfwd(scaled(smooth)) if smooth is not None else jnp.zeros_like

        def step(carry: Any, turn: Any) -> Any:
            here, best, height = carry
            direction, length = turn
            gradient = slope(here)
            size = jnp.linalg.norm(gradient)
            climbs = jnp.isfinite(size) & (size > 0)
            along = jnp.where(climbs, gradient / jnp.where(climbs, size, 1.0), direction / jnp.linalg.norm(direction))
            there = jnp.clip(here + length * along, 0.0, 1.0)
            reached = value(there)
            better = reached > height
            best, height = jnp.where(better, there, best), jnp.where(better, reached, height)
            return (jnp.where(climbs | better, there, here), best, height), None

        height = jnp.where(jnp.isfinite(value(start)), value(start), -jnp.inf)
        return jax.lax.scan(step, (start, start, height), (noise, lengths))[0][1]

    return jax.vmap(one, in_axes=(0, 1, None))


def tightness_at(sides: tuple[Program, Program], points: Vector) -> Tightness | None:
    """Quantiles of the left side over the right at these points; none where they have none."""
    with doubles():
        left, right = (jax.jit(jax.vmap(side))(jnp.asarray(points)) for side in sides)
    return tightness_of(left, right)


def _objectives(program: Program, sides: tuple[Program, Program] | None) -> tuple[Program, ...]:
    if sides is None:
        return (lambda x: -program(x),)
    left, right = sides

    def ratio(x: Any) -> Any:
        # No number where a side is not positive; there the ascent of the difference goes on alone.
        return jnp.log(left(x)) - jnp.log(right(x))

    return (lambda x: -program(x), ratio)


def _batched(program: Program, lower: Vector, upper: Vector) -> Callable[[Vector], Vector]:
    compiled = jax.jit(jax.vmap(lambda u: jnp.reshape(program(lower + (upper - lower) * u), ())))

    def values(unit: Vector) -> Vector:
        with doubles():
            return np.asarray(compiled(jnp.asarray(unit)), dtype=float)

    return values


def _finite(values: Vector) -> Vector:
    """Values with NaN before every number: points at which the claim has no meaning are examined first."""
    return np.where(np.isnan(values), -np.inf, values)


def _spread_out(ranked: Vector, count: int, rng: np.random.Generator) -> Vector:
    """Half of the starts are the best points, the others are drawn from all: one basin must not take every start."""
    best = (count + 1) // 2
    return np.concatenate([ranked[:best], ranked[rng.integers(0, len(ranked), count - best)]])
