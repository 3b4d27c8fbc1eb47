"""The harness of faults, whole: ``python -m tests.faults``; its last lines are the counts of broken promises.

``--kills``, ``--flips`` and ``--inputs`` say how many; ``--seed`` which.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path


def main() -> int:
    """Run the harness; 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__.splitlines()[0])
    for name, number in (("kills", 120), ("flips", 1000), ("inputs", 2000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--short", action="store_true", help="leave out the limits under which a theorem is checked")
    chosen = parser.parse_args()
    sys.path.append(str(Path(__file__).parents[1]))  # for the stand-ins of checks
    from tests.faults import flips, inputs, kills, limits, user_code
    from tests.faults.counts import Counts

    counts, rng = Counts(), random.Random(chosen.seed)
    with tempfile.TemporaryDirectory(prefix="theorax-faults-") as folder:
        state, report = kills.attack(counts, chosen.kills, rng, Path(folder))
        flips.attack(counts, chosen.flips, rng, state)
        inputs.attack(counts, chosen.inputs, chosen.seed, report)
    user_code.attack(counts, dict(list(user_code.WAYS.items())[:1]) if chosen.short else user_code.WAYS)
    limits.attack(counts, whole=not chosen.short)
    print(counts)
    return int(any(counts.broken.values()))


if __name__ == "__main__":
    sys.exit(main())
