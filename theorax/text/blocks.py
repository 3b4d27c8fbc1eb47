"""The blocks of a report, before they have a look: headings, sentences, tables, and lines kept as they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """The head of a part; ``status`` is shown at its end, as a value ``within`` its margin where it is one.

    ``reached`` follows the word: the distance that a claim read with its margin was shown to keep. ``alone``: a refutation
    that does not hold over the run.
    """

    text: str
    level: int = 2
    status: str | None = None
    within: bool = False
    reached: str = ""
    alone: bool = False


@dataclass(frozen=True)
class Paragraph:
    """A sentence or several, wrapped; ``hang`` further indents all lines but the first."""

    text: str
    indent: int = 2
    hang: int = 0
    quiet: bool = False


@dataclass(frozen=True)
class Lines:
    """Lines that are kept as they are: mathematics, a plot, a command."""

    lines: tuple[str, ...]
    indent: int = 4
    quiet: bool = False


@dataclass(frozen=True)
class Table:
    """Rows under a head; ``right`` names the columns set flush right, ``wrapped`` the one that gives way."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()
    wrapped: int = 0
    indent: int = 2


@dataclass(frozen=True)
class Gap:
    """An empty line."""


Block = Heading | Paragraph | Lines | Table | Gap
