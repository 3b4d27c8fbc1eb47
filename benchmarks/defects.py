"""Defects planted in a copy of the package, and which claims `verify baseline compare` then turns red.

    python -m benchmarks.defects [SELECTOR ...] [--effort quick] [--defect NAME]     # -> benchmarks/results/defects.txt

Every theorem is checked by default, which takes as long as `verify all`, and per defect as long as what reads the file:
the rest is left standing, as `--changed` leaves it. With `--whole` it is checked too, so that one sees that nothing of it
turns red. `--report FILE` takes a report of the undamaged package in the place of a first run.
The two of `tests/power/test_planted_defects.py` are among them: CI runs those on three cheap theorems.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import theorax

PACKAGE = Path(theorax.__file__).parent


@dataclass(frozen=True)
class Defect:
    """A line of a file of the package, what it becomes, and claims that are then false."""

    file: str
    line: str
    becomes: str
    red: frozenset[str]  # of theorems that are cheap to check; others may rest on the line too
    why: str


DEFECTS = {
    "scaling": Defect(
        "theorems/mind_the_gap/_attention.py",
        "jnp.exp(meant - jax.lax.stop_gradient(meant.max(1, keepdims=True)))",
        "jnp.exp(2 * (meant - jax.lax.stop_gradient(meant.max(1, keepdims=True))))",
        frozenset({"xavier_keyquery_scaling.constant", "xavier_keyquery_scaling.spread"}),
        "scores scaled by two: both constants double or quadruple, the power of T is the same",
    ),
    "off by one": Defect(
        "theorems/resnet_discretizes_ode/_residual.py",
        "return x + h * (slope + self.function(there, x + h * slope)) / 2",
        "return x + h * (slope + self.function(here, x + h * slope)) / 2",
        frozenset(
            f"heun_adjoint_rate.{claim}"
            for claim in ("states", "each_layer", "relative", "exact", "first_order", "leading")
        ),
        "Heun's second slope with the weights of this layer in the place of the next one's",
    ),
    "values twice": Defect(
        "theorems/mind_the_gap/_attention.py",
        "M = scale * ((A @ M) @ jnp.where(gaussian_values, R, unit))",
        "M = scale * scale * ((A @ M) @ jnp.where(gaussian_values, R, unit))",
        frozenset(f"attention_products.{claim}" for claim in ("heads", "tails", "chains")),
        "the small products lose a factor that the network's tokens keep",
    ),
    "mean over one more": Defect(
        "theorems/mind_the_gap/_attention.py",
        "return A - amount * (block(T, T) / jnp.asarray(T.value, A.dtype))",
        "return A - amount * (block(T, T) / jnp.asarray(T.value + 1, A.dtype))",
        frozenset({"common_token_identity.tokens"}),
        "a share 1/(T+1) of the outlier stays in the network's layers; identities of bare matrices do not use the line",
    ),
}


@dataclass(frozen=True)
class Checkout:
    """A repository with a copy of the package, and the command `verify` for it."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Checkout:
        """A copy of the package in this folder."""
        shutil.copytree(PACKAGE, folder / "theorax", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "pyproject.toml").write_text("[project]\nname = 'copy'\n", encoding="utf-8")
        (folder / "bin").mkdir()
        verify = folder / "bin" / "verify"
        verify.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m theorax "$@"\n', encoding="utf-8")
        verify.chmod(0o755)
        return cls(folder)

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a shell command there, as GitHub runs a step of a workflow."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
        }
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", command],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def comparison(self) -> dict[str, Any]:
        """What the last command left in comparison.json."""
        found: dict[str, Any] = json.loads((self.folder / "comparison.json").read_text(encoding="utf-8"))
        return found

    def plant(self, defect: Defect) -> None:
        """Change the line.

        **Raises:** LookupError if it is not there.
        """
        path = self.folder / "theorax" / defect.file
        text = path.read_text(encoding="utf-8")
        if text.count(defect.line) != 1:
            raise LookupError(f"{defect.file} does not hold `{defect.line}` once. State the defect anew.")
        path.write_text(text.replace(defect.line, defect.becomes), encoding="utf-8")

    def mend(self, defect: Defect) -> None:
        """The file as it was."""
        shutil.copy(PACKAGE / defect.file, self.folder / "theorax" / defect.file)


