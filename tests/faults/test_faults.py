"""A short pass of the harness of faults; the whole of it is ``python -m tests.faults``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.counts import PROMISES, Counts

ROOT = Path(__file__).parents[2]
PASSES = {"few": {"kills": 1, "flips": 20, "inputs": 20}, "short": {"kills": 4, "flips": 60, "inputs": 60}}


@pytest.mark.parametrize("size", PASSES)
def test_a_short_pass_breaks_no_promise(size, tmp_path):
    numbers = PASSES[size]
    words = [f"--{name}={number}" for name, number in numbers.items()]
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", "--short", *words],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=900,
        # What a killed process had half written must not last beyond this test.
        env={**os.environ, "JAX_COMPILATION_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[-len(PROMISES) :] == [f"{promise}: 0" for promise in PROMISES]
    for sort, name in (("kills", "kills"), ("bit flips", "flips"), ("mutated inputs", "inputs")):
        assert f"{sort}: {numbers[name]}" in lines


def test_a_broken_promise_is_told_and_counted():
    counts = Counts()
    counts.breaks("orphans", "SIGKILL to the parent: process 7")
    assert str(counts).splitlines() == [
        "orphans: SIGKILL to the parent: process 7",
        "finished work lost: 0",
        "wrongly green: 0",
        "orphans: 1",
        "tracebacks for a user's mistake: 0",
        "wrong exit codes: 0",
        "losses without a word: 0",
    ]
