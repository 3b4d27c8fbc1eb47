"""Expressions on draws: whatever numbers a program returns, they are computed with in 64 bits."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorax.language import Experiment, Measured, Size, Subject
from theorax.numerics import platform
from theorax.numerics.sampler import Sampler
from theorax.verifiers.cases.evaluation import evaluate_draws
from theorax.verifiers.cases.measure import measure
from theorax.verifiers.cases.sweep_lines import Cell, sweep_lines
from theorax.verifiers.settings import Settings

n = Size("n", "entries")
few, many = Measured("few", "entries above one"), Measured("many", "entries above zero")


@pytest.mark.parametrize("kind", ["bool", "int8", "uint8", "int16", "uint32", "int64", "float16", "float32", "float64"])
def test_short_numbers_overflow_in_no_expression_and_events_have_differences(kind):
    def build(key, n):
        return jax.random.normal(key, (n,))

    def observe(entries):
        counts = [jnp.sum(entries > least) for least in (1, 0)]
        return {
            letter.name: (count > 0 if kind == "bool" else count).astype(kind)
            for letter, count in zip((few, many), counts, strict=True)
        }

    experiment = Experiment(observe, (few, many), {n: 12}, draws=60, subjects={"Gaussian": Subject(build)})
    platform.enable()
    (line,) = sweep_lines("layer", experiment, Settings())
    observed = measure("here", experiment, line, [line], 1, Sampler())
    less, more = (observed.tables[0][letter.name].astype(object) for letter in (few, many))
    assert observed.tables[0][few.name].dtype == kind and (more > less).any()
    found = evaluate_draws(75 * few - 100 * many - 1, Cell(line), observed, 0)
    assert found.dtype == np.float64
    assert found.tolist() == [75.0 * one - 100.0 * other - 1.0 for one, other in zip(less, more, strict=True)]
