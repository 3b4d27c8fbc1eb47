"""``verify theorem`` and ``verify all``: select, run, report."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theorax.cli.options import (
    changed_options,
    last_failed_option,
    machine_options,
    run_options,
    settings,
    show_options,
    shown_parts,
    typed_or_default,
)
from theorax.cli.printing import Outputs, give_reports, print_line, print_report
from theorax.cli.selecting import library_option, selectors
from theorax.cli.workspace import Workspace, workspace_of
from theorax.errors import NothingSelected, UsageError, option

if TYPE_CHECKING:
    from theorax.cli.printing import Outputs
    from theorax.reports.document import Document
    from theorax.reports.reports_so_far import ReportsSoFar
    from theorax.reports.theorem_text import Part
    from theorax.runs.selectors import Selection
    from theorax.runs.sources import Sources
    from theorax.verifiers.settings import Settings


@click.command("theorem")
@selectors(required=True)
@changed_options
@last_failed_option
@run_options
@machine_options
@show_options
@click.pass_context
def theorem(context: click.Context, words: tuple[str, ...], **given: Any) -> int:
    """Check theorems and report on them.

    \b
    SELECTOR is an id, or
      +ID  ID+             with all that it rests on; with all that rests on it
      paper:P  kind:K      the theorems of a paper; those with a claim of a kind
      label:L  status:S    read, reconstructed, derived, own; the last kept result
      root:R               the theorems of a root; root:own: all but the library's
      claims/a.py  claims/ the theorem in a file; those in a folder
      rank_*               a pattern
      a,b                  both; words apart are united

    Only what is selected is checked. Kept results of its dependencies count: a failed one blocks it.
    --at, --sizes and --model are meant for the theorems named, not for those that come with a +.
    """
    return run_and_report(workspace_of(context, (*words, *typed_or_default(given, "exclude"))), words, given)


@click.command("all")
@library_option
@changed_options
@last_failed_option
@run_options
@machine_options
@show_options
@click.pass_context
def all_(context: click.Context, library: bool, **given: Any) -> int:
    """Check every theorem, those first that others rest on; in a project with theorems of its own, the project's."""
    workspace = workspace_of(context, typed_or_default(given, "exclude"))
    return run_and_report(workspace, workspace.usual(library=library), given)


def run_and_report(workspace: Workspace, words: Sequence[str], given: dict[str, Any]) -> int:
    """Run and report; the exit code."""
    chosen = settings(given)
    from theorax.cli.typed_values import outputs

    wanted = outputs(typed_or_default(given, "output"))
    parts = shown_parts(given)
    failed = bool(given.get("last_failed"))
    words = last_failed(words) if failed else words
    try:
        selection = select_theorems(workspace, words, chosen, typed_or_default(given, "exclude"))
    except NothingSelected:
        if failed:
            raise NothingSelected("Of these, no theorem failed when it was last checked. Nothing to show.") from None
        raise
    sources = None  # read once, for the choice and for the run
    if given.get("changed"):
        from theorax.cli.changed import only_changed
        from theorax.runs.sources import Sources

        sources = Sources().beside(chosen.state)
        selection = only_changed(workspace, selection, chosen, given.get("baseline"), sources, new=given["new"])
    if given.get("shard") is not None:
        selection = only_shard(selection, chosen, given)
    # What was said already is no failure.
    nothing = (bool(given.get("changed")) or selection.shard is not None) and not selection.ids
    told = ("terminal", None) in wanted and not nothing
    report = check_theorems(workspace, selection, chosen, told=told, sources=sources, wanted=wanted)
    give_run(report, wanted if told else [place for place in wanted if place != ("terminal", None)], parts)
    code: int = 0 if nothing else report.summary.exit_code
    return code


def give_run(report: Document, wanted: Outputs, parts: frozenset[Part]) -> None:
    """Print the report of a run with these parts, and write its files."""
    if ("terminal", None) in wanted:
        print_report(report, shown=parts)
    give_reports([place for place in wanted if place != ("terminal", None)], report)


