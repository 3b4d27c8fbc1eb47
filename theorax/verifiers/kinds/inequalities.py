"""Inequalities on random instances: a bound on how often they fail, and violations confirmed in ball arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from theorax.theorems.language import Claim, Inequality
from theorax.verifiers.kinds.base import Judge, Judged, Prepared
from theorax.verifiers.lines import Cell, Observed, evaluate, rounding
from theorax.verifiers.outcome import Point
from theorax.verifiers.verdict import Decision, Levels, Reason, Side, Status


@final
@dataclass(frozen=True)
class InequalityJudge(Judge):
    r"""Bounds in every draw.

    Without violation among N draws, "at least a share ``content`` of all draws violates it" is rejected with
    $p = (1 - \text{content})^N$: support of the bound for the law that was sampled, never for every instance. A float
    violation within the rounding account is none; beyond it, it is a candidate and needs exact arithmetic.
    """

    def prepare(self, claim: Claim, cell: Cell, levels: Levels, original: Claim) -> Prepared:
        assert isinstance(claim, Inequality)
        return Prepared(cell, 0.0, float(claim.content), 1.0, None, Side.AT_MOST)

    def judge(self, claim: Claim, prepared: Prepared, observed: Observed) -> Judged:
        assert isinstance(claim, Inequality)
        cell, sizes = prepared.cell, prepared.cell.line.sizes
        bound = claim.at_most if claim.at_most is not None else claim.at_least
        excess = claim.of - bound if claim.at_most is not None else bound - claim.of
        columns = [evaluate(excess, cell, observed, at) for at in range(len(sizes))]
        floors = [rounding(excess, cell, observed, at) for at in range(len(sizes))]
        slack = claim.margin.around(0.0) if claim.margin is not None else 0.0
        over = sum(int((column > floor + slack).sum()) for column, floor in zip(columns, floors, strict=True))
        total = sum(map(len, columns))
        worst = max(float(column.max()) for column in columns)
        p = (1 - prepared.margin) ** total if not over else 1.0
        levels = Levels()
        supported = p <= levels.support
        status = Status.SUPPORTED if supported else Status.INCONCLUSIVE
        reason = None if supported else Reason.NUMERIC_FLOOR if over else Reason.UNDERPOWERED
        content = 1 - levels.support ** (1 / total)
        if over:
            detail = f"violated in {over} of {total} draws, by up to {worst:.3g}; floats alone refute nothing"
        else:
            detail = (
                f"no violation in {total} draws: at most a share {content:.2g} of all draws violates it, at level "
                f"{levels.support:g}; the nearest came to within {-worst:.2g}"
            )
        decision = Decision(
            status=status,
            reason=reason,
            p_refute=1.0,
            p_support=p,
            breakdown_support=math.inf if supported else 0.0,
            breakdown_refute=-math.inf,
            equivalent_within_margin=False,
            estimate=over / total,
            se=0.0,
            df=math.inf,
            bias=0.0,
            lower=0.0,
            upper=content if not over else 1.0,
            claimed=0.0,
            margin=prepared.margin,
            side=Side.AT_MOST,
            levels=levels,
        )
        points = tuple(
            Point(float(size), float(np.max(column)), None, len(column))
            for size, column in zip(sizes, columns, strict=True)
        )
        unseen = (f"a violation in fewer than a share {content:.2g} of the draws, or outside the law sampled",)
        return Judged(prepared, decision, points, unseen, detail=detail)
