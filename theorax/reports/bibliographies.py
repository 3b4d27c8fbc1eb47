"""Bibliography of a run: the works that it comes from and cites, and the sources that no bibliography has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from theorax.reports.document import CitedWork
from theorax.text.safe import address
from theorax.theorems.bibliography import FILE, Bibliography, BibliographyEntry
from theorax.verifiers.outcome import StepStatus

if TYPE_CHECKING:
    from theorax.runs.runner import Run
    from theorax.verifiers.outcome import TheoremOutcome


def cited_works(outcome: TheoremOutcome, known: Bibliography) -> list[BibliographyEntry]:
    """The theorem's paper, then the works that its place and its proofs cite, each once."""
    paper = known.by_key.get(outcome.paper)
    found = [] if paper is None else [paper]
    found += known.named(outcome.place)
    for source in _sources(outcome):
        found += known.cited(source)[0]
    return list(dict.fromkeys(found))


def entries(found: Iterable[BibliographyEntry]) -> tuple[CitedWork, ...]:
    """Every work once, in the order of labels."""
    ordered = sorted({work.key: work for work in found}.values(), key=lambda work: (work.label, work.key))
    return tuple(CitedWork(work.key, work.label, work.told, address(work.url)) for work in ordered)


def strangers(run: Run) -> Iterator[str]:
    """A sentence about each source that no bibliography has."""
    ids = {record.outcome.id for record in run.records}
    seen: set[str] = set()
    for record in run.records:
        outcome = record.outcome
        place = f"{outcome.root.folder}/{FILE}" if outcome.root is not None else FILE
        for source in _sources(outcome):
            for stranger in run.bibliography.cited(source, {*ids, *outcome.uses})[1]:
                if stranger not in seen:
                    seen.add(stranger)
                    yield f"{outcome.id}: {run.bibliography.unknown(stranger, place)}"


def _sources(outcome: TheoremOutcome) -> list[str]:
    """Sources named by its proofs."""
    return [step.method for step in outcome.proof if step.status is StepStatus.CITED]
