"""From the words of a command to theorems.

=====================  ==============================================
word                   means
=====================  ==============================================
``rank_collapse``      the theorem with this id; globs such as ``rank_*``
``+rank_collapse``     it and everything it rests on
``rank_collapse+``     it and everything that rests on it
``paper:mind_the_gap`` the theorems of a paper (``paper:instruments``: the instruments)
``kind:rate``          those with a claim of this kind
``label:derived``      those with this label: read, reconstructed, derived
``status:refuted``     those whose last kept result is this; ``status:unchecked``
``a,b``                both: words joined by commas must all match
``a b``                either: words separated by spaces are united
=====================  ==============================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from theorax.decide.status import Status
from theorax.errors import NothingSelected, UsageError
from theorax.names import did_you_mean
from theorax.runs.dependencies import Graph
from theorax.theorems.catalogue import LABELS, Catalogue, kinds_of_claim

STATUSES = (*(status.lower() for status in Status), "unchecked")
METHODS = ("paper", "kind", "label", "status")

Statuses = Callable[[], Mapping[str, str]]


@dataclass(frozen=True)
class Selection:
    """The theorems that a command means: ``named`` were asked for, the other ``ids`` came with a ``+``."""

    ids: tuple[str, ...]
    named: tuple[str, ...]


def select(
    words: Iterable[str], catalogue: Catalogue, statuses: Statuses = dict, exclude: Iterable[str] = ()
) -> Selection:
    """The theorems that ``words`` mean, in the catalogue's order, without those that ``exclude`` means.

    **Raises:** UsageError if a word means nothing known, with the nearest names; NothingSelected if no theorem is left.
    """
    words, exclude = tuple(words), tuple(exclude)
    chooser = _Chooser(catalogue, statuses)
    ids: set[str] = set()
    named: set[str] = set()
    for word in words:
        matched, asked = chooser.intersection(word)
        ids |= matched
        named |= asked
    for word in exclude:
        ids -= chooser.intersection(word)[0]
    if not ids:
        raise NothingSelected(_nothing(words, exclude, catalogue))
    chosen = tuple(id for id in catalogue.ids if id in ids)
    return Selection(ids=chosen, named=tuple(id for id in chosen if id in named))


@dataclass(frozen=True)
class _Chooser:
    catalogue: Catalogue
    statuses: Statuses

    def intersection(self, word: str) -> tuple[set[str], set[str]]:
        ids, named = self.term(word.partition(",")[0].strip())
        for part in word.split(",")[1:]:
            found, asked = self.term(part.strip())
            ids, named = ids & found, named | asked
        return ids, ids & named

    def term(self, text: str) -> tuple[set[str], set[str]]:
        """The pattern of a word with its ``+``, and without."""
        core = text.removeprefix("+").removesuffix("+")
        if not core:
            raise UsageError(f"`{text}` names no theorem. Write an id, such as `{_example(self.catalogue)}`.")
        asked = self.core(core)
        found = set(asked)
        if text.startswith("+"):
            found |= Graph.of(self.catalogue).ancestors(asked)
        if text.endswith("+"):
            found |= Graph.of(self.catalogue).descendants(asked)
        return found, asked

    def core(self, text: str) -> set[str]:
        method, colon, value = text.partition(":")
        if colon:
            return self.method(method, value)
        matched = {id for id in self.catalogue.ids if fnmatchcase(id, text)}
        if matched:
            return matched
        if any(sign in text for sign in "*?["):
            raise UsageError(f"No theorem's id matches `{text}`. `verify list` shows them all.")
        if text in self.catalogue.papers:
            raise UsageError(f"`{text}` is a paper, not a theorem. Write `paper:{text}` for all its theorems.")
        hint = did_you_mean(text, self.catalogue.ids)
        raise UsageError(f"There is no theorem `{text}`{hint} `verify list` shows them all.")

    def method(self, method: str, value: str) -> set[str]:
        ids = self.catalogue.ids
        if method == "paper":
            _known(f"paper:{value}", value, self.catalogue.papers, "paper")
            return {id for id in ids if fnmatchcase(self.catalogue.paper(id), value)}
        if method == "kind":
            _known(f"kind:{value}", value, kinds_of_claim().values(), "kind of claim")
            return {id for id in ids if any(fnmatchcase(kind, value) for kind in self.catalogue.facts(id).kinds)}
        if method == "label":
            _known(f"label:{value}", value, LABELS, "label")
            return {id for id in ids if fnmatchcase(self.catalogue.facts(id).label, value)}
        if method == "status":
            _known(f"status:{value}", value.lower(), STATUSES, "status")
            known = self.statuses()
            return {id for id in ids if fnmatchcase(known.get(id, "unchecked").lower(), value.lower())}
        known_methods = ", ".join(f"`{name}:`" for name in METHODS)
        hint = did_you_mean(method, METHODS)
        raise UsageError(f"`{method}:{value}` cannot be read: a selector is an id or one of {known_methods}{hint}")


def _known(word: str, value: str, names: Iterable[str], what: str) -> None:
    names = list(names)
    if not any(fnmatchcase(name, value) for name in names):
        raise UsageError(
            f"`{word}` matches nothing: there is no {what} `{value}`{did_you_mean(value, names)} "
            f"Known: {', '.join(names)}."
        )


def _example(catalogue: Catalogue) -> str:
    return catalogue.ids[0] if catalogue.ids else "rank_collapse_width"


def _nothing(words: tuple[str, ...], exclude: tuple[str, ...], catalogue: Catalogue) -> str:
    if not catalogue.ids:
        return f"There is no theorem file under {', '.join(str(root) for root in catalogue.roots)}."
    if not words:
        return "Nothing is selected. Name a theorem, or write `verify all`."
    text = f"`{' '.join(words)}`" + (f" without `{' '.join(exclude)}`" if exclude else "")
    return f"{text} selects no theorem. Nothing was checked, and that is no success."
