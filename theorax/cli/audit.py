"""``verify audit``: everything checked, and its report written into a folder in every format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from theorax.cli.options import choices, settings, typed_or_default
from theorax.cli.selecting import library_option, selectors, state_option
from theorax.cli.workspace import workspace_of

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
@click.option("--pages", is_flag=True, help="An index and one page per theorem instead of one HTML file.")
@state_option
@click.pass_context
def audit(
    context: click.Context, words: tuple[str, ...], library: bool, folder: Path, pages: bool, **given: Any
) -> int:
    """Check every theorem, or those selected, and write the reports into a folder: index.html for readers, report.json
    for programs, and the other formats. With --pages each theorem has a page of its own, ID.html.

    Kept results are shown as kept; --fresh checks again.
    """
    chosen = settings(given)
    from theorax.cli.check import check_theorems, select_theorems
    from theorax.cli.printing import give_pages, give_reports, print_report, ready
    from theorax.reports.renderings import RENDERINGS

    ready(folder, "--output")
    typed, folder = folder, folder.absolute()

    exclude = typed_or_default(given, "exclude")
    workspace = workspace_of(context, (*words, *exclude))
    selection = select_theorems(workspace, words or workspace.usual(library=library), chosen, exclude)
    # The report itself first: all others can be made from it again.
    formats = sorted((name for name in RENDERINGS if name != "html" or not pages), key=lambda name: name != "json")
    wanted = [(name, folder / NAMES.get(name, f"{name}.{RENDERINGS[name].suffix}")) for name in formats]
    report = check_theorems(workspace, selection, chosen, told=True, wanted=wanted)
    print_report(report)
    give_reports(wanted, report)
    if pages:
        give_pages(folder, report)
    click.echo(f"The audit is in {typed / NAMES['html']}; open it in a browser.")
    code: int = report.summary.exit_code
    return code
