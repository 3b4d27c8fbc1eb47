r"""Zeros of gradients: a box that holds exactly one critical point, and the sign of the curvature on all of it.

For a system $F$ with Jacobian $J(X)$ over a box $X$ of midpoint $c$ and any matrix $C$ (an approximate inverse)
$$K(X) = c - C F(c) + (I - C J(X)) (X - c);$$
if $K(X)$ lies in the interior of $X$, the box holds one zero of $F$, and no second one.

**Source:** Krawczyk 1969; Rump 2010.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import flint
import numpy as np
from flint import arb, fmpq

from theorax.exact.enclosures import Enclosure, fraction, rational
from theorax.numerics.arithmetics.failures import UndecidedComparison

__all__ = ["PRECISION", "Critical", "Zero", "critical_point", "curvature", "zero"]

PRECISION = 128
WIDEST, NARROWEST = 0, 40
"""The radii tried are 2^-k for k from ``WIDEST`` to ``NARROWEST``, in units of the largest coordinate or one."""
NEWTON = 6
PLACED = Fraction(1, 2**26)
"""A point given as doubles, or as the result of a descent in doubles, is known to half of their 52 digits."""


@final
@dataclass(frozen=True)
class Zero:
    """A box around an exact point that holds exactly one zero, and the Jacobian over that box."""

    centre: tuple[Fraction, ...]
    radius: Fraction
    jacobian: Any
    """An array of balls."""
    tried: int

    def holds(self, point: Sequence[Fraction]) -> bool:
        """True if the point lies in the box."""
        return all(abs(x - c) <= self.radius for x, c in zip(point, self.centre, strict=True))


@final
@dataclass(frozen=True)
class Critical:
    """A critical point: the widest box that holds it alone, and one small enough to know its curvature.

    ``place``: a box that says where it lies to `PLACED` of the largest coordinate or one; None where none is found.
    ``shape``: "minimum" (the Hessian is positive definite on all of ``near``), "no minimum" (a direction of negative
    curvature everywhere on it) or "unknown". ``curved``: the lower bound of the Gershgorin discs there.
    """

    alone: Zero
    near: Zero
    shape: str
    curved: float
    place: Zero | None


def zero(
    system: Enclosure,
    near: Sequence[Fraction],
    precision: int = PRECISION,
    wanted: Callable[[Any], bool] = lambda jacobian: True,
    fits: Callable[[Sequence[Fraction], Fraction], bool] = lambda centre, radius: True,
) -> Zero | None:
    """The widest box, of those tried, that holds exactly one zero of the system, around the point Newton finds.

    ``fits``: which centres and radii are of use; ``wanted``: what else the Jacobian over the box must satisfy. None
    where the box shrinks to rounding: the Jacobian is singular there, or the program jumps.
    """
    centre = _newton(system, [rational(Fraction(x)) for x in near], precision)
    scale = _scale([fraction(x) for x in centre])
    for tried, k in enumerate(range(WIDEST, NARROWEST + 1), start=1):
        radius = scale / 2**k
        if not fits([fraction(x) for x in centre], radius):
            continue
        try:
            found = _inside(system, centre, rational(radius), precision)
        except UndecidedComparison:
            continue
        if found is not None and wanted(found):
            return Zero(tuple(map(fraction, centre)), radius, found, tried)
    return None


def critical_point(
    system: Enclosure,
    near: Sequence[Fraction],
    hessian: Callable[[Any], Any] = lambda jacobian: jacobian,
    precision: int = PRECISION,
    fits: Callable[[Sequence[Fraction], Fraction], bool] = lambda centre, radius: True,
) -> Critical | None:
    """The critical point near this one, if there is one; ``hessian`` makes the matrix of curvatures of the Jacobian.

    ``fits``: the boxes on which the curvature is of use.
    """
    alone = zero(system, near, precision)
    if alone is None:
        return None
    small = zero(
        system, alone.centre, precision, lambda jacobian: _shape(hessian(jacobian), precision)[0] != "unknown", fits
    )
    shape, curved = _shape(hessian((small or alone).jacobian), precision)
    # The boxes above may be wide: a quadratic function has one critical point, and one curvature, however far away it lies.
    place = zero(system, alone.centre, precision, fits=lambda centre, radius: radius <= PLACED * _scale(centre))
    return Critical(alone, small or alone, shape, curved, place)


def _scale(centre: Sequence[Fraction]) -> Fraction:
    """The largest coordinate or one."""
    return max([Fraction(1), *(abs(x) for x in centre)])


def _inside(system: Enclosure, centre: Sequence[fmpq], radius: fmpq, precision: int) -> Any:
    """The Jacobian over the box, if the image of the box lies in its interior."""
    sides = [(c - radius, c + radius) for c in centre]
    whole = system.all_over(sides, precision)
    with flint.ctx.workprec(precision):
        jacobian = _matrix(whole)
        if jacobian is None:
            return None
        inverse = _approximate_inverse(jacobian)
        if inverse is None:
            return None
        values = np.empty(len(centre), dtype=object)
        values[:] = system.all_at(centre, precision)
        # The radius as Arb holds it, rounded down for the target and up for the box: both err on the safe side.
        around = np.empty(len(centre), dtype=object)
        around[:] = [arb(0, arb(radius).upper())] * len(centre)
        step = _balls(np.eye(len(centre))) - inverse @ jacobian
        image = -(inverse @ values) + step @ around
        lower = arb(radius).lower()
        return jacobian if all(abs(x) < lower for x in image) else None


def _matrix(slopes: Sequence[Any]) -> Any:
    rows = [row.slopes or (arb(0),) * len(slopes) for row in slopes]
    found = np.empty((len(rows), len(rows)), dtype=object)
    found[:] = rows
    return found if all(entry.is_finite() for entry in found.ravel()) else None


def _approximate_inverse(matrix: Any) -> Any:
    middle = np.vectorize(lambda x: float(x.mid()), otypes=[float])(matrix)
    try:
        found = np.linalg.inv(middle)
    except np.linalg.LinAlgError:
        return None
    return _balls(found) if np.isfinite(found).all() else None


def _balls(numbers: Any) -> Any:
    found = np.empty(np.shape(numbers), dtype=object)
    found.reshape(-1)[:] = [arb(float(x)) for x in np.ravel(numbers)]
    return found


def _newton(system: Enclosure, point: list[fmpq], precision: int) -> list[fmpq]:
    """A point nearer to the zero, rounded to doubles; the point itself where Newton's steps lead nowhere."""
    here = point
    for _ in range(NEWTON):
        try:
            values = system.all_at(here, precision)
            slopes = _matrix(system.all_over([(x, x) for x in here], precision))
        except UndecidedComparison:
            return point
        inverse = None if slopes is None else _approximate_inverse(slopes)
        if inverse is None or not all(value.is_finite() for value in values):
            return point
        column = np.empty(len(values), dtype=object)
        column[:] = values
        step = [float((-x).mid()) for x in inverse @ column]
        if not np.isfinite(step).all():
            return point
        here = [x + rational(Fraction(s)) for x, s in zip(here, step, strict=True)]
        here = [rational(Fraction(_rounded(x))) for x in here]
    return here


