"""What the builds at other versions need to know: ``lowest`` prints pins at the declared bounds, ``theorems`` ids.

python .ci/versions.py lowest test    # of the package, and of its extra `test`
python .ci/versions.py theorems       # of every paper the theorem that costs the least at quick effort
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def lowest(*extras: str) -> Iterator[str]:
    """A pin for every direct dependency, at its declared lower bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for needed in [
        *project["dependencies"],
        *(line for extra in extras for line in project["optional-dependencies"][extra]),
    ]:
        name, bound, version = needed.partition(">=")
        if not bound or "," in version:
            raise SystemExit(f"pyproject.toml declares `{needed}`. Declare a lower bound alone: `{name}>=1.2`.")
        yield f"{name.partition('[')[0]}=={version}"


def theorems() -> Iterator[str]:
    """The cheapest theorem of every paper, and of the instruments."""
    expected = json.loads((ROOT / "theorax/runs/expected_seconds.json").read_text(encoding="utf-8"))["quick"]
    cheapest: dict[str, str] = {}
    for path in sorted((ROOT / "theorax/theorems").glob("*/*.py"), key=lambda path: expected.get(path.stem, 0.0)):
        if path.stem in expected:
            cheapest.setdefault(path.parent.name, path.stem)
    yield from cheapest.values()


if __name__ == "__main__":
    what, *extras = sys.argv[1:]
    print(*(lowest(*extras) if what == "lowest" else theorems()), sep="\n")
