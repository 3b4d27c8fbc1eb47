"""Randomness of every test is fixed by its name; every process computes with one thread; shapes and dtypes are checked.

A module that states shapes and dtypes, by jaxtyping, has them checked at every call that a test makes in its own process:
`theorax.numerics` and theorems alike, found by their text. The language is among none of them: its fields take a number
where SymPy is meant, and convert it. Processes of their own, as the command's, run what a user runs.
"""

import hashlib
import os
import platform
from pathlib import Path


def processor() -> str:
    """A name for what the compiler writes code for here: a folder may be seen by machines of several kinds."""
    try:
        lines = Path("/proc/cpuinfo").read_text("ascii", errors="replace").splitlines()
    except OSError:
        lines = [platform.processor()]
    told = sorted({line for line in lines if line.startswith(("flags", "Features"))}) or lines[:1]
    return f"{platform.machine()}-{hashlib.sha256(repr(told).encode()).hexdigest()[:12]}"


# What one run compiled the next one finds, and so do the two workers and every command that a test starts.
COMPILED = Path(__file__).resolve().parents[1] / ".pytest_cache" / "compiled" / processor()
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(COMPILED))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

from theorax.numerics.threads import one_thread  # noqa: E402

one_thread()  # before NumPy and JAX are imported, which is when they count their threads

from collections.abc import Iterator  # noqa: E402
from typing import Any  # noqa: E402

from jaxtyping import install_import_hook  # noqa: E402

import theorax  # noqa: E402
from theorax.memory import Caches, most_resident  # noqa: E402

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
import tiers  # noqa: E402

# Examples are the same in every run, and a machine that stands still for a second is no failure.
hypothesis.settings.register_profile(
    "theorax", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("theorax")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options by which a run makes more than the quick tests and one few of every slow kind (`tiers`)."""
    parser.addoption("--whole", action="store_true", help="run every test, however long it takes")
    parser.addoption(
        "--part", metavar="COMMIT", help="run that part of the slow tests, too, which the digest of this commit chooses"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests that this run does not make; a test that is named on the command line is made.

    **Raises:** pytest.UsageError if the table of slow tests names one that is not there.
    """
    named = {tiers.name_of(argument) for argument in config.args if "::" in argument}
    if not named and (lost := tiers.lost([tiers.name_of(item.nodeid) for item in items])):
        raise pytest.UsageError(f"tests/tiers.py names tests that are not there: {'; '.join(lost)}")
    if config.getoption("whole"):
        return
    runs = tiers.chosen(config.getoption("part"))

    def made(item: pytest.Item) -> bool:
        name = tiers.name_of(item.nodeid)
        return runs(name) or not named.isdisjoint({name, name.partition("[")[0]})

    left = [item for item in items if not made(item)]
    items[:] = [item for item in items if made(item)]
    config.hook.pytest_deselected(items=left)


def processor_seconds() -> float:
    """What this process and those that it waited for have used."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


class Costs:
    """What each test costs, and memory given back: without that a worker came to 3.3 GB."""

    def __init__(self) -> None:
        self.caches, self.before = Caches(), 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        self.before = processor_seconds()
        yield

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        yield
        item.user_properties.append((COST, processor_seconds() - self.before))
        item.user_properties.append((MEMORY, most_resident()))
        self.caches.empty_if_grown()


COST, MEMORY = "processor seconds", "most megabytes so far"


def pytest_configure(config: pytest.Config) -> None:
    """Watch the costs of the tests that this process runs."""
    config.pluginmanager.register(Costs(), "costs of tests")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tell, where durations are asked for, what all tests cost and which of them belong into the table of slow ones."""
    if terminalreporter.config.getoption("durations", None) is None:
        return

    def told(name: str) -> list[tuple[float, str]]:
        return [
            (float(value), tiers.name_of(report.nodeid))
            for report in terminalreporter.getreports("")
            for key, value in getattr(report, "user_properties", ())
            if key == name
        ]

    costs = told(COST)
    terminalreporter.write_line(
        f"processor seconds of all tests: {sum(cost for cost, _ in costs):.0f}; the largest process of pytest held "
        f"{max((held for held, _ in told(MEMORY)), default=0.0):.0f} MB"
    )
    for cost, name in sorted(costs, reverse=True):
        if cost > tiers.BUDGET and tiers.kind_of(name) is None:
            terminalreporter.write_line(f"{cost:6.1f} s of the processor, and not in tests/tiers.py: {name}")


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
