"""The draws that looks saved, theorem by theorem, in the report of a whole run.

    python benchmarks/library.py --effort standard --report report.json
    python benchmarks/draws_saved.py report.json          # -> benchmarks/results/draws_saved.txt

A claim with looks may end its draws after a quarter or a half of them. Told are, for every theorem that has such a claim, the
claims that ended early, and for each claim the draws at each of its sizes beside the planned ones. Claims of one line share
its draws, which go on until the last of its claims ends: what a claim saves is a saving of the check only where all end.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def rows(document: Mapping[str, Any]) -> Iterator[str]:
    """One line for each claim with looks, after a line for the whole."""
    told, early, claims = [], 0, 0
    for part in document["theorems"]:
        looked = [(claim["id"], claim["look"]) for claim in part["claims"] if claim["look"] is not None]
        for place, (name, look) in enumerate(looked):
            claims, early = claims + 1, early + (look["number"] < look["of"])
            made, planned = look["draws"], look["planned"]
            id = part["id"] if place == 0 else ""
            told.append(f"{id:40} {name:24} {made:>8} of {planned:>8} {made / planned:6.2f}")
    entries = sum(any(claim["look"] is not None for claim in part["claims"]) for part in document["theorems"])
    every = sum(len(part["claims"]) for part in document["theorems"])
    yield (
        f"{document['settings']['effort']} effort: {claims} of {every} claims, in {entries} of {len(document['theorems'])} "
        f"theorems, have looks; {early} of them ended before all their draws"
    )
    yield f"{'theorem':40} {'claim':24} {'made':>8} of {'planned':>8}  share"
    yield from told


def main() -> None:
    """Print the lines, and keep them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path, help="the JSON report of a run with nothing kept")
    text = "\n".join(rows(json.loads(parser.parse_args().report.read_text()))) + "\n"
    print(text, end="")
    (RESULTS / "draws_saved.txt").write_text(text)


if __name__ == "__main__":
    main()
