"""A step of a proof is shown by an entry whose two sides are written differently, or by its reason alone."""

import pytest
from sympy import Integer, Limit, Matrix, Symbol, oo, sin

from theorax.language import Step
from theorax.verifiers.outcome import StepStatus
from theorax.verifiers.proof_steps import decide_step

m = Symbol("m", positive=True)
ZERO, ONE = Integer(0), Integer(1)


@pytest.mark.parametrize(
    ("left", "right", "shown"),
    [
        ([ZERO, (m - 1) * (m + 1)], [ZERO, m**2 - 1], "and 1 further entry"),
        ([ONE, ZERO, (m - 1) * (m + 1)], [ONE, ZERO, m**2 - 1], "and 2 further entries"),
        ([Limit(1 / m, m, oo)], [ZERO], "= 0"),
        ([Limit(sin(m) / m, m, 0)], [Limit(sin(m) / m, m, 0)], ""),
    ],
)
def test_the_sides_that_are_shown_differ(left, right, shown):
    decided = decide_step(Step("by its reason", Matrix(left), Matrix(right)))
    assert decided.status is StepStatus.PROVED, decided.method
    statement = " ".join(decided.statement.split())
    assert not statement.startswith(("0 = 0", "1 = 1"))
    assert statement.endswith(shown) if shown else not statement
    assert bool(decided.latex) is bool(shown)
