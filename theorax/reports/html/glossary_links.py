"""Words of a page that lead to their entry in the glossary at its end, which holds the words that were linked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from markupsafe import Markup

from theorax.text.glossary import GLOSSARY

TERMS: Mapping[str, str] = {
    "on its own": "adjusted",
    "bias": "corrections",
    "breakdown factor": "breakdown",
    "controls": "control",
    "deciding case": "case",
    "headroom factor": "headroom",
    "not looked at": "blind to",
    "rests on": "dependency",
}
"""The glossary word of a label that is called otherwise."""


@dataclass(frozen=True)
class GlossaryLinks:
    """Links of one page; a label without an entry stays as it is."""

    used: dict[str, str] = field(default_factory=dict)  # anchors by word
    page: str = ""  # the file that holds the entries, if it is another one

    def link(self, label: str) -> str:
        """The label as a link to its entry."""
        word = TERMS.get(label.lower(), label.lower())
        if word not in GLOSSARY:
            return label
        anchor = self.used.setdefault(word, f"word-{word.replace(' ', '-')}")
        return Markup('<a href="{}#{}">{}</a>').format(self.page, anchor, label)

    def entries(self) -> Iterator[tuple[str, str, str]]:
        """Word, entry and anchor of all that was linked so far, in the order of the glossary."""
        for word, entry in GLOSSARY.items():
            if word in self.used:
                yield word, entry, self.used[word]
