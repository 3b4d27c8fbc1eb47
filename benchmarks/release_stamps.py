"""Stamps of theorem files whose words changed after the run of a release: the release still speaks of their program.

    python benchmarks/release_stamps.py COMMIT [--replayed ID ...]

COMMIT is the one whose library the release checked. A file whose program (everything but its docstring and comments) is the
one of that commit gets its new digest in ``theorax/reports/shipped/heads.json``. So does a theorem after --replayed, whose
check at standard effort is unchanged (only another effort has other draws, say) and of which `verify replay --release ID`
has just found the numbers again. The others are listed and keep their old digest, so
that no list shows the release's word for them.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import subprocess
from pathlib import Path

from theorax.reports import release
from theorax.theorems.catalogue import Catalogue

ROOT = Path(__file__).parents[1]


def program(text: str) -> str:
    """The syntax tree of a module without its docstring."""
    tree = ast.parse(text)
    if ast.get_docstring(tree, clean=False) is not None:
        del tree.body[0]
    return ast.dump(tree)


def at(commit: str, path: Path) -> bytes:
    """A file as it is at a commit."""
    command = ["git", "show", f"{commit}:{path.relative_to(ROOT).as_posix()}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout


def main() -> None:
    """Write the digests, and list the theorems that keep the old ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("--replayed", nargs="*", default=[], metavar="ID")
    given = parser.parse_args()
    catalogue, place = Catalogue(), release.FOLDER / release.HEADS
    heads = json.loads(at(given.commit, place))
    for id, row in heads["theorems"].items():
        path = catalogue.path(id)
        checked = at(given.commit, path)
        if hashlib.sha256(checked).hexdigest() != row[2]:
            print(f"{id}: its file at {given.commit} is not the one that the release checked")
        elif program(checked.decode()) == program(path.read_text(encoding="utf-8")) or id in given.replayed:
            row[2] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            print(f"{id}: its program is not the one that the release checked")
    place.write_text(json.dumps(heads, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
