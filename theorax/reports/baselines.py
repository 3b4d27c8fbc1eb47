"""The baseline file: results of runs, kept in the user's repository and compared with later runs.

It is taken from a report and obeys ``schema/baseline.json``. Of every claim it keeps the word, the symbolic form, the
hypotheses, what the claim was told apart from and the numbers of every case; of every theorem the digests of all files
that determined it. Theorems saved at different times stand in one file: each names the run that it is from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from theorax.decide.status import Status
from theorax.decide.verdict import Case, Ends, Verdict
from theorax.errors import UsageError
from theorax.reports.document import (
    Date,
    DesignSettings,
    Document,
    MachineReport,
    Source,
    TheoremReport,
)
from theorax.reports.json import checked, json_in
from theorax.runs.manifests import EntrySort, Manifest, ManifestDifference, manifest_differences
from theorax.text.codec import Count, Malformed, completed, json_values
from theorax.theorems.roots import Origin
from theorax.verifiers.outcome import Expected
from theorax.verifiers.settings import DETERMINING
from theorax.version import __version__

FILE = "theorax-baseline.json"
VERSION: Literal[1] = 1
AGAIN = "Write it anew with `verify baseline save`."


@dataclass(frozen=True)
class BaselineCase:
    """One case of a claim; ``numbers`` is a digest of everything that was measured in it."""

    subject: str
    at: Mapping[str, str]
    predicted: float | None
    estimate: float | None
    standard_error: float | None
    interval: Ends | None
    bias: float | None
    margin: float | None
    sizes: tuple[float, ...]
    draws: tuple[Count, ...]
    numbers: str

    @classmethod
    def of(cls, case: Case) -> BaselineCase:
        """Baseline of a case."""
        return cls(
            **{name: getattr(case, name) for name in _CASE},
            sizes=tuple(point.size for point in case.points),
            draws=tuple(point.draws for point in case.points),
            numbers=digest_of_numbers(case),
        )

    @property
    def is_measured(self) -> bool:
        """True if there is an estimate, and a margin to compare its move with."""
        return self.estimate is not None and self.margin is not None


@dataclass(frozen=True)
class BaselineClaim:
    """One claim in a baseline."""

    id: str
    kind: str
    status: Status
    statement: str
    prediction: str | None
    corrected: str | None
    margin_given: str | None
    level: float | None
    attempt: int
    draws: Count
    design_hash: str
    cases: tuple[BaselineCase, ...]
    hypotheses: Mapping[str, str] | None = None  # those it needs, each with its sentence; None where not known
    controls: tuple[str, ...] | None = None  # subjects that it was shown to fail on; None in earlier versions
    variants: tuple[str, ...] | None = None  # of the file, those that it was told apart from; None in earlier versions

    DROPPED: ClassVar = ("nights", "status_unadjusted")

    @classmethod
    def of(cls, claim: Verdict, part: TheoremReport) -> BaselineClaim:
        """Baseline of a claim of a theorem's report."""
        sentences = {one.name: one.sentence for one in part.hypotheses}
        known = claim.under is not None and sentences.keys() >= set(claim.under)
        mutants = (one for one in part.mutants if one.claim == claim.id and one.origin == "file")
        own: dict[str, Any] = {
            "cases": tuple(map(BaselineCase.of, claim.cases)),
            "hypotheses": {name: sentences[name] for name in claim.under or ()} if known else None,
            "controls": tuple(sorted({one.subject for one in part.controls if one.claim == claim.id and one.fired})),
            "variants": tuple(sorted({one.name for one in mutants if one.killed and one.expected is Expected.KILLED})),
        }
        return cls(**own, **{name.name: getattr(claim, name.name) for name in fields(cls) if name.name not in own})


