"""The report of a run as one typed document; every rendering is made from it alone.

Its parts are the outcome's own values with what a run adds to them. The codec writes and reads it, its JSON schema is
``schema/report.json``. What follows from the rest (the counts, the exit code, the numbers of the case that decided a
claim) is written for those who read the JSON, and held against the rest when a report is read.
"""

from __future__ import annotations

import math
import os
import platform
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, get_type_hints

from theorax.decide.error_budget import (
    REFUTATIONS,
    SUPPORTS,
    Adjusted,
    Together,
    by_adjusted,
    holds_over_run,
    member,
)
from theorax.decide.findings import ShownBy
from theorax.decide.status import Status
from theorax.decide.strength import Reach
from theorax.decide.verdict import Case, Verdict
from theorax.runs.manifests import EntrySort
from theorax.runs.sources import LIBRARIES, version
from theorax.text import safe
from theorax.text.codec import Count, Malformed, Pattern, built, json_values
from theorax.verifiers.outcome import TheoremOutcome
from theorax.verifiers.settings import Settings

SCHEMA_VERSION: Literal[10] = 10

Date = Annotated[str, Pattern(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$")]
Address = Annotated[str, Pattern(r"^(https?://[^\s<>\"]+)?$")]


@dataclass(frozen=True)
class MachineReport:
    """Machine of a run: versions and the kind of machine, never its name."""

    python: str
    system: str
    machine: str
    cores: int | None
    versions: Mapping[str, str]

    @classmethod
    def here(cls) -> MachineReport:
        """This machine."""
        versions = {name: version(name) for name in LIBRARIES}
        return cls(platform.python_version(), platform.system(), platform.machine(), os.cpu_count(), versions)


@dataclass(frozen=True)
class DesignSettings:
    """The settings that determine the results of a run."""

    effort: str
    seed: int
    device: str
    level: float
    at: Mapping[str, str]
    sizes: Mapping[str, tuple[int, ...]]
    model: str | None
    DROPPED: ClassVar = ("adjust", "nightly")  # of version 8

    batch: int | None = field(default=None, kw_only=True)  # draws vectorised together, where a number was asked for

    def settings(self, **others: Any) -> Settings:
        """The settings of a run that is made in the same way; ``others`` determine nothing."""
        names = ("effort", "seed", "device", "level", "model", "batch")
        own = {name: getattr(self, name) for name in names}
        return Settings(at=tuple(self.at.items()), sizes=tuple(self.sizes.items()), **{**own, **others})


@dataclass(frozen=True)
class RunSettings(DesignSettings):
    """All settings of a run."""

    jobs: Count
    fresh: bool


@dataclass(frozen=True)
class Source:
    """A file that determines results, beside the theorems' own: its entry in a manifest, and the digest of its meaning."""

    name: Annotated[str, Pattern(f"^({'|'.join(EntrySort.read())})")]
    digest: str


@dataclass(frozen=True)
class CitedWork:
    """A work of the bibliography that what was run comes from or cites."""

    key: str
    label: str
    entry: str
    url: Address


@dataclass(frozen=True)
class RunStatement:
    """Verdicts of the run together; no verdict depends on it."""

    method: str
    tested: Count  # claims with p-values, the members of both families
    support_level: float
    green: Count
    green_alone: tuple[str, ...]  # green on their own only: they do not hold jointly with the others
    refutation_level: float
    red: Count
    red_alone: tuple[str, ...]  # refuted on their own only: they do not hold over the run
    sentence: str

    @classmethod
    def of(cls, found: Together) -> RunStatement:
        """The statement as a report holds it."""
        return cls(
            method="Holm",
            tested=len(found.members),
            support_level=SUPPORTS,
            green=len(found.green),
            green_alone=found.green_alone,
            refutation_level=REFUTATIONS,
            red=len(found.red),
            red_alone=found.red_alone,
            sentence=found.sentence,
        )

    @classmethod
    def of_shard(cls) -> RunStatement:
        """The statement of a part of a run: the others are not known."""
        waits = "A shard of a run: what holds over the run is said after the merge."
        return replace(cls.of(by_adjusted({}, {})), sentence=waits)


def _of_deciding(name: str, missing: Any = None) -> Any:
    """The property of a claim that is this field of its deciding case, and ``missing`` where no case decided."""

    def read(claim: ClaimReport) -> Any:
        return missing if claim.deciding is None else getattr(claim.deciding, name)

    hint = get_type_hints(Case)[name]
    read.__annotations__["return"] = hint if missing is not None else hint | None
    return property(read)


@dataclass(frozen=True, kw_only=True)
class ClaimReport(Verdict):
    """The verdict on one claim; its own numbers are those of the case that decided.

    ``adjusted_refute`` and ``adjusted_support`` are its p-values over the run, None where it has none, and in a shard.
    """

    adjusted_refute: float | None
    adjusted_support: float | None
    line: int | None  # of the theorem's file

    DROPPED: ClassVar = (*Verdict.DROPPED, "status_unadjusted")  # of version 9
    DERIVED: ClassVar = (
        "subject", "at", "predicted", "estimate", "standard_error", "interval", "bias", "margin", "breakdown",
        "headroom", "noticeable", "over_run",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.worst is not None and not 0 <= self.worst < len(self.cases):
            raise Malformed(".worst", f"there is no case {self.worst} among {len(self.cases)}")

    @property
    def reach(self) -> Reach | None:
        """Reach of the claim beyond its sizes; None where it does not hold, or nothing is extrapolated."""
        if not self.status.holds:
            return None
        return Reach.of(self.id, self.shown_by, self.breakdown, self.robust, self.under_twice)

    @property
    def stands(self) -> bool:
        """True if the claim came out as its theorem says: it holds, or the printed claim is refuted."""
        return self.status is Status.REFUTED if self.corrected else self.status.holds

    @property
    def over_run(self) -> bool | None:
        """True if its word holds over the run too; None where it is neither green nor red, or the run is not known."""
        if not (self.status.holds or self.status is Status.REFUTED):
            return None
        if self.adjusted is None and member(self).p_refute is not None:
            return None
        return holds_over_run(self.status, self.adjusted)

    @property
    def adjusted(self) -> Adjusted | None:
        """The p-values of the claim over the run."""
        if self.adjusted_refute is None or self.adjusted_support is None:
            return None
        return Adjusted(self.adjusted_refute, self.adjusted_support)

    @property
    def alone(self) -> bool:
        """True if it is refuted on its own, and not over the run."""
        return self.status is Status.REFUTED and self.over_run is False

    subject = _of_deciding("subject")
    at = _of_deciding("at", {})
    predicted = _of_deciding("predicted")
    estimate = _of_deciding("estimate")
    standard_error = _of_deciding("standard_error")
    interval = _of_deciding("interval")
    bias = _of_deciding("bias")
    margin = _of_deciding("margin")

    @property
    def breakdown(self) -> float | None:
        """Factor by which the class of corrections may grow before the status falls; None where nothing is corrected."""
        return None if self.words.quantity.is_difference or self.deciding is None else self.deciding.breakdown

    @property
    def headroom(self) -> float | None:
        """Factor by which the largest difference of an identity may grow within its margin; None for other kinds."""
        is_compared = self.words.quantity.is_difference
        return self.deciding.breakdown if is_compared and self.deciding is not None else None

    noticeable = _of_deciding("noticeable")


@dataclass(frozen=True)
class Strength:
    """Strength of the claims of a theorem that hold: by what they were shown, and how far the weakest reaches."""

    proved: Count
    certified: Count
    measured: Count
    weakest: float | None  # the smallest breakdown factor
    weakest_claim: str | None
    robust: bool | None  # of all claims together; None if nothing is extrapolated

    @classmethod
    def of(cls, claims: Sequence[ClaimReport]) -> Strength:
        """The strength of these claims."""
        held = [claim for claim in claims if claim.status.holds]
        counts = Counter(claim.shown_by for claim in held)
        weakest = min((claim.reach for claim in held if claim.reach is not None), default=None)
        robust = [claim.robust for claim in held if claim.robust is not None]
        return cls(
            counts[ShownBy.PROVED],
            counts[ShownBy.CERTIFIED],
            counts[ShownBy.MEASURED],
            weakest.factor if weakest is not None else None,
            weakest.name if weakest is not None else None,
            all(robust) if robust else None,
        )


@dataclass(frozen=True, kw_only=True)
class TheoremReport(TheoremOutcome):
    """One theorem's outcome, with where it is stated and what was read for it."""

    claims: tuple[ClaimReport, ...]
    works: tuple[str, ...]  # its paper, and what its place and proofs cite: keys of the bibliography
    kept_from: str | None  # the date of the run that found it, if it was not this one
    log: str | None
    file: str
    digest: str
    reads: tuple[Count, ...]  # places in the document's sources
    dependencies_unchecked: tuple[str, ...] = ()  # neither in this run nor kept

    DROPPED: ClassVar = (*TheoremOutcome.DROPPED, "status_unadjusted")  # of version 9
    DERIVED: ClassVar = ("seconds", "kept", "strength")

    @property
    def why(self) -> str:
        """The sentence that decided, or what its word means."""
        return self.reason or f"{self.status.meaning}."

    @property
    def within_margin(self) -> bool:
        """True if every claim by which it is refuted lies inside its margin."""
        return bool(self.refuting) and all(claim.within_margin for claim in self.refuting)

    @property
    def refuting(self) -> tuple[ClaimReport, ...]:
        """The claims by which it is refuted."""
        if self.status is not Status.REFUTED:
            return ()
        return tuple(claim for claim in self.claims if claim.corrected is None and claim.status is Status.REFUTED)

    @property
    def alone(self) -> bool:
        """True if it is refuted on its own, and not over the run."""
        return bool(self.refuting) and all(claim.alone for claim in self.refuting)

    @property
    def refuted_over_run(self) -> bool:
        """True if a refutation of it holds over the run."""
        return any(claim.over_run for claim in self.refuting)

    @property
    def strength(self) -> Strength:
        """Strength of its claims."""
        return Strength.of([claim for claim in self.claims if claim.corrected is None])

    @property
    def seconds(self) -> float:
        """Time that the check took."""
        return self.work.seconds

    @property
    def kept(self) -> bool:
        """True if the result is from an earlier run."""
        return self.kept_from is not None


@dataclass(frozen=True)
class RunSummary:
    """Results and cost of a whole run; only the first eight fields follow from the theorems."""

    theorems: Count
    statuses: Mapping[str, int]
    exit_code: Literal[0, 1, 3, 4, 5, 130]
    kept: Count
    programs: Count
    draws: Count
    cpu_seconds: float
    compile_seconds: float
    compile_share: float | None
    interrupted: bool
    unfinished: tuple[str, ...]
    seconds: float
    troubles: tuple[str, ...]

    @classmethod
    def of(
        cls, theorems: Sequence[TheoremReport], *, interrupted: bool, unfinished: tuple[str, ...], seconds: float,
        troubles: tuple[str, ...],
    ) -> RunSummary:  # fmt: skip
        """The summary of these theorems."""
        checked = [part.work for part in theorems if not part.kept]
        cpu, compiling = sum(work.cpu_seconds for work in checked), sum(work.compile_seconds for work in checked)
        statuses = [part.status for part in theorems]
        return cls(
            theorems=len(theorems),
            statuses=dict(Counter(status.value for status in statuses)),
            exit_code=exit_code(
                statuses, refuted=any(part.refuted_over_run for part in theorems), interrupted=interrupted
            ),
            kept=sum(part.kept for part in theorems),
            programs=sum(work.programs for work in checked),
            draws=sum(work.draws for work in checked),
            cpu_seconds=cpu,
            compile_seconds=compiling,
            compile_share=min(1.0, compiling / cpu) if cpu > 0 else None,
            interrupted=interrupted,
            unfinished=unfinished,
            seconds=seconds,
            troubles=troubles,
        )

    def again(self, theorems: Sequence[TheoremReport]) -> RunSummary:
        """The summary of the same run with these theorems."""
        return RunSummary.of(
            theorems,
            interrupted=self.interrupted,
            unfinished=self.unfinished,
            seconds=self.seconds,
            troubles=self.troubles,
        )


@dataclass(frozen=True)
class ShardReport:
    """The part of a run that this report is: shard ``number`` ``of`` so many; ``selected`` are the theorems of all."""

    number: Count
    of: Count
    selected: tuple[str, ...]
    named: tuple[str, ...]  # those that were asked for, and did not come with a +
    attempt: Count  # that was given, where the machine's log does not know the earlier ones

    @property
    def sentence(self) -> str:
        """The sentence about what is still to be done."""
        return (
            f"This is shard {self.number} of {self.of}. What holds over the run, and what rests on a failed theorem, waits for "
            "`verify merge`."
        )


@dataclass(frozen=True)
class Document:
    """Results of a run of theorax. Numbers that are not finite are null."""

    schema_version: Literal[10]
    generator: str
    created: Date
    command: str
    environment: MachineReport
    settings: RunSettings
    summary: RunSummary
    together: RunStatement
    sources: tuple[Source, ...]
    bibliography: tuple[CitedWork, ...]
    theorems: tuple[TheoremReport, ...]
    shard: ShardReport | None = None

    DROPPED: ClassVar = ("suite",)  # of version 9

    def __post_init__(self) -> None:
        right = self.summary.again(self.theorems)
        for name in RunSummary.__dataclass_fields__:
            given, found = getattr(self.summary, name), getattr(right, name)
            if given != found and not _rounded_apart(given, found):
                raise Malformed(f".summary.{name}", f"{given!r} does not follow from the theorems, {found!r} does")
        for at, part in enumerate(self.theorems):
            if any(place >= len(self.sources) for place in part.reads):
                raise Malformed(f".theorems[{at}].reads", "it points beyond `.sources`")

    def of(self, ids: Collection[str]) -> Document:
        """The document of these theorems alone."""
        theorems = tuple(part for part in self.theorems if part.id in ids)
        return replace(self, theorems=theorems, summary=self.summary.again(theorems))

    @property
    def asked(self) -> int:
        """Number of theorems to check."""
        return len(self.theorems) + len(self.summary.unfinished)

    @property
    def hold(self) -> int:
        """Number of theorems that hold."""
        return sum(part.status.holds for part in self.theorems)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """Dependencies of its theorems that were neither checked in this run nor kept."""
        return tuple(sorted({id for part in self.theorems for id in part.dependencies_unchecked}))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the run as a whole: dependencies not checked, and its troubles."""
        shard = (self.shard.sentence,) if self.shard is not None else ()
        if not self.unchecked:
            return (*shard, *self.summary.troubles)
        word = f"+{self.theorems[0].id}" if len(self.theorems) == 1 else "+ID"
        told = (
            f"Dependencies not checked in this run: {', '.join(self.unchecked)}. Check them: `verify theorem {word}`."
        )
        return (*shard, told, *self.summary.troubles)

    @property
    def worst_first(self) -> tuple[TheoremReport, ...]:
        """The theorems by urgency; those of one status in the order of the report."""
        return tuple(sorted(self.theorems, key=lambda part: -urgency(part.status)))

    @cached_property
    def by_id(self) -> Mapping[str, TheoremReport]:
        """The theorems by their ids."""
        return {part.id: part for part in self.theorems}


def _rounded_apart(given: object, found: object) -> bool:
    """True of two floats that may be one sum of seconds, rounded on the way otherwise: up to 4096 terms, in any order.

    Python 3.12 adds floats up in another way than 3.11 does.
    """
    return isinstance(given, float) and isinstance(found, float) and math.isclose(given, found, rel_tol=2.0**-40)


def harmless_document(document: Document) -> Document:
    """The document with every text in it made visible: signs that command are shown, not obeyed."""
    return built(Document, safe.harmless(json_values(document)))


def urgency(status: Status) -> float:
    """Rank in the order of reading: worst first, but a blocked theorem comes after all that may block it."""
    return Status.SUPPORTED.severity + 0.5 if status is Status.BLOCKED else status.severity


def exit_code(statuses: Iterable[Status], *, refuted: bool, interrupted: bool = False) -> Literal[0, 1, 3, 4, 5, 130]:
    """Exit code of the command; the first row that applies. ``refuted``: a refutation holds over the run.

    =======================================  ====
    interrupted by the user                  130
    a theorem is REFUTED over the run        1
    a theorem is ERROR                       3
    any other that does not hold             4
    nothing was checked                      5
    all hold                                 0
    =======================================  ====

    A theorem that is REFUTED on its own only, and any refuted by a test in a shard, is one of the others.
    """
    found = set(statuses)
    if interrupted:
        return 130
    if refuted:
        return 1
    if Status.ERROR in found:
        return 3
    if not all(status.holds for status in found):
        return 4
    return 0 if found else 5
