"""Letters: SymPy symbols that carry what they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sympy import Expr, Integer, Symbol, sqrt
from sympy.core.assumptions import _assume_defined

from theorax.errors import StatementError, UnknownLetter, problem
from theorax.language.typed_notation import in_latex, in_unicode, is_composite
from theorax.names import did_you_mean


class Letter(Symbol):
    """A symbol with a meaning.

    Two letters are the same letter if kind, name, assumptions, meaning and whatever else they carry agree. SymPy keeps
    the expressions it has built: letters of two theorems that share only their name must not be taken for each other.

    **Raises:** StatementError if the meaning is empty or the name is not one a user can type after ``--at``.
    """

    __slots__ = ("meaning",)
    meaning: str

    def __new__(cls, name: str, meaning: str, **assumptions: Any) -> Letter:
        if not name.isidentifier():
            problem(
                "letter-name",
                f"{cls.__name__}({name!r}) is no name. A user types it after --at, so it must be an identifier. "
                "Write a word such as sigma_A.",
            )
        if not meaning.strip():
            problem(
                "letter-meaning",
                f"{cls.__name__}({name!r}) has no meaning. A report must tell its reader what the letter stands for. "
                f'Write {cls.__name__}("{name}", "...").',
            )
        if unknown := sorted(set(assumptions) - set(_assume_defined)):
            problem(
                "letter-assumption",
                f"{cls.__name__}({name!r}) was given {', '.join(unknown)}, which is no assumption of SymPy's. It would be "
                f"kept and mean nothing. Leave it out, or write one that is meant{did_you_mean(unknown[0], _assume_defined)}",
            )
        letter = Symbol.__xnew__(cls, name, **{word: assumptions[word] for word in assumptions if word not in unknown})
        letter.meaning = meaning
        return letter

    def _carried(self) -> dict[str, Any]:
        """Attributes that tell this letter from others of its name, besides its meaning and its assumptions."""
        return {}

    def _hashable_content(self) -> tuple[Any, ...]:
        return (*super()._hashable_content(), self.meaning, *map(repr, self._carried().values()))

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, Any]]:
        return (self.name, self.meaning), {**self._assumptions_orig, **self._carried()}


class Size(Letter):
    """A positive integer that may tend to infinity: a context length, a width, a depth.

    ``closed``: why the model takes no other values than those of the experiment, which are then part of the statement.
    """

    __slots__ = ("closed",)
    closed: str

    def __new__(cls, name: str, meaning: str, *, closed: str = "") -> Size:
        letter = super().__new__(cls, name, meaning, integer=True, positive=True)
        letter.closed = _reason(letter, closed)
        return letter

    def _carried(self) -> dict[str, Any]:
        return {"closed": self.closed} if self.closed else {}

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, Any]]:
        return (self.name, self.meaning), self._carried()


class Index(Letter):
    """A positive integer for which one draw measures every value, such as the layers of one network."""

    __slots__ = ()

    def __new__(cls, name: str, meaning: str) -> Index:
        return super().__new__(cls, name, meaning, integer=True, positive=True)

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, Any]]:
        return (self.name, self.meaning), {}


class Parameter(Letter):
    """A number fixed within a case; real unless further SymPy assumptions are given.

    ``measured``: the letter whose average over the draws stands in where a subject does not know this one, as a
    user's own model does not know the coefficient of variation of its attention weights. ``closed``: why the model takes
    no other values than those of the experiment, which are then part of the statement.
    """

    __slots__ = ("closed", "measured")
    closed: str
    measured: Measured | None

    def __new__(
        cls, name: str, meaning: str, *, measured: Measured | None = None, closed: str = "", **assumptions: Any
    ) -> Parameter:
        letter = super().__new__(cls, name, meaning, **{"real": True, **assumptions})
        letter.measured, letter.closed = measured, _reason(letter, closed)
        return letter

    def _carried(self) -> dict[str, Any]:
        return {"measured": self.measured} | ({"closed": self.closed} if self.closed else {})


class Measured(Letter):
    """A letter for what a draw returns: a real number, or one for every value of the indices ``over``.

    ``sample``: the draw returns a vector of values whose empirical law is meant, such as the singular values of one
    matrix. They depend on each other, so the draw, not the value, is the unit of every statistic.
    ``array``: the draw returns an array that is compared entry by entry (the sides of an :class:`Identity`).
    ``notation``: the mathematics that the letter stands for, ``"sr(X_l X_l^T) - 1"``. Reports show it in place of the
    name; code and JSON use the name.
    """

    __slots__ = ("array", "notation", "over", "sample")
    over: tuple[Index, ...]
    sample: bool
    array: bool
    notation: str

    def __new__(
        cls,
        name: str,
        meaning: str,
        *,
        over: tuple[Index, ...] = (),
        sample: bool = False,
        array: bool = False,
        notation: str = "",
        **assumptions: Any,
    ) -> Measured:
        letter = super().__new__(cls, name, meaning, **{"real": True, **assumptions})
        if notation and (not notation.isprintable() or not notation.strip()):
            problem(
                "letter-notation",
                f"The notation {notation!r} of {name} holds signs that cannot be printed, or nothing. A report shows it in "
                'place of the name. Write the mathematics on one line, notation="sr(X_l X_l^T) - 1".',
            )
        letter.over, letter.sample, letter.array, letter.notation = over, sample, array, notation.strip()
        return letter

    def _carried(self) -> dict[str, Any]:
        carried = {"over": self.over, "sample": self.sample, "array": self.array}
        return {**carried, "notation": self.notation} if self.notation else carried

    def shown(self, *, alone: bool) -> str:
        """The notation in Unicode, in brackets where it is a part of an expression and needs them."""
        text = in_unicode(self.notation)
        return text if alone or not is_composite(self.notation) else f"({text})"

    def _latex(self, printer: Any) -> str:  # SymPy's printers ask for it
        if not self.notation:
            found: str = printer._print_Symbol(self)
            return found
        text = in_latex(self.notation)
        alone = printer._print_level == 1 or not is_composite(self.notation)
        return text if alone else rf"\left({text}\right)"

    def _pretty(self, printer: Any) -> Any:
        if not self.notation:
            return printer._print_Symbol(self)
        from sympy.printing.pretty.stringpict import prettyForm

        return prettyForm(self.shown(alone=printer._print_level == 1))


def _reason(letter: Letter, closed: Any) -> str:
    """The reason why a letter takes no other values.

    **Raises:** StatementError for what is no sentence.
    """
    if not isinstance(closed, str) or (closed and not closed.strip()):
        problem(
            "letter-closed",
            f"{type(letter).__name__}({letter.name!r}) has closed={closed!r}. A reader must know why the model takes no "
            'other value of it. Write closed="why", or leave it out.',
        )
        return ""
    return closed


def disobeyed(letter: Symbol, value: Expr) -> str | None:
    """An assumption of the letter that this value does not obey, in words; None where it obeys all.

    SymPy has simplified by the assumptions before any value is put in: of a value that disobeys them nothing was shown.
    A value in other letters disobeys where that is certain; a number must be known to obey.
    """
    for name, wanted in sorted(letter.assumptions0.items(), key=_told_first):
        found = getattr(value, f"is_{name}")
        if found is None and value.is_number:
            found = _in_numbers(name, value)
        if found is not wanted and (found is not None or value.is_number):
            return f"{'' if wanted else 'not '}{name}"
    return None


def disobeyed_between(letter: Symbol, lower: Expr, upper: Expr) -> str | None:
    """An assumption of the letter that some number of this range does not obey, in words; None where all obey."""
    inside = [lower + (upper - lower) / 2, lower + (upper - lower) / sqrt(2)]  # a rational and an irrational number
    if lower < 0 < upper:
        inside.insert(0, Integer(0))
    found = (disobeyed(letter, value) for value in (lower, upper, *inside))
    return next((word for word in found if word is not None), None)


def same_assumptions(letters: Iterable[Symbol], symbols: Iterable[Symbol]) -> None:
    """Let pass symbols that assume of a name what the letter of that name assumes.

    **Raises:** StatementError for a symbol that assumes something else.
    """
    known = {letter.name: letter for letter in letters}
    for symbol in symbols:
        letter = known.get(symbol.name)
        if letter is None or letter == symbol or letter.assumptions0 == symbol.assumptions0:
            continue
        ours, theirs = (set(part.assumptions0.items()) for part in (letter, symbol))
        name, value = min(ours ^ theirs, key=_told_first)
        has, lacks = ("the letter", "the symbol") if (name, value) in ours else ("the symbol", "the letter")
        raise StatementError.of(
            "proof-symbol",
            f"The proof's symbol {symbol.name} is not the letter {symbol.name} of the theorem: {has} is assumed "
            f"{'' if value else 'not '}{name}, {lacks} is not. SymPy simplifies by what is assumed, so the proof speaks "
            f"of other values. Use the letter itself in the proof, or give both the same assumptions.",
        )


# The assumptions that an author writes come first in what is told.
_PLAIN = ("positive", "negative", "nonnegative", "nonpositive", "nonzero", "integer", "real")


def _told_first(row: tuple[str, bool]) -> tuple[bool, bool, int, str]:
    name, value = row
    return name not in _PLAIN, not value, _PLAIN.index(name) if name in _PLAIN else 0, name


_SIGNS: Mapping[str, Callable[[Expr], bool]] = {
    "positive": lambda number: number > 0,
    "negative": lambda number: number < 0,
    "nonnegative": lambda number: number >= 0,
    "nonpositive": lambda number: number <= 0,
    "nonzero": lambda number: number != 0,
    "zero": lambda number: number == 0,
}


_OF_FLOATS = ("commutative", "complex", "extended_real", "finite", "hermitian", "real")


def _in_numbers(name: str, value: Expr) -> bool | None:
    """Sign of a number that SymPy's rules leave open, to thirty digits; None for what digits do not tell."""
    number = value.evalf(30)
    if not number.is_Float:
        return None
    if name in ("infinite", "imaginary"):
        return False
    sign = _SIGNS.get(name.removeprefix("extended_"))
    return bool(sign(number)) if sign is not None else (True if name in _OF_FLOATS else None)