def _rounded(number: fmpq) -> float:
    return float(fraction(number))


def curvature(matrix: Any, precision: int = PRECISION) -> list[tuple[arb, arb]]:
    r"""For every column of a frame $V$ the ball of $v^T H v$ and the lower end of its Gershgorin disc in $V^T H V$.

    With approximate eigenvectors $V$ the turned matrix is nearly diagonal. If every disc is positive the matrix is
    positive definite, for congruence keeps the signs of eigenvalues whatever the error of $V$; if one of the balls is
    negative, it is not.
    """
    with flint.ctx.workprec(precision):
        middle = np.vectorize(lambda x: float(x.mid()), otypes=[float])(matrix)
        _, frame = np.linalg.eigh((middle + middle.T) / 2)
        vectors = _balls(frame)
        turned = vectors.T @ matrix @ vectors
        found = []
        for place in range(len(turned)):
            others = [turned[place, other].abs_upper() for other in range(len(turned)) if other != place]
            found.append((turned[place, place], (turned[place, place] - sum(others, arb(0))).lower()))
        return found


def _shape(matrix: Any, precision: int) -> tuple[str, float]:
    directions = curvature(matrix, precision)
    lowest = min(float(disc) for _, disc in directions)
    if all(disc > 0 for _, disc in directions):
        return "minimum", lowest
    return ("no minimum" if any(along < 0 for along, _ in directions) else "unknown"), lowest
