"""Numbers as a reader wants them: digits follow from the uncertainty."""

from __future__ import annotations

import math
from fractions import Fraction


def with_uncertainty(value: float | None, standard_error: float | None) -> str:
    """A value with its standard error in parentheses, two digits of it, in units of the last digits shown.

    >>> with_uncertainty(2.983, 0.023)
    '2.983(23)'
    >>> with_uncertainty(1234.4, 56.0)
    '1234(56)'
    >>> with_uncertainty(12.34, 4.52)
    '12.3(4.5)'
    >>> with_uncertainty(1.2345e-7, 1.2e-9)
    '1.235(12)e-7'
    >>> with_uncertainty(0.5, None)
    '0.5'

    A standard error below the rounding of the value itself is no information about it, and is not shown.

    >>> with_uncertainty(1.0000000000000002, 8e-19)
    '1'
    """
    if value is None or not math.isfinite(value):
        return "–"
    if standard_error is None or not math.isfinite(standard_error) or standard_error <= abs(value) * 2.0**-50:
        return number(value)
    size = math.floor(math.log10(max(abs(value), standard_error)))
    if not -4 <= size <= 6:
        return f"{_fixed(value / 10.0**size, standard_error / 10.0**size)}e{size}"
    return _fixed(value, standard_error)


def _fixed(value: float, standard_error: float) -> str:
    # The second digit of the error, after rounding: 0.0996 is 0.10, one digit fewer than 0.099.
    rounded = float(f"{standard_error:.1e}")
    places = 1 - math.floor(math.log10(rounded))
    if places <= 0:
        return f"{round(value, places):.0f}({round(standard_error, places):.0f})"
    if rounded >= 1:
        return f"{value:.{places}f}({standard_error:.{places}f})"
    return f"{value:.{places}f}({round(standard_error * 10**places)})"


def as_typed(value: float) -> str:
    """A number that was declared: a short decimal or the fraction that it is the nearest double of, else five digits.

    >>> as_typed(0.1), as_typed(-2 / 3), as_typed(1 / 7), as_typed(2**0.5)
    ('0.1', '-2/3', '1/7', '1.4142')
    """
    if not math.isfinite(value) or float(f"{value:.6g}") == value:
        return number(value, 6)
    near = Fraction(value).limit_denominator(1000)
    return str(near) if float(near) == value else number(value)


def as_power(letter: str, exponent: float) -> str:
    """A power of a letter.

    >>> as_power("n", -1), as_power("n", -2 / 3)
    ('n^-1', 'n^(-2/3)')
    """
    power = as_typed(exponent)
    return f"{letter}^({power})" if "/" in power else f"{letter}^{power}"


def p_value(p: float | None, name: str = "p") -> str:
    """A p-value; never zero, which no test can show.

    >>> p_value(0.0), p_value(5.2e-41), p_value(0.0031)
    ('p < 1e-300', 'p < 1e-40', 'p = 0.0031')
    """
    if p is None or not p < 1e-4:
        return f"{name} = {number(p, 2)}"
    return f"{name} < 1e{max(-300, math.ceil(math.log10(p))) if p > 0 else -300}"


def number(value: float | None, digits: int = 5) -> str:
    """A number without uncertainty, to a few digits.

    >>> number(0.33333333), number(2.0), number(1.5e-9), number(None)
    ('0.33333', '2', '1.5e-9', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{value:.{digits}g}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text


def interval(ends: list[float | None] | tuple[float | None, float | None] | None) -> str:
    """An interval, its ends to the digits that its width makes meaningful; an end at infinity is drawn as such.

    >>> interval((2.93612, 3.03398)), interval((0.5, None)), interval(None)
    ('[2.936, 3.034]', '[0.5, ∞)', '–')
    """
    if ends is None:
        return "–"
    low, high = ends
    if low is None or high is None:
        left = "(-∞" if low is None else f"[{number(low)}"
        return f"{left}, ∞)" if high is None else f"{left}, {number(high)}]"
    width = high - low
    if width <= 0:
        return f"[{number(low)}, {number(high)}]"
    size = math.floor(math.log10(max(abs(low), abs(high), width)))
    if not -4 <= size <= 6:
        return f"[{number(low, 4)}, {number(high, 4)}]"
    places = max(0, 1 - math.floor(math.log10(width)))
    return f"[{low:.{places}f}, {high:.{places}f}]"


def duration(seconds: float) -> str:
    """A length of time.

    >>> duration(0.0312), duration(2.34), duration(75), duration(4000)
    ('0.03 s', '2.3 s', '1 min 15 s', '1 h 6 min')
    """
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def grouped_digits(count: int) -> str:
    """A whole number, its digits in groups of three.

    >>> grouped_digits(12000), grouped_digits(256)
    ('12 000', '256')
    """
    return f"{count:,}".replace(",", " ")


def percent(share: float) -> str:
    """A share in percent.

    >>> percent(0.0152), percent(0.05)
    ('1.5 %', '5 %')
    """
    return f"{number(100 * share, 2)} %"
