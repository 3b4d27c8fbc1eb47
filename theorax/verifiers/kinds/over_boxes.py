"""Claims over parameters in their exact ranges, lowered to problems of `theorax.exact` on a box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sympy import Expr

from theorax.decide.plans import Tested
from theorax.decide.status import Status
from theorax.exact.box_problems import BoxFinding, BoxProblem, nowhere_negative
from theorax.exact.enclosures import Box, Enclosure, floats
from theorax.language import Impossibility, Inequality, Margin, Parameter
from theorax.language.notation import displayed
from theorax.verifiers.kinds.lowering import CellCase, CellResult

__all__ = ["bounded", "decided_on_box", "is_certified", "on_box", "rational_of", "values"]

Range = Mapping[Parameter, tuple[Expr, Expr]]


def bounded(smaller: Expr, larger: Expr, over: Range, margin: Margin | None) -> BoxProblem:
    """The claim that one side is nowhere above the other by more than the margin."""
    letters = tuple(over)
    sides = floats(smaller, letters), floats(larger, letters)
    return replace(values(larger - smaller, over, margin), key=f"{smaller} <= {larger}", sides=sides)


def values(function: Expr, over: Range, margin: Margin | None) -> BoxProblem:
    """The values of an expression on the box of its exact ranges."""
    letters = tuple(over)

    def program(x: Any) -> Any:
        return floats(function, letters)(x)

    return BoxProblem(
        names=tuple(map(displayed, letters)),
        box=Box.of([(rational_of(low), rational_of(high)) for low, high in over.values()]),
        slack=Fraction(0) if margin is None else rational_of(margin.value),
        enclosure=lambda: Enclosure.of(function, letters),
        program=program,
        key=str(function),
    )


def on_box(claim: Inequality | Impossibility, smaller: Expr, larger: Expr, case: CellCase) -> CellResult:
    """The claim that one side is nowhere above the other, on the whole box; its margin is a slack."""
    return decided_on_box(nowhere_negative(bounded(smaller, larger, claim.over, claim.margin)), case)


def decided_on_box(found: BoxFinding, case: CellCase) -> CellResult:
    """The case that was decided on a box."""
    status = found.decision.status
    certified = status is Status.CERTIFIED
    decision = replace(
        found.decision,
        status=Status.SUPPORTED if certified else status,
        margin=case.plan.margin,
        levels=case.levels,
    )
    return replace(
        case.decided(Tested(decision, unseen=found.unseen, detail=found.detail)),
        rigorous=found.rigorous,
        covered=certified,
        statistical=found.statistical,
        trivial=found.trivial,
        scope=found.scope,
        tightness=found.tightness,
    )


def is_certified(smaller: Expr, larger: Expr, over: Range) -> bool:
    """True if one side is nowhere above the other."""
    problem = values(larger - smaller, over, None)
    return nowhere_negative(problem).decision.status is Status.CERTIFIED


def rational_of(number: Expr) -> Fraction:
    """The same rational as Python computes with it."""
    return Fraction(int(number.p), int(number.q))
