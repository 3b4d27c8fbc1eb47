r"""Attempts at one claim: whatever is tried again at one statement spends one error budget.

A count belongs to a claim of a theorem in one form (kind, what is measured, the predicted side, the cases it speaks of),
on one model, at one effort, at the parameters given. Draws, sizes, seeds, margin, class, pairing and levels do not begin
a new one: each new tuple of these is the next attempt, and whoever may try again until a test errs will see it err.
Attempt k therefore gets the level $\alpha_k = 6\alpha/(\pi^2 k^2)$, which sum to $\alpha$ over all k. The same tuple
draws the same numbers: it keeps its number and spends nothing. A repair of a statement or of its source cannot be told
from a search, so it is shown beside the verdict and not charged.

An attempt is logged before its data are drawn and is spent when its check ends. A design that is refused is never
logged, and a check that was killed before its end showed nothing: neither spends.

**Errors:** with the levels $\alpha_k$ a true claim is ever refuted, and one that is off by its margin ever supported,
with probability at most $\alpha$ each, however many attempts one count has and whatever decides to make the next one.
Over the three efforts that is at most three times as much.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Protocol

from theorax.decide.status import DEFAULT_LEVELS, Status
from theorax.decide.verdict import LoggedAttempt
from theorax.errors import StatementError

if TYPE_CHECKING:  # the log of attempts is opened by commands that check nothing
    from theorax.language import Claim
    from theorax.verifiers.kinds.lowering import CellCase
    from theorax.verifiers.settings import Settings

__all__ = [
    "AttemptLog",
    "AttemptNumbers",
    "ClaimVersion",
    "CountedAttempt",
    "GivenAttempts",
    "SpentAttempts",
    "UncountedAttempts",
    "claim_version",
]

# What a reader is told, and what is tried besides, states no other claim.
_BESIDE = ("wrong", "implied", "corrected")


# How a claim is estimated or tried, and what is allowed for: another choice of these is another try at the same form.
_DESIGNED = ("content", "feasible", "floor", "given", "planted", "rival", "rival_feasible", "scale", "tol", "trivial")
_FORM = ("as_", "at", "over", "quantile", "where")


@dataclass(frozen=True)
class ClaimVersion:
    """One claim of a theorem in one version: the count that it belongs to, and digests of its statement and design.

    ``statement`` is that of every field, margin and class included, ``form`` that of what is said alone.
    """

    theorem: str
    claim: str
    statement: str
    design: str
    model: str = ""
    effort: str = ""
    at: str = ""
    form: str = ""
    level: float = 0.025

    @property
    def tuple(self) -> str:
        """All but the seed that makes an attempt another one within its count."""
        return f"{self.statement} {self.design} {self.level!r}"


class AttemptNumbers(Protocol):
    """Knows how often each claim was tried."""

    def next_number(self, version: ClaimVersion, seed: int) -> int:
        """The number that an attempt with this seed would have; nothing is logged."""
        ...


class AttemptLog(Protocol):
    """Counts the attempts at each claim, and keeps the p-values of its nights."""

    def begin(self, version: ClaimVersion) -> LoggedAttempt | None:
        """The attempt of which data are about to be drawn; None where nothing could be logged."""
        ...

    def finish(self, statuses: Mapping[ClaimVersion, Status]) -> None:
        """Log what came of these attempts."""
        ...

    def nights(self, version: ClaimVersion, p: Sequence[float]) -> Sequence[Sequence[float]]:
        """Keep the p-values of this night; those of all nights up to it, in their order."""
        ...


@dataclass(frozen=True)
class UncountedAttempts:
    """The first stage of a check: what it is about to try, which the process that coordinates has to count first."""

    versions: tuple[ClaimVersion, ...]


@dataclass(frozen=True)
class CountedAttempt:
    """One attempt as it was counted before the check, with the p-values of the nights before this one."""

    version: ClaimVersion
    entry: LoggedAttempt | None = None  # None of a night, and where nothing could be logged
    nights: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class SpentAttempts:
    """The account of a check for the log: what came of its attempts, and the p-values of its night."""

    statuses: Mapping[ClaimVersion, Status]
    tonight: Mapping[ClaimVersion, tuple[float, ...]]


class GivenAttempts:
    """A log for a check: attempts that were counted before it; what is to be logged is noted, and nothing is written."""

    def __init__(self, counted: Sequence[CountedAttempt]) -> None:
        self._counted = {one.version: one for one in counted}
        self._statuses: dict[ClaimVersion, Status] = {}
        self._tonight: dict[ClaimVersion, tuple[float, ...]] = {}

    @property
    def spent(self) -> SpentAttempts:
        """Everything that was noted."""
        return SpentAttempts(dict(self._statuses), dict(self._tonight))

    def begin(self, version: ClaimVersion) -> LoggedAttempt | None:
        """The attempt as it was counted; None where nothing could be logged.

        **Raises:** StatementError if the claim is not what was counted.
        """
        return self._of(version).entry

    def finish(self, statuses: Mapping[ClaimVersion, Status]) -> None:
        """Note what came of these attempts."""
        self._statuses.update(statuses)

    def nights(self, version: ClaimVersion, p: Sequence[float]) -> Sequence[Sequence[float]]:
        """Note the p-values of this night; those of all nights up to it, in their order.

        **Raises:** StatementError if the claim is not what was counted.
        """
        self._tonight[version] = tuple(p)
        return [*self._of(version).nights, tuple(p)]

    def _of(self, version: ClaimVersion) -> CountedAttempt:
        if version not in self._counted:
            raise StatementError(
                f"The claim {version.claim} is not the one whose attempt was counted. Its sources changed while it was "
                "checked, or are others on the machine that checks it. Check it again."
            )
        return self._counted[version]


def claim_version(theorem: str, name: str, claim: Claim, cases: Sequence[CellCase], settings: Settings) -> ClaimVersion:
    """The version whose attempts are counted: the statement with margin and class, the design without levels."""
    from sympy import sympify  # whoever counts attempts handles versions, and makes none

    stated = [_field(claim, part.name) for part in fields(claim) if part.name not in _BESIDE]
    said = {*claim.measured_fields, *claim.predicted_fields, *_FORM} - {*_DESIGNED}
    formed = [_field(claim, part.name) for part in fields(claim) if part.name in said]
    designed = [str(settings.model)]
    for case in cases:
        line = case.cell.line
        designed.append(
            repr((line.experiment, line.name, sorted(case.cell.label.items()), line.sizes, line.draws, line.paired))
        )
        designed.append(repr((case.claimed, case.margin, case.side)))
        designed.append(replace(case.plan, levels=DEFAULT_LEVELS).hash if case.plan.estimates else "")
    kind = type(claim).__name__
    return ClaimVersion(
        theorem,
        name,
        _digest(kind, *stated),
        _digest(*designed),
        model=_model(settings.model),
        effort=settings.effort,
        at=repr(sorted((letter, str(sympify(value, rational=True))) for letter, value in settings.at)),
        form=_digest(kind, *formed),
        level=settings.level,
    )


def _field(claim: Claim, name: str) -> str:
    return f"{name}={getattr(claim, name)!r}"


def _model(model: str | None) -> str:
    """The user's model, however the path of its file is spelt."""
    if model is None:
        return ""
    place, _, factory = model.rpartition(":")
    return f"{os.path.normpath(place)}:{factory}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
