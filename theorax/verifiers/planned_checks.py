"""Records of what a check would measure, before any data: its claims on their lines, and what a pilot saw of the noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from theorax.decide.kinds import KindWords
from theorax.decide.verdict import VarianceGain

Place: TypeAlias = tuple[str, str, tuple[tuple[str, str], ...]]
"""A line of an experiment: the names of both, and its case as letters and values."""


@dataclass(frozen=True)
class PlannedCheck:
    """One claim on one line of its experiment, before any data: what `verify plan` shows."""

    theorem: str
    claim: str
    words: KindWords
    subject: str
    at: dict[str, str]
    line: Place | None  # what is drawn for it, along with claims of the same line; None without a case
    sizes: tuple[float, ...]
    draws: tuple[int, ...]  # at most, at each size
    expected_draws: tuple[int, ...]  # if the claim holds exactly and is as noisy as planned; its variants may need more
    margin: float | None
    bias: float | None
    half_width: float | None
    noticeable: float | None
    attempt: int  # of fresh seeds on this claim and design, by the log of this state
    level: float  # what this attempt may spend
    power: (
        float | None
    )  # probability of support, if this case holds exactly and is as noisy as planned; None if not drawn
    worst_power: float | None  # the same in the worst case of its class
    of_claim: tuple[float, float] | None  # both, of the whole claim over all its cases
    decides: bool
    note: str  # why it cannot decide and the cheapest design that would, or empty
    runs: bool = True  # False where it is not drawn, since it would hardly decide
    decides_by_draws: bool = True  # False where draws decide an exact claim in part, and too few are planned
    noise: tuple[float, ...] = ()  # assumed standard deviations of one draw, along the sizes
    spread: str = ""  # the claim's `spread`, from which the noise follows
    is_noise_stated: bool = False  # False where the spread is the default
    gain: VarianceGain | None = None  # planned, of variates of known mean


@dataclass(frozen=True)
class TheoremPlan:
    """Measurements of a check before any data, and the number of programs that it compiles for them."""

    checks: tuple[PlannedCheck, ...]
    programs: int = 0
    programs_if_padded: int = 0  # with padded=True in every experiment


@dataclass(frozen=True)
class PilotCase:
    """Noise of one case in a few draws that no decision uses, beside the planned one."""

    claim: str
    subject: str
    at: dict[str, str]
    sizes: tuple[float, ...]
    planned: tuple[float, ...]
    seen: tuple[float, ...]


@dataclass(frozen=True)
class Pilot:
    """A few draws per size for the planner: the noise seen, the `spread` of each claim by it, and the plan with it."""

    draws: int
    cases: tuple[PilotCase, ...]
    spreads: dict[str, str]
    plan: TheoremPlan
