"""Which hypotheses the library shows to be needed: a share for each paper, and the pairs that are not shown.

    python benchmarks/needed.py [--all] [SELECTOR ...]

A pair is a claim and a hypothesis that it names. It is shown where a control breaks this one of the claim's hypotheses
alone and the claim must fail there; a check in which such a control goes unnoticed is not supported. Nothing is drawn:
the theorems are read. What a source misprints fails everywhere, so its hypotheses are not counted. A pair whose
hypothesis is declared ``unbroken`` counts as not shown, and is told with that word.
With --all every pair that is not shown is named.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from theorax.language import Theorem
from theorax.runs.selectors import select
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.loading import load


@dataclass(frozen=True)
class Pair:
    """A claim and a hypothesis that it needs; ``shown``, or why not: broken with another one, declared, or by nothing."""

    theorem: str
    claim: str
    hypothesis: str
    shown: bool
    told: str


def pairs(id: str, theorem: Theorem) -> Iterator[Pair]:
    """Every pair of a theorem."""
    for name, claim in theorem.claims.items():
        if claim.corrected:
            continue
        needed = theorem.needed(claim)
        broken = [set(needed) & set(subject.broken) for subject in theorem.controls(name).values()]
        for hypothesis in needed:
            shown = {hypothesis} in broken
            declared = "declared unbroken" if theorem.hypotheses[hypothesis].unbroken else "no control"
            told = "" if shown else "with another one" if any(hypothesis in part for part in broken) else declared
            yield Pair(id, name, hypothesis, shown, told)


def share(found: Sequence[Pair]) -> str:
    """The share of pairs that are shown needed, and their numbers."""
    shown = sum(pair.shown for pair in found)
    return f"{shown / len(found):.0%} ({shown} of {len(found)})" if found else "no pairs"


def lines(selectors: Sequence[str], every: bool) -> Iterator[str]:
    """One line for each paper and one for all; every pair that is not shown if asked."""
    catalogue = Catalogue()
    chosen = set(select(selectors, catalogue, dict).ids) if selectors else set(catalogue.ids)
    total: list[Pair] = []
    for paper, ids in catalogue.papers.items():
        found = [pair for id in ids if id in chosen for pair in pairs(id, load(id, catalogue))]
        total += found
        if found:
            yield f"{paper:28} {share(found)}"
        for pair in found:
            if every and not pair.shown:
                yield f"  {pair.theorem}.{pair.claim}: {pair.hypothesis}, {pair.told}"
    yield f"{'all':28} {share(total)}"


def main() -> None:
    """Read and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("selectors", nargs="*", help="theorems instead of the whole library")
    parser.add_argument("--all", action="store_true", help="every pair that is not shown needed")
    options = parser.parse_args()
    print("\n".join(lines(options.selectors, options.all)))


if __name__ == "__main__":
    main()
