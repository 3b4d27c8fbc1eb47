"""The JSON files that theorax writes and reads: one type each, and the schema that is generated from it.

``python -m theorax.reports.schemas`` writes the schemas anew, where a type has changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from theorax.errors import UsageError
from theorax.text.codec import Malformed, built, schema

WIDTH = 110  # of a line of a schema
FOLDER = Path(__file__).parent / "schema"
File = TypeVar("File")


def kinds() -> Mapping[str, type]:
    """The type of each file by the name of its schema."""
    from theorax.reports.baselines import Baseline
    from theorax.reports.document import Document
    from theorax.reports.regression import Comparison
    from theorax.reports.replaying import Replay

    return {"report": Document, "baseline": Baseline, "comparison": Comparison, "replay": Replay}


def described(name: str) -> str:
    """The text of a schema as its type generates it."""
    return _written(schema(kinds()[name], f"theorax {name}")) + "\n"


def _written(value: Any, indent: int = 0) -> str:
    """JSON such that what has room on a line stands on one."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) + indent <= WIDTH or not isinstance(value, (dict, list)):
        return text
    if isinstance(value, list):
        rows, (left, right) = [_written(part, indent + 1) for part in value], "[]"
    else:
        rows, (left, right) = [f"{json.dumps(key)}: {_written(part, indent + 1)}" for key, part in value.items()], "{}"
    inner = f",\n{' ' * (indent + 1)}".join(rows)
    return f"{left}\n{' ' * (indent + 1)}{inner}\n{' ' * indent}{right}"


def json_in(path: Path, what: str, write: str, usual: str) -> dict[str, Any]:
    """The JSON object in a file that the user named; ``write`` tells how to write one, ``usual`` is its usual name.

    **Raises:** UsageError if there is none, or it is cut off.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except FileNotFoundError:
        raise UsageError(f"There is no {what} `{path}`. {write}") from None
    except IsADirectoryError:
        raise UsageError(f"`{path}` is a folder. Name the {what} in it, such as `{path / usual}`.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The {what} `{path}` cannot be read: {error}. {write}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"`{path}` is no whole {what}: {error}. It was cut off or edited. {write}") from None
    if not isinstance(found, dict):
        raise UsageError(f"`{path}` is no {what}: it holds no object. {write}")
    return found


def checked(kind: type[File], found: Mapping[str, Any], told: str, remedy: str) -> File:
    """The value in a JSON object.

    **Raises:** UsageError that begins as ``told``, names the path of the offending field and ends with the remedy.
    """
    try:
        return built(kind, found)
    except Malformed as error:
        raise UsageError(f"{told}, at `{error.place or '.'}`: {error}. {remedy}") from None


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


if __name__ == "__main__":
    for name in kinds():
        (FOLDER / f"{name}.json").write_text(described(name), encoding="utf-8")
