"""Execute a notebook's cells in their order and print, as JSON, what each value that shows itself shows.

It runs in a process of its own: a check configures JAX for good.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import nbformat


def main(path: Path) -> None:
    """Run the notebook; cells print to the standard error."""
    told, sys.stdout = sys.stdout, sys.stderr
    space: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        tree = ast.parse(cell.source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path.name}:{cell.id}", "exec"), space)
        if last is None:
            continue
        value = eval(compile(ast.Expression(last.value), f"{path.name}:{cell.id}", "eval"), space)
        if hasattr(value, "_repr_mimebundle_"):
            shown.append([type(value).__name__, value._repr_mimebundle_(include=None, exclude=None)])
    json.dump(shown, told)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
