r"""Decide if two programs compute the same function: in finite fields, in balls at exact points, in floats.

| rung | says equal | says different |
|---|---|---|
| fields, rational programs | certified, with a bound of the probability that this is wrong | refuted, rigorously |
| fields, other functions met | supported: equal whatever these functions are | nothing: tanh(-x) = -tanh x is not seen |
| balls at exact points | supported, where all are narrower than 2^-150 | refuted, rigorously |
| floats with running error | supported, against a declared margin | nothing |

A false identity of rational programs passes one field with probability at most
$R\,(d/2^{61} + h/(61 \cdot 2^{55}))$: $d$ bounds the degree and $h$ the bits of the coefficients of the numerator of
the difference; a polynomial that is not zero modulo $p \ge 2^{61}$ has at most the share $d/p$ of its points as zeros,
at most $h/61$ such primes divide all its coefficients, and there are more than $2^{55}$ to draw from; up to $R$ fields
are drawn until no divisor vanishes. Fields are independent, so their bounds multiply.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from flint import arb

from theorax.errors import TheoraxError
from theorax.numerics.arithmetics import (
    Ball,
    Degree,
    Domain,
    FiniteField,
    RunningError,
    UndecidedComparison,
    UnsupportedPrimitive,
    ZeroDivisor,
)
from theorax.numerics.arithmetics.degree import height

PRECISION = 256
"""Bits of a ball."""

NARROW = arb(2) ** -150
"""A ball around zero wider than this says nothing."""

ENOUGH = 2.0**-40
"""The largest probability of error that may be called a certificate."""

FEWEST_FIELDS, MOST_FIELDS = 2, 8
_REDRAWS = 4

Sides = Sequence[tuple[Any, Any]]
"""The left and the right side of every equation, as carriers of one arithmetic."""

Carry = Callable[[Any], Any]
Generic = Callable[[Domain[Any], Carry], Sides]
"""Both sides in one arithmetic, the inputs that are to be varied replaced by carriers."""

AtPoint = Callable[[Domain[Any]], Sides]
"""Both sides in one arithmetic at one exact point."""

OBSTACLES = (UnsupportedPrimitive, UndecidedComparison, ZeroDivisor)


@dataclass(frozen=True)
class RationalSize:
    """Size of the difference of two sides as a rational function: degree and bits of the coefficients."""

    degree: float
    bits: float
    vanishes: bool
    """Both sides are zero by their form alone, whatever the inputs: no wrong factor would be noticed."""

    @property
    def miss(self) -> float:
        """A bound of the probability that one field, redrawn where a divisor vanishes, lets a false identity pass."""
        return min(1.0, _REDRAWS * (self.degree * 2.0**-61 + self.bits / 61 * 2.0**-55) * (1 + 2.0**-40))


@dataclass(frozen=True)
class Fields:
    """Result of finite fields: equal or not, or nothing because of the obstacle; the bound if all was rational."""

    equal: bool | None
    trials: int = 0
    size: RationalSize | None = None
    through: frozenset[str] = frozenset()
    obstacle: TheoraxError | None = None
    witness: str = ""

    @property
    def bound(self) -> float:
        """The probability that an identity found equal is false; one where there is no bound."""
        return 1.0 if self.size is None or self.equal is not True else self.size.miss**self.trials

    @property
    def certified(self) -> bool:
        """True if the sides are equal as rational functions that do not vanish, up to a probability of 2^-40."""
        return self.equal is True and self.size is not None and not self.size.vanishes and self.bound <= ENOUGH

    @property
    def probability(self) -> str:
        """The bound as a power of two, rounded up."""
        return f"2^{math.ceil(math.log2(self.bound))}" if self.bound > 0 else "0"

    @property
    def refuted(self) -> bool:
        """True if the sides differ as rational functions."""
        return self.equal is False and self.size is not None


@dataclass(frozen=True)
class Balls:
    """Result of balls at exact points: number of points, widest ball, first difference that excludes zero."""

    points: int
    narrow: bool = False
    refuted: str = ""
    difference: float = 0.0
    """The size of the difference where it excludes zero, otherwise of the largest ball around zero."""
    obstacle: TheoraxError | None = None
    elsewhere: int = 0
    """Points at which a side is no real number."""


@dataclass(frozen=True)
class Floats:
    """Result of floats at one point, over the scale: the largest difference with its account, and the account."""

    worst: float = 0.0
    account: float = 0.0
    consistent: bool = False
    """Rounding explains the difference at every entry."""
    within: bool = False
    """At every entry the difference and its account stay below the margin."""
    obstacle: TheoraxError | None = None


def in_fields(sides: Generic, seed: str) -> Fields:
    """Compare the sides at random points of random finite fields, as many as the bound asks for.

    Field and point are a function of the seed and of the number of the trial, so that sides may keep what they did.

    **Errors:** as the table of this module says; the generator of pseudo-random numbers is taken for random.
    """
    size, obstacle = _size(sides)
    trials = FEWEST_FIELDS
    if size is not None and 0 < size.miss < 1:
        trials = min(max(trials, math.ceil(math.log(ENOUGH) / math.log(size.miss))), MOST_FIELDS)
    through: frozenset[str] = frozenset()
    for trial in range(trials):
        for attempt in range(_REDRAWS):
            draws = random.Random(f"{seed} {trial} {attempt}")
            field = FiniteField.drawn(draws, exponentials=size is None)
            try:
                pairs = sides(field, partial(_generic, field, draws))
                break
            except ZeroDivisor as error:
                obstacle = error
                if attempt == _REDRAWS - 1:
                    return Fields(None, trial, size, through, error)
            except (UnsupportedPrimitive, UndecidedComparison) as error:
                return Fields(None, trial, size, through, error)
        for place, (left, right) in enumerate(pairs):
            through |= left.through | right.through
            if not (np.all(left.finite) and np.all(right.finite)):
                missing = UnsupportedPrimitive("constant", field.name, "a side is infinite or no number")
                return Fields(None, trial, size, through, missing)
            with field.working():
                gap = field.binary("sub", left, right)
            if np.any(gap.value != 0):
                where = int(np.flatnonzero(gap.value.reshape(-1) != 0)[0])
                output = f"of output {place} " if len(pairs) > 1 else ""
                entry = f"entry {where} {output}" if gap.value.size > 1 else output
                witness = f"{entry}differs at a random point modulo the prime {field.prime}"
                return Fields(False, trial + 1, size, through, None, witness)
    return Fields(True, trials, size, through, None if size is not None else obstacle)


def _generic(field: FiniteField, draws: random.Random, leaf: Any) -> Any:
    return field.random(np.shape(leaf), draws)


def _size(sides: Generic) -> tuple[RationalSize | None, TheoraxError | None]:
    degrees = Degree()
    try:
        pairs = sides(degrees, lambda leaf: degrees.variables(np.shape(leaf)))
        with degrees.working():
            found = [height(degrees.binary("sub", left, right)) for left, right in pairs]
            # A side that is zero by its form has no degree at all.
            vanishes = not any(side.nonzero.any() for pair in pairs for side in pair)
            for pair in pairs:
                _ = [height(side) for side in pair]
    except (UnsupportedPrimitive, UndecidedComparison) as error:
        return None, error
    return RationalSize(max(d for d, _ in found), max(h for _, h in found), vanishes), None


def in_balls(points: Sequence[AtPoint], precision: int = PRECISION, loose: bool = False) -> Balls:
    """Compare the sides at exact points; one at which a side is no finite real number is passed over, and counted.

    ``loose``: float constants stand for every number within one unit in their last place.

    **Errors:** none: a ball that excludes zero refutes, whatever its size.
    """
    balls = Ball(precision, loose=loose)
    seen, elsewhere, narrow, widest = 0, 0, True, 0.0
    for sides in points:
        try:
            pairs = sides(balls)
            with balls.working():
                gaps = [balls.binary("sub", left, right).reshape(-1).tolist() for left, right in pairs]
        except OBSTACLES as error:
            return Balls(seen, obstacle=error, elsewhere=elsewhere)
        every = [gap for column in gaps for gap in column]
        if not all(gap.is_finite() for gap in every):
            elsewhere += 1
            continue
        seen += 1
        outside = [gap for gap in every if not gap.contains(0)]
        if outside:
            far = max(abs(float(gap.mid())) for gap in outside)
            return Balls(seen, False, f"the sides differ by {far:.2g}: a ball of their difference excludes zero", far)
        narrow = narrow and all(gap.rad() < NARROW for gap in every)
        widest = max([widest, *(float(gap.rad()) for gap in every)])
    return Balls(seen, narrow and seen > 0, "", widest, None, elsewhere)


def in_floats(sides: AtPoint, margin: float, absolute: bool = False) -> Floats:
    """Compare the sides in float64, with the account of their rounding, against the margin.

    The scale of an equation is the largest entry of either side, or one for an absolute margin.

    **Errors:** the account bounds the rounding of every execution that the error domain admits.
    """
    floats = RunningError("float64")
    worst = account = 0.0
    consistent = within = True
    try:
        pairs = sides(floats)
        with floats.working():
            gaps = [floats.binary("sub", left, right) for left, right in pairs]
    except OBSTACLES as error:
        return Floats(obstacle=error)
    for pair, gap in zip(pairs, gaps, strict=True):
        off = np.abs(gap.value)
        scale = 1.0 if absolute else max(largest(np.abs(side.value)) for side in pair)
        # What is allowed is a share of the scale itself, which its own rounding may have enlarged.
        sure = 1.0 if absolute else max(largest(np.abs(side.value) - side.reach) for side in pair)
        consistent = consistent and bool(np.all(off <= gap.reach))
        within = within and bool(np.all(np.isfinite(off)) and np.all(off + gap.reach <= margin * sure))
        worst = max(worst, _over(largest(off + gap.reach), scale))
        account = max(account, _over(largest(gap.reach), scale))
    return Floats(worst, account, consistent, within)


def _over(size: float, scale: float) -> float:
    if scale == 0:
        return math.inf if size > 0 else 0.0
    return size / scale if math.isfinite(scale) else math.inf


def largest(entries: np.ndarray) -> float:
    """The largest entry; infinite where one is no number, for nothing may pass by being undefined."""
    return math.inf if np.isnan(entries).any() else float(entries.max(initial=0.0))
