"""How many steps of the library's proofs compute something, and how many results were held against a second route.

    python benchmarks/second_routes.py [ID ...]

Every proof is checked as `verify theorem` does; nothing is drawn. A step without a second route is named, with the reason.
Kept under benchmarks/results/ where the whole library was asked for.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from theorax.theorems.catalogue import Catalogue
from theorax.verifiers import proof_check
from theorax.verifiers.loading import load

RESULT = Path(__file__).parent / "results" / "second_routes.txt"


def lines(ids: Sequence[str], catalogue: Catalogue) -> Iterator[str]:
    """The counts, and each step with a result that nothing else was held against."""
    count: Counter[str] = Counter()
    alone = []
    for id in ids:
        found = proof_check.check_proofs(load(id, catalogue))
        for step, why in zip(found.steps, found.no_second_route, strict=True):
            count[step.status] += 1
            if step.computed_by:
                count["alone" if why else "twice"] += 1
                alone += [f"  {id}.{step.proof}, {step.reason}: {why}"] if why else []
    made = count["alone"] + count["twice"]
    yield f"{len(ids)} theorems; steps: {', '.join(f'{count[name]} {name}' for name in ('PROVED', 'CITED', 'UNDECIDED'))}"
    if made:
        yield f"{made} steps compute something, {count['twice']} of them ({count['twice'] / made:.1%}) by two routes"
    if alone:
        yield "without a second route:"
        yield from alone


def main() -> None:
    """Check the proofs, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", help="theorems instead of the whole library")
    options = parser.parse_args()
    catalogue = Catalogue()
    text = "\n".join(lines(options.ids or list(catalogue.ids), catalogue))
    print(text)
    if not options.ids:
        RESULT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
