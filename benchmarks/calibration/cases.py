"""A known answer, the procedures held against it, and the count of what they say about many draws of its data."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import bdtrc

from theorax.decide.status import Levels

__all__ = [
    "LEVEL",
    "LEVELS",
    "Case",
    "Outcome",
    "Procedure",
    "Published",
    "Tally",
    "Truth",
    "excess",
    "failures",
    "most",
    "tally",
]

LEVEL = 0.025
LEVELS = Levels(LEVEL, LEVEL)
"""The levels of every procedure here. A default refutation has a 25th of it, at which too few replicates err to be counted."""

FLUCTUATION = 1e-3  # a correct procedure fails one gate in a thousand names of cases; the names are fixed


class Truth(StrEnum):
    """Distance of the truth from the claim."""

    HOLDS = "the claim holds"
    MARGIN = "off by the margin"  # the nearest falsehood that must not be supported
    INSIDE = "inside the margin"  # false as it stands, but not by as much as the margin
    FAR = "false"
    UNSURE = "killed less surely than 0.8"  # a control: to say that it reaches 0.8 is the error


@dataclass(frozen=True)
class Outcome:
    """The word of one procedure on one replicate.

    ``excludes_margin``: the null "false by the margin" is rejected, whatever is said of the exact claim; this, and not
    the word SUPPORTED, is what the level of support bounds. A share instead of a truth value counts as that share.
    """

    refuted: float
    supported: float
    excludes_margin: float = 0.0
    p_refute: float = math.nan
    p_support: float = math.nan
    lower: float = -math.inf  # one-sided limits of the claimed quantity, each at the level of support
    upper: float = math.inf
    cost: float = math.nan  # draws used
    withheld: bool = False  # a word was withheld, for the data contradict the declared class


@dataclass(frozen=True)
class Published:
    """The rates that the method's tables state: of refutation, of support; None where they state none."""

    refuted: float | None = None
    supported: float | None = None


@dataclass(frozen=True)
class Procedure:
    """A procedure with everything fixed before the data; ``promised``: the case is one for which its levels hold."""

    name: str
    decide: Callable[[Any], Outcome] = field(repr=False)
    promised: bool = False
    published: Published = Published()
    refute: float = LEVEL
    support: float = LEVEL
    covers: bool = False  # its limits must enclose the truth, each at the level of support


@dataclass(frozen=True)
class Case:
    """Data with a known answer; ``value`` is the true value of what is claimed, where that is a number.

    Replicate i of a case is a function of its key and i alone: no order of cases, no number of workers changes it.
    """

    family: str
    name: str
    truth: Truth
    draw: Callable[[Generator], Any] = field(repr=False)
    procedures: tuple[Procedure, ...]
    value: float | None = None
    detail: str = ""  # what tells apart cases of one name and truth
    replicates: int | None = None  # at most so many in the full run, where one replicate is dear

    @property
    def key(self) -> str:
        """Name, truth and detail in one line."""
        return ", ".join(part for part in (self.name, self.truth.value, self.detail) if part)

    def data(self, replicate: int) -> Any:
        """The data of one replicate."""
        digest = hashlib.sha256(f"{self.family}: {self.key}".encode()).digest()
        return self.draw(np.random.default_rng([int.from_bytes(digest[:8], "big"), replicate]))


@dataclass(frozen=True)
class Tally:
    """Counts of the words of one procedure on the replicates of one case."""

    replicates: int
    refuted: float
    supported: float
    excludes_margin: float
    below: int  # intervals that lie below the truth
    above: int
    p_refute: tuple[float, ...] = field(repr=False)
    p_support: tuple[float, ...] = field(repr=False)
    cost: float = math.nan

    def __add__(self, other: Tally) -> Tally:
        total = self.replicates + other.replicates
        return Tally(
            total,
            self.refuted + other.refuted,
            self.supported + other.supported,
            self.excludes_margin + other.excludes_margin,
            self.below + other.below,
            self.above + other.above,
            self.p_refute + other.p_refute,
            self.p_support + other.p_support,
            (self.replicates * self.cost + other.replicates * other.cost) / total,
        )


