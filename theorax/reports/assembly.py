"""The document of a run, assembled from its records, what they say together, and its bibliography."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theorax.decide.error_budget import Adjusted, Together, member, said_together
from theorax.decide.verdict import Verdict
from theorax.reports.bibliographies import cited_works, entries, strangers
from theorax.reports.document import (
    SCHEMA_VERSION,
    ClaimReport,
    Document,
    MachineReport,
    RunSettings,
    RunStatement,
    RunSummary,
    ShardReport,
    Source,
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
    from theorax.runs.listening import Record
    from theorax.runs.runner import Run
    from theorax.runs.selectors import Shard
    from theorax.verifiers.settings import Settings


def document(run: Run, settings: Settings, command: Sequence[str], created: str) -> Document:
    """The report of a run."""
    sources = _sources(run.manifests.values())
    places = {source: place for place, source in enumerate(sources)}
    cited = {record.outcome.id: cited_works(record.outcome, run.bibliography) for record in run.records}
    found = said_together(
        {
            f"{record.outcome.id}.{claim.id}": member(claim, claim.attempt)
            for record in run.records
            for claim in record.outcome.claims
        }
    )
    theorems = [
        _theorem(record, run, found, places, tuple(work.key for work in cited[record.outcome.id]))
        for record in run.records
    ]
    finished = {theorem.id for theorem in theorems}
    summary = RunSummary.of(
        theorems,
        interrupted=run.interrupted,
        unfinished=tuple(id for id in run.selected if id not in finished),
        seconds=run.seconds,
        troubles=tuple(dict.fromkeys((*run.troubles, *strangers(run)))),
    )
    whole = Document(
        schema_version=SCHEMA_VERSION,
        generator=f"theorax {__version__}",
        created=created,
        command=shlex.join(command),
        environment=MachineReport.here(),
        settings=replace(_settings(settings), jobs=run.jobs or settings.jobs),
        summary=summary,
        together=RunStatement.of(found) if run.shard is None else RunStatement.of_shard(),
        sources=sources,
        bibliography=entries(work for found in cited.values() for work in found),
        theorems=tuple(theorems),
        shard=_shard(run.shard) if run.shard is not None else None,
    )
    # A report of this run and the same report read from its file are rendered alike: both hold what JSON can hold.
    return built(Document, json_values(whole))


def _settings(settings: Settings) -> RunSettings:
    own = {field.name: getattr(settings, field.name) for field in dataclasses.fields(RunSettings)}
    return RunSettings(**own | {"at": dict(settings.at), "sizes": dict(settings.sizes)})


def _shard(shard: Shard) -> ShardReport:
    return ShardReport(shard.number, shard.of, shard.selected, shard.named, shard.attempt)


def _sources(manifests: Iterable[Manifest]) -> tuple[Source, ...]:
    """The files that determine the results of this run; two roots may each have a file of one name."""
    return tuple(sorted({source for manifest in manifests for source in _read(manifest)}, key=astuple))


def _read(manifest: Manifest) -> Iterator[Source]:
    """The files of a manifest other than the theorem's own, which its report has as ``file`` and ``digest``."""
    for name, digest in manifest.items():
        if parted(name)[0] in EntrySort.read():
            yield Source(name, digest)


def _theorem(
    record: Record, run: Run, found: Together, places: Mapping[Source, int], works: tuple[str, ...]
) -> TheoremReport:
    outcome = record.outcome
    manifest, file = run.manifests.get(outcome.id, {}), run.files.get(outcome.id)
    lines = claim_lines(file) if file is not None else {}
    members = found.members if run.shard is None else {}
    claims = tuple(
        _claim(claim, members.get(f"{outcome.id}.{claim.id}"), lines.get(claim.id)) for claim in outcome.claims
    )
    return TheoremReport(
        **fields_of(outcome, TheoremOutcome) | {"claims": claims},
        works=works,
        kept_from=record.kept_from,
        log=record.log,
        file=_shown(file, outcome.root) if file is not None else "",
        digest=manifest.get(EntrySort.THEOREM.entry(), ""),
        reads=tuple(sorted(places[source] for source in _read(manifest))),
        dependencies_unchecked=run.unchecked.get(outcome.id, ()),
    )


def _claim(claim: Verdict, adjusted: Adjusted | None, line: int | None) -> ClaimReport:
    return ClaimReport(
        **fields_of(claim, Verdict),
        adjusted_refute=adjusted.refute if adjusted else None,
        adjusted_support=adjusted.support if adjusted else None,
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
