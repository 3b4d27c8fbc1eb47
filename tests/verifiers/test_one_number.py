"""An average of one number in every draw: rounding is no evidence, for the claim or against it; a wrong value is."""

from pathlib import Path

import numpy as np
import pytest

from theorax.decide.draw_guards import are_equal, rounding_of
from theorax.decide.findings import Finding, decisive
from theorax.decide.status import Status
from theorax.runs.checking import check
from theorax.verifiers.settings import Settings

COPIED = """'''The mean of squares less its copy, which rounds otherwise.'''

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "how many numbers")
seen = numbers(mean="mean of the squares", copy="the same, rounded otherwise")
claims = dict(
    same=Expectation(seen.mean - seen.copy, Rational(CLAIMED), margin=Absolute(1, 20, "a round number")),
)


def build(key, n):
    return jax.random.normal(key, (n,))


def look(z):
    mean = (z**2).mean()
    return dict(mean=mean, copy=(mean + 1) / 3 + 2 * mean / 3 - 1 / 3)


theorem = Theorem(
    place="nowhere", label="derived", claims=claims,
    experiments=dict(numbers=Experiment(
        look, seen, {n: (4, 8, 16)}, draws=400, dtype="DTYPE", subjects=dict(normal=Subject(build)),
    )),
)
"""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("claimed", "status"), [("0", Status.VACUOUS), ("'1/100'", Status.REFUTED), ("1", Status.REFUTED)]
)
def test_rounding_refutes_nothing_and_a_wrong_value_is_refuted(
    tmp_path: Path, dtype: str, claimed: str, status: Status
):
    (tmp_path / "copied.py").write_text(COPIED.replace("CLAIMED", claimed).replace("DTYPE", dtype))
    (claim,) = check("copied", Settings(effort="quick", state=str(tmp_path / "state"), roots=(str(tmp_path),))).claims
    assert claim.status is status
    if status is Status.VACUOUS:
        assert decisive(claim.findings).finding in (Finding.ONE_NUMBER, Finding.CANNOT_FAIL)
        assert "is the same number" in claim.sentence


def test_values_are_held_against_the_precision_and_size_of_what_they_are_made_of():
    single = np.float32([1.0, 2.0, 3.0])
    values = np.array([0.0, 1e-7, -1e-7])
    assert not are_equal(values)
    assert are_equal(values, [single])
    assert not are_equal(values, [single.astype(float)])
    assert are_equal(values, [1e9 * single.astype(float)])
    assert rounding_of([single, values]) == pytest.approx(3 * 2.0**-17)
    assert not are_equal(np.array([[1.0, 1e-9], [1.0, 2e-9]]))  # entries of different sizes: each against its own
