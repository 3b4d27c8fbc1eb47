"""``verify evaluate``: what the claims of a theorem predict at given values, without any draw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from theorax.cli.listing import existing_id
from theorax.cli.options import OneOf, at_option, settings, sizes_option, timeout_option
from theorax.cli.printing import print_blocks
from theorax.cli.selecting import complete, root_option
from theorax.cli.workspace import workspace_of

if TYPE_CHECKING:
    from theorax.text.blocks import Block
    from theorax.verifiers.outcome import EvaluatedClaim


@click.command("evaluate")
@click.argument("id", metavar="ID", shell_complete=complete)
@at_option
@sizes_option
@root_option
@timeout_option
@click.option("--output", "-o", "form", type=OneOf(("terminal", "json")), default="terminal", help="terminal, json.")
@click.pass_context
def evaluate(
    context: click.Context, id: str, at: tuple[str, ...], sizes: tuple[str, ...], timeout: float | None, form: str
) -> int:
    """Show what every claim predicts at these values, exactly and as a decimal; nothing is drawn.

    Any value is taken that the statement admits, also one that no experiment looks at.
    """
    from theorax.cli import typed_values
    from theorax.runs.worker_process import CallsApart

    catalogue = workspace_of(context, (id,)).catalogue
    id = existing_id(catalogue, id)
    given = id, catalogue.elsewhere, typed_values.parameters(at), typed_values.sizes(sizes)
    with CallsApart(catalogue.elsewhere, settings({"timeout": timeout}).timeout) as calls:
        rows: tuple[EvaluatedClaim, ...] = calls.call(
            "theorax.verifiers.evaluated_claims:evaluated_file", *given, apart=catalogue.is_a_user_s(id)
        )
    if form == "json":
        import json
        from dataclasses import asdict

        click.echo(json.dumps({"theorem": id, "claims": [asdict(row) for row in rows]}, indent=2, ensure_ascii=False))
    else:
        print_blocks([part for row in rows for part in _told(row)])
    return 0


def _told(row: EvaluatedClaim) -> Iterator[Block]:
    from theorax.text.blocks import Heading, Lines, Paragraph

    at = ", ".join(f"{letter} = {value}" for letter, value in row.at.items())
    yield Heading(f"{row.claim} ({row.kind})" + (f"  at {at}" if at else ""))
    yield Lines((row.statement,))
    if row.broken:
        yield Paragraph(f"Not asked: it needs {row.condition}.")
        return
    yield Paragraph(f"predicted  {_number(row)}")
    if row.open:
        yield Paragraph(f"No value was given to {', '.join(row.open)}.", quiet=True)


def _number(row: EvaluatedClaim) -> str:
    if row.decimal is None:
        return row.exact
    decimal = f"{row.decimal:.15g}"
    if row.error:
        return f"{row.exact}  =  {decimal} ± {row.error:.0e}"
    return row.exact if decimal == row.exact else f"{row.exact}  =  {decimal}"
