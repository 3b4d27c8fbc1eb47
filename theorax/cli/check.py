"""``verify theorem`` and ``verify all``: select, run, report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theorax.cli.environment import World, world
from theorax.cli.options import changed_options, listed, run_options, selectors, settings
from theorax.errors import UsageError

if TYPE_CHECKING:
    from theorax.reports.document import Document
    from theorax.runs.selectors import Selection
    from theorax.runs.sources import Sources
    from theorax.verifiers.settings import Settings


@click.command("theorem", short_help="Check theorems and report on them.")
@selectors(required=True)
@changed_options
@run_options
@click.pass_context
def theorem(context: click.Context, words: tuple[str, ...], **given: Any) -> int:
    """Check theorems and report on them.

    \b
    SELECTOR is an id, or
      +ID  ID+             with all that it rests on; with all that rests on it
      paper:P  kind:K      the theorems of a paper; those with a claim of a kind
      label:L  status:S    read, reconstructed, derived; the last kept result
      rank_*               a pattern
      a,b                  both; words apart are united

    Only what is selected is checked. What it rests on is consulted where a result is kept: a failed one blocks it.
    --at, --sizes and --model are meant for the theorems named, not for those that come with a +.
    """
    return perform(world(context), words, given)


@click.command("all", short_help="Check every theorem.")
@changed_options
@run_options
@click.pass_context
def all_(context: click.Context, **given: Any) -> int:
    """Check every theorem of the library, instruments first."""
    return perform(world(context), ("*",), given)


def perform(world: World, words: Sequence[str], given: dict[str, Any]) -> int:
    """Run and report; the exit code."""
    chosen = settings(given)
    from theorax.cli.values import outputs

    wanted = outputs(listed(given, "output"))
    selection = selected(world, words, chosen, listed(given, "exclude"))
    sources = None  # read once, for the choice and for the run
    if given.get("changed"):
        from theorax.cli.changed import only_changed
        from theorax.runs.sources import Sources

        sources = Sources()
        selection = only_changed(world, selection, chosen, given.get("baseline"), sources)
    nothing = bool(given.get("changed")) and not selection.ids  # which was said, and is no failure
    told = ("terminal", None) in wanted and not nothing
    live = sys.stdout.isatty() and told
    report = checked(world, selection, chosen, told=told, sources=sources)
    unwritten: list[UsageError] = []
    for format_, path in wanted:
        try:
            if (format_, path) == ("terminal", None) and nothing:
                continue
            if (format_, path) == ("terminal", None):
                tell(report, live=live, listed=not live and len(selection.ids) > 1)
            else:
                give(format_, path, report)
        except UsageError as error:  # a full disk; the other reports of this run are written all the same
            unwritten.append(error)
    if unwritten:
        raise unwritten[0]
    code: int = 0 if nothing else report.summary.exit_code
    return code


def selected(world: World, words: Sequence[str], chosen: Settings, exclude: Sequence[str] = ()) -> Selection:
    """The theorems that the words mean.

    **Raises:** UsageError or NothingSelected as ``select`` does.
    """
    from theorax.reports.library import statuses
    from theorax.runs.selectors import select

    return select(words, world.catalogue, lambda: statuses(Path(chosen.state)), exclude)


def checked(
    world: World, selection: Selection, chosen: Settings, *, told: bool, sources: Sources | None = None
) -> Document:
    """The report of a run over the selected theorems; ``told``: progress is shown where there is a reader."""
    from theorax.reports.assembly import document
    from theorax.runs.runner import run
    from theorax.runs.store import now

    with ExitStack() as stack:
        listener = _listener(stack, many=len(selection.ids) > 1, told=told)
        found = run(selection, chosen, world.catalogue, world.check, listener, sources)
    return document(found, chosen, ["verify", *world.arguments], now())


def _listener(stack: ExitStack, *, many: bool, told: bool) -> Any:
    """A live line on a terminal; elsewhere a line per check, where there are several to tell."""
    from theorax.runs.runner import Silent

    if sys.stderr.isatty() and (sys.stdout.isatty() or not told):
        from theorax.reports.progress_line import Live
        from theorax.reports.terminal import console

        return stack.enter_context(Live(console(sys.stderr)))
    if many and told:
        from theorax.reports.progress import ProgressLines

        return ProgressLines(say)
    return Silent()


def say(line: str) -> None:
    """Print a line of text that is harmless wherever it is read."""
    from theorax.text.safe import uncommanded, visible

    click.echo(uncommanded(visible(line)))


def give(format_: str, path: Path | None, report: Document) -> None:
    """Write the report in this format to a file or to the standard output.

    **Raises:** UsageError if the file cannot be written.
    """
    from theorax.reports.json import write_text
    from theorax.reports.renderings import RENDERINGS, render

    if path is not None:
        write_text(render(format_, report), path)
    else:
        click.echo(RENDERINGS[format_].say(report), nl=False)


def tell(report: Document, *, live: bool, listed: bool) -> None:
    """Show the report on the standard output, as a terminal or as a pipe wants it."""
    from theorax.reports import summary
    from theorax.text import plain

    blocks = summary.report(report, listed=listed)
    if live:
        from theorax.reports.terminal import console, show

        show(blocks, console(sys.stdout))
    else:
        click.echo(plain.render(blocks), nl=False)
