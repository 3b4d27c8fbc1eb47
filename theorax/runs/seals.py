"""Digests that a kept row carries, so that what was altered in the file is noticed when it is read.

A row has a head (what a list of results needs) and three parts (manifest, outcome, observations). The seal is the digest
of the head and of the digests of the parts: the head can be checked without reading an outcome, and each part alone.

**Errors:** a row that was altered is taken for whole with probability 2^-256 where chance alters it. Whoever writes the
file on purpose can seal it anew: a seal is no signature.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

HEAD = "key, theorem, layout, status, date, seconds, variant, digests"
PARTS = ("manifest", "outcome", "observations")


@dataclass(frozen=True)
class SealedHead:
    """The head of a row: what it says of its result without the result itself."""

    key: str
    theorem: str
    layout: int
    status: str
    date: str
    seconds: float
    variant: int
    digests: str


@dataclass(frozen=True)
class SealedRow(SealedHead):
    """A whole row, as it was kept."""

    manifest: str
    outcome: str
    observations: bytes | None


def digests(parts: Mapping[str, object]) -> str:
    """The digests of the three parts, as one text."""
    return " ".join(_digest(parts[name]) for name in PARTS)


def seal(head: Sequence[object], digests: str) -> str:
    """The digest of a head and of the digests of its parts."""
    return _digest([*head, digests])


def has_valid_seal(row: Sequence[object]) -> bool:
    """True if a head with its digests, and the seal that follows them, belong together."""
    *head, digests, kept = row
    return kept == seal(head, str(digests))


def is_intact(parts: Mapping[str, object], digests: object) -> bool:
    """True if these parts of a row are those that were digested."""
    kept = str(digests).split(" ")
    return len(kept) == len(PARTS) and all(_digest(value) == kept[PARTS.index(name)] for name, value in parts.items())


def whole_row(row: Sequence[object], key: str) -> SealedRow | None:
    """The row under this key: its head, the seal and the three parts as they stand in a file. None if it was altered."""
    head, (seal, *parts) = row[: len(fields(SealedHead))], row[len(fields(SealedHead)) :]
    if len(parts) != len(PARTS) or head[0] != key or not has_valid_seal((*head, seal)):
        return None
    if not is_intact(dict(zip(PARTS, parts, strict=True)), head[-1]):
        return None
    return SealedRow(*head, *parts)  # type: ignore[arg-type]  # a whole row has the types that were sealed


def _digest(value: object) -> str:
    # The type is a part of it: a flipped bit of SQLite's own can turn a text into bytes.
    data = value if isinstance(value, bytes) else repr(value).encode("utf-8", "surrogatepass")
    return hashlib.sha256(type(value).__name__.encode() + b"\0" + data).hexdigest()
