"""The schemas of the JSON files that theorax writes, each generated from its type.

``python -m theorax.reports.schemas`` writes the schemas anew, where a type has changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from theorax.reports.baselines import Baseline
from theorax.reports.compared_claims import Comparison
from theorax.reports.document import Document
from theorax.reports.replaying import Replay
from theorax.text.codec import schema

WIDTH = 110  # of a line of a schema
FOLDER = Path(__file__).parent / "schema"


KINDS: Mapping[str, type] = {"report": Document, "baseline": Baseline, "comparison": Comparison, "replay": Replay}
"""The type of each file by the name of its schema."""


def schema_text(name: str) -> str:
    """The text of a schema as its type generates it."""
    return _written(schema(KINDS[name], f"theorax {name}")) + "\n"


def _written(value: Any, indent: int = 0) -> str:
    """JSON such that what has room on a line stands on one."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) + indent <= WIDTH or not isinstance(value, (dict, list)):
        return text
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return text
    if isinstance(value, list):
        rows, (left, right) = [_written(part, indent + 1) for part in value], "[]"
    else:
        rows, (left, right) = [f"{json.dumps(key)}: {_written(part, indent + 1)}" for key, part in value.items()], "{}"
    inner = f",\n{' ' * (indent + 1)}".join(rows)
    return f"{left}\n{' ' * (indent + 1)}{inner}\n{' ' * indent}{right}"


if __name__ == "__main__":
    for name in KINDS:
        (FOLDER / f"{name}.json").write_text(schema_text(name), encoding="utf-8")
