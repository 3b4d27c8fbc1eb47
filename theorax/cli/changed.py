"""``--changed``: of the selected theorems those that a change since the baseline can affect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from theorax.cli.options import baseline_file
from theorax.cli.workspace import Workspace

if TYPE_CHECKING:
    from theorax.reports.baselines import Baseline
    from theorax.runs.selectors import Selection
    from theorax.runs.sources import Sources
    from theorax.verifiers.settings import Settings


def only_changed(
    workspace: Workspace, selection: Selection, chosen: Settings, file: Path | None, sources: Sources
) -> Selection:
    """The theorems whose files, or the libraries that compute, differ from the baseline's, and those not in it.

    How many stand as they were is said on the standard error.

    **Raises:** UsageError if there is no baseline.
    """
    from theorax.reports.baselines import read

    affected, standing = split(workspace, selection, chosen, read(baseline_file(file)), sources)
    click.echo(_count_of_changed(len(affected.ids), len(standing)), err=True)
    return affected


def split(
    workspace: Workspace, selection: Selection, chosen: Settings, baseline: Baseline, sources: Sources
) -> tuple[Selection, tuple[str, ...]]:
    """Split the theorems into those that a change since the baseline can affect, and the ids of the others."""
    from theorax.reports.baselines import affecting, since
    from theorax.runs.selectors import Selection

    affected = []
    for id in selection.ids:
        own = chosen if id in selection.named else replace(chosen, at=(), sizes=(), model=None)
        changes = since(baseline, id, sources.manifest(workspace.catalogue.path(id), own))
        if changes is None or affecting(changes):
            affected.append(id)
    standing = tuple(id for id in selection.ids if id not in affected)
    return Selection(tuple(affected), tuple(id for id in selection.named if id in affected)), standing


def _count_of_changed(affected: int, standing: int) -> str:
    rest = (
        f"{standing} theorem{'s' * (standing != 1)} read{'s' * (standing == 1)} nothing that changed since the baseline"
    )
    if not affected:
        return f"Nothing to check: {rest}. `verify plan --why ID` says what a theorem reads."
    return f"To check: {affected} that a change since the baseline can affect; {rest}."
