"""Inert modules in the place of JAX and what needs it, so that a statement is read without them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

_INERT = ("jax", "jaxlib", "equinox", "diffrax", "optax", "optimistix", "lineax", "jaxtyping", "theorax.numerics")
_CATALOGUED = "theorax.theorems"
_DECLARING = ("equinox.field", "equinox.static_field", "jax.config.update", "jaxtyping.jaxtyped")


class ComputesAtImport(Exception):
    """A file computes with JAX while it is imported; its argument is the name that was called."""


class Inert:
    """A value of an inert module: it may be named, subscripted, derived from and used as a decorator, not computed with."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name == "__signature__":
            raise ComputesAtImport(self._name)
        if name.startswith("__"):
            raise AttributeError(name)
        return Inert(f"{self._name}.{name}")

    def __getitem__(self, _: Any) -> Inert:
        return self

    def __or__(self, _: Any) -> Inert:
        return self

    __ror__ = __or__

    def __mro_entries__(self, _: tuple[Any, ...]) -> tuple[type, ...]:
        return (InertBase,)

    def __call__(self, *given: Any, **_: Any) -> Any:
        if given and (inspect.isfunction(given[0]) or inspect.isclass(given[0])):
            function: Any = given[0]
            if "custom" in self._name:  # rules of derivatives are added to the decorated function
                function.defvjp = function.defjvp = function.defjvps = function.def_vmap = lambda *_, **__: None
            return function
        if not given or self._name in _DECLARING:
            return Inert(self._name)
        raise ComputesAtImport(self._name)


class InertBase:
    """Base of the classes that derive from an inert one; an instance would compute."""

    def __init_subclass__(cls, **_: Any) -> None:
        super().__init_subclass__()

    def __init__(self, *_: Any, **__: Any) -> None:
        raise ComputesAtImport(type(self).__name__)


class _InertModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Inert(f"{self.__name__}.{name}")


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        return ModuleSpec(fullname, self, is_package=True) if _is_inert(fullname) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _InertModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """An inert module holds nothing."""


@contextmanager
def inert_modules(*roots: Path) -> Iterator[None]:
    """Import nothing of JAX inside; what is imported from below ``roots`` is forgotten at the end."""

    def passing(name: str) -> bool:
        if _is_inert(name):
            return True
        file = getattr(sys.modules[name], "__file__", None)
        if file is None or name == _CATALOGUED or (name.count(".") == 2 and Path(file).parent.name == "theorems"):
            return False  # the modules beside the papers hold no theorem
        return any(Path(file).is_relative_to(root) for root in roots)

    saved = {name: sys.modules[name] for name in list(sys.modules) if passing(name)}
    for name in saved:
        del sys.modules[name]
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if passing(name)]:
            del sys.modules[name]
        sys.modules.update(saved)


def _is_inert(name: str) -> bool:
    return any(name == inert or name.startswith(f"{inert}.") for inert in _INERT)
