"""Verdicts of a run together: which green ones hold jointly, which red ones hold over the run.

A verdict is that of its claim, whatever else was asked. Of many verdicts some are wrong by chance alone, so a run has a
statement about all of them: two families of p-values, those of refutation and those of support, each by Holm's method.
It bounds the probability of any wrong rejection in a family under any dependence. Rigorous results spend no error and
belong to neither family.

**Source:** Holm 1979.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from theorax.decide.spending import charged
from theorax.decide.status import Status
from theorax.errors import DesignError
from theorax.text.numbers import percent

__all__ = [
    "REFUTATIONS",
    "SUPPORTS",
    "Adjusted",
    "ClaimOfRun",
    "Member",
    "Together",
    "by_adjusted",
    "holds_over_run",
    "holm",
    "member",
    "said_together",
]

REFUTATIONS, SUPPORTS = 0.01, 0.025
"""Levels over a run: of any wrong red verdict, and of any wrong green one."""

TESTED = (Status.REFUTED, Status.SUPPORTED, Status.INCONCLUSIVE)


class ClaimOfRun(Protocol):
    """The part of a verdict that a statement about the run reads."""

    @property
    def status(self) -> Status:
        """Status of the claim."""
        ...

    @property
    def rigorous(self) -> bool:
        """True if it spends no error."""
        ...

    @property
    def p_refute(self) -> float | None:
        """The p-value of truth."""
        ...

    @property
    def p_support(self) -> float | None:
        """The p-value of being false by the margin."""
        ...


@dataclass(frozen=True)
class Member:
    """One verdict in a run; its p-values are charged for its attempt, and None where it is in no family."""

    status: Status
    p_refute: float | None = None
    p_support: float | None = None


@dataclass(frozen=True)
class Adjusted:
    """Adjusted p-values of one member: the smallest levels at which it would be rejected."""

    refute: float
    support: float


@dataclass(frozen=True)
class Together:
    """The verdicts of a run together."""

    members: Mapping[str, Adjusted]  # of the families
    green: tuple[str, ...]  # every verdict that holds
    red: tuple[str, ...]  # every refuted one
    green_alone: tuple[str, ...]  # those of the green that do not hold jointly
    red_alone: tuple[str, ...]  # those of the red that do not hold over the run

    @property
    def sentence(self) -> str:
        """The statement about the run."""
        parts = [part for part in (_green(self), _red(self)) if part]
        return " ".join(parts) or "No verdict of this run is green or red."


def member(claim: ClaimOfRun, attempt: int | None = None) -> Member:
    """A verdict as one of a run; ``attempt``: its number, where all attempts at the claim share one budget."""
    if claim.status not in TESTED or claim.rigorous or claim.p_refute is None or claim.p_support is None:
        return Member(claim.status)
    if attempt is None:
        return Member(claim.status, claim.p_refute, claim.p_support)
    return Member(claim.status, charged(claim.p_refute, attempt), charged(claim.p_support, attempt))


def said_together(members: Mapping[str, Member]) -> Together:
    """Say what these verdicts show together.

    | the verdict | over the run |
    |---|---|
    | supported by a test | holds jointly iff its adjusted p-value of support is at most ``SUPPORTS`` |
    | refuted by a test | holds iff its adjusted p-value of refutation is at most ``REFUTATIONS`` |
    | inconclusive | a member of both families |
    | rigorous | holds, and is a member of neither |
    | anything else | a member of neither |

    **Raises:** DesignError for a p-value that is none.
    """
    refuting = holm({name: one.p_refute for name, one in members.items() if one.p_refute is not None})
    supporting = holm({name: one.p_support for name, one in members.items() if one.p_support is not None})
    adjusted = {name: Adjusted(refuting[name], supporting[name]) for name in refuting}
    return by_adjusted({name: one.status for name, one in members.items()}, adjusted)


def by_adjusted(words: Mapping[str, Status], adjusted: Mapping[str, Adjusted]) -> Together:
    """Say what verdicts show together whose p-values over the run are known; the others spend no error."""
    green = tuple(name for name, status in words.items() if status.holds)
    red = tuple(name for name, status in words.items() if status is Status.REFUTED)
    alone = {name for name, status in words.items() if not holds_over_run(status, adjusted.get(name))}
    return Together(
        adjusted,
        green,
        red,
        tuple(name for name in green if name in alone),
        tuple(name for name in red if name in alone),
    )


def holds_over_run(status: Status, adjusted: Adjusted | None) -> bool:
    """True unless this verdict, with these p-values over its run, does not hold over it."""
    if adjusted is None:
        return True
    if status is Status.REFUTED:
        return adjusted.refute <= REFUTATIONS
    return not status.holds or adjusted.support <= SUPPORTS


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjusted p-values: the claim of the k-th smallest p gets the largest (number - j + 1) p_(j) over j up to k.

    **Source:** Holm 1979.
    """
    adjusted: dict[str, float] = {}
    running = 0.0
    for rank, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        _refuse_p(name, p)
        running = max(running, min(1.0, (len(p_values) - rank) * p))
        adjusted[name] = running
    return adjusted


def _green(found: Together) -> str:
    number, alone = len(found.green), found.green_alone
    whole = "The green verdict holds" if number == 1 else f"All {number} green verdicts hold jointly"
    part = f"{number - len(alone)} of {number} green verdicts hold jointly"
    return _said(whole, part, number, alone, SUPPORTS)


def _red(found: Together) -> str:
    number, alone = len(found.red), found.red_alone
    whole = "The refutation holds over the run" if number == 1 else f"All {number} refutations hold over the run"
    part = f"{number - len(alone)} of {number} refutations hold over the run"
    return _said(whole, part, number, alone, REFUTATIONS)


def _said(whole: str, part: str, number: int, alone: Sequence[str], level: float) -> str:
    """The sentence about one family: all of it holds, or a part of it does and the rest is named."""
    if not number:
        return ""
    if not alone:
        return f"{whole} at {percent(level)}."
    return f"{part} at {percent(level)}; on their own only: {', '.join(alone)}."


def _refuse_p(name: str, p: float) -> None:
    if not 0 <= p <= 1:
        raise DesignError(f"`{name}` has p = {p:g}, which is no probability. Write a value between 0 and 1.")
