"""``verify replay``: repeat the checks of a report from its seeds, and compare the results."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from theorax.cli.options import answer_option, jobs_option, timeout_option
from theorax.cli.selecting import root_option
from theorax.cli.workspace import Workspace, workspace_of
from theorax.decide.status import Status
from theorax.errors import UsageError
from theorax.names import did_you_mean, many

if TYPE_CHECKING:
    from theorax.reports.document import Document, TheoremReport
    from theorax.runs.worker_process import CallsApart
    from theorax.theorems.catalogue import Catalogue
    from theorax.verifiers.settings import Settings


@click.command("replay")
@click.argument("words", nargs=-1, metavar="FILE [ID] | --release [ID]")
@click.option("--release", "released", is_flag=True, help="Repeat the checks of the results that this release ships.")
@jobs_option
@timeout_option
@root_option
@answer_option
@click.pass_context
def replay(
    context: click.Context,
    words: tuple[str, ...],
    released: bool,
    jobs: int | None,
    timeout: float | None,
    output: tuple[str, ...],
) -> int:
    """Check again what a report found, from its seeds and settings; kept results are neither used nor made.

    The report is FILE, or with --release the one that this release ships. ID repeats one theorem of it alone.

    Says of every theorem whether it came out bit-identical, equal within the float account, or different, and where.

    \b
    Exit codes: 0 identical or within the account; 1 different;
    4 something could not be replayed; 5 the report holds nothing to replay.
    """
    from theorax.cli.printing import give_reports
    from theorax.cli.typed_values import outputs
    from theorax.reports import release, replaying_text
    from theorax.reports.reading import read_whole
    from theorax.reports.replaying import held_against

    wanted = outputs(output, answer=True)
    if len(words) > (most := 1 if released else 2) or not (words or released):
        raise click.UsageError(
            "A replay repeats the checks of one report, or of one theorem in it. "
            f"Given {'with --release ' if released else ''}are {many(len(words), 'word')}. "
            f"Write `verify replay {'--release' if most == 1 else 'report.json'} [ID]`."
        )
    if released:
        then, name, ids = release.release_report(), "the report of this release", words
    else:
        then, name, ids = read_whole(Path(words[0])), f"`{words[0]}`", words[1:]
    for id in ids:
        then = _one(then, id, name)
    now = _again(workspace_of(context), then, jobs, timeout, told=("terminal", None) in wanted)
    found = held_against(then, now)
    give_reports(wanted, replaying_text.replay_answer(found, then))
    return 130 if now.summary.interrupted else found.exit_code


def _one(then: Document, id: str, name: str) -> Document:
    if id in then.by_id:
        return then.of([id])
    raise UsageError(
        f"There is no theorem `{id}` in {name}{did_you_mean(id, then.by_id)} A replay repeats the checks of a report. "
        f"It holds {many(len(then.by_id), 'theorem')}."
    )


def _again(workspace: Workspace, then: Document, jobs: int | None, timeout: float | None, *, told: bool) -> Document:
    """The same theorems checked with the report's settings, in a state of their own, so that no attempt is spent."""
    from theorax.cli.check import check_theorems
    from theorax.cli.options import settings
    from theorax.runs.selectors import Selection
    from theorax.runs.worker_process import CallsApart

    usual = settings({"jobs": jobs, "timeout": timeout})
    made = then.settings.settings()
    if made.model is not None:
        from theorax.runs.own_files import model_file

        model_file(made.model)
    catalogue = workspace.catalogue
    if missing := catalogue.missing_root({part.id: part.root for part in then.theorems}, "report"):
        raise UsageError(missing)
    present = set(catalogue.ids)
    parts = [part for part in then.theorems if part.id in present and part.status is not Status.BLOCKED]
    ids = tuple(part.id for part in parts)
    # Other parameters were meant for the theorems that were named; the command in a part says which it was.
    named = tuple(part.id for part in parts if part.replay.endswith(f" {made.options}"))
    with tempfile.TemporaryDirectory(prefix="theorax-replay-") as folder:
        compiled = Path(usual.state) / "compiled"
        if compiled.is_dir():
            (Path(folder) / "compiled").symlink_to(compiled.resolve())
        chosen = replace(made, state=folder, fresh=True, jobs=usual.jobs, timeout=usual.timeout)
        with CallsApart(catalogue.elsewhere, chosen.timeout) as calls:
            for part in parts:
                own = chosen if part.id in named else replace(chosen, at=(), sizes=(), model=None)
                _attempts(calls, catalogue, part, own)
        return check_theorems(workspace, Selection(ids, named), chosen, told=told)


def _attempts(calls: CallsApart, catalogue: Catalogue, part: TheoremReport, own: Settings) -> None:
    numbers = {claim.id: claim.attempt for claim in part.claims if claim.attempt > 1}
    if numbers:
        own = replace(own, roots=catalogue.elsewhere)
        is_own = own.model is not None or catalogue.is_a_user_s(part.id)  # it never runs in the process that reports
        calls.call("theorax.runs.checking:log_earlier", part.id, own, numbers, apart=is_own)
