"""Least values of JAX functions: a strict minimum by Krawczyk's test, a least value on a box, a duality gap in balls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import jax
import numpy as np

from theorax.decide.status import DEFAULT_LEVELS, Levels, Reason, Status
from theorax.decide.verdict import Assumption, Standing, Verdict
from theorax.errors import TheoraxError, UsageError
from theorax.exact.box_problems import BUDGET, STARTS, BoxFinding, least_at
from theorax.exact.certificates import claim_on
from theorax.exact.decisions import decided
from theorax.exact.duality_gap import GAP_PRECISION, GapProblem, duality_gap
from theorax.exact.enclosures import Enclosure, rational
from theorax.exact.kkt import Constrained, constrained
from theorax.exact.krawczyk import PLACED, Critical
from theorax.exact.least_values import local
from theorax.exact.own_functions import Bounds, Function, exact_bound, whole_number
from theorax.names import many
from theorax.numerics.arithmetics import UnsupportedPrimitive

__all__ = ["duality", "minimum"]

WEAK = Assumption("hypothesis", "the dual function is a lower bound wherever its constraints hold", Standing.DECLARED)


def minimum(
    function: Function,
    at: Sequence[Any],
    *,
    box: Bounds | None = None,
    constraints: Function | None = None,
    slack: Any = 0,
    budget: int = BUDGET,
    starts: int = STARTS,
    levels: Levels = DEFAULT_LEVELS,
    seed: int = 0,
    name: str = "minimum",
) -> Verdict:
    r"""Decide that a function of one vector is least at a point: near it, or, given a box, on all of the box.

    Without a box: CERTIFIED if exactly one critical point lies in a box around ``at``, with a positive definite Hessian
    on a box that holds them both: a strict local minimum. ``constraints`` returns numbers that are at least zero where
    a point is feasible; multipliers are then part of the system, and strict complementarity is certified. With a box:
    branch and bound shows that the value is least up to ``slack``. Where the boxes do not close, ``starts`` descents
    from uniform points, a number fixed beforehand, exclude that basins of better value take more than a share
    $1 - \alpha^{1/N}$ of the starts: support at that scope.

    **Errors:** none where CERTIFIED or REFUTED. SUPPORTED is wrong about the share with probability at most
    ``levels.support``, and says nothing of narrower basins.

    **Raises:** ``UsageError`` for a point, a box or a function that cannot be meant.
    """
    point = [exact_bound(x, f"at[{place}]") for place, x in enumerate(at)]
    whole_number("budget", budget)
    whole_number("starts", starts)
    claim = claim_on(
        function, box if box is not None else [(x, x) for x in point], slack, name, f"is least at {_told(point)}"
    )
    problem = claim.problem
    if len(problem.names) != len(point):
        raise UsageError(
            f"The point has {len(point)} coordinates, the box {len(problem.names)} sides. The least value is attained in "
            "the box. Give one coordinate for every side."
        )
    for x, (lower, upper), label in zip(point, problem.box.sides, problem.names, strict=True):
        if not lower <= rational(x) <= upper:
            raise UsageError(
                f"{label} = {x} lies outside [{lower}, {upper}]. Move the point into the box, or widen it."
            )
    if constraints is not None and box is not None:
        raise UsageError(
            "constraints and box are both given. A least value is certified on boxes alone. Leave out the box, "
            "or write the function of parameters that satisfy the constraints."
        )
    if box is not None:
        return claim.verdict(least_at(problem, point, budget, starts, levels, seed))
    try:
        enclosure = problem.enclosure()
        under = constrained(problem.program, constraints, point) if constraints is not None else None
        return claim.verdict(_near(under.found if under else local(enclosure.gradient, point), point, under))
    except UnsupportedPrimitive as error:
        return claim.verdict(BoxFinding(decided(Status.INCONCLUSIVE, Reason.BUDGET), str(error).rstrip(".")))


def duality(
    primal: Function,
    dual: Function,
    at: Sequence[Any],
    dual_at: Sequence[Any],
    *,
    gap: Any,
    constraints: Function | None = None,
    dual_constraints: Function | None = None,
    name: str = "duality gap",
) -> Verdict:
    """Decide that ``primal(at)`` is the least feasible value up to ``gap``, by the lower bound ``dual(dual_at)``.

    ``constraints`` and ``dual_constraints`` return numbers that are at least zero at feasible points; they are checked
    in balls at the exact points, so a point must be feasible as it is given, not up to rounding. That ``dual`` is a
    lower bound wherever its constraints hold is declared, and stands in the ledger.

    **Errors:** none but that declaration.

    **Raises:** ``UsageError`` for points or functions that cannot be meant.
    """
    points = [[exact_bound(x, f"{what}[{place}]") for place, x in enumerate(entries)]
              for what, entries in (("at", at), ("dual_at", dual_at))]  # fmt: skip
    allowed = exact_bound(gap, "gap")
    if not allowed > 0:
        raise UsageError(f"gap={gap!r} leaves no room. Two rounded values are never known to be equal. Write 1e-9.")
    claim = claim_on(primal, [(x, x) for x in points[0]], 0, name, f"is least up to {float(allowed):g}")

    def balls() -> GapProblem:
        value, bound = _balls(primal, points[0], "primal"), _balls(dual, points[1], "dual")
        if len(value) != 1 or len(bound) != 1:
            raise UsageError("primal and dual are compared as numbers, and return several. Return one number each.")
        held = ((constraints, points[0], "constraints"), (dual_constraints, points[1], "dual_constraints"))
        entries = [x for function, at, what in held if function is not None for x in _balls(function, at, what)]
        return GapProblem(value[0], bound[0], entries)

    found = duality_gap(balls, allowed)
    scope = "this problem, at these two points" if found.status is not Status.INCONCLUSIVE else ""
    return claim.verdict(BoxFinding(found.decision(allowed), found.detail, scope), assumptions=(WEAK,))


def _near(found: Critical | None, at: Sequence[Fraction], under: Constrained | None = None) -> BoxFinding:
    """A certified strict local minimum, a refuted one, or the reason why neither is known."""
    status, reason, scope = Status.INCONCLUSIVE, Reason.UNDECIDED_COMPARISON, ""
    if under is not None and under.trouble:
        detail = under.trouble.rstrip(".")
    elif found is None:
        detail = "no box around the point is known to hold exactly one critical point"
    elif found.place is None:
        detail = "where the critical point nearby lies is not known to half the digits of a double"
    elif any(abs(x - c) > PLACED * max(Fraction(1), abs(c)) for x, c in zip(at, found.place.centre, strict=False)):
        far = max(abs(float(x - c)) for x, c in zip(at, found.place.centre, strict=False))
        detail = f"the critical point nearby lies {far:.2g} away from the one claimed: give it to more digits"
    elif found.shape == "minimum":
        status, scope = Status.CERTIFIED, f"a radius of {float(found.near.radius):.2g} around the point"
        detail = (
            f"one critical point lies within {float(2 * PLACED):.2g} of the largest coordinate or one; no other within "
            f"{float(found.alone.radius):.2g}; the Hessian is positive definite there (above {found.curved:.3g})"
        )
        if under is not None:
            detail += f"; {len(under.active)} constraints are active, with positive multipliers"
    elif found.shape == "no minimum" and under is None:
        status, scope = Status.REFUTED, f"a radius of {float(found.near.radius):.2g} around the point"
        detail = "the critical point there is no minimum: a direction of negative curvature is certified"
    else:
        detail = "one critical point lies there, and the sign of its curvature is not known in balls"
    certain = status is not Status.INCONCLUSIVE
    decision = decided(status, None if certain else reason, estimate=math.nan if found is None else found.curved)
    return BoxFinding(decision, detail, scope)


def _balls(function: Function, point: Sequence[Fraction], what: str) -> list[Any]:
    """Every entry that the function returns at an exact point, in balls."""
    try:
        with_shape = jax.eval_shape(function, jax.ShapeDtypeStruct((len(point),), float))
        length = int(sum(np.prod(leaf.shape, dtype=np.int64) for leaf in jax.tree_util.tree_leaves(with_shape)))
        return Enclosure(function, len(point), length).all_at([rational(x) for x in point], GAP_PRECISION)
    except TheoraxError:
        raise
    except Exception as error:  # whatever the user's function does when it is traced
        first = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
        raise UsageError(
            f"{what} cannot be called on a vector of {many(len(point), 'number')}: {first}. Write it with jax.numpy."
        ) from None


def _told(point: Sequence[Fraction]) -> str:
    return "(" + ", ".join(f"{float(x):.6g}" for x in point) + ")"
