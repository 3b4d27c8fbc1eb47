"""The options and the words that say which theorems are meant; `verify list` takes these alone, and answers at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theorax.cli.workspace import add_roots, workspace_of
from theorax.errors import UsageError

if TYPE_CHECKING:
    from theorax.theorems.catalogue import Catalogue

Command = Callable[..., Any]
Option = Callable[[Command], Command]


def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The ids and selectors that begin as typed, for the shell."""
    from theorax.runs.selectors import METHODS

    try:
        catalogue = workspace_of(context).catalogue
    except UsageError:  # the command says what is wrong; a completion has no place for it
        return []
    plus = "+" if incomplete.startswith("+") else ""
    words = [*catalogue.ids, *(f"{method}:" for method in METHODS)]
    method, colon, _ = incomplete.removeprefix("+").partition(":")
    if colon and method in METHODS:
        words = [f"{method}:{value}" for value in _values(method, catalogue)]
    return [f"{plus}{word}" for word in words if word.startswith(incomplete.removeprefix("+"))]


def _values(method: str, catalogue: Catalogue) -> Iterable[str]:
    """Values that may stand after the colon of a selector."""
    from theorax.runs.selectors import STATUSES
    from theorax.theorems.catalogue import LABELS, kinds_of_claim
    from theorax.theorems.roots import OWN

    if method == "root":
        return dict.fromkeys((*(root.name for root in catalogue.roots), OWN))
    known = {"paper": catalogue.papers, "kind": kinds_of_claim().values(), "label": LABELS, "status": STATUSES}
    return known[method]


def selectors(*, required: bool = False) -> Option:
    """The positional selectors."""
    return click.argument("words", metavar="SELECTOR...", nargs=-1, required=required, shell_complete=complete)


exclude_option: Option = click.option(
    "--exclude", "-x", multiple=True, metavar="SELECTOR", help="Leave these out.", shell_complete=complete
)
root_option: Option = click.option(
    "--root",
    multiple=True,
    type=click.Path(),
    metavar="DIR",
    help="A folder of theorem files, read beside the others; repeatable.",
    expose_value=False,
    is_eager=True,
    callback=add_roots,
)
library_option: Option = click.option(
    "--library", is_flag=True, help="The library's theorems too, where a project has its own."
)


def state_folder(typed: str | None) -> Path:
    """The folder of kept results: as typed, else that of the project.

    **Raises:** UsageError if git tracks it.
    """
    from theorax.project import find_project
    from theorax.tracked import refuse_tracked

    return refuse_tracked(Path(typed) if typed is not None else find_project(Path.cwd()).state).absolute()


state_option: Option = click.option(
    "--state", type=click.Path(), metavar="DIR", help="Folder of kept results [.theorax in the project's root]."
)