def tally(case: Case, replicates: Iterable[int], only: Sequence[str] = ()) -> dict[str, Tally]:
    """Every procedure of the case (or those named) on the same replicates."""
    chosen = [procedure for procedure in case.procedures if not only or procedure.name in only]
    said: dict[str, list[Outcome]] = {procedure.name: [] for procedure in chosen}
    for replicate in replicates:
        data = case.data(replicate)
        for procedure in chosen:
            said[procedure.name].append(procedure.decide(data))
    return {name: _counted(case, outcomes) for name, outcomes in said.items()}


def _counted(case: Case, outcomes: Sequence[Outcome]) -> Tally:
    value = case.value
    return Tally(
        len(outcomes),
        float(sum(outcome.refuted for outcome in outcomes)),
        float(sum(outcome.supported for outcome in outcomes)),
        float(sum(outcome.excludes_margin for outcome in outcomes)),
        0 if value is None else sum(outcome.upper < value for outcome in outcomes),
        0 if value is None else sum(outcome.lower > value for outcome in outcomes),
        tuple(outcome.p_refute for outcome in outcomes),
        tuple(outcome.p_support for outcome in outcomes),
        math.fsum(outcome.cost for outcome in outcomes) / max(1, len(outcomes)),
    )


@lru_cache(maxsize=256)
def most(replicates: int, level: float = LEVEL) -> int:
    """The smallest count that a binomial law at the level exceeds with probability at most `FLUCTUATION`."""
    return next(count for count in range(replicates + 1) if bdtrc(count, replicates, level) <= FLUCTUATION)


def least(replicates: int, power: float) -> int:
    """The largest count that a binomial law at this power falls short of with probability at most `FLUCTUATION`."""
    return replicates - most(replicates, 1 - power)


def excess(p: Sequence[float]) -> float:
    """Excess of small p-values, in units of what chance allows: above one they are not p-values.

    One-sided Kolmogorov-Smirnov: a distribution function of n uniform values exceeds the diagonal by
    sqrt(log(1/a)/(2n)) with probability at most a (Massart); p-values that stay above uniform ones exceed it less.
    """
    values = np.sort(np.asarray(p))
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0
    over = float(np.max(np.arange(1, len(values) + 1) / len(values) - values))
    return over / math.sqrt(math.log(1 / FLUCTUATION) / (2 * len(values)))


def failures(case: Case, procedure: Procedure, counted: Tally, slack: float = 0.05) -> list[str]:
    """Every way in which the counts contradict what is promised; empty where the procedure keeps its word.

    | truth | bounded by its level | not below the published rate less ``slack`` |
    |---|---|---|
    | the claim holds | refutations, and p of refutation is no smaller than uniform | supports |
    | off by the margin | exclusions of the margin, and p of support likewise | refutations |
    | inside the margin, false | | refutations |
    | killed less surely than 0.8 | controls said to reach it | |

    Counts are held against the 99.9 % quantile of the binomial law. Where limits are promised, each misses the truth
    no more often than the level of support allows.
    """
    if not procedure.promised:
        return []
    n, found = counted.replicates, []

    def bounded(count: float, level: float, what: str) -> None:
        if count > most(n, level):
            found.append(f"{what} in {count:g} of {n} replicates, at most {most(n, level)} at level {level:g}")

    def reached(count: float, published: float | None, what: str) -> None:
        if published is not None and count < least(n, max(0.0, published - slack)):
            found.append(f"{what} in {count:g} of {n} replicates, published {published:.3f}")

    if case.truth is Truth.UNSURE:
        bounded(counted.refuted, procedure.refute, "said to be killed with probability 0.8")
    elif case.truth is Truth.HOLDS:
        bounded(counted.refuted, procedure.refute, "refuted")
        if (over := excess(counted.p_refute)) > 1:
            found.append(f"p-values of refutation are too small ({over:.1f} times what chance allows)")
        reached(counted.supported, procedure.published.supported, "supported")
    else:
        reached(counted.refuted, procedure.published.refuted, "refuted")
    if case.truth is Truth.MARGIN:
        bounded(counted.excludes_margin, procedure.support, "margin excluded")
        if (over := excess(counted.p_support)) > 1:
            found.append(f"p-values of support are too small ({over:.1f} times what chance allows)")
    if procedure.covers:
        bounded(counted.below, procedure.support, "upper limit below the truth")
        bounded(counted.above, procedure.support, "lower limit above the truth")
    return found
