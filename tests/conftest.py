"""Randomness of every test is fixed by its name."""

import hashlib

import numpy as np
import pytest


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator seeded by the name of the test that asks for it."""
    digest = hashlib.sha256(request.node.name.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))
