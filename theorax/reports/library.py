"""The library's way in: check theorems and get their report as a value."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from theorax.decide.status import Status
from theorax.deleted import SETTINGS
from theorax.errors import UsageError
from theorax.names import did_you_mean
from theorax.project import find_project
from theorax.reports.assembly import document
from theorax.reports.document import Document, TheoremReport
from theorax.runs.runner import CHECK, Value, run
from theorax.runs.selectors import Selection, is_path, paths, select
from theorax.runs.store import now, statuses
from theorax.runs.workers import one_thread
from theorax.theorems import roots as all_roots
from theorax.theorems.catalogue import Catalogue, Facts
from theorax.theorems.roots import LIBRARY
from theorax.tracked import refuse_tracked
from theorax.verifiers.settings import EFFORTS, Settings

if TYPE_CHECKING:
    from theorax.language import Theorem
    from theorax.verifiers.attempts import GivenAttempts, UncountedAttempts
    from theorax.verifiers.outcome import Checked


@dataclass(frozen=True)
class Report:
    """Results of a run: ``document`` is the whole of them, as every rendering has it."""

    document: Document

    @property
    def exit_code(self) -> int:
        """Exit code that the command would have returned: 0 if every theorem holds."""
        return self.document.summary.exit_code

    @property
    def statuses(self) -> dict[str, Status]:
        """Every theorem with its status."""
        return {part.id: part.status for part in self.document.theorems}

    def __getitem__(self, id: str) -> TheoremReport:
        """The part of one theorem.

        **Raises:** KeyError if it is not in this report.
        """
        return self.document.by_id[id]

    def __str__(self) -> str:
        from theorax.reports import summary
        from theorax.text import plain

        return plain.render(summary.report_blocks(self.document)).rstrip("\n")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """A notebook shows every theorem with its verdict, its formulas and its plots."""
        from theorax.reports.html.page import cell
        from theorax.text import hypertext

        rows = [
            (f"{part.id}.{claim.id} is {claim.status}:", claim.latex)
            for part in self.document.theorems
            for claim in part.claims
        ]
        return hypertext.bundle(str(self), cell(self.document), hypertext.latex_rows(rows))


def verify(
    *theorems: Theorem | str | os.PathLike[str] | Iterable[Any],
    exclude: Iterable[str] = (),
    roots: Iterable[str | os.PathLike[str]] = (),
    id: str | None = None,
    title: str = "",
    **settings: Any,
) -> Report:
    """Check theorems as ``verify theorem`` does; ``settings`` are the fields of :class:`Settings`.

    ``theorems`` are selectors and paths as the command takes them, values of :class:`theorax.language.Theorem`, and
    lists of these. ``roots`` are folders of theorem files beside the library's and the project's. A value that a file of
    a root states is checked as that file. Any other is checked in this process and not kept; ``id`` and ``title`` name it.

    Kept results lie in ``state``, a folder of the current directory unless another is given. Every process computes
    with one thread so that a result does not depend on the number of jobs; where NumPy or JAX were imported before,
    their threads stay as they are in this process.

    **Raises:** TypeError for an object that is none of these; UsageError for a selector, root, setting or value that
    means nothing; NothingSelected if nothing is left.
    """
    chosen = _settings(settings)
    words, stated = _sorted(theorems)
    exclude = tuple(exclude)
    catalogue = Catalogue(all_roots.roots(find_project(Path.cwd()), [os.fspath(folder) for folder in roots], LIBRARY))
    catalogue = catalogue.reaching(paths((*words, *exclude)))
    loose: list[Theorem] = []
    for theorem in stated:
        file = _file(theorem)
        of_file = catalogue.under(file) if file is not None else ()
        words += of_file
        loose += () if of_file else (theorem,)
    if (id is not None or title) and len(loose) != 1:
        raise UsageError(
            f"`id=` and `title=` name one Theorem that has no file, and {len(loose)} were given. Leave them out."
        )
    values = {_id(id, number, catalogue): theorem for number, theorem in enumerate(loose, start=1)}
    facts = {name: Facts(name, "", Path(), title, one.place, one.label, one.uses) for name, one in values.items()}
    catalogue = dataclasses.replace(catalogue, values=facts, _facts={})
    if words or not values:
        selection = select(words, catalogue, lambda: statuses(Path(chosen.state)), exclude)
    else:
        selection = Selection((), ())
    selection = Selection((*selection.ids, *values), (*selection.named, *values))
    told = {name: Value(partial(_observed, one), _call(name, title, chosen)) for name, one in values.items()}
    if told:
        one_thread()
    found = run(selection, chosen, catalogue, CHECK, values=told)
    return Report(document(found, chosen, ["theorax.verify", *words, *values], now()))


def _settings(given: dict[str, Any]) -> Settings:
    known = [field.name for field in dataclasses.fields(Settings) if field.name not in ("roots", "attempt", "attempts")]
    for name in given:
        if name in SETTINGS:
            raise UsageError(SETTINGS[name])
        if name not in known:
            raise UsageError(f"There is no setting `{name}`{did_you_mean(name, known)}")
    chosen = Settings(**given)
    refuse_tracked(Path(chosen.state))
    if chosen.effort not in EFFORTS:
        hint = did_you_mean(chosen.effort, EFFORTS)
        raise UsageError(f"There is no effort `{chosen.effort}`{hint} Write {', '.join(EFFORTS)}.")
    return chosen


def _sorted(theorems: Iterable[Any]) -> tuple[list[str], list[Theorem]]:
    """The selectors and the values among the arguments of a call."""
    words: list[str] = []
    values: list[Theorem] = []
    for one in theorems:
        if _is_theorem(one):
            values.append(one)
        elif isinstance(one, str):
            words.append(one)
        elif isinstance(one, os.PathLike):
            path = os.fspath(cast("os.PathLike[str]", one))
            words.append(path if is_path(path) else f"./{path}")
        elif isinstance(one, Iterable):
            inner = _sorted(cast("Any", one))
            words += inner[0]
            values += inner[1]
        else:
            raise TypeError(
                f"theorax.verify takes a Theorem, a selector or path, or a list of these, not {type(one).__name__}. "
                'Write theorax.verify(theorem), theorax.verify("claims/a.py") or theorax.verify([theorem, "paper:P"]).'
            )
    return words, values


def _is_theorem(one: object) -> bool:
    # Whoever holds a theorem has imported the language; whoever does not is spared SymPy.
    language = sys.modules.get("theorax.language.theorem")
    return language is not None and isinstance(one, language.Theorem)


def _observed(
    theorem: Theorem, id: str, settings: Settings, log: GivenAttempts | None = None
) -> Checked | UncountedAttempts:
    from theorax.runs.checking import stage

    return stage(id, settings, log, theorem)


def _file(theorem: Theorem) -> Path | None:
    """The file of the module that states a value; None if none does, as in a notebook."""
    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get("theorem") is theorem and getattr(module, "__file__", None):
            return Path(str(module.__file__))
    return None


def _id(given: str | None, number: int, catalogue: Catalogue) -> str:
    """The id of a value without a file: as given, or a number of its own."""
    if given is None:
        return "untitled" if number == 1 else f"untitled_{number}"
    if not given.isidentifier():
        raise UsageError(f'`id="{given}"` is no id. An id is a name of Python. Write `id="gaussian_norm"`.')
    if given in catalogue.files:
        raise UsageError(f'`id="{given}"` is the id of a theorem in {catalogue.root(given).shown}. Write another.')
    return given


def _call(id: str, title: str, chosen: Settings) -> str:
    """The call of Python that checks a value again."""
    words = [f"id={id!r}", *([f"title={title!r}"] if title else [])]
    usual, how = Settings(), ("jobs", "fresh", "roots", "scheduler", "attempt", "attempts", "timeout")
    for field in dataclasses.fields(Settings):
        value = getattr(chosen, field.name)
        if field.name not in how and value != getattr(usual, field.name):
            words.append(f"{field.name}={value!r}")
    return f"theorax.verify(theorem, {', '.join(words)})"
