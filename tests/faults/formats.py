"""Every format of a report with a refuted theorem, read as its readers do: none of them may take it for a success."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from xml.etree import ElementTree

from tests.faults.counts import Counts
from theorax.reports.document import Document
from theorax.reports.renderings import RENDERINGS

Render = Callable[[str, Document], str]

# What tells a reader of the format, person or program, that not everything holds.
READ_AS_FAILED: Mapping[str, Callable[[str], object]] = {
    "json": lambda text: json.loads(text)["summary"]["exit_code"],
    "junit": lambda text: ElementTree.fromstring(text).findall(".//failure"),
    "badge": lambda text: json.loads(text)["color"] == "red",
    "github": lambda text: re.search(r"^::error |✗\sREFUTED", text, re.MULTILINE),
    "codequality": json.loads,
    # Reports tell of refuted mutants too: the word of the theorem has its sign.
    **{name: lambda text: re.search(r"✗\sREFUTED", text) for name in ("terminal", "markdown")},
    "html": lambda text: re.search(r'data-theorem="[^"]*" data-status="REFUTED"', text),
}


def attack(counts: Counts, failing: Document, render: Render | None = None) -> None:
    """Hold every format of a report with a refuted theorem against what its readers take from it.

    **Raises:** KeyError for a format that nothing here reads.
    """
    for name, rendering in RENDERINGS.items():
        for how in (rendering.render, rendering.say):
            text = how(failing) if render is None else render(name, failing)
            counts.count("formats")
            # GitHub's log repeats what fails alone; its summary is read as text.
            if not READ_AS_FAILED[name](text):
                counts.breaks("wrongly green", f"{name} of a report with a refuted theorem reads as a success")