class Letters:
    """Measured letters by name: ``seen.weights`` is one of them; a misspelt name fails where it is written."""

    __slots__ = ("_letters",)

    def __init__(self, letters: dict[str, Measured]) -> None:
        self._letters = letters

    def __getattr__(self, name: str) -> Measured:
        if name.startswith("_"):  # what Python itself asks of a value
            raise AttributeError(name)
        if name not in self._letters:
            raise UnknownLetter.of(
                "unknown-letter",
                f"There is no measured letter {name!r} here{did_you_mean(name, self._letters)} "
                f"Declared are {', '.join(self._letters)}. Write one of them, or declare it where the others are.",
            )
        return self._letters[name]

    def __iter__(self) -> Iterator[Measured]:
        return iter(self._letters.values())

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._letters})

    def __repr__(self) -> str:
        return f"Letters({', '.join(self._letters)})"


Meaning = str | tuple[str, str]
"""The meaning of a measured letter, or its notation and its meaning: ``("sr(X_l X_l^T) - 1", "excess of the Gram matrix")``."""


def arrays(*, over: tuple[Index, ...] = (), **meanings: Meaning) -> Letters:
    """Measured letters that are arrays, compared entry by entry: ``seen = arrays(weights="...", expanded=("S V", "..."))``.

    Of two texts the first is the notation.
    """
    return _letters(meanings, over=over, array=True)


def numbers(
    *, over: tuple[Index, ...] = (), sample: bool = False, positive: bool = False, **meanings: Meaning
) -> Letters:
    """Measured letters that are numbers: ``seen = numbers(top="...", tail=("|lambda_2|", "..."), over=(l,))``.

    Of two texts the first is the notation.
    """
    return _letters(meanings, over=over, sample=sample, **(dict(positive=True) if positive else {}))


def _letters(meanings: Mapping[str, Meaning], **shared: Any) -> Letters:
    if not meanings:
        raise StatementError.of(
            "letter-name", 'Every letter needs a name. Write arrays(weights="...") or numbers(gap="...").'
        )
    pairs = {name: ("", given) if isinstance(given, str) else given for name, given in meanings.items()}
    return Letters(
        {name: Measured(name, meaning, notation=notation, **shared) for name, (notation, meaning) in pairs.items()}
    )
