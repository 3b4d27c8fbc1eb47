"""Defects planted in a copy of the package turn exactly the claims red that they falsify, by the steps of the workflow.

The workflow's own shell commands are run, but for the one that installs from the network. Every command is a process of
its own on the copy, as in a fresh checkout; results and compiled programs are kept between them, as its cache does.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.defects import DEFECTS, Checkout, red

ROOT = Path(__file__).parents[2]
SELECTED = ("xavier_keyquery_scaling", "heun_adjoint_rate", "relu_arc_cosine_kernel")


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


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Checkout:
    """A checkout with a baseline of three cheap theorems."""
    found = Checkout.made(tmp_path_factory.mktemp("repository") / "checkout")
    only = " ".join(f"--only {id}" for id in SELECTED)
    saved = found.run(f"verify baseline save {only} --effort quick --jobs 2")
    assert saved.returncode == 0, saved.stderr
    return found


def test_the_workflow_fails_on_a_wrong_scaling_and_names_the_claims(checkout):
    page = (ROOT / "theorax" / "cli" / "scaffolds" / "github.yml").read_text(encoding="utf-8")
    steps = commands(page)
    assert steps["Install"].startswith("python -m pip install")

    clean = checkout.run(steps["Check the theorems"])
    assert clean.returncode == 0, clean.stdout + clean.stderr
    assert "3 theorems read nothing that changed" in clean.stdout

    defect = DEFECTS["scaling"]
    checkout.plant(defect)
    failed = checkout.run(steps["Check the theorems"])
    checkout.run("verify baseline compare --changed -o json=comparison.json")
    checkout.mend(defect)
    assert failed.returncode == 1, failed.stdout + failed.stderr
    comparison = checkout.comparison()
    assert red(comparison) == defect.red
    # The claim of the same theorem that stays true is checked anew and is not red; what reads no such file stands.
    (rate,) = (row for row in comparison["claims"] if row["claim"] == "rate")
    assert (rate["before"], rate["now"]) == ("SUPPORTED", "SUPPORTED") and rate["outcome"] in ("same", "cannot tell")
    assert comparison["standing"] == ["heun_adjoint_rate", "relu_arc_cosine_kernel"]
    summary = (checkout.folder / "summary.md").read_text(encoding="utf-8")
    assert "xavier_keyquery_scaling.constant" in summary and "SUPPORTED → REFUTED" in summary


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
    assert "source theorax/theorems/resnet_discretizes_ode/_residual.py: changed" in told
    assert stopped.returncode == 1, stopped.stdout + stopped.stderr
    comparison = checkout.comparison()
    assert red(comparison) == defect.red
    # The measured scheme is the one that the proof runs on symbols: its steps are false at once.
    assert all("A step of the proof" in row["why"] for row in comparison["claims"])
    assert checkout.run(entry[1]).returncode == 0  # mended, it passes, and nothing is checked for it
