"""Draws to decision: the group-sequential procedure against the fixed size, at equal levels and at equal power.

Writes ``benchmarks/results/sequential.txt`` and prints it:

    python benchmarks/sequential.py [replicates]

Sizes 32..8192, 64 draws planned, claimed exponent 1 with margin 0.1. *Equal levels* keeps the cap of 64 draws; *equal
power* raises the cap until the slowest true row is supported as often as by the fixed size.
"""

import sys
from pathlib import Path

import numpy as np

from theorax import decide
from theorax.decide.stopping import Schedule

SIZES = np.array([32 * 2.0**i for i in range(9)])
X = SIZES / SIZES[0]
SLOW = np.log1p(0.6 * X**-0.5)
ROWS = {
    "true, no correction": -np.log(SIZES),
    "true, slow correction": -np.log(SIZES) + SLOW,
    "false by the margin": -0.9 * np.log(SIZES) + SLOW,
    "false by 1.5 margins": -0.85 * np.log(SIZES) + SLOW,
    "false by 2.5 margins": -0.75 * np.log(SIZES) + SLOW,
}
SCHEDULES = {
    "1/4, 1/2, 1 spending .15, .25, .6": Schedule(),
    "1/4, 1/2, 1 spending in proportion": Schedule((0.25, 0.5, 1.0), (1 / 7, 2 / 7, 4 / 7)),
    "1/4, 1/2, 1 spending equally": Schedule((0.25, 0.5, 1.0), (1 / 3, 1 / 3, 1 / 3)),
    "1/2, 1 spending .3, .7": Schedule((0.5, 1.0), (0.3, 0.7)),
    "1/8, 1/4, 1/2, 1 spending .1, .15, .25, .5": Schedule((0.125, 0.25, 0.5, 1.0), (0.1, 0.15, 0.25, 0.5)),
}


def measured(mean: np.ndarray, draws: int, schedule: Schedule | None, replicates: int, seed: int) -> dict[str, float]:
    """Shares of the statuses and the mean number of draws."""
    rng = np.random.default_rng(seed)
    plan = decide.plan_rate(SIZES, exponent=-1, margin=0.1, draws=draws, seeds="paired", reading="exact")
    schedule = schedule or Schedule((1.0,), (1.0,))
    looks = decide.plan_looks(plan, schedule.fractions, schedule.shares)
    statuses, spent = [], []
    for _ in range(replicates):
        table = np.exp(mean + 0.2 * rng.standard_normal((draws, len(SIZES))))
        found = decide.looks(looks, lambda first, count, table=table: table[first : first + count])
        statuses.append(found.status)
        spent.append(found.draws / len(SIZES))
    share = {word.lower(): statuses.count(word) / replicates for word in ("SUPPORTED", "REFUTED")}
    return {**share, "draws": float(np.mean(spent))}


def cap_of_equal_power(schedule: Schedule, wanted: float, replicates: int) -> int:
    """The fewest planned draws with which the slowest true row is supported as often as by the fixed size."""
    for draws in range(64, 129, 4):
        if measured(ROWS["true, slow correction"], draws, schedule, replicates, 7)["supported"] >= wanted:
            return draws
    return 128


def main(replicates: int) -> None:
    """Print how soon looks decide, and how often wrongly, beside the fixed design of equal power."""
    fixed = {name: measured(mean, 64, None, replicates, 7) for name, mean in ROWS.items()}
    table = {"fixed size": {"cap": 64, "rows": fixed}}
    for label, schedule in SCHEDULES.items():
        cap = cap_of_equal_power(schedule, fixed["true, slow correction"]["supported"], replicates)
        for kind, draws in (("equal levels", 64), ("equal power", cap)):
            rows = {name: measured(mean, draws, schedule, replicates, 7) for name, mean in ROWS.items()}
            for row in rows.values():
                row["ratio"] = row["draws"] / 64
            table[f"{label} ({kind})"] = {"cap": draws, "rows": rows}
    lines = [f"{replicates} replicates; sizes 32..8192, exponent 1, margin 0.1; levels 0.025; ratio: draws over 64"]
    for label, found in table.items():
        lines.append(f"{label}, cap {found['cap']}")
        for name, row in found["rows"].items():
            numbers = f"S {row['supported']:.3f}  R {row['refuted']:.3f}  draws {row['draws']:6.1f}"
            lines.append(f"  {name:24s} {numbers}" + (f"  ratio {row['ratio']:.2f}" if "ratio" in row else ""))
    text = "\n".join(lines) + "\n"
    (Path(__file__).parent / "results" / "sequential.txt").write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
