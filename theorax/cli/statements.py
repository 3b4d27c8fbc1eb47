"""The claims that ``verify data`` takes, from the text that was typed; nothing in it is ever executed."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from theorax.decide import Corrections
from theorax.errors import UsageError

__all__ = [
    "BoundClaim",
    "LawClaim",
    "LimitClaim",
    "MeanClaim",
    "ProbabilityClaim",
    "RateClaim",
    "bound",
    "class_of",
    "law",
    "limit",
    "mean",
    "probability",
    "rate",
]

RATE = (
    'Write `--rate "error ~ N**-1"`; `<=` for O, `>=` for Ω, `exp(-0.3*N)` for an exponential, `h**2 as h -> 0` for '
    "step sizes."
)
LIMIT = 'Write `--limit "x -> 1/3 as n"`.'
MEAN = 'Write `--mean "x = 1/2"`.'
BOUND = 'Write `--at-most "lhs <= rhs"`, each side a column or a number.'
PROBABILITY = 'Write `--probability "ok >= 0.99"`.'
LAW = 'Write `--law "x ~ normal(0, 1)"`, or the name of another column on the right; add `as n` for a limit law.'
CLASS = (
    "Write default, none, `0.5 n^-0.5..-2` (size and range of powers), `expansion(1; rest=0.3, order=2)` "
    "(known powers, and the rest), `prefactor(1)` beside an exponential, or `loglog(1)` for a power of log n beside n."
)
_TOWARDS = r"\s*->\s*(0|oo|inf|infinity|∞)"
_CONSTANTS = {"pi": math.pi, "e": math.e}
_FUNCTIONS = {"sqrt": math.sqrt, "log": math.log, "exp": math.exp}


@final
@dataclass(frozen=True)
class RateClaim:
    """``of`` is of the order ``letter**exponent`` or ``exp(exponent*letter)``."""

    of: str
    letter: str
    exponent: float
    side: str
    form: str
    shrinks: bool | None = None  # whether the letter tends to zero, as a step size does; None where nothing was said


@final
@dataclass(frozen=True)
class LimitClaim:
    """``of`` tends to ``to`` as ``letter`` grows."""

    of: str
    to: float
    letter: str
    side: str
    shrinks: bool | None = None


@final
@dataclass(frozen=True)
class MeanClaim:
    """The mean of ``of`` is ``to``, or at most, or at least that."""

    of: str
    to: float
    side: str


@final
@dataclass(frozen=True)
class BoundClaim:
    """``left`` is at most ``right`` in every row; each a column's name or a number."""

    left: str | float
    right: str | float


@final
@dataclass(frozen=True)
class ProbabilityClaim:
    """The event whose outcomes are in column ``of`` has at least this probability."""

    of: str
    at_least: float


@final
@dataclass(frozen=True)
class LawClaim:
    """``of`` has the law ``to`` (a name with numbers, or another column), in the limit where ``letter`` is given."""

    of: str
    to: str
    parameters: tuple[float, ...] | None
    letter: str | None


def rate(text: str) -> RateClaim:
    """
    >>> rate("error ~ N**-1")
    RateClaim(of='error', letter='N', exponent=-1.0, side='exact', form='power', shrinks=None)
    >>> rate("err <= 3*exp(-0.3*n)").form
    'exponential'
    >>> rate("gap >= 1/sqrt(n)").exponent
    -0.5
    """
    match = re.fullmatch(rf"(.+?)\s*(~|<=|>=)\s*(.+?)(?:\s+as\s+(\w+){_TOWARDS})?", text.strip())
    if match is None:
        raise UsageError(f"`--rate {text}` claims no order. {RATE}")
    left, sign, right, named, towards = match.groups()
    tree = _parsed("--rate", text, right, RATE)
    letters = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - {*_CONSTANTS, *_FUNCTIONS}
    if len(letters) != 1:
        met = " and ".join(sorted(letters)) or "no letter"
        raise UsageError(f"`--rate {text}`: {met} stand for the size on the right; it is one letter. {RATE}")
    (letter,) = letters
    if named not in (None, letter):
        raise UsageError(f"`--rate {text}` is about {letter}, but {named} tends somewhere. {RATE}")
    power, decay = _order(tree, letter, text)
    if power and decay:
        raise UsageError(
            f"`--rate {text}` multiplies a power and an exponential. What is decided is the constant in the exponent; a "
            "power beside it belongs to the class. Write `exp(...)` alone and `--class prefactor(1)`."
        )
    if not power and not decay:
        raise UsageError(
            f"`--rate {text}` does not depend on {letter}. A quantity that tends to a constant is a limit. {LIMIT}"
        )
    side = {"~": "exact", "<=": "at most", ">=": "at least"}[sign]
    if towards == "0" and decay:
        raise UsageError(f"`--rate {text}`: an exponential in {letter} tends to a constant as {letter} -> 0. {RATE}")
    return RateClaim(left, letter, power or decay, side, "power" if power else "exponential", _shrinks(towards))


