"""Decisions without an error rate on programs and functions of your own: exact algebra, balls and finite fields.

>>> from theorax import exact
>>> print(exact.certify(lambda x, y: x**2 + y**2 - x * y, {"x": (-1, 2), "y": (1, 2)}).status)
CERTIFIED
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from theorax.exact.array_identity import arrays
    from theorax.exact.certificates import certify, search
    from theorax.exact.minima import duality, minimum
    from theorax.exact.program_identity import identity

_HOMES = {
    "arrays": "theorax.exact.array_identity",
    "certify": "theorax.exact.certificates",
    "duality": "theorax.exact.minima",
    "identity": "theorax.exact.program_identity",
    "minimum": "theorax.exact.minima",
    "search": "theorax.exact.certificates",
}

__all__ = ["arrays", "certify", "duality", "identity", "minimum", "search"]


def __getattr__(name: str) -> Any:
    # Imported on first use: a comparison of arrays needs no search over boxes.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
