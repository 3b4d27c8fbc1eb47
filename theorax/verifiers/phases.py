"""Phases of a check while it is under way, for whoever shows its progress; no result depends on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Tell = Callable[[str], None]
DECIDING = "deciding"
IMPORTING = "importing"  # of a theorem's file; the clock of a time limit begins with it


def _nobody(_: str) -> None:
    """Tell nobody."""


_TELL: ContextVar[Tell] = ContextVar("_TELL", default=_nobody)
_NOW: ContextVar[str] = ContextVar("_NOW", default=DECIDING)


@contextmanager
def told_to(tell: Tell) -> Iterator[None]:
    """Tell every phase that begins in this context."""
    token = _TELL.set(tell)
    try:
        yield
    finally:
        _TELL.reset(token)


@contextmanager
def phase(name: str, number: int = 0, total: int = 0) -> Iterator[None]:
    """A phase, the ``number``-th of ``total`` such; afterwards the one around it goes on.

    >>> with told_to(print), phase("drawing", 2, 3), phase("compiling", 1, 1):
    ...     pass
    drawing 2/3
    compiling 1/1
    drawing 2/3
    deciding
    """
    token = _NOW.set(f"{name} {number}/{total}" if 0 < number <= total else name)
    _TELL.get()(_NOW.get())
    try:
        yield
    finally:
        _NOW.reset(token)
        _TELL.get()(_NOW.get())
