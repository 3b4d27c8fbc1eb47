"""Promise of a green word: how it was shown, for what, and what was believed; and its ledger in groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from theorax.decide.findings import Finding, decisive
from theorax.decide.verdict import Assumption, Standing, Verdict
from theorax.names import many
from theorax.text.numbers import number

__all__ = [
    "CONVENTION",
    "DERIVATION",
    "EVERYWHERE",
    "GROUPS",
    "KEYS",
    "NUMBERS",
    "OF_KEYS",
    "UNSEEN",
    "grouped",
    "inputs_held_fixed",
    "promise",
    "said_for",
]

GROUPS: tuple[tuple[Standing, str], ...] = (
    (Standing.TESTED, "Tested"),
    (Standing.PROVED, "Proved"),
    (Standing.HELD_FIXED, "Held fixed"),
    (Standing.DECLARED, "Assumed"),
    (Standing.NOT_LOOKED_AT, "Not looked at"),
)
"""The groups of a ledger in the order in which a reader meets them."""

_HOW = {
    Finding.PROOF: "",  # the word says it
    Finding.CERTIFICATE: " by rigorous arithmetic over all of it",
    Finding.INSTANCES: " by rigorous arithmetic on instances",
}
DERIVATION = "derivation"  # the kind of the line on a proof that derives nothing of its claim
UNSEEN = "unseen"  # the kind of a line that no check can look at, whose text says all
CONVENTION = "derivative by JAX's convention"  # the kind of a line on a value that is no limit of derivatives beside it
EVERYWHERE = "unseen in every check"  # the same, of what no check of any theorem sees: a row of few lines leaves it out
KEYS, NUMBERS = "keys", "numbers"
OF_KEYS = frozenset({KEYS, NUMBERS})  # kinds of lines on what the keys of this very program leave open
BRANCH = "branch"  # the kind of a line on a comparison whose outcome was the same wherever the program was run
SPECIFIC = OF_KEYS | {BRANCH}  # kinds of lines that speak of this very program, and are shown first
LONGEST = 120  # characters of what was held fixed that are listed in a line


def promise(verdict: Verdict) -> str:
    """The first line of a green word: how it was shown, for what, what was held fixed, what was believed.

    Empty for the other words.
    """
    if not verdict.status.holds:
        return ""
    finding = decisive(verdict.findings).finding
    at = f" by a test at level {number(verdict.level, 3)}" if verdict.level is not None else " by what was evaluated"
    told = f"{verdict.status}{_HOW.get(finding, at)}{said_for(verdict.scope)}"
    parts = [told]
    if fixed := inputs_held_fixed(verdict.ledger, "listed below"):
        parts.append(f"Held fixed: {fixed}")
    believed = dict.fromkeys(_named(part) for part in verdict.ledger if part.checked == Standing.DECLARED)
    parts.append(f"Assumed: {', '.join(believed)}" if believed else "Nothing was assumed")
    return f"{'. '.join(parts)}."


def inputs_held_fixed(ledger: Iterable[Assumption], more: str) -> str:
    """Inputs and letters of which one value was looked at, by number where the list is long; ``more`` says where it stands."""
    fixed = dict.fromkeys(part.text for part in ledger if part.checked == Standing.HELD_FIXED)
    listed = "; ".join(fixed)
    return listed if len(listed) <= LONGEST else f"{many(len(fixed), 'input')}, {more}"


def grouped(
    ledger: Sequence[Assumption], unseen: Sequence[str] = (), left_out: Sequence[str] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The lines of a ledger by group, with the group's heading; what could not be seen stands under the last.

    Lines of the kinds ``left_out`` are told elsewhere; a group without lines is left out.
    """
    for standing, heading in GROUPS:
        own = [part for part in ledger if part.checked == standing and part.kind not in left_out]
        lines = [part.text if part.kind in (UNSEEN, EVERYWHERE) else f"{part.kind}: {part.text}" for part in own]
        if standing is Standing.NOT_LOOKED_AT:
            lines = [*unseen, *lines]
        if lines:
            yield heading, tuple(dict.fromkeys(lines))


def _named(part: Assumption) -> str:
    """A line of the ledger in few words: its kind, and of a hypothesis its name."""
    name, colon, _ = part.text.partition(": ")
    return f"{part.kind} {name}" if part.kind == "hypothesis" and colon else part.kind


def said_for(scope: str) -> str:
    """The scope as the rest of a sentence.

    >>> said_for("the law sampled"), said_for("at n = 8"), said_for("")
    (' for the law sampled', ' at n = 8', '')
    """
    if not scope:
        return ""
    opening = scope.split(" ")[0]
    return f" {scope}" if opening in ("for", "at", "as", "on", "over", "up") else f" for {scope}"
