"""``verify report render``: a kept report in any format, without what found it."""

from __future__ import annotations

from pathlib import Path

import click


@click.group("report", short_help="Turn a JSON report into another format.")
def report() -> None:
    """Turn a JSON report into another format; neither JAX nor the theorems are needed."""


@report.command("render", short_help="Show or write a JSON report in other formats.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--output", "-o", "texts", multiple=True, metavar="FORMAT[=FILE]", help="As for `verify theorem`; repeatable."
)
def render(file: Path, texts: tuple[str, ...]) -> int:
    """Show or write a JSON report in other formats."""
    from theorax.cli.check import give
    from theorax.cli.values import outputs
    from theorax.reports.reading import read

    wanted = outputs(texts)
    document = read(file)
    for format_, path in wanted:
        give(format_, path, document)
    return 0
