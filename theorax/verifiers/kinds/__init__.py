"""One file per kind of claim: from a claim and its observations to a decision.

A kind is found in the modules of this folder by the class of claims that its judge names; nothing lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any

from theorax.language import Claim
from theorax.verifiers.kinds.lowering import CellCase, CellResult, Judge

__all__ = ["JUDGES", "CellCase", "CellResult", "Judge"]


def _found() -> Mapping[type[Claim], Judge[Any]]:
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    judges = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Judge) and value.__module__ == module.__name__
    ]
    return MappingProxyType({judge.kind: judge() for judge in judges if not isabstract(judge)})


JUDGES = _found()
