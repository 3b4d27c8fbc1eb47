"""The project: the nearest pyproject.toml, its defaults in ``[tool.theorax]``, and the folder of kept results."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from theorax.deleted import SETTINGS
from theorax.errors import UsageError
from theorax.names import did_you_mean


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _is_fraction(value: Any) -> bool:
    return isinstance(value, float)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


# An example of every key, and what its value must be.
KEYS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "effort": ('"quick"', _is_text),
    "device": ('"cpu"', _is_text),
    "seed": ("0", _is_whole),
    "jobs": ("2", _is_whole),
    "timeout": ("600", _is_positive),
    "level": ("0.025", _is_fraction),
    "state": ('".theorax"', _is_text),
    "theorems": ('["claims"]', _is_list),
    "exclude": ('["paper:instruments"]', _is_list),
    "output": ('["terminal", "json=report.json"]', _is_list),
}


@dataclass(frozen=True)
class Project:
    """The folder that a command speaks about, with its defaults."""

    root: Path
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def theorems(self) -> tuple[str, ...]:
        """The folders of theorem files that the project names, relative to its root."""
        return tuple(self.defaults.get("theorems", ()))

    @property
    def state(self) -> Path:
        """The folder in which results are kept."""
        return self.root / self.defaults.get("state", ".theorax")


def find_project(start: Path) -> Project:
    """The nearest folder at or above ``start`` with a pyproject.toml or a repository; else ``start`` itself.

    **Raises:** UsageError if its ``[tool.theorax]`` cannot be read, or has a key or a value that means nothing.
    """
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            return Project(folder, _defaults(file))
        if (folder / ".git").exists():
            return Project(folder)
    return Project(start)


def _defaults(file: Path) -> Mapping[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}.") from None
    # Most projects have no such table, and the reader of TOML costs as much as all the rest of `verify list`.
    if re.search(r"""^\s*\[?\s*(tool["']?\s*\.\s*["']?)?theorax["']?\s*([]=.]|$)""", text, re.MULTILINE) is None:
        return {}
    import tomllib

    try:
        table = tomllib.loads(text).get("tool", {}).get("theorax", {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file} is no TOML: {error}.") from None
    if not isinstance(table, dict):
        raise UsageError(f"`tool.theorax` in {file} is no table. Write `[tool.theorax]` and its keys below.")
    for key, value in table.items():
        if key in SETTINGS:
            raise UsageError(f"{SETTINGS[key]} Delete `{key}` from `[tool.theorax]` in {file}.")
        if key not in KEYS:
            hint = did_you_mean(key, KEYS)
            raise UsageError(f"`[tool.theorax]` in {file} has an unknown key `{key}`{hint} Known: {', '.join(KEYS)}.")
        example, fits = KEYS[key]
        if not fits(value):
            raise UsageError(
                f"`{key} = {value!r}` in `[tool.theorax]` of {file} is not valid. Write `{key} = {example}`."
            )
    return table
