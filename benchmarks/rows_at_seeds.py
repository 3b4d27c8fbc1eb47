"""How often the guards of a class withhold what is true and catch what is not, and what passes where one is taken out.

    python -m benchmarks.rows_at_seeds S2 S7 S8 S11 > benchmarks/results/rows_at_seeds.txt

The statements are those of `tests/power/planted` (false) and `tests/honesty/hard` (true), each at other seeds than the
tests take: new draws, new instances, new points. ``seen`` is the share of seeds at which a false row was not green,
``kept`` the share at which a true row kept its word, both with the exact 95 % lower bound. The naive alternative comes
last: the same row with its one guard taken out, and how often it is then green.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from scipy.stats import beta

from benchmarks.calibration.removed_guards import REMOVED
from theorax.decide.status import Status
from theorax.errors import TheoraxError
from theorax.runs.checking import check
from theorax.verifiers.settings import Settings

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path.insert(0, str(TESTS))
from tabled import Row, rows  # noqa: E402  (the reader of the tables is a module of the tests)

FIRST = 1000
"""The first seed; the tests take 0, 1, ..."""
TABLES = {"seen": TESTS / "power" / "planted", "kept": TESTS / "honesty" / "hard"}
GREEN = {status.value for status in Status if status.holds}


def words(folder: Path, file: str, claims: Iterable[str], seed: int) -> dict[str, str]:
    """The word of each claim of a file at a seed; that of the exception for a file that is refused."""
    with tempfile.TemporaryDirectory() as state:
        settings = Settings(roots=(str(folder),), state=state, seed=seed, effort="quick", fresh=True)
        try:
            outcome = check(Path(file).stem, settings)
        except TheoraxError as error:
            return dict.fromkeys(claims, type(error).__name__)
    found = {claim.id: claim.status.value for claim in outcome.claims}
    return {claim: found[claim] if claim else outcome.claims[0].status.value for claim in claims}


def at_least(successes: int, trials: int) -> float:
    """The exact 95 % lower bound of a share."""
    return float(beta.ppf(0.05, successes, trials - successes + 1)) if successes else 0.0


def is_right(row: Row, kind: str, word: str) -> bool:
    """True if a false row is not green, or a true row has its word."""
    return word not in GREEN if kind == "seen" else word in row.word.split("|")


def told(row: Row, kind: str, counted: Counter[str]) -> str:
    """One line of the table."""
    trials = sum(counted.values())
    right = sum(count for word, count in counted.items() if is_right(row, kind, word))
    spread = ", ".join(f"{word} {count}" for word, count in counted.most_common())
    return f"{row.of:<5}{row.name:<58}{kind:<6}{right / trials:>7.4f}  >= {at_least(right, trials):.4f}  {spread}"


def tables(classes: set[str], replicates: dict[str, int]) -> Iterator[str]:
    """The lines of all rows of these classes, then one line a class."""
    sums: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for kind, folder in TABLES.items():
        files: dict[str, list[Row]] = defaultdict(list)
        for row in rows(folder):
            if row.of in classes and ":" not in row.file:
                files[row.file].append(row)
        for file, members in files.items():
            counted: dict[str, Counter[str]] = defaultdict(Counter)
            for seed in range(FIRST, FIRST + replicates[kind]):
                for claim, word in words(folder, file, [row.claim for row in members], seed).items():
                    counted[claim][word] += 1
            for row in members:
                yield told(row, kind, counted[row.claim])
                for word, count in counted[row.claim].items():
                    sums[row.of, kind][is_right(row, kind, word)] += count
    yield ""
    for (of, kind), counts in sums.items():
        trials = sum(counts.values())
        yield f"{of:<5}{kind:<6}{counts[True]} of {trials}, >= {at_least(counts[True], trials):.4f}"


def without(classes: set[str], replicates: int) -> Iterator[str]:
    """The lines of the guards of these classes that are taken out."""
    known = {row.name: row for row in rows(TABLES["seen"])}
    for guard in REMOVED:
        row = known[guard.row]
        if row.of not in classes or ":" in row.file:
            continue
        with guard.planted():
            counted = Counter(
                words(TABLES["seen"], row.file, [row.claim], seed)[row.claim]
                for seed in range(FIRST, FIRST + replicates)
            )
        green = sum(count for word, count in counted.items() if word in GREEN)
        yield f"{row.of:<5}{row.name:<58}{'green':<6}{green / replicates:>7.4f}  without: {guard.name}"


def main() -> None:
    """Print the tables of the classes named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("classes", nargs="+")
    parser.add_argument("--false", type=int, default=30, help="seeds of each false row")
    parser.add_argument("--true", type=int, default=400, help="seeds of each true row")
    parser.add_argument("--without", type=int, default=20, help="seeds of a row whose guard is taken out")
    asked = parser.parse_args()
    print(f"{asked.false} seeds of a false row, {asked.true} of a true one, from {FIRST} on; quick effort\n")
    for line in tables(set(asked.classes), {"seen": asked.false, "kept": asked.true}):
        print(line, flush=True)
    print(f"\nwith one guard taken out, {asked.without} seeds\n")
    for line in without(set(asked.classes), asked.without):
        print(line, flush=True)


if __name__ == "__main__":
    main()
