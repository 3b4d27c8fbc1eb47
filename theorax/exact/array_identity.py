r"""Identities of bare arrays: agreement within the rounding that their magnitudes declare.

Of two results of floating-point programs nothing is known but the model $\mathrm{fl}(x \circ y) = (x \circ y)(1 +
\delta)$, $|\delta| \le u$. With at most $K$ roundings between an input and the result, two exact results that are equal
are computed to within $\gamma_K m$, $\gamma_K = Ku/(1 - Ku)$, where $m$ bounds the sum of the moduli of all terms on
both sides.

**Source:** Higham 2002, lemma 3.1.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from theorax.decide.case_results import NothingEstimated, OwnCell, PlannedCase
from theorax.decide.conclusions import conclude
from theorax.decide.equivalence import outcome
from theorax.decide.exact_kinds import IDENTITY
from theorax.decide.findings import Found
from theorax.decide.plans import Tested
from theorax.decide.status import DEFAULT_LEVELS, Decision, Reason, Side, Status
from theorax.decide.verdict import Assumption, Point, Standing, Statement, Verdict
from theorax.decide.wording import TESTED, finite
from theorax.errors import ObservationError, UsageError
from theorax.names import did_you_mean

__all__ = ["arrays"]

Vector = NDArray[np.float64]

_BITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
_COARSEST = 2.0**-22
"""A float32 product whose unit roundoff is larger was computed in a narrower format."""

_UNDERFLOW = {"float64": 2.0**-1022, "float32": 2.0**-126, "float16": 2.0**-14, "bfloat16": 2.0**-126}


def arrays(
    left: Any,
    right: Any,
    magnitude: Any,
    length: int,
    dtype: str | None = None,
    margin: float | None = None,
    name: str = "arrays",
) -> Verdict:
    r"""Decide "left = right, entry by entry, before rounding" from two computed arrays.

    | at an entry, with $r = \gamma_K m$ the rounding | status |
    |---|---|
    | the difference exceeds $r$ | refuted, on the float model |
    | the difference and $r$ together lie below margin times the left side, at every entry | supported |
    | otherwise | inconclusive, consistent with rounding |

    ``magnitude``: for every entry (or one for all) a bound of the sum of the absolute values of all terms that both
    sides add up. ``length``: the number of roundings on the longest path from an input to a result, sums, products and
    final operations counted. ``dtype``: in what the arrays were computed, the coarser of their own if nothing is said.
    ``left`` and ``right`` may be mappings from dtypes to arrays: the finest dtype that both hold decides, for where
    rounding is as large as the numbers an agreement says nothing.

    **Errors:** conditional on the float model; no agreement within rounding is ever support.

    **Raises:** `ObservationError` where shapes differ, an entry is not finite, or a magnitude is below what it bounds;
    `UsageError` for a length, a margin or a dtype that is none.
    """
    left, right, dtype = _finest(left, right, dtype, name)
    if not (isinstance(length, int) and length >= 1):
        raise UsageError(
            f"arrays({name!r}, length={length!r}) counts no roundings. It is the number of roundings on the longest path "
            "from an input to a result. Write a positive integer: for a product of vectors its length, for example."
        )
    if margin is not None and not 0 < margin < math.inf:
        raise UsageError(
            f"arrays({name!r}, margin={margin!r}) can reject nothing. A margin is the smallest relative difference that "
            "would matter. Write a positive number, or leave it out."
        )
    one, other, size = _checked(left, right, magnitude, dtype, name)
    unit = _unit_roundoff(dtype)
    digest = hashlib.sha256(repr((one.shape, dtype, length, margin, name)).encode()).hexdigest()[:16]
    roundings = length * unit
    reach = np.full(one.shape, np.inf)
    if roundings < 1:
        # The last two terms cover underflow, and the rounding of this very computation in float64.
        reach = roundings / (1 - roundings) * size * (1 + 2.0**-40) + length * _UNDERFLOW[dtype]
    gap = np.abs(one - other)
    reach = reach + gap * 2.0**-50
    allowed = np.full(one.shape, -np.inf) if margin is None else margin * np.abs(one) * (1 - 2.0**-50)
    if unit > _COARSEST:
        coarse = (
            f"Products in {dtype} have a unit roundoff of {unit:.2g} here, above 2^-22: too coarse for an identity. "
            'Compute in float64, or in float32 with jax.default_matmul_precision("highest").'
        )
        return _verdict(name, None, coarse, one, gap, reach, dtype, length, margin, digest)
    decision = _decision(gap, reach, allowed, margin)
    return _verdict(name, decision, "", one, gap, reach, dtype, length, margin, digest)


def _decision(gap: Vector, reach: Vector, allowed: Vector, margin: float | None) -> Decision:
    """The status of the entry that decides: the clearest violation, else the one with the least room."""
    over = np.where(gap > reach, gap / np.maximum(reach, np.finfo(float).tiny), -np.inf)
    room = allowed - gap - reach
    at = int(np.argmax(over)) if np.isfinite(over).any() else int(np.argmin(room))
    off, bound, limit = (float(part.reshape(-1)[at]) for part in (gap, reach, allowed))
    return outcome(
        supporting=limit - off,
        refuting=off,
        p_support=float(not limit - off > bound),
        p_refute=float(not off > bound),
        radius=0.0,
        estimate=off,
        se=0.0,
        df=math.inf,
        bias=bound,
        lower=max(0.0, off - bound),
        upper=off + bound,
        claimed=0.0,
        margin=max(limit, 0.0),
        side=Side.EQUAL,
        levels=DEFAULT_LEVELS,
    )


def _verdict(
    name: str,
    decision: Decision | None,
    coarse: str,
    left: Vector,
    gap: Vector,
    reach: Vector,
    dtype: str,
    length: int,
    margin: float | None,
    digest: str,
) -> Verdict:
    status = Status.INCONCLUSIVE if decision is None else decision.status
    reason = Reason.NUMERIC_FLOOR if status is Status.INCONCLUSIVE else None
    with np.errstate(divide="ignore", invalid="ignore"):
        resolution = float(np.nanmax(np.where(left == 0, np.inf, reach / np.abs(left))))
    account = f"a rounding account of {_largest(reach):.2g}, {resolution:.2g} of the left side where that is smallest"
    if decision is None:
        sentence = coarse
    elif status is Status.REFUTED:
        inside = " It lies within the margin all the same." if decision.equivalent_within_margin else ""
        sentence = (
            f"The sides differ by {decision.estimate:.2g} where {length} roundings in {dtype} explain {decision.bias:.2g} "
            f"at most.{inside}"
        )
    elif status is Status.SUPPORTED:
        sentence = f"Difference and rounding stay below {margin:g} of the left side at every entry, with {account}."
    else:
        remedy = "a finer dtype would say more" if dtype != "float64" else "a smaller problem, or balls, would say more"
        against = "support needs a margin" if margin is None else f"a margin of {margin:g} is finer"
        sentence = f"Consistent with rounding, which is no support: {account}; {against}; {remedy}."
    if decision is None:
        decision = Decision.undecided(Reason.NUMERIC_FLOOR, 0.0, math.nan, Side.EQUAL, DEFAULT_LEVELS)
        decision = replace(decision, estimate=_largest(gap))
    # Nothing is left to chance here, and no class of corrections could be larger.
    none: dict[str, Any] = {"se": math.nan, "p_refute": math.nan, "p_support": math.nan}
    none |= {"breakdown_support": math.nan, "breakdown_refute": math.nan}
    decision = replace(decision, reason=reason, **none)
    plan = NothingEstimated(
        margin=margin or 0.0, name=name, rounding=finite(_largest(reach)), resolution=2 * _largest(reach)
    )
    case = PlannedCase(cell=OwnCell(name, {"dtype": dtype}), plan=plan, claimed=0.0, margin=margin)
    points = (Point(float(left.size), _largest(gap), None, left.size),)
    unseen = ("differences below the rounding account",)
    stated = Statement(
        id=name,
        kind=IDENTITY.kind,
        words=IDENTITY,
        statement="left = right, entry by entry",
        margin_given=None if margin is None else f"{margin:g}",
        design_hash=digest,
    )
    model = f"every operation in {dtype} errs by at most a unit roundoff, at most {length} of them on any path"
    return conclude(
        stated,
        [case.decided(Tested(decision, points, unseen, sentence))],
        [Found(TESTED[status], sentence, reason)],
        decision=decision,
        scope=f"the arrays given, of shape {' x '.join(map(str, left.shape)) or '1'}",
        ledger=(
            Assumption("float model", model, Standing.DECLARED),
            Assumption(
                "float model", "the magnitudes bound the sums of moduli of all terms on both sides", Standing.DECLARED
            ),
        ),
        draws=left.size,
    )


def _finest(left: Any, right: Any, dtype: str | None, name: str) -> tuple[Any, Any, str]:
    """The two arrays that decide, and what they were computed in."""
    if isinstance(left, Mapping) != isinstance(right, Mapping):
        raise UsageError(
            f"arrays({name!r}): one side is a mapping from dtypes to arrays and the other is not. Sides are compared in "
            "one dtype. Write mappings on both sides, or arrays on both."
        )
    if isinstance(left, Mapping):
        common = [key for key in _BITS if key in left and key in right]
        if not common:
            raise UsageError(
                f"arrays({name!r}): the sides have no dtype in common ({', '.join(left)} against {', '.join(right)}). "
                f"Write some of {', '.join(_BITS)} on both sides."
            )
        return left[common[0]], right[common[0]], common[0]
    if dtype is None:
        own = [str(jnp.asarray(side).dtype) if _is_jax(side) else str(np.asarray(side).dtype) for side in (left, right)]
        floats = [each for each in own if each in _BITS]
        dtype = min(floats, key=lambda each: _BITS[each]) if floats else "float64"
    if dtype not in _BITS:
        raise UsageError(
            f"arrays({name!r}, dtype={dtype!r}) is no dtype whose rounding is known{did_you_mean(dtype, _BITS)} "
            f"Write one of {', '.join(_BITS)}."
        )
    return left, right, dtype


def _is_jax(side: Any) -> bool:
    return type(side).__module__.startswith("jax")


def _checked(left: Any, right: Any, magnitude: Any, dtype: str, name: str) -> tuple[Vector, Vector, Vector]:
    try:
        one, other, size = (np.asarray(part, dtype=np.float64) for part in (left, right, magnitude))
    except (TypeError, ValueError):
        raise ObservationError(
            f"arrays({name!r}): a side or the magnitude is no array of real numbers. Nothing can be compared. "
            "Write rectangular arrays of floats."
        ) from None
    if one.shape != other.shape or not one.size:
        raise ObservationError(
            f"arrays({name!r}): the left side has shape {one.shape}, the right side {other.shape}. Sides are compared "
            "entry by entry, and at least one entry. Write arrays of one shape."
        )
    try:
        size = np.broadcast_to(size, one.shape)
    except ValueError:
        raise ObservationError(
            f"arrays({name!r}): magnitudes of shape {size.shape} do not belong to entries of shape {one.shape}. "
            "Write one magnitude for each entry, or one for all."
        ) from None
    for what, part in (("left side", one), ("right side", other), ("magnitude", size)):
        if not np.all(np.isfinite(part)):
            where = tuple(int(place) for place in np.argwhere(~np.isfinite(part))[0])
            raise ObservationError(
                f"arrays({name!r}): the {what} is not finite at entry {where}. No rounding explains it. Mend the program."
            )
    # What two sides add up to is at most the sum of the moduli of their terms, rounding aside.
    small = size * (1 + 2.0 ** (2 - _BITS[dtype] // 2)) < np.maximum(np.abs(one), np.abs(other))
    if np.any(small):
        where = tuple(int(place) for place in np.argwhere(small)[0])
        raise ObservationError(
            f"arrays({name!r}): the magnitude at entry {where} is smaller than the number it bounds. It is the sum of the "
            "absolute values of all terms on both sides, without cancellation. Write that sum."
        )
    return one, other, size


@cache
def _unit_roundoff(dtype: str) -> float:
    """Format of products as they run: an accelerator may compute them in a narrower format than it stores."""
    nominal = 2.0 ** -_BITS[dtype]
    if dtype != "float32":
        return nominal
    from theorax.numerics.platform import matmul_unit_roundoff

    return max(nominal, matmul_unit_roundoff())


def _largest(entries: Vector) -> float:
    return float(entries.max(initial=0.0))
