"""Modules beside a theorem's file: its author imports them by name, as in ``from _models import network``."""

from __future__ import annotations

import sys
from pathlib import Path


class _Beside(str):
    """The folder of the theorem that was loaded last, among the places that Python imports from."""


def import_beside(file: Path) -> None:
    """Let this file import the modules of its folder, as they are now.

    Modules of an earlier folder are forgotten, for two folders may each have a ``_models.py``; so are those of this one,
    which may have been edited. The folder stands last: a file named like an installed module hides nothing.
    """
    for place in [place for place in sys.path if isinstance(place, _Beside)]:
        sys.path.remove(place)
        own = {name for name in sys.modules if "." not in name and _lies_in(name, Path(place))}
        for name in [name for name in sys.modules if name.partition(".")[0] in own]:
            del sys.modules[name]
    sys.path.append(_Beside(file.parent))


def _lies_in(name: str, folder: Path) -> bool:
    file = getattr(sys.modules[name], "__file__", None)
    return file is not None and Path(file) in (folder / f"{name}.py", folder / name / "__init__.py")
