"""Shards of one run joined: one report, with the blocking and the statement about the run of a single run.

What the shards found stands in the place of checks; the rest is the run itself, by its own functions. Refused is what a
single run could not have been: other versions of theorax or of the libraries, another kind of machine, other settings or
another selection, other sources than those here, a theorem twice, a theorem missing.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from theorax.decide.verdict import Verdict, again
from theorax.errors import UsageError
from theorax.reports.assembly import document, fields_of
from theorax.reports.baselines import manifest_of
from theorax.reports.document import Document, ShardReport, TheoremReport
from theorax.runs.listening import Record
from theorax.runs.manifests import EntrySort, Manifest, manifest_differences
from theorax.runs.runner import run
from theorax.runs.selectors import Selection
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.outcome import TheoremOutcome
from theorax.version import __version__

__all__ = ["merged"]


def merged(shards: Mapping[str, Document], catalogue: Catalogue, state: str, created: str) -> Document:
    """The report of the run whose shards these are, by the names of their files.

    **Raises:** UsageError for files that are not all shards of one run.
    """
    parts = {name: _shard_of(name, shard) for name, shard in shards.items()}
    files = sorted(shards, key=lambda name: (parts[name].number, name))
    first = files[0]
    for name in files:
        _refuse_another_run(first, shards[first], name, shards[name])
    _refuse_overlaps_and_holes(files, parts)
    whole = parts[first]
    records: dict[str, Record] = {}
    for name in files:
        for part in shards[name].theorems:
            if part.id in records:
                raise UsageError(f"`{name}` holds `{part.id}`, and so does another shard. Give every shard once.")
            records[part.id] = _record(part)
    if missing := [id for id in whole.selected if id not in records]:
        raise UsageError(
            f"No shard checked {', '.join(missing)}: one was interrupted. Run that shard again; what had finished is kept."
        )
    if gone := [id for id in whole.selected if id not in catalogue.ids]:
        raise UsageError(f"There is no theorem {', '.join(gone)} here. Merge where the theorems that were checked are.")
    of_all = [shards[name] for name in files]
    settings = of_all[0].settings.settings(
        jobs=sum(one.settings.jobs for one in of_all),
        fresh=of_all[0].settings.fresh,
        state=state,
        attempt=whole.attempt,
    )
    found = run(Selection(whole.selected, whole.named), settings, catalogue, found=records)
    for name in files:
        for part in shards[name].theorems:
            _refuse_other_sources(name, part, shards[name], found.manifests.get(part.id, {}))
    troubles = dict.fromkeys(trouble for one in of_all for trouble in one.summary.troubles)
    # Shards run side by side: the run took as long as its longest.
    told = replace(found, seconds=max(one.summary.seconds for one in of_all), troubles=(*troubles, *found.troubles))
    joined = document(told, settings, _command(of_all[0]), created)
    cores = {one.environment.cores for one in of_all}
    return replace(joined, environment=replace(of_all[0].environment, cores=cores.pop() if len(cores) == 1 else None))


def _shard_of(name: str, shard: Document) -> ShardReport:
    if shard.shard is None:
        raise UsageError(
            f"`{name}` is the report of a whole run, and no shard. Write shards with `verify all --shard 1/4 --output "
            "json=1.json`."
        )
    if shard.generator != f"theorax {__version__}":
        raise UsageError(
            f"`{name}` was written by {shard.generator}, and this is theorax {__version__}. Use one version."
        )
    return shard.shard


def _refuse_another_run(name: str, first: Document, other: str, shard: Document) -> None:
    """Refuse a shard of another run than that of the first."""
    here, there = first.environment, shard.environment
    versions = {EntrySort.VERSION.entry(one): of for one, of in here.versions.items()}
    others = {EntrySort.VERSION.entry(one): of for one, of in there.versions.items()}
    machine = EntrySort.MACHINE.entry()
    for told, before, after in (
        ("other versions", {**versions, "python": here.python}, {**others, "python": there.python}),
        ("another kind of machine", {machine: _kind(first)}, {machine: _kind(shard)}),
        ("other settings", _settings(first), _settings(shard)),
    ):
        if changed := [
            f"{key}: {before.get(key)} and {after.get(key)}" for key in before if before[key] != after.get(key)
        ]:
            raise UsageError(f"`{name}` and `{other}` have {told} ({'; '.join(changed)}). Merge shards of one run.")
    one, two = first.shard, shard.shard
    if one is not None and two is not None and replace(two, number=one.number) != one:
        told = (
            f"{one.of} and {two.of} shards" if one.of != two.of else "other theorems, or another number of the attempt"
        )
        raise UsageError(f"`{name}` and `{other}` are of different runs: {told}. Merge shards of one run.")


def _kind(shard: Document) -> str:
    return f"{shard.environment.system} {shard.environment.machine}"


def _settings(shard: Document) -> dict[str, object]:
    """The settings that all shards of a run share."""
    beside = ("jobs", "fresh")  # how, not what
    return {name: value for name, value in vars(shard.settings).items() if name not in beside}


def _refuse_overlaps_and_holes(files: Sequence[str], parts: Mapping[str, ShardReport]) -> None:
    by_number: dict[int, str] = {}
    for name in files:
        number = parts[name].number
        if number in by_number:
            raise UsageError(f"`{by_number[number]}` and `{name}` are both shard {number}. Give every shard once.")
        by_number[number] = name
    of = parts[files[0]].of
    if missing := [number for number in range(1, of + 1) if number not in by_number]:
        listed = ", ".join(map(str, missing))
        raise UsageError(f"Of {of} shards, {listed} is missing. Give the reports of all." if len(missing) == 1 else
                         f"Of {of} shards, {listed} are missing. Give the reports of all.")  # fmt: skip


def _refuse_other_sources(name: str, part: TheoremReport, shard: Document, here: Manifest) -> None:
    """Refuse a theorem that was checked from other files than those here."""
    there = manifest_of(part, shard.sources, shard)
    if changed := [one for one in manifest_differences(there, here) if one.sort.is_file]:
        raise UsageError(
            f"`{part.id}` in `{name}` was checked from other sources than those here ({changed[0]}). Merge where the "
            "sources are those of the shards."
        )


def _record(part: TheoremReport) -> Record:
    """One theorem as its shard found it."""
    claims = tuple(again(fields_of(claim, Verdict)) for claim in part.claims)
    stated: dict[str, Any] = {**fields_of(part, TheoremOutcome), "claims": claims}
    outcome = TheoremOutcome(**stated)
    return Record(outcome, kept_from=part.kept_from, log=part.log)


def _command(shard: Document) -> list[str]:
    """The command that would have checked all shards at once."""
    words = shlex.split(shard.command)
    found, skipped = [], False
    for word in words:
        if skipped or word.startswith("--shard="):
            skipped = False
        elif word == "--shard":
            skipped = True
        else:
            found.append(word)
    return found
