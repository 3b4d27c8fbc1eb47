"""The declared class of corrections in words: what is assumed of finite sizes, and what a decision is blind to."""

from __future__ import annotations

import math
from collections.abc import Iterator

from theorax.decide.corrections import Corrections
from theorax.decide.slow_terms import SlowTerm
from theorax.decide.verdict import Assumption, Standing
from theorax.text.numbers import as_power, as_typed, number

__all__ = ["assumed", "beyond", "class_assumption", "slow_term"]

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOWERED = "₁₂₃₄₅₆₇₈₉"


def class_assumption(
    corrections: Corrections, letter: str, smallest: float | None = None, unit: str = "", *, in_limit: bool = False
) -> Assumption:
    """The declared class as a line of the ledger; its bounds are stated at its reference, or else at ``smallest``."""
    at = corrections.reference if corrections.reference is not None else smallest
    reason = corrections.reason or "the default class"
    text = f"{assumed(corrections, letter, at, unit, in_limit=in_limit)}. Reason: {reason}"
    return Assumption("class", text, Standing.DECLARED)


def assumed(
    corrections: Corrections, letter: str, at: float | None = None, unit: str = "", *, in_limit: bool = False
) -> str:
    """Assumption at finite sizes in words, its bounds stated at ``at`` or, without one, at the smallest size.

    ``unit``: that of the bounds, as a clause between commas. ``in_limit``: logarithms are terms of a limit.

    >>> from theorax.decide.corrections import Expansion
    >>> assumed(Expansion((1,), rest=0.3, order=2, reason="..."), "T", 32)
    'at finite T the value is off by c/T (any c) plus at most 0.3 (32/T)²'
    >>> assumed(Expansion((1,), rest=0.1, order=2, reason="..."), "n", unit=", in relative terms,")
    'at finite n the value is off, in relative terms, by c/n (any c) plus at most 0.1 (n₀/n)². Here n₀ is the smallest size'
    >>> assumed(Corrections(size=0, rest=0, log=0.1, reason="..."), "n", 64, in_limit=True)
    'at finite n the value is off by c/log n (at most 0.1 at n = 64)'
    """
    base = f"{letter}₀" if at is None else number(at)
    terms = list(_admitted(corrections, letter, base, in_limit))
    if not terms:
        return f"at finite {letter} the value has the claimed form exactly"
    told = f"at finite {letter} the value is off{unit} by {' plus '.join(terms)}"
    return f"{told}. Here {base} is the smallest size" if at is None and base in told else told


def _admitted(corrections: Corrections, n: str, base: str, in_limit: bool) -> Iterator[str]:
    if free := corrections.free:
        names = ["c"] if len(free) == 1 else [f"c{_LOWERED[i]}" for i in range(len(free))]
        sum_ = " + ".join(f"{c}{_over(n, power)[1:]}" for c, power in zip(names, free, strict=True))
        yield f"{sum_} (any {', '.join(names)})"
    if corrections.size:
        low, high = corrections.slowest, corrections.fastest
        powers = f" in powers {as_typed(low)} to {as_typed(high)}" if high > low else ""
        yield f"at most {number(corrections.size, 3)} {_shrinking(n, base, low)}{powers}"
    if corrections.remainder:
        yield f"at most {number(corrections.remainder, 3)} {_shrinking(n, base, corrections.remainder_order)}"
    for of, bound in _factors(corrections, n, in_limit):
        if in_limit:
            yield f"{of} ({'any c' if math.isinf(bound) else f'at most {number(bound, 3)} at {n} = {base}'})"
        else:
            yield f"a factor {of}^p ({'any p' if math.isinf(bound) else f'|p| at most {number(bound, 3)}'})"


def beyond(corrections: Corrections, letter: str, at: float, *, in_limit: bool = False) -> str:
    """Corrections that the class leaves out, its bounds stated at the size ``at``.

    >>> from theorax.decide.corrections import Expansion
    >>> beyond(Expansion((1,), rest=0.525, order=2, reason="..."), "T", 32)
    'corrections other than c/T + O(1/T²) with the T⁻² part at most 0.525 at T = 32'
    >>> beyond(Corrections(), "n", 8)
    'corrections other than O(1/n^0.5) + O(1/n) with powers 0.5 to 2 at most 0.5 and the rest at most 0.125 at n = 8'
    """
    terms = [f"c{_over(letter, power)[1:]}" for power in corrections.free]
    bounds = []
    if corrections.size:
        low, high = corrections.slowest, corrections.fastest
        terms.append(f"O({_over(letter, low)})")
        part = f"powers {as_typed(low)} to {as_typed(high)}" if high > low else f"the {_power(letter, -low)} part"
        bounds.append(f"{part} at most {number(corrections.size, 3)}")
    if corrections.remainder:
        order = corrections.remainder_order
        terms.append(f"O({_over(letter, order)})")
        part = "the rest" if corrections.size else f"the {_power(letter, -order)} part"
        bounds.append(f"{part} at most {number(corrections.remainder, 3)}")
    factors = list(_factors(corrections, letter, in_limit))
    terms += [of if in_limit else f"a factor {of}^p" for of, _ in factors]
    within = [
        f"{f'{of} at most' if in_limit else '|p| at most'} {number(bound, 3)}"
        for of, bound in factors
        if math.isfinite(bound)
    ]
    if in_limit:
        bounds, within = bounds + within, []
    if not terms:
        return f"corrections of any kind at finite {letter}"
    stated = f"{' and '.join(bounds)} at {letter} = {number(at)}" if bounds else ""
    limits = " and ".join(part for part in (stated, *within) if part)
    return f"corrections other than {' + '.join(terms)}{f' with {limits}' if limits else ''}"


def slow_term(term: SlowTerm, letter: str) -> str:
    """A slow correction as a formula.

    >>> [slow_term(term, "n") for term in SlowTerm]
    ['c/log n', 'c log log n/log n', 'c n^(-1/4)']
    """
    return {
        SlowTerm.LOG: f"c/log {letter}",
        SlowTerm.LOGLOG: f"c log log {letter}/log {letter}",
        SlowTerm.ROOT: f"c {as_power(letter, -0.25)}",
    }[term]


def _factors(corrections: Corrections, n: str, in_limit: bool) -> Iterator[tuple[str, float]]:
    """Base and bound of every unknown power; of a limit, every slow term and its bound."""
    names = (slow_term(SlowTerm.LOG, n), slow_term(SlowTerm.LOGLOG, n)) if in_limit else (n, f"(log {n})")
    for of, bound in zip(names, (corrections.log, corrections.loglog), strict=True):
        if bound:
            yield of, bound


def _power(letter: str, exponent: float) -> str:
    """A power of a letter: T², T⁻², n^0.5."""
    return (
        f"{letter}{f'{exponent:.0f}'.translate(_RAISED)}" if exponent == round(exponent) else as_power(letter, exponent)
    )


def _over(letter: str, power: float) -> str:
    """One over a power of a letter: 1/T, 1/T², 1/n^(2/3)."""
    return f"1/{letter if power == 1 else _power(letter, power)}"


def _shrinking(letter: str, base: str, power: float) -> str:
    """A decay that is one at ``base``: (32/T), (32/T)²."""
    ratio = f"({base}/{letter})"
    return ratio if power == 1 else _power(ratio, power)
