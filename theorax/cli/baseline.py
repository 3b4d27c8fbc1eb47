"""``verify baseline save`` and ``verify baseline compare``: keep results, and compare later runs with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theorax.cli.check import check_theorems, select_theorems
from theorax.cli.options import (
    answer_option,
    baseline_file,
    combined_options,
    fresh_option,
    jobs_option,
    new_option,
    run_options,
    settings,
    typed_or_default,
)
from theorax.cli.printing import give_reports, shown_path
from theorax.cli.selecting import complete, library_option, root_option, state_option
from theorax.cli.typed_values import outputs
from theorax.cli.workspace import Workspace, workspace_of
from theorax.decide.status import Status
from theorax.errors import UsageError
from theorax.names import many

if TYPE_CHECKING:
    from theorax.reports.baselines import Baseline, BaselineTheorem
    from theorax.reports.document import Document


@click.group("baseline")
def baseline() -> None:
    """Keep the results of a run in a file of your repository, and compare later runs with them.

    FILE is theorax-baseline.json in the project's root unless another is named.
    """


shared_options = combined_options(
    click.argument("file", type=click.Path(path_type=Path), required=False),
    click.option(
        "--report", type=click.Path(path_type=Path), metavar="FILE", help="Take this JSON report; run nothing."
    ),
    click.option(
        "--only", multiple=True, metavar="SELECTOR", help="These theorems only; repeatable.", shell_complete=complete
    ),
)


@baseline.command("save", short_help="Write the baseline file.")
@shared_options
@library_option
@run_options
@click.pass_context
def save(
    context: click.Context,
    file: Path | None,
    report: Path | None,
    only: tuple[str, ...],
    library: bool,
    **given: Any,
) -> int:
    """Write the baseline file: of every theorem, or of those that --only selects.

    Checks the selected theorems (kept results are used), unless --report names a report of them. With --only the
    other theorems of an existing file stay as they are. --output writes the report of the run to a file too.
    """
    from theorax.reports import baselines as files
    from theorax.reports import json

    exclude = typed_or_default(given, "exclude")
    path, workspace = baseline_file(file), workspace_of(context, (*only, *exclude))
    if report is not None:
        _refuse_options_of_runs(context, report)
    json.writable(path)
    path = path.absolute()
    wanted = [(format_, place) for format_, place in outputs(typed_or_default(given, "output")) if place is not None]
    onto = files.read_baseline(path) if only and path.exists() else None
    if report is not None:
        found = _read_report(workspace, report, only)
        if found.summary.interrupted:
            raise UsageError(
                f"`{report}` is the report of a run that did not end: {', '.join(found.summary.unfinished)} is not in it. "
                "Run it again; finished results are kept."
            )
    else:
        chosen = settings(given)
        words = only or workspace.usual(library=library)
        found = check_theorems(workspace, select_theorems(workspace, words, chosen, exclude), chosen, told=True)
        if found.summary.interrupted:
            click.echo("Error: Interrupted. Finished results are kept; the baseline was not written.", err=True)
            return 130
    give_reports(wanted, found)
    kept = files.taken(found, onto)
    lost = _dropped(path, kept)
    json.write_text(files.baseline_text(kept), path)
    claims = sum(len(part.claims) for part in kept.theorems)
    told = f"Wrote {shown_path(path)}: {many(claims, 'claim')} of {many(len(kept.theorems), 'theorem')}."
    failing = [part.id for part in kept.theorems if not part.status.holds]
    if failing:
        told += f" Not holding, and kept as such: {', '.join(failing)}."
    if lost:
        told += f" No longer in it: {', '.join(lost)}."
    click.echo(told)
    # A file of nothing but errors protects nothing.
    return 3 if all(part.status is Status.ERROR for part in found.theorems) else 0


def _dropped(path: Path, kept: Baseline) -> list[str]:
    """The theorems that were in the file before and are not in what replaces it."""
    from theorax.reports import baselines as files

    try:
        before = files.read_baseline(path).by_id
    except UsageError:  # there was none, or it is unreadable and is replaced
        return []
    return sorted(set(before) - set(kept.by_id))


@baseline.command("compare", short_help="Compare a run with the baseline file.")
@shared_options
@click.argument("other", metavar="[REPORT]", type=click.Path(path_type=Path), required=False)
@click.option(
    "--changed", is_flag=True, help="Check only what a change since the baseline can affect; the rest stands."
)
@new_option
@click.option("--seed", type=int, metavar="N", help="Other draws than the baseline's [those of the baseline].")
@fresh_option
@jobs_option
@root_option
@state_option
@click.option("--within", "share", type=float, default=0.5, help="Largest move that counts as none, in margins [0.5].")
@click.option("--strict", is_flag=True, help="Fail too if an estimate moved and its verdict did not.")
@answer_option
@click.pass_context
def compare(
    context: click.Context,
    file: Path | None,
    report: Path | None,
    only: tuple[str, ...],
    share: float,
    strict: bool,
    output: tuple[str, ...],
    **given: Any,
) -> int:
    """Compare a run with the baseline file; with REPORT or --report, compare that report and run nothing.

    FILE may be a report too: `verify baseline compare A.json B.json` compares two reports. The theorems of the baseline
    are checked with its settings and seeds. Every claim is the same, has moved, cannot be told or is incomparable.
    A claim that broke or vanished fails.

    \b
    Exit codes: 1 broke or vanished (with --strict: or moved);
    4 open where the baseline was not, restated or incomparable; 5 nothing compared.
    """
    from theorax.reports import baselines as files
    from theorax.reports.regression import compared
    from theorax.reports.regression_builds import regression_answer

    wanted = outputs(output, answer=True)
    if not 0 < share <= 1:
        raise UsageError(
            f"`--within {share:g}` is no share of the margin. A share is above 0 and at most 1. Write `--within 0.5`."
        )
    other: Path | None = given["other"]
    if report is not None and other is not None:
        raise UsageError(f"`{other}` and `--report {report}` both name the report to compare. Write one of them.")
    report = report if report is not None else other
    kept, workspace = files.read_baseline(baseline_file(file), or_report=True), workspace_of(context, only)
    if only:
        kept = kept.of(_ids(workspace, only))
    standing: tuple[str, ...] = ()
    if report is not None:
        _refuse_options_of_runs(context, report)
        found = _read_report(workspace, report, only)
        _refuse_missing_roots(workspace, [part for part in kept.theorems if part.id not in found.by_id])
    else:
        _refuse_missing_roots(workspace, kept.theorems)
        told = ("terminal", None) in wanted
        found, standing = _run(workspace, kept, given, whole=not only, told=told)
    typed = "" if file is None else str(file)
    ids = workspace.catalogue.ids
    comparison = compared(kept, found, share=share, strict=strict, known=ids, standing=standing, file=typed)
    lines = {}
    if any(format_ == "github" for format_, _ in wanted):
        from theorax.project import find_project
        from theorax.reports.changed_lines import changed_lines

        sources = comparison.changed.of(comparison.broken).sources
        lines = changed_lines(sources, baseline_file(file), find_project(Path.cwd()).root)
    give_reports(wanted, regression_answer(comparison, lines))
    return 130 if found.summary.interrupted else comparison.summary.exit_code


def _refuse_options_of_runs(context: click.Context, report: Path) -> None:
    """Refuse options that choose or steer checks where a report is given, and nothing is run.

    **Raises:** UsageError naming them.
    """
    kept = {"file", "report", "only", "other", "share", "strict", "output", "root", "library", "exclude"}
    typed = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in kept
        and parameter.name is not None
        and context.get_parameter_source(parameter.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if typed:
        raise UsageError(
            f"`{'`, `'.join(typed)}` is about checks, and with the report `{report}` none is run. Leave it out."
        )


def _run(
    workspace: Workspace, kept: Baseline, given: dict[str, Any], *, whole: bool, told: bool
) -> tuple[Document, tuple[str, ...]]:
    """Check the theorems of the baseline as it was made; with --changed name those that were left standing."""
    from theorax.cli.changed import split_by_change, told_counts
    from theorax.runs.selectors import Selection, usual
    from theorax.runs.sources import Sources

    sources = Sources()  # read once, for the choice and for the run
    typed = settings({name: value for name, value in given.items() if name in ("jobs", "state", "fresh", "seed")})
    chosen = kept.runs[-1].settings.settings(jobs=typed.jobs, fresh=typed.fresh, state=typed.state)
    if given["seed"] is not None:
        chosen = replace(chosen, seed=given["seed"])
    if chosen.model is not None:
        from theorax.runs.own_files import model_file

        model_file(chosen.model)
    present = set(workspace.catalogue.ids)
    ids = tuple(part.id for part in kept.theorems if part.id in present)
    changed, new = given["changed"], given["new"]
    if whole and (new or changed):  # the theorems that a command without a selector means
        ids = (*ids, *sorted(_ids(workspace, usual(workspace.catalogue, library=False)) - set(ids)))
    selection = Selection(ids, ids)
    standing: tuple[str, ...] = ()
    if changed:
        selection, standing, absent = split_by_change(workspace, selection, chosen, kept, sources, new=new)
        click.echo(told_counts(len(selection.ids), len(standing), len(absent)), err=True)
    return check_theorems(workspace, selection, chosen, told=told, sources=sources), standing


def _refuse_missing_roots(workspace: Workspace, parts: Sequence[BaselineTheorem]) -> None:
    """Say that a root is missing, before theorems are called vanished that are only elsewhere."""
    if missing := workspace.catalogue.missing_root({part.id: part.root for part in parts}, "baseline"):
        raise UsageError(missing)


def _read_report(workspace: Workspace, file: Path, only: Sequence[str]) -> Document:
    from theorax.reports.reading import read_whole

    document = read_whole(file)
    return document.of(_ids(workspace, only)) if only else document


def _ids(workspace: Workspace, only: Sequence[str]) -> frozenset[str]:
    from theorax.runs.selectors import select

    return frozenset(select(only, workspace.catalogue).ids)