def red(comparison: Mapping[str, Any]) -> set[str]:
    """The claims that a comparison fails on, but for those that are blocked by others."""
    return {_name(row) for row in comparison["claims"] if row["exit"] == 1 and row["now"] != "BLOCKED"}


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['theorem']}.{row['claim']}"


def main() -> None:
    """Save a baseline, plant every defect by itself, and print what turned red and what stayed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("selectors", nargs="*", default=["*"])
    parser.add_argument("--report", type=Path)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--defect", choices=DEFECTS, action="append")
    parser.add_argument("--jobs", default="0")
    given = parser.parse_args()
    only = " ".join(f"--only '{selector}'" for selector in given.selectors)
    with tempfile.TemporaryDirectory() as folder:
        checkout, began = Checkout.made(Path(folder) / "checkout"), time.perf_counter()
        found = (
            f"--report '{given.report.resolve()}'" if given.report else f"--effort {given.effort} --jobs {given.jobs}"
        )
        saved = checkout.run(f"verify baseline save {only} {found}")
        if saved.returncode:
            sys.exit(saved.stdout + saved.stderr)
        print(f"{' '.join(given.selectors)} at {given.effort} effort")
        print(f"{saved.stdout.splitlines()[-1].partition(' are in ')[0]} saved in {time.perf_counter() - began:.0f} s")
        for name in given.defect or DEFECTS:
            defect, began = DEFECTS[name], time.perf_counter()
            checkout.plant(defect)
            how = "" if given.whole else "--changed"
            done = checkout.run(f"verify baseline compare {how} --jobs {given.jobs} --output json=comparison.json")
            checkout.mend(defect)
            if done.returncode not in (0, 1, 4):
                sys.exit(done.stdout + done.stderr)
            _told(name, defect, checkout.comparison(), time.perf_counter() - began)


def _told(name: str, defect: Defect, comparison: Mapping[str, Any], seconds: float) -> None:
    rows, found = comparison["claims"], red(comparison)
    source = f"source theorax/{defect.file}: changed"
    reading = {id for id, changes in comparison["inputs"].items() if source in changes}
    wanted = {claim for claim in defect.red if claim.partition(".")[0] in comparison["inputs"]}
    lapsed = [row for row in rows if row["change"] == "lapsed"]
    blocked = sum(row["now"] == "BLOCKED" for row in rows)
    print(f"\n{name}: {defect.why}\n  {defect.file}: {defect.becomes}")
    print(f"  exit code {comparison['summary']['exit_code']}, {seconds:.0f} s; {len(reading)} theorems read the file, "
          f"{len(comparison['standing'])} stand; {len(rows)} claims checked, {len(found)} red, {blocked} blocked")  # fmt: skip
    for claim in sorted(found | wanted):
        row = next(row for row in rows if _name(row) == claim)
        missed = "" if claim in found else f"   not checked: {row['why']}" if row["now"] == "BLOCKED" else "   NOT RED"
        outside = "" if row["theorem"] in reading else "   OUTSIDE: it does not read the file"
        print(f"  {claim}: {row['before']} -> {row['now']}, {row['outcome']}{missed}{outside}")
    for row in lapsed:
        print(f"  lapsed: {_name(row)}: {row['before']} -> {row['now']}, {row['outcome']}, {row['how']}: {row['why']}")
    for title, ids in (("read the file", reading), ("do not read it", set(comparison["inputs"]) - reading)):
        stay = [row for row in rows if row["theorem"] in ids and not row["exit"]]
        bits = sum(row["how"] == "bit for bit" for row in stay)
        print(f"  of those that {title} {len(stay)} claims stay, {bits} of them bit for bit")
    for id in sorted(reading):
        stay = [row for row in rows if row["theorem"] == id and not row["exit"]]
        if stay:
            print(f"    {id}: " + ", ".join(f"{row['claim']} ({row['outcome']}, {row['how']})" for row in stay))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
