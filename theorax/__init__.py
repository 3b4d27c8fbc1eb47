"""Symbolic-numeric verification of theorems of deep-learning theory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theorax.version import __version__

if TYPE_CHECKING:
    from theorax import decide, exact
    from theorax.errors import (
        DesignError,
        NothingSelected,
        ObservationError,
        StatementError,
        TheoraxError,
        UsageError,
    )
    from theorax.reports.library import Report, verify

__all__ = [
    "DesignError",
    "NothingSelected",
    "ObservationError",
    "Report",
    "StatementError",
    "TheoraxError",
    "UsageError",
    "__version__",
    "decide",
    "exact",
    "verify",
]

_HOMES = {"verify": "theorax.reports.library", "Report": "theorax.reports.library"}


def __getattr__(name: str) -> Any:
    # Imported on first use: the command must answer before any of this is loaded.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name in ("decide", "exact"):
        return import_module(f"theorax.{name}")
    return getattr(import_module(_HOMES.get(name, "theorax.errors")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
