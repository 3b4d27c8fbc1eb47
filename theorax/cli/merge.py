"""``verify merge``: the shards of one run as one report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from theorax.cli.options import output_option, settings, show_options, shown_parts
from theorax.cli.selecting import root_option, state_option
from theorax.cli.workspace import workspace_of


@click.command("merge")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@output_option
@root_option
@state_option
@show_options
@click.pass_context
def merge(context: click.Context, files: tuple[Path, ...], output: tuple[str, ...], **given: Any) -> int:
    """Join the reports of all shards of a run (`--shard k/n`, each with `--output json=FILE`) into its report.

    The report says which verdicts hold over the run, and blocks what rests on a failed theorem, as one machine would have
    done. No other word changes. Nothing is checked. The exit code is that of the whole run.
    """
    from theorax.cli.check import give_run
    from theorax.cli.typed_values import outputs
    from theorax.reports.merging import merged
    from theorax.reports.reading import read
    from theorax.runs.store import now

    wanted = outputs(output)
    parts = shown_parts(given)
    chosen = settings({"state": given["state"]})
    shards = {str(file): read(file) for file in files}
    report = merged(shards, workspace_of(context).catalogue, chosen.state, now())
    give_run(report, wanted, parts)
    return report.summary.exit_code