@dataclass(frozen=True)
class BaselineTheorem:
    """One theorem in a baseline, and the index of the run that measured it."""

    id: str
    status: Status
    run: Count
    digest: str
    reads: tuple[Count, ...]
    claims: tuple[BaselineClaim, ...]
    root: Origin | None = None  # None in baselines of earlier versions

    DROPPED: ClassVar = ("status_unadjusted",)


@dataclass(frozen=True)
class BaselineRun:
    """A run that results were taken from."""

    created: Date
    generator: str
    environment: MachineReport
    settings: DesignSettings

    DROPPED: ClassVar = ("members",)


@dataclass(frozen=True)
class Baseline:
    """Results that later runs are compared with."""

    baseline_version: Literal[1]
    generator: str
    runs: tuple[BaselineRun, ...]
    sources: tuple[Source, ...]
    theorems: tuple[BaselineTheorem, ...]

    def __post_init__(self) -> None:
        for at, part in enumerate(self.theorems):
            if part.run >= len(self.runs):
                raise Malformed(f".theorems[{at}].run", "it points beyond `.runs`")
            if any(place >= len(self.sources) for place in part.reads):
                raise Malformed(f".theorems[{at}].reads", "it points beyond `.sources`")

    @cached_property
    def by_id(self) -> Mapping[str, BaselineTheorem]:
        """The theorems by their ids."""
        return {part.id: part for part in self.theorems}

    def of(self, ids: Collection[str]) -> Baseline:
        """The baseline of these theorems alone."""
        return replace(self, theorems=tuple(part for part in self.theorems if part.id in ids))


_CASE = ("subject", "at", "predicted", "estimate", "standard_error", "interval", "bias", "margin")
_Kept = tuple[BaselineTheorem, tuple[Source, ...]]  # a theorem with the sources that it read


def taken(document: Document, onto: Baseline | None = None) -> Baseline:
    """The baseline of a report; ``onto`` an older one, whose other theorems stay.

    **Raises:** UsageError if the report holds no theorem, or was made with other settings than ``onto``.
    """
    if not document.theorems:
        raise UsageError(
            "The report holds no theorem. A baseline of nothing would let everything pass. Run `verify all` first."
        )
    if document.summary.interrupted:
        raise UsageError(
            "The report is of a run that was interrupted. Its baseline would miss theorems. Run `verify` again."
        )
    settings = DesignSettings(
        **{field.name: getattr(document.settings, field.name) for field in fields(DesignSettings)}
    )
    run = BaselineRun(document.created, document.generator, document.environment, settings)
    runs, kept = _staying(onto, run, document.by_id) if onto is not None else ((), [])
    new = [(_theorem(part, len(runs)), _read(part.reads, document.sources)) for part in document.theorems]
    theorems = sorted([*kept, *new], key=lambda pair: pair[0].id)
    sources = sorted({source for _, read in theorems for source in read}, key=lambda one: (one.name, one.digest))
    places = {source: at for at, source in enumerate(sources)}
    return Baseline(
        baseline_version=VERSION,
        generator=f"theorax {__version__}",
        runs=(*runs, run),
        sources=tuple(sources),
        theorems=tuple(replace(part, reads=tuple(sorted(places[one] for one in read))) for part, read in theorems),
    )


def _staying(onto: Baseline, run: BaselineRun, new: Collection[str]) -> tuple[tuple[BaselineRun, ...], list[_Kept]]:
    """The runs and the theorems of an older baseline that a new run leaves in it."""
    _same_settings(onto.runs[-1].settings, run.settings)
    left = [part for part in onto.theorems if part.id not in new]
    used = sorted({part.run for part in left})
    kept = [(replace(part, run=used.index(part.run)), _read(part.reads, onto.sources)) for part in left]
    return tuple(onto.runs[at] for at in used), kept


def _read(reads: Iterable[int], sources: Sequence[Source]) -> tuple[Source, ...]:
    return tuple(sources[at] for at in reads)


