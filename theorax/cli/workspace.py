"""Workspace of a command: its project, its theorems, and the function that checks them; tests put others in their place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from theorax.names import many

if TYPE_CHECKING:
    from theorax.project import Project
    from theorax.theorems.catalogue import Catalogue


@dataclass(frozen=True)
class Workspace:
    """The library's folder, the package's own unless another is given, the function that checks, the command as typed.

    ``added``: folders of ``--root``; ``words``: the selectors, whose paths may lie outside all roots.
    """

    library: Path | None = None
    check: str = "theorax.runs.checking:stage"
    arguments: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @cached_property
    def project(self) -> Project:
        """The project that the command speaks about.

        **Raises:** UsageError as :func:`theorax.project.find_project` does.
        """
        from theorax.project import find_project

        return find_project(Path.cwd())

    @cached_property
    def catalogue(self) -> Catalogue:
        """The theorems.

        **Raises:** UsageError for a root or a path that does not exist.
        """
        from theorax.theorems.catalogue import Catalogue
        from theorax.theorems.roots import LIBRARY, roots

        found = Catalogue(roots(self.project, self.added, self.library or LIBRARY))
        if not self.words:
            return found
        from theorax.runs.selectors import paths

        return found.reaching(paths(self.words))

    def usual(self, *, library: bool) -> tuple[str, ...]:
        """The selectors of a command without any; where they leave out the library's theorems, that is said.

        **Raises:** UsageError as :attr:`catalogue` does.
        """
        from theorax.runs.selectors import usual

        words, found = usual(self.catalogue, library=library), self.catalogue
        if words != ("*",):
            own = sum(any(root.is_own for root in found.roots_of(id)) for id in found.ids)
            of_library = sum(found.root(id).kind == "library" for id in found.ids)
            click.echo(f"{many(own, 'theorem')} of this project; the library's {of_library}: --library", err=True)
        return words


def workspace_of(context: click.Context, words: Iterable[str] = ()) -> Workspace:
    """The workspace that the command was started in, with the roots of ``--root`` and of paths in these selectors."""
    found = context.find_object(Workspace) or Workspace()
    return replace(found, words=tuple(words)) if words else found


def add_roots(context: click.Context, _: click.Parameter, folders: tuple[str, ...]) -> None:
    """Take the folders of ``--root`` into the command's workspace."""
    if folders:
        context.obj = replace(workspace_of(context), added=folders)
