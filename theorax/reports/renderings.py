"""The formats of a report by name; each is a function from the document alone to a text, imported when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Rendering:
    """One format: what it is for, how its files end, and where its function is."""

    about: str
    suffix: str
    place: str

    def render(self, document: Document) -> str:
        """The text of the report."""
        module, _, name = self.place.partition(":")
        text: str = getattr(importlib.import_module(module), name)(document)
        return text


RENDERINGS: Mapping[str, Rendering] = {
    "terminal": Rendering("what the terminal shows, without colour", "txt", "theorax.reports.summary:plain"),
    "json": Rendering("the report itself, from which all others are made", "json", "theorax.reports.json:text"),
}


def render(name: str, document: Document) -> str:
    """The report in this format."""
    return RENDERINGS[name].render(document)
