"""What a proof says of its claim: derivations, first values of recursions, shapes at which a hypothesis can fail."""

from pathlib import Path

import pytest
from sympy import Derivative, Function, Symbol, exp

from theorax.language import Solved
from theorax.runs.checking import check
from theorax.verifiers.outcome import StepStatus
from theorax.verifiers.proof_steps import decide_solved
from theorax.verifiers.settings import Settings

PLANTED = Path(__file__).parents[1] / "power" / "planted"
k = Symbol("k", integer=True, nonnegative=True)
t, g = Symbol("t", real=True), Symbol("g", positive=True)
e, f = Function("e"), Function("f")


@pytest.mark.parametrize(
    ("equations", "unknown", "solution", "status"),
    [
        ([e(k + 1) - 2 * e(k), e(0) - g], e(k), g * 2**k, StepStatus.PROVED),
        ([e(k + 1) - 2 * e(k)], e(k), g * 2**k, StepStatus.UNDECIDED),
        ([e(k + 2) - e(k + 1) - 2 * e(k), e(0) - 1], e(k), 2**k, StepStatus.UNDECIDED),
        ([e(k + 2) - e(k + 1) - 2 * e(k), e(0) - 1, e(1) - 2], e(k), 2**k, StepStatus.PROVED),
        ([Derivative(f(t), t) - f(t), f(0) - 1], f(t), exp(t), StepStatus.PROVED),
        ([Derivative(f(t), t) - f(t)], f(t), exp(t), StepStatus.UNDECIDED),
    ],
    ids=str,
)
def test_a_recursion_needs_its_first_values(equations, unknown, solution, status):
    decided = decide_solved(Solved("from the first", equations, unknown, solution))
    assert decided.status is status
    assert (status is StepStatus.PROVED) != ("first values" in decided.method)


def test_a_number_from_nowhere_derives_nothing(tmp_path):
    settings = Settings(roots=(str(PLANTED),), state=str(tmp_path), effort="quick", fresh=True)
    claims = check("unrelated_numbers", settings).claims
    assert claims and all("is no derivation" in claim.sentence for claim in claims)
    assert all(any(line.kind == "derivation" for line in claim.ledger) for claim in claims)


def test_a_matrix_with_one_entry_says_nothing_of_symmetry(tmp_path):
    (tmp_path / "one_entry.py").write_text(ONE_ENTRY)
    (tmp_path / "four_entries.py").write_text(
        ONE_ENTRY.replace('"a", 1, 1', '"a", 2, 2').replace("# mend", "a[1, 0] = a[0, 1]")
    )
    found = {}
    for name in ("one_entry", "four_entries"):
        settings = Settings(roots=(str(tmp_path),), state=str(tmp_path / "state"), effort="quick", fresh=True)
        (found[name],) = check(name, settings).claims
    assert found["one_entry"].status == "SUPPORTED" and "can fail" in str(found["one_entry"].ledger)
    assert found["four_entries"].status == "PROVED"


ONE_ENTRY = '''"""A symmetric matrix is its transpose."""

import jax
import jax.numpy as jnp

from theorax.language import *

n = Size("n", "rows")
seen = arrays(whole="A", turned="the transpose of A")
H = hypotheses(symmetric="A is symmetric")
claim = Identity(seen.turned, seen.whole, under=H.symmetric, margin=Relative(1, 10**6, "rounding"), content=1 / 20)


def build(key, n, skew):
    A = jax.random.normal(key, (n, n))
    return A + A.T + skew * (A - A.T)


def observe(A):
    return dict(whole=1 * A, turned=A.T + 0)


@settles(claim)
def proof():
    """Any entries."""
    a = generic_entries("a", 1, 1)
    # mend
    yield Instance(claim, "one shape", observe, a)


plain = Subject(build, skew=0.0)
theorem = Theorem(
    label="own",
    hypotheses=H,
    claims=dict(claim=claim),
    proofs=(proof,),
    experiments=dict(e=Experiment(observe, seen, {n: (2, 3)}, draws=200, subjects={
        "symmetric": plain,
        "skewed": plain(skew=1.0).breaking(H.symmetric, fails=claim),
    })),
)
'''
