"""A report document from a file: whole, of a version that is known, obeying its schema, and brought up to the present one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from theorax.errors import UsageError
from theorax.reports.document import SCHEMA_VERSION, Document
from theorax.reports.schemas import fault

OLDEST = 1


def read(path: Path) -> Document:
    """The report in this file, as the present version has it.

    **Raises:** UsageError if there is none, it is cut off, of an unknown version, or does not obey its schema; the
    message names the offending field.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(
            f"There is no report `{path}`. Write one with `verify all --output json=report.json`."
        ) from None
    except IsADirectoryError:
        raise UsageError(f"`{path}` is a folder. Name the report in it, such as `{path / 'report.json'}`.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The report `{path}` cannot be read: {error}. Give the file that `verify` wrote.") from None
    try:
        found = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"`{path}` is no whole report: {error}. It was cut off or edited; run `verify` again, or give another file."
        ) from None
    return current(found, str(path))


def current(found: Any, name: str = "the document") -> Document:
    """A document of any known version, checked against that version's schema, as the present version has it.

    **Raises:** UsageError as :func:`read` does.
    """
    version = found.get("schema_version") if isinstance(found, dict) else None
    if isinstance(version, bool) or not isinstance(version, int):
        raise UsageError(
            f"`{name}` is no report of theorax: it has no whole number at `.schema_version`. "
            "Give a file written by `--output json=FILE`."
        )
    if not OLDEST <= version <= SCHEMA_VERSION:
        raise UsageError(
            f"`{name}` is a report of version {version}; this theorax reads {OLDEST} to {SCHEMA_VERSION}. "
            + ("Update theorax." if version > SCHEMA_VERSION else "Run `verify` again.")
        )
    validate(found, version, name)
    for older in range(version, SCHEMA_VERSION):
        found = UPGRADES[older](found)
    return dict(found)


def validate(found: Mapping[str, Any], version: int = SCHEMA_VERSION, name: str = "The report") -> None:
    """Hold a document against the schema of its version.

    **Raises:** UsageError that names the path of the offending field.
    """
    wrong = fault(found, f"v{version}")
    if wrong is not None:
        raise UsageError(f"{name} is not what schema v{version} describes, at `{wrong[0]}`: {wrong[1]}")


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _second(found: Mapping[str, Any]) -> Document:
    """Version 1 did not say where a claim is stated, what was read for it, or how a step looks in LaTeX."""
    theorems = [
        {
            **part,
            "file": "",
            "digest": "",
            "reads": [],
            "claims": [{**claim, "line": None} for claim in part["claims"]],
            "proof": [{**step, "latex": ""} for step in part["proof"]],
        }
        for part in found["theorems"]
    ]
    return {**found, "schema_version": 2, "sources": [], "theorems": theorems}


def _third(found: Mapping[str, Any]) -> Document:
    """Version 2 had no bibliography."""
    theorems = [{**part, "works": []} for part in found["theorems"]]
    return {**found, "schema_version": 3, "bibliography": [], "theorems": theorems}


UPGRADES: Mapping[int, Callable[[Mapping[str, Any]], Document]] = {1: _second, 2: _third}
"""From a version to the next: what it lacks is empty, nothing is guessed."""
