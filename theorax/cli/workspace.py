"""Workspace of the command: the theorems, and the function that checks them; tests put others in their place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from theorax.theorems.catalogue import LIBRARY, Catalogue


@dataclass(frozen=True)
class Workspace:
    """The folders of papers, the importable path of the function that checks, and the command as typed."""

    roots: tuple[Path, ...] = (LIBRARY,)
    check: str = "theorax.runs.checking:check"
    arguments: tuple[str, ...] = ()

    @property
    def catalogue(self) -> Catalogue:
        """The theorems."""
        return Catalogue(self.roots)


def workspace_of(context: click.Context) -> Workspace:
    """The workspace that the command was started in."""
    found = context.find_object(Workspace)
    return found if found is not None else Workspace()
