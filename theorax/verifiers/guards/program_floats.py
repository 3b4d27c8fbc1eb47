"""The program's own floats: an identity or a bound that holds in exact arithmetic, held against what JAX returned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from theorax.decide.findings import Finding, Found
from theorax.decide.guard_findings import NOTHING_LOOKED_AT, Looked
from theorax.decide.status import Reason
from theorax.decide.verdict import Assumption, Standing
from theorax.errors import TheoraxError
from theorax.exact.pointwise_bounds import BALLS
from theorax.names import many
from theorax.numerics.arithmetics import Domain, RunningError
from theorax.text.numbers import number
from theorax.verifiers.cases import instances
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.returned_floats import FloatTest, Gaps, gaps
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.guards.guard import DecidedClaim

__all__ = ["program_floats"]

_KIND = "floats returned"


@final
@dataclass(frozen=True)
class _Off:
    """One entry of one instance at which the floats break what exact arithmetic keeps, and by how much."""

    where: str
    left: float
    right: float
    exact: tuple[float, float] | None  # both sides there; None where balls cannot follow
    margin: float


def program_floats(claim: DecidedClaim) -> Looked:
    """Hold a green identity or bound against the floats returned on every instance.

    NaN, an overflow or a cancellation is INCONCLUSIVE with both numbers, unless the experiment says that its claims are
    about the function of real numbers.
    """
    tests = claim.judge.kept_by_floats(claim.planned.claim)
    cases = [case for case in claim.judged if claim.draws.on(case.cell.line).instances]
    if not tests or not cases or not all(case.decision.status.holds for case in claim.judged):
        return NOTHING_LOOKED_AT
    found = (
        _off(claim, test, case.cell, claim.draws.on(case.cell.line), size)
        for case in cases
        for size in case.cell.line.sizes
        for test in tests
    )
    off = next(filter(None, found), None)
    looked = sum(case.cell.line.draws * len(case.cell.line.sizes) for case in cases)
    because = claim.theorem.experiments[cases[0].cell.line.experiment].real_numbers_because
    if off is None:
        text = f"the floats that the program returned keep the claim in {many(looked, 'instance')}"
        return Looked((), (Assumption(_KIND, text, Standing.TESTED),))
    if because:
        text = f"about the function of real numbers, not the program ({because.rstrip('.')}). {_told(off)}"
        return Looked((), (Assumption(_KIND, text, Standing.DECLARED),))
    advice = (
        "Compute it stably, restrict what is built, or say real_numbers_because=... in the experiment if the claim is "
        "about the function and not the program."
    )
    return Looked((Found(Finding.FLOATS_OFF, f"{_told(off)} {advice}", Reason.NUMERIC_FLOOR),))


def _told(off: _Off) -> str:
    left, right = (number(part, 6) for part in (off.left, off.right))
    exact = "exact arithmetic cannot follow it"
    if off.exact is not None:
        exact = f"exact arithmetic gives {number(off.exact[0], 6)} and {number(off.exact[1], 6)}"
    return (
        f"The program returned {left} and {right} for the two sides, {exact} ({off.where}): its floats are not the numbers "
        f"of its function, by more than {number(off.margin, 3)}."
    )


def _off(claim: DecidedClaim, test: FloatTest, cell: Cell, observed: Observed, size: int) -> _Off | None:
    """The first instance of a size whose floats break the test, at its worst entry."""
    seen = gaps(test, cell, observed, size)
    for draw in np.flatnonzero(seen.worst > 0).tolist():
        if (off := _at_instance(claim, test, cell, observed, size, draw, seen)) is not None:
            return off
    return None


def _at_instance(
    claim: DecidedClaim, test: FloatTest, cell: Cell, observed: Observed, size: int, draw: int, seen: Gaps
) -> _Off | None:
    gap, allowed = seen.gap[draw].reshape(-1), seen.allowed[draw].reshape(-1)
    if test.bound and np.isfinite(gap[gap > allowed]).all():
        # A bound may hold with equality: then its floats may be off by their account, while that leaves them a digit.
        most = seen.scale[draw] / 10
        account = _evaluated(claim, test, cell, observed, size, draw, RunningError(observed.dtype))
        reach = np.broadcast_to(most, gap.shape)
        if account is not None:
            reach = np.minimum(
                np.broadcast_to(account[0].reach + account[1].reach, seen.gap[draw].shape).reshape(-1), most
            )
        allowed = allowed + reach
    exceeding = gap > allowed
    if not exceeding.any():
        return None
    at = int(np.argmax(np.where(exceeding, gap - allowed, -math.inf)))
    exact = _evaluated(claim, test, cell, observed, size, draw, BALLS)
    balls = None if exact is None else [side.reshape(-1)[at] for side in np.broadcast_arrays(*exact)]
    if balls is not None and not any(ball.is_finite() for ball in balls) and not np.isfinite(gap[at]):
        return None  # neither side is a number there, for the function as for the program
    left, right = (float(side[draw].reshape(-1)[at]) for side in (seen.left, seen.right))
    return _Off(
        f"instance {draw} of {observed.line.name} at {observed.line.swept} = {size}",
        left,
        right,
        None if balls is None else (float(balls[0].mid()), float(balls[1].mid())),
        float(allowed[at]),
    )


def _evaluated(
    claim: DecidedClaim, test: FloatTest, cell: Cell, observed: Observed, size: int, draw: int, domain: Domain[Any]
) -> list[Any] | None:
    """Both sides of one instance in this arithmetic; None where it cannot follow the program."""
    try:
        value = instances.at_draw(frozenset(claim.planned.claim.observed), cell, observed, size, draw, domain)
        return [value(test.left), value(test.right)]
    except TheoraxError:
        return None
