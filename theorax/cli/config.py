"""The project's own defaults, ``[tool.theorax]`` in the nearest pyproject.toml, and the folder of kept results."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from theorax.errors import UsageError
from theorax.names import did_you_mean

EXAMPLES: Mapping[str, str] = {
    "effort": '"quick"',
    "device": '"cpu"',
    "seed": "0",
    "jobs": "2",
    "level": "0.025",
    "adjust": '"e-bh"',
    "state": '".theorax"',
    "exclude": '["paper:instruments"]',
    "output": '["terminal", "json=report.json"]',
}
_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "effort": lambda value: isinstance(value, str),
    "device": lambda value: isinstance(value, str),
    "seed": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "jobs": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "level": lambda value: isinstance(value, float),
    "adjust": lambda value: isinstance(value, str),
    "state": lambda value: isinstance(value, str),
    "exclude": lambda value: isinstance(value, list) and all(isinstance(part, str) for part in value),
    "output": lambda value: isinstance(value, list) and all(isinstance(part, str) for part in value),
}


@dataclass(frozen=True)
class Project:
    """The folder that a command speaks about, with its defaults."""

    root: Path
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        """The folder in which results are kept."""
        return self.root / self.defaults.get("state", ".theorax")


def find(start: Path) -> Project:
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
        if key not in EXAMPLES:
            hint = did_you_mean(key, EXAMPLES)
            raise UsageError(
                f"`[tool.theorax]` in {file} has an unknown key `{key}`{hint} Known: {', '.join(EXAMPLES)}."
            )
        if not _KINDS[key](value):
            raise UsageError(
                f"`{key} = {value!r}` in `[tool.theorax]` of {file} cannot be meant. Write `{key} = {EXAMPLES[key]}`."
            )
    return table
