"""Identities of programs: one program run in floats with its rounding account, in balls, and in finite fields."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np

from theorax.decide.status import Decision, Levels, Reason, Side, Status
from theorax.decide.verdict import Point
from theorax.errors import TheoraxError
from theorax.exact.identity_ladder import NARROW, OBSTACLES, PRECISION, Carry, Fields, in_fields
from theorax.language import Absolute, Identity
from theorax.numerics.arithmetics import Ball, Domain, RunningError, UndecidedComparison, UnsupportedPrimitive
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import Cell, SweepLine
from theorax.verifiers.kinds.lowering import Judge, Judged, Prepared

_UNSEEN = ("a difference below the rounding account where balls were not run", "instances outside the law sampled")
_UNSEEN_CERTIFIED = ("other shapes", "a difference below the rounding account where balls were not run")


@dataclass(frozen=True)
class _Compared:
    """One instance: the largest difference and its rounding account over the scale, and what balls said if run."""

    worst: float
    account: float
    refuted: str = ""
    narrow: bool = True


@final
@dataclass(frozen=True)
class IdentityJudge(Judge[Identity]):
    """Both sides of an identity, on instances built at their true sizes.

    | floats: difference with its account, over the scale | balls | fields | status |
    |---|---|---|---|
    | any | one of the difference excludes zero | any | refuted, rigorously |
    | any | otherwise | equal as rational functions | supported, rigorously: certified |
    | at most the margin, in every entry of every instance | all run hold zero and are narrow | any | supported |
    | otherwise | otherwise | otherwise | inconclusive |

    The scale is the largest entry of either side, or one if the margin is absolute. Balls are run at the smallest size,
    and wherever floats differ by more than the account.

    In fields every array of floats in the model is replaced by random residues of its shape, single numbers, integers
    and truth values stay; two sides equal there are equal for all real arrays of these shapes. Sides that differ there
    need not differ on the models drawn, whose tokens are orthonormal, say: nothing follows.
    """

    kind = Identity

    def cells(self, claim: Identity, line: SweepLine) -> Iterator[Cell]:
        for size in line.sizes:
            yield from super().cells(claim, replace(line, sizes=(size,)))

    def prepare(self, claim: Identity, cell: Cell, levels: Levels, original: Identity) -> Prepared:
        margin = float(claim.margin.value) if claim.margin is not None else 0.0
        return Prepared(cell, 0.0, margin, 1.0, None, levels=levels)

    def judge(self, claim: Identity, prepared: Prepared, observed: Observed) -> Judged:
        (size,) = prepared.cell.line.sizes
        count = len(observed.instances[size])
        seen: list[_Compared] = []
        trouble: UnsupportedPrimitive | UndecidedComparison | None = None
        for draw in range(count):
            try:
                seen.append(_compared(claim, prepared.cell, observed, size, draw))
            except (UnsupportedPrimitive, UndecidedComparison) as error:
                trouble = error
                break
            if seen[-1].refuted:
                break
        worst = _largest(np.asarray([part.worst for part in seen]))
        account = _largest(np.asarray([part.account for part in seen]))
        agreement = f"both sides agree within {worst:.1g}, rounding included, on {len(seen)} instances"
        reason, certified, scope = None, False, ""
        if not (seen and seen[-1].refuted):
            fields = _fields(claim, prepared.cell, observed, size)
            certified = bool(fields) and all(part.certified for part in fields)
        if seen and seen[-1].refuted:
            status = Status.REFUTED
            detail = f"{seen[-1].refuted}, at {observed.line.swept} = {size}, instance {len(seen) - 1}"
        elif certified:
            status = Status.SUPPORTED
            weakest = max(fields, key=lambda part: part.bound)
            scope = f"all real weights at the shapes of {observed.line.swept} = {size}"
            detail = (
                f"both sides are equal for {scope}: equal as rational functions in {weakest.trials} random finite fields, "
                f"which a false identity is with probability at most {weakest.probability}"
            )
        elif trouble is not None:
            status, detail = Status.INCONCLUSIVE, str(trouble)
            reason = Reason.UNDECIDED_COMPARISON if isinstance(trouble, UndecidedComparison) else Reason.BUDGET
        elif worst <= prepared.margin and all(part.narrow for part in seen):
            status, detail = Status.SUPPORTED, agreement
        else:
            status, reason = Status.INCONCLUSIVE, Reason.NUMERIC_FLOOR
            detail = f"{agreement}, against a margin of {prepared.margin:.1g}"
        return Judged(
            prepared,
            _decision(status, reason, worst, account, prepared),
            (Point(float(size), worst, None, count),),
            _UNSEEN_CERTIFIED if certified else _UNSEEN,
            rigorous=status is Status.REFUTED or certified,
            covered=certified,
            statistical=False,
            detail=detail,
            scope=scope,
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
        levels=prepared.levels,
    )


def _compared(claim: Identity, cell: Cell, observed: Observed, size: int, draw: int) -> _Compared:
    left, right, gap = _difference(claim, cell, observed, size, draw, RunningError("float64"))
    relative = not isinstance(claim.margin, Absolute)
    scale = max(_largest(np.abs(left.value)), _largest(np.abs(right.value))) if relative else 1.0
    found = _Compared(_over(_largest(np.abs(gap.value) + gap.reach), scale), _over(_largest(gap.reach), scale))
    if size != observed.line.sizes[0] and np.all(np.abs(gap.value) <= gap.reach):
        return found
    balls = Ball(PRECISION)
    gaps = _difference(claim, cell, observed, size, draw, balls)[2].ravel().tolist()
    outside = [ball for ball in gaps if not ball.contains(0)]
    if not outside:
        return replace(found, narrow=all(ball.rad() < NARROW for ball in gaps))
    far = max(abs(float(ball.mid())) for ball in outside)
    return replace(found, refuted=f"the sides differ by {far:.2g}: a ball of their difference excludes zero")


def _difference(
    claim: Identity, cell: Cell, observed: Observed, size: int, draw: int, domain: Domain[Any]
) -> tuple[Any, Any, Any]:
    """Left, right and left minus right, in the arithmetic of ``domain``."""
    seen = _letters(claim, observed, size, draw, domain)
    left, right = (instances.on(side, cell, size, seen, domain) for side in (claim.left, claim.right))
    with domain.working():
        return left, right, domain.binary("sub", left, right)


def _letters(claim: Identity, observed: Observed, size: int, draw: int, domain: Domain[Any]) -> Mapping[str, Any]:
    """What was measured on the instance: run once in each arithmetic for all claims and their variants.

    Where some letter cannot be followed there, those that the claim holds are run by themselves.
    """
    known, (model, read) = observed._evaluated, observed.instances[size][draw]
    whole, part = ("letters", size, draw, domain), ("letters", claim.observed, size, draw, domain)
    if whole not in known:
        try:
            known[whole] = instances.letters(None, observed.observe, model, read, domain)
        except (UnsupportedPrimitive, UndecidedComparison):
            known[whole] = None
    if known[whole] is not None:
        return known[whole]
    if part not in known:
        known[part] = instances.letters(claim.observed, observed.observe, model, read, domain)
    return known[part]


def _fields(claim: Identity, cell: Cell, observed: Observed, size: int) -> list[Fields]:
    """What fields say of the claim at this size, once for all models that differ in arrays of floats alone."""
    found: dict[bytes, Fields] = {}
    for draw, (model, _) in enumerate(observed.instances[size]):
        fixed = _fixed(model)
        if fixed in found:
            continue
        found[fixed] = in_fields(partial(_generic_sides, claim, cell, observed, size, draw), f"{size} {draw}")
        if not found[fixed].certified:
            break
    return list(found.values())


def _fixed(model: Any) -> bytes:
    """The leaves of the model that fields leave as they are."""
    leaves = [leaf for leaf in jax.tree_util.tree_leaves(model) if not _is_varied(leaf)]
    return b"".join(
        np.asarray(leaf).tobytes() for leaf in leaves if isinstance(leaf, np.ndarray | jax.Array | float | int)
    )


def _is_varied(leaf: Any) -> bool:
    array = isinstance(leaf, np.ndarray | jax.Array) and leaf.ndim > 0
    return array and bool(jnp.issubdtype(leaf.dtype, jnp.floating))


def _generic_sides(
    claim: Identity, cell: Cell, observed: Observed, size: int, draw: int, domain: Domain[Any], carry: Carry
) -> list[tuple[Any, Any]]:
    def letters(wanted: Any) -> Any:
        # The point is a function of the domain, as `in_fields` promises: claims, and their variants, share it.
        known, place = observed._evaluated, ("fields", wanted, size, draw, domain)
        if place not in known:
            model, read = observed.instances[size][draw]
            carried = jax.tree_util.tree_map(lambda leaf: carry(leaf) if _is_varied(leaf) else leaf, model)
            try:
                known[place] = instances.letters(wanted, observed.observe, carried, read, domain)
            except OBSTACLES as error:
                known[place] = error
        return known[place]

    seen = letters(None)
    if isinstance(seen, TheoraxError):  # perhaps in a letter that this claim does not hold
        seen = letters(claim.observed)
    if isinstance(seen, TheoraxError):
        raise seen
    return [tuple(instances.on(side, cell, size, seen, domain) for side in (claim.left, claim.right))]


def _largest(entries: np.ndarray) -> float:
    """The largest entry; infinite where one is no number, for nothing may pass by being undefined."""
    return math.inf if np.isnan(entries).any() else float(entries.max(initial=0.0))


def _over(size: float, scale: float) -> float:
    return size / scale if scale > 0 else math.inf if size > 0 else 0.0
