"""Bounds over parameters in their exact ranges: certified, refuted at an exact point, vacuous or open."""

from __future__ import annotations

from typing import Any

import pytest
from sympy import Abs, Expr, Function, Integer, Rational, cos, exp, log, pi, sqrt, tanh

from theorax.decide.status import DEFAULT_LEVELS, Reason, Status
from theorax.decide.verdict import remarks
from theorax.errors import StatementError
from theorax.language import Absolute, Inequality, Measured, Parameter
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import BOX, Cell
from theorax.verifiers.kinds import JUDGES, CellResult

x = Parameter("x", "a number")
y = Parameter("y", "another number")
m = Measured("m", "what a draw returns")
UNIT = {x: (0, 1), y: (Rational(-1, 3), 2)}


class Cosine(Function):
    """A name for two terms of a series, which ``doit`` writes out."""

    nargs = 1

    def doit(self, **hints: Any) -> Expr:
        return 1 - self.args[0] ** 2 / 2


def judged(claim: Inequality) -> CellResult:
    judge = JUDGES[type(claim)]
    return judge.judge(claim, judge.prepare(claim, Cell(BOX), DEFAULT_LEVELS, claim), Observed(BOX, ()))


CERTIFIED = {
    "a third is a third": Inequality(3 * Rational(1, 3) * x, at_most=x, over={x: (0, 1)}),
    "the mean of squares": Inequality(x * y, at_most=(x**2 + y**2) / 2 + Rational(1, 10**7), over=UNIT),
    "from below": Inequality(exp(x), at_least=1 + x - Rational(1, 10**6), over={x: (-1, 1)}),
    "touching, with a margin": Inequality(
        tanh(x),
        at_most=x,
        over={x: (0, 2)},
        margin=Absolute(1, 10**6, "a slack, the two sides touch at zero"),
    ),
    "pi is no double": Inequality(pi * x, at_most=Rational(165707065, 52746197) * x, over={x: (1, 2)}),
    "what is written out": Inequality(
        Cosine(x + 1),
        at_most=cos(x + 1),
        over={x: (-1, 0)},
        margin=Absolute(1, 10**9, "a slack, the two sides touch at zero"),
    ),
    "kinks and roots": Inequality(Abs(x - y), at_most=sqrt(2 * x**2 + 2 * y**2 + Rational(1, 10)), over=UNIT),
}


@pytest.mark.parametrize("name", CERTIFIED)
def test_a_true_bound_is_certified_on_the_whole_box(name: str) -> None:
    found = judged(CERTIFIED[name])
    assert found.decision.status is Status.SUPPORTED and found.rigorous
    assert "every point of x in" in found.scope
    assert not found.trivial


def test_a_false_bound_is_refuted_by_an_exact_point() -> None:
    found = judged(Inequality(x * y, at_most=(x**2 + y**2) / 2 - Rational(1, 10**9), over=UNIT))
    assert found.decision.status is Status.REFUTED and found.rigorous
    assert "fails at x = " in found.detail


def test_what_is_written_out_is_refuted_at_a_point_of_its_terms() -> None:
    found = judged(Inequality(x * Cosine(x), at_most=x * cos(x) - Rational(1, 100), over={x: (0, 1)}))
    assert found.decision.status is Status.REFUTED and found.rigorous


def test_the_double_next_to_pi_is_not_pi() -> None:
    # 884279719003555/281474976710656 is the double; the true value lies above it by 1.2e-16.
    double = Rational(884279719003555, 281474976710656)
    assert judged(Inequality(pi * x, at_most=double * x, over={x: (1, 2)})).decision.status is Status.REFUTED


def test_a_bound_no_sharper_than_the_trivial_one_says_nothing() -> None:
    vacuous = Inequality(cos(x), at_most=1 + x**2, trivial=Integer(1), over={x: (Rational(1, 100), 1)})
    assert judged(vacuous).trivial
    slack = Absolute(1, 10**6, "a slack at zero")
    sharp = Inequality(cos(x), at_most=1 - x**2 / 4, trivial=Integer(1), over={x: (0, 1)}, margin=slack)
    assert not judged(sharp).trivial


def test_quantiles_of_tightness_and_the_flag_of_a_loose_bound() -> None:
    found = judged(Inequality(x, at_most=x + 2000, over={x: (0, 1)}))
    tightness = found.tightness()
    assert tightness is not None and tightness[2] is not None and tightness[2] < 1e-3
    assert remarks(tightness) and not remarks((None, None, None)) and not remarks(None)


def test_equality_inside_stays_open_and_says_so() -> None:
    found = judged(Inequality(tanh(x), at_most=x, over={x: (0, 2)}))
    assert (found.decision.status, found.decision.reason) == (Status.INCONCLUSIVE, Reason.UNDECIDED_COMPARISON)


def test_a_logarithm_of_a_negative_number_is_not_certified() -> None:
    assert judged(Inequality(log(x), at_most=5, over={x: (-1, 1)})).decision.status is not Status.SUPPORTED


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: Inequality(x, at_most=1, over={x: (0, 0.5)}), "no rational number"),
        (lambda: Inequality(x, at_most=1, over={x: (1, 0)}), "is empty"),
        (lambda: Inequality(x + y, at_most=1, over={x: (0, 1)}), "no range of y"),
        (lambda: Inequality(x, at_most=1, over={m: (0, 1)}), "no range of a parameter"),
        (lambda: Inequality(m, at_most=x, over={x: (0, 1)}), "no range of m"),
    ],
)
def test_boxes_that_cannot_be_meant(wrong, said: str) -> None:
    with pytest.raises(StatementError, match=said):
        wrong()
