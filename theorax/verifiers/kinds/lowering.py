"""The common part of all lowerings: cells, the plan of a cell, the decision on a cell."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar, final

import numpy as np
from sympy import Expr, sympify

from theorax.decide.control_variates import Variate, Variates
from theorax.decide.moments import DeclaredMoments, Moment, declared
from theorax.decide.plans import Planned, Seeds, Tested
from theorax.decide.samples import Columns
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reason, Side
from theorax.decide.stopping import Look, at_look
from theorax.decide.verdict import Point, Tightness, VarianceGain
from theorax.language import Absolute, Claim, KnownMean
from theorax.language.notation import inline
from theorax.verifiers.cases import sweep_lines
from theorax.verifiers.cases.distinct_instances import built_at
from theorax.verifiers.cases.evaluation import Observed, evaluate, roundings
from theorax.verifiers.cases.sweep_lines import Cell, SweepLine

C = TypeVar("C", bound=Claim)
AsBall: TypeAlias = Callable[[Expr], Any]  # an expression on one instance, as a ball
Scatter: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]  # of one draw at every size: observed, planned

SAFETY = 10
"""Times the largest error of rounding seen in a few draws: what support must stand."""


@dataclass(frozen=True)
class Prepared:
    """One case of a claim before any data: the claimed value, the margin around it, and the plan it was lowered to.

    ``plan`` is what `theorax.decide` decides by; None where nothing is estimated. ``levels`` are then those of the case.
    ``sign``: +1, or -1 where the decided quantity is minus the one a reader sees (a decay exponent).
    ``repetition``: it is asked only whether it is refuted, never how firmly.
    """

    cell: Cell
    claimed: float
    margin: float
    side: Side = Side.EQUAL
    sign: int = 1
    levels: Levels = DEFAULT_LEVELS
    plan: Planned | None = None
    repetition: bool = False
    runs_if_weak: ClassVar[bool] = False  # what decides besides the draws is known after they are made

    def repeated(self) -> Prepared:
        """The same case for one repetition of a control, at fewer draws than a claim is decided on."""
        return self if self.plan is None else replace(self, plan=self.plan.repeated(), repetition=True)

    def at_look(self, look: Look) -> Prepared:
        """The same case as it is decided at a look."""
        line = self.cell.line
        plan = None if self.plan is None else at_look(self.plan, look, line.draws)
        cell = replace(self.cell, line=line.with_draws(look.draws))
        return replace(self, cell=cell, levels=look.of(self.levels), plan=plan)

    @property
    def is_looked_at(self) -> bool:
        """True if the case may be decided at a part of its draws."""
        return self.plan is not None and self.plan.random and self.cell.line.random and self.cell.line.draws > 0

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
    def noise(self) -> tuple[float, ...]:
        """The assumed standard deviations of one draw along the sizes; empty where none is assumed."""
        return () if self.plan is None or not self.cell.line.random else self.plan.planned_spreads

    @property
    def weakness(self) -> str:
        """The sentence why this design cannot decide, with the cheapest that would; empty where it can."""
        return "" if self.plan is None else self.plan.weakness

    @property
    def why_not(self) -> Reason | None:
        """The reason why this design cannot decide, as a code; None where it can."""
        return None if self.plan is None else self.plan.why_not

    @property
    def no_meaning(self) -> str:
        """The sentence why the claim cannot fail at this margin; empty where it can, or has no plan."""
        return "" if self.plan is None else self.plan.no_meaning

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
    for what a rigorous decision holds, where that is more than what was drawn. ``tightness`` computes quantiles of a bound
    when it is asked: nobody asks for those of a claim's variants. ``held``: inputs of the model that were held fixed.
    ``on_draws``: an exact claim is supported by the instances alone, which leave a share of the law open. ``gain``: of
    variates of known mean, where the claim has any.
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
    tightness: Callable[[], Tightness | None] = lambda: None
    held: tuple[str, ...] = ()
    on_draws: bool = False
    gain: VarianceGain | None = None

    def charged(self, share: float) -> Judged:
        """The case that spent a share of the levels, its p-values in units of the whole."""
        return self if share == 1 else replace(self, decision=self.decision.charged(share))


@final
@dataclass(frozen=True)
class RoundingSeen:
    """Largest difference of floats from balls at every size replayed, absolute and as a share of the value."""

    absolute: Mapping[int, float]
    relative: Mapping[int, float]
    draws: int
    changed: str = ""  # the draw in which an event is true in floats and false in balls, or the other way
    unlooked: str = ""

    @property
    def allowed(self) -> float:
        """The error that every value at every size must stand."""
        return SAFETY * max(self.absolute.values())

    def bounds(self, sizes: Sequence[int], values: Sequence[np.ndarray], *, shares: bool) -> tuple[np.ndarray, ...]:
        """Errors that the values at every size must stand: at a size that was not replayed, the largest of the others."""
        seen = self.relative if shares else self.absolute
        units = [np.abs(column) if shares else np.ones(1) for column in values]
        most = max(seen.values())
        return tuple(SAFETY * seen.get(size, most) * unit for size, unit in zip(sizes, units, strict=True))


def unbuilt(prepared: Prepared, observed: Observed, *, holds: bool) -> str:
    """The instances that a decision on those built does not see, with the share of the law that may be otherwise."""
    if not (holds and observed.line.random):
        return "instances that were not built"
    sizes = [size for size in prepared.cell.line.sizes if observed.instances.get(size)]
    fewest = min((built_at(observed, size).counted for size in sizes), default=observed.line.draws)
    share = 1 - prepared.levels.support ** (1 / fewest)
    return f"instances that were not built, up to {100 * share:.2g} % of their law at a size"


class Judge(ABC, Generic[C]):
    """Decides claims of one kind; abstract.

    **Laws:** ``prepare`` depends on nothing that was drawn; ``judge`` is a function of its arguments alone.
    """

    kind: ClassVar[type[Claim]]
    # Fewest draws of a control that is repeated on a part of its design: a variance of three or less is hardly one.
    fewest: ClassVar[int] = 4
    # Fewest draws from which one run bounds how often a control is noticed; None for kinds whose repetitions alone do.
    fewest_of_one_run: ClassVar[int | None] = None
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

    def may_end_early(self, claim: C) -> bool:
        """True if the guards of the claim see enough in a part of its draws."""
        return True

    def resting(self, claim: C, judged: Judged, closed: Collection[str]) -> Judged:
        """The case as far as the lemmas bear it that the claim rests on; ``closed``: the names of those that close."""
        return judged

    def compared(self, claim: C) -> Sequence[Expr]:
        """Expressions whose rounding may decide the claim; none where balls decide it."""
        return [side for name in claim.measured_fields if isinstance(side := getattr(claim, name), Expr)]

    def averaged(self, claim: C) -> Expr | None:
        """The quantity whose average the claim takes; None for other kinds."""
        return None

    def stands(self, claim: C, case: Judged, observed: Observed, seen: RoundingSeen) -> bool:
        """True if the case is supported still where every value may be off by ten times the largest error seen."""
        return True

    def miscounted(self, claim: C, cell: Cell, observed: Observed, draw: int, balls: Iterable[AsBall]) -> str:
        """The word that floats have for an event of the draw where balls say otherwise; empty where they do not."""
        return ""

    def scatter(self, claim: C, prepared: Prepared, observed: Observed) -> Scatter:
        """Standard deviations of one draw, observed and planned, in the units of the plan; none where it has no unit."""
        return (), ()


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


def columns(expression: Expr, cell: Cell, observed: Observed, variates: Sequence[KnownMean] = ()) -> Columns:
    """The expression and the variates on every draw at every size of the case, with the bounds of what they err by."""
    whole = Cell(observed.line, cell.chosen)
    places = [observed.line.sizes.index(size) for size in cell.line.sizes]
    values, errors = _drawn(expression, whole, observed, places)
    drawn = [_drawn(known.of, whole, observed, places) for known in variates]
    if not drawn:
        return Columns(values, errors)
    return Columns(
        values,
        errors,
        variates=tuple(np.stack(one, axis=1) for one in zip(*(part for part, _ in drawn), strict=True)),
        variate_errors=tuple(
            np.stack(np.broadcast_arrays(*one), axis=1) for one in zip(*(bounds for _, bounds in drawn), strict=True)
        ),
    )


def _drawn(expression: Expr, whole: Cell, observed: Observed, places: Sequence[int]) -> tuple[tuple[Any, ...], ...]:
    values = tuple(evaluate(expression, whole, observed, at) for at in places)
    return values, tuple(roundings(expression, whole, observed, at) for at in places)


def known_means(claim: Claim, cell: Cell) -> tuple[KnownMean, ...]:
    """The variates of the claim whose mean is derived for the subject of the case, be it evidence or a control."""
    if not cell.line.random:
        return ()
    return tuple(part for part in claim.known_means if part.is_known_for(cell.line.subject.broken))


def variates_of(claim: Claim, cell: Cell) -> Variates:
    """The same in numbers, one for every size."""
    found = known_means(claim, cell)
    if not found:
        return Variates(raw="no known mean is derived for this subject" if claim.variates else "")

    def at_sizes(expression: Any) -> tuple[float, ...]:
        return tuple(cell.number(sympify(expression), size) for size in cell.line.sizes)

    return Variates(
        tuple(Variate(inline(part.of), at_sizes(part.mean), at_sizes(part.gain), part.because) for part in found)
    )


def judged(prepared: Prepared, found: Tested) -> Judged:
    """The result of a test, as a case of the claim."""
    random = prepared.plan is None or prepared.plan.random
    parts = (prepared, found.decision, found.points, found.unseen)
    return Judged(*parts, statistical=random, detail=found.detail, gain=found.gain)
