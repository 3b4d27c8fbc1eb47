"""The library's way in: check theorems and get their report as a value."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from theorax.decide.error_budget import METHODS as ADJUSTMENTS
from theorax.decide.status import Status
from theorax.errors import UsageError
from theorax.names import did_you_mean
from theorax.reports.assembly import document
from theorax.reports.document import Document, TheoremReport
from theorax.runs.runner import CHECK, run
from theorax.runs.selectors import select
from theorax.runs.store import Store, StoreError, now
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.settings import EFFORTS, Settings, tonight


@dataclass(frozen=True)
class Report:
    """Results of a run: ``document`` is the whole of them, as every rendering has it."""

    document: Document

    @property
    def exit_code(self) -> int:
        """Exit code that the command would have returned: 0 if every theorem holds."""
        return self.document.summary.exit_code

    @property
    def statuses(self) -> dict[str, Status]:
        """Every theorem with its status."""
        return {part.id: part.status for part in self.document.theorems}

    def __getitem__(self, id: str) -> TheoremReport:
        """The part of one theorem.

        **Raises:** KeyError if it is not in this report.
        """
        return self.document.by_id[id]

    def __str__(self) -> str:
        from theorax.reports import summary
        from theorax.text import plain

        return plain.render(summary.report(self.document)).rstrip("\n")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """A notebook shows every theorem with its verdict, its formulas and its plots."""
        from theorax.reports.html.page import cell
        from theorax.text import hypertext

        rows = [
            (f"{part.id}.{claim.id} is {claim.status}:", claim.latex)
            for part in self.document.theorems
            for claim in part.claims
        ]
        return hypertext.bundle(str(self), cell(self.document), hypertext.latex_rows(rows))


def verify(*selectors: str, exclude: Iterable[str] = (), **settings: Any) -> Report:
    """Check theorems as ``verify theorem`` does; ``settings`` are the fields of :class:`Settings`.

    Kept results live in ``state``, a folder of the current directory unless another is given. Every process computes
    with one thread so that a result does not depend on the number of jobs; where NumPy or JAX were imported before,
    their threads stay as they are in this process.

    **Raises:** UsageError for a selector, setting or value that means nothing; NothingSelected if nothing is left.
    """
    known = [field.name for field in dataclasses.fields(Settings)]
    for name in settings:
        if name not in known:
            raise UsageError(f"There is no setting `{name}`{did_you_mean(name, known)}")
    if settings.get("nightly"):
        settings = {"seed": tonight(), **settings}
    chosen = Settings(**settings)
    if chosen.effort not in EFFORTS:
        hint = did_you_mean(chosen.effort, EFFORTS)
        raise UsageError(f"There is no effort `{chosen.effort}`{hint} Write {', '.join(EFFORTS)}.")
    if chosen.adjust not in ADJUSTMENTS:
        hint = did_you_mean(chosen.adjust, ADJUSTMENTS)
        raise UsageError(f"There is no adjustment `{chosen.adjust}`{hint} Write {', '.join(ADJUSTMENTS)}.")
    catalogue = Catalogue()
    selection = select(selectors, catalogue, lambda: statuses(Path(chosen.state)), exclude)
    found = run(selection, chosen, catalogue, CHECK)
    return Report(document(found, chosen, ["theorax.verify", *selectors], now()))


def statuses(state: Path) -> dict[str, str]:
    """The last status of every theorem that the store in ``state`` knows; none if it cannot be read."""
    try:
        return {id: status for id, (status, _) in Store(state).statuses().items()}
    except StoreError:
        return {}
