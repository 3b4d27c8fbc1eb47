"""The program's own floats: an identity or a bound that holds in exact arithmetic, held against what JAX returned."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sympy import Expr

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
from theorax.verifiers.cases.returned_floats import returned_floats
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.guards.guard import DecidedClaim
from theorax.verifiers.kinds.lowering import CellResult, FloatTest

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
    off: float
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
    off: _Off | None = None
    looked = 0
    for case in cases:
        observed = claim.draws.on(case.cell.line)
        dtype = claim.theorem.experiments[case.cell.line.experiment].dtype
        for size, draw in _places(case, observed):
            looked += 1
            for test in tests:
                off = off or _off(claim, test, case.cell, observed, size, draw, dtype)
        if off is not None:
            break
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


def _places(case: CellResult, observed: Observed) -> Iterator[tuple[int, int]]:
    for size in case.cell.line.sizes:
        yield from ((size, draw) for draw in range(len(observed.instances[size])))


def _told(off: _Off) -> str:
    left, right = (number(part, 6) for part in (off.left, off.right))
    exact = "exact arithmetic cannot follow it"
    if off.exact is not None:
        exact = f"exact arithmetic gives {number(off.exact[0], 6)} and {number(off.exact[1], 6)}"
    return (
        f"The program returned {left} and {right} for the two sides, {exact} ({off.where}): its floats are not the numbers "
        f"of its function, by more than {number(off.margin, 3)}."
    )


def _off(
    claim: DecidedClaim, test: FloatTest, cell: Cell, observed: Observed, size: int, draw: int, dtype: str
) -> _Off | None:
    """The worst entry of one instance, if its floats break the test."""
    place = ("floats kept", test, tuple(cell.chosen.items()), size, draw)
    return observed.about_line.once(place, lambda: _worst(claim, test, cell, observed, size, draw, dtype))


def _worst(
    claim: DecidedClaim, test: FloatTest, cell: Cell, observed: Observed, size: int, draw: int, dtype: str
) -> _Off | None:
    returned = returned_floats(observed, size, draw, dtype)
    left, right = (_floats(side, cell, size, returned) for side in (test.left, test.right))
    left, right = np.broadcast_arrays(left, right)
    if not left.size:
        return None
    with np.errstate(all="ignore"):
        gap = np.where(left == right, 0.0, left - right)  # equal infinities do not differ
    gap = np.where(np.isnan(gap), math.inf, gap if test.bound else np.abs(gap))
    entries = np.abs(np.concatenate([left.reshape(-1), right.reshape(-1)]))
    scale = float(np.max(entries[np.isfinite(entries)], initial=0.0))
    allowed = np.full(left.shape, test.margin * (scale if test.relative else 1.0))
    exceeding = gap > allowed
    if test.bound and exceeding.any() and np.isfinite(gap[exceeding]).all():
        # A bound may hold with equality: then its floats may be off by their rounding, while that is rounding.
        half = math.sqrt(float(np.finfo(dtype).eps)) * scale
        account = _evaluated(claim, test, cell, observed, size, draw, RunningError(dtype))
        reach = half if account is None else np.minimum((account[0].reach + account[1].reach).reshape(left.shape), half)
        allowed = allowed + reach
        exceeding = gap > allowed
    if not exceeding.any():
        return None
    at = int(np.argmax(np.where(exceeding, gap - allowed, -math.inf)))
    exact = _evaluated(claim, test, cell, observed, size, draw, BALLS)
    balls = None if exact is None else [side.reshape(-1)[at] for side in np.broadcast_arrays(*exact)]
    if balls is not None and not any(ball.is_finite() for ball in balls) and not np.isfinite(gap.reshape(-1)[at]):
        return None  # neither side is a number there, for the function as for the program
    return _Off(
        f"instance {draw} of {observed.line.name} at {observed.line.swept} = {size}",
        float(left.reshape(-1)[at]),
        float(right.reshape(-1)[at]),
        None if balls is None else (float(balls[0].mid()), float(balls[1].mid())),
        float(gap.reshape(-1)[at]),
        float(allowed.reshape(-1)[at]),
    )


def _floats(side: Expr, cell: Cell, size: int, returned: Mapping[str, np.ndarray]) -> np.ndarray:
    """A side of the claim on the letters returned, computed in doubles."""
    doubles = RunningError("float64")
    seen = {name: doubles.lift(value) for name, value in returned.items()}
    with doubles.working():
        return np.asarray(instances.on(side, cell, size, seen, doubles).value)


def _evaluated(
    claim: DecidedClaim,
    test: FloatTest,
    cell: Cell,
    observed: Observed,
    size: int,
    draw: int,
    domain: Domain[Any],
) -> list[Any] | None:
    """Both sides of one instance in this arithmetic; None where it cannot follow the program."""
    wanted = frozenset(claim.planned.claim.observed)
    try:
        value = instances.at_draw(wanted, cell, observed, size, draw, domain)
        return [value(test.left), value(test.right)]
    except TheoraxError:
        return None
