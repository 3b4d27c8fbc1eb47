"""Types of what an author hands over: a value of another type is refused where it is written."""

from __future__ import annotations

from collections.abc import Iterable
from types import UnionType
from typing import Any

from theorax.errors import StatementError

__all__ = ["is_one_of", "refuse_type", "refuse_value", "takes"]

_LONGEST = 60  # characters of a value that an error shows


def takes(who: str, name: str, value: Any, wanted: type | UnionType, instead: str) -> None:
    """Let pass a value of a wanted type.

    **Raises:** StatementError for any other: nothing that depends on the value can be looked at.
    """
    if not isinstance(value, wanted):
        refuse_type(who, name, value, instead)


def is_one_of(who: str, name: str, value: Any, words: Iterable[str]) -> None:
    """Let pass one of these words.

    **Raises:** StatementError for any other value.
    """
    known = tuple(words)
    if value not in known:
        refuse_value(who, name, value, f"Write one of {', '.join(map(repr, known))}.")


def refuse_type(who: str, name: str, value: Any, instead: str) -> None:
    """Refuse a value.

    **Raises:** StatementError, with the value and its type.
    """
    given = f"{who}: {name}={_shown(value)} is {_kind(value)}"
    raise StatementError.of("argument-type", f"{given}, which has no meaning there. {instead}")


def refuse_value(who: str, name: str, value: Any, instead: str) -> None:
    """Refuse a value whose type is right.

    **Raises:** StatementError, with the value.
    """
    raise StatementError.of("argument-type", f"{who}: {name}={_shown(value)} has no meaning there. {instead}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _kind(value: Any) -> str:
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"
