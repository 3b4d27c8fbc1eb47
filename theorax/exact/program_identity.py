"""Identities of own programs: decided for all inputs of given shapes, by fields, balls and floats in turn."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from theorax.decide.findings import Finding, Found, settle
from theorax.decide.status import Reason, Status
from theorax.decide.verdict import Assumption, Case, Grounds, Point, Statement, Verdict, conclude
from theorax.errors import TheoraxError
from theorax.exact.identity_ladder import (
    PRECISION,
    Balls,
    Carry,
    Fields,
    Floats,
    Pairs,
    in_balls,
    in_fields,
    in_floats,
)
from theorax.exact.programs import (
    FINE,
    Program,
    constant,
    has_samples,
    leaves,
    name_of,
    points,
    print_of,
    refuse,
    sides,
)
from theorax.numerics.arithmetics import Ball, Domain, UndecidedComparison

__all__ = ["identity"]

FROZEN = (
    "That lies within one unit in the last place of a constant that the program holds as a float, such as 1/3 or "
    "sqrt(2) computed outside it: as written the identity is false, as meant it may hold. Hand the constant over "
    "exactly, at=(..., Fraction(1, 3)) or at=(..., sympy.sqrt(2)), or let the program divide: x / 3 for x * (1/3)."
)
RANDOMNESS = Assumption(
    "independence", "primes and points come from a pseudo-random generator, taken for uniform", "declared"
)


@dataclass(frozen=True)
class _Found:
    """What every rung said that was climbed."""

    fields: Fields
    balls: Balls = Balls(0)  # noqa: RUF009  (frozen)
    loose: Balls | None = None
    floats: Floats | None = None


def identity(
    left: Program,
    right: Program | float,
    at: Any,
    margin: float | None = None,
    name: str = "identity",
) -> Verdict:
    r"""Decide "left(*at) = right(*at) for every value of the float arrays in ``at``, at their shapes".

    | what was found | status |
    |---|---|
    | both sides are one program, or zero by their form, or nowhere defined | vacuous |
    | rational sides that differ in a random finite field | refuted |
    | a ball of the difference at an exact point that excludes zero | refuted |
    | rational sides that agree in random finite fields, to a probability of error of at most 2^-40 | certified |
    | sides that agree in finite fields whatever the functions tanh, sqrt, ... in them are | supported |
    | every ball of the difference holds zero and is narrower than 2^-150 | supported |
    | the difference in floats and its rounding account stay below the margin, relative to the left side | supported |
    | otherwise | inconclusive |

    ``at`` is the tuple of arguments (one argument may stand alone): arrays, pytrees of arrays such as Equinox modules,
    ``jax.ShapeDtypeStruct`` where only the shape matters, Fractions and SymPy constants for exact numbers. Integers,
    truth values and Python numbers stay as they are. A hypothesis on the inputs must be built into the programs: a unit
    vector as ``x / norm(x)``. ``right`` may be a number.

    A float constant of a program is the dyadic it stores: with 1/3 frozen to a float a true identity is false at 1e-17,
    and is refuted; the sentence then says so.

    **Raises:** `UsageError` where the sides return different shapes, or there is nothing to vary or to compare.
    """
    arguments = at if isinstance(at, tuple) else (at,)
    other: Program = right if callable(right) else partial(constant, left, float(right))
    refuse(left, other, arguments, margin, name)
    prints = [print_of(program, arguments) for program in (left, other)]
    digest = hashlib.sha256("\n".join([*prints, repr(margin), name]).encode()).hexdigest()[:16]
    findings, sentence, found = _climb(partial(sides, left, other, arguments), prints, digest, arguments, margin)
    findings = findings or [Finding.UNDECIDED]
    status = settle(findings)
    reason = None
    if not sentence:
        sentence, reason = _agreement(status, found, margin)
    looked = found.balls.points
    account = found.floats.account if found.floats and math.isfinite(found.floats.account) else None
    noticeable = 2 * found.balls.difference if found.balls.narrow else None
    case = Case(
        subject=name,
        at={},
        predicted=0.0,
        estimate=_estimate(found),
        standard_error=None,
        interval=None,
        bias=account,
        margin=margin,
        status=status,
        reason=reason,
        p_refute=None,
        p_support=None,
        breakdown=None,
        noticeable=noticeable,
        points=(Point(float(looked), found.balls.difference, None, looked),) if looked else (),
        detail=sentence,
    )
    stated = Statement(
        id=name,
        kind="identity",
        statement=f"{name_of(left, 'left')} = {name_of(right, 'right') if callable(right) else f'{right:g}'}",
        margin_given=None if margin is None else f"{margin:g}",
        design_hash=digest,
    )
    grounds = Grounds(
        draws=found.fields.trials + looked,
        unseen=_unseen(status, found.fields),
        scope=_scope(status, found, arguments),
        ledger=(RANDOMNESS,) if status in (Status.CERTIFIED, Status.SUPPORTED) else (),
    )
    return conclude(stated, grounds, [Found(finding, sentence, reason) for finding in findings], [case])


def _climb(
    both: Callable[[Domain[Any], Carry], Pairs],
    prints: Sequence[str],
    digest: str,
    arguments: tuple[Any, ...],
    margin: float | None,
) -> tuple[list[Finding], str, _Found]:
    """The rungs one after another: what they bring to light, a sentence where it needs one, what each said."""
    fields = in_fields(both, digest)
    found = _Found(fields)
    if prints[0] == prints[1]:
        text = "Both sides are one and the same program: this check could not have failed."
        return [Finding.TRIVIAL_BOUND], text, found
    if fields.size is not None and fields.size.vanishes:
        text = "Both sides are zero by their form, whatever the inputs: a wrong factor would not be noticed."
        return [Finding.TRIVIAL_BOUND], text, found
    samples = has_samples(arguments)
    balls = in_balls(both, points(digest, samples))
    if not (balls.narrow or balls.refuted or balls.obstacle) and balls.points:
        balls = in_balls(both, points(digest, samples), Ball(FINE))  # what cancels, or grows, needs more bits
    found = _Found(fields, balls)
    if fields.refuted or balls.refuted:
        loose = in_balls(both, points(digest, samples), Ball(PRECISION, loose=True)) if balls.refuted else None
        found = _Found(fields, balls, loose)
        return [Finding.COUNTEREXAMPLE], _refutation(found), found
    if balls.points == 0 and balls.elsewhere and not fields.equal:
        text = (
            f"A side is no finite number at any of {balls.elsewhere} points: nothing is said where nothing is defined."
        )
        return [Finding.NO_INSTANCE], text, found
    findings = [Finding.CERTIFICATE] if fields.certified else []
    if fields.equal or balls.narrow:
        findings.append(Finding.TEST_SUPPORTED)
    if not findings and margin is not None and samples:
        floats = in_floats(both, [np.asarray], "float64", margin)
        found = _Found(fields, balls, None, floats)
        if floats.within:
            findings.append(Finding.TEST_SUPPORTED)
    return findings, "", found


def _estimate(found: _Found) -> float | None:
    """The difference, where one was measured: balls that hold zero measure none."""
    if found.floats is not None and math.isfinite(found.floats.difference):
        return found.floats.difference
    return found.balls.difference if found.balls.refuted else None


def _refutation(found: _Found) -> str:
    fields, balls, loose = found.fields, found.balls, found.loose
    texts = [f"{fields.witness}, so they differ as rational functions"] if fields.refuted else []
    texts += [f"{balls.refuted} at an exact point"] if balls.refuted else []
    frozen = loose is not None and not loose.refuted and loose.points > 0
    return f"The identity is false: {'; '.join(texts)}." + (f" {FROZEN}" if frozen else "")


def _agreement(status: Status, found: _Found, margin: float | None) -> tuple[str, Reason | None]:
    fields, balls, floats = found.fields, found.balls, found.floats
    looked = f"every ball of the difference at {balls.points} exact points holds zero and is narrow"
    if status is Status.CERTIFIED:
        assert fields.size is not None
        return (
            f"Equal as rational functions: they agree in {fields.trials} random fields of more than 2^61 elements, which "
            f"a false identity of degree {fields.size.degree:.0f} and {fields.size.bits:.0f} bits does with probability "
            f"at most {fields.probability}.",
            None,
        )
    if status is Status.SUPPORTED and fields.equal:
        met = ", ".join(sorted(fields.through)) or "a degree too high for a bound"
        more = f"; {looked}" if balls.narrow else ""
        return f"Equal in {fields.trials} random finite fields, whatever these functions are: {met}{more}.", None
    if status is Status.SUPPORTED and balls.narrow:
        return f"Not refuted where it could have been: {looked}.", None
    if floats is not None and floats.obstacle is None:
        seen = f"{floats.difference:.2g} with a rounding account of {floats.account:.2g}"
        if status is Status.SUPPORTED:
            return f"In floats the sides differ by {seen}, together below {margin:g} of the left side.", None
        word = "consistent with rounding" if floats.consistent else "more than rounding explains, but no ball decides"
        return f"In floats the sides differ by {seen}: {word}, not within {margin:g} of the left.", Reason.NUMERIC_FLOOR
    obstacle: TheoraxError | None = balls.obstacle or fields.obstacle
    if obstacle is not None:
        undecided = isinstance(obstacle, UndecidedComparison)
        return str(obstacle), Reason.UNDECIDED_COMPARISON if undecided else Reason.BUDGET
    return f"Balls around zero of size {balls.difference:.2g} are too wide to say anything.", Reason.NUMERIC_FLOOR


def _scope(status: Status, found: _Found, arguments: tuple[Any, ...]) -> str:
    shapes = ", ".join(str(list(leaf.shape)) for leaf in leaves(arguments)[:6])
    if found.fields.equal and status in (Status.CERTIFIED, Status.SUPPORTED):
        return f"all real inputs of shapes {shapes} at which both sides are defined"
    if status is Status.SUPPORTED and found.balls.narrow:
        return f"{found.balls.points} exact points of shapes {shapes}"
    return f"inputs of shapes {shapes}"


def _unseen(status: Status, fields: Fields) -> tuple[str, ...]:
    if status not in (Status.CERTIFIED, Status.SUPPORTED):
        return ()
    seen = ("other shapes", "the rounding of either program")
    return seen if fields.equal else (*seen, "a difference that vanishes at the points looked at")
