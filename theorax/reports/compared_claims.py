"""A comparison with a baseline as typed values: the change of each claim, and of its numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from theorax.decide.comparison import Outcome
from theorax.decide.kinds import DecidedQuantity
from theorax.decide.status import Side, Status
from theorax.decide.verdict import Ends
from theorax.reports.document import Date
from theorax.text.codec import Count

COMPARISON_VERSION: Literal[4] = 4


class Change(StrEnum):
    """Change of a claim since its baseline."""

    VANISHED = "vanished"
    REGRESSED = "regressed"
    RESTATED = "restated"
    LAPSED = "lapsed"
    LESS_TESTED = "less tested"
    KEPT = "kept"
    IMPROVED = "improved"
    APPEARED = "appeared"


CODES: Mapping[Change, Literal[1, 4]] = {
    Change.VANISHED: 1, Change.REGRESSED: 1, Change.RESTATED: 4, Change.LAPSED: 4, Change.LESS_TESTED: 4,
}  # fmt: skip
"""The exit codes of changes; of the others it is 0."""


@dataclass(frozen=True)
class ComparedPlace:
    """The case that speaks most for a move."""

    subject: str
    at: Mapping[str, str]
    sizes: tuple[float, ...]
    display: Mapping[str, str] = field(default_factory=dict)  # letters as a reader sees them


@dataclass(frozen=True)
class ComparedEstimate:
    """Estimate of that case in one of the two runs."""

    estimate: float | None
    standard_error: float | None
    interval: Ends | None


@dataclass(frozen=True)
class ComparedClaim:
    """One claim in a baseline and in a report, as far as it is in both; an unknown field is None."""

    theorem: str
    claim: str
    change: Change
    before: Status | None
    now: Status | None
    why: str = ""
    outcome: Outcome | None = None
    how: Literal["bit for bit", "form", "exact", "bound", "statistical"] | None = None
    where: ComparedPlace | None = None
    old: ComparedEstimate | None = None
    new: ComparedEstimate | None = None
    difference: float | None = None
    standard_error: float | None = None
    slack: float | None = None
    zone: float | None = None
    p_moved: float | None = None
    p_same: float | None = None
    within: bool | None = None
    same_seeds: bool | None = None
    statement: str = ""
    kind: str = ""
    quantity: DecidedQuantity = field(default_factory=DecidedQuantity)  # by which it is decided
    side: Side = Side.EQUAL
    predicted: float | None = None
    margin: float | None = None
    replay: str = ""
    file: str = ""
    line: int | None = None
    shorter_log: bool = False  # the log of attempts holds fewer entries of the claim than the baseline's had
    notes: tuple[str, ...] = ()
    exit: Literal[0, 1, 4] = 0

    @property
    def name(self) -> str:
        """The claim among all theorems."""
        return f"{self.theorem}.{self.claim}"

    def noted(self, note: str) -> ComparedClaim:
        """The same with one more note."""
        return replace(self, notes=(*self.notes, note))


@dataclass(frozen=True)
class Cause:
    """A claim that got worse on its own, and the claims that wait for it."""

    claim: str
    consequences: tuple[str, ...]


@dataclass(frozen=True)
class ChangedInputs:
    """Changed files, libraries and settings since the baseline, each with the theorems that it determines.

    ``versions`` are those of libraries; ``settings`` also names the kind of machine.
    """

    sources: Mapping[str, tuple[str, ...]]
    versions: Mapping[str, tuple[str, ...]]
    settings: Mapping[str, tuple[str, ...]]

    def of(self, theorems: Collection[str]) -> ChangedInputs:
        """The changes that determine these theorems."""
        return ChangedInputs(*(
            {name: here for name, ids in part.items() if (here := tuple(id for id in ids if id in theorems))}
            for part in (self.sources, self.versions, self.settings)
        ))  # fmt: skip


@dataclass(frozen=True)
class ComparisonLevels:
    """The error rates over all claims: of calling any moved that has not, and any the same that has."""

    moved: float
    same: float


@dataclass(frozen=True)
class ComparisonSummary:
    """Number of claims for each change, and the exit code of the command."""

    changes: Mapping[str, Count]
    outcomes: Mapping[str, Count]
    identical: Count
    exit_code: Literal[0, 1, 4, 5]


@dataclass(frozen=True)
class Comparison:
    """A report held against a baseline, claim by claim."""

    comparison_version: Literal[4]
    created: Date
    baseline: tuple[Date, ...]
    share: float
    strict: bool
    levels: ComparisonLevels
    tested: Count
    changed: ChangedInputs
    not_run: tuple[str, ...]
    standing: tuple[str, ...]
    claims: tuple[ComparedClaim, ...]
    summary: ComparisonSummary
    causes: tuple[Cause, ...] = ()
    accept: str = ""  # the command that accepts what broke

    @property
    def broken(self) -> tuple[str, ...]:
        """The theorems of the causes."""
        return tuple(dict.fromkeys(self.by_name[cause.claim].theorem for cause in self.causes))

    @property
    def by_name(self) -> Mapping[str, ComparedClaim]:
        """The claims by their names among all theorems."""
        return {claim.name: claim for claim in self.claims}
