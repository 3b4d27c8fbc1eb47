"""``verify theorem`` and ``verify all``: select, run, report."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from theorax.cli.options import listed, run_options, selectors, settings
from theorax.cli.world import World, world


@click.command("theorem", short_help="Check theorems and report on them.")
@selectors(required=True)
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
    from theorax.reports.library import statuses
    from theorax.verifiers.selectors import select

    catalogue = world.catalogue
    selection = select(words, catalogue, lambda: statuses(Path(chosen.state)), listed(given, "exclude"))

    from theorax.reports.document import document
    from theorax.verifiers.runner import run
    from theorax.verifiers.store import now

    told = ("terminal", None) in wanted
    live = sys.stdout.isatty() and told
    with ExitStack() as stack:
        listener = _listener(stack, many=len(selection.ids) > 1, told=told)
        found = run(selection, chosen, catalogue, world.check, listener)
    report = document(found, chosen, ["verify", *world.arguments], now())
    for format_, path in wanted:
        if (format_, path) == ("terminal", None):
            _tell(report, live=live, listed=not live and len(selection.ids) > 1)
        else:
            give(format_, path, report)
    code: int = report["summary"]["exit_code"]
    return code


def _listener(stack: ExitStack, *, many: bool, told: bool) -> Any:
    """A live line on a terminal; elsewhere a line per check, where there are several to tell."""
    from theorax.verifiers.runner import Silent

    if sys.stderr.isatty() and (sys.stdout.isatty() or not told):
        from theorax.reports.live import Live
        from theorax.reports.terminal import console

        return stack.enter_context(Live(console(sys.stderr)))
    if many and told:
        from theorax.reports.progress import Lines

        return Lines(click.echo)
    return Silent()


def give(format_: str, path: Path | None, report: Mapping[str, Any]) -> None:
    """Write the report in this format to a file or to the standard output.

    **Raises:** UsageError if the file cannot be written.
    """
    from theorax.reports.json import write_text
    from theorax.reports.renderings import render

    if path is None:
        click.echo(render(format_, report), nl=False)
    else:
        write_text(render(format_, report), path)


def _tell(report: Mapping[str, Any], *, live: bool, listed: bool) -> None:
    from theorax.reports import summary
    from theorax.text import plain

    blocks = summary.report(report, listed=listed)
    if live:
        from theorax.reports.terminal import console, show

        show(blocks, console(sys.stdout))
    else:
        click.echo(plain.render(blocks), nl=False)
