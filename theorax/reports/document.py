"""The report of a run as one versioned document of JSON values; every rendering is made from it alone.

The document obeys ``schema/v3.json``, which refuses fields it does not know. Numbers that are not finite become null:
JSON has no others. A claim's own numbers are those of its worst case, the one that decided.
"""

from __future__ import annotations

import math
import os
import platform
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theorax import __version__
from theorax.decide.error_budget import REFUTATIONS, SUPPORTS, TITLES, Adjusted
from theorax.decide.status import Status
from theorax.decide.verdict import Verdict
from theorax.reports.bibliographies import entries, strangers, works
from theorax.runs.sources import LIBRARIES, PACKAGE, Manifest, version
from theorax.theorems.catalogue import claim_lines
from theorax.verifiers.settings import Settings

if TYPE_CHECKING:
    from theorax.runs.runner import Record, Run

SCHEMA_VERSION = 3
STATUSES = tuple(Status)

Document = dict[str, Any]


def document(run: Run, settings: Settings, command: Sequence[str], created: str) -> Document:
    """The report of a run."""
    sources = _sources(run.manifests.values())
    places = {part["name"]: place for place, part in enumerate(sources)}
    cited = {record.outcome.id: works(record.outcome, run.bibliography) for record in run.records}
    theorems = [
        {**_theorem(record, run, places), "works": [work.key for work in cited[record.outcome.id]]}
        for record in run.records
    ]
    checked = [record.outcome.work for record in run.records if record.kept_from is None]
    cpu = sum(work.cpu_seconds for work in checked)
    compiling = sum(work.compile_seconds for work in checked)
    statuses = [theorem["status"] for theorem in theorems]
    finished = {theorem["id"] for theorem in theorems}
    found: Document = {
        "schema_version": SCHEMA_VERSION,
        "generator": f"theorax {__version__}",
        "created": created,
        "command": shlex.join(command),
        "environment": environment(),
        "settings": {
            "effort": settings.effort,
            "seed": settings.seed,
            "device": settings.device,
            "level": settings.level,
            "at": dict(settings.at),
            "sizes": {letter: list(sizes) for letter, sizes in settings.sizes},
            "model": settings.model,
            "nightly": settings.nightly,
            "adjust": settings.adjust,
            "jobs": settings.jobs,
            "fresh": settings.fresh,
        },
        "summary": {
            "theorems": len(theorems),
            "statuses": dict(Counter(statuses)),
            "exit_code": exit_code(statuses, interrupted=run.interrupted),
            "interrupted": run.interrupted,
            "unfinished": [id for id in run.selected if id not in finished],
            "kept": sum(theorem["kept"] for theorem in theorems),
            "seconds": run.seconds,
            "programs": sum(work.programs for work in checked),
            "draws": sum(work.draws for work in checked),
            "cpu_seconds": cpu,
            "compile_seconds": compiling,
            "compile_share": min(1.0, compiling / cpu) if cpu > 0 else None,
            "troubles": [*run.troubles, *strangers(run)],
        },
        "suite": {
            "method": TITLES[run.suite.method],
            "refutations": run.suite.refutations,
            "refutation_level": REFUTATIONS,
            "supports": run.suite.supports,
            "support_level": SUPPORTS,
            "changed": list(run.suite.changed),
            "sentence": run.suite.sentence,
        },
        "sources": sources,
        "bibliography": entries(work for found in cited.values() for work in found),
        "theorems": theorems,
    }
    return finite(found)


_FILES = ("source ", "model file ")  # how a manifest names files other than the theorem's own


def _sources(manifests: Iterable[Manifest]) -> list[Document]:
    """The files that determine the results of this run. One tree was read, so a file has one digest."""
    merged = {name: digest for manifest in manifests for name, digest in manifest.items()}
    return [{"name": name, "digest": merged[name]} for name in sorted(merged) if name.startswith(_FILES)]


def exit_code(statuses: Iterable[str], *, interrupted: bool = False) -> int:
    """What the command returns to its caller; the first row that applies.

    ====================================  ====
    interrupted by the user               130
    a theorem is REFUTED                  1
    a theorem is ERROR                    3
    any other that does not hold          4
    nothing was checked                   5
    all hold                              0
    ====================================  ====
    """
    found = set(statuses)
    if interrupted:
        return 130
    if Status.REFUTED in found:
        return 1
    if Status.ERROR in found:
        return 3
    if not all(Status(word).holds for word in found):
        return 4
    return 0 if found else 5


