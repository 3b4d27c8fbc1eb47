"""Least values of JAX functions: a strict minimum by Krawczyk's test, a least value on a box, a duality gap in balls."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import jax
import numpy as np

from theorax.decide.equivalence import decide
from theorax.decide.estimators import proportion
from theorax.decide.status import DEFAULT_LEVELS, Levels, Reason, Side, Status
from theorax.decide.verdict import Assumption, Verdict
from theorax.errors import TheoraxError, UsageError
from theorax.exact.certificates import claim_on
from theorax.exact.decisions import decided, exactly, told
from theorax.exact.duality_gap import compare
from theorax.exact.enclosures import Enclosure, rational
from theorax.exact.kkt import Constrained, constrained
from theorax.exact.krawczyk import Critical
from theorax.exact.least_values import least_on_box, local, restarts, what_of
from theorax.exact.own_functions import Bounds, Function, exact, whole
from theorax.numerics.arithmetics import UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.arithmetics.custom_rules import entered
from theorax.numerics.keys import seed_of

__all__ = ["duality", "minimum"]

PRECISION = 256
BASINS = 0.01
"""The share of starts whose basin may hold a better value after a search from independent starts."""


def minimum(
    function: Function,
    at: Sequence[Any],
    *,
    box: Bounds | None = None,
    constraints: Function | None = None,
    slack: Any = 0,
    budget: int = 20_000,
    starts: int = 368,
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
    point = [exact(x, f"at[{place}]") for place, x in enumerate(at)]
    sides = box if box is not None else [(x, x) for x in point]
    whole("budget", budget)
    whole("starts", starts)
    claim = claim_on(function, sides, slack, name, f"is least at {_told(point)}")
    if len(claim.names) != len(point):
        raise UsageError(
            f"The point has {len(point)} coordinates, the box {len(claim.names)} sides. The least value is attained in "
            "the box. Give one coordinate for every side."
        )
    for x, (low, high), label in zip(point, claim.sides_exact, claim.names, strict=True):
        if not low <= x <= high:
            raise UsageError(f"{label} = {x} lies outside [{low}, {high}]. Move the point into the box, or widen it.")
    try:
        enclosure = claim.enclosure()
        if constraints is not None:
            if box is not None:
                raise UsageError(
                    "constraints and box are both given. A least value is certified on boxes alone. Leave out the box, "
                    "or write the function of parameters that satisfy the constraints."
                )
            found_there = constrained(claim.program, constraints, point)
            return _local(claim, found_there.found, point, found_there)
        gradient = _gradient(claim.program, len(point))
        if box is None:
            return _local(claim, local(gradient, point), point)
        found, critical = least_on_box(enclosure, gradient, point, claim.box, claim.slack, budget)
    except UnsupportedPrimitive as error:
        return claim.verdict(decided(Status.INCONCLUSIVE, Reason.BUDGET), str(error).rstrip("."), "", rigorous=False)
    if found.status is not Status.INCONCLUSIVE:
        value = found.value
        decision = decided(found.status, estimate=0.0 if value is None else float(value.mid()))
        detail = told(found, claim.names, what_of(found)) + _strict(critical)
        scope = f"every point of {claim.domain}" + (f", with slack {exactly(claim.slack)}" if claim.slack else "")
        return claim.verdict(decision, detail, scope, rigorous=True)
    rng = np.random.default_rng(seed_of("minimum", claim.statement, str(seed)))
    tried = restarts(enclosure, claim.program, point, claim.box, claim.slack, starts, rng)
    if tried.refuted is not None:
        decision = decided(Status.REFUTED, estimate=tried.lowest)
        return claim.verdict(decision, told(tried.refuted, claim.names, "the value"), f"every point of {claim.domain}",
                             rigorous=True)  # fmt: skip
    share = proportion((np.arange(starts) < tried.better).astype(float))
    decision = decide(share, 0.0, BASINS, Side.AT_MOST, levels)
    if tried.better:
        decision = decided(Status.INCONCLUSIVE, Reason.NUMERIC_FLOOR, estimate=tried.lowest, levels=levels)
        detail = f"{tried.better} of {starts} descents end lower in floats, and no ball confirms it"
        return claim.verdict(decision, detail, "", rigorous=False)
    left = share.upper(levels.support)
    detail = (
        f"{starts} descents from uniform starts end no lower: basins of better value take at most a share {left:.2g} of "
        f"the starts, at level {levels.support:g}; {told(found, claim.names, what_of(found))}"
    )
    scope = f"descents from uniform starts in {claim.domain}, but for a share {left:.2g}"
    return claim.verdict(decision, detail, scope, rigorous=False)


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
    points = [[exact(x, f"{what}[{place}]") for place, x in enumerate(entries)]
              for what, entries in (("at", at), ("dual_at", dual_at))]  # fmt: skip
    allowed = exact(gap, "gap")
    if not allowed > 0:
        raise UsageError(f"gap={gap!r} leaves no room. Two rounded values are never known to be equal. Write 1e-9.")
    claim = claim_on(primal, [(x, x) for x in points[0]], 0, name, f"is least up to {float(allowed):g}")
    try:
        value = _balls(primal, points[0], "primal")
        bound = _balls(dual, points[1], "dual")
        held = [
            entry
            for function, where, what in (
                (constraints, points[0], "constraints"),
                (dual_constraints, points[1], "dual_constraints"),
            )
            if function is not None
            for entry in _balls(function, where, what)
        ]
    except (UnsupportedPrimitive, UndecidedComparison) as error:
        reason = Reason.UNDECIDED_COMPARISON if isinstance(error, UndecidedComparison) else Reason.BUDGET
        return claim.verdict(decided(Status.INCONCLUSIVE, reason), str(error).rstrip("."), "", rigorous=False)
    if len(value) != 1 or len(bound) != 1:
        raise UsageError("primal and dual are compared as numbers, and return several. Return one number each.")
    found = compare(value[0], bound[0], allowed, held, precision=PRECISION)
    decision = decided(
        found.status, found.reason, estimate=found.largest, lower=0.0, upper=found.largest, margin=float(allowed),
        side=Side.AT_MOST,
    )  # fmt: skip
    weak = Assumption("hypothesis", "the dual function is a lower bound wherever its constraints hold", "declared")
    certain = found.status is not Status.INCONCLUSIVE
    scope = "this problem, at these two points" if certain else ""
    return claim.verdict(decision, found.detail, scope, rigorous=certain, assumptions=(weak,))


def _local(claim: Any, found: Critical | None, at: Sequence[Fraction], under: Constrained | None = None) -> Verdict:
    """A strict local minimum, or what there is in its place."""
    status, reason, scope = Status.INCONCLUSIVE, Reason.UNDECIDED_COMPARISON, ""
    if under is not None and under.trouble:
        detail = under.trouble.rstrip(".")
    elif found is None:
        detail = "no box around the point is known to hold exactly one critical point"
    elif any(abs(x - c) > found.near.radius for x, c in zip(at, found.near.centre, strict=False)):
        far = max(abs(float(x - c)) for x, c in zip(at, found.near.centre, strict=False))
        detail = f"the critical point nearby lies {far:.2g} away from the one claimed: give it to more digits"
    elif found.shape == "minimum":
        status, scope = Status.CERTIFIED, f"a radius of {float(found.near.radius):.2g} around the point"
        detail = (
            f"one critical point lies within {float(found.near.radius):.2g}, the only one within "
            f"{float(found.alone.radius):.2g}, and the Hessian is positive definite there (above {found.curved:.3g})"
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
    return claim.verdict(decision, detail, scope, rigorous=certain)


def _strict(critical: Critical | None) -> str:
    if critical is None or critical.shape != "minimum":
        return ""
    return f"; the only critical point within {float(critical.alone.radius):.2g} is a strict minimum"


def _gradient(program: Callable[[Any], Any], dimension: int) -> Enclosure | None:
    """The gradient of the program that is evaluated, in balls; None where it cannot be taken."""
    try:
        return Enclosure(jax.grad(entered(program)), dimension, dimension)
    except (TheoraxError, TypeError, ValueError):
        return None  # no reverse derivative: boxes are searched without it


def _balls(function: Function, point: Sequence[Fraction], what: str) -> list[Any]:
    """Every entry that the function returns at an exact point, in balls."""
    try:
        with_shape = jax.eval_shape(function, jax.ShapeDtypeStruct((len(point),), float))
        length = int(sum(np.prod(leaf.shape, dtype=np.int64) for leaf in jax.tree_util.tree_leaves(with_shape)))
        return Enclosure(function, len(point), length).all_at([rational(x) for x in point], PRECISION)
    except TheoraxError:
        raise
    except Exception as error:  # whatever the user's function does when it is traced
        first = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
        raise UsageError(
            f"{what} cannot be called on a vector of {len(point)} numbers: {first}. Write it with jax.numpy."
        ) from None


def _told(point: Sequence[Fraction]) -> str:
    return "(" + ", ".join(f"{float(x):.6g}" for x in point) + ")"
