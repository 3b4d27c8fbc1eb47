"""``verify plan``: the checks of a run, their reasons and the power of their designs, before any draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theorax.cli.listing import existing_id
from theorax.cli.options import baseline_file, baseline_option, complete, listed, run_options, selectors, settings
from theorax.cli.printing import print_blocks
from theorax.cli.workspace import Workspace, workspace_of

if TYPE_CHECKING:
    from theorax.runs.sources import Manifest
    from theorax.runs.store import LastResult
    from theorax.text.blocks import Block
    from theorax.verifiers.settings import PlannedCheck, Settings


@click.command("plan")
@selectors()
@click.option("--why", metavar="ID", help="Only why this theorem would be checked or is kept.", shell_complete=complete)
@baseline_option
@run_options
@click.pass_context
def plan(context: click.Context, words: tuple[str, ...], why: str | None, baseline: Path | None, **given: Any) -> int:
    """Show what a run would check and why, and what its designs can see; nothing is drawn.

    --why says too what differs since the baseline, where there is one.
    """
    chosen = settings(given)
    workspace = workspace_of(context)
    from theorax.reports.library import statuses
    from theorax.runs.dependencies import Graph
    from theorax.runs.selectors import select
    from theorax.runs.sources import Sources
    from theorax.runs.store import Store

    catalogue = workspace.catalogue
    if why is not None:
        words = (existing_id(context, why),)
    selection = select(words or ("*",), catalogue, lambda: statuses(Path(chosen.state)), listed(given, "exclude"))
    sources, store = Sources(), Store(Path(chosen.state))
    blocks: list[Block] = []
    everything: list[PlannedCheck] = []
    for id in Graph.of(catalogue).order(selection.ids):
        own = chosen if id in selection.named else replace(chosen, at=(), sizes=(), model=None)
        manifest = sources.manifest(catalogue.path(id), own)
        kept = None if chosen.fresh else store.get(manifest)
        reasons = _reasons(store.last_manifest(id), manifest, fresh=chosen.fresh)
        problem = catalogue.problem(id)
        blocks += _expected_fate(id, kept.date if kept else None, problem, reasons)
        if why is not None:
            blocks += _since_baseline(baseline, id, manifest)
        if why is None and kept is None and problem is None:
            planned = _planned(workspace, id, own)
            everything += planned
            blocks += _designs(planned, own)
    blocks += _together(everything)
    print_blocks(blocks)
    return 0


def _reasons(last: LastResult | None, manifest: Manifest, *, fresh: bool) -> tuple[str, ...]:
    from theorax.reports.theorem_text import moment
    from theorax.runs.sources import differences

    if fresh:
        return ("--fresh asks for it",)
    if last is None:
        return ("no result is kept",)
    if not last.usable:
        return (f"the result kept from {moment(last.date)} was kept by another version of theorax, in another form",)
    changed = differences(last.manifest, manifest)
    return (f"since the result kept from {moment(last.date)}, these differ:", *changed)


def _expected_fate(id: str, kept: str | None, problem: str | None, reasons: tuple[str, ...]) -> Iterator[Block]:
    from theorax.reports.theorem_text import moment
    from theorax.text.blocks import Heading, Lines, Paragraph

    yield Heading(id)
    if problem is not None:
        yield Paragraph(f"Cannot be checked: {problem}")
    elif kept is not None:
        yield Paragraph(f"Kept from {moment(kept)}: nothing that determines it differs.")
    else:
        yield Paragraph(f"Will be checked: {reasons[0]}")
        yield Lines(tuple(reasons[1:]))


def _since_baseline(file: Path | None, id: str, manifest: Mapping[str, str]) -> Iterator[Block]:
    """Differences from the baseline, if the project has one or one is named."""
    from theorax.reports.baselines import affecting, read, since
    from theorax.text.blocks import Lines, Paragraph

    path = baseline_file(file)
    if file is None and not path.exists():
        return
    changes = since(read(path), id, manifest)
    if changes is None:
        yield Paragraph(f"Not in the baseline {path.name}: `--changed` checks it.")
    elif not changes:
        yield Paragraph(f"Nothing differs since the baseline {path.name}: `--changed` leaves it out.")
    else:
        does = "checks it" if affecting(changes) else "leaves it out, for no source differs"
        yield Paragraph(f"Since the baseline {path.name} these differ; `--changed` {does}:")
        yield Lines(changes)


def _planned(workspace: Workspace, id: str, own: Settings) -> list[PlannedCheck]:
    from theorax.runs import checking
    from theorax.runs.workers import one_thread

    one_thread()
    return checking.plan(id, replace(own, roots=workspace.catalogue.elsewhere))


def _designs(planned: list[PlannedCheck], own: Settings) -> Iterator[Block]:
    from theorax.text.blocks import Paragraph, Table
    from theorax.text.numbers import number

    rows = tuple(
        (
            f"{row.claim} on {row.subject}" + "".join(f", {letter}={value}" for letter, value in row.at.items()),
            "..".join(dict.fromkeys((number(row.sizes[0]), number(row.sizes[-1])))) if row.sizes else "–",
            str(sum(row.draws)),
            number(row.margin, 2),
            number(row.half_width, 2),
            "yes" if row.decides else "NO",
        )
        for row in planned
    )
    if rows:
        yield Table(("claim and case", "sizes", "draws", "margin", "± planned", "decides"), rows, right=(2, 3, 4))
    if planned:
        yield Paragraph(_spending(planned, own.level), quiet=True)
    for row in planned:
        if row.note:
            yield Paragraph(f"{row.claim}: {row.note}", hang=2)


def _together(planned: list[PlannedCheck]) -> Iterator[Block]:
    """Power left by the adjustment over one run of all these claims, if each is as true and as noisy as planned."""
    from statistics import NormalDist

    from theorax.decide.error_budget import SUPPORTS, short_of
    from theorax.decide.spending import charged
    from theorax.text.blocks import Heading, Paragraph
    from theorax.text.numbers import number

    expected: dict[str, float] = {}
    for row in planned:
        if row.p_support is not None and row.decides:
            name, p = f"{row.theorem}.{row.claim}", charged(row.p_support, row.attempt)
            expected[name] = max(p, expected.get(name, 0.0))
    if len(expected) < 2:
        return
    yield Heading("All of them in one run")
    short = short_of(expected)
    kept = f"{len(expected) - len(short)} of {len(expected)} claims would stay supported"
    yield Paragraph(f"Were each exactly true and as noisy as planned, {kept} under Holm at {SUPPORTS}.")
    for name, needed in short.items():
        if expected[name] <= needed:  # it falls with those before it: Holm goes down step by step
            continue
        least = NormalDist().inv_cdf(needed) / NormalDist().inv_cdf(min(expected[name], 0.499))
        yield Paragraph(
            f"{name} would have p = {number(expected[name], 3)} where {number(needed, 3)} is needed: about "
            f"{number(max(1.0, least**2), 2)} times its draws would do, while their noise is most of its width.",
            hang=2,
        )


def _spending(planned: list[PlannedCheck], level: float) -> str:
    """The next attempt of every claim, and its share of the error budget."""
    from theorax.text.numbers import number

    claims: dict[tuple[int, float], list[str]] = {}
    for row in planned:
        names = claims.setdefault((row.attempt, row.level), [])
        if row.claim not in names:
            names.append(row.claim)
    told = [
        f"attempt {attempt} at level {number(own, 3)}" + (f" ({', '.join(names)})" if len(claims) > 1 else "")
        for (attempt, own), names in sorted(claims.items())
    ]
    return f"Next: {'; '.join(told)}. All attempts with fresh seeds together spend {number(level, 3)}."
