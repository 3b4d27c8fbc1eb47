"""``verify baseline save`` and ``verify baseline compare``: what was found, kept, and later runs held against it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theorax.cli.check import checked, selected
from theorax.cli.environment import World, world
from theorax.cli.options import Command, baseline_file, complete, listed, run_options, settings
from theorax.errors import UsageError

if TYPE_CHECKING:
    from theorax.reports.baselines import Baseline
    from theorax.reports.document import Document
    from theorax.reports.regression import Comparison
    from theorax.reports.replaying import Replay
    from theorax.text.blocks import Block

FORMATS = ("terminal", "json")


@click.group("baseline", short_help="Keep what a run found, and hold later runs against it.")
def baseline() -> None:
    """Keep what a run found in a file of your repository, and hold later runs against it.

    FILE is theorax-baseline.json in the project's root unless another is named.
    """


def _shared(command: Command) -> Command:
    options: Sequence[Callable[[Command], Command]] = (
        click.argument("file", type=click.Path(path_type=Path), required=False),
        click.option(
            "--report", type=click.Path(path_type=Path), metavar="FILE", help="Take this JSON report; run nothing."
        ),
        click.option(
            "--only",
            multiple=True,
            metavar="SELECTOR",
            help="These theorems only; repeatable.",
            shell_complete=complete,
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@baseline.command("save", short_help="Write the baseline file.")
@_shared
@run_options
@click.pass_context
def save(context: click.Context, file: Path | None, report: Path | None, only: tuple[str, ...], **given: Any) -> int:
    """Write the baseline file: of every theorem, or of those that --only selects.

    What is selected is checked (kept results are used), unless --report names a report that has it. With --only the
    other theorems of an existing file stay as they are. --output writes the report of the run to a file too.
    """
    from theorax.cli.check import give
    from theorax.cli.values import outputs as reports
    from theorax.reports import baselines as files
    from theorax.reports import json

    path, here = baseline_file(file), world(context)
    json.writable(path)
    wanted = [(format_, place) for format_, place in reports(listed(given, "output")) if place is not None]
    onto = files.read(path) if only and path.exists() else None
    if report is not None:
        found = _read_report(here, report, only)
    else:
        chosen = settings(given)
        found = checked(here, selected(here, only or ("*",), chosen, listed(given, "exclude")), chosen, told=True)
        if found.summary.interrupted:
            click.echo("Error: Interrupted. What had finished is kept; the baseline was not written.", err=True)
            return 130
    for format_, place in wanted:
        give(format_, place, found)
    kept = files.taken(found, onto)
    lost = _dropped(path, kept)
    json.write_text(files.text(kept), path)
    claims = sum(len(part.claims) for part in kept.theorems)
    told = f"{claims} claims of {len(kept.theorems)} theorems are in {path}."
    failing = [part.id for part in kept.theorems if not part.status.holds]
    if failing:
        told += f" Not holding, and kept as such: {', '.join(failing)}."
    if lost:
        told += f" No longer in it: {', '.join(lost)}."
    click.echo(told)
    return 0


def _dropped(path: Path, kept: Baseline) -> list[str]:
    """The theorems that were in the file before and are not in what replaces it."""
    from theorax.reports import baselines as files

    try:
        before = files.read(path).by_id
    except UsageError:  # there was none, or it is unreadable and is replaced
        return []
    return sorted(set(before) - set(kept.by_id))


@baseline.command("compare", short_help="Hold a run against the baseline file.")
@_shared
@click.option(
    "--changed", is_flag=True, help="Check only what a change since the baseline can affect; the rest stands."
)
@click.option("--seed", type=int, metavar="N", help="Other draws than the baseline's [those of the baseline].")
@click.option("--fresh", is_flag=True, help="Check again what is kept.")
@click.option("--jobs", "-j", type=int, metavar="N", help="Checks at a time [one per core].")
@click.option("--state", type=click.Path(), metavar="DIR", help="Folder of kept results.")
@click.option("--within", "share", type=float, default=0.5, help="What counts as the same, in margins [0.5].")
@click.option("--strict", is_flag=True, help="Fail too where an estimate moved under a word that stands.")
@click.option("--output", "-o", multiple=True, metavar="FORMAT[=FILE]", help="terminal, json; repeatable [terminal].")
@click.pass_context
def compare(
    context: click.Context,
    file: Path | None,
    report: Path | None,
    only: tuple[str, ...],
    changed: bool,
    share: float,
    strict: bool,
    output: tuple[str, ...],
    **given: Any,
) -> int:
    """Hold a run against the baseline file; nothing is run where --report names one.

    The theorems of the baseline are checked with its settings and seeds. Every claim is the same, has moved, cannot be
    told or is incomparable; a word that got worse, and a claim that vanished, fail.

    \b
    Exit codes: 1 regressed or vanished (with --strict: or moved);
    4 open where the baseline was not, restated or incomparable; 5 nothing compared.
    """
    from theorax.reports import baselines as files
    from theorax.reports import regression_text
    from theorax.reports.regression import compared

    wanted = outputs(output, "comparison")
    if not 0 < share <= 1:
        raise UsageError(
            f"`--within {share:g}`: no estimate stays within nothing, and beyond a whole margin it says nothing of the "
            "claim. Write a share of the margin, such as `--within 0.5`."
        )
    kept, here = files.read(baseline_file(file)), world(context)
    if only:
        kept = kept.of(_ids(here, only))
    standing: tuple[str, ...] = ()
    if report is not None:
        if changed:
            raise UsageError(
                "`--changed` chooses what is checked, and with `--report` nothing is. Leave one of them out."
            )
        found = _read_report(here, report, only)
    else:
        found, standing = _run(here, kept, given, changed=changed, told=("terminal", None) in wanted)
    comparison = compared(kept, found, share=share, strict=strict, known=here.catalogue.ids, standing=standing)
    for format_, path in wanted:
        write(format_, path, comparison, regression_text.told(comparison))
    return 130 if found.summary.interrupted else comparison.summary.exit_code


def _run(
    here: World, kept: Baseline, given: dict[str, Any], *, changed: bool, told: bool
) -> tuple[Document, tuple[str, ...]]:
    """Check the theorems of the baseline as it was made; with ``changed`` name those that were left standing."""
    from theorax.cli.changed import split
    from theorax.runs.selectors import Selection
    from theorax.runs.sources import Sources

    sources = Sources()  # read once, for the choice and for the run
    usual = settings({name: value for name, value in given.items() if name in ("jobs", "state", "fresh")})
    chosen = kept.runs[-1].settings.settings(jobs=usual.jobs, fresh=usual.fresh, state=usual.state)
    if given["seed"] is not None:
        chosen = replace(chosen, seed=given["seed"])
    if chosen.model is not None:
        from theorax.runs.sources import model_file

        model_file(chosen.model)
    present = set(here.catalogue.ids)
    ids = tuple(part.id for part in kept.theorems if part.id in present)
    selection = Selection(ids, ids)
    standing: tuple[str, ...] = ()
    if changed:
        selection, standing = split(here, selection, chosen, kept, sources)
    return checked(here, selection, chosen, told=told, sources=sources), standing


def _read_report(here: World, file: Path, only: Sequence[str]) -> Document:
    from theorax.reports.reading import read

    document = read(file)
    return document.of(_ids(here, only)) if only else document


def _ids(here: World, only: Sequence[str]) -> frozenset[str]:
    from theorax.runs.selectors import select

    return frozenset(select(only, here.catalogue).ids)


def outputs(texts: Sequence[str], what: str) -> list[tuple[str, Path | None]]:
    """The formats asked for, each with its file; None is the standard output.

    **Raises:** UsageError if a format is unknown or a file cannot be written.
    """
    from theorax.names import did_you_mean
    from theorax.reports import json

    found: list[tuple[str, Path | None]] = []
    for text in texts or ("terminal",):
        name, equals, file = text.partition("=")
        if name not in FORMATS or (equals and not file):
            raise UsageError(
                f"`--output {text}`: a {what} is written as {' or '.join(FORMATS)}{did_you_mean(name, FORMATS)} "
                f"Write `--output json={what}.json`."
            )
        if file:
            json.writable(Path(file))
        found.append((name, Path(file) if file else None))
    return found


def write(format_: str, path: Path | None, found: Comparison | Replay, blocks: Sequence[Block]) -> None:
    """A comparison or a replay to its file or to the standard output, there in colour if it is a terminal."""
    from theorax.reports import json
    from theorax.text.plain import render
    from theorax.text.safe import uncommanded

    if format_ == "terminal" and path is None and sys.stdout.isatty():
        from theorax.reports.terminal import console, show

        show(blocks, console())
        return
    content = json.text(found) if format_ == "json" else uncommanded(render(blocks))
    if path is None:
        click.echo(content, nl=False)
    else:
        json.write_text(content, path)
