"""The kinds of claim, one file each: values that check their own mathematics when they are built.

A kind owns its meaning: notation, wrong, sharper and weaker variants, assumptions, the field that theory predicts. The kinds
are those that the modules of this folder define; nothing lists them besides the imports that type checkers read.
"""

from __future__ import annotations

from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules

from theorax.language.claims.claim import Claim
from theorax.language.claims.expectation import Expectation
from theorax.language.claims.identity import Identity
from theorax.language.claims.impossibility import Impossibility
from theorax.language.claims.inequality import Inequality
from theorax.language.claims.law import Law
from theorax.language.claims.limit import Limit
from theorax.language.claims.optimum import Optimum
from theorax.language.claims.probability import Probability
from theorax.language.claims.rate import Rate


def _kinds() -> tuple[type[Claim], ...]:
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return tuple(
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Claim) and not isabstract(value)
        if value.__module__ == module.__name__
    )


KINDS = _kinds()

__all__ = [
    "KINDS",
    "Claim",
    "Expectation",
    "Identity",
    "Impossibility",
    "Inequality",
    "Law",
    "Limit",
    "Optimum",
    "Probability",
    "Rate",
]
