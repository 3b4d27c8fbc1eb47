r"""Attempts at one claim: whatever is tried again at one statement spends one error budget.

A count belongs to a claim of a theorem in one form (kind, what is measured, the predicted side, the cases it speaks of),
on one model, at one effort, at the parameters given. It also belongs to the traced program with that form, effort and values:
a theorem that is copied under another name, or whose functions are renamed, continues the count. Draws, sizes, seeds,
margin, class, pairing and levels do not begin a new one: each new tuple of these is the next attempt, and whoever may try
again until a test errs will see it err. Attempt k therefore gets the level $\alpha_k = 6\alpha/(\pi^2 k^2)$, which sum to
$\alpha$ over all k. The same tuple draws the same numbers: it keeps its number and spends nothing. A repair of a statement
or of its source cannot be told from a search, so it is shown beside the verdict and not charged.

An attempt is logged before its data are drawn and is spent when its check ends. A design that is refused is never
logged, and a check that was killed before its end showed nothing: neither spends.

**Errors:** with the levels $\alpha_k$ a true claim is ever refuted, and one that is off by its margin ever supported,
with probability at most $\alpha$ each, however many attempts one count has and whatever decides to make the next one.
Over the three efforts that is at most three times as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from theorax.decide.status import Status
from theorax.decide.verdict import LoggedAttempt
from theorax.errors import StatementError

__all__ = [
    "AttemptLog",
    "AttemptNumbers",
    "ClaimVersion",
    "CountedAttempt",
    "GivenAttempts",
    "SpentAttempts",
    "UncountedAttempts",
]


@dataclass(frozen=True)
class ClaimVersion:
    """One claim of a theorem in one version: the count that it belongs to, and digests of its statement and design.

    ``statement`` is that of every field, margin and class included, ``form`` that of what is said alone. ``program``: the
    digest of the traced program with the form, by which a copy under another name continues the count; empty where
    nothing was traced.
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
    program: str = field(default="", compare=False)  # traced once, when the attempts are counted

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
    """Counts the attempts at each claim."""

    def begin(self, version: ClaimVersion) -> LoggedAttempt | None:
        """The attempt of which data are about to be drawn; None where nothing could be logged."""
        ...

    def finish(self, statuses: Mapping[ClaimVersion, Status]) -> None:
        """Log what came of these attempts."""
        ...


@dataclass(frozen=True)
class UncountedAttempts:
    """The first stage of a check: what it is about to try, which the process that coordinates has to count first."""

    versions: tuple[ClaimVersion, ...]


@dataclass(frozen=True)
class CountedAttempt:
    """One attempt as it was counted before the check."""

    version: ClaimVersion
    entry: LoggedAttempt | None = None  # None where nothing could be logged


@dataclass(frozen=True)
class SpentAttempts:
    """The account of a check for the log: what came of its attempts."""

    statuses: Mapping[ClaimVersion, Status]


class GivenAttempts:
    """A log for a check: attempts that were counted before it; what is to be logged is noted, and nothing is written."""

    def __init__(self, counted: Sequence[CountedAttempt]) -> None:
        self._counted = {one.version: one for one in counted}
        self._statuses: dict[ClaimVersion, Status] = {}

    @property
    def spent(self) -> SpentAttempts:
        """Everything that was noted."""
        return SpentAttempts(dict(self._statuses))

    def begin(self, version: ClaimVersion) -> LoggedAttempt | None:
        """The attempt as it was counted; None where nothing could be logged.

        **Raises:** StatementError if the claim is not what was counted.
        """
        return self._of(version).entry

    def finish(self, statuses: Mapping[ClaimVersion, Status]) -> None:
        """Note what came of these attempts."""
        self._statuses.update(statuses)

    def _of(self, version: ClaimVersion) -> CountedAttempt:
        if version not in self._counted:
            raise StatementError(
                f"The claim {version.claim} is not the one whose attempt was counted. Its sources changed while it was "
                "checked, or are others on the machine that checks it. Check it again."
            )
        return self._counted[version]
