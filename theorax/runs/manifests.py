"""The manifest of a result: everything that determines it, as named entries; and what differs between two of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

ABSENT = "absent"  # the version of a library that is not installed

Manifest = Mapping[str, str]


class EntrySort(StrEnum):
    """Sorts of entries in a manifest; the value is the beginning of its name, and no value begins another."""

    ID = "id"
    THEOREM = "theorem"
    SOURCE = "source "
    MODEL = "model file "
    VERSION = "version of "
    SETTING = "setting "
    MACHINE = "machine"
    READ = "read "
    FOLDER = "folder "
    VARIABLE = "variable "
    PROGRAM = "program "

    def entry(self, of: str = "") -> str:
        """The name of the entry of this sort about one file, library or setting."""
        return f"{self}{of}"

    @property
    def is_file(self) -> bool:
        """True for the theorem's file, for those that it reads and for those of a user's model."""
        return self in (EntrySort.THEOREM, EntrySort.SOURCE, EntrySort.MODEL)

    @classmethod
    def read(cls) -> tuple[EntrySort, ...]:
        """The sorts of what a check reads besides the theorem's own file."""
        return tuple(sort for sort in cls if sort.is_observed or (sort.is_file and sort is not cls.THEOREM))

    @property
    def is_observed(self) -> bool:
        """True for what a check was seen to read: no text names it, so only the check itself can say it."""
        return self in (EntrySort.READ, EntrySort.FOLDER, EntrySort.VARIABLE, EntrySort.PROGRAM)

    @property
    def computes(self) -> bool:
        """True for files and versions of libraries, which compute; false for settings and the machine."""
        return self not in (EntrySort.SETTING, EntrySort.MACHINE)


def parted(entry: str) -> tuple[EntrySort, str]:
    """The sort of an entry, and the file, library or setting that it is about.

    >>> parted("version of jax")
    (<EntrySort.VERSION: 'version of '>, 'jax')
    """
    sort = next(sort for sort in EntrySort if entry.startswith(sort))
    return sort, entry.removeprefix(sort)


@dataclass(frozen=True)
class ManifestDifference:
    """One entry that differs between two manifests; ``before`` or ``now`` is None where one of them lacks it.

    ``of`` is the file, library or setting; it is empty where there is one of a sort, as the theorem's own file.
    """

    sort: EntrySort
    of: str
    before: str | None
    now: str | None

    def __str__(self) -> str:
        """The difference as a reader is told it: the values where they say something, a digest never."""
        name = self.sort.entry(self.of)
        if self.before is None or self.now is None:
            return f"{name}: {'new' if self.before is None else 'gone'}"
        told = self.sort in (EntrySort.VERSION, EntrySort.SETTING, EntrySort.MACHINE)
        return f"{name}: {f'{self.before} -> {self.now}' if told else 'changed'}"


def manifest_differences(old: Manifest, new: Manifest) -> tuple[ManifestDifference, ...]:
    """Entries that differ between two manifests, by name.

    >>> [str(one) for one in manifest_differences({"setting seed": "0", "theorem": "a"}, {"setting seed": "1", "theorem": "a"})]
    ['setting seed: 0 -> 1']
    """
    return tuple(
        ManifestDifference(*parted(name), old.get(name), new.get(name))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    )


def observed_entries(manifest: Manifest) -> Manifest:
    """The entries that a check was seen to read.

    >>> observed_entries({"theorem": "a", "read runs/seed_0.npy": "b"})
    {'read runs/seed_0.npy': 'b'}
    """
    sorts = tuple(sort for sort in EntrySort if sort.is_observed)
    return {name: value for name, value in manifest.items() if name.startswith(sorts)}


def key(manifest: Manifest) -> str:
    """The key of a result: the digest of everything that determines it and is known without checking.

    What the check was seen to read is compared when the result is looked up.
    """
    known = manifest.keys() - observed_entries(manifest).keys()
    text = "\n".join(f"{name}={manifest[name]}" for name in sorted(known))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
