"""The gains of all variates of known mean, claim by claim, in the reports of runs.

    verify theorem ID ... --effort standard --fresh -o json=report.json
    python benchmarks/variates.py report.json ...         # -> benchmarks/results/variates.txt

A gain is the variance of the raw estimate over that of the corrected one, with slopes that were fitted on other draws. Printed
for every claim that declares variates: what is taken away with its known mean, the gain that its plan counted on, and the
smallest and the largest gain measured over its cases, each with its standard error. A mean has a case for each subject, choice
of letters and size, a limit or a rate one for the whole sweep.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from theorax.verifiers.loading import load

RESULTS = Path(__file__).parent / "results"


def rows(documents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """One line for each claim with variates, after a line for the whole; what is taken away stands below it."""
    told, ids = [], set()
    for document in documents:
        for part in document["theorems"]:
            claims = load(part["id"]).claims
            for claim in part["claims"]:
                gains = [case["gain"] for case in claim["cases"] if case.get("gain")]
                used = [gain for gain in gains if gain["measured"] is not None]
                if not gains:
                    continue
                name = part["id"] if part["id"] not in ids else ""
                ids.add(part["id"])
                effort = document["settings"]["effort"]
                told.append(f"{name:40} {claim['id']:16} {effort:9} {_drawn(claim):>7} {_gains(used):>44}")
                taken = claims[claim["id"]].known_means
                told += [f"{'':40}   {known.of}, of mean {known.mean}" for known in taken]
    yield f"{len(ids)} theorems with variates of known mean"
    yield f"{'theorem':40} {'claim':16} {'effort':9} {'draws':>7} {'gain: planned, least, largest':>44}"
    yield from told


def _drawn(claim: Mapping[str, Any]) -> str:
    """The most draws at a size of a case."""
    return str(max(int(point["draws"]) for case in claim["cases"] for point in case["points"]))


def _gains(used: Sequence[Mapping[str, Any]]) -> str:
    """The planned gain and the ends of the measured ones."""
    if not used:
        return "not used: too few draws"
    least, largest = (end(used, key=lambda gain: float(gain["measured"])) for end in (min, max))
    planned = min(gain["planned"] for gain in used)
    return f"{planned:.1f}, {_one(least)}, {_one(largest)}"


def _one(gain: Mapping[str, Any]) -> str:
    return f"{gain['measured']:.1f} ± {gain['error']:.1f}"


def main() -> None:
    """Print the lines, and keep them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", nargs="+", type=Path, help="JSON reports of runs with nothing kept")
    text = "\n".join(rows([json.loads(path.read_text()) for path in parser.parse_args().reports])) + "\n"
    print(text, end="")
    (RESULTS / "variates.txt").write_text(text)


if __name__ == "__main__":
    main()
