"""The one record of a case: where it stands and how it is decided, then what was decided and from what.

A case is planned as a `PlannedCase` before the data and becomes a `CaseResult` by them, for a theorem's claim, for a user's
own numbers and for `theorax.exact`. `theorax.decide.conclusions` makes the verdict of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, Generic, Protocol, TypeVar, final

from theorax.decide.designs import ASSURED
from theorax.decide.plans import Planned, Tested
from theorax.decide.status import Levels, Reason, Side
from theorax.decide.verdict import Tightness

__all__ = ["CaseResult", "NothingEstimated", "OwnCell", "PlannedCase", "own_case"]


class LabelledCell(Protocol):
    """A choice of subject and letters."""

    @property
    def name(self) -> str:
        """The subject."""
        ...

    @property
    def label(self) -> Mapping[str, str]:
        """The exact values of the letters that were chosen."""
        ...


Where = TypeVar("Where", bound=LabelledCell)


@final
@dataclass(frozen=True)
class OwnCell:
    """The cell of a claim that has no other: a user's own numbers, or programs."""

    name: str
    label: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True, kw_only=True)
class NothingEstimated(Planned):
    """The plan of a case in which nothing is estimated: arithmetic decides it, so nothing is left to chance.

    ``rounding``: the largest error that rounding can have made; ``resolution``: the smallest difference that would have
    been told apart. None and infinity where neither is a number.
    """

    has_interval: ClassVar[bool] = False
    estimates: ClassVar[bool] = False
    rounding: float | None = None
    resolution: float = math.inf

    @property
    def statement(self) -> str:
        return self.name

    @property
    def bias(self) -> float | None:
        return self.rounding

    @property
    def half_width(self) -> float:
        return 0.0

    @property
    def noticeable(self) -> float:
        return self.resolution

    @property
    def cost(self) -> float:
        return 0.0

    @property
    def random(self) -> bool:
        return False

    def power(self) -> float:
        """The probability of support when the claim holds exactly: nothing is left to chance."""
        return 1.0

    def cheapest(self, power: float = ASSURED) -> NothingEstimated:
        return self

    @property
    def design(self) -> str:
        return "nothing is estimated"

    def _declared(self) -> Iterable[str]:
        return ()


@dataclass(frozen=True, kw_only=True)
class PlannedCase(Generic[Where]):
    """One case of a claim before any data: its cell, the claimed value, the margin around it, and the plan that decides it.

    ``sign``: +1, or -1 where the decided quantity is minus the one a reader sees (a decay exponent). ``repetition``: it is
    asked only whether it is refuted, never how firmly.
    """

    cell: Where
    plan: Planned
    claimed: float | None  # None where the claim has no number of its own
    margin: float | None
    side: Side = Side.EQUAL
    sign: int = 1
    repetition: bool = False

    @classmethod
    def of(cls, cell: Where, plan: Planned, side: Side = Side.EQUAL) -> PlannedCase[Where]:
        """The case of a plan that claims a value of its own."""
        return PlannedCase(cell=cell, plan=plan, claimed=plan.claimed, margin=plan.margin, side=side, sign=plan.sign)

    @property
    def predicted(self) -> float | None:
        """The claimed value as a reader sees it."""
        return None if self.claimed is None else self.sign * self.claimed

    @property
    def levels(self) -> Levels:
        """The levels at which it is decided."""
        return self.plan.levels

    @property
    def bias(self) -> float | None:
        """The worst bias of the declared class; None where nothing is extrapolated from."""
        return self.plan.bias

    @property
    def half_width(self) -> float | None:
        """Margins below it cannot be supported; None for what is not decided from an interval."""
        return self.plan.half_width if self.plan.has_interval else None

    @property
    def noticeable(self) -> float | None:
        """The deviation that is refuted with probability 0.9; None where there is none."""
        return None if math.isinf(self.plan.noticeable) else self.plan.noticeable

    @property
    def noise(self) -> tuple[float, ...]:
        """The assumed standard deviations of one draw along the sizes; empty where none is assumed."""
        return self.plan.planned_spreads if self.plan.random else ()

    @property
    def weakness(self) -> str:
        """The sentence why this design does not decide, with the cheapest that does; empty where it decides."""
        return self.plan.weakness

    @property
    def why_not(self) -> Reason | None:
        """The reason why this design cannot decide, as a code; None where it can."""
        return self.plan.why_not

    @property
    def runs_if_weak(self) -> bool:
        """True if what decides besides the draws is known only after they are made."""
        return self.plan.runs_if_weak

    @property
    def no_meaning(self) -> str:
        """The sentence why the claim cannot fail at this margin; empty where it can."""
        return self.plan.no_meaning

    def repeated(self) -> PlannedCase[Where]:
        """The same case for one repetition of a control, at fewer draws than a claim is decided on."""
        return replace(self, plan=self.plan.repeated(), repetition=self.plan.estimates)

    def apart(self, other: PlannedCase[Where]) -> float | None:
        """Distance of the two predictions, in the units of the margin; None where they have no distance."""
        return self.plan.apart(other.plan)

    def decided(self, tested: Tested) -> CaseResult[Where]:
        """The case as this test decided it; a result is decided anew, from what was planned."""
        planned = {part.name: getattr(self, part.name) for part in fields(PlannedCase)}
        return CaseResult(**planned, **vars(tested), statistical=self.plan.random)


@dataclass(frozen=True, kw_only=True)
class CaseResult(PlannedCase[Where], Tested):
    """One case of a claim after the data: the decision, and what it was made from.

    ``rigorous``: the decision comes from rigorous arithmetic; ``covered``: and it holds for a whole domain, of which what
    was drawn is a part. ``statistical``: it has an error rate, and so a place in the suite's error budget. ``trivial``:
    the claim holds for reasons of no interest, wherever it was looked at; ``undefined``: it is nowhere defined. ``scope``:
    for what a rigorous decision holds, where that is more than what was drawn. ``tightness`` computes quantiles of a bound
    when it is asked: nobody asks for those of a claim's variants. ``held``: inputs of the model that were held fixed.
    ``on_draws``: an exact claim is supported by the instances alone, which leave a share of the law open.
    """

    rigorous: bool = False
    covered: bool = False
    statistical: bool = True
    trivial: bool = False
    undefined: bool = False
    scope: str = ""
    tightness: Callable[[], Tightness | None] = lambda: None
    held: tuple[str, ...] = ()
    on_draws: bool = False

    def charged(self, share: float) -> CaseResult[Where]:
        """The case that spent a share of the levels, its p-values in units of the whole."""
        return self if share == 1 else replace(self, decision=self.decision.charged(share))


def own_case(plan: Planned, tested: Tested) -> CaseResult[OwnCell]:
    """The one case of a claim about a user's own numbers."""
    return PlannedCase.of(OwnCell(plan.name), plan).decided(tested)
