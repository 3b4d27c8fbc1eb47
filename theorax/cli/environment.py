"""Where the command finds its theorems and who checks them; tests put others in their place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from theorax.theorems.catalogue import LIBRARY, Catalogue


@dataclass(frozen=True)
class World:
    """The folders of papers, and the importable paths of the functions that check and plan."""

    roots: tuple[Path, ...] = (LIBRARY,)
    check: str = "theorax.runs.checking:check"
    plan: str = "theorax.runs.checking:plan"
    arguments: tuple[str, ...] = ()  # of the command, as typed

    @property
    def catalogue(self) -> Catalogue:
        """The theorems."""
        return Catalogue(self.roots)


def world(context: click.Context) -> World:
    """The world that the command was started in."""
    found = context.find_object(World)
    return found if found is not None else World()
