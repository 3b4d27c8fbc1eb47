"""Identities of programs: one program run in floats with its rounding account, and in balls at exact points."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import jax.numpy as jnp
import numpy as np
from flint import arb
from sympy import Expr, lambdify

from theorax.errors import TheoraxError
from theorax.numerics.jaxprs import Ball, Running, RunningError, UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.jaxprs import evaluate as interpret
from theorax.theorems.language import Claim, Identity, Measured
from theorax.verifiers.kinds.base import Judge, Judged, Prepared
from theorax.verifiers.lines import Cell, Line, Observed
from theorax.verifiers.outcome import Point
from theorax.verifiers.verdict import Decision, Levels, Reason, Side, Status

PRECISION = 256
NARROW = arb(2) ** -150  # a ball around zero wider than this says nothing (METHOD, section 4.6)


@final
@dataclass(frozen=True)
class IdentityJudge(Judge):
    """Both sides of an identity, on instances built at their true sizes.

    | floats: |l - r| + rounding | balls at the smallest size | status |
    |---|---|---|
    | any | a ball of l - r excludes zero | refuted, rigorously |
    | at most the margin times the largest |l|, everywhere | every ball holds zero and is narrow | supported |
    | otherwise | otherwise | inconclusive |
    """

    def cells(self, claim: Claim, line: Line) -> Iterator[Cell]:
        for size in line.sizes:
            yield from super().cells(claim, replace(line, sizes=(size,)))

    def prepare(self, claim: Claim, cell: Cell, levels: Levels, original: Claim) -> Prepared:
        assert isinstance(claim, Identity)
        margin = float(claim.margin.value) if claim.margin is not None else 0.0
        return Prepared(cell, 0.0, margin, 1.0, None)

    def judge(self, claim: Claim, prepared: Prepared, observed: Observed) -> Judged:
        assert isinstance(claim, Identity)
        (size,) = prepared.cell.line.sizes
        smallest = size == observed.line.sizes[0]
        worst, account, narrow, refuted, trouble = 0.0, 0.0, True, "", ""
        for draw, (model, read) in enumerate(observed.instances[size]):
            sides = _sides(claim, prepared.cell, size, observed.observe, read)
            try:
                residual, bound, scale = _in_floats(sides, model)
                worst, account = max(worst, (residual + bound) / scale), max(account, bound / scale)
                if smallest or residual > bound:
                    outside, radius = _in_balls(sides, model)
                    narrow = narrow and radius < NARROW
                    if outside:
                        place = f"{observed.line.swept} = {size}, instance {draw}"
                        refuted = f"at {place}, a ball of the difference excludes 0"
                        break
            except (UnsupportedPrimitive, UndecidedComparison) as error:
                trouble = str(error)
                break
        count = len(observed.instances[size])
        status, reason, detail = _settle(refuted, trouble, worst, account, prepared.margin, narrow, count)
        decision = _decision(status, reason, worst, account, prepared)
        return Judged(
            prepared,
            decision,
            (Point(float(size), worst, None, count),),
            ("a difference below the margin at sizes where balls were not run", "instances outside the law sampled"),
            rigorous=bool(refuted),
            statistical=False,
            detail=detail,
        )


def _settle(
    refuted: str, trouble: str, worst: float, account: float, margin: float, narrow: bool, count: int
) -> tuple[Status, Reason | None, str]:
    if refuted:
        return Status.REFUTED, None, refuted
    if trouble:
        undecided = Reason.UNDECIDED_COMPARISON if "undecided" in trouble.lower() else Reason.BUDGET
        return Status.INCONCLUSIVE, undecided, trouble
    if not narrow or not worst <= margin:
        return (
            Status.INCONCLUSIVE,
            Reason.NUMERIC_FLOOR,
            f"both sides agree within {worst:.2g}, rounding account {account:.2g}; the margin is {margin:.2g}",
        )
    return (
        Status.SUPPORTED,
        None,
        f"both sides agree within {worst:.1g} of their size, rounding included, on {count} instances",
    )


def _decision(status: Status, reason: Reason | None, worst: float, account: float, prepared: Prepared) -> Decision:
    return Decision(
        status=status,
        reason=reason,
        p_refute=0.0 if status is Status.REFUTED else 1.0,
        p_support=0.0 if status is Status.SUPPORTED else 1.0,
        breakdown_support=prepared.margin / worst if worst > 0 else math.inf,
        breakdown_refute=math.inf if status is Status.REFUTED else 0.0,
        equivalent_within_margin=False,
        estimate=worst,
        se=0.0,
        df=math.inf,
        bias=account,
        lower=0.0,
        upper=worst,
        claimed=0.0,
        margin=prepared.margin,
        side=Side.EQUAL,
        levels=Levels(),
    )


def _sides(
    claim: Identity, cell: Cell, size: int, observe: Callable[..., Mapping[str, Any]], read: Mapping[str, Any]
) -> Callable[[Any], tuple[Any, Any]]:
    """Both sides as one JAX function of the model."""

    def compiled(side: Expr) -> Callable[[Mapping[str, Any]], Any]:
        exact = cell.exact(side, size)
        letters = sorted((s for s in exact.free_symbols if isinstance(s, Measured)), key=str)
        function = lambdify(letters, exact, "jax")
        chosen = {index: cell.line.along[index].index(value) for index, value in cell.chosen.items()}

        def column(seen: Mapping[str, Any], letter: Measured) -> Any:
            values = seen[letter.name]
            for index in letter.over:
                values = values[chosen[index]]
            return values

        return lambda seen: jnp.asarray(function(*(column(seen, letter) for letter in letters)))

    left, right = compiled(claim.left), compiled(claim.right)

    def sides(model: Any) -> tuple[Any, Any]:
        seen = observe(model, **read)
        one, other = jnp.broadcast_arrays(left(seen), right(seen))
        return one, other

    return sides


def _in_floats(sides: Callable[[Any], tuple[Any, Any]], model: Any) -> tuple[float, float, float]:
    """Largest difference, largest bound of its rounding, and the size of the left side."""
    left, right = interpret(sides, (model,), RunningError("float64"))
    left, right = _running(left), _running(right)
    scale = float(max(np.abs(left.value).max(), np.abs(right.value).max()))
    bound = float((left.reach + right.reach).max())
    return float(np.abs(left.value - right.value).max()), bound, scale or 1.0


def _running(side: Any) -> Running:
    if isinstance(side, Running):
        return side
    value = np.asarray(side, dtype=np.float64)
    return Running(value, np.zeros_like(value))


def _in_balls(sides: Callable[[Any], tuple[Any, Any]], model: Any) -> tuple[bool, Any]:
    """Whether some ball of the difference excludes zero, and the largest radius."""
    import jax

    balls = Ball(PRECISION)
    exact = jax.tree.map(lambda leaf: balls.lift(np.asarray(leaf)) if _is_float(leaf) else leaf, model)
    left, right = interpret(sides, (exact,), balls)
    with balls.working():
        gaps = [arb(x) - arb(y) for x, y in zip(np.ravel(left), np.ravel(right), strict=True)]
        return any(not gap.contains(0) for gap in gaps), max((gap.rad() for gap in gaps), default=arb(0))


def _is_float(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray | jnp.ndarray) and np.issubdtype(np.asarray(leaf).dtype, np.floating)


__all__ = ["IdentityJudge", "TheoraxError"]
