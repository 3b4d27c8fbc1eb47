"""Randomness of every test is fixed by its name; every process of the tests computes with one thread."""

from theorax.numerics.threads import one_thread

one_thread()  # before NumPy and JAX are imported, which is when they count their threads

import hashlib  # noqa: E402

import numpy as np  # noqa: E402
import pytest  # noqa: E402


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator seeded by the name of the test that asks for it."""
    digest = hashlib.sha256(request.node.name.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))
