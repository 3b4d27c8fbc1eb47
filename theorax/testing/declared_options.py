"""The options of the plug-in as pytest is told of them, and what two of its modules must agree on; nothing is imported here."""

from __future__ import annotations

import argparse
import os

import pytest

PROPERTY = "theorax"  # under this name a test's report carries its claims
SETTINGS = (
    "effort", "seed", "device", "batch", "level", "at", "sizes", "model", "fresh", "state"
)  # fmt: skip
"""The options of the command that are offered behind `--verify-`."""
DELETED = ("adjust", "nightly")
"""Options that were offered there; whoever types one reads what to use instead."""
OF_THEOREMS = ("root", "at", "sizes", "model")  # these mean nothing where no theorems are named


def declare(parser: pytest.Parser) -> None:
    """Tell pytest of the options."""
    group = parser.getgroup("theorax", "claims of theorems (theorax)")
    add = group.addoption
    add(
        "--verify",
        action="append",
        metavar="SELECTOR",
        help="Collect the claims of these theorems as tests; repeatable.",
    )
    add("--verify-exclude", action="append", metavar="SELECTOR", help="Leave these theorems out.")
    add(
        "--verify-root",
        action="append",
        metavar="DIR",
        help="A folder of theorem files, beside the others; repeatable.",
    )
    add("--verify-only", action="store_true", help="Collect no other tests.")
    add("--verify-effort", metavar="EFFORT", help="quick, standard or thorough [standard].")
    add("--verify-seed", type=int, metavar="N", help="Another stream of draws, also of the fixture claim [0].")
    add("--verify-device", metavar="DEVICE", help="cpu or gpu [cpu].")
    add("--verify-batch", type=int, metavar="N", help="Draws vectorised together [one on a CPU, else as many as fit].")
    add(
        "--verify-level",
        type=float,
        metavar="P",
        help="Error rate of support of a claim [0.025]; of refutation a 25th.",
    )
    listed = {"action": "append", "metavar": "LETTER=VALUE,..."}
    add("--verify-at", help="Exact parameters, as in gamma=1/4,l=2; repeatable.", **listed)
    listed = {"action": "append", "metavar": "LETTER=SIZES"}
    add("--verify-sizes", help="Sizes, as in T=100..400 or T=64,128; repeatable.", **listed)
    add("--verify-model", metavar="FILE.py:FACTORY", help="Your own Equinox layer instead of the theorem's.")
    add("--verify-fresh", action="store_true", help="Check again what is kept.")
    add("--verify-state", metavar="DIR", help="Folder of kept results [.theorax in the project's root].")
    for name in DELETED:
        add(f"--verify-{name}", nargs="?", const="", help=argparse.SUPPRESS)
    strict = {"dest": "verify_strict", "default": None}
    add("--verify-strict", action="store_true", help="An undecided claim fails [where CI is set].", **strict)
    add("--verify-lenient", action="store_false", help="An undecided claim is skipped [where CI is not set].", **strict)
    parser.addini("verify_strict", "An undecided claim fails: true or false.", type="bool", default=None)


def strict(config: pytest.Config) -> tuple[bool, str]:
    """True if an undecided claim fails, and the option that says so."""
    if config.option.verify_strict is not None:
        return config.option.verify_strict, "--verify-strict" if config.option.verify_strict else "--verify-lenient"
    if (said := config.getini("verify_strict")) is not None:
        return bool(said), f"verify_strict = {str(bool(said)).lower()}"
    return bool(os.environ.get("CI")), "CI is set" if os.environ.get("CI") else "CI is not set"
