"""Randomness: keys that are used once and descend from the given one, and draws that differ from each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from theorax.decide.draw_guards import is_distinct, repeats
from theorax.decide.guard_findings import Looked
from theorax.decide.promise import KEYS, NUMBERS
from theorax.decide.verdict import Assumption, Standing
from theorax.decide.wording import SEEDS
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.guards.spread import drawn

__all__ = ["randomness"]

_SHAPES = 4  # shapes of arrays that are listed


def randomness(claim: DecidedClaim) -> Looked:
    """Independence of the draws: their keys, as `measure` has let them pass, and whether they repeat each other.

    Tested where both could be asked at every line and size. Few rows, whole numbers and two values say nothing, and a
    key that is chosen by an index of the run may be any. Of instances the keys alone are asked; those of a build that
    cannot be traced are not looked at.
    """
    names = sorted(letter.name for letter in claim.planned.claim.observed)
    told: list[bool | None] = []
    chosen: list[Observed] = []
    for observed in drawn(claim):
        found = _distinct(observed, names)
        if found is False:
            return Looked((repeats(f" for {observed.line.name}"),))
        told.append(found)
        if observed.keys is not None and observed.keys().chosen:
            chosen.append(observed)
    if not told:
        return Looked(ledger=(*_of_instances(claim), *_numbers_held(claim)))
    (experiment,) = {case.cell.line.experiment for case in claim.judged}
    line = Assumption("independence", SEEDS[claim.theorem.experiments[experiment].seeds], Standing.DECLARED)
    unseen = []
    if not chosen:
        line = replace(line, text=f"{line.text}; each key is used once and comes from the given one")
    else:
        unseen.append(_unknown(chosen))
    if None in told:
        unseen.append(
            f"whether draws of {' and '.join(names)} differ as they should: whole numbers, two values, or too few draws"
        )
    elif not chosen:
        line = replace(line, text=f"{line.text}, and the draws differ", checked=Standing.TESTED)
    told_apart = (Assumption("draws", text, Standing.NOT_LOOKED_AT) for text in unseen)
    return Looked(ledger=(line, *told_apart, *_numbers_held(claim)))


def _of_instances(claim: DecidedClaim) -> Iterator[Assumption]:
    """Lines on the keys of instances, where they could not be followed."""
    lines = [case.cell.line for case in claim.judged]
    found = [claim.draws.on(line) for line in lines if line.random and line.experiment]
    built = [observed for observed in found if observed.instances]
    if untraced := [observed for observed in built if observed.keys is None]:
        unseen = (
            f"whether {_lines_of(untraced)} use each key once and draw from the given one alone: build cannot be traced, "
            "it makes Python's numbers of what it draws"
        )
        yield Assumption(KEYS, unseen, Standing.NOT_LOOKED_AT)
    if chosen := [observed for observed in built if observed.keys is not None and observed.keys().chosen]:
        yield Assumption(KEYS, _unknown(chosen), Standing.NOT_LOOKED_AT)


def _numbers_held(claim: DecidedClaim) -> Iterator[Assumption]:
    """A line on arrays of numbers that programs hold, where no reason is given for holding them."""
    lines = [case.cell.line for case in claim.judged]
    found = (claim.draws.on(line) for line in lines if line.random and line.experiment and not line.subject.quenched)
    held = {seen.line.name: seen.keys().arrays for seen in found if seen.keys is not None}
    if shapes := sorted({shape for own in held.values() for shape in own}):
        told = ", ".join(map(str, shapes[:_SHAPES])) + (", ..." if len(shapes) > _SHAPES else "")
        names = ", ".join(name for name, own in held.items() if own)
        text = f"arrays of numbers of shapes {told}, the same in every draw, which the program of {names} holds"
        yield Assumption(NUMBERS, text, Standing.NOT_LOOKED_AT)


def _unknown(chosen: Sequence[Observed]) -> str:
    """The sentence about keys that are not known before a run."""
    return f"whether {_lines_of(chosen)} use each key once: a run alone can tell which key is chosen, or made, of its numbers"


def _lines_of(several: Sequence[Observed]) -> str:
    return ", ".join(dict.fromkeys(observed.line.name for observed in several))


def _distinct(observed: Observed, names: list[str]) -> bool | None:
    """False where draws repeat each other at some size; None where that could not be asked at every size."""
    found = [is_distinct([np.asarray(table[name]) for name in names]) for table in observed.tables]
    return False if False in found else None if None in found else True
