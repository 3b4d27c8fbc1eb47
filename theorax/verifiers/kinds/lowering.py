"""The common part of all lowerings: cells, the plan of a cell, the decision on a cell."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, TypeVar

from sympy import Expr, sympify

from theorax.decide.moments import DeclaredMoments, Moment, declared
from theorax.decide.plans import Planned, Seeds, Tested
from theorax.decide.samples import Columns
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reason, Side
from theorax.decide.verdict import Point
from theorax.language import Absolute, Claim
from theorax.verifiers.cases import sweep_lines
from theorax.verifiers.cases.evaluation import Observed, evaluate, roundings
from theorax.verifiers.cases.sweep_lines import Cell, SweepLine

C = TypeVar("C", bound=Claim)


@dataclass(frozen=True)
class Prepared:
    """One case of a claim before any data: the claimed value, the margin around it, and the plan it was lowered to.

    ``plan`` is what `theorax.decide` decides by; None where nothing is estimated. ``levels`` are then those of the case.
    ``sign``: +1, or -1 where the decided quantity is minus the one a reader sees (a decay exponent).
    """

    cell: Cell
    claimed: float
    margin: float
    side: Side = Side.EQUAL
    sign: int = 1
    levels: Levels = DEFAULT_LEVELS
    plan: Planned | None = None

    def repeated(self) -> Prepared:
        """The same case for one repetition of a control, at fewer draws than a claim is decided on."""
        return self if self.plan is None else replace(self, plan=self.plan.repeated())

    @property
    def bias(self) -> float | None:
        """The worst bias of the declared class; None where nothing is extrapolated from."""
        return None if self.plan is None else self.plan.bias

    @property
    def half_width(self) -> float | None:
        """Margins below it cannot be supported; None for what is not decided from an interval."""
        return None if self.plan is None else self.plan.half_width

    @property
    def noticeable(self) -> float | None:
        """The deviation that is refuted with probability 0.9; None where there is none."""
        return None if self.plan is None or math.isinf(self.plan.noticeable) else self.plan.noticeable

    @property
    def weakness(self) -> str:
        """The sentence why this design cannot decide, with the cheapest that would; empty where it can."""
        return "" if self.plan is None else self.plan.weakness

    @property
    def why_not(self) -> Reason | None:
        """The reason why this design cannot decide, as a code; None where it can."""
        return None if self.plan is None else self.plan.why_not

    @property
    def expected(self) -> float | None:
        """The p-value of support where the estimate is the claimed value and its error the planned one."""
        return None if self.plan is None else self.plan.expected

    def apart(self, other: Prepared) -> float | None:
        """Distance of the two predictions, in the units of the margin; None where they have no distance."""
        return None if self.plan is None or other.plan is None else self.plan.apart(other.plan)


@dataclass(frozen=True)
class Judged:
    """One case of a claim after the data: the decision and the table's points.

    ``rigorous``: the decision comes from rigorous arithmetic; ``covered``: and it holds for a whole domain, of which what
    was drawn is a part. ``statistical``: it has an error rate, and so a place in the suite's error budget. ``trivial``:
    the claim holds for reasons of no interest, wherever it was looked at; ``undefined``: it is nowhere defined. ``scope``:
    for what a rigorous decision holds, where that is more than what was drawn. ``tightness``: quantiles of a bound's
    left side over its right.
    """

    prepared: Prepared
    decision: Decision
    points: tuple[Point, ...]
    unseen: tuple[str, ...] = ()
    rigorous: bool = False
    covered: bool = False
    statistical: bool = True
    detail: str = ""
    trivial: bool = False
    undefined: bool = False
    scope: str = ""
    tightness: tuple[float, float, float] | None = None


class Judge(ABC, Generic[C]):
    """Decides claims of one kind; abstract.

    **Laws:** ``prepare`` depends on nothing that was drawn; ``judge`` is a function of its arguments alone.
    """

    kind: ClassVar[type[Claim]]
    # Fewest draws of a control that is repeated on a part of its design: a variance of three or less is hardly one.
    fewest: ClassVar[int] = 4
    counts_violations: ClassVar[bool] = False  # one draw can refute, so every part of a control's draws is asked

    def cells(self, claim: C, line: SweepLine) -> Iterator[Cell]:
        """The cases of the claim on this line."""
        return sweep_lines.cells(claim, line)

    @abstractmethod
    def prepare(self, claim: C, cell: Cell, levels: Levels, original: C) -> Prepared:
        """Claimed value, margin and weights; the class is that of ``original``, of which ``claim`` may be a variant."""

    @abstractmethod
    def judge(self, claim: C, prepared: Prepared, observed: Observed) -> Judged:
        """Decide the case on what was observed."""


def seeds_of(line: SweepLine) -> Seeds:
    """Relation between the draws of this line at different sizes."""
    if not line.random:
        return Seeds.NONE
    return Seeds.PAIRED if line.paired else Seeds.INDEPENDENT


def spreads(claim: Claim, cell: Cell, unit: float = 1.0) -> tuple[float, ...]:
    """The declared standard deviation of one draw at every size, in units of what is averaged."""
    return tuple(unit * abs(float(cell.exact(sympify(claim.spread), size).evalf())) for size in cell.line.sizes)


def moments_in_numbers(moments: Moment, cell: Cell) -> DeclaredMoments:
    """Declared moments of one draw, in numbers at every size."""
    return declared(moments).lowered(lambda end: tuple(cell.number(sympify(end), size) for size in cell.line.sizes))


def margin_of(claim: Claim, original: Claim, own: float) -> float:
    """The margin around the claim's own value: a wrong value is judged at the distance that the right one declared."""
    margin = claim.margin
    assert margin is not None and original.margin is not None
    return margin.around(own) if own or isinstance(margin, Absolute) else original.margin.around(own)


def columns(expression: Expr, cell: Cell, observed: Observed) -> Columns:
    """The expression on every draw at every size of the case, and the bounds of what its values err by."""
    whole = Cell(observed.line, cell.chosen)
    places = [observed.line.sizes.index(size) for size in cell.line.sizes]
    values = tuple(evaluate(expression, whole, observed, at) for at in places)
    return Columns(values, tuple(roundings(expression, whole, observed, at) for at in places))


def judged(prepared: Prepared, found: Tested) -> Judged:
    """The result of a test, as a case of the claim."""
    random = prepared.plan is None or prepared.plan.random
    return Judged(prepared, found.decision, found.points, found.unseen, statistical=random, detail=found.detail)
