"""From the words of a command to theorems.

=====================  ==============================================
word                   means
=====================  ==============================================
``rank_collapse``      the theorem with this id; globs such as ``rank_*``
``+rank_collapse``     it and everything it rests on
``rank_collapse+``     it and everything that rests on it
``paper:mind_the_gap`` the theorems of a paper (``paper:instruments``: the instruments)
``kind:rate``          those with a claim of this kind
``label:derived``      those with this label: read, reconstructed, derived, own
``root:NAME``          those of a root; ``root:own``: all but the library's
``claims/a.py``        the theorem in this file; a folder, as in ``claims/``: all in it
``status:refuted``     those whose last kept result is this; ``status:unchecked``
``status:within``      those with a claim off its value but inside its margin
``a,b``                both: words joined by commas must all match
``a b``                either: words separated by spaces are united
=====================  ==============================================
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from theorax.decide.status import Status
from theorax.errors import NothingSelected, UsageError
from theorax.names import did_you_mean
from theorax.runs.dependencies import Graph
from theorax.theorems.catalogue import LABELS, Catalogue, kinds_of_claim
from theorax.theorems.roots import OWN, Root

WITHIN = "within"
STATUSES = (*(status.lower() for status in Status), "unchecked", WITHIN)
METHODS = ("paper", "kind", "label", "root", "status")

Statuses = Callable[[], Mapping[str, str]]
Within = Callable[[], Collection[str]]  # the theorems that lie inside a margin


@dataclass(frozen=True)
class Shard:
    """Part ``number`` ``of`` so many of a run over the ``selected`` theorems, some of them ``named``."""

    number: int
    of: int
    selected: tuple[str, ...]
    named: tuple[str, ...]
    attempt: int = 1  # that was given, where the log of this machine does not know the earlier ones


@dataclass(frozen=True)
class Selection:
    """The theorems that a command means: ``named`` were asked for, the other ``ids`` came with a ``+``.

    ``shard``: they are this part of a larger run.
    """

    ids: tuple[str, ...]
    named: tuple[str, ...]
    shard: Shard | None = None


def paths(words: Iterable[str]) -> tuple[str, ...]:
    """The paths in selectors.

    >>> paths(["+claims/a.py", "rank_*,more/"])
    ('claims/a.py', 'more/')
    """
    parts = [_core(part.strip()) for word in words for part in word.split(",")]
    return tuple(part for part in parts if is_path(part))


def is_path(text: str) -> bool:
    """True if a word is a path to a file or a folder.

    >>> is_path("claims/gap.py"), is_path("gap.py"), is_path("gap"), is_path("paper:a/b")
    (True, True, False, False)
    """
    return text.partition(":")[0] not in METHODS and ("/" in text or text.endswith(".py") or text in (".", ".."))


def _core(text: str) -> str:
    return text.removeprefix("+").removesuffix("+")


def usual(catalogue: Catalogue, *, library: bool = False) -> tuple[str, ...]:
    """The selectors of a command without any: in a project with roots of its own its theorems, elsewhere all.

    ``library``: all in any case.
    """
    own = dict.fromkeys(f"root:{root.name}" for root in catalogue.roots if root.is_own and not root.by_path)
    return tuple(own) if own and not library else ("*",)


def select(
    words: Iterable[str],
    catalogue: Catalogue,
    statuses: Statuses = dict,
    exclude: Iterable[str] = (),
    within: Within = frozenset,
) -> Selection:
    """The theorems that ``words`` mean, in the catalogue's order, without those that ``exclude`` means.

    **Raises:** UsageError if a word means nothing known, with the nearest names, or if two files define one of the
    theorems; NothingSelected if no theorem is left.
    """
    words, exclude = tuple(words), tuple(exclude)
    chooser = _Chooser(catalogue, statuses, within)
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
    for id in sorted(ids):
        if (twice := catalogue.duplicate(id)) is not None:
            raise UsageError(twice)
    chosen = tuple(id for id in catalogue.ids if id in ids)
    return Selection(ids=chosen, named=tuple(id for id in chosen if id in named))


@dataclass(frozen=True)
class _Chooser:
    catalogue: Catalogue
    statuses: Statuses
    within: Within

    def intersection(self, word: str) -> tuple[set[str], set[str]]:
        ids, named = self.term(word.partition(",")[0].strip())
        for part in word.split(",")[1:]:
            found, asked = self.term(part.strip())
            ids, named = ids & found, named | asked
        return ids, ids & named

    def term(self, text: str) -> tuple[set[str], set[str]]:
        """The pattern of a word with its ``+``, and without."""
        core = _core(text)
        if not core:
            raise UsageError(f"`{text}` names no theorem. Write an id, such as `{_example(self.catalogue)}`.")
        asked = self.core(core)
        found = set(asked)
        if text.startswith("+"):
            found |= Graph.of(self.catalogue, asked).ancestors(asked)
        if text.endswith("+"):
            found |= Graph.of(self.catalogue).descendants(asked)
        return found, asked

    def core(self, text: str) -> set[str]:
        if is_path(text):
            return self.path(text)
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
        if Path(text).is_dir():
            raise UsageError(f"`{text}` is a folder, not a theorem. Write `{text}/` for all theorems in it.")
        hint = did_you_mean(text, self.catalogue.ids)
        raise UsageError(f"There is no theorem `{text}`{hint} `verify list` shows them all.")

    def path(self, text: str) -> set[str]:
        path = Path(text).expanduser()
        found = set(self.catalogue.under(path))
        if found:
            return found
        if path.is_dir():
            raise UsageError(
                f"The folder `{text}` holds no theorem file. A theorem file ends in `.py` and has a line "
                "`theorem = Theorem(...)`. Name another folder."
            )
        hidden = path.name.startswith(("_", "."))
        raise UsageError(
            f"`{text}` holds no theorem: its name starts with an underscore or a dot, so it is a helper. Rename it."
            if hidden
            else f"`{text}` holds no theorem. A theorem file ends in `.py` and has a line `theorem = Theorem(...)`. "
            "Add that line."
        )

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
        if method == "root":
            names = [root.name for root in self.catalogue.roots]
            _known(f"root:{value}", value, [*dict.fromkeys(names), OWN], "root")
            return {id for id in ids if any(_in_root(root, value) for root in self.catalogue.roots_of(id))}
        if method == "status":
            _known(f"status:{value}", value.lower(), STATUSES, "status")
            if value.lower() == WITHIN:
                inside = self.within()
                return {id for id in ids if id in inside}
            known = self.statuses()
            return {id for id in ids if fnmatchcase(known.get(id, "unchecked").lower(), value.lower())}
        known_methods = ", ".join(f"`{name}:`" for name in METHODS)
        hint = did_you_mean(method, METHODS)
        raise UsageError(f"`{method}:{value}` cannot be read: a selector is an id or one of {known_methods}{hint}")


def _in_root(root: Root, value: str) -> bool:
    return root.kind != "library" if value == OWN else fnmatchcase(root.name, value)


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
        return f"There is no theorem file under {', '.join(root.shown for root in catalogue.roots)}."
    if not words:
        return "Nothing is selected. Name a theorem, or write `verify all`."
    text = f"`{' '.join(words)}`" + (f" without `{' '.join(exclude)}`" if exclude else "")
    statuses = [part.partition(":")[2] for word in words for part in word.split(",") if part.startswith("status:")]
    if len(statuses) == len(words):
        told = " or ".join("within its margin" if status.lower() == WITHIN else status for status in statuses)
        return f"No theorem is {told}. Nothing to show."
    return f"{text} selects no theorem. Nothing to show."
