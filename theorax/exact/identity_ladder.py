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

import flint
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
from theorax.numerics.arithmetics.undefined import Undefined

PRECISION, FINEST = 256, 4096
"""Bits of a ball, at first and where more are needed."""

NARROW = arb(2) ** -150
"""A ball around zero wider than this share of the larger side says nothing."""

NOTHING = arb(2) ** -1000
"""Sides that are both below this have no size to compare a ball with: zero, as far as the bits of a ball tell."""

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
    """Result of balls at exact points: how many were looked at, the first difference that excludes zero.

    ``points``: those at which neither side is surely undefined, of which ``wide`` ones say nothing. ``elsewhere``: points
    at which a side is no real number; ``lone`` tells of one at which the other side is.
    """

    points: int
    wide: int = 0
    elsewhere: int = 0
    refuted: str = ""
    lone: str = ""
    difference: float = 0.0
    """The size of the difference where it excludes zero, otherwise of the largest ball around zero."""
    share: float = 0.0
    """The same over the largest entry of both sides, where it excludes zero."""
    obstacle: TheoraxError | None = None

    @property
    def narrow(self) -> bool:
        """True if every ball says something, and there is one."""
        return self.points > 0 and not self.wide

    @property
    def open(self) -> bool:
        """True if more bits may say more."""
        return not self.refuted and (self.wide > 0 or isinstance(self.obstacle, UndecidedComparison | ZeroDivisor))

    def and_then(self, more: Balls) -> Balls:
        """These points and more of them."""
        return Balls(
            self.points + more.points,
            self.wide + more.wide,
            self.elsewhere + more.elsewhere,
            self.refuted or more.refuted,
            self.lone or more.lone,
            more.difference if more.refuted else max(self.difference, more.difference),
            max(self.share, more.share),
            self.obstacle or more.obstacle,
        )


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
    """Compare the sides at exact points, in balls of this many bits.

    ``loose``: float constants stand for every number within one unit in their last place.

    **Errors:** none: a ball that excludes zero refutes, whatever its size.
    """
    balls = Balls(0)
    for sides in points:
        balls = balls.and_then(_at_point(sides, precision, loose))
        if balls.refuted or balls.obstacle is not None:
            break
    return balls


def at_finest(sides: AtPoint) -> Balls:
    """Compare the sides at one exact point, with precision doubled until their difference is told from zero, or narrow.

    **Errors:** none: a ball that excludes zero refutes, whatever its size.
    """
    precision = PRECISION
    found = _at_point(sides, precision)
    while precision < FINEST and found.open:
        precision *= 2
        found = _at_point(sides, precision)
    return found


def _at_point(sides: AtPoint, precision: int, loose: bool = False) -> Balls:
    balls = Ball(precision, loose=loose)
    try:
        pairs = sides(balls)
        with balls.working():
            gaps = [balls.binary("sub", left, right).reshape(-1).tolist() for left, right in pairs]
    except OBSTACLES as error:
        return Balls(0, obstacle=error)
    if not all(gap.is_finite() for column in gaps for gap in column):
        return _where_undefined(sides, precision)
    outside = [gap for column in gaps for gap in column if not gap.contains(0)]
    if outside:
        far = max(abs(float(gap.mid())) for gap in outside)
        scale = max(abs(float(entry.mid())) for pair in pairs for side in pair for entry in side.reshape(-1).tolist())
        told = f"the sides differ by {far:.2g}: a ball of their difference excludes zero"
        return Balls(1, refuted=told, difference=far, share=_over(far, scale))
    wide = not all(_is_narrow(*pair, column) for pair, column in zip(pairs, gaps, strict=True))
    return Balls(1, int(wide), difference=max((float(gap.rad()) for column in gaps for gap in column), default=0.0))


def _where_undefined(sides: AtPoint, precision: int) -> Balls:
    """A point at which some entry is no finite number: surely none, or only in balls too wide to tell."""
    undefined = Undefined()
    pairs = sides(Ball(precision, undefined=undefined))
    both = [(one.is_finite(), other.is_finite()) for one, other in _entries(pairs)]
    if undefined.doubtful:
        return Balls(1, 1, difference=math.inf)
    lone = [left for left, right in both if left != right]
    told = "" if not lone else "the left side is a number and the right side is none"
    if lone and not lone[0]:
        told = "the right side is a number and the left side is none"
    return Balls(0, elsewhere=1, lone=told)


def _entries(pairs: Sides) -> list[tuple[arb, arb]]:
    """The two sides entry by entry."""
    return [
        entry
        for pair in pairs
        for entry in zip(*(side.reshape(-1).tolist() for side in np.broadcast_arrays(*pair)), strict=True)
    ]


def _is_narrow(left: np.ndarray, right: np.ndarray, gaps: Sequence[arb]) -> bool:
    """True if every difference is small beside the largest entry, or both sides are zero as far as any bits tell."""
    sides = [*left.reshape(-1).tolist(), *right.reshape(-1).tolist()]
    with flint.ctx.workprec(64):  # sizes alone
        largest = max((entry.abs_lower() for entry in sides), default=arb(0))
        small = all(gap.abs_upper() <= NARROW * largest for gap in gaps)
        return small or all(entry.abs_upper() <= NOTHING for entry in sides)


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
        scale = 1.0 if absolute else max(largest_entry(np.abs(side.value)) for side in pair)
        # What is allowed is a share of the scale itself, which its own rounding may have enlarged.
        sure = 1.0 if absolute else max(largest_entry(np.abs(side.value) - side.reach) for side in pair)
        consistent = consistent and bool(np.all(off <= gap.reach))
        within = within and bool(np.all(np.isfinite(off)) and np.all(off + gap.reach <= margin * sure))
        worst = max(worst, _over(largest_entry(off + gap.reach), scale))
        account = max(account, _over(largest_entry(gap.reach), scale))
    return Floats(worst, account, consistent, within)


def _over(size: float, scale: float) -> float:
    if scale == 0:
        return math.inf if size > 0 else 0.0
    return size / scale if math.isfinite(scale) else math.inf


def largest_entry(entries: np.ndarray) -> float:
    """The largest entry; infinite where one is no number, for nothing may pass by being undefined."""
    return math.inf if np.isnan(entries).any() else float(entries.max(initial=0.0))
