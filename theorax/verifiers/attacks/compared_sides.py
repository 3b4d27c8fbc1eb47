"""The two sides that a claim for all draws compares, in floats on one draw, and the derivative of their excess."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from sympy import Expr

from theorax.language import Absolute, Claim, Identity, Impossibility, Inequality, Measured, Relative
from theorax.verifiers.cases.evaluation import lambdified
from theorax.verifiers.cases.sweep_lines import Cell

__all__ = ["ComparedSides", "Excesses", "expressions_of", "letters_of"]

Letters = Mapping[str, np.ndarray]
_STEP = 1e-6


@final
@dataclass(frozen=True)
class Excesses:
    """Entry by entry on one draw: the excess of left over right and the slack, the size of both, and the sides."""

    excess: np.ndarray
    size: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @property
    def is_defined(self) -> bool:
        """True if every entry of both sides is a number."""
        return bool(np.isfinite(self.left).all() and np.isfinite(self.right).all() and self.left.size)

    def relative(self, typical: float) -> np.ndarray:
        """The excess over the size; ``typical`` sizes keep entries of rounding alone from counting."""
        return self.excess / (self.size + typical)

    @property
    def worst(self) -> int:
        """The place of the entry with the largest excess."""
        return int(np.argmax(self.excess))


def expressions_of(claim: Claim) -> tuple[Expr, Expr]:
    """The side that is claimed to be smaller, and the larger one; of an identity its sides."""
    if isinstance(claim, Identity):
        return claim.left, claim.right
    if isinstance(claim, Impossibility):
        return claim.at_least, claim.distance
    assert isinstance(claim, Inequality)
    return (claim.of, claim.at_most) if claim.at_most is not None else (claim.at_least, claim.of)


def letters_of(claim: Claim) -> list[Measured]:
    """The measured letters of both sides, in order."""
    return sorted({s for side in expressions_of(claim) for s in side.free_symbols if isinstance(s, Measured)}, key=str)


@final
class ComparedSides:
    """The sides of a claim at one case and size, as functions of the measured letters of a draw."""

    def __init__(self, claim: Claim, cell: Cell, size: int) -> None:
        self._claim, self._cell = claim, cell
        self.letters = letters_of(claim)
        exact = [cell.exact(side, size) for side in expressions_of(claim)]
        self.open = {s for side in exact for s in side.free_symbols} - set(self.letters)
        self._sides = [lambdified(side, tuple(self.letters)) for side in exact] if not self.open else []
        self._margin = claim.margin
        self._is_equation = isinstance(claim, Identity)

    def excesses(self, seen: Letters) -> Excesses:
        """The excesses of the claim in this draw; errors that `observe` declares are taken off the excess."""
        columns = [self._entries(letter, np.asarray(seen[letter.name], np.float64)) for letter in self.letters]
        found = self._of(columns)
        errors = [self._error(letter, seen) for letter in self.letters]
        if not any(np.any(error) for error in errors):
            return found
        moved = [
            self._of([column + sign * error for column, sign, error in zip(columns, signs, errors, strict=True)]).excess
            for signs in itertools.product((-1.0, 1.0), repeat=len(columns))
        ]
        return Excesses(np.minimum.reduce(moved), found.size, found.left, found.right)

    def weights(self, seen: Letters, typical: float) -> Letters:
        """The derivative of the largest relative excess along every entry of every letter."""
        columns = [self._entries(letter, np.asarray(seen[letter.name], np.float64)) for letter in self.letters]
        heights = self._of(columns).relative(typical)
        worst = int(np.argmax(heights))
        found = {name: np.zeros(np.shape(array)) for name, array in seen.items()}
        for place, letter in enumerate(self.letters):
            column = columns[place]
            step = _STEP * np.maximum(np.abs(column), _STEP * max(float(np.max(np.abs(column), initial=0)), 1e-300))
            ends = []
            for sign in (1.0, -1.0):
                moved = [*columns]
                moved[place] = column + sign * step
                ends.append(self._of(moved).relative(typical))
            slope = np.zeros(heights.shape)
            difference = (ends[0] - ends[1]).ravel()[worst]
            slope.ravel()[worst] = difference / np.broadcast_to(2 * step, heights.shape).ravel()[worst]
            into = self._entries(letter, found[letter.name])
            added = _summed_to(slope, into.shape)
            if into.shape == ():  # one entry of an array: a copy, not a view
                found[letter.name][self._chosen(letter, found[letter.name])] += added
            else:
                into += added
        return found

    def _of(self, columns: list[np.ndarray]) -> Excesses:
        with np.errstate(all="ignore"):
            left, right = (np.asarray(side(*columns), np.float64) for side in self._sides)
            left, right = np.broadcast_arrays(left, right)
            size = np.abs(left) + np.abs(right)
            excess = np.abs(left - right) if self._is_equation else left - right
            if isinstance(self._margin, Absolute):
                slack = float(self._margin.value)
                size = size + slack
            elif isinstance(self._margin, Relative) and self._is_equation:
                # A relative margin is one of the largest entry of either side.
                top = max(float(np.max(np.abs(side), initial=0)) for side in (left, right))
                slack, size = float(self._margin.value) * top, np.full(excess.shape, 2 * top)
            else:
                slack = 0.0
            return Excesses(excess - slack, size, left, right)

    def _chosen(self, letter: Measured, entries: np.ndarray) -> tuple[int, ...]:
        """Places along the letter's indices: arrays hold its values 1, 2, ... up to the largest, or those asked for."""
        places = []
        for axis, index in enumerate(letter.over):
            along, chosen = self._cell.line.along[index], self._cell.chosen[index]
            places.append(chosen - 1 if entries.shape[axis] == max(along) else along.index(chosen))
        return tuple(places)

    def _entries(self, letter: Measured, entries: np.ndarray) -> np.ndarray:
        return entries[self._chosen(letter, entries)] if letter.over else entries

    def _error(self, letter: Measured, seen: Letters) -> np.ndarray:
        error = seen.get(f"{letter.name}_error")
        if error is None:
            return np.zeros(())
        error = np.asarray(error, np.float64)
        return self._entries(letter, error) if error.ndim >= len(letter.over) else error


def _summed_to(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The sum over the axes along which this shape was broadcast."""
    values = values.sum(axis=tuple(range(values.ndim - len(shape))))
    axes = tuple(axis for axis, length in enumerate(shape) if length == 1 and values.shape[axis] != 1)
    return np.asarray(values.sum(axis=axes, keepdims=True) if axes else values)