def environment() -> dict[str, Any]:
    """What the run ran on: versions and the kind of machine, never its name."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "versions": {name: version(name) for name in LIBRARIES},
    }


def _theorem(record: Record, run: Run, places: Mapping[str, int]) -> Document:
    alone = record.outcome
    adjusted, members = run.adjusted[alone.id], run.suite.members
    manifest, file = run.manifests.get(alone.id, {}), run.files.get(alone.id)
    lines = claim_lines(file) if file is not None else {}
    return {
        "id": alone.id,
        "title": alone.title,
        "paper": alone.paper,
        "source": alone.source,
        "place": alone.place,
        "label": alone.label,
        "status": adjusted.status,
        "status_unadjusted": alone.status,
        "reason": adjusted.reason,
        "blocked_by": list(adjusted.blocked_by),
        "uses": list(alone.uses),
        "letters": [asdict(row) for row in alone.letters],
        "hypotheses": [asdict(row) for row in alone.hypotheses],
        "claims": [
            _claim(new, old.status, members.get(f"{alone.id}.{new.id}"), lines.get(new.id))
            for new, old in zip(adjusted.claims, alone.claims, strict=True)
        ],
        "controls": [asdict(row) for row in alone.controls],
        "mutants": [asdict(row) for row in alone.mutants],
        "proof": [asdict(row) for row in alone.proof],
        "issues": list(alone.issues),
        "references": list(alone.references),
        "model": alone.model,
        "replay": alone.replay,
        "seconds": alone.work.seconds,
        "work": asdict(alone.work),
        "kept": record.kept_from is not None,
        "kept_from": record.kept_from,
        "log": record.log,
        "file": _shown(file) if file is not None else "",
        "digest": manifest.get("theorem", ""),
        "reads": sorted(places[name] for name in manifest if name in places),
    }


def _shown(file: Path) -> str:
    """A theorem's file from the folder that holds the package, or from the present one; a path elsewhere is no news."""
    for root in (PACKAGE.parent, Path.cwd()):
        if file.is_relative_to(root):
            return file.relative_to(root).as_posix()
    return f"{file.parent.name}/{file.name}"


def _claim(claim: Verdict, alone: str, member: Adjusted | None, line: int | None) -> Document:
    worst = claim.cases[claim.worst] if claim.worst is not None else None
    return {
        "id": claim.id,
        "kind": claim.kind,
        "status": claim.status,
        "status_unadjusted": alone,
        "reason": claim.reason,
        "sentence": claim.sentence,
        "because": claim.because,
        "statement": claim.statement,
        "latex": claim.latex,
        "prediction": claim.prediction,
        "as": claim.as_,
        "corrected": claim.corrected,
        "rigorous": claim.rigorous,
        "shown_by": claim.shown_by,
        "robust": claim.robust,
        "side": claim.side,
        "direction": claim.direction,
        "level": claim.level,
        "margin_given": claim.margin_given,
        "subject": worst.subject if worst else None,
        "at": dict(worst.at) if worst else {},
        "predicted": worst.predicted if worst else None,
        "estimate": worst.estimate if worst else None,
        "standard_error": worst.standard_error if worst else None,
        "interval": list(worst.interval) if worst and worst.interval else None,
        "bias": worst.bias if worst else None,
        "margin": worst.margin if worst else None,
        "breakdown": worst.breakdown if worst else None,
        "noticeable": worst.noticeable if worst else None,
        "p_refute": claim.p_refute,
        "p_support": claim.p_support,
        "adjusted_refute": member.refute if member else None,
        "adjusted_support": member.support if member else None,
        "draws": claim.draws,
        "sizes": list(claim.sizes),
        "design_hash": claim.design_hash,
        "worst": claim.worst,
        "cases": [asdict(case) for case in claim.cases],
        "unseen": list(claim.unseen),
        "scope": claim.scope,
        "ledger": [asdict(assumption) for assumption in claim.ledger],
        "e_value": claim.e_value,
        "tightness": list(claim.tightness) if claim.tightness else None,
        "attempt": claim.attempt,
        "nights": claim.nights,
        "line": line,
    }


def finite(value: Any) -> Any:
    """The value with null for every number that is not finite and lists for tuples."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(part) for part in value]
    return value
