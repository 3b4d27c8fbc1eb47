"""``verify audit``: everything checked, and its report written into a folder in every format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from theorax.cli.options import choices, listed, settings
from theorax.cli.selecting import library_option, selectors, state_option
from theorax.cli.workspace import workspace_of
from theorax.errors import UsageError

NAMES = {"json": "report.json", "html": "index.html", "terminal": "report.txt", "markdown": "report.md"}
"""The files of the folder; another format's file has its name and suffix."""


@click.command("audit")
@selectors()
@library_option
@choices
@click.option(
    "--output", "-o", "folder", default="audit", metavar="DIR", type=click.Path(path_type=Path),
    help="Folder of the reports, made if need be [audit].",
)  # fmt: skip
@state_option
@click.pass_context
def audit(context: click.Context, words: tuple[str, ...], library: bool, folder: Path, **given: Any) -> int:
    """Check every theorem, or those selected, and write the reports into a folder: index.html for readers, report.json
    for programs, and the other formats.

    Kept results are shown as kept; --fresh checks again.
    """
    chosen = settings(given)
    ready(folder)
    from theorax.cli.check import check_theorems, select_theorems
    from theorax.cli.printing import give_reports, print_report
    from theorax.reports.renderings import RENDERINGS

    exclude = listed(given, "exclude")
    workspace = workspace_of(context, (*words, *exclude))
    selection = select_theorems(workspace, words or workspace.usual(library=library), chosen, exclude)
    # The report itself first: all others can be made from it again.
    formats = sorted(RENDERINGS, key=lambda name: name != "json")
    wanted = [(name, folder / NAMES.get(name, f"{name}.{RENDERINGS[name].suffix}")) for name in formats]
    report = check_theorems(workspace, selection, chosen, told=True, wanted=wanted)
    print_report(report)
    give_reports(wanted, report)
    click.echo(f"The audit is in {folder / NAMES['html']}; open it in a browser.")
    code: int = report.summary.exit_code
    return code


def ready(folder: Path) -> None:
    """Make the folder and see that files can be written there, before anything is checked.

    **Raises:** UsageError if not.
    """
    from theorax.reports.json import writable

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"`--output {folder}`: the reports of an audit need a folder, and it cannot be made: {error.strerror}. "
            "Write `--output audit`, or a folder that may be made."
        ) from None
    writable(folder / NAMES["json"])
