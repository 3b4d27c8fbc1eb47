"""A letter whose value a subject fixes takes no other one: not in a check, not in the balls that look at its rounding."""

from pathlib import Path

import pytest

from theorax.decide.status import Status
from theorax.errors import UsageError
from theorax.runs.checking import check
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.cases.sweep_lines import refuse_unknown
from theorax.verifiers.loading import load
from theorax.verifiers.settings import Settings

SCATTERED = """'''The mean of squares of uniform numbers, over their variance.'''

import jax
import jax.numpy as jnp
from sympy import Integer, sqrt

from theorax.language import *

n = Size("n", "how many numbers")
squares = Measured("squares", "mean of the squares")
seen = Measured("seen", "root of the mean of the squares")
sigma = Parameter("sigma", "standard deviation of a number", positive=True, measured=seen)
H = hypotheses(centred="the numbers have mean zero")
one = Expectation(squares / sigma**2, Integer(1), margin=Absolute(1, 10, "a tenth"), spread=1 / sqrt(n))


def build(key, n, shift):
    return jax.random.uniform(key, (n,), minval=-1.0, maxval=1.0) + shift


def look(x):
    mean = jnp.mean(x**2)
    return dict(squares=mean, seen=jnp.sqrt(mean) * MEASURED)


theorem = Theorem(
    place="nowhere", label="derived", hypotheses=H, claims=dict(one=one),
    experiments=dict(numbers=Experiment(
        look, (squares, seen), {n: (5, 9)}, draws=256,
        subjects=dict(
            known=Subject(build, shift=0.0, knows={sigma: 1 / sqrt(3)}),
            shifted=Subject(build, shift=1.0, knows={sigma: 1 / sqrt(3)}).breaking(H.centred, fails=one),
        ),
    )),
)
"""


def test_a_letter_of_a_subject_is_no_parameter():
    theorem = load("rank_collapse_width", Catalogue.of(()))
    every = (pair for part in theorem.experiments.values() for pair in part.subjects.items())
    knowing = [name for name, subject in dict(every).items() if subject.knows]
    with pytest.raises(UsageError) as told:
        refuse_unknown(theorem, Settings(at=(("sigma_A", "2"),)))
    assert str(told.value) == (
        f"sigma_A belongs to the subject (exponential: 1, uniform: sqrt(3)/3, identity values: 1; {len(knowing) - 3} more). "
        "`verify evaluate` takes any value."
    )


@pytest.mark.parametrize("measured", [1, 2])
def test_the_balls_take_the_value_that_a_subject_knows(tmp_path: Path, measured: int):
    (tmp_path / "scattered.py").write_text(SCATTERED.replace("MEASURED", str(measured)))
    own = Settings(effort="quick", state=str(tmp_path / "state"), roots=(str(tmp_path),))
    (claim,) = check("scattered", own).claims
    assert claim.status is Status.SUPPORTED
    assert any("floats differ from balls by up to" in row.text for row in claim.ledger)
