"""The common part of all lowerings: cells, the plan of a cell, the decision on a cell."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar, final

import numpy as np
from sympy import Expr, sympify

from theorax.decide.case_results import CaseResult, PlannedCase
from theorax.decide.control_variates import Variate, Variates
from theorax.decide.inequalities import InstancesPlan
from theorax.decide.moments import DeclaredMoments, Moment, declared
from theorax.decide.plans import Seeds
from theorax.decide.samples import Columns
from theorax.decide.status import Decision, Levels, Reason, Status
from theorax.errors import TheoraxError
from theorax.exact.pointwise_bounds import BALLS
from theorax.language import Absolute, Claim, KnownMean, Measured
from theorax.language.notation import inline
from theorax.names import many
from theorax.verifiers.cases import instances, sweep_lines
from theorax.verifiers.cases.distinct_instances import Built, built_at
from theorax.verifiers.cases.evaluation import Observed, evaluate_draws, roundings
from theorax.verifiers.cases.returned_floats import FloatTest, gaps
from theorax.verifiers.cases.sweep_lines import Cell, SweepLine

C = TypeVar("C", bound=Claim)
AsBall: TypeAlias = Callable[[Expr], Any]  # an expression on one instance, as a ball
CellCase: TypeAlias = PlannedCase[Cell]
CellResult: TypeAlias = CaseResult[Cell]
Scatter: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]  # of one draw at every size: observed, planned

IN_BALLS = 16
"""Instances at a size that balls decide, whatever floats say; more of them are followed in floats with their account."""

SAFETY = 10
"""Times the largest error of rounding seen in a few draws: what support must stand."""


@final
@dataclass(frozen=True)
class RoundingSeen:
    """Largest difference of floats from balls at every size replayed, absolute and as a share of the value."""

    absolute: Mapping[int, float]
    relative: Mapping[int, float]
    draws: int
    changed: str = ""  # the draw in which an event is true in floats and false in balls, or the other way
    unlooked: str = ""
    example: str = ""  # the draw with the largest difference, and both numbers

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


def instances_plan(content: float, line: SweepLine, levels: Levels) -> InstancesPlan:
    """The plan of an exact claim on random instances: those of the experiment, or more where too few leave a share open.

    An instance costs little beside the tracing of its program, so that the first plan decides.
    """
    sizes = len(line.sizes)
    plan = InstancesPlan(margin=content, draws=line.draws * sizes, sizes=sizes, levels=levels)
    return plan if plan.decides else plan.cheapest()


def with_enough(case: CellCase, observed: Observed) -> tuple[CellCase, Observed]:
    """The case and its line with as many instances at each size as the plan of the case needs."""
    plan = case.plan
    if not isinstance(plan, InstancesPlan) or observed.more is None:
        return case, observed
    draws = plan.draws // plan.sizes
    if draws <= observed.line.draws:
        return case, observed
    line = case.cell.line.with_draws(draws)
    return replace(case, cell=replace(case.cell, line=line)), observed.more(draws)


def open_in_floats(
    tests: Sequence[FloatTest], wanted: frozenset[Measured], cell: Cell, observed: Observed, size: int, first: int
) -> list[int]:
    """The instances of a size, after the first ones, that the floats returned leave open.

    Floats keep a test if they do so by ten times the largest rounding that balls saw in the first ones; an instance of
    which they do not is one for balls.
    """
    left: set[int] = set()
    for test in tests:
        worst = gaps(test, cell, observed, size).worst
        exact = [_excess_in_balls(test, wanted, cell, observed, size, draw) for draw in range(min(first, IN_BALLS))]
        rounding = max((abs(x - y) for x, y in zip(worst, exact, strict=False)), default=math.inf)
        left |= {draw for draw in range(first, len(worst)) if not worst[draw] + SAFETY * rounding <= 0}
    return sorted(left)


def _excess_in_balls(
    test: FloatTest, wanted: frozenset[Measured], cell: Cell, observed: Observed, size: int, draw: int
) -> float:
    """The largest excess of a test on an instance that balls followed; infinite where they did not."""
    try:
        value = instances.at_draw(wanted, cell, observed, size, draw, BALLS)
        with BALLS.working():
            gap = BALLS.binary("sub", value(test.left), value(test.right)).reshape(-1).tolist()
    except TheoraxError:
        return math.inf
    excesses = [float((entry if test.bound else abs(entry)).mid()) - test.margin for entry in gap]
    return max(excesses, default=-math.inf)


def is_enumerated(claim: Claim, line: SweepLine, observed: Observed) -> bool:
    """True if the instances of the line are all that there are: one model, or nothing of what is claimed depends on a key."""
    if not line.random:
        return True
    built = [built_at(observed, size) for size in line.sizes if observed.instances]
    if built and all(part.counted < part.built for part in built):
        return True
    use = observed.keys() if observed.keys is not None else None
    return use is not None and {letter.name for letter in claim.observed} <= use.constant


def drawn_decision(decision: Decision, case: CellCase, built: Sequence[Built], copies: str = "") -> Decision:
    """The decision of instances without a violation, with the p-value of the share that they leave open."""
    assert isinstance(case.plan, InstancesPlan)
    counted = sum(part.counted if copies else part.built for part in built)
    decision = replace(decision, p_support=(1 - case.plan.margin) ** counted)
    return replace(decision, status=Status.INCONCLUSIVE, reason=Reason.INDISTINCT) if copies else decision


def left_open(case: CellCase, built: Sequence[Built]) -> str:
    """The share of the law that so many instances without a violation leave open."""
    assert isinstance(case.plan, InstancesPlan)
    if all(part.copies for part in built):
        return built[0].copies
    level, share = case.levels.support, case.plan.left_open(sum(part.built for part in built))
    whole = Built(sum(part.built for part in built), sum(part.distinct for part in built))
    return f"a share {share:.2g} of the law stays open after {whole.words}, at level {level:.3g}"


def looked_at_text(built: Sequence[Built]) -> str:
    """The instances of all sizes, and how many of them differ, in words."""
    count, distinct = sum(part.built for part in built), sum(part.distinct for part in built)
    several = many(count, "instance")
    return several if distinct == count else f"{many(distinct, 'distinct instance')} among the {count}"


def unbuilt(case: CellCase, observed: Observed, *, holds: bool) -> str:
    """The instances that a decision on those built does not see, with the share of the law that may be otherwise."""
    if not (holds and observed.line.random):
        return "instances that were not built"
    sizes = [size for size in case.cell.line.sizes if observed.instances.get(size)]
    fewest = min((built_at(observed, size).counted for size in sizes), default=observed.line.draws)
    share = 1 - case.levels.support ** (1 / fewest)
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
    def prepare(self, claim: C, cell: Cell, levels: Levels, original: C) -> CellCase:
        """Claimed value, margin and weights; the class is that of ``original``, of which ``claim`` may be a variant."""

    @abstractmethod
    def judge(self, claim: C, case: CellCase, observed: Observed) -> CellResult:
        """Decide the case on what was observed."""

    def may_end_early(self, claim: C) -> bool:
        """True if the guards of the claim see enough in a part of its draws."""
        return True

    def resting(self, claim: C, result: CellResult, closed: Collection[str]) -> CellResult:
        """The case as far as the lemmas bear it that the claim rests on; ``closed``: the names of those that close."""
        return result

    def compared(self, claim: C) -> Sequence[Expr]:
        """Expressions whose rounding may decide the claim; none where balls decide it."""
        return [side for name in claim.measured_fields if isinstance(side := getattr(claim, name), Expr)]

    def kept_by_floats(self, claim: C) -> Sequence[FloatTest]:
        """The conditions that the floats of the program on an instance must keep; none where balls do not decide them."""
        return ()

    def averaged(self, claim: C) -> Expr | None:
        """The quantity whose average the claim takes; None for other kinds."""
        return None

    def stands(self, claim: C, case: CellResult, observed: Observed, seen: RoundingSeen) -> bool:
        """True if the case keeps its status where every value may be off by ten times the largest error seen."""
        return True

    def miscounted(self, claim: C, cell: Cell, observed: Observed, draw: int, balls: Iterable[AsBall]) -> str:
        """The word that floats have for an event of the draw where balls say otherwise; empty where they do not."""
        return ""

    def scatter(self, claim: C, case: CellCase, observed: Observed) -> Scatter:
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
    values = tuple(evaluate_draws(expression, whole, observed, at) for at in places)
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
