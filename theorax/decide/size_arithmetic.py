"""Sizes of a sweep: what they share, as powers of two do, would let pass what holds for those alone; one is no sweep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from theorax.decide.findings import Finding, Found
from theorax.decide.status import Decision, Reason, Status
from theorax.decide.verdict import Assumption, Standing

__all__ = ["over_sizes", "sizes_not_looked_at", "sizes_of_ledger", "unread_size"]

FEWEST = 3  # two sizes carry no sweep


def sizes_not_looked_at(sizes: Sequence[float]) -> str:
    """The sizes of which a sweep has none although a limit runs through them; empty where it has some of every kind.

    >>> sizes_not_looked_at([16, 32, 64]), sizes_not_looked_at([6, 8, 14]), sizes_not_looked_at([9, 15, 16])
    ('sizes that are no power of two', 'odd sizes', '')
    >>> sizes_not_looked_at([17, 33, 64]), sizes_not_looked_at([17, 33, 65]), sizes_not_looked_at([9, 16, 25])
    ('', 'even sizes', 'sizes that are no square')
    """
    if len(sizes) < FEWEST or not all(float(size).is_integer() for size in sizes):
        return ""
    whole = [int(size) for size in sizes]
    if all(size & (size - 1) == 0 for size in whole):
        return "sizes that are no power of two"
    shared = math.gcd(*whole)
    if shared > 1:
        return "odd sizes" if shared == 2 else f"sizes that are no multiple of {shared}"
    if all(math.isqrt(size) ** 2 == size for size in whole):
        return "sizes that are no square"
    step = math.gcd(*(size - whole[0] for size in whole))
    if step % 2 == 0:
        return "even sizes"
    # Three sizes, mostly those of a quick run, share an odd step by chance too often for a word about it.
    return f"sizes that are not {whole[0] % step} modulo {step}" if step > 1 and len(whole) > FEWEST else ""


def unread_size(swept: str, subject: str, letters: Sequence[str]) -> Found:
    """The finding that a size does not reach what is measured along it."""
    sentence = (
        f"Withheld for {subject}: {swept} does not reach {' and '.join(letters)}. A draw is the same computation at the "
        f"smallest and at the largest {swept}, so the draws say nothing about a limit in it. "
        f"Let build or observe use {swept}."
    )
    return Found(Finding.WITHHELD, sentence, Reason.UNREAD_SIZE)


def over_sizes(decision: Decision, sizes: Sequence[float], because: str = "") -> Decision:
    """The decision on a sweep, not robust where it supports from sizes that share their arithmetic for no reason given.

    A refutation stands: what fails on some sizes has no limit along all.
    """
    shared = decision.status is Status.SUPPORTED and bool(sizes_not_looked_at(sizes)) and not because
    return replace(decision, robust=False) if shared and decision.robust else decision


def sizes_of_ledger(sizes: Sequence[float], because: str = "") -> tuple[Assumption, ...]:
    """The line of a ledger about sizes that share their arithmetic; none where they do not."""
    missing = sizes_not_looked_at(sizes)
    if not missing:
        return ()
    reason = f", because {because}" if because else ""
    return (Assumption("sizes", f"{missing}{reason}", Standing.NOT_LOOKED_AT),)
