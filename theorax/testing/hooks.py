"""The hook by which a project names its own folders of theorems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from theorax.cli.workspace import Workspace


@pytest.hookspec(firstresult=True)
def pytest_verify_workspace(config: pytest.Config) -> Workspace | None:
    """Workspace of `--verify`: its theorems and who checks them; the package's own library unless a conftest says."""
