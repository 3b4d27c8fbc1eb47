"""The hook by which a project names its own folders of theorems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from theorax.cli.environment import World


@pytest.hookspec(firstresult=True)
def pytest_verify_world(config: pytest.Config) -> World | None:
    """Where `--verify` finds its theorems and who checks them; the package's own library unless a conftest says."""
