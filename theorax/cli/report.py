"""``verify report render``: a kept report in any format, without what found it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from theorax.cli.options import output_option, show_options, shown_parts


@click.group("report")
def report() -> None:
    """Turn a JSON report into another format; neither JAX nor the theorems are needed."""


@report.command("render", short_help="Show or write a JSON report in other formats.")
@click.argument("file", type=click.Path(path_type=Path))
@output_option
@click.option(
    "--pages",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Write index.html and one page per theorem there.",
)
@show_options
def render(file: Path, output: tuple[str, ...], pages: Path | None, **given: Any) -> int:
    """Show or write a JSON report in other formats, or as pages for a browser."""
    from theorax.cli.printing import give_pages, give_report, print_report, ready
    from theorax.cli.typed_values import outputs
    from theorax.reports.reading import read

    wanted = outputs(output) if output or pages is None else ()
    shown = shown_parts(given)
    document = read(file)
    if pages is not None:
        ready(pages, "--pages")
        give_pages(pages, document)
        click.echo(f"The pages are in {pages / 'index.html'}; open it in a browser.")
    for format_, path in wanted:
        if format_ == "terminal" and path is None:
            print_report(document, shown=shown)
            continue
        give_report(format_, path, document)
    return 0
