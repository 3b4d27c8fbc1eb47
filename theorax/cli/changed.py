"""``--changed``: of the selected theorems those that a change since the baseline can affect."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
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
    workspace: Workspace, selection: Selection, chosen: Settings, file: Path | None, sources: Sources, *, new: bool
) -> Selection:
    """The theorems whose files, or the libraries that compute, differ from the baseline's; with ``new`` others too.

    How many stand as they were, and how many are not in the baseline, is said on the standard error.

    **Raises:** UsageError if there is no baseline.
    """
    from theorax.reports.baselines import read_baseline

    chosen_baseline = read_baseline(baseline_file(file))
    affected, standing, absent = split_by_change(workspace, selection, chosen, chosen_baseline, sources, new=new)
    click.echo(told_counts(len(affected.ids), len(standing), len(absent)), err=True)
    return affected


def split_by_change(
    workspace: Workspace, selection: Selection, chosen: Settings, baseline: Baseline, sources: Sources, *, new: bool
) -> tuple[Selection, tuple[str, ...], tuple[str, ...]]:
    """Split the theorems into those to check, those that nothing changed for, and those not in the baseline, left out."""
    from theorax.reports.baselines import since
    from theorax.runs.selectors import Selection

    affected, absent = [], []
    for id in selection.ids:
        own = chosen if id in selection.named else replace(chosen, at=(), sizes=(), model=None)
        path = workspace.catalogue.path(id)
        changes = since(baseline, id, sources.manifest(path, own), partial(sources.present, path, own.state))
        if changes is None and not new:
            absent.append(id)
        elif changes is None or any(one.sort.computes for one in changes):
            affected.append(id)
    standing = tuple(id for id in selection.ids if id not in affected and id not in absent)
    return Selection(tuple(affected), tuple(id for id in selection.named if id in affected)), standing, tuple(absent)


def told_counts(affected: int, standing: int, absent: int) -> str:
    """Count the theorems to check, those that stand, and those that are not in the baseline."""
    told = f"{affected} affected by changes, {standing} not affected"
    if absent:
        told += f", {absent} not in the baseline (not run; --new runs {'them' if absent > 1 else 'it'})"
    return f"{told}. `verify plan --why ID` says what a theorem reads." if not affected else f"{told}."