def _theorem(part: TheoremReport, run: int) -> BaselineTheorem:
    claims = tuple(BaselineClaim.of(claim, part) for claim in part.claims)
    return BaselineTheorem(part.id, part.status, run, part.digest, part.reads, claims, part.root)


def digest_of_numbers(case: Case) -> str:
    """A digest of every number that was measured in a case, to the last bit."""
    measured = json_values([case.estimate, case.standard_error, case.interval, case.points])
    return hashlib.sha256(json.dumps(measured, sort_keys=True).encode()).hexdigest()[:16]


def _same_settings(old: DesignSettings, new: DesignSettings) -> None:
    other = [name for name in DETERMINING if getattr(old, name) != getattr(new, name)]
    if other:
        told = ", ".join(f"{name} {getattr(old, name)} and {getattr(new, name)}" for name in other)
        raise UsageError(
            f"The baseline and this run have different settings ({told}). A baseline has one set of settings. "
            "Give the baseline's settings, or save all theorems anew, without `--only`."
        )


def baseline_text(baseline: Baseline) -> str:
    """The baseline as the text of its file; a claim takes few lines, so that a reviewer can read what changed."""
    return json.dumps(json_values(baseline), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_baseline(path: Path, *, or_report: bool = False) -> Baseline:
    """The baseline in this file; with ``or_report`` also that of a report.

    **Raises:** UsageError if there is none, it is cut off, of another version, or not what its schema describes.
    """
    found = json_in(path, "baseline", "Write one with `verify baseline save`.", FILE)
    if "schema_version" in found:
        if or_report:
            from theorax.reports.reading import read_whole as report_in

            return taken(report_in(path))
        raise UsageError(
            f"`{path}` is a report, not a baseline. A baseline keeps less and names its runs. "
            f"Write `verify baseline save --report {path}`."
        )
    version = found.get("baseline_version")
    if version != VERSION or isinstance(version, bool):
        raise UsageError(
            f"`{path}` is no baseline of version {VERSION}: its `.baseline_version` is {version!r}. {AGAIN}"
        )
    return checked(Baseline, completed(Baseline, _with_own_words(found)), f"`{path}` is no baseline", AGAIN)


def _with_own_words(found: Any) -> Any:
    """JSON values of a baseline, each word the claim's own: earlier ones held that of its run, and its own beside it."""
    if isinstance(found, list):
        return [_with_own_words(part) for part in found]
    if not isinstance(found, Mapping):
        return found
    own = {"status": found["status_unadjusted"]} if "status_unadjusted" in found else {}
    return {name: _with_own_words(part) for name, part in found.items()} | own


def manifest_of(
    part: TheoremReport | BaselineTheorem, sources: Sequence[Source], run: Document | BaselineRun
) -> Manifest:
    """Manifest of a theorem's result, named as in :mod:`theorax.runs.manifests`, from a baseline or a report."""
    found = {EntrySort.ID.entry(): part.id, EntrySort.THEOREM.entry(): part.digest}
    found |= {source.name: source.digest for source in _read(part.reads, sources)}
    chosen = run.settings.settings().determining
    found |= {EntrySort.SETTING.entry(name): repr(value) for name, value in chosen.items()}
    found |= {EntrySort.VERSION.entry(name): version for name, version in run.environment.versions.items()}
    found[EntrySort.VERSION.entry("python")] = run.environment.python
    found[EntrySort.MACHINE.entry()] = f"{run.environment.system} {run.environment.machine}"
    return found


def since(
    baseline: Baseline, id: str, manifest: Manifest, present: Callable[[Manifest], Manifest]
) -> tuple[ManifestDifference, ...] | None:
    """Differences between now and the run of a theorem's baseline; None if the theorem is in no baseline.

    ``present``: for a manifest, what its observed entries say now.
    """
    part = baseline.by_id.get(id)
    if part is None:
        return None
    then = manifest_of(part, baseline.sources, baseline.runs[part.run])
    return manifest_differences(then, {**manifest, **present(then)})
