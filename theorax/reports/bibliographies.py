"""Which works of the bibliography a run comes from and cites, and which sources are in no bibliography."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from theorax.text.safe import address
from theorax.theorems.bibliography import FILE, Bibliography, Work

if TYPE_CHECKING:
    from theorax.runs.runner import Run
    from theorax.verifiers.outcome import TheoremOutcome


def works(outcome: TheoremOutcome, known: Bibliography) -> list[Work]:
    """The theorem's paper, then the works that its place, its proofs and its references cite, each once."""
    paper = known.by_key.get(outcome.paper)
    found = [] if paper is None else [paper]
    found += known.named(outcome.place)
    for source in _sources(outcome):
        found += known.cited(source)[0]
    return list(dict.fromkeys(found))


def entries(found: Iterable[Work]) -> list[dict[str, str]]:
    """Every work once, in the order of labels, as JSON values."""
    ordered = sorted({work.key: work for work in found}.values(), key=lambda work: (work.label, work.key))
    return [{"key": work.key, "label": work.label, "entry": work.told, "url": address(work.url)} for work in ordered]


def strangers(run: Run) -> Iterator[str]:
    """A sentence about each source that no bibliography has."""
    ids = {record.outcome.id for record in run.records}
    seen: set[str] = set()
    for record in run.records:
        outcome = record.outcome
        file = run.files.get(outcome.id)
        place = f"{file.parent.parent.name}/{FILE}" if file is not None else FILE
        for source in _sources(outcome):
            for stranger in run.bibliography.cited(source, {*ids, *outcome.uses})[1]:
                if stranger not in seen:
                    seen.add(stranger)
                    yield f"{outcome.id}: {run.bibliography.unknown(stranger, place)}"


def _sources(outcome: TheoremOutcome) -> list[str]:
    """What its proofs and references name."""
    return [*(step.method for step in outcome.proof if step.status == "CITED"), *outcome.references]
