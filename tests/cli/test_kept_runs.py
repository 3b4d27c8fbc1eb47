"""A theorem about stored runs is drawn again when the files of the runs change, whatever their names were made of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

FILE = '''"""The mean loss of the stored runs is one."""
from pathlib import Path
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Rational
from theorax.language import *

n = Size("n", "width")
x = Measured("x", "loss")
mean = Expectation(x, 1, margin=Absolute(1, 10, "two"), spread=Rational(1, 10))
RUNS = np.concatenate([np.load(Path(__file__).parent / f"seed_{i}.npy") for i in range(3)])


def build(key, n):
    return jnp.asarray(RUNS)[jax.random.randint(key, (), 0, len(RUNS))]


def observe(z):
    return dict(x=z)


drawn = Experiment(observe, x, {n: 1}, draws=200, subjects={"runs": Subject(build)})
theorem = Theorem(label="own", claims=dict(mean=mean), experiments=dict(e=drawn))
'''


def save(folder: Path, mean: float) -> None:
    for i in range(3):
        np.save(folder / f"seed_{i}.npy", mean + 0.1 * np.random.default_rng(i).normal(size=1000))


def first_line(folder: Path) -> str:
    words = [sys.executable, "-m", "theorax", "theorem", "kept_runs.py", "--effort", "quick"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=os.environ.copy())
    return done.stdout.partition("\n")[0]


def test_other_numbers_are_drawn_again(tmp_path):
    (tmp_path / "kept_runs.py").write_text(FILE, "utf-8")
    save(tmp_path, 2.0)
    assert "REFUTED" in first_line(tmp_path)
    assert "kept" in first_line(tmp_path).split("kept_runs")[1]
    save(tmp_path, 1.0)
    again = first_line(tmp_path)
    assert "SUPPORTED" in again and "kept" not in again.split("kept_runs")[1]
