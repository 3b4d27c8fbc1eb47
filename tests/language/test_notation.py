"""Expressions on one line and over several: what a reader sees of cases, of the largest and of the least."""

from __future__ import annotations

import pytest
from sympy import Abs, Basic, Max, Min, Piecewise, Symbol, sqrt

from theorax.language import Absolute, Measured, Probability
from theorax.language.notation import beside, inline

theta, T, H, d = (Symbol(name, positive=True) for name in ("theta", "T", "H", "d"))
x = Measured("x", "a measured number")


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        (Piecewise((theta + 1 / theta, theta > 1), (2, True)), "(θ + 1/θ if θ > 1, else 2)"),
        (2 * Piecewise((theta, theta > 1), (2, True)), "2(θ if θ > 1, else 2)"),
        (Piecewise((theta, (T > 1) & (T < 2)), (0, True)), "(θ if T < 2 and T > 1, else 0)"),
        (Piecewise((1, theta > 1), (2, theta < 1)), "(1 if θ > 1, else 2 if θ < 1)"),
        (Max(0, d - H), "max(0, -H + d)"),
        (Min(T, d) / 10, "min(T, d)/10"),
        (sqrt(Max(1, T)), "√max(1, T)"),
        (Max(Piecewise((theta, theta > T), (0, True)), 1), "max(1, (θ if T < θ, else 0))"),
    ],
)
def test_one_line_shows_cases_and_extremes(expression: Basic, shown: str) -> None:
    """Cases in words, extremes by the field's names."""
    assert inline(expression) == shown


@pytest.mark.parametrize(("expression", "name"), [(Max(0, d - H), "max"), (Min(1, T), "min")])
def test_several_lines_show_extremes(expression: Basic, name: str) -> None:
    """The same names beside fractions and roots."""
    shown = beside("E[ ", expression, " ]")
    assert f"{name}(" in shown
    assert type(expression).__name__ not in shown


def test_an_event_is_shown_as_mathematics() -> None:
    """Comparisons and extremes of an event are no program text."""
    claim = Probability(Abs(x) <= Max(1, T), 1 - 1 / T, margin=Absolute(1, 50, "a test"))
    assert claim.formula.startswith("P(|x| ≤ max(1, T)) ≥ ")