def limit(text: str) -> LimitClaim:
    """
    >>> limit("x -> 1/4 as n")
    LimitClaim(of='x', to=0.25, letter='n', side='exact', shrinks=None)
    """
    match = re.fullmatch(rf"(.+?)\s*->\s*(.+?)\s+as\s+(\w+)(?:{_TOWARDS})?", text.strip())
    if match is None:
        raise UsageError(f"`--limit {text}` names no quantity, limit and size. {LIMIT}")
    left, to, letter, towards = match.groups()
    return LimitClaim(left, _constant("--limit", text, to, LIMIT), letter, "exact", _shrinks(towards))


def _shrinks(towards: str | None) -> bool | None:
    return None if towards is None else towards == "0"


def mean(text: str) -> MeanClaim:
    """
    >>> mean("x <= 1/2")
    MeanClaim(of='x', to=0.5, side='at most')
    """
    match = re.fullmatch(r"(.+?)\s*(<=|>=|=)\s*(.+)", text.strip())
    if match is None:
        raise UsageError(f"`--mean {text}` claims no mean. {MEAN}")
    left, sign, to = match.groups()
    side = {"=": "exact", "<=": "at most", ">=": "at least"}[sign]
    return MeanClaim(left, _constant("--mean", text, to, MEAN), side)


def bound(text: str) -> BoundClaim:
    """
    >>> bound("gap <= 0.5")
    BoundClaim(left='gap', right=0.5)
    """
    match = re.fullmatch(r"(.+?)\s*<=\s*(.+)", text.strip())
    if match is None:
        raise UsageError(f"`--at-most {text}` claims no bound. {BOUND}")
    left, right = (_column_or_number(part) for part in match.groups())
    if not isinstance(left, str) and not isinstance(right, str):
        raise UsageError(f"`--at-most {text}` compares two numbers. One side at least is a column. {BOUND}")
    return BoundClaim(left, right)


def probability(text: str) -> ProbabilityClaim:
    """
    >>> probability("ok >= 0.99")
    ProbabilityClaim(of='ok', at_least=0.99)
    """
    match = re.fullmatch(r"(.+?)\s*>=\s*(.+)", text.strip())
    if match is None:
        raise UsageError(f"`--probability {text}` claims no probability. {PROBABILITY}")
    left, right = match.groups()
    return ProbabilityClaim(left, _constant("--probability", text, right, PROBABILITY))


def law(text: str) -> LawClaim:
    """
    >>> law("x ~ normal(0, 1) as n")
    LawClaim(of='x', to='normal', parameters=(0.0, 1.0), letter='n')
    >>> law("x ~ other").parameters is None
    True
    """
    match = re.fullmatch(r"(.+?)\s*~\s*(.+?)(?:\s+as\s+(\S+))?", text.strip())
    if match is None:
        raise UsageError(f"`--law {text}` names no law. {LAW}")
    left, right, letter = match.groups()
    called = re.fullmatch(r"(\w+)\s*\((.*)\)", right)
    if called is None:
        return LawClaim(left, right, None, letter)
    name, inside = called.groups()
    parameters = tuple(_constant("--law", text, part, LAW) for part in inside.split(",") if part.strip())
    return LawClaim(left, name, parameters, letter)


def class_of(text: str, because: str) -> Corrections:
    """The declared class of corrections.

    >>> str(class_of("0.7 n^-0.5..-2", ""))
    '0.7 in powers 0.5 to 2; rest 0.245 of order 1'
    >>> class_of("expansion(1; rest=0.3, order=2)", "smooth in 1/n").free
    (1.0,)

    **Raises:** UsageError for what is no class; StatementError for a sharp one without a reason.
    """
    typed = text.strip()
    if typed == "default":
        return Corrections(reason=because)
    if typed == "none":
        return Corrections(size=0.0, rest=0.0, reason=because)
    ranged = re.fullmatch(r"([\d.eE+-]+)\s*\w+\s*(?:\^|\*\*)\s*-([\d.]+)\s*\.\.\s*-([\d.]+)", typed)
    if ranged is not None:
        size, slow, fast = (_plain(part, text) for part in ranged.groups())
        return Corrections(size=size, slowest=slow, fastest=fast, reason=because)
    called = re.fullmatch(r"(expansion|prefactor|loglog)\s*\(([^;]*)(?:;(.*))?\)", typed)
    if called is None:
        raise UsageError(f"`--class {text}` is no class of corrections. {CLASS}")
    name, powers, options = called.groups()
    numbers = tuple(_plain(part, text) for part in powers.split(",") if part.strip())
    given = _options(options or "", text)
    if name in ("prefactor", "loglog"):
        if len(numbers) != 1 or given:
            raise UsageError(f"`--class {text}`: {name} has one power. {CLASS}")
        if name == "loglog":
            return Corrections(loglog=numbers[0], reason=because)
        return Corrections(size=0.0, rest=0.0, log=numbers[0], reason=because)
    if not numbers or set(given) != {"rest", "order"}:
        raise UsageError(f"`--class {text}`: an expansion has known powers, a rest and its order. {CLASS}")
    return Corrections(size=0.0, rest=given["rest"], order=given["order"], free=numbers, reason=because)


