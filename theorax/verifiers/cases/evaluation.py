"""Expressions on what was observed: one number per draw, exact letters substituted before any rounding."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from sympy import Expr, Function, Symbol, lambdify

from theorax.language import Measured, Parameter
from theorax.numerics.key_use import KeyUse
from theorax.verifiers.cases.sweep_lines import NOTHING, Cell, SweepLine

Found = TypeVar("Found")


class Evaluations(dict[Any, Any]):
    """Results so far, by their place: handed on, so that a claim, its variants and its guards share the work."""

    def once(self, place: Any, compute: Callable[[], Found]) -> Found:
        """The result at this place; computed and kept there if there is none."""
        if place not in self:
            self[place] = compute()
        found: Found = self[place]
        return found


@dataclass(eq=False)
class Observed:
    """A line and what was drawn on it: for every size the measured letters' arrays, draws first.

    It is no value but an object with a memory. ``evaluations`` are those of these very draws; ``about_line`` holds for any
    number of draws of the line; ``programs`` are those of ``observe``, traced for any line so far.

    Where arrays are compared entry by entry there is no table: ``instances`` holds, for every size, the models
    themselves with the letters that ``observe`` reads, so that one program can be run on them in several arithmetics.
    ``model(size, draw)`` builds the model of one draw of the tables again, with the same letters. ``keys()`` is the use
    that the program of a draw makes of its keys, at the smallest size. ``size_reaches(letters)``: False if a draw of these
    letters is the same computation at the smallest and at the largest size. ``more(draws)``: the line with so many draws.
    ``dtype``: the precision of the experiment.
    """

    line: SweepLine
    tables: tuple[Mapping[str, np.ndarray], ...]
    errors: tuple[Mapping[str, np.ndarray], ...] = ()
    instances: Mapping[int, tuple[tuple[Any, Mapping[str, Any]], ...]] = field(default_factory=lambda: NOTHING)
    observe: Callable[..., Mapping[str, Any]] = dict
    model: Callable[[int, int], tuple[Any, Mapping[str, Any]]] | None = None
    keys: Callable[[], KeyUse] | None = None
    size_reaches: Callable[[Collection[str]], bool] | None = None
    more: Callable[[int], Observed] | None = None
    dtype: str = "float64"
    about_line: Evaluations = field(default_factory=Evaluations)
    programs: Evaluations = field(default_factory=Evaluations)
    evaluations: Evaluations = field(init=False, default_factory=Evaluations)

    def count(self, size: int) -> int:
        """The number of draws, or of instances, of this size."""
        return len(self.instances[size]) if self.instances else self.line.draws

    def instance(self, size: int, draw: int) -> tuple[Any, Mapping[str, Any]]:
        """The model of one draw, with the letters that ``observe`` reads."""
        if self.instances:
            return self.instances[size][draw]
        assert self.model is not None
        return self.model(size, draw)

    def with_instances(self) -> Observed:
        """The same line with the models behind its tables as ``instances``."""
        if self.instances:
            return self

        def build() -> Observed:
            draws = range(self.line.draws)
            return replace(
                self, instances={size: tuple(self.instance(size, at) for at in draws) for size in self.line.sizes}
            )

        return self.evaluations.once("with instances", build)


def evaluate_draws(expression: Expr, cell: Cell, observed: Observed, at: int) -> np.ndarray:
    """The expression on every draw at the ``at``-th size, exact letters substituted before any rounding.

    A sample letter yields (draws, values); every other expression one number per draw.
    """
    place = (expression, tuple(cell.chosen.items()), at)
    return observed.evaluations.once(
        place, lambda: _evaluate(expression, cell, observed.line.sizes[at], observed.tables[at])
    )


def roundings(expression: Expr, cell: Cell, observed: Observed, at: int) -> np.ndarray:
    """For every draw a bound on the error of the expression, from the bounds observe declared for its letters.

    **Errors:** the expression is evaluated with each letter moved by its bound in either direction, all together in the
    worst of the combinations; exact for expressions monotone in each letter over so short an interval.
    """
    bounds = observed.errors[at] if observed.errors else {}
    letters = [s for s in expression.free_symbols if isinstance(s, Measured) and s.name in bounds]
    if not letters:
        return np.zeros(1)
    size, table = observed.line.sizes[at], observed.tables[at]

    def worst() -> np.ndarray:
        middle = _evaluate(expression, cell, size, table)
        found = np.zeros_like(middle)
        for signs in itertools.product((-1.0, 1.0), repeat=len(letters)):
            moved = {s.name: table[s.name] + sign * bounds[s.name] for s, sign in zip(letters, signs, strict=True)}
            found = np.maximum(found, np.abs(_evaluate(expression, cell, size, {**table, **moved}) - middle))
        return found

    return observed.evaluations.once(("rounding", expression, tuple(cell.chosen.items()), at), worst)


def _evaluate(expression: Expr, cell: Cell, size: int, table: Mapping[str, np.ndarray]) -> np.ndarray:
    exact = cell.exact(expression, size)
    estimated = {
        s: float(np.mean(_column(s.measured, cell, table)))
        for s in exact.free_symbols
        if isinstance(s, Parameter) and s.measured is not None
    }
    exact = exact.subs(estimated)
    letters = sorted((s for s in exact.free_symbols if isinstance(s, Measured)), key=str)
    columns = [_column(letter, cell, table) for letter in letters]
    draws = len(next(iter(table.values())))
    # What is no number in some draw is no warning: whoever decides says what becomes of it.
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.asarray(lambdified(exact, tuple(letters))(*columns), dtype=float)
    return np.broadcast_to(values, columns[0].shape if columns else (draws,))


def _column(letter: Measured, cell: Cell, table: Mapping[str, np.ndarray]) -> np.ndarray:
    """The numbers of a letter, in 64 bits: short whole numbers would overflow in a product, and events have no difference."""
    column = np.asarray(table[letter.name], dtype=np.float64)
    for index in letter.over:
        column = column[:, cell.line.along[index].index(cell.chosen[index])]
    return column


@lru_cache(maxsize=4096)
def lambdified(expression: Expr, letters: tuple[Symbol, ...]) -> Any:
    # Functions that NumPy does not have, of numbers alone such as I_1(1): thirty digits, rounded once when read.
    numbers = {node: node.evalf(30) for node in expression.atoms(Function) if node.is_number}
    return lambdify(letters, expression.xreplace(numbers), "numpy")
