"""The schemas of what is written as JSON, and what in a document disobeys one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

SCHEMAS = Path(__file__).parent / "schema"
LONGEST = 200  # characters of an offending value that a message repeats


def fault(found: Mapping[str, Any], name: str) -> tuple[str, str] | None:
    """The place and the fault of what disobeys the schema of this name worst; None if nothing does."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator(name).iter_errors(found))
    if error is None:
        return None
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    message = error.message if len(error.message) <= LONGEST else error.message[:LONGEST] + " ..."
    return place or ".", message


def obeyed(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The document, which theorax made itself.

    **Raises:** RuntimeError if it disobeys the schema all the same: then theorax is at fault, and no user.
    """
    wrong = fault(found, name)
    if wrong is not None:
        raise RuntimeError(f"What was to be written is not what schema {name} describes, at `{wrong[0]}`: {wrong[1]}")
    return found


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")))
