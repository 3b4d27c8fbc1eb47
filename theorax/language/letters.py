"""Letters: SymPy symbols that carry what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sympy import Symbol
from sympy.core.assumptions import _assume_defined

from theorax.errors import StatementError, UnknownLetter
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
            raise StatementError(
                f"{cls.__name__}({name!r}) is no name. A user types it after --at, so it must be an identifier. "
                "Write a word such as sigma_A."
            )
        if not meaning.strip():
            raise StatementError(
                f"{cls.__name__}({name!r}) has no meaning. A report must tell its reader what the letter stands for. "
                f'Write {cls.__name__}("{name}", "...").'
            )
        if unknown := sorted(set(assumptions) - set(_assume_defined)):
            raise StatementError(
                f"{cls.__name__}({name!r}) was given {', '.join(unknown)}, which is no assumption of SymPy's. It would be "
                f"kept and mean nothing. Leave it out, or write one that is meant{did_you_mean(unknown[0], _assume_defined)}"
            )
        letter = Symbol.__xnew__(cls, name, **assumptions)
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
    """A positive integer that may tend to infinity: a context length, a width, a depth."""

    __slots__ = ()

    def __new__(cls, name: str, meaning: str) -> Size:
        return super().__new__(cls, name, meaning, integer=True, positive=True)

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, Any]]:
        return (self.name, self.meaning), {}


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
    user's own model does not know the coefficient of variation of its attention weights.
    """

    __slots__ = ("measured",)
    measured: Measured | None

    def __new__(cls, name: str, meaning: str, *, measured: Measured | None = None, **assumptions: Any) -> Parameter:
        letter = super().__new__(cls, name, meaning, **{"real": True, **assumptions})
        letter.measured = measured
        return letter

    def _carried(self) -> dict[str, Any]:
        return {"measured": self.measured}


class Measured(Letter):
    """A letter for what a draw returns: a real number, or one for every value of the indices ``over``.

    ``sample``: the draw returns a vector of values whose empirical law is meant, such as the singular values of one
    matrix. They depend on each other, so the draw, not the value, is the unit of every statistic.
    ``array``: the draw returns an array that is compared entry by entry (the sides of an :class:`Identity`).
    """

    __slots__ = ("array", "over", "sample")
    over: tuple[Index, ...]
    sample: bool
    array: bool

    def __new__(
        cls,
        name: str,
        meaning: str,
        *,
        over: tuple[Index, ...] = (),
        sample: bool = False,
        array: bool = False,
        **assumptions: Any,
    ) -> Measured:
        letter = super().__new__(cls, name, meaning, **{"real": True, **assumptions})
        letter.over, letter.sample, letter.array = over, sample, array
        return letter

    def _carried(self) -> dict[str, Any]:
        return {"over": self.over, "sample": self.sample, "array": self.array}


class Letters:
    """Measured letters by name: ``seen.weights`` is one of them; a misspelt name fails where it is written."""

    __slots__ = ("_letters",)

    def __init__(self, letters: dict[str, Measured]) -> None:
        self._letters = letters

    def __getattr__(self, name: str) -> Measured:
        if name.startswith("_"):  # what Python itself asks of a value
            raise AttributeError(name)
        if name not in self._letters:
            raise UnknownLetter(
                f"There is no measured letter {name!r} here{did_you_mean(name, self._letters)} "
                f"Declared are {', '.join(self._letters)}. Write one of them, or declare it where the others are."
            )
        return self._letters[name]

    def __iter__(self) -> Iterator[Measured]:
        return iter(self._letters.values())

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._letters})

    def __repr__(self) -> str:
        return f"Letters({', '.join(self._letters)})"


def arrays(*, over: tuple[Index, ...] = (), **meanings: str) -> Letters:
    """Measured letters that are arrays, compared entry by entry: ``seen = arrays(weights="...", expanded="...")``."""
    return _letters(meanings, over=over, array=True)


def numbers(*, over: tuple[Index, ...] = (), sample: bool = False, positive: bool = False, **meanings: str) -> Letters:
    """Measured letters that are numbers: ``seen = numbers(top="...", tail="...", over=(l,), positive=True)``."""
    return _letters(meanings, over=over, sample=sample, **(dict(positive=True) if positive else {}))


def _letters(meanings: Mapping[str, str], **shared: Any) -> Letters:
    if not meanings:
        raise StatementError(
            'Letters without a name measure nothing. Write arrays(weights="...") or numbers(gap="...").'
        )
    return Letters({name: Measured(name, meaning, **shared) for name, meaning in meanings.items()})
