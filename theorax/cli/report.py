"""``verify report render``: a kept report in any format, without what found it."""

from __future__ import annotations

from pathlib import Path

import click

from theorax.cli.options import output_option


@click.group("report")
def report() -> None:
    """Turn a JSON report into another format; neither JAX nor the theorems are needed."""


@report.command("render", short_help="Show or write a JSON report in other formats.")
@click.argument("file", type=click.Path(path_type=Path))
@output_option
def render(file: Path, output: tuple[str, ...]) -> int:
    """Show or write a JSON report in other formats."""
    from theorax.cli.printing import give_report
    from theorax.cli.values import outputs
    from theorax.reports.reading import read

    wanted = outputs(output)
    document = read(file)
    for format_, path in wanted:
        give_report(format_, path, document)
    return 0
