"""``verify list``: the theorems, read from the file tree alone."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from theorax.cli.selecting import exclude_option, library_option, root_option, selectors, state_folder, state_option
from theorax.cli.workspace import workspace_of
from theorax.errors import UsageError
from theorax.names import many
from theorax.text.safe import one_line, uncommanded

if TYPE_CHECKING:
    from theorax.theorems.catalogue import Catalogue

INDENT, SHOWN, WEAKEST = 4, 22, 13  # columns of a row, the id apart
MEASURE = 100  # columns beyond which a row is no longer easy to read
WORDS = {
    "REFUTED": "refuted",
    "INCONCLUSIVE": "undecided",
    "VACUOUS": "vacuous",
    "BLOCKED": "blocked",
    "ERROR": "in error",
}
COLOURS = {"✓": "green", "✗": "red", "!": "red", "?": "yellow", "○": "yellow", "■": "magenta"}


@click.command("list")
@selectors()
@exclude_option
@library_option
@root_option
@state_option
@click.pass_context
def list_(
    context: click.Context, words: tuple[str, ...], exclude: tuple[str, ...], library: bool, state: str | None
) -> int:
    """Show the theorems paper by paper, each with its last verdict here, or the release's; nothing is run or imported."""
    workspace = workspace_of(context, (*words, *exclude))
    catalogue = workspace.catalogue
    verdicts = last_verdicts(state)
    chosen = frozenset(catalogue.ids)
    if words or exclude or len(catalogue.roots) > 1:
        from theorax.runs.selectors import select

        selected = words or workspace.usual(library=library)
        chosen = frozenset(select(selected, catalogue, lambda: verdicts, exclude).ids)
    elif not chosen:
        raise UsageError(f"There is no theorem file under {', '.join(str(root.folder) for root in catalogue.roots)}.")
    # Written by hand, not by rich: this is the command that must answer at once.
    terminal = _is_terminal()
    strengths = last_strengths(state) if verdicts else {}
    rows = [
        Listed.of(id, catalogue, verdicts, strengths) for ids in catalogue.papers.values() for id in ids if id in chosen
    ]
    if not terminal:
        click.echo(uncommanded("\n".join(row.piped for row in rows)))
        return 0
    width = min(_columns(), MEASURE)
    column = max(1, min(max(len(row.id) for row in rows), width - INDENT - SHOWN - WEAKEST - 4))
    lines = [f"{'':<{INDENT}}{'title, id':<{column}}  {'shown by':<{SHOWN}}  weakest"]
    for paper, ids in catalogue.papers.items():
        own = [row for row in rows if row.id in ids]
        if own:
            lines += _paper(catalogue, paper, width)
            lines += [line for row in own for line in row.lines(width, column)]
    click.echo(uncommanded("\n".join([*lines, "", *_total(rows, width)])))
    return 0


@dataclass(frozen=True)
class Listed:
    """One theorem of the list; ``released`` is the release's word for it, where none was found here."""

    id: str
    title: str
    status: str
    shown_by: str
    weakest: str
    released: str

    @classmethod
    def of(
        cls, id: str, catalogue: Catalogue, verdicts: Mapping[str, str], strengths: Mapping[str, tuple[str, str]]
    ) -> Listed:
        """The row of a theorem."""
        from theorax.reports import release

        status, (shown_by, weakest) = verdicts.get(id, ""), strengths.get(id, ("", ""))
        released = "" if status else release.heads().line(id, catalogue.path(id))
        return cls(one_line(id), one_line(catalogue.title(id)), status, shown_by, weakest, released)

    @property
    def piped(self) -> str:
        """The row for a program: id, status here, shown by, weakest, title, the release's word, between tabs."""
        cells = [self.id, self.status or "unchecked", self.shown_by, self.weakest, self.title]
        cells += [self.released] if self.released else []
        return "\t".join(cell.replace("\t", " ") for cell in cells).rstrip("\n")

    def lines(self, width: int, column: int) -> list[str]:
        """The row for a person: the title first, wrapped; below it the id in its own column, never cut."""
        sign = _sign(self.status)
        first, *rest = textwrap.wrap(self.title, width - INDENT, break_on_hyphens=False) or ["(no title)"]
        found = self.released or f"{self.shown_by:<{SHOWN}}  {self.weakest}"
        told = f"{self.id:<{column}}  {found}".rstrip()
        if INDENT + len(told) > width:  # an id that is longer than its column
            told = f"{self.id}\n{'':<{INDENT + column}}  {found}".rstrip()
        return [
            f"  {_styled(sign, True, fg=COLOURS.get(sign))} {first}",
            *(f"{'':<{INDENT}}{line}" for line in rest),
            _styled(f"{'':<{INDENT}}{told}", True, dim=True),
        ]


