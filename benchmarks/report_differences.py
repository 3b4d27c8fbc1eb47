"""Two JSON reports held against each other field by field: what a change of the code moved in what was found.

``python -m benchmarks.report_differences BEFORE.json AFTER.json [ID ...]`` prints every difference between the theorems that
both hold, except line numbers, times, digests and sentences, and exits 1 if there is one. ``--sentences`` prints those too.
A theorem, claim, case, control or mutant is found by its names, wherever it stands in its list. Where the two runs do not hold
the same theorems, adjusted p-values cannot be compared, and are not.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SKIPPED = frozenset({
    "line", "seconds", "cpu_seconds", "compile_seconds", "programs", "digest", "design_hash", "created", "reads",
    "file", "kept", "kept_from", "log", "replay",
})  # fmt: skip
SENTENCES = {
    "sentence", "detail", "text", "because", "scope", "reason_text", "unseen", "issues", "margin_given", "place", "title",
    "source", "meaning", "unbroken", "tested",
}  # fmt: skip
ADJUSTED = {"adjusted_refute", "adjusted_support"}  # over all claims of a run
NAMES = {
    "theorems": ("id",),
    "claims": ("id",),
    "cases": ("subject", "at"),
    "controls": ("claim", "subject", "breaks"),
    "mutants": ("claim", "origin", "name"),
    "letters": ("letter",),
    "hypotheses": ("name",),
    "points": ("size",),
}


def differences(before: Any, after: Any, place: str = "", skipped: frozenset[str] = SKIPPED) -> Iterator[str]:
    """One line for every difference, led by its place in the document."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in (*before, *(key for key in after if key not in before)):
            if key in skipped:
                continue
            where = f"{place}.{key}" if place else key
            if key not in after:
                yield f"{where}: field gone, was {_short(before[key])}"
            elif key not in before:
                yield f"{where}: field added, {_short(after[key])}"
            elif key in NAMES and isinstance(before[key], list):
                yield from _records(key, before[key], after[key], where, skipped)
            else:
                yield from differences(before[key], after[key], where, skipped)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, f"{place}[{index}]", skipped)
    elif before != after and not (_is_nan(before) and _is_nan(after)):
        yield f"{place}: {_short(before)} -> {_short(after)}"


def _records(key: str, before: list[Any], after: list[Any], where: str, skipped: frozenset[str]) -> Iterator[str]:
    old, new = _named(key, before), _named(key, after)
    for name in old:
        if name in new:
            yield from differences(old[name], new[name], f"{where}[{name}]", skipped)
        else:
            yield f"{where}[{name}]: gone"
    for name in new:
        if name not in old:
            yield f"{where}[{name}]: added"


def _named(key: str, rows: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in rows:
        name = ", ".join(json.dumps(row[part], ensure_ascii=False).strip('"') for part in NAMES[key] if part in row)
        while name in found:  # two rows of the same names stay in their order
            name += "'"
        found[name] = row
    return found


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}..."


def main() -> int:
    """Print the differences of the two files named on the command line; 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("ids", nargs="*", help="only these theorems")
    parser.add_argument("--sentences", action="store_true", help="reworded sentences too")
    given = parser.parse_args()
    theorems = []
    whole = []
    for path in (given.before, given.after):
        found = {row["id"]: row for row in json.loads(path.read_text(encoding="utf-8"))["theorems"]}
        whole.append(set(found))
        theorems.append({id: row for id, row in found.items() if not given.ids or id in given.ids})
    common = [id for id in theorems[0] if id in theorems[1]]
    if not common:
        print("The two reports have no theorem in common. Write reports of one library.", file=sys.stderr)
        return 2
    skipped = SKIPPED if given.sentences else SKIPPED | SENTENCES
    if whole[0] != whole[1]:
        skipped |= ADJUSTED
    count = 0
    for id in common:
        for line in differences(theorems[0][id], theorems[1][id], id, skipped):
            print(line)
            count += 1
    only = sorted(set(theorems[0]) ^ set(theorems[1]))
    print(
        f"{count} differences in {len(common)} theorems" + (f"; in one report alone: {', '.join(only)}" if only else "")
    )
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
