"""Examples of limits and rates in help and pages, on simulated data of known truth: none is answered wrongly."""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "theorax/cli/data.py", ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SIZES = 32 * 2.0 ** np.arange(9)


def claims() -> set[tuple[str, str]]:
    """Every limit and rate that a page shows with `--limit "..."` or `--rate "..."`."""
    found = set()
    for path in SOURCES:
        for option, claim in re.findall(r'--(limit|rate) "([^"]+)"', path.read_text(encoding="utf-8")):
            found.add((option, claim))
    return found


def powers(exponent: float) -> Callable[[np.random.Generator, float], float]:
    """Values of this order with a correction in 1/n and noise of a fifth."""
    return lambda rng, n: n**exponent * (1 + 0.3 * SIZES[0] / n) * float(np.exp(0.2 * rng.standard_normal()))


# What is simulated for a claim: names of the columns, the law of a value at a size, further options, and the false claim
# that the same table must not support. A page with a new example needs a row here.
ROWS: dict[str, tuple[str, str, Callable[[np.random.Generator, float], float], str, str]] = {
    "error ~ N**-1": ("N", "error", powers(-1), "--margin 1/10", "error ~ N**-0.8"),
    "error <= N**-1": ("N", "error", powers(-1), "--margin 1/10", "error <= N**-1.2"),
    "error >= N**-1": ("N", "error", powers(-1), "--margin 1/10", "error >= N**-0.8"),
    "error ~ n**(-2/3)": ("n", "error", powers(-2 / 3), "--margin 1/10", "error ~ n**-0.5"),
    "x -> 1/3 as n": ("n", "x", lambda rng, n: 1 / 3 + 0.1 * rng.standard_normal(), "--margin 0.1 --sd 0.1", "x -> 0.6 as n"),
    "maximum/sqrt(2*log(n)) -> 1 as n": (
        "n", "maximum", lambda rng, n: float(ndtri(rng.random() ** (1 / n))),
        '--margin 1/8 --sd 1/10 --class "log(0.1, 0.1)" --because "extreme values"',
        "maximum/sqrt(2*log(n)) -> 0.8 as n",
    ),
}  # fmt: skip
# Tables without randomness, and an exponential, below; the page of own numbers runs on the file that it names.
ELSEWHERE = {"error ~ h**2 as h -> 0", "error ~ exp(-0.3*N)", "error ~ cells**-2"}


def table(path: Path, size: str, name: str, value: Callable[[np.random.Generator, float], float], seed: int) -> None:
    """Write 100 rows at every size."""
    rng = np.random.default_rng([44, seed])
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow((size, name))
        for n in SIZES:
            rows.writerows((n, value(rng, n)) for _ in range(100))


def test_every_example_is_simulated_or_run_elsewhere() -> None:
    assert {claim for _, claim in claims()} <= set(ROWS) | ELSEWHERE


@pytest.mark.parametrize("claim", ROWS)
def test_no_example_is_answered_wrongly(claim: str, verify: Any, tmp_path: Path) -> None:
    size, name, value, options, false = ROWS[claim]
    option = "--limit" if "->" in claim else "--rate"
    path = tmp_path / "runs.csv"
    for seed in range(2):
        table(path, size, name, value, seed)
        given = ["data", str(path), *shlex.split(options)]
        assert "REFUTED" not in verify(*given, option, claim).out.splitlines()[0]
        assert "SUPPORTED" not in verify(*given, option, false).out.splitlines()[0]


@pytest.mark.parametrize(("power", "word"), [(2.0, "SUPPORTED"), (1.0, "REFUTED")])
def test_the_order_of_a_grid(power: float, word: str, verify: Any, tmp_path: Path) -> None:
    h = 0.5 ** np.arange(1, 9)
    path = tmp_path / "grid.csv"
    rows = "\n".join(f"{step},{float(step**power * (1 + 0.2 * step))!r}" for step in h)
    path.write_text(f"h,error\n{rows}\n", encoding="utf-8")
    given = ("data", str(path), "--rate", "error ~ h**2 as h -> 0", "--margin", "0.3")
    assert word in verify(*given, "--seeds", "none").out
    assert {"SUPPORTED": "REFUTED", "REFUTED": "SUPPORTED"}[word] not in verify(*given).out.splitlines()[0]


@pytest.mark.parametrize("constant", [-0.3, -0.6])
def test_an_exponential(constant: float, verify: Any, tmp_path: Path) -> None:
    rng, path = np.random.default_rng(44), tmp_path / "runs.csv"
    rows = [
        f"{n},{float(np.exp(constant * n + 0.2 * rng.standard_normal()))!r}"
        for n in range(4, 25, 4)
        for _ in range(100)
    ]
    path.write_text("N,error\n" + "\n".join(rows) + "\n", encoding="utf-8")
    told = verify("data", str(path), "--rate", "error ~ exp(-0.3*N)", "--margin", "0.1").out.splitlines()[0]
    assert ("REFUTED" if constant == -0.3 else "SUPPORTED") not in told