def _paper(catalogue: Catalogue, paper: str, width: int) -> list[str]:
    """The name and the citation of a paper, whole."""
    heading = catalogue.heading(paper)
    lines = textwrap.wrap(f"  {one_line(heading)}", width, subsequent_indent="  ") if heading != paper else []
    return ["", _styled(one_line(paper), True, bold=True), *(_styled(line, True, dim=True) for line in lines)]


def _total(rows: Sequence[Listed], width: int) -> list[str]:
    """The counts of the list and the meaning of its signs."""
    from theorax.decide.status import Status

    hold = sum(bool(row.status) and Status(row.status).holds for row in rows)
    counts = [f"{hold} hold"] if hold else []
    for status, word in WORDS.items():
        count = sum(row.status == status for row in rows)
        counts += [f"{count} {word}"] if count else []
    unchecked = sum(not row.status for row in rows)
    released = sum(bool(row.released) for row in rows)
    counts += (
        [f"{unchecked} never checked here" + (f", {released} at the release" if released else "")] if unchecked else []
    )
    told = f"{many(len(rows), 'theorem')}: {', '.join(counts)}"
    signs = dict.fromkeys((_sign(row.status), _meaning(row.status)) for row in rows)
    legend = " ".join(f"{sign} {meaning}" for sign, meaning in signs)
    return [f"{told}   {legend}"] if len(told) + len(legend) + 3 <= width else [told, *textwrap.wrap(legend, width)]


def _meaning(status: str) -> str:
    """The meaning of a sign."""
    if not status:
        return "never checked here"
    return WORDS.get(status, "holds")


def last_strengths(state: str | None) -> dict[str, tuple[str, str]]:
    """By what the last kept claims of every theorem were shown, and the factor of the weakest."""
    from theorax.runs.store import Store

    folder = state_folder(state)
    return {id: _strength(outcome["claims"]) for id, outcome in Store(folder).outcomes()}


def _strength(claims: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Two columns from the JSON values of claims: counts by what showed them, and the weakest factor."""
    from theorax.decide.status import Status
    from theorax.decide.strength import Reach
    from theorax.text.numbers import number

    held = [claim for claim in claims if claim["shown_by"] and not claim["corrected"] and Status(claim["status"]).holds]
    by = {word: sum(claim["shown_by"] == word for claim in held) for word in ("proved", "certified", "measured")}
    factors = [None if claim["worst"] is None else claim["cases"][claim["worst"]]["breakdown"] for claim in held]
    reaches = [
        Reach.of("", claim["shown_by"], factor, claim["robust"], claim["under_twice"])
        for claim, factor in zip(held, factors, strict=True)
    ]
    known = [reach for reach in reaches if reach is not None]
    fragile = " FRAGILE" if any(reach.fragile for reach in known) else ""
    weakest = f"× {number(min(known).factor, 2)}{fragile}" if known else ""
    return ", ".join(f"{word} {count}" for word, count in by.items() if count), weakest


def last_verdicts(state: str | None) -> dict[str, str]:
    """The last kept verdicts; none are read, nor SQLite imported, where no store is. A store that cannot be read is told."""
    folder = state_folder(state)
    if not (folder / "results.sqlite").exists():
        return {}
    from theorax.runs.store import Store, statuses

    try:
        if damaged := Store(folder).damaged():
            told = f"Altered or damaged in {Store(folder).path}: {many(damaged, 'kept result')}."
            click.echo(
                uncommanded(one_line(f"{told} What a check finds there is dropped and checked again.")), err=True
            )
        return statuses(folder)
    except UsageError as error:
        click.echo(uncommanded(one_line(f"No last verdicts are shown: {error}")), err=True)
        return {}


def existing_id(catalogue: Catalogue, word: str) -> str:
    """The id of the one theorem that a word means: an id, or the path of its file.

    **Raises:** UsageError with the nearest ids if there is none, or if the word means several theorems.
    """
    from theorax.runs.selectors import select

    ids = select((word,), catalogue).ids
    if len(ids) != 1:
        raise UsageError(f"`{word}` means {many(len(ids), 'theorem')}, and one is shown at a time. Write one of them.")
    return ids[0]


def _is_terminal() -> bool:
    """True if a person reads the list."""
    return sys.stdout.isatty()


def _columns() -> int:
    """The width of the terminal; what the user says in COLUMNS comes first, and one that knows no width has 80."""
    said = os.environ.get("COLUMNS", "")
    found = int(said) if said.isdecimal() and int(said) > 0 else os.get_terminal_size().columns
    return max(found or 80, 2 * INDENT)


def _sign(status: str) -> str:
    from theorax.text.signs import SIGNS

    return SIGNS.get(status, "·")


def _styled(text: str, terminal: bool, *, fg: str | None = None, bold: bool = False, dim: bool = False) -> str:
    if not terminal or os.environ.get("NO_COLOR"):
        return text
    return click.style(text, fg=fg, bold=bold or None, dim=dim or None)
