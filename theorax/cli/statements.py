"""The claims that ``verify data`` takes, from the text that was typed; no part of it is ever executed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from theorax.cli.formulas import (
    CONSTANTS,
    LogarithmicOrder,
    NoOrder,
    names_in,
    number_as_typed,
    order_of,
    parse_formula,
)
from theorax.decide import Corrections
from theorax.errors import UsageError

__all__ = [
    "BoundClaim", "LawClaim", "LimitClaim", "MeanClaim", "ProbabilityClaim", "RateClaim", "parse_bound", "parse_class",
    "parse_law", "parse_limit", "parse_mean", "parse_probability", "parse_rate",
]  # fmt: skip

Scalar = Fraction | float
EXAMPLES = {
    "rate": 'Write `--rate "error ~ N**-1"`; `N**(-2/3)` for a fraction, `<=` for O, `>=` for Ω, '
    "`exp(-0.3*N)` for an exponential, `h**2 as h -> 0` for step sizes.",
    "limit": 'Write `--limit "x -> 1/3 as n"`.',
    "mean": 'Write `--mean "x = 1/2"`.',
    "at-most": 'Write `--at-most "lhs <= rhs"`, each side arithmetic of columns and numbers.',
    "probability": 'Write `--probability "ok >= 0.99"`.',
    "law": 'Write `--law "x ~ normal(0, 1)"`, or the name of another column on the right; add `as n` for a limit law.',
    "where": 'Write `--where "width >= 64"` or `--where "optimizer = adam"`.',
    "class": "Write default, none, `0.5 n^-1/2..-2` (size and range of powers) or `expansion(1; rest=0.3, order=2)` "
    "(known powers, and the rest). Beside an exponential write `prefactor(1)`, for a power of log n `loglog(1)`, for terms "
    "c/log n and c log log n/log n of a limit `log(0.1, 0.1)`.",
}
SIDES = {"~": "exact", "=": "exact", "<=": "at most", ">=": "at least"}
_LOOSE = re.compile(r"(?:\*\*|\^)\s*(-?\s*\d+\s*/\s*\d+)")  # n^-2/3: Python reads (n^-2)/3, a person n^(-2/3)
_TOWARDS = r"\s*->\s*(0|oo|inf|infinity|∞)"


@final
@dataclass(frozen=True)
class RateClaim:
    """``of`` is of the order ``letter**exponent`` or ``exp(exponent*letter)``."""

    of: str
    letter: str
    exponent: Scalar
    side: str
    form: str
    shrinks: bool | None = None  # whether the letter tends to zero, as a step size does; None where nothing was said


@final
@dataclass(frozen=True)
class LimitClaim:
    """``of`` tends to ``to`` as ``letter`` grows."""

    of: str
    to: Scalar
    letter: str
    side: str
    shrinks: bool | None = None


@final
@dataclass(frozen=True)
class MeanClaim:
    """The mean of ``of`` is ``to``, or at most, or at least that."""

    of: str
    to: Scalar
    side: str


@final
@dataclass(frozen=True)
class BoundClaim:
    """``left`` is at most ``right`` in every row; each arithmetic of columns and numbers."""

    left: str
    right: str


@final
@dataclass(frozen=True)
class ProbabilityClaim:
    """The event whose outcomes are in column ``of`` has at least this probability."""

    of: str
    at_least: Scalar


@final
@dataclass(frozen=True)
class LawClaim:
    """``of`` has the law ``to`` (a name with numbers, or another column), in the limit where ``letter`` is given."""

    of: str
    to: str
    parameters: tuple[Scalar, ...] | None
    letter: str | None


def parse_rate(text: str) -> RateClaim:
    """
    >>> parse_rate("error ~ N**-1").exponent, parse_rate("error/scale ~ N**(-2/3)").exponent
    (Fraction(-1, 1), Fraction(-2, 3))
    >>> parse_rate("err <= 3*exp(-0.3*n)").form
    'exponential'
    >>> parse_rate("gap >= 1/sqrt(n)").exponent
    Fraction(-1, 2)
    """
    pattern = rf"(.+?)\s*(~|<=|>=)\s*(.+?)(?:\s+as\s+(\w+){_TOWARDS})?"
    left, sign, right, named, towards = _matched("rate", text, pattern, "claims no order")
    if loose := _LOOSE.search(right):
        power, letters = loose.groups()[0], right[: loose.start()].strip()
        raise _refused(
            "rate", text, f": `{right}` can be read in two ways. Write `{letters}**({power.replace(' ', '')})`."
        )
    try:
        tree = parse_formula(right)
    except UsageError as error:
        raise _refused("rate", text, f": {error}") from None
    found = [name for name in names_in(tree) if name not in CONSTANTS]
    if len(found) != 1:
        met = " and ".join(sorted(found)) or "no letter"
        raise _refused("rate", text, f": {met} stand for the size on the right; it is one letter.")
    (letter,) = found
    if named not in (None, letter):
        raise _refused("rate", text, f" is about {letter}, but {named} tends to a limit.")
    try:
        power, decay = order_of(tree, letter)
    except LogarithmicOrder:
        raise UsageError(
            f"`--rate {text}` holds a logarithm. Finite data tell log n from a power only under a declared class. "
            "Write the power alone, and `--class loglog(1)` for an unknown power of log n, up to 1, beside it."
        ) from None
    except NoOrder as error:
        raise _refused("rate", text, f": {error}") from None
    if power and decay:
        raise UsageError(
            f"`--rate {text}` multiplies a power and an exponential. The constant in the exponent is decided; a "
            "power beside it belongs to the class. Write `exp(...)` alone and `--class prefactor(1)`."
        )
    if not power and not decay:
        raise UsageError(
            f"`--rate {text}` does not depend on {letter}. A quantity that tends to a constant is a limit. "
            + EXAMPLES["limit"]
        )
    if towards == "0" and decay:
        raise _refused("rate", text, f": an exponential in {letter} tends to a constant as {letter} -> 0.")
    form = "power" if power else "exponential"
    return RateClaim(left, letter, power or decay, SIDES[sign], form, _shrinks(towards))


def parse_limit(text: str) -> LimitClaim:
    """
    >>> parse_limit("x -> 1/4 as n")
    LimitClaim(of='x', to=Fraction(1, 4), letter='n', side='exact', shrinks=None)
    """
    pattern = rf"(.+?)\s*->\s*(.+?)\s+as\s+(\w+)(?:{_TOWARDS})?"
    left, to, letter, towards = _matched("limit", text, pattern, "names no quantity, limit and size")
    return LimitClaim(left, _constant("limit", text, to), letter, "exact", _shrinks(towards))


def parse_mean(text: str) -> MeanClaim:
    """
    >>> parse_mean("x <= 1/2")
    MeanClaim(of='x', to=Fraction(1, 2), side='at most')
    """
    left, sign, to = _matched("mean", text, r"(.+?)\s*(<=|>=|=)\s*(.+)", "claims no mean")
    return MeanClaim(left, _constant("mean", text, to), SIDES[sign])


def parse_bound(text: str) -> BoundClaim:
    """
    >>> parse_bound("gap/scale <= 1/2")
    BoundClaim(left='gap/scale', right='1/2')
    """
    left, right = _matched("at-most", text, r"(.+?)\s*<=\s*(.+)", "claims no bound")
    return BoundClaim(left, right)


def parse_probability(text: str) -> ProbabilityClaim:
    """
    >>> parse_probability("ok >= 0.99")
    ProbabilityClaim(of='ok', at_least=Fraction(99, 100))
    """
    left, right = _matched("probability", text, r"(.+?)\s*>=\s*(.+)", "claims no probability")
    return ProbabilityClaim(left, _constant("probability", text, right))


def parse_law(text: str) -> LawClaim:
    """
    >>> parse_law("x ~ normal(0, 1) as n")
    LawClaim(of='x', to='normal', parameters=(Fraction(0, 1), Fraction(1, 1)), letter='n')
    >>> parse_law("x ~ other").parameters is None
    True
    """
    left, right, letter = _matched("law", text, r"(.+?)\s*~\s*(.+?)(?:\s+as\s+(\S+))?", "names no law")
    called = re.fullmatch(r"(\w+)\s*\((.*)\)", right)
    if called is None:
        return LawClaim(left, right, None, letter)
    name, inside = called.groups()
    return LawClaim(
        left, name, tuple(_constant("law", text, part) for part in inside.split(",") if part.strip()), letter
    )


@final
@dataclass(frozen=True)
class RowCondition:
    """``column sign value`` of the rows that are kept; ``value`` is None where a text was typed."""

    text: str
    column: str
    sign: str
    typed: str
    value: float | None


def parse_where(text: str) -> RowCondition:
    """The rows to keep, by one column.

    >>> parse_where("width >= 64").value
    64.0
    >>> parse_where("optimizer = adam").value is None
    True

    **Raises:** UsageError for anything else.
    """
    column, sign, typed = _matched("where", text, r"(.+?)\s*(<=|>=|!=|<|>|=)\s*(.+)", "compares no column with a value")
    try:
        value = float(number_as_typed(typed))
    except UsageError:
        value = None
    if value is None and sign not in ("=", "!="):
        raise _refused("where", text, f": `{typed}` is not a number, and texts have no order here.")
    return RowCondition(text, column, sign, typed, value)


def parse_class(text: str, because: str) -> Corrections:
    """The declared class of corrections.

    >>> str(parse_class("0.7 n^-1/2..-2", ""))
    '0.7 in powers 0.5 to 2; rest 0.245 of order 1'
    >>> str(parse_class("0.1 n^-2/3", "a second term of this order"))
    '0.1 in powers 2/3 to 2/3; rest 0.005 of order 4/3'
    >>> parse_class("log(0.1, 0.05)", "extreme value theory").log
    0.1
    >>> parse_class("expansion(1/2, 1; rest=0.3, order=3/2)", "smooth in n^-1/2").free
    (0.5, 1.0)

    **Raises:** UsageError for what is no class; StatementError for a sharp one without a reason.
    """
    typed = text.strip()
    if typed == "default":
        return Corrections(reason=because)
    if typed == "none":
        return Corrections(size=0.0, rest=0.0, reason=because)
    number = r"[\d./]+(?:[eE][+-]?\d+)?|\S.*?[\s*]"
    ranged = re.fullmatch(rf"({number})\s*[A-Za-z_]\w*\s*(?:\^|\*\*)\s*(.+?)(?:\s*\.\.\s*(.+))?", typed)
    if ranged is not None:
        parts = (ranged[1].rstrip("* "), ranged[2], ranged[3] or ranged[2])
        size, slow, fast = (float(_constant("class", text, part)) for part in parts)
        if slow >= 0 or fast >= 0:
            raise _refused("class", text, ": a correction fades, so its powers are negative.")
        return Corrections(size, min(-slow, -fast), max(-slow, -fast), reason=because)
    pattern = r"(expansion|prefactor|loglog|log)\s*\(([^;]*)(?:;(.*))?\)"
    name, powers, options = _matched("class", text, pattern, "is no class of corrections")
    numbers = tuple(float(_constant("class", text, part)) for part in powers.split(",") if part.strip())
    given = _options(options or "", text)
    if name == "log":
        if len(numbers) not in (1, 2) or given:
            raise _refused(
                "class", text, ": log has the size of c/log n, and that of c log log n/log n if there is one."
            )
        log, loglog = (*numbers, 0.0)[:2]
        return Corrections(size=0.0, rest=max(numbers) ** 2 / 2, order=1.0, log=log, loglog=loglog, reason=because)
    if name in ("prefactor", "loglog"):
        if len(numbers) != 1 or given:
            raise _refused("class", text, f": {name} has one power.")
        if name == "loglog":
            return Corrections(loglog=numbers[0], reason=because)
        return Corrections(size=0.0, rest=0.0, log=numbers[0], reason=because)
    if not numbers or set(given) != {"rest", "order"}:
        raise _refused("class", text, ": an expansion has known powers, a rest and its order.")
    return Corrections(size=0.0, rest=given["rest"], order=given["order"], free=numbers, reason=because)


def _refused(option: str, text: str, why: str) -> UsageError:
    """The error about what was typed behind an option, with an example of it."""
    return UsageError(f"`--{option} {text}`{why} {EXAMPLES[option]}")


def _matched(option: str, text: str, pattern: str, why: str) -> tuple[str, ...]:
    match = re.fullmatch(pattern, text.strip())
    if match is None:
        raise _refused(option, text, f" {why}.")
    return match.groups()


def _shrinks(towards: str | None) -> bool | None:
    return None if towards is None else towards == "0"


def _options(text: str, typed: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in filter(str.strip, text.split(",")):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name not in ("rest", "order") or name in found:
            raise _refused("class", typed, f": `{part.strip()}` is neither rest=... nor order=....")
        found[name] = float(_constant("class", typed, value))
    return found


def _constant(option: str, text: str, part: str) -> Scalar:
    try:
        return number_as_typed(part)
    except UsageError as error:
        raise _refused(option, text, f": {error}") from None
