"""Randomness of every test is fixed by its name; every process computes with one thread; shapes and dtypes are checked.

A module that states shapes and dtypes, by jaxtyping, has them checked at every call that a test makes in its own process:
`theorax.numerics` and theorems alike, found by their text. The language is among none of them: its fields take a number
where SymPy is meant, and convert it. Processes of their own, as the command's, run what a user runs.
"""

from theorax.numerics.threads import one_thread

one_thread()  # before NumPy and JAX are imported, which is when they count their threads

import datetime  # noqa: E402
import hashlib  # noqa: E402
import os  # noqa: E402
from pathlib import Path  # noqa: E402

from jaxtyping import install_import_hook  # noqa: E402

import theorax  # noqa: E402

ROOT = Path(theorax.__file__).parent
STATING = [
    ".".join(("theorax", *path.relative_to(ROOT).with_suffix("").parts))
    for path in sorted(ROOT.rglob("*.py"))
    if b"\nfrom jaxtyping import " in path.read_bytes()
]
install_import_hook(STATING, "beartype.beartype")

import hypothesis  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

# Examples are the same in every run, and a machine that stands still for a second is no failure.
hypothesis.settings.register_profile(
    "theorax", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("theorax")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option by which all theorems, falsehoods and guards are checked, and not the share of the day."""
    parser.addoption("--whole", action="store_true", help="run all of the long tests, not the share of the day")


def pytest_configure() -> None:
    """Fix the day once: workers inherit it, and must collect the same tests around midnight."""
    os.environ.setdefault("THEORAX_TEST_DAY", str(datetime.datetime.now(datetime.UTC).toordinal()))


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator seeded by the name of the test that asks for it."""
    digest = hashlib.sha256(request.node.name.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check a user's files in this process: a process of their own imports JAX, which takes longer than these checks."""
    from theorax.theorems.catalogue import Catalogue

    monkeypatch.setattr(Catalogue, "is_a_user_s", lambda self, id: False)
