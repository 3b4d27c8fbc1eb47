"""Defects planted in a copy of the package turn exactly the claims red that they falsify, by the steps of docs/ci.

The workflow's own shell commands are run, but for the one that installs from the network. Every command is a process of
its own on the copy, as in a fresh checkout; results and compiled programs are kept between them, as its cache does.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import theorax

ROOT = Path(__file__).parents[2]
PACKAGE = Path(theorax.__file__).parent
SELECTED = ("xavier_keyquery_scaling", "heun_adjoint_rate", "relu_arc_cosine_kernel")


@dataclass(frozen=True)
class Defect:
    """A line of a file, what it becomes, and the claims that are then false."""

    file: str
    line: str
    becomes: str
    red: frozenset[str]


DEFECTS = {
    # exp(2 x) in the place of exp(x): scores scaled by two. The power of T is the same, both constants are not.
    "scaling": Defect(
        "numerics/attention.py",
        "jnp.exp(meant - jax.lax.stop_gradient(meant.max(1, keepdims=True)))",
        "jnp.exp(2 * (meant - jax.lax.stop_gradient(meant.max(1, keepdims=True))))",
        frozenset({"xavier_keyquery_scaling.constant", "xavier_keyquery_scaling.spread"}),
    ),
    # The second slope with the weights of this layer in the place of the next one's.
    "off by one": Defect(
        "numerics/residual.py",
        "return x + h * (slope + self.function(there, x + h * slope)) / 2",
        "return x + h * (slope + self.function(here, x + h * slope)) / 2",
        frozenset(f"heun_adjoint_rate.{claim}" for claim in ("states", "each_layer", "relative", "exact")),
    ),
}


def commands(page: str) -> dict[str, str]:
    """The shell commands of a workflow's steps by their names, as GitHub would hand them to bash."""
    found: dict[str, str] = {}
    for step in re.split(r"^      - ", page, flags=re.MULTILINE)[1:]:
        name = re.match(r"name: (.*)", step)
        block = re.search(r"^        run: \|\n((?:          .*\n?)+)", step, re.MULTILINE)
        line = re.search(r"^        run: (?!\|)(.+)$", step, re.MULTILINE)
        if name and block:
            found[name[1]] = re.sub(r"^ {10}", "", block[1], flags=re.MULTILINE)
        elif name and line:
            found[name[1]] = line[1]
    return found


@dataclass(frozen=True)
class Checkout:
    """A repository with a copy of the package, and the command `verify` for it."""

    folder: Path

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a shell command there, as a step of the workflow."""
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

    def plant(self, defect: Defect) -> None:
        """Change the line; it must be there."""
        path = self.folder / "theorax" / defect.file
        text = path.read_text(encoding="utf-8")
        assert text.count(defect.line) == 1, f"{defect.file} has changed: state the defect anew"
        path.write_text(text.replace(defect.line, defect.becomes), encoding="utf-8")

    def mend(self, defect: Defect) -> None:
        """The file as it was."""
        shutil.copy(PACKAGE / defect.file, self.folder / "theorax" / defect.file)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Checkout:
    """A checkout with a baseline of three cheap theorems."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(PACKAGE, folder / "theorax", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").write_text("[project]\nname = 'copy'\n", encoding="utf-8")
    (folder / "bin").mkdir()
    verify = folder / "bin" / "verify"
    verify.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m theorax "$@"\n', encoding="utf-8")
    verify.chmod(0o755)
    found = Checkout(folder)
    only = " ".join(f"--only {id}" for id in SELECTED)
    saved = found.run(f"verify baseline save {only} --effort quick --jobs 2")
    assert saved.returncode == 0, saved.stderr
    return found


def red(comparison: dict) -> set[str]:
    return {f"{row['theorem']}.{row['claim']}" for row in comparison["claims"] if row["exit"]}


def test_the_workflow_fails_on_a_wrong_scaling_and_names_the_claims(checkout):
    steps = commands((ROOT / "docs" / "ci" / "theorems.yml").read_text(encoding="utf-8"))
    compare, show = [text for name, text in steps.items() if name != "Install"]
    assert steps["Install"].startswith("python -m pip install")

    clean = checkout.run(compare)
    assert clean.returncode == 0, clean.stdout + clean.stderr
    assert "3 theorems read nothing that changed" in clean.stdout

    defect = DEFECTS["scaling"]
    checkout.plant(defect)
    failed = checkout.run(compare)
    shown = checkout.run(show)
    checkout.mend(defect)
    assert failed.returncode == 1, failed.stdout + failed.stderr
    comparison = json.loads((checkout.folder / "comparison.json").read_text(encoding="utf-8"))
    assert red(comparison) == defect.red
    # The claim of the same theorem that stays true is checked anew and is not red; what reads no such file stands.
    (rate,) = (row for row in comparison["claims"] if row["claim"] == "rate")
    assert (rate["before"], rate["now"]) == ("SUPPORTED", "SUPPORTED") and rate["outcome"] in ("same", "cannot tell")
    assert comparison["standing"] == ["heun_adjoint_rate", "relu_arc_cosine_kernel"]
    assert shown.returncode == 0
    summary = (checkout.folder / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("```text\n") and "xavier_keyquery_scaling.constant  SUPPORTED -> REFUTED" in summary


def test_the_hook_stops_an_off_by_one(checkout):
    page = (ROOT / "docs" / "ci" / "pre-commit-config.yaml").read_text(encoding="utf-8")
    entry = re.search(r"^ +entry: (.*)$", page, re.MULTILINE)
    assert entry is not None
    why = "verify plan --why heun_adjoint_rate --effort quick"
    assert "Nothing differs since the baseline" in checkout.run(why).stdout

    defect = DEFECTS["off by one"]
    checkout.plant(defect)
    told = checkout.run(why).stdout
    stopped = checkout.run(f"{entry[1]} --output json=comparison.json --output terminal")
    checkout.mend(defect)
    assert "source theorax/numerics/residual.py: changed" in told
    assert stopped.returncode == 1, stopped.stdout + stopped.stderr
    comparison = json.loads((checkout.folder / "comparison.json").read_text(encoding="utf-8"))
    assert red(comparison) == defect.red
    assert checkout.run(entry[1]).returncode == 0  # mended, it passes, and nothing is checked for it
