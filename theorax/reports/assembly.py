"""The document of a run, assembled from its records, its adjustment over the suite and its bibliography."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theorax.decide.error_budget import REFUTATIONS, SUPPORTS
from theorax.decide.verdict import Verdict
from theorax.reports.bibliographies import cited_works, entries, strangers
from theorax.reports.document import (
    SCHEMA_VERSION,
    ClaimReport,
    Document,
    MachineReport,
    RunSettings,
    RunSummary,
    ShardReport,
    Source,
    SuiteReport,
    TheoremReport,
)
from theorax.runs.manifests import EntrySort, Manifest, parted
from theorax.runs.sources import PACKAGE
from theorax.text.codec import built, json_values
from theorax.theorems.catalogue import claim_lines
from theorax.theorems.roots import Origin
from theorax.verifiers.outcome import TheoremOutcome
from theorax.version import __version__

if TYPE_CHECKING:
    from theorax.decide.error_budget import Suite
    from theorax.runs.listening import Record
    from theorax.runs.runner import Run
    from theorax.runs.selectors import Shard
    from theorax.verifiers.settings import Settings


def document(run: Run, settings: Settings, command: Sequence[str], created: str) -> Document:
    """The report of a run."""
    sources = _sources(run.manifests.values())
    places = {source: place for place, source in enumerate(sources)}
    cited = {record.outcome.id: cited_works(record.outcome, run.bibliography) for record in run.records}
    theorems = [
        _theorem(record, run, places, tuple(work.key for work in cited[record.outcome.id])) for record in run.records
    ]
    finished = {theorem.id for theorem in theorems}
    summary = RunSummary.of(
        theorems,
        interrupted=run.interrupted,
        unfinished=tuple(id for id in run.selected if id not in finished),
        seconds=run.seconds,
        troubles=tuple(dict.fromkeys((*run.troubles, *strangers(run)))),
    )
    found = Document(
        schema_version=SCHEMA_VERSION,
        generator=f"theorax {__version__}",
        created=created,
        command=shlex.join(command),
        environment=MachineReport.here(),
        settings=replace(_settings(settings), jobs=run.jobs or settings.jobs),
        summary=summary,
        suite=_suite(run),
        sources=sources,
        bibliography=entries(work for found in cited.values() for work in found),
        theorems=tuple(theorems),
        shard=_shard(run.shard) if run.shard is not None else None,
    )
    # A report of this run and the same report read from its file are rendered alike: both hold what JSON can hold.
    return built(Document, json_values(found))


def _settings(settings: Settings) -> RunSettings:
    own = {field.name: getattr(settings, field.name) for field in dataclasses.fields(RunSettings)}
    return RunSettings(**own | {"at": dict(settings.at), "sizes": dict(settings.sizes)})


def _shard(shard: Shard) -> ShardReport:
    return ShardReport(shard.number, shard.of, shard.selected, shard.named, shard.attempt)


def _suite(run: Run) -> SuiteReport:
    suite = run.suite
    return SuiteReport(
        method="Holm",
        refutations=suite.refutations,
        refutation_level=REFUTATIONS,
        supports=suite.supports,
        support_level=SUPPORTS,
        changed=tuple(suite.changed),
        sentence=suite.sentence if run.shard is None else "A shard of a run: nothing is adjusted before the merge.",
    )


def _sources(manifests: Iterable[Manifest]) -> tuple[Source, ...]:
    """The files that determine the results of this run; two roots may each have a file of one name."""
    return tuple(sorted({source for manifest in manifests for source in _read(manifest)}, key=astuple))


def _read(manifest: Manifest) -> Iterator[Source]:
    """The files of a manifest other than the theorem's own, which its report has as ``file`` and ``digest``."""
    for name, digest in manifest.items():
        if parted(name)[0] in EntrySort.read():
            yield Source(name, digest)


def _theorem(record: Record, run: Run, places: Mapping[Source, int], works: tuple[str, ...]) -> TheoremReport:
    alone = record.outcome
    manifest, file = run.manifests.get(alone.id, {}), run.files.get(alone.id)
    lines = claim_lines(file) if file is not None else {}
    adjusted = run.adjusted[alone.id]
    claims = tuple(
        _claim(f"{alone.id}.{new.id}", new, old, run.suite, lines.get(new.id))
        for new, old in zip(adjusted.claims, alone.claims, strict=True)
    )
    return TheoremReport(
        **fields_of(adjusted, TheoremOutcome) | {"claims": claims, "work": alone.work},
        status_unadjusted=alone.status,
        works=works,
        kept_from=record.kept_from,
        log=record.log,
        file=_shown(file, adjusted.root) if file is not None else "",
        digest=manifest.get(EntrySort.THEOREM.entry(), ""),
        reads=tuple(sorted(places[source] for source in _read(manifest))),
        dependencies_unchecked=run.unchecked.get(alone.id, ()),
    )


def _claim(name: str, claim: Verdict, alone: Verdict, suite: Suite, line: int | None) -> ClaimReport:
    member = suite.members.get(name)
    return ClaimReport(
        **fields_of(claim, Verdict),
        status_unadjusted=alone.status,
        adjusted_refute=member.refute if member else None,
        adjusted_support=member.support if member else None,
        line=line,
    )


def fields_of(value: Any, kind: type) -> dict[str, Any]:
    """The values of those fields that this type has."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(kind)}


def _shown(file: Path, origin: Origin | None) -> str:
    """A theorem's file from the project, the folder that holds the package, or the present one; elsewhere its last names."""
    if origin is not None and origin.kind == "project":
        return f"{origin.folder}/{origin.file}"
    for root in (PACKAGE.parent, Path.cwd()):
        if file.is_relative_to(root):
            return file.relative_to(root).as_posix()
    return f"{file.parent.name}/{file.name}"
