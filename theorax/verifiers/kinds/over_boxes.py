"""Claims over parameters in their exact ranges: certified by branch and bound, or refuted at an exact point."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from sympy import Expr

from theorax.decide.status import Reason, Status
from theorax.decide.verdict import LOOSE
from theorax.exact.branch_and_bound import Box, Certificate, certify
from theorax.exact.counterexamples import quantiles, search
from theorax.exact.decisions import decided, told
from theorax.exact.enclosures import Enclosure
from theorax.exact.recorded_expressions import floats
from theorax.language import Impossibility, Inequality, Parameter
from theorax.numerics.arithmetics import UnsupportedPrimitive
from theorax.numerics.keys import seed_of
from theorax.verifiers.kinds.lowering import Judged, Prepared

__all__ = ["covered", "domain_of", "on_box"]

BUDGET = 20_000
SAMPLED = 1024
Range = Mapping[Parameter, tuple[Expr, Expr]]


def on_box(claim: Inequality | Impossibility, prepared: Prepared) -> Judged:
    """The claim on the whole box; its margin is a slack."""
    if isinstance(claim, Impossibility):
        smaller, larger = claim.at_least, claim.distance
    else:
        smaller, larger = (claim.of, claim.at_most) if claim.at_most is not None else (claim.at_least, claim.of)
    slack = Fraction(*map(int, claim.margin.value.as_numer_denom())) if claim.margin is not None else Fraction(0)
    letters = tuple(claim.over)
    found = covered(larger - smaller, claim.over, slack)
    sides = (floats(smaller, letters), floats(larger, letters))
    rng = np.random.default_rng(seed_of("tightness", repr(claim)))
    low, high = (np.asarray([float(side[end]) for side in claim.over.values()]) for end in (0, 1))
    tightness = quantiles(sides, low + (high - low) * rng.random((SAMPLED, len(letters))))
    loose = tightness is not None and abs(tightness[1]) < LOOSE
    trivial = isinstance(claim, Inequality) and found.status is Status.CERTIFIED and _is_trivial(claim)
    case = judged(
        found, prepared, claim.over, trivial=trivial, tightness=tightness, unseen=_LOOSE if loose else (), slack=slack
    )
    if not (trivial and isinstance(claim, Inequality)):
        return case
    return replace(case, detail=f"the bound is nowhere sharper than the trivial one, {claim.trivial}: it says nothing")


def _is_trivial(claim: Inequality) -> bool:
    """Whether the bound is certified to be nowhere sharper than the trivial one."""
    if claim.trivial is None:
        return False
    weaker = claim.prediction - claim.trivial if claim.at_most is not None else claim.trivial - claim.prediction
    return covered(weaker, claim.over).status is Status.CERTIFIED


_LOOSE = ("LOOSE: what is bounded is mostly below a thousandth of the bound",)


def covered(expression: Expr, over: Range, slack: Fraction = Fraction(0), budget: int = BUDGET) -> Certificate:
    """Whether the expression is at least minus the slack on the whole box; a search follows where boxes leave it open."""
    letters = tuple(over)
    try:
        function = Enclosure.of(expression, letters)
        box = domain_of(over)
        found = certify(function, box, slack, budget)
        if found.status is Status.INCONCLUSIVE:
            rng = np.random.default_rng(seed_of("search", str(expression)))
            found = search(function, floats(expression, letters), box, rng, slack, draws=0).refuted or found
    except UnsupportedPrimitive as error:
        return Certificate(Status.INCONCLUSIVE, 0, 0, slack, reason=Reason.BUDGET, trouble=str(error))
    return found


def domain_of(over: Range) -> Box:
    """The box of exact ranges."""
    return Box.of([(_fraction(low), _fraction(high)) for low, high in over.values()])


def judged(
    found: Certificate,
    prepared: Prepared,
    over: Range,
    *,
    slack: Fraction = Fraction(0),
    trivial: bool = False,
    tightness: tuple[float, float, float] | None = None,
    unseen: Sequence[str] = (),
) -> Judged:
    """The case that a search over boxes decided."""
    certain = found.status is not Status.INCONCLUSIVE
    lowest = -math.inf if found.lowest is None else found.lowest
    status = Status.SUPPORTED if found.status is Status.CERTIFIED else found.status
    decision = decided(
        status,
        found.reason,
        estimate=lowest if found.value is None else float(found.value.mid()),
        lower=-float(slack) if status is Status.SUPPORTED else lowest,
        margin=prepared.margin,
        levels=prepared.levels,
    )
    sides = ", ".join(f"{letter} in [{low}, {high}]" for letter, (low, high) in over.items())
    scope = f"every point of {sides}" + (f", with slack {slack}" if slack else "")
    return Judged(
        prepared,
        decision,
        (),
        tuple(unseen),
        rigorous=certain,
        covered=status is Status.SUPPORTED,
        statistical=False,
        detail=told(found, [str(letter) for letter in over]),
        trivial=trivial,
        scope=scope if certain else "",
        tightness=tightness,
    )


def _fraction(number: Expr) -> Fraction:
    return Fraction(int(number.p), int(number.q))
