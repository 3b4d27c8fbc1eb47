"""The benchmark of an accelerator: refused with a sentence where there is none, and rehearsed on the CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

ROOT = Path(__file__).parents[2]


def benchmark(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "gpu.py"), *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.skipif(any(device.platform == "gpu" for device in jax.devices()), reason="an accelerator is here")
def test_without_an_accelerator_it_refuses():
    done = benchmark()
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("No measurement: JAX finds no device `gpu` here.")


def test_a_rehearsal_runs_everything_but_the_device():
    done = benchmark("--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert "a rehearsal" in done.stdout
    rows = [line.split("  ")[0] for line in done.stdout.splitlines()[3:]]
    assert rows == ["attention products", "wide networks", *["leading singular values"] * 4, "flows"]
    spectra = [line for line in done.stdout.splitlines() if line.startswith("leading")]
    assert [line.split()[3] for line in spectra] == ["float32", "float32", "float64", "float64"]
    assert all("of the copy" in line for line in spectra)
