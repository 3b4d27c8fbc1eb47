"""Shards of a run: the selected theorems in parts that take about equal time, each checked on a machine of its own.

The split is a function of the selection and of the shipped costs alone, so every machine makes the same one: the
longest theorem first, each to the shard that has the least to do. A theorem without a shipped cost counts as a mean one.
A shard blocks nothing, for what a theorem rests on may be in another shard, and says nothing about the whole run. Both are
done where the shards are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from theorax.runs.expected_seconds import shipped_seconds
from theorax.runs.selectors import Selection, Shard

__all__ = ["shard_of", "split_into_shards"]


def shard_of(whole: Selection, number: int, of: int, effort: str, attempt: int = 1) -> Selection:
    """The theorems of shard ``number`` ``of`` so many of a run over the ``whole`` selection."""
    own = set(split_into_shards(whole.ids, of, effort)[number - 1])
    ids, named = (tuple(id for id in part if id in own) for part in (whole.ids, whole.named))
    return Selection(ids, named, Shard(number, of, whole.ids, whole.named, attempt))


def split_into_shards(ids: Sequence[str], of: int, effort: str) -> tuple[tuple[str, ...], ...]:
    """Split theorems into so many parts of about equal cost at this effort.

    >>> split_into_shards(("slow", "quick", "short"), 2, "none measured")
    (('quick', 'slow'), ('short',))
    """
    costs = shipped_seconds(effort)
    mean = fmean(costs.values()) if costs else 1.0
    parts: list[list[str]] = [[] for _ in range(of)]
    spent = [0.0] * of
    for id in sorted(ids, key=lambda id: (-costs.get(id, mean), id)):
        least = spent.index(min(spent))
        parts[least].append(id)
        spent[least] += costs.get(id, mean)
    return tuple(map(tuple, parts))