def only_shard(selection: Selection, chosen: Settings, given: dict[str, Any]) -> Selection:
    """The theorems of the shard that was asked for; that there are none is said on the standard error.

    **Raises:** UsageError if there is no such shard, or if nobody says which attempts it makes.
    """
    from theorax.runs.shards import shard_of

    typed = str(given["shard"])
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", typed)
    number, of = map(int, match.groups()) if match is not None else (0, 0)
    if not 1 <= number <= of:
        raise UsageError(f"`--shard {typed}` names no shard. Write `--shard 1/4` for the first of four.")
    usual = settings({})
    searched = [
        f"`{option(name)}`"
        for name in ("seed", "level", "sizes")
        if given.get(name) not in (None, ()) and getattr(chosen, name) != getattr(usual, name)
    ]
    if searched and given.get("attempt") is None:
        raise UsageError(
            f"{' and '.join(searched)} make another attempt at each claim, and a shard does not know the log that counts "
            "them. Write which attempt it is, as in `--attempt 2`; `verify plan` says it where the log is."
        )
    found = shard_of(selection, number, of, chosen.effort, chosen.attempt)
    if not found.ids:
        click.echo(f"Shard {number} of {of} has no theorem of this run.", err=True)
    return found


def last_failed(words: Sequence[str]) -> tuple[str, ...]:
    """Selectors of those that these words mean and that did not hold when they were last checked, or wait for such."""
    from theorax.reports.last_screen import FOUND_AGAIN

    return tuple(f"{word},status:{status.lower()}+" for word in words for status in FOUND_AGAIN)


def select_theorems(
    workspace: Workspace, words: Sequence[str], chosen: Settings, exclude: Sequence[str] = ()
) -> Selection:
    """The theorems that the words mean.

    **Raises:** UsageError or NothingSelected as ``select`` does.
    """
    from theorax.runs.selectors import select
    from theorax.runs.store import statuses, within_margin

    state = Path(chosen.state)
    return select(words, workspace.catalogue, lambda: statuses(state), exclude, lambda: within_margin(state))


def check_theorems(
    workspace: Workspace,
    selection: Selection,
    chosen: Settings,
    *,
    told: bool,
    sources: Sources | None = None,
    wanted: Outputs = (),
) -> Document:
    """The report of a run over the selected theorems; ``told``: progress is shown where there is a reader.

    The JSON files among those ``wanted`` are written as checks finish, and hold what had finished if the run is killed.
    """
    from theorax.reports.assembly import document
    from theorax.runs.runner import run
    from theorax.runs.store import now

    command = ["verify", *workspace.arguments]
    with ExitStack() as stack:
        listener = _listener(stack, total=len(selection.ids), told=told)
        found = run(
            selection, chosen, workspace.catalogue, workspace.check, listener, sources,
            meanwhile=_reports_so_far(wanted, chosen, command),
        )  # fmt: skip
    return document(found, chosen, command, now())


def _reports_so_far(wanted: Outputs, chosen: Settings, command: Sequence[str]) -> ReportsSoFar | None:
    """The JSON files of a run under way; a pipe or a device takes one report alone, the last."""
    from theorax.reports.json import is_written_into
    from theorax.reports.reports_so_far import ReportsSoFar

    files = [path for format_, path in wanted if format_ == "json" and path is not None and not is_written_into(path)]
    return ReportsSoFar(files, chosen, command) if files else None


def _listener(stack: ExitStack, *, total: int, told: bool) -> Any:
    """A live line on a terminal; elsewhere a line per check, where there are several to tell."""
    from theorax.runs.listening import Silent

    if sys.stderr.isatty() and (sys.stdout.isatty() or not told):
        from theorax.reports.progress_line import Live
        from theorax.reports.terminal import console

        return stack.enter_context(Live(console(sys.stderr)))
    if total > 1 and told:
        from theorax.reports.progress import ProgressLines

        return ProgressLines(print_line, total)
    return Silent()
