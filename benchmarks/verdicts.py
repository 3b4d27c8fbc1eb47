"""The verdict of every theorem and claim that a baseline or a JSON report holds, by paper.

    python benchmarks/verdicts.py > benchmarks/results/verdicts_quick.txt
    python benchmarks/verdicts.py REPORT > benchmarks/results/verdicts_standard.txt

The default is the baseline that the tests of the library are held against: every theorem at quick effort. The second file is
of the last run of everything at standard effort.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from theorax.theorems.catalogue import Catalogue

LIBRARY = Path(__file__).parent.parent / "tests" / "power" / "every_theorem.json"


def lines(theorems: list[dict[str, Any]]) -> Iterator[str]:
    """One line for all, one for each paper, one for each theorem."""
    catalogue = Catalogue()
    kept = {theorem["id"]: theorem for theorem in theorems}
    yield f"{len(kept)} theorems: {_counted(theorem['status'] for theorem in theorems)}"
    claims = [claim for theorem in theorems for claim in theorem["claims"]]
    yield f"{len(claims)} claims: {_counted(claim['status'] for claim in claims)}"
    for paper, ids in catalogue.papers.items():
        own = [kept[id] for id in ids if id in kept]
        yield f"{paper}: {_counted(theorem['status'] for theorem in own)}"
        for theorem in own:
            told = ", ".join(f"{claim['id']} {claim['status']}" for claim in theorem["claims"])
            yield f"  {theorem['status']:9} {theorem['id']}: {told}"


def _counted(statuses: Iterator[str]) -> str:
    return ", ".join(f"{count} {status}" for status, count in Counter(statuses).most_common())


def main() -> None:
    """Read and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=LIBRARY)
    options = parser.parse_args()
    print("\n".join(lines(json.loads(options.file.read_text(encoding="utf-8"))["theorems"])))


if __name__ == "__main__":
    main()
