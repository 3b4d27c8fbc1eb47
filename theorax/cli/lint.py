"""``verify lint``: all errors of statements in all files at once, without JAX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from theorax.cli.options import OneOf, settings, timeout_option
from theorax.cli.printing import print_line, shown_path
from theorax.cli.selecting import library_option, root_option, selectors
from theorax.cli.workspace import workspace_of
from theorax.errors import UsageError
from theorax.names import many

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from theorax.runs.worker_process import CallsApart
    from theorax.theorems.catalogue import Catalogue
    from theorax.verifiers.linting import Linted

FORMATS = ("terminal", "github", "json", "codequality")


@click.command("lint")
@selectors()
@library_option
@root_option
@timeout_option
@click.option("--proofs", is_flag=True, help="Check the proofs too: list open and false steps.")
@click.option("--output", "-o", "form", type=OneOf(FORMATS), default="terminal", help=", ".join(FORMATS) + ".")
@click.pass_context
def lint(
    context: click.Context, words: tuple[str, ...], library: bool, timeout: float | None, proofs: bool, form: str
) -> int:
    """Show every error of the statements in these files; nothing is drawn and JAX is not imported.

    With --proofs every step of their proofs is checked as well, which imports JAX and takes seconds. Steps that are open
    or false are listed like errors.

    Each line is FILE:LINE: sentence [rule]. `verify explain RULE` tells more. The exit code is 2 if there is any.
    """
    from theorax.runs.selectors import select
    from theorax.runs.worker_process import CallsApart

    workspace = workspace_of(context, words)
    catalogue = workspace.catalogue
    chosen = select(words or workspace.usual(library=library), catalogue)
    with CallsApart(catalogue.elsewhere, settings({"timeout": timeout}).timeout) as calls:
        found = [
            _linted(calls, catalogue, id, path, proofs=proofs)
            for id in sorted(chosen.ids)
            for path in catalogue.files[id]
        ]
    {"terminal": _terminal, "github": _github, "json": _json, "codequality": _code_quality}[form](found)
    return 2 if any(not one.warns for part in found for one in part.problems) else 0


def _linted(calls: CallsApart, catalogue: Catalogue, id: str, path: Path, *, proofs: bool) -> Linted:
    """The errors of one file; a user's is executed in a worker process, and ending that is one of them."""
    from theorax.verifiers.linting import Linted, StatementProblem

    try:
        apart = catalogue.is_a_user_s(id)
        found: Linted = calls.call("theorax.verifiers.linting:lint", path, apart=apart)
        if proofs and not found.problems:
            roots = catalogue.elsewhere
            steps = calls.call("theorax.verifiers.linting:proof_problems", id, roots, path, apart=apart)
            return Linted(path, steps)
    except UsageError as error:
        return Linted(path, (StatementProblem(path, 1, error.told(), "import"),))
    return found


def _terminal(found: Sequence[Linted]) -> None:
    for part in found:
        if part.computes is not None:
            line, name = part.computes
            print_line(
                f"{shown_path(part.file)}:{line}: computes while it is imported ({name}), so JAX was imported to check it."
            )
        for one in sorted(part.problems):
            warning = "warning: " if one.warns else ""
            print_line(f"{shown_path(part.file)}:{one.line}: {warning}{one.sentence} [{one.rule}]")
    count = sum(not one.warns for part in found for one in part.problems)
    warnings = sum(one.warns for part in found for one in part.problems)
    files = many(len(found), "file") + (f", {many(warnings, 'warning')}" if warnings else "")
    print_line(f"{many(count, 'error')} in {files}." if count else f"No errors in {files}.")


def _github(found: Sequence[Linted]) -> None:
    from theorax.reports.github import workflow_command

    for part in found:
        for one in sorted(part.problems):
            properties = {"file": shown_path(part.file), "line": str(one.line), "title": one.rule}
            click.echo(workflow_command("warning" if one.warns else "error", properties, one.sentence))


def _json(found: Sequence[Linted]) -> None:
    import json

    rows = [
        {
            "file": shown_path(part.file),
            "line": one.line,
            "rule": one.rule,
            "sentence": one.sentence,
            "warns": one.warns,
        }
        for part in found
        for one in sorted(part.problems)
    ]
    print_line(json.dumps({"files": len(found), "problems": rows}, indent=2, ensure_ascii=False))


def _code_quality(found: Sequence[Linted]) -> None:
    """The report that GitLab shows beside a merge request."""
    from theorax.reports.codequality import QualityFinding, gitlab_report

    rows = [
        QualityFinding(one.rule, one.sentence, one.sentence, shown_path(part.file), one.line)
        for part in found
        for one in sorted(part.problems)
    ]
    click.echo(gitlab_report(rows), nl=False)