def _options(text: str, typed: str) -> dict[str, float]:
    found = {}
    for part in filter(str.strip, text.split(",")):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name not in ("rest", "order") or name in found:
            raise UsageError(f"`--class {typed}`: `{part.strip()}` is neither rest=... nor order=.... {CLASS}")
        found[name] = _plain(value, typed)
    return found


def _plain(text: str, typed: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"`--class {typed}`: `{text.strip()}` is no number. {CLASS}") from None


def _column_or_number(text: str) -> str | float:
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError):
        return text.strip()


def _parsed(option: str, text: str, part: str, example: str) -> ast.expr:
    try:
        return ast.parse(part.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        raise UsageError(f"`{option} {text}`: `{part.strip()}` cannot be read as mathematics. {example}") from None


def _constant(option: str, text: str, part: str, example: str) -> float:
    tree = _parsed(option, text, part, example)
    try:
        found = _value(tree)
    except (ValueError, ZeroDivisionError, OverflowError, TypeError):
        raise UsageError(f"`{option} {text}`: `{part.strip()}` is no number. {example}") from None
    if not math.isfinite(found):
        raise UsageError(f"`{option} {text}`: `{part.strip()}` is not finite. {example}")
    return found


def _value(node: ast.expr, letters: Mapping[str, float] = _CONSTANTS) -> float:
    """A number made of numbers, + - * / **, pi, e, sqrt, log and exp."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.Name(id=name) if name in letters:
            return letters[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, letters)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _value(inner, letters)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _value(left, letters), _value(right, letters)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
                case ast.Pow():
                    found = a**b
                    if isinstance(found, complex):
                        raise ValueError(found)
                    return found
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_value(inner, letters))
    raise ValueError(ast.dump(node))


def _order(node: ast.expr, letter: str, text: str) -> tuple[float, float]:
    """The exponent of the letter, and the constant of an exponential in it; constant factors are of no account."""
    try:
        _value(node)
    except (ValueError, ZeroDivisionError, OverflowError):
        pass
    else:
        return 0.0, 0.0
    match node:
        case ast.Name(id=name) if name == letter:
            return 1.0, 0.0
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _order(inner, letter, text)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            (p, c), (q, d) = _order(left, letter, text), _order(right, letter, text)
            sign = 1 if isinstance(op, ast.Mult) else -1
            return p + sign * q, c + sign * d
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            p, c = _order(left, letter, text)
            try:
                power = _value(right)
            except (ValueError, ZeroDivisionError, OverflowError):
                raise UsageError(f"`--rate {text}`: an exponent is a number. {RATE}") from None
            return power * p, power * c
        case ast.Call(func=ast.Name(id="sqrt"), args=[inner], keywords=[]):
            p, c = _order(inner, letter, text)
            return p / 2, c / 2
        case ast.Call(func=ast.Name(id="exp"), args=[inner], keywords=[]):
            try:
                at = [_value(inner, {**_CONSTANTS, letter: x}) for x in (0.0, 1.0, 2.0)]
            except (ValueError, ZeroDivisionError, OverflowError):
                at = [0.0, 0.0, 1.0]
            # Linear iff the second difference vanishes; four roundings of numbers this large may separate it from zero.
            if abs(at[2] - 2 * at[1] + at[0]) <= 4 * 2.0**-52 * max(map(abs, at)):
                return 0.0, at[1] - at[0]
            raise UsageError(f"`--rate {text}`: only exponentials of a multiple of {letter} are decided. {RATE}")
        case ast.Call(func=ast.Name(id="log")):
            raise UsageError(
                f"`--rate {text}` holds a logarithm. Finite data tell log n from a power only under a declared class. "
                "Write the power alone, and `--class loglog(1)` for an unknown power of log n, up to 1, beside it."
            )
    raise UsageError(f"`--rate {text}`: the right side is no power of {letter} and no exponential in it. {RATE}")
